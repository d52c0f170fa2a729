# fish completion for mem, made by `mem completions show fish`; do not edit.

# Whether the command is the first argument, and the word to complete stands at the second, counted from it.
function __mem_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l command ''
    while set -q words[1]
        set -l word $words[1]
        set -e words[1]
        switch $word
            case --db
                set -q words[1]; and set -e words[1]
            case '-*'
            case '*'
                set command $word
                break
        end
    end
    test "$command" = "$argv[1]"; or return 1
    test (count $argv) -eq 1; or test (math (count $words) + 1) -eq $argv[2]
end

complete -c mem -f
complete -c mem -n '__mem_at ""' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at ""' -l json -d 'Answer with one JSON document on standard output, errors too.'
complete -c mem -n '__mem_at ""' -l version -d 'Show the version and exit.'
complete -c mem -n '__mem_at ""' -a store -d 'Store a memory; says whether it was added, known already, or refused, and what it is near to.'
complete -c mem -n '__mem_at ""' -a store-batch -d 'Store many memories in one transaction; answers with an outcome per item, in order.'
complete -c mem -n '__mem_at ""' -a update -d 'Change a memory in place, for a slip in the text or its attributes; the replaced version is kept.'
complete -c mem -n '__mem_at ""' -a supersede -d 'Replace memories by what holds now; the old ones stay with their intervals, linked to the new one.'
complete -c mem -n '__mem_at ""' -a archive -d 'Archive memories: kept and exported, no longer recalled; `mem restore` brings them back.'
complete -c mem -n '__mem_at ""' -a restore -d 'Bring archived memories back, unless their content was rejected or is live under another id.'
complete -c mem -n '__mem_at ""' -a recall -d 'Recall memories by words and by meaning; nothing at all when nothing fits.'
complete -c mem -n '__mem_at ""' -a get -d 'Show memories in full, whatever their status; with a clock, as they were believed then.'
complete -c mem -n '__mem_at ""' -a list -d 'List memories, page by page.'
complete -c mem -n '__mem_at ""' -a history -d 'Show every version of a memory, and of those before and after it in its line of successors.'
complete -c mem -n '__mem_at ""' -a stats -d 'Count memories by status, kind, layer, level, category and project; coverage of vectors; size.'
complete -c mem -n '__mem_at ""' -a context -d 'Give stored notes for a prompt: goal, profile, summaries, open decisions, and what fits or is new.'
complete -c mem -n '__mem_at ""' -a session-start -d 'Open a session, or go on with the one that the host is in; answers with its id and the context.'
complete -c mem -n '__mem_at ""' -a session-end -d 'End a session of this client, with a summary for those that follow and the tasks that are left.'
complete -c mem -n '__mem_at ""' -a sessions -d 'List sessions, newest first, with their summaries and tasks.'
complete -c mem -n '__mem_at ""' -a doctor -d 'Check the store, its indexes, the model and the versions of everything.'
complete -c mem -n '__mem_at ""' -a config -d 'Show or change settings: an option wins over MEM_* variables, these over config.toml.'
complete -c mem -n '__mem_at ""' -a serve -d 'Serve the operations to an MCP client over standard input and output, until it hangs up.'
complete -c mem -n '__mem_at ""' -a worker -d 'Show or end the warm worker: the process that answers at once and holds the model.'
complete -c mem -n '__mem_at ""' -a hooks -d 'Install, uninstall or show the hooks of `mem` in the settings of your agents\' hosts.'
complete -c mem -n '__mem_at ""' -a completions -d 'Print, install or check the completion scripts for bash, zsh and fish; they start no Python.'

