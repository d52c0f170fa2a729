"""The Typer application: one command for each operation of the registry, and those of the front end itself.

Typer splits the command line and writes the help. Types, bounds and choices are told in the help and checked
in one place for both front ends, by `Operation.bind`, which gets only what was really given. A command is
built when it is asked for, so that a call pays for one signature and not for all.
"""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.main
from typer._click import Command as AnyCommand
from typer._click import Context, HelpFormatter
from typer._click import Parameter as AnyParameter
from typer._click.core import ParameterSource
from typer._click.exceptions import MissingParameter, NoSuchOption, UsageError
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from mem import __version__
from mem.caller import Caller, current_caller
from mem.cli import front_end, inputs, render
from mem.cli.inputs import fetched, path
from mem.errors import MemError, Refused, StoreUnusable, Usage
from mem.operations import Operation, Panel, Parameter, Shape, bounds, nearest, shortened
from mem.results import Text

if TYPE_CHECKING:
    from mem.service import Service

IN_FULL = frozenset(["get"])  # the commands that show whole memories
LONG = frozenset(("backfill", "import", "migrate-vectors"))  # those that say how far they are

_CONTEXT = {"help_option_names": ["-h", "--help"]}
_EPILOG = (
    "Exit status: 0 done (also: nothing found), 1 failed or partial, 2 usage, 3 no such id, "
    "4 refused by a rule, 5 store unusable, 130 interrupted."
)
_METAVARS = {Shape.INTEGER: "INTEGER", Shape.NUMBER: "NUMBER", Shape.RECORD: "FILE"}


