"""Settings: an option, else a `MEM_*` variable, else `config.toml`, else the default; read when used."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mem import config_file
from mem.errors import Refused, Usage
from mem.paths import places

if TYPE_CHECKING:
    from mem.results import Configuration, Setting


class Action(StrEnum):
    """What `mem config` does."""

    LIST = "list"
    GET = "get"
    SET = "set"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Known:
    """A setting that exists: its default, what it means, and which values it takes.

    `check` gives a text as it is to be kept, or raises `Usage`. One that is for `people` is not set by
    anybody else; if it has `choices`, they go from the loosest to the strictest, and of the variable and the
    file the stricter holds: no shell's environment loosens what the file says.
    """

    key: str
    default: Any
    description: str
    choices: tuple[str, ...] = ()
    minimum: float = 0
    maximum: float = 1e9
    people: bool = False
    check: Callable[[str], str] | None = None

    @property
    def variable(self) -> str:
        return "MEM_" + re.sub(r"[^A-Z0-9]", "_", self.key.upper())

    def parse(self, text: str) -> Any:
        """The value that a text stands for; raises `Usage`."""
        convert: Callable[[str], Any] = {int: self._integer, bool: self._flag}.get(
            type(self.default), self._text
        )
        return convert(text)

    def _integer(self, text: str) -> int:
        if not re.fullmatch(r"-?\d{1,12}", text.strip()):
            raise Usage(f"{self.key} must be a whole number, not '{text}'.")
        number = int(text)
        if not self.minimum <= number <= self.maximum:
            raise Usage(f"{self.key} must be from {self.minimum:g} to {self.maximum:g}, not {number}.")
        return number

    def _flag(self, text: str) -> bool:
        if text.casefold() in ("true", "on", "yes", "1"):
            return True
        if text.casefold() in ("false", "off", "no", "0"):
            return False
        raise Usage(f"{self.key} must be true or false, not '{text}'.")

    def _text(self, text: str) -> str:
        if self.choices and text not in self.choices:
            raise Usage(f"{self.key} cannot be '{text}'.", hint=f"Choose one of: {', '.join(self.choices)}.")
        return text if self.check is None else self.check(text)


def _model(text: str) -> str:
    """A choice of a model as it is kept; raises `Usage`."""
    from mem.embed.choice import parse

    return parse(text).text


SETTINGS = {
    known.key: known
    for known in (
        Known(
            "model",
            "bundled",
            "Embedding model: bundled, fastembed:NAME, directory:PATH, endpoint, or none for words alone.",
            check=_model,
        ),
        Known("model.threads", 2, "Threads that the local embedding model may use.", minimum=1, maximum=64),
        Known(
            "endpoint.url",
            "https://api.openai.com/v1",
            "Base URL of an OpenAI-compatible embedding service.",
            people=True,
        ),
        Known("endpoint.model", "text-embedding-3-small", "Model that is asked for there."),
        Known(
            "endpoint.dimension", 0, "Length of its vectors; 0: what the model is known for.", maximum=65_536
        ),
        Known(
            "endpoint.timeout-ms",
            2500,
            "How long a call of the embedding service may take, in milliseconds.",
            minimum=50,
            maximum=600_000,
        ),
        Known(
            "endpoint.concurrency", 4, "Calls that backfill makes there side by side.", minimum=1, maximum=64
        ),
        Known(
            "endpoint.key-file",
            "",
            "File that holds the key of the embedding service, for callers without a shell's environment.",
            people=True,
        ),
        Known("project", "", "Project of every call that names none; empty: found from the folder."),
        Known("worker", True, "Keep a warm process that answers at once and holds the model: on or off."),
        Known(
            "worker.idle-minutes",
            15,
            "When the warm process ends by itself; 0: as soon as nothing is left to do.",
            maximum=10_000,
        ),
        Known(
            "hook.deadline-ms",
            800,
            "When a hook gives up and says nothing, in milliseconds.",
            minimum=100,
            maximum=60_000,
        ),
        Known(
            "trust.review",
            "off",
            "Whose memories wait until a person approves them: off, hooks, or agents (all but people).",
            choices=("off", "hooks", "agents"),
            people=True,
        ),
        Known("traces.days", 7, "Days that recall traces are kept.", minimum=1, maximum=90),
        Known("traces.most", 10_000, "How many recall traces are kept at most.", minimum=1, maximum=100_000),
        Known(
            "claude-memory.dirs",
            "",
            "Folders of Claude's own memory that claude-memory reads, such as ~/.claude/projects; with "
            "several, as in PATH.",
        ),
        Known(
            "reflect.miss-texts",
            False,
            "Keep what recall was asked in vain for 30 days, so that reflect can name it: on or off; "
            "otherwise it is only counted.",
        ),
        Known(
            "chat.command",
            "",
            "Command that compress and extract-entities ask, such as claude -p: a prompt in, the answer out.",
            people=True,
        ),
        Known(
            "chat.url",
            "",
            "OpenAI-compatible endpoint that they ask where no command is set, such as https://host/v1.",
            people=True,
        ),
        Known("chat.model", "", "Model of that endpoint."),
        Known("chat.key-file", "", "File that holds the key of that endpoint.", people=True),
        Known(
            "chat.timeout-seconds", 120, "How long one of their questions may take.", minimum=1, maximum=3600
        ),
        Known("store.timeout-ms", 10_000, "How long a write waits for another writer.", maximum=600_000),
    )
}


def run(action: Action, key: str | None, text: str | None) -> Configuration:
    """Show or change settings; raises `Usage` for what the action does not take."""
    from mem.results import Configuration

    path = str(places().configuration)
    match action:
        case Action.LIST | Action.PATH if key is not None:
            raise Usage(f"config {action} takes no key.", hint=f"Did you mean: mem config get {key}")
        case Action.PATH:
            return Configuration(path, ())
        case Action.LIST:
            return Configuration(path, tuple(setting(name) for name in SETTINGS))
        case Action.GET if key is not None and text is None:
            return Configuration(path, (setting(key),))
        case Action.SET if key is not None and text is not None:
            return Configuration(path, (write(key, text),))
        case _:
            shape = "KEY VALUE" if action is Action.SET else "KEY"
            raise Usage(f"config {action} takes {shape}.", hint="See: mem config list")


def find(key: str, place: str = "") -> Known:
    """The setting of that key; raises `Usage` naming the nearest one, and the `place` where it was found."""
    if key not in SETTINGS:
        from difflib import get_close_matches

        close = get_close_matches(key, SETTINGS, n=1, cutoff=0.5)
        hint = f"Did you mean {close[0]}?" if close else f"Settings: {', '.join(SETTINGS)}."
        raise Usage(f"There is no setting '{key}'{place}.", hint=hint)
    return SETTINGS[key]


def value(key: str, environment: Mapping[str, str] | None = None) -> Any:
    """The value in force in an environment: that of the process, if none is named.

    Raises `Usage` for a value that the key does not take.
    """
    return _in_force(find(key), environment)[0]


def setting(key: str, environment: Mapping[str, str] | None = None) -> Setting:
    """The value in force and where it came from; raises `Usage` for a value that the key does not take."""
    from mem.results import Setting

    known = find(key)
    return Setting(key, *_in_force(known, environment), known.description)


def _in_force(known: Known, environment: Mapping[str, str] | None) -> tuple[Any, str]:
    variables = os.environ if environment is None else environment
    given = variables.get(known.variable)
    named = given is not None and given != ""
    if named and not (known.people and known.choices):
        return _parsed(known, given or "", known.variable), known.variable
    path = places(variables).configuration
    stored = _stored(path)
    found = (known.default, "default")
    if known.key in stored:
        found = _parsed(known, str(stored[known.key]), str(path)), "config.toml"
    if named:
        return _stricter(known, found, (_parsed(known, given or "", known.variable), known.variable))
    return found


def _stricter(known: Known, filed: tuple[Any, str], named: tuple[Any, str]) -> tuple[Any, str]:
    return named if known.choices.index(named[0]) >= known.choices.index(filed[0]) else filed


def write(key: str, text: str) -> Setting:
    """Set a key in `config.toml`; every other byte of the file stays as it is."""
    known = find(key)
    if known.people:
        _require_person(key)
    value = known.parse(text)
    path = places().configuration
    _stored(path)  # a file with unknown settings is refused before it is touched
    config_file.write(path, key, value)
    return setting(key)


def _require_person(key: str) -> None:
    from mem.caller import current_caller

    actor = current_caller().actor.kind
    if actor != "person":
        raise Refused(
            f"{key} is for people only; this call comes from {actor}.",
            hint="Ask the person whose memory this is.",
        )


def _parsed(known: Known, text: str, origin: str) -> Any:
    try:
        return known.parse(text)
    except Usage as err:
        raise Usage(str(err), hint=f"{err.hint} It comes from {origin}.".lstrip()) from err


def _stored(path: Path) -> dict[str, Any]:
    stored = config_file.read(path)
    for key in stored:
        find(key, f" in {path}")
    return stored