complete -c mem -n '__mem_at store' -l kind -x -a 'learning decision observation summary' -d 'What it is.'
complete -c mem -n '__mem_at store' -l title -x -d 'Short title; a decision\'s title is part of what it says.'
complete -c mem -n '__mem_at store' -l rationale -x -d 'Why it was decided so.'
complete -c mem -n '__mem_at store' -l alternatives -x -d 'What else was considered, and why not.'
complete -c mem -n '__mem_at store' -l category -x -a 'general people project decision feedback bug relationship skill preference pattern mistake insight research architecture infrastructure tool workflow performance security' -d 'What it is about.'
complete -c mem -n '__mem_at store' -l level -x -a 'meta_knowledge semi_abstract concrete_trace' -d 'How general it is; meta_knowledge is earned.'
complete -c mem -n '__mem_at store' -l layer -x -a 'working short_term long_term permanent' -d 'How long it lives: working 6 hours, short_term 7 days, else until someone ends it.'
complete -c mem -n '__mem_at store' -l importance -x -d '9-10 identity and rules, 7-8 active decisions, 5-6 context, up to 4 traces.'
complete -c mem -n '__mem_at store' -l confidence -x -d 'How sure it is.'
complete -c mem -n '__mem_at store' -l project -x -d 'Project, by name; else MEM_PROJECT, else the current repository.'
complete -c mem -n '__mem_at store' -l global -d 'Belongs to no project: known everywhere.'
complete -c mem -n '__mem_at store' -l tag -x -d 'A tag; may be repeated.'
complete -c mem -n '__mem_at store' -l source -x -d 'Where this comes from: a file, an address, a conversation.'
complete -c mem -n '__mem_at store' -l event-time -x -d 'When it happened: a date or a time.'
complete -c mem -n '__mem_at store' -l valid-from -x -d 'Since when it holds: a date (its first local instant) or a time.'
complete -c mem -n '__mem_at store' -l valid-to -x -d 'Until when it held: a date (to the end of that local day) or a time.'
complete -c mem -n '__mem_at store' -l expires -x -d 'When to forget it: a date, a time, or a span such as 36h, 7d, 2w.'
complete -c mem -n '__mem_at store' -l supersedes -x -d 'A memory that this one replaces; may be repeated.'
complete -c mem -n '__mem_at store' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at store' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at store-batch' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at store-batch' -l json -d 'Answer with one JSON document on standard output, errors too.'
complete -c mem -n '__mem_at store-batch 1' -F

