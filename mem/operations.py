"""One definition per operation: the decorator, the registry, and the border that checks arguments.

An operation is a method of the service. Its signature, its `Doc` annotations and its docstring are the only
place where its name, parameters, defaults, bounds, choices and help are written; the command line and the MCP
server are both derived from what `Operation` reads out of them. Parameters before `*` are positional on the
command line, those after it are options. `bind` is the one border for arguments from outside: what passes it
has the declared types, lies within the declared bounds and is one of the declared choices.
"""

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar, get_args, get_origin

from mem.errors import Usage


@dataclass(frozen=True, slots=True)
class Doc:
    """What a parameter means, and what else the front ends must know of it.

    `minimum` and `maximum` are inclusive. `people` keeps the parameter off MCP, `reserved` some of its
    choices, which the operation refuses to all but people. `stdin` lets `-` read the value from standard
    input; `document` says that the command line takes a JSON file where MCP takes the value itself.
    """

    text: str
    minimum: float | None = None
    maximum: float | None = None
    metavar: str | None = None
    people: bool = False
    reserved: tuple[str, ...] = ()
    stdin: bool = False
    document: bool = False


class Panel(StrEnum):
    """The headings under which `mem --help` groups the commands."""

    REMEMBER = "Remember"
    FIND = "Find"
    GRAPH = "People and things"
    SESSIONS = "Sessions and context"
    REVIEW = "Review and audit"
    CARRY = "Carry"
    UPKEEP = "Upkeep"
    SETUP = "Set up"


class Shape(StrEnum):
    """The JSON types that parameters are made of."""

    TEXT = "string"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "boolean"
    RECORD = "object"


