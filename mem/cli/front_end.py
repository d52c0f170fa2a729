"""What the command line has beside the operations: `serve`, `completions`, and the options of every command.

They are described as operations and parameters are, so that help, checks and completion scripts come out of
the same definitions.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from mem import config
from mem.chosen_model import Action as ModelAction
from mem.config import Action as ConfigAction
from mem.errors import Unavailable, Usage
from mem.hosts.host import Host
from mem.operations import Doc, Operation, Panel, Parameter, Shape, operations
from mem.paths import store_path
from mem.results import (
    Configuration,
    EntityView,
    Hooks,
    KnownModels,
    ModelCalibration,
    ModelFiles,
    ModelStatus,
    ModelUsed,
    Text,
    WorkerStatus,
)


class Shell(StrEnum):
    """The shells that there are completion scripts for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


class WorkerAction(StrEnum):
    """What `mem worker` does."""

    STATUS = "status"
    STOP = "stop"


class HooksAction(StrEnum):
    """What `mem hooks` does."""

    INSTALL = "install"
    UNINSTALL = "uninstall"
    SHOW = "show"


class Action(StrEnum):
    """What `mem completions` does."""

    SHOW = "show"
    INSTALL = "install"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """The commands of the command line itself; `db` is the store that it names, if it does."""

    db: Path | None

    def serve(self) -> None:
        """Serve the operations to an MCP client over standard input and output, until it hangs up."""
        from mem.server import stdio

        stdio.run(db=self.db)

    def worker(
        self,
        action: Annotated[WorkerAction, Doc("Show it, or end it; the next call starts another.")],
    ) -> WorkerStatus:
        """Show or end the warm worker: the process that answers at once and holds the model."""
        if os.name != "posix":
            raise Unavailable("There is no worker on this system; everything runs in process.")
        from mem.worker import control
        from mem.worker.embedder import worker_place

        place = worker_place(self.db or store_path(), os.environ)
        return control.stop(place) if action is WorkerAction.STOP else control.status(place)

    def config(
        self,
        action: Annotated[ConfigAction, Doc("What to do.")] = ConfigAction.LIST,
        key: Annotated[str | None, Doc("The setting, for get and set.")] = None,
        value: Annotated[str | None, Doc("The new value, for set.")] = None,
    ) -> Configuration:
        """Show or change settings: an option wins over MEM_* variables, these over config.toml."""
        return config.run(action, key, value)

    def model(
        self,
        action: Annotated[
            ModelAction,
            Doc(
                "Show what is in use, or all that can be; choose a model; fetch one of fastembed's list; "
                "show where its files are, or check them; measure what its cosines mean in this store."
            ),
        ] = ModelAction.STATUS,
        name: Annotated[
            str | None,
            Doc("bundled, none, fastembed:NAME, directory:PATH or endpoint."),
        ] = None,
        *,
        check: Annotated[
            bool, Doc("With status, ask the model for a vector; only then a service is called.")
        ] = False,
    ) -> KnownModels | ModelUsed | ModelFiles | ModelStatus | ModelCalibration:
        """Show, choose, fetch or check the embedding model.

        Choosing one sets the setting `model`. Recall goes on with the model whose vectors the store has,
        until `mem migrate-vectors` has made those of the other one.
        """
        from mem import chosen_model
        from mem.cli import progress

        with progress.reporting() as tell:
            return chosen_model.run(action, name, self.db, check=check, progress=tell)

    def hooks(
        self,
        action: Annotated[HooksAction, Doc("Put the hooks in, take them out again, or show them.")],
        host: Annotated[Host | None, Doc("The host; else each one that has its folder here.")] = None,
        *,
        dry_run: Annotated[bool, Doc("Print what would change as a diff, and write nothing.")] = False,
    ) -> Hooks:
        """Install, uninstall or show the hooks of `mem` in the settings of your agents' hosts.

        Everything else in those settings stays as it is, comments and line ends too, and uninstalling gives
        back the bytes from before.
        """
        from mem.hosts import installation

        chosen = (host,) if host else installation.present()
        if not chosen:
            raise Usage("No host has a folder here.", hint=f"Name one of: {', '.join(Host)}.")
        match action:
            case HooksAction.INSTALL:
                told = installation.install(chosen, dry_run=dry_run)
            case HooksAction.UNINSTALL:
                told = installation.uninstall(chosen, dry_run=dry_run)
            case HooksAction.SHOW:
                told = installation.show(chosen)
        return Hooks(action, dry_run, told)

    def completions(
        self,
        action: Annotated[
            Action | None, Doc("Print the script, install it for you, or check the files of a checkout.")
        ] = None,
        shell: Annotated[Shell | None, Doc("The shell; else the one that SHELL names.")] = None,
        *,
        check: Annotated[bool, Doc("The same as the action check.")] = False,
    ) -> Text:
        """Print, install or check the completion scripts for bash, zsh and fish; they start no Python."""
        from mem.cli import completions

        grammar = completions.Grammar(commands(), GENERAL, ROOT)
        match Action.CHECK if check else action:
            case Action.SHOW:
                return Text(completions.script(shell or _own_shell(), grammar))
            case Action.INSTALL:
                return Text(completions.install(shell or _own_shell()))
            case Action.CHECK:
                return Text(completions.check(grammar))
            case None:
                raise Usage("completions needs an action.", hint="See: mem completions --help")


