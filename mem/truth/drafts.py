"""From arguments to a memory that may be written: lengths, intervals, expiry."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

from mem import clock
from mem.clock import Edge
from mem.errors import Usage
from mem.values import Layer, NewMemory

LONGEST = {"content": 100_000, "title": 500, "rationale": 20_000, "alternatives": 20_000, "source": 2_000}
LONGEST_TAG, MOST_TAGS, LONGEST_PROJECT = 100, 64, 200
LIFETIMES = {Layer.WORKING: timedelta(hours=6), Layer.SHORT_TERM: timedelta(days=7)}


def draft(values: dict[str, Any], *, at: str) -> NewMemory:
    """Check the fields of a memory together; instants may be dates or times as people write them.

    `values` are fields of `NewMemory`, with `expires` for its end of life; `at` is the record time. Raises
    `Usage`.
    """
    values = dict(values)
    for name, longest in LONGEST.items():
        values[name] = text(name, values.get(name), longest)
    if values["content"] is None:
        raise Usage(
            "content is empty.", hint="Give the text to remember, or - to read it from standard input."
        )
    values["tags"] = tags(values.get("tags", ()))
    values["event_time"] = _instant(values, "event_time", Edge.FIRST)
    values["valid_from"] = _instant(values, "valid_from", Edge.FIRST)
    values["valid_to"] = _instant(values, "valid_to", Edge.NEXT)
    check_interval(values["valid_from"], values["valid_to"])
    values["expires_at"] = _expiry(values.get("expires"), values.get("layer", Layer.LONG_TERM), at)
    known = {entry.name for entry in fields(NewMemory)}
    return NewMemory(**{name: value for name, value in values.items() if name in known})


class Clearable(StrEnum):
    """The fields of a memory that an update may empty."""

    TITLE = "title"
    RATIONALE = "rationale"
    ALTERNATIVES = "alternatives"
    SOURCE = "source"
    TAGS = "tags"
    EVENT_TIME = "event_time"
    VALID_FROM = "valid_from"
    VALID_TO = "valid_to"
    EXPIRES = "expires"


@dataclass(frozen=True, slots=True)
class Edit:
    """What an update changes: values as people write them, and what it empties."""

    values: Mapping[str, Any]
    leaves_project: bool = False
    tags: tuple[str, ...] = ()
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    clear: tuple[Clearable, ...] = ()

    def require_something(self) -> None:
        """Refuse an update that names nothing to change, or a field both to set and to empty."""
        if self == Edit({}):
            raise Usage("update names nothing to change.", hint="See: mem update --help")
        both = [field.value for field in self.clear if field.value in self.values]
        if both:
            raise Usage(f"{both[0]} is both set and cleared.", hint="Leave one of them out.")
        if self.leaves_project and "project" in self.values:
            raise Usage(
                "A memory belongs to a project or is global, not both.", hint="Leave one of them out."
            )

    def apply(self, before: NewMemory, *, at: str) -> NewMemory:
        """The memory after the edit, checked as a new one is."""
        values = _fields(before)
        values.update(self.values)
        if "layer" in self.values and "expires" not in self.values:
            values["expires_at"] = layer_expiry(self.values["layer"], at)
        for field in self.clear:
            values["expires_at" if field is Clearable.EXPIRES else field.value] = (
                () if field is Clearable.TAGS else None
            )
        kept = [tag for tag in (self.tags or values["tags"]) if tag not in tags(self.remove_tags)]
        values["tags"] = (*kept, *self.add_tags)
        if self.leaves_project:
            values["project"] = None
        return _checked(values, at=at)


def successor(
    before: NewMemory,
    *,
    content: str,
    title: str | None,
    rationale: str | None,
    valid_from: str | None,
    at: str,
) -> NewMemory:
    """What holds after `before`: its attributes with the new text and an open interval."""
    values = _fields(before) | {
        "content": content,
        "title": title or before.title,
        "rationale": rationale or before.rationale,
        "event_time": None,
        "valid_from": valid_from,
        "valid_to": None,
        "expires_at": layer_expiry(before.layer, at),
    }
    return _checked(values, at=at)


def renewed(memory: NewMemory, *, at: str) -> NewMemory:
    """The memory with a new lifetime of its layer."""
    return replace(memory, expires_at=layer_expiry(memory.layer, at))


def project_name(name: str) -> str:
    """A project's name: one line, not blank; raises `Usage`."""
    stripped = name.strip()
    if not stripped or len(stripped) > LONGEST_PROJECT or not stripped.isprintable():
        raise Usage(
            f"'{name}' cannot be the name of a project.",
            hint=f"Take one line of at most {LONGEST_PROJECT} characters.",
        )
    return stripped


def _fields(memory: NewMemory) -> dict[str, Any]:
    return {entry.name: getattr(memory, entry.name) for entry in fields(memory)}


def _checked(values: dict[str, Any], *, at: str) -> NewMemory:
    """Like `draft`, but keeps an expiry that is set already."""
    expires_at = values.pop("expires_at", None)
    checked = draft(values, at=at)
    if values.get("expires"):
        return checked
    return replace(checked, expires_at=expires_at)


def text(name: str, value: str | None, longest: int) -> str | None:
    """A text without white space around it; None if nothing is left; raises `Usage` if it is too long."""
    if value is None or not value.strip():
        return None
    stripped = value.strip()
    if len(stripped) > longest:
        raise Usage(
            f"{name} has {len(stripped):,} characters; at most {longest:,} are kept.",
            hint="Split it into several memories.",
        )
    return stripped


def tags(values: Iterable[str]) -> tuple[str, ...]:
    """Tags without repeats or surrounding space, in the order given; raises `Usage`."""
    kept = dict.fromkeys(" ".join(tag.split()) for tag in values)
    if "" in kept:
        raise Usage("A tag is empty.", hint="Leave it out.")
    for tag in kept:
        if len(tag) > LONGEST_TAG:
            raise Usage(f"The tag '{tag[:40]}…' has {len(tag)} characters; at most {LONGEST_TAG} are kept.")
    if len(kept) > MOST_TAGS:
        raise Usage(f"{len(kept)} tags are too many; at most {MOST_TAGS} are kept.")
    return tuple(kept)


def check_interval(valid_from: str | None, valid_to: str | None) -> None:
    """Refuse an interval that ends before it begins."""
    if valid_from is not None and valid_to is not None and valid_to <= valid_from:
        raise Usage(f"valid-to ({valid_to}) is not after valid-from ({valid_from}).")


def layer_expiry(layer: Layer, at: str) -> str | None:
    """When a memory of this layer ends by itself, if it does."""
    lifetime = LIFETIMES.get(layer)
    return clock.to_text(clock.from_text(at) + lifetime) if lifetime else None


def _instant(values: dict[str, Any], name: str, edge: Edge) -> str | None:
    given = values.get(name)
    return clock.parse(given, edge, name=name.replace("_", "-")) if given is not None else None


def _expiry(given: str | None, layer: Layer, at: str) -> str | None:
    if not given:
        return layer_expiry(layer, at)
    if layer is Layer.PERMANENT:
        raise Usage("A permanent memory cannot expire.", hint="Leave expires out, or choose another layer.")
    expires = clock.parse_expiry(given, clock.from_text(at))
    if expires <= at:
        raise Usage(f"expires '{given}' is not in the future.")
    return expires
