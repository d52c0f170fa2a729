"""What the command line has beside the operations: `serve`, `completions`, and the options of every command.

They are described as operations and parameters are, so that help, checks and completion scripts come out of
the same definitions.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from mem.cli.completions import Grammar, Shell
from mem.errors import Usage
from mem.operations import Doc, Operation, Panel, Parameter, Shape, operations
from mem.results import Text


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

        match Action.CHECK if check else action:
            case Action.SHOW:
                return Text(completions.script(shell or _own_shell(), _grammar()))
            case Action.INSTALL:
                return Text(completions.install(shell or _own_shell()))
            case Action.CHECK:
                return Text(completions.check(_grammar()))
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
    _command(FrontEnd.serve, ("mem serve", "claude mcp add --scope user mem -- mem serve"), writes=True),
    _command(
        FrontEnd.completions,
        ("mem completions install zsh", "mem completions show bash > completions/mem.bash"),
        writes=False,
    ),
)


def _option(name: str, text: str, shape: Shape, metavar: str | None = None) -> Parameter:
    return Parameter(
        name=name,
        doc=Doc(text, metavar=metavar),
        shape=shape,
        choices=None,
        repeated=False,
        required=False,
        default=False if shape is Shape.FLAG else None,
        positional=False,
    )


DB = _option("db", "Use this store, not that of MEM_DB or the usual one.", Shape.TEXT, metavar="FILE")
JSON = _option("json", "Answer with one JSON document on standard output, errors too.", Shape.FLAG)
VERSION = _option("version", "Show the version and exit.", Shape.FLAG)

GENERAL = (DB, JSON)  # before the command and after it
ROOT = (*GENERAL, VERSION)  # before the command


def commands() -> tuple[Operation, ...]:
    """Every command of the command line."""
    return (*operations(), *COMMANDS)


def _grammar() -> Grammar:
    return Grammar(commands(), GENERAL, ROOT)