def _own_shell() -> Shell:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in tuple(Shell):
        raise Usage("Which shell?", hint=f"Name one of: {', '.join(Shell)}.")
    return Shell(name)


def _command(function: Callable[..., Any], examples: tuple[str, ...], *, writes: bool) -> Operation:
    return Operation(
        function=function,
        name=function.__name__,
        panel=Panel.SETUP,
        examples=examples,
        writes=writes,
        destructive=False,
        idempotent=True,
        people=False,
        command_line_only=True,
    )


COMMANDS = (
    _command(
        FrontEnd.config,
        ("mem config list", "mem config set model.threads 1", "mem config get model"),
        writes=True,
    ),
    _command(FrontEnd.serve, ("mem serve", "claude mcp add --scope user mem -- mem serve"), writes=True),
    _command(
        FrontEnd.model,
        (
            "mem model list",
            "mem model fetch BAAI/bge-small-en-v1.5",
            "mem model use BAAI/bge-small-en-v1.5",
            "mem model status --check",
        ),
        writes=True,
    ),
    _command(FrontEnd.worker, ("mem worker status", "mem worker stop"), writes=True),
    _command(
        FrontEnd.hooks,
        ("mem hooks install", "mem hooks install claude-code --dry-run", "mem hooks uninstall cursor"),
        writes=False,
    ),
    _command(
        FrontEnd.completions,
        ("mem completions install zsh", "mem completions show bash > completions/mem.bash"),
        writes=False,
    ),
)


class Drawing(StrEnum):
    """How a neighbourhood can be written for other programs."""

    MERMAID = "mermaid"
    DOT = "dot"


def _option(
    name: str,
    text: str,
    shape: Shape,
    metavar: str | None = None,
    choices: type[StrEnum] | None = None,
) -> Parameter:
    return Parameter(
        name=name,
        doc=Doc(text, metavar=metavar),
        shape=shape,
        choices=choices,
        repeated=False,
        required=False,
        default=False if shape is Shape.FLAG else None,
        positional=False,
    )


DB = _option("db", "Use this store, not that of MEM_DB or the usual one.", Shape.TEXT, metavar="FILE")
JSON = _option("json", "Answer with one JSON document on standard output, errors too.", Shape.FLAG)
HOOK = _option(
    "hook", "Read the event of a host's hook on standard input, and answer in its protocol.", Shape.FLAG
)
FOLLOW = _option("follow", "Go on with each event as it is written; Ctrl-C ends it.", Shape.FLAG)
YES = _option("yes", "Do it without asking; wanted where there is no terminal to ask on.", Shape.FLAG)
REVIEW = "review"  # which on a terminal is a conversation instead of one answer

GRAPH = _option("graph", "Draw what is around it as a tree.", Shape.FLAG)
FORMAT = _option("format", "Draw it for another program.", Shape.TEXT, choices=Drawing)
VERSION = _option("version", "Show the version and exit.", Shape.FLAG)

GENERAL = (DB, JSON)  # before the command and after it
ROOT = (*GENERAL, VERSION)  # before the command
# What a command of the registry has on the command line alone.
BESIDE: dict[str, tuple[Parameter, ...]] = {
    "context": (HOOK,),
    "log": (FOLLOW,),
    "entity": (GRAPH, FORMAT),
}


def beside(operation: Operation) -> tuple[Parameter, ...]:
    """What a command has on the command line alone: `--yes` where it asks before it acts."""
    return (*BESIDE.get(operation.name, ()), *((YES,) if operation.asks else ()))


def shaped(found: Any, given: Mapping[str, Any]) -> Any:
    """The answer in the shape that an option of the command line asks for; raises `Usage`."""
    if not isinstance(found, EntityView):
        return found
    from mem.cli import graph

    match FORMAT.convert(given.get(FORMAT.name)):
        case Drawing.MERMAID:
            return Text(graph.mermaid(found))
        case Drawing.DOT:
            return Text(graph.dot(found))
        case _:
            return Text(graph.tree(found)) if given.get(GRAPH.name) else found


def commands() -> tuple[Operation, ...]:
    """Every command of the command line."""
    import mem.service  # noqa: F401  (its methods fill the registry)

    return (*operations(), *COMMANDS)
