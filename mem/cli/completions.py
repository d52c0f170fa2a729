"""Completion scripts for bash, zsh and fish, made from the definitions of the commands.

They are static: no Tab starts Python. What they offer depends on the definitions alone, so that the files in
`completions/` can be compared with what would be made now.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mem.cli.front_end import Shell, beside
from mem.errors import MemError
from mem.operations import Operation, Parameter, Shape
from mem.paths import shipped

FILES = {Shell.BASH: "mem.bash", Shell.ZSH: "_mem", Shell.FISH: "mem.fish"}


@dataclass(frozen=True, slots=True)
class Grammar:
    """What there is to complete: the commands, the options of each, and those before any command."""

    commands: tuple[Operation, ...]
    general: tuple[Parameter, ...]
    root: tuple[Parameter, ...]

    def options(self, command: Operation) -> tuple[Parameter, ...]:
        """The options of a command, its own first."""
        own = (one for one in command.parameters if not one.positional)
        return (*own, *beside(command), *self.general)


def script(shell: Shell, grammar: Grammar) -> str:
    """The completion script for a shell."""
    lines = {Shell.BASH: _bash, Shell.ZSH: _zsh, Shell.FISH: _fish}[shell](grammar)
    return "\n".join(lines) + "\n"


def check(grammar: Grammar) -> str:
    """Compare the shipped scripts to what would be made now; raises `MemError` if one differs."""
    for shell, name in FILES.items():
        path = shipped("completions", name)
        if not path.is_file() or path.read_text(encoding="utf-8") != script(shell, grammar):
            raise MemError(
                f"{path} is out of date.", hint=f"mem completions show {shell} > completions/{name}"
            )
    return "The completion scripts are up to date.\n"


def install(shell: Shell) -> str:
    """Copy the script to where the user's shell looks for it; says where that is and what is left to do."""
    path = _place(shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shipped("completions", FILES[shell]).read_bytes())
    except OSError as err:
        raise MemError(
            f"Cannot write {path}: {err.strerror}.", hint=f"Keep it elsewhere: mem completions show {shell}"
        ) from err
    left = {
        Shell.BASH: f"It is loaded by bash-completion; without that, add to ~/.bashrc: source {path}",
        Shell.ZSH: f"Add to ~/.zshrc, if it is not there: "
        f"fpath=({path.parent} $fpath); autoload -Uz compinit; compinit",
        Shell.FISH: "fish finds it by itself.",
    }
    return f"Wrote {path}\n{left[shell]} Then open a new shell.\n"


def _place(shell: Shell) -> Path:
    match shell:
        case Shell.BASH:
            own = os.environ.get("BASH_COMPLETION_USER_DIR")
            folder = Path(own) if own else _folder("XDG_DATA_HOME", ".local/share") / "bash-completion"
            return folder / "completions" / "mem"
        case Shell.ZSH:
            return Path.home() / ".zfunc" / "_mem"
        case Shell.FISH:
            return _folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "mem.fish"


def _folder(variable: str, fallback: str) -> Path:
    base = os.environ.get(variable, "")
    return Path(base) if base.startswith("/") else Path.home() / fallback


def _takes_file(parameter: Parameter) -> bool:
    return parameter.doc.metavar == "FILE"


def _words(parameters: Sequence[Parameter]) -> str:
    return " ".join([*(one.option for one in parameters), "--help"])


def _head(shell: Shell) -> str:
    return f"# {shell} completion for mem, made by `mem completions show {shell}`; do not edit."


# bash

_BASH_BEGIN = r"""
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
    done"""


def _bash(grammar: Grammar) -> Iterator[str]:
    yield _head(Shell.BASH)
    yield _BASH_BEGIN
    yield "    case $command:$previous in"
    yield from _bash_values(grammar)
    yield "    esac"
    yield "    if [[ $word == -* ]]; then"
    yield "        case $command in"
    yield f"            '') _mem_words '{_words(grammar.root)}' \"$word\" ;;"
    for command in grammar.commands:
        yield f"            {command.name}) _mem_words '{_words(grammar.options(command))}' \"$word\" ;;"
    yield "        esac"
    yield "        return"
    yield "    fi"
    yield "    case $command:$((COMP_CWORD - index)) in"
    yield f"        :*) _mem_words '{' '.join(one.name for one in grammar.commands)}' \"$word\" ;;"
    for command in grammar.commands:
        yield from _bash_positions(command)
    yield "    esac"
    yield "}"
    yield ""
    yield "complete -F _mem mem"


def _bash_values(grammar: Grammar) -> Iterator[str]:
    """What follows an option; options that end alike share a line."""
    places: dict[str, list[str]] = {}
    for command in grammar.commands:
        for option in grammar.options(command):
            if option.shape is not Shape.FLAG:
                places.setdefault(_bash_action(option), []).append(f"{command.name}:{option.option}")
    for option in grammar.root:
        if option.shape is not Shape.FLAG:
            places.setdefault(_bash_action(option), []).append(f":{option.option}")
    for action, wanted in places.items():
        yield f"        {' | '.join(wanted)})"
        yield f"            {action}".rstrip()
        yield "            return"
        yield "            ;;"