_SHAPES: dict[type, Shape] = {
    str: Shape.TEXT,
    int: Shape.INTEGER,
    float: Shape.NUMBER,
    bool: Shape.FLAG,
    dict: Shape.RECORD,
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation, as both front ends need it."""

    name: str
    doc: Doc
    shape: Shape
    choices: type[StrEnum] | None
    repeated: bool
    required: bool
    default: Any
    positional: bool

    @property
    def argument(self) -> str:
        """The name outside Python: `global_` is the argument `global`."""
        return self.name.rstrip("_")

    @property
    def option(self) -> str:
        """The long option on the command line."""
        return "--" + self.argument.replace("_", "-")

    def convert(self, value: Any) -> Any:
        """Check one value from outside and give it the declared type; raises `Usage`."""
        if value is None and not self.required:
            return self.default
        if not self.repeated:
            return self._one(value)
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = _parsed_list(self.argument, value)
        items = value if isinstance(value, list | tuple) else [value]
        if self.required and not items:
            raise Usage(f"{self.argument} is empty.", hint=self.doc.text)
        return tuple(self._one(item) for item in items)

    def _one(self, value: Any) -> Any:
        match self.shape:
            case Shape.TEXT:
                # An id that an answer gave as a number comes back as one.
                if isinstance(value, int) and not isinstance(value, bool):
                    value = str(value)
                if not isinstance(value, str):
                    raise Usage(f"{self.argument} must be text, not {_kind(value)}.")
                return self._chosen(_clean(self.argument, value))
            case Shape.INTEGER | Shape.NUMBER:
                return self._bounded(value)
            case Shape.FLAG:
                return self._flag(value)
            case Shape.RECORD:
                # The operation judges its records one by one: a bad one must not cost the others.
                return value

    def _chosen(self, value: str) -> str:
        if self.choices is None:
            return value
        given = value.strip().casefold().replace("-", "_")
        found = next((choice for choice in self.choices if choice.replace("-", "_") == given), None)
        if found is None:
            listed = ", ".join(self.choices)
            raise Usage(f"Unknown {self.argument} '{shortened(value)}'.", hint=f"Choose one of: {listed}.")
        return found

    def _bounded(self, value: Any) -> int | float:
        number = _number(value)
        if number is None or (self.shape is Shape.INTEGER and not number.is_integer()):
            article = "a whole number" if self.shape is Shape.INTEGER else "a number"
            raise Usage(f"{self.argument} must be {article}, not {shortened(repr(value))}.")
        low, high = self.doc.minimum, self.doc.maximum
        if (low is not None and number < low) or (high is not None and number > high):
            raise Usage(f"{self.argument} must be {bounds(low, high)}, not {shortened(str(value))}.")
        return int(number) if self.shape is Shape.INTEGER else number

    def _flag(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.casefold() in ("true", "false"):
            return value.casefold() == "true"
        raise Usage(f"{self.argument} must be true or false, not {shortened(repr(value))}.")


@dataclass(frozen=True)
class Operation:
    """An operation of the service, with everything that the front ends derive from it."""

    function: Callable[..., Any]
    name: str
    panel: Panel
    examples: tuple[str, ...]
    writes: bool
    destructive: bool
    idempotent: bool
    people: bool
    command_line_only: bool
    asks: str = ""
    asks_with: str = ""

    @property
    def method(self) -> str:
        return self.function.__name__

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.description.partition("\n")[0]

    @cached_property
    def description(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        # What an operation answers is not opened for that: it lies in a room of its own.
        asked = {name: said for name, said in self.function.__annotations__.items() if name != "return"}
        holder = types.SimpleNamespace(__annotations__=asked)
        hints = typing.get_type_hints(holder, self.function.__globals__, include_extras=True)
        signature = inspect.signature(self.function)
        return tuple(
            _parameter(parameter, hints[name])
            for name, parameter in signature.parameters.items()
            if name != "self"
        )

    def bind(self, arguments: Mapping[str, Any], *, agent: bool) -> dict[str, Any]:
        """Check arguments from outside against the signature.

        Gives keyword arguments for the method, or raises `Usage`: an unknown name, a missing value, a wrong
        type, bound or choice. An `agent` may not name the parameters that are for people.
        """
        known = {p.argument: p for p in self.parameters if not (agent and p.doc.people)}
        for name in arguments:
            if name not in known:
                raise Usage(f"{self.name} has no argument '{shortened(name)}'.", hint=nearest(name, known))
        missing = [name for name, p in known.items() if p.required and arguments.get(name) in (None, [], ())]
        if missing:
            hint = " ".join(f"{name}: {known[name].doc.text}" for name in missing)
            raise Usage(f"{self.name} needs {', '.join(missing)}.", hint=hint)
        return {known[name].name: known[name].convert(value) for name, value in arguments.items()}


Method = TypeVar("Method", bound=Callable[..., Any])

_REGISTRY: dict[str, Operation] = {}


def operation(
    *,
    panel: Panel,
    examples: tuple[str, ...],
    name: str | None = None,
    writes: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    people: bool = False,
    command_line_only: bool = False,
    asks: str = "",
    asks_with: str = "",
) -> Callable[[Method], Method]:
    """Enter a method of the service into the registry; its behaviour stays as it is.

    What `asks` is asked on a terminal before it acts, in these words, with arguments by name in braces; the
    command line gives it the option `--yes`, which it wants where there is no terminal. `asks_with` names the
    argument with which alone it asks.
    """

    def register(function: Method) -> Method:
        entry = Operation(
            function=function,
            name=name or function.__name__.rstrip("_").replace("_", "-"),
            panel=panel,
            examples=examples,
            writes=writes,
            destructive=destructive,
            idempotent=idempotent or not writes,
            people=people,
            command_line_only=command_line_only,
            asks=asks,
            asks_with=asks_with,
        )
        _REGISTRY[entry.name] = entry
        return function

    return register


def operations() -> Iterator[Operation]:
    """Every operation of the service, in the order of its methods."""
    yield from _REGISTRY.values()


def find_operation(name: str) -> Operation:
    """The operation of that name; raises `Usage` naming the nearest."""
    if name not in _REGISTRY:
        raise Usage(f"There is no operation '{shortened(name)}'.", hint=nearest(name, _REGISTRY))
    return _REGISTRY[name]


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    declared, *extras = get_args(hint) if get_origin(hint) is typing.Annotated else (hint,)
    doc = next((extra for extra in extras if isinstance(extra, Doc)), None)
    if doc is None:
        raise TypeError(f"parameter {parameter.name} has no Doc")
    item, repeated = _item_type(declared)
    choices = item if isinstance(item, type) and issubclass(item, StrEnum) else None
    required = parameter.default is inspect.Parameter.empty
    return Parameter(
        name=parameter.name,
        doc=doc,
        shape=Shape.TEXT if choices else _SHAPES[item],
        choices=choices,
        repeated=repeated,
        required=required,
        default=None if required else parameter.default,
        positional=parameter.kind is not inspect.Parameter.KEYWORD_ONLY,
    )


def _item_type(declared: Any) -> tuple[Any, bool]:
    """`tuple[X, ...]` and `list[X]` are repeated X; `X | None` is X."""
    if isinstance(declared, types.UnionType) or get_origin(declared) is typing.Union:
        declared = next(option for option in get_args(declared) if option is not type(None))
    origin = get_origin(declared)
    if origin in (tuple, list) or (isinstance(origin, type) and origin.__module__ == "collections.abc"):
        item = get_args(declared)[0]
        return (get_origin(item) or item), True
    return declared, False


_BROKEN = re.compile("[\x00\ud800-\udfff]")


def _clean(name: str, value: str) -> str:
    found = _BROKEN.search(value)
    if found is None:
        return value
    what = "a NUL character" if found.group() == "\x00" else "bytes that are not UTF-8"
    raise Usage(
        f"{name} holds {what} at position {found.start()}.", hint="Send valid UTF-8 text without NUL."
    )


def _parsed_list(name: str, value: str) -> list[Any]:
    import orjson

    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        return [value]
    return parsed if isinstance(parsed, list) else [value]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if number == number and abs(number) != float("inf") else None


def bounds(low: float | None, high: float | None) -> str:
    """Inclusive bounds in words; at least one of them is given."""
    if high is None:
        return f"at least {low:g}"
    return f"from {low:g} to {high:,.10g}" if low is not None else f"at most {high:g}"


def _kind(value: Any) -> str:
    """What a value is, in the words of JSON."""
    return {
        dict: "an object",
        list: "a list",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        type(None): "null",
    }.get(type(value), f"a {type(value).__name__}")


def shortened(text: str) -> str:
    """A value as a message quotes it: without secrets, a long one by its beginning."""
    from mem.truth.redact import redact

    plain = redact(text).text
    return plain if len(plain) <= 80 else f"{plain[:80]}…"


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint for a name that does not exist: the one most like it, else all there are."""
    from difflib import get_close_matches

    known = list(known)
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"Did you mean {close[0]}?" if close else "It takes: " + ", ".join(known) + "."