@dataclass(frozen=True, slots=True)
class Session:
    """One call: who makes it, the service that is open for it already, and where the answer goes.

    `later` collects what can be done after the answer.
    """

    caller: Caller = field(default_factory=current_caller)
    service: "Service | None" = None
    show: Callable[..., None] = render.show
    later: list[Callable[[], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class General:
    """What may stand before the command: it holds for each; and the call that it all belongs to."""

    db: str | None
    json: bool
    session: Session


class Helpful(AnyCommand):
    """A command whose help is printed where everything is."""

    def get_help_option(self, ctx: Context) -> TyperOption | None:
        """Typer's own, but for who prints."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option


class Command(Helpful, TyperCommand):
    """One command: Typer's, with plain usage, examples, and a clear word about what is too much."""

    allow_extra_args = True

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Split the arguments; a last `--` is the text itself where a text is missing."""
        try:
            rest = super().parse_args(ctx, list(args))
        except MissingParameter:
            if args[-1:] != ["--"]:
                raise
            rest = super().parse_args(ctx, [*args, "--"])
        except UsageError as err:
            err.ctx = err.ctx or ctx
            raise
        if rest:
            raise Usage(
                f"{ctx.command_path} takes nothing more; '{shortened(rest[0])}' is too much.",
                hint="A text with spaces in it goes in quotes.",
            )
        return rest

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """`[OPTIONS]` and the positional arguments, the optional ones in brackets."""
        arguments = [param for param in self.params if isinstance(param, TyperArgument)]
        names = [param.make_metavar(ctx) for param in arguments]
        shown = [
            name if param.required else f"[{name}]" for name, param in zip(names, arguments, strict=True)
        ]
        return ["[OPTIONS]", *shown]

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """The examples, each on a line of its own so that it can be copied."""
        with formatter.section("Examples"):
            for example in (self.epilog or "").splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class Commands(Helpful, TyperGroup):
    """All commands, each built from its definition when it is asked for."""

    def get_command(self, ctx: Context, cmd_name: str) -> AnyCommand | None:
        """The command of that name."""
        known = definitions()
        return built(known[cmd_name]) if cmd_name in known else None

    def list_commands(self, ctx: Context) -> list[str]:
        """The names, in the order of their definitions."""
        return list(definitions())

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, AnyCommand | None, list[str]]:
        """The command that the arguments begin with; raises `Usage` naming the nearest."""
        command = self.get_command(ctx, args[0])
        if command is None:
            raise Usage(f"There is no command '{shortened(args[0])}'.", hint=nearest(args[0], definitions()))
        return args[0], command, args[1:]

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """The commands with their summaries, under the headings of their panels."""
        for panel in Panel:
            listed = [(name, one.summary) for name, one in definitions().items() if one.panel is panel]
            if listed:
                with formatter.section(panel):
                    formatter.write_dl(listed)


def run(arguments: Sequence[str], session: Session | None = None) -> int:
    """Run one command line, of this process or of another; gives the exit status, or raises `MemError`."""
    command = _group()
    try:
        with command.make_context("mem", list(arguments), obj=session or Session()) as context:
            return int(command.invoke(context) or 0)
    except typer.Exit as stop:
        return stop.exit_code
    except UsageError as err:
        raise _translated(err) from err


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether an error is to be the JSON error document: known before anything is parsed."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in own


@cache
def application() -> typer.Typer:
    """The application with the options that every command has."""
    app = typer.Typer(
        cls=Commands,
        help=inspect.cleandoc(_root.__doc__ or ""),
        epilog=_EPILOG,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_CONTEXT,
        subcommand_metavar="COMMAND [ARGUMENTS]",
    )
    app.callback(invoke_without_command=True)(_signed(_root, front_end.ROOT))
    return app


@cache
def _group() -> AnyCommand:
    return typer.main.get_command(application())


def definitions() -> dict[str, Operation]:
    """Every command by its name: the operations, and those of the front end."""
    return {one.name: one for one in front_end.commands()}


@cache
def built(operation: Operation) -> AnyCommand:
    """The Typer command of one definition."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(
        operation.name,
        cls=Command,
        help=operation.description,
        short_help=operation.summary,
        epilog="\n".join(operation.examples),
        rich_help_panel=operation.panel,
        context_settings=_CONTEXT,
    )(_callback(operation))
    return typer.main.get_command(app)


def answer(
    operation: Operation,
    given: Mapping[str, Any],
    db: Path | None,
    session: Session,
    *,
    sure: bool = False,
    quiet: bool = False,
) -> Any:
    """Check the arguments, read what they name, then call the operation; no store is opened before.

    What an operation asks is asked first, unless the call is `sure`. Long work says how far it is, unless it
    is to be `quiet`.
    """
    caller = session.caller
    refuse_agents(operation, given, caller)
    by_name = {parameter.argument: parameter for parameter in operation.parameters}
    fetch = {name: fetched(by_name[name], value) for name, value in given.items()}
    bound = operation.bind(fetch, agent=not caller.is_person)
    if operation.asks and not sure and (not operation.asks_with or bound.get(operation.asks_with)):
        _confirm(operation, bound)
    if operation in front_end.COMMANDS:
        return getattr(front_end.FrontEnd(db), operation.method)(**bound)
    service = session.service
    if service is None:
        from mem.service import open_service

        service = open_service(db, caller=caller, later=session.later.append)
    if operation.name in LONG:
        from mem.cli import progress

        with progress.reporting(quiet=quiet) as service.progress:
            return getattr(service, operation.method)(**bound)
    return getattr(service, operation.method)(**bound)


def refuse_agents(operation: Operation, given: Mapping[str, Any], caller: Caller) -> None:
    """Refuse what only people may do, or ask for, to everyone else."""
    if caller.is_person:
        return
    kept = [operation.name] if operation.people else []
    kept += [p.option for p in operation.parameters if p.doc.people and p.argument in given]
    if kept:
        raise Refused(
            f"{kept[0]} is for people only; this call comes from {caller.actor.kind}.",
            hint="Ask the person whose memory this is.",
        )


def _review(given: Mapping[str, Any], place: Path | None, session: Session) -> int:
    """Go through what waits, with one service for all that a person decides on the way."""
    from mem.cli import review
    from mem.service import open_service

    wanted = definitions()[front_end.REVIEW]
    refuse_agents(wanted, given, session.caller)
    bound = wanted.bind(given, agent=False)
    service = session.service or open_service(place, caller=session.caller, later=session.later.append)

    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        operation = definitions()[name]
        return getattr(service, operation.method)(**operation.bind(arguments, agent=False))

    return review.run(call, session.caller.environment, bound)


def _converses() -> bool:
    """Whether a person is there to read a question and to answer it by a key."""
    return os.name == "posix" and inputs.is_terminal() and render.is_terminal()


def _confirm(operation: Operation, bound: Mapping[str, Any]) -> None:
    """Ask whether it is meant; raises `Usage` where there is nobody to ask, `MemError` where it is not."""
    if not inputs.is_terminal():
        raise Usage(
            f"{operation.name} asks before it acts, and standard input is no terminal.",
            hint=f"If it is meant: mem {operation.name} … --yes",
        )
    told = {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in bound.items()}
    render.prompt(f"{operation.asks.format(**told)} [y/N] ")
    if inputs.line().strip().casefold() not in ("y", "yes"):
        raise MemError("Nothing was changed.")


def _root(
    context: typer.Context,
    db: str | None,
    json: bool,
    version: bool,
) -> None:
    """One local file of memory for every coding agent: facts that stay true, found by meaning, offline."""
    if version:
        render.show(Text(f"mem {__version__}\n"), as_json=json)
        raise typer.Exit
    context.obj = General(db, json, context.obj)
    if context.invoked_subcommand is None:
        if json:
            raise Usage("mem needs a command.", hint="See: mem --help")
        render.say(context.get_help())
        raise typer.Exit(2)


def _show_help(context: Context, _: AnyParameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        render.say(context.get_help())
        raise typer.Exit


def _callback(operation: Operation) -> Callable[..., int]:
    """What Typer calls with the values of one command line; its signature is made from the definition."""

    def call(context: typer.Context, db: str | None, json: bool, **values: Any) -> int:
        general: General = context.obj
        given = {
            parameter.argument: values[parameter.name]
            for parameter in operation.parameters
            if context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
        }
        session, place = general.session, _place(general.db if db is None else db)
        if values.get(front_end.HOOK.name):
            from mem.cli import hook

            return hook.answer(session, place, given.get("deadline_ms"))
        if values.get(front_end.FOLLOW.name):
            from mem.cli import follow

            return follow.run(operation, given, place, session, as_json=json or general.json)
        if operation.name == front_end.REVIEW and not (json or general.json) and _converses():
            return _review(given, place, session)
        sure = bool(values.get(front_end.YES.name))
        found = answer(operation, given, place, session, sure=sure, quiet=json or general.json)
        if found is not None:
            as_json = json or general.json
            shown = found if as_json else front_end.shaped(found, values)
            session.show(shown, in_full=operation.name in IN_FULL, as_json=as_json)
        return getattr(found, "exit_status", 0)

    return _signed(call, [*operation.parameters, *front_end.beside(operation), *front_end.GENERAL])


def _signed(function: Callable[..., Any], parameters: Sequence[Parameter]) -> Callable[..., Any]:
    """The function with the signature that Typer reads: a context, and these parameters."""
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    own = [_parameter(parameter) for parameter in parameters]
    function.__signature__ = inspect.Signature([context, *own])  # type: ignore[attr-defined]
    return function


def _parameter(parameter: Parameter) -> inspect.Parameter:
    """One parameter as Typer reads it: an argument or an option; a text, unless it is a flag."""
    flag = parameter.shape is Shape.FLAG
    default: Any = ... if parameter.required else _default(parameter.default)
    text, metavar = _help(parameter), None if flag else _metavar(parameter)
    if parameter.positional:
        info = typer.Argument(default, help=text, metavar=metavar)
    else:
        info = typer.Option(default, parameter.option, help=text, metavar=metavar, show_default=not flag)
    annotation: Any = bool if flag else list[str] if _several(parameter) else str
    return inspect.Parameter(
        parameter.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=annotation
    )


def _several(parameter: Parameter) -> bool:
    """Whether it may be given more than once; a document is one file, whatever it holds."""
    return parameter.repeated and not parameter.doc.document


def _default(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    return [str(item) for item in value] if isinstance(value, tuple) else str(value)


def _metavar(parameter: Parameter) -> str:
    name = parameter.doc.metavar or _METAVARS.get(parameter.shape)
    if name is None:
        name = parameter.argument.upper() if parameter.positional or parameter.choices else "TEXT"
    return f"{name}..." if parameter.positional and _several(parameter) else name


def _help(parameter: Parameter) -> str:
    parts = [parameter.doc.text]
    low, high = parameter.doc.minimum, parameter.doc.maximum
    if parameter.choices is not None:
        parts.append(f"One of: {', '.join(parameter.choices)}.")
    if low is not None or high is not None:
        parts.append(f"{bounds(low, high).capitalize()}.")
    if _several(parameter) and not parameter.positional and "repeated" not in parameter.doc.text:
        parts.append("May be repeated.")
    return " ".join(parts)


def _place(db: str | None) -> Path | None:
    if db is None:
        return None
    if not db.strip():
        raise Usage("--db names no file.", hint="Leave it out for the usual store.")
    place = path(db).expanduser().absolute()
    if not place.parent.is_dir():
        raise StoreUnusable(f"There is no folder {place.parent}.", hint="Make it first, or mend --db.")
    return place


def _translated(err: UsageError) -> Usage:
    """A usage error of Typer's in our words."""
    command = err.ctx.command_path if err.ctx else "mem"
    see = f"See: {command} --help"
    match err:
        case NoSuchOption(possibilities=[likely, *_]):
            return Usage(
                f"{command} has no option '{shortened(err.option_name)}'.", hint=f"Did you mean {likely}?"
            )
        case NoSuchOption():
            return Usage(
                f"{command} has no option '{shortened(err.option_name)}'.",
                hint=f"A text that begins with a dash goes after --. {see}",
            )
        case MissingParameter(param=TyperArgument() as missing):
            return Usage(f"{command} needs {missing.metavar}.", hint=see)
        case _:
            return Usage(err.format_message(), hint=see)
