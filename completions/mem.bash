# bash completion for mem, made by `mem completions show bash`; do not edit.

_mem_words() {
    COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_mem_files() {
    local file
    compopt -o filenames 2>/dev/null
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$1")
}

_mem() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= index
    COMPREPLY=()
    # bash gives --option=value as three words.
    if [[ $word == = ]]; then
        word=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            --db)
                [[ ${COMP_WORDS[index + 1]} == = ]] && ((index++))
                ((index++))
                ;;
            -* | =) ;;
            *)
                command=${COMP_WORDS[index]}
                break
                ;;
        esac
    done
    case $command:$previous in
        store:--kind | recall:--kind | list:--kind | contradictions:--kind | export:--kind)
            _mem_words 'learning decision observation summary' "$word"
            return
            ;;
        store:--title | store:--rationale | store:--alternatives | store:--importance | store:--confidence | store:--project | store:--tag | store:--source | store:--event-time | store:--valid-from | store:--valid-to | store:--expires | store:--supersedes | update:--content | update:--title | update:--rationale | update:--alternatives | update:--importance | update:--confidence | update:--project | update:--tag | update:--add-tag | update:--remove-tag | update:--source | update:--event-time | update:--valid-from | update:--valid-to | update:--expires | update:--reason | supersede:--content | supersede:--by | supersede:--title | supersede:--rationale | supersede:--valid-from | supersede:--valid-to | supersede:--reason | archive:--reason | restore:--reason | reject:--reason | trust:--reason | recall:--limit | recall:--project | recall:--tag | recall:--entity | recall:--min-importance | recall:--min-confidence | recall:--since | recall:--until | recall:--valid-at | recall:--known-at | recall:--surface | recall:--deadline-ms | get:--valid-at | get:--known-at | list:--limit | list:--offset | list:--project | list:--tag | list:--entity | list:--source | list:--client | list:--session | list:--min-importance | list:--min-confidence | list:--since | list:--until | list:--valid-at | list:--known-at | contradictions:--limit | contradictions:--project | contradictions:--entity | trace:--project | why:--project | claude-memory:--limit | claude-memory:--project | stats:--project | reflect:--days | reflect:--stale-days | reflect:--limit | reflect:--project | observe:--type | observe:--importance | observe:--confidence | observe:--project | observe:--tag | observe:--source | observe:--event-time | observe:--valid-from | observe:--valid-to | observe:--expires | observe:--supersedes | entity:--type | entity:--depth | entity:--project | entity:--valid-at | entity:--known-at | entities:--type | entities:--limit | entities:--offset | entities:--project | entities:--deadline-ms | entity-set:--type | entity-set:--name | entity-set:--summary | entity-set:--alias | entity-set:--remove-alias | entity-set:--project | entity-set:--reason | entity-merge:--project | entity-merge:--reason | entity-forget:--type | entity-forget:--project | relate:--weight | relate:--valid-from | relate:--valid-to | relate:--project | relate:--reason | unrelate:--valid-to | unrelate:--project | unrelate:--reason | context:--budget | context:--project | context:--deadline-ms | session-start:--project | session-start:--budget | session-end:--summary | session-end:--task | sessions:--limit | sessions:--offset | sessions:--project | profile:--project | goal:--project | log:--limit | log:--offset | log:--project | log:--operation | log:--client | log:--session | log:--memory | log:--since | log:--until | log:--after | undo:--reason | export:--project | export:--since | export:--until | export:--valid-at | export:--known-at | import:--project | backfill:--limit | backfill:--concurrency | migrate-vectors:--to | migrate-vectors:--limit | migrate-vectors:--concurrency | compress:--days | compress:--session | compress:--limit | compress:--project | extract-entities:--limit | extract-entities:--project | backup:--keep | review:--limit | review:--offset | review:--project | approve:--content | approve:--reason)
            :
            return
            ;;
        store:--category | update:--category | recall:--category | list:--category | observe:--category)
            _mem_words 'general people project decision feedback bug relationship skill preference pattern mistake insight research architecture infrastructure tool workflow performance security' "$word"
            return
            ;;
        store:--level | update:--level | recall:--level | list:--level | observe:--level)
            _mem_words 'meta_knowledge semi_abstract concrete_trace' "$word"
            return
            ;;
        store:--layer | update:--layer | recall:--layer | list:--layer | observe:--layer)
            _mem_words 'working short_term long_term permanent' "$word"
            return
            ;;
        store:--db | store-batch:--db | update:--db | supersede:--db | archive:--db | restore:--db | reject:--db | trust:--db | forget:--db | recall:--db | get:--db | list:--db | history:--db | contradictions:--db | trace:--db | why:--db | cite:--db | claude-memory:--db | stats:--db | reflect:--db | observe:--db | entity:--db | entities:--db | entity-set:--db | entity-merge:--db | entity-forget:--db | relate:--db | unrelate:--db | context:--db | session-start:--db | session-end:--db | sessions:--db | profile:--db | goal:--db | log:--db | undo:--db | export:--db | import:--db | backfill:--db | migrate-vectors:--db | compress:--db | extract-entities:--db | backup:--restore | backup:--db | verify:--db | maintain:--db | review:--db | approve:--db | doctor:--db | config:--db | serve:--db | model:--db | worker:--db | hooks:--db | completions:--db | :--db)
            _mem_files "$word"
            return
            ;;
        update:--clear)
            _mem_words 'title rationale alternatives source tags event_time valid_from valid_to expires' "$word"
            return
            ;;
        recall:--status | list:--status)
            _mem_words 'proposed active archived superseded rejected' "$word"
            return
            ;;
        recall:--trust | list:--trust)
            _mem_words 'unverified verified disputed' "$word"
            return
            ;;
        recall:--mode)
            _mem_words 'hybrid lexical vector' "$word"
            return
            ;;
        recall:--fusion)
            _mem_words 'convex rrf' "$word"
            return
            ;;
        list:--sort)
            _mem_words 'recorded changed event_time importance confidence recalls id' "$word"
            return
            ;;
        entity:--format)
            _mem_words 'mermaid dot' "$word"
            return
            ;;
        log:--actor)
            _mem_words 'person agent hook cron' "$word"
            return
            ;;
        export:--format)
            _mem_words 'jsonl json markdown' "$word"
            return
            ;;
        import:--format)
            _mem_words 'mem local-memory-mcp mneme claude-memory memory-server jsonl csv markdown' "$word"
            return
            ;;
    esac
    if [[ $word == -* ]]; then
        case $command in
            '') _mem_words '--db --json --version --help' "$word" ;;
            store) _mem_words '--kind --title --rationale --alternatives --category --level --layer --importance --confidence --project --global --tag --source --event-time --valid-from --valid-to --expires --supersedes --force --allow-secret --db --json --help' "$word" ;;
            store-batch) _mem_words '--db --json --help' "$word" ;;
            update) _mem_words '--content --title --rationale --alternatives --category --level --layer --importance --confidence --project --global --tag --add-tag --remove-tag --source --event-time --valid-from --valid-to --expires --clear --reason --force --allow-secret --db --json --help' "$word" ;;
            supersede) _mem_words '--content --by --ended --title --rationale --valid-from --valid-to --reason --force --allow-secret --db --json --help' "$word" ;;
            archive) _mem_words '--reason --db --json --help' "$word" ;;
            restore) _mem_words '--reason --force --db --json --help' "$word" ;;
            reject) _mem_words '--reason --db --json --help' "$word" ;;
            trust) _mem_words '--reason --db --json --help' "$word" ;;
            forget) _mem_words '--backups --yes --db --json --help' "$word" ;;
            recall) _mem_words '--limit --project --all-projects --kind --category --level --layer --tag --entity --status --trust --min-importance --min-confidence --since --until --valid-at --known-at --mode --fusion --surface --deadline-ms --db --json --help' "$word" ;;
            get) _mem_words '--valid-at --known-at --db --json --help' "$word" ;;
            list) _mem_words '--limit --offset --sort --reverse --project --all-projects --kind --category --level --layer --tag --entity --source --client --session --status --trust --expired --min-importance --min-confidence --since --until --valid-at --known-at --db --json --help' "$word" ;;
            history) _mem_words '--db --json --help' "$word" ;;
            contradictions) _mem_words '--limit --project --all-projects --kind --entity --db --json --help' "$word" ;;
            trace) _mem_words '--project --all-projects --db --json --help' "$word" ;;
            why) _mem_words '--project --all-projects --db --json --help' "$word" ;;
            cite) _mem_words '--db --json --help' "$word" ;;
            claude-memory) _mem_words '--limit --project --all-projects --db --json --help' "$word" ;;
            stats) _mem_words '--project --all-projects --db --json --help' "$word" ;;
            reflect) _mem_words '--days --stale-days --limit --project --all-projects --db --json --help' "$word" ;;
            observe) _mem_words '--type --category --level --layer --importance --confidence --project --global --tag --source --event-time --valid-from --valid-to --expires --supersedes --force --allow-secret --db --json --help' "$word" ;;
            entity) _mem_words '--type --depth --project --all-projects --valid-at --known-at --graph --format --db --json --help' "$word" ;;
            entities) _mem_words '--type --limit --offset --project --all-projects --deadline-ms --db --json --help' "$word" ;;
            entity-set) _mem_words '--type --name --summary --alias --remove-alias --project --global --reason --db --json --help' "$word" ;;
            entity-merge) _mem_words '--project --all-projects --reason --db --json --help' "$word" ;;
            entity-forget) _mem_words '--type --project --all-projects --yes --db --json --help' "$word" ;;
            relate) _mem_words '--weight --valid-from --valid-to --project --all-projects --reason --db --json --help' "$word" ;;
            unrelate) _mem_words '--valid-to --project --all-projects --reason --db --json --help' "$word" ;;
            context) _mem_words '--budget --project --all-projects --deadline-ms --hook --db --json --help' "$word" ;;
            session-start) _mem_words '--project --budget --db --json --help' "$word" ;;
            session-end) _mem_words '--summary --task --db --json --help' "$word" ;;
            sessions) _mem_words '--limit --offset --project --all-projects --db --json --help' "$word" ;;
            profile) _mem_words '--project --global --db --json --help' "$word" ;;
            goal) _mem_words '--project --global --db --json --help' "$word" ;;
            log) _mem_words '--limit --offset --project --all-projects --operation --actor --client --session --memory --since --until --after --follow --db --json --help' "$word" ;;
            undo) _mem_words '--reason --db --json --help' "$word" ;;
            export) _mem_words '--format --vectors --project --kind --since --until --valid-at --known-at --db --json --help' "$word" ;;
            import) _mem_words '--format --project --global --dry-run --skip-bad --db --json --help' "$word" ;;
            backfill) _mem_words '--dry-run --limit --concurrency --db --json --help' "$word" ;;
            migrate-vectors) _mem_words '--to --prune --dry-run --limit --concurrency --db --json --help' "$word" ;;
            compress) _mem_words '--days --session --all --transcripts --limit --project --all-projects --dry-run --db --json --help' "$word" ;;
            extract-entities) _mem_words '--limit --project --all-projects --dry-run --db --json --help' "$word" ;;
            backup) _mem_words '--keep --restore --yes --db --json --help' "$word" ;;
            verify) _mem_words '--db --json --help' "$word" ;;
            maintain) _mem_words '--dry-run --vacuum --db --json --help' "$word" ;;
            review) _mem_words '--limit --offset --project --db --json --help' "$word" ;;
            approve) _mem_words '--content --reason --db --json --help' "$word" ;;
            doctor) _mem_words '--fix --audit --secrets --db --json --help' "$word" ;;
            config) _mem_words '--db --json --help' "$word" ;;
            serve) _mem_words '--db --json --help' "$word" ;;
            model) _mem_words '--check --db --json --help' "$word" ;;
            worker) _mem_words '--db --json --help' "$word" ;;
            hooks) _mem_words '--dry-run --db --json --help' "$word" ;;
            completions) _mem_words '--check --db --json --help' "$word" ;;
        esac
        return
    fi
    case $command:$((COMP_CWORD - index)) in
        :*) _mem_words 'store store-batch update supersede archive restore reject trust forget recall get list history contradictions trace why cite claude-memory stats reflect observe entity entities entity-set entity-merge entity-forget relate unrelate context session-start session-end sessions profile goal log undo export import backfill migrate-vectors compress extract-entities backup verify maintain review approve doctor config serve model worker hooks completions' "$word" ;;
        store-batch:1) _mem_files "$word" ;;
        trust:2) _mem_words 'unverified verified disputed' "$word" ;;
        profile:1) _mem_words 'get set clear history' "$word" ;;
        goal:1) _mem_words 'get set clear history' "$word" ;;
        export:1) _mem_files "$word" ;;
        backup:1) _mem_files "$word" ;;
        verify:1) _mem_files "$word" ;;
        config:1) _mem_words 'list get set path' "$word" ;;
        model:1) _mem_words 'status list use fetch path verify calibrate' "$word" ;;
        worker:1) _mem_words 'status stop' "$word" ;;
        hooks:1) _mem_words 'install uninstall show' "$word" ;;
        hooks:2) _mem_words 'claude-code codex cursor gemini' "$word" ;;
        completions:1) _mem_words 'show install check' "$word" ;;
        completions:2) _mem_words 'bash zsh fish' "$word" ;;
    esac
}

complete -F _mem mem
