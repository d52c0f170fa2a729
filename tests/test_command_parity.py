"""The command line is the registry: names, parameters, defaults, bounds, choices, help, examples."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer._click import Context
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

import mem
from mem.cli import app, front_end
from mem.errors import Usage
from mem.operations import Operation, Panel, Parameter, Shape, operations

DEFINITIONS = app.definitions()
PARAMETERS = [(one, parameter) for one in DEFINITIONS.values() for parameter in one.parameters]
each_command = pytest.mark.parametrize("operation", DEFINITIONS.values(), ids=DEFINITIONS)
each_parameter = pytest.mark.parametrize(
    ("operation", "parameter"), PARAMETERS, ids=[f"{one.name} {p.argument}" for one, p in PARAMETERS]
)


def root() -> tuple[TyperGroup, Context]:
    group = typer.main.get_command(app.application())
    assert isinstance(group, TyperGroup)
    return group, Context(group, info_name="mem", **group.context_settings)


def command(operation: Operation) -> TyperCommand:
    group, context = root()
    built = group.get_command(context, operation.name)
    assert isinstance(built, TyperCommand)
    return built


def help_of(operation: Operation) -> str:
    """The help with its lines joined, so that a wrapped text can be found in it."""
    unbroken = re.sub(r"(?<=\w-)\n\s+", "", whole_help_of(operation))
    return " ".join(unbroken.split())


def whole_help_of(operation: Operation) -> str:
    built = command(operation)
    return built.get_help(Context(built, info_name=operation.name, **built.context_settings))


def typer_parameter(operation: Operation, name: str) -> TyperArgument | TyperOption:
    found = [one for one in command(operation).params if one.name == name]
    assert len(found) == 1
    assert isinstance(found[0], TyperArgument | TyperOption)
    return found[0]


def stand_in(parameter: Parameter) -> Any:
    """A value that the parameter takes."""
    if parameter.choices is not None:
        return next(iter(parameter.choices)).value
    return {Shape.INTEGER: "1", Shape.NUMBER: "1", Shape.RECORD: "f"}.get(parameter.shape, "x")


def test_the_commands_are_the_operations_and_those_of_the_front_end() -> None:
    group, context = root()
    names = [one.name for one in operations()]
    beside = [one.name for one in front_end.COMMANDS]
    assert group.list_commands(context) == [*names, *beside]
    assert {"serve", "completions"} <= set(beside)
    assert len(names) >= 13


def test_the_help_lists_each_command_once_under_its_panel() -> None:
    group, context = root()
    sections = re.split(r"^(\S[^\n]*):\n", group.get_help(context), flags=re.MULTILINE)
    listed = dict(zip(sections[1::2], sections[2::2], strict=True))
    for panel in Panel:
        found = re.findall(r"^  ([a-z][a-z-]*)  ", listed[panel], flags=re.MULTILINE)
        assert found == [name for name, one in DEFINITIONS.items() if one.panel is panel]


@each_command
def test_a_command_has_the_parameters_of_its_operation_and_no_other(operation: Operation) -> None:
    beside = front_end.beside(operation)
    own = [parameter.name for parameter in (*operation.parameters, *beside)]
    assert [one.name for one in command(operation).params] == [*own, "db", "json"]
    assert not {"context", "db", "json", "help", "version"} & set(own)


@each_command
def test_a_command_explains_itself(operation: Operation) -> None:
    shown = help_of(operation)
    assert " ".join(operation.description.split()) in shown
    assert operation.summary.endswith(".")
    assert "-h, --help" in shown
    for general in front_end.GENERAL:
        assert f"{general.option} " in shown
        assert general.doc.text in shown


@each_parameter
def test_a_parameter_is_an_argument_or_an_option_as_its_signature_says(
    operation: Operation, parameter: Parameter
) -> None:
    found = typer_parameter(operation, parameter.name)
    assert isinstance(found, TyperArgument) is parameter.positional
    assert found.required is parameter.required
    several = parameter.repeated and not parameter.doc.document
    if isinstance(found, TyperOption):
        assert found.opts == [parameter.option]
        assert found.multiple is several
        assert found.is_flag is (parameter.shape is Shape.FLAG)
    else:
        assert found.nargs == (-1 if several else 1)


@each_parameter
def test_a_parameter_has_the_default_of_its_signature(operation: Operation, parameter: Parameter) -> None:
    found = typer_parameter(operation, parameter.name)
    if parameter.default in (None, ()):
        assert found.default in (None, [])
    else:
        assert parameter.convert(found.default) == parameter.default
        if parameter.shape is not Shape.FLAG:
            assert f"[default: {found.default}]" in help_of(operation)


@each_parameter
def test_a_parameter_tells_what_it_means_and_takes(operation: Operation, parameter: Parameter) -> None:
    shown = help_of(operation)
    assert " ".join(parameter.doc.text.split()) in shown
    if parameter.choices is not None:
        assert f"One of: {', '.join(parameter.choices)}." in shown
    for bound in (parameter.doc.minimum, parameter.doc.maximum):
        if bound is not None:
            assert f"{bound:,.10g}" in typer_help(operation, parameter)
    if parameter.doc.metavar is not None:
        metavar = typer_parameter(operation, parameter.name).metavar
        assert metavar is not None
        assert metavar.removesuffix("...") == parameter.doc.metavar


def typer_help(operation: Operation, parameter: Parameter) -> str:
    return typer_parameter(operation, parameter.name).help or ""


@each_parameter
def test_what_lies_outside_its_bounds_and_choices_is_refused_on_the_command_line(
    home: Path, operation: Operation, parameter: Parameter
) -> None:
    wrong: list[str] = []
    if parameter.choices is not None:
        wrong.append("no such choice")
    if parameter.shape in (Shape.INTEGER, Shape.NUMBER):
        assert parameter.doc.minimum is not None
        assert parameter.doc.maximum is not None
        wrong += [f"{parameter.doc.minimum - 1:g}", f"{parameter.doc.maximum + 1:.0f}", "1e99", "nan", "many"]
    for value in wrong:
        arguments = [operation.name]
        for other in operation.parameters:
            if other is parameter:
                break
            if other.positional and (other.required or parameter.positional):
                arguments.append(stand_in(other))
        arguments += [value] if parameter.positional else []
        if not parameter.positional:
            arguments += [parameter.option, value]
        with pytest.raises(Usage) as caught:
            app.run(arguments)
        told = f"{caught.value} {caught.value.hint}"
        assert parameter.argument in told
        assert parameter.choices is None or ", ".join(parameter.choices) in told
    assert not home.exists()  # what is wrong is told before anything is opened or made


def test_an_operation_gets_what_was_given_and_nothing_else(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a default on the command line would win over a setting, and hide that nothing was asked for."""
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(app, "answer", lambda operation, given, *_, **__: seen.append(dict(given)))
    assert app.run(["list"]) == 0
    assert app.run(["list", "--limit", "20", "--tag", "a", "--tag", "b", "--all-projects"]) == 0
    assert app.run(["archive", "1", "2"]) == 0
    assert seen == [{}, {"limit": "20", "tag": ["a", "b"], "all_projects": True}, {"ids": ["1", "2"]}]