complete -c mem -n '__mem_at update' -l content -x -d 'The new text.'
complete -c mem -n '__mem_at update' -l title -x -d 'Short title; a decision\'s title is part of what it says.'
complete -c mem -n '__mem_at update' -l rationale -x -d 'Why it was decided so.'
complete -c mem -n '__mem_at update' -l alternatives -x -d 'What else was considered, and why not.'
complete -c mem -n '__mem_at update' -l category -x -a 'general people project decision feedback bug relationship skill preference pattern mistake insight research architecture infrastructure tool workflow performance security' -d 'What it is about.'
complete -c mem -n '__mem_at update' -l level -x -a 'meta_knowledge semi_abstract concrete_trace' -d 'How general it is.'
complete -c mem -n '__mem_at update' -l layer -x -a 'working short_term long_term permanent' -d 'How long it lives.'
complete -c mem -n '__mem_at update' -l importance -x -d 'How much it matters.'
complete -c mem -n '__mem_at update' -l confidence -x -d 'How sure it is.'
complete -c mem -n '__mem_at update' -l project -x -d 'Move it to this project.'
complete -c mem -n '__mem_at update' -l global -d 'Move it out of its project: known everywhere.'
complete -c mem -n '__mem_at update' -l tag -x -d 'Replace the tags by these.'
complete -c mem -n '__mem_at update' -l add-tag -x -d 'Add a tag.'
complete -c mem -n '__mem_at update' -l remove-tag -x -d 'Take a tag away.'
complete -c mem -n '__mem_at update' -l source -x -d 'Where this comes from: a file, an address, a conversation.'
complete -c mem -n '__mem_at update' -l event-time -x -d 'When it happened: a date or a time.'
complete -c mem -n '__mem_at update' -l valid-from -x -d 'Since when it holds: a date (its first local instant) or a time.'
complete -c mem -n '__mem_at update' -l valid-to -x -d 'Until when it held: a date (to the end of that local day) or a time.'
complete -c mem -n '__mem_at update' -l expires -x -d 'When to forget it: a date, a time, or a span such as 36h, 7d, 2w.'
complete -c mem -n '__mem_at update' -l clear -x -a 'title rationale alternatives source tags event_time valid_from valid_to expires' -d 'Empty this field.'
complete -c mem -n '__mem_at update' -l reason -x -d 'Why; kept with the memory and in the audit log.'
complete -c mem -n '__mem_at update' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at update' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at supersede' -l content -x -d 'What holds instead, as a new memory.'
complete -c mem -n '__mem_at supersede' -l by -x -d 'An existing memory that holds instead.'
complete -c mem -n '__mem_at supersede' -l ended -d 'Nothing holds instead: only close the interval.'
complete -c mem -n '__mem_at supersede' -l title -x -d 'Title of the new memory, if it changes.'
complete -c mem -n '__mem_at supersede' -l rationale -x -d 'Rationale of the new memory, if it changes.'
complete -c mem -n '__mem_at supersede' -l valid-from -x -d 'Since when the new memory holds: a date or a time.'
complete -c mem -n '__mem_at supersede' -l valid-to -x -d 'When the old ones ceased to hold; else when the new one begins, else now.'
complete -c mem -n '__mem_at supersede' -l reason -x -d 'Why; kept with the memory and in the audit log.'
complete -c mem -n '__mem_at supersede' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at supersede' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at archive' -l reason -x -d 'Why; kept with the memory and in the audit log.'
complete -c mem -n '__mem_at archive' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at archive' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at restore' -l reason -x -d 'Why; kept with the memory and in the audit log.'
complete -c mem -n '__mem_at restore' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at restore' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at recall' -l limit -x -d 'How many hits at most.'
complete -c mem -n '__mem_at recall' -l project -x -d 'Project, by name; else MEM_PROJECT, else the current repository.'
complete -c mem -n '__mem_at recall' -l all-projects -d 'Look through all projects, not only the current one and what is global.'
complete -c mem -n '__mem_at recall' -l kind -x -a 'learning decision observation summary' -d 'Only memories of this kind.'
complete -c mem -n '__mem_at recall' -l category -x -a 'general people project decision feedback bug relationship skill preference pattern mistake insight research architecture infrastructure tool workflow performance security' -d 'Only memories of this category.'
complete -c mem -n '__mem_at recall' -l level -x -a 'meta_knowledge semi_abstract concrete_trace' -d 'Only memories of this level.'
complete -c mem -n '__mem_at recall' -l layer -x -a 'working short_term long_term permanent' -d 'Only memories of this layer.'
complete -c mem -n '__mem_at recall' -l tag -x -d 'Only memories with this tag; repeated: with all of them.'
complete -c mem -n '__mem_at recall' -l status -x -a 'proposed active archived superseded rejected' -d 'Memories of this status instead of the active ones.'
complete -c mem -n '__mem_at recall' -l min-importance -x -d 'Only memories of at least this importance.'
complete -c mem -n '__mem_at recall' -l min-confidence -x -d 'Only memories of at least this confidence.'
complete -c mem -n '__mem_at recall' -l since -x -d 'Only what happened (or was recorded) at or after this date or time.'
complete -c mem -n '__mem_at recall' -l until -x -d 'Only what happened (or was recorded) before the end of this date, or before this time.'
complete -c mem -n '__mem_at recall' -l valid-at -x -d 'Answer for what held at this date or time instead of now.'
complete -c mem -n '__mem_at recall' -l known-at -x -d 'Answer with what was believed at this date or time.'
complete -c mem -n '__mem_at recall' -l mode -x -a 'hybrid lexical vector' -d 'Search by words and meaning, or by one of them.'
complete -c mem -n '__mem_at recall' -l fusion -x -a 'convex rrf' -d 'How words and meaning are joined.'
complete -c mem -n '__mem_at recall' -l deadline-ms -x -d 'Milliseconds within which the answer must be there; if its vector is late, it is by words alone.'
complete -c mem -n '__mem_at recall' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at recall' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at get' -l valid-at -x -d 'Answer for what held at this date or time instead of now.'
complete -c mem -n '__mem_at get' -l known-at -x -d 'Answer with what was believed at this date or time.'
complete -c mem -n '__mem_at get' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at get' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at list' -l limit -x -d 'How many at most.'
complete -c mem -n '__mem_at list' -l offset -x -d 'How many to pass over first.'
complete -c mem -n '__mem_at list' -l sort -x -a 'recorded importance event_time' -d 'Newest record, greatest importance, or newest event first.'
complete -c mem -n '__mem_at list' -l project -x -d 'Project, by name; else MEM_PROJECT, else the current repository.'
complete -c mem -n '__mem_at list' -l all-projects -d 'Look through all projects, not only the current one and what is global.'
complete -c mem -n '__mem_at list' -l kind -x -a 'learning decision observation summary' -d 'Only memories of this kind.'
complete -c mem -n '__mem_at list' -l category -x -a 'general people project decision feedback bug relationship skill preference pattern mistake insight research architecture infrastructure tool workflow performance security' -d 'Only memories of this category.'
complete -c mem -n '__mem_at list' -l level -x -a 'meta_knowledge semi_abstract concrete_trace' -d 'Only memories of this level.'
complete -c mem -n '__mem_at list' -l layer -x -a 'working short_term long_term permanent' -d 'Only memories of this layer.'
complete -c mem -n '__mem_at list' -l tag -x -d 'Only memories with this tag; repeated: with all of them.'
complete -c mem -n '__mem_at list' -l status -x -a 'proposed active archived superseded rejected' -d 'Memories of this status instead of the active ones.'
complete -c mem -n '__mem_at list' -l min-importance -x -d 'Only memories of at least this importance.'
complete -c mem -n '__mem_at list' -l min-confidence -x -d 'Only memories of at least this confidence.'
complete -c mem -n '__mem_at list' -l since -x -d 'Only what happened (or was recorded) at or after this date or time.'
complete -c mem -n '__mem_at list' -l until -x -d 'Only what happened (or was recorded) before the end of this date, or before this time.'
complete -c mem -n '__mem_at list' -l valid-at -x -d 'Answer for what held at this date or time instead of now.'
complete -c mem -n '__mem_at list' -l known-at -x -d 'Answer with what was believed at this date or time.'
complete -c mem -n '__mem_at list' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at list' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at history' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at history' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at stats' -l project -x -d 'Project, by name; else MEM_PROJECT, else the current repository.'
complete -c mem -n '__mem_at stats' -l all-projects -d 'Look through all projects, not only the current one and what is global.'
complete -c mem -n '__mem_at stats' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at stats' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at context' -l budget -x -d 'Tokens that the notes may take, four characters each; only whole ones.'
complete -c mem -n '__mem_at context' -l project -x -d 'Project, by name; else MEM_PROJECT, else the current repository.'
complete -c mem -n '__mem_at context' -l all-projects -d 'Look through all projects, not only the current one and what is global.'
complete -c mem -n '__mem_at context' -l deadline-ms -x -d 'Milliseconds within which the answer must be there; if its vector is late, it is by words alone.'
complete -c mem -n '__mem_at context' -l hook -d 'Read the event of a host\'s hook on standard input, and answer in its protocol.'
complete -c mem -n '__mem_at context' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at context' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at session-start' -l project -x -d 'Project, by name; else MEM_PROJECT, else the current repository.'
complete -c mem -n '__mem_at session-start' -l budget -x -d 'Tokens that the notes may take, four characters each; only whole ones.'
complete -c mem -n '__mem_at session-start' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at session-start' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at session-end' -l summary -x -d 'What was done and decided; stored as a memory of kind summary.'
complete -c mem -n '__mem_at session-end' -l task -x -d 'What is left to do; may be repeated.'
complete -c mem -n '__mem_at session-end' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at session-end' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at sessions' -l limit -x -d 'How many at most.'
complete -c mem -n '__mem_at sessions' -l offset -x -d 'How many to pass over first.'
complete -c mem -n '__mem_at sessions' -l project -x -d 'Project, by name; else MEM_PROJECT, else the current repository.'
complete -c mem -n '__mem_at sessions' -l all-projects -d 'Look through all projects, not only the current one and what is global.'
complete -c mem -n '__mem_at sessions' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at sessions' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at doctor' -l fix -d 'Rebuild the derived indexes, and tighten loose permissions.'
complete -c mem -n '__mem_at doctor' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at doctor' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at config' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at config' -l json -d 'Answer with one JSON document on standard output, errors too.'
complete -c mem -n '__mem_at config 1' -a 'list get set path'

complete -c mem -n '__mem_at serve' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at serve' -l json -d 'Answer with one JSON document on standard output, errors too.'

complete -c mem -n '__mem_at worker' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at worker' -l json -d 'Answer with one JSON document on standard output, errors too.'
complete -c mem -n '__mem_at worker 1' -a 'status stop'

complete -c mem -n '__mem_at hooks' -l dry-run -d 'Print what would change as a diff, and write nothing.'
complete -c mem -n '__mem_at hooks' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at hooks' -l json -d 'Answer with one JSON document on standard output, errors too.'
complete -c mem -n '__mem_at hooks 1' -a 'install uninstall show'
complete -c mem -n '__mem_at hooks 2' -a 'claude-code codex cursor gemini'

complete -c mem -n '__mem_at completions' -l check -d 'The same as the action check.'
complete -c mem -n '__mem_at completions' -l db -r -F -d 'Use this store, not that of MEM_DB or the usual one.'
complete -c mem -n '__mem_at completions' -l json -d 'Answer with one JSON document on standard output, errors too.'
complete -c mem -n '__mem_at completions 1' -a 'show install check'
complete -c mem -n '__mem_at completions 2' -a 'bash zsh fish'

complete -c mem -s h -l help -d 'Show this message and exit.'