def _bash_positions(command: Operation) -> Iterator[str]:
    positional = (one for one in command.parameters if one.positional)
    for position, parameter in enumerate(positional, start=1):
        action = _bash_action(parameter)
        if action != ":":
            yield f"        {command.name}:{position}) {action} ;;"


def _bash_action(parameter: Parameter) -> str:
    if parameter.choices is not None:
        return f"_mem_words '{' '.join(parameter.choices)}' \"$word\""
    return '_mem_files "$word"' if _takes_file(parameter) else ":"


# zsh

_ZSH_END = r"""}

if [[ $funcstack[1] == _mem ]]; then
  _mem "$@"
else
  compdef _mem mem
fi"""


def _zsh(grammar: Grammar) -> Iterator[str]:
    yield "#compdef mem"
    yield _head(Shell.ZSH)
    yield ""
    yield "_mem() {"
    yield "  local curcontext=$curcontext state line"
    yield "  local -a commands"
    yield "  typeset -A opt_args"
    yield "  commands=("
    for command in grammar.commands:
        yield f"    {_single(command.name + ':' + command.summary)}"
    yield "  )"
    yield "  _arguments -C \\"
    yield from (f"    {_zsh_option(option)} \\" for option in grammar.root)
    yield "    '(-h --help)'{-h,--help}'[Show this message and exit.]' \\"
    yield "    '1:command:{_describe command commands}' \\"
    yield "    '*::argument:->arguments'"
    yield "  [[ $state == arguments ]] || return"
    yield "  case $words[1] in"
    for command in grammar.commands:
        yield f"    {command.name})"
        yield "      _arguments \\"
        yield from (f"        {_zsh_option(option)} \\" for option in grammar.options(command))
        yield from (f"        {spec} \\" for spec in _zsh_positions(command))
        yield "        '(-h --help)'{-h,--help}'[Show this message and exit.]'"
        yield "      ;;"
    yield "  esac"
    yield _ZSH_END


def _zsh_option(option: Parameter) -> str:
    several = "*" if option.repeated else ""
    told = re.sub(r"([\[\]:])", r"\\\1", option.doc.text)
    if option.shape is Shape.FLAG:
        return _single(f"{several}{option.option}[{told}]")
    return _single(f"{several}{option.option}=[{told}]:{_zsh_value(option)}")


def _zsh_positions(command: Operation) -> Iterator[str]:
    positional = (one for one in command.parameters if one.positional)
    for position, parameter in enumerate(positional, start=1):
        several = parameter.repeated and not parameter.doc.document
        yield _single(f"{'*' if several else position}:{_zsh_value(parameter)}")


def _zsh_value(parameter: Parameter) -> str:
    if parameter.choices is not None:
        return f"{parameter.argument}:({' '.join(parameter.choices)})"
    return f"{parameter.argument}:{'_files' if _takes_file(parameter) else ' '}"


def _single(text: str) -> str:
    """In single quotes, for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


# fish

_FISH_BEGIN = r"""
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

complete -c mem -f"""


def _fish(grammar: Grammar) -> Iterator[str]:
    yield _head(Shell.FISH)
    yield _FISH_BEGIN
    for option in grammar.root:
        yield _fish_option('""', option)
    for command in grammar.commands:
        yield f"complete -c mem -n '__mem_at \"\"' -a {command.name} -d {_fish_text(command.summary)}"
    for command in grammar.commands:
        yield ""
        for option in grammar.options(command):
            yield _fish_option(command.name, option)
        yield from _fish_positions(command)
    yield ""
    yield "complete -c mem -s h -l help -d 'Show this message and exit.'"


def _fish_option(command: str, option: Parameter) -> str:
    line = f"complete -c mem -n '__mem_at {command}' -l {option.option.removeprefix('--')}"
    if option.shape is not Shape.FLAG:
        line += _fish_value(option)
    return f"{line} -d {_fish_text(option.doc.text)}"


def _fish_positions(command: Operation) -> Iterator[str]:
    positional = (one for one in command.parameters if one.positional)
    for position, parameter in enumerate(positional, start=1):
        where = f"complete -c mem -n '__mem_at {command.name} {position}'"
        if parameter.choices is not None:
            yield f"{where} -a '{' '.join(parameter.choices)}'"
        elif _takes_file(parameter):
            yield f"{where} -F"


def _fish_value(option: Parameter) -> str:
    if option.choices is not None:
        return f" -x -a '{' '.join(option.choices)}'"
    return " -r -F" if _takes_file(option) else " -x"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