def arguments_of(example: str) -> list[str]:
    """The arguments of `mem` in an example, without what is for the shell."""
    words = shlex.split(re.split(r"\s[|]\s", example)[-1])
    ends = [words.index(sign) for sign in ("<", ">") if sign in words]
    last = max(place for place, word in enumerate(words) if word == "mem")
    return words[last + 1 : min(ends, default=len(words))]


@each_command
def test_every_example_parses(operation: Operation) -> None:
    assert any(example.startswith(f"mem {operation.name}") for example in operation.examples)
    shown = whole_help_of(operation)
    for example in operation.examples:
        assert f"\n  {example}\n" in f"{shown}\n"
        name, *rest = arguments_of(example)
        assert name == operation.name
        built = command(operation)
        context = built.make_context(name, rest)
        given = {
            one.argument: context.params[one.name]
            for one in operation.parameters
            if context.params[one.name] not in (None, [], (), False) and not one.doc.document
        }
        if not any(one.doc.document for one in operation.parameters):
            operation.bind(given, agent=False)


def named_commands() -> set[tuple[str, str]]:
    """Every `mem …` that a text of the program names, with the file that names it."""
    sign = re.compile(r"(?:(?<=`)|(?<=See: )|(?<=or: )|(?<=mean: )|(?<=; )|^)mem ([a-z][a-z-]*)")
    found = set()
    for path in Path(mem.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {(path.name, name) for name in sign.findall(node.value)}
    prose = {"is", "needs"}  # sentences whose subject is `mem`
    return {(file, name) for file, name in found if name not in prose}


def test_every_command_that_a_text_names_exists() -> None:
    named = named_commands()
    assert {"list", "doctor", "restore"} <= {name for _, name in named}
    assert {(file, name) for file, name in named if name not in DEFINITIONS} == set()
