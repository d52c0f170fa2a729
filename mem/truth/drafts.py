"""From arguments to a memory that may be written: lengths, intervals, expiry, and no secrets.

Every free text that is stored comes through `clean`, whatever it belongs to.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mem import clock
from mem.clock import Edge
from mem.errors import Usage
from mem.truth.instructions import marked
from mem.truth.levels import gated
from mem.values import Layer, NewMemory, Notice

if TYPE_CHECKING:
    from mem.truth.redact import Redacted

LONGEST = {"content": 100_000, "title": 500, "rationale": 20_000, "alternatives": 20_000, "source": 2_000}
LONGEST_TAG, MOST_TAGS, LONGEST_PROJECT, LONGEST_REASON = 100, 64, 200, 2_000
FREE_TEXTS = (*LONGEST, "tags")
LIFETIMES = {Layer.WORKING: timedelta(hours=6), Layer.SHORT_TERM: timedelta(days=7)}


def draft(
    values: dict[str, Any], *, at: str, fresh: Collection[str] = FREE_TEXTS, allow_secret: bool = False
) -> NewMemory:
    """Check the fields of a memory together; instants may be dates or times as people write them.

    `values` are fields of `NewMemory`, with `expires` for its end of life; `at` is the record time. The texts
    of `fresh` fields are new: secrets are taken out of them, unless a person allows these. Raises `Usage`.
    """
    values = dict(values)
    told: list[Notice] = []
    for name, longest in LONGEST.items():
        cleaned = clean(name, values.get(name), longest, is_fresh=name in fresh, allow_secret=allow_secret)
        values[name] = cleaned.text
        told += cleaned.notices
    if values["content"] is None:
        raise Usage(
            "content is empty.", hint="Give the text to remember, or - to read it from standard input."
        )
    values["tags"], notices = _clean_tags(
        values.get("tags", ()), is_fresh="tags" in fresh, allow_secret=allow_secret
    )
    values["notices"] = (*told, *notices)
    values["event_time"] = _instant(values, "event_time", Edge.FIRST)
    values["valid_from"] = _instant(values, "valid_from", Edge.FIRST)
    values["valid_to"] = _instant(values, "valid_to", Edge.NEXT)
    check_interval(values["valid_from"], values["valid_to"])
    values["expires_at"] = _expiry(values.get("expires"), values.get("layer", Layer.LONG_TERM), at)
    known = {entry.name for entry in fields(NewMemory)}
    return marked(gated(NewMemory(**{name: value for name, value in values.items() if name in known})))


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
    """What an update changes: values as people write them, and what it empties.

    Only texts that it brings are looked through for secrets; what a person once allowed stays.
    """

    values: Mapping[str, Any]
    leaves_project: bool = False
    tags: tuple[str, ...] = ()
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    clear: tuple[Clearable, ...] = ()
    allow_secret: bool = False

    def require_something(self) -> None:
        """Refuse an update that names nothing to change, or a field both to set and to empty."""
        if replace(self, allow_secret=False) == Edit({}):
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
        kept = [tag for tag in values["tags"] if not self.tags and tag not in tags(self.remove_tags)]
        brought = [tag for tag in self.tags if tag not in tags(self.remove_tags)]
        added, told = _clean_tags((*brought, *self.add_tags), is_fresh=True, allow_secret=self.allow_secret)
        values["tags"] = (*kept, *added)
        if self.leaves_project:
            values["project"] = None
        after = _checked(values, at=at, fresh=self.values.keys(), allow_secret=self.allow_secret)
        return replace(after, notices=(*told, *after.notices))


def successor(
    before: NewMemory,
    *,
    content: str,
    title: str | None,
    rationale: str | None,
    valid_from: str | None,
    at: str,
    allow_secret: bool = False,
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
    return _checked(values, at=at, fresh=FREE_TEXTS, allow_secret=allow_secret)


def renewed(memory: NewMemory, *, at: str) -> NewMemory:
    """The memory with a new lifetime of its layer."""
    return replace(memory, expires_at=layer_expiry(memory.layer, at))


def project_to_write(name: str | None) -> str | None:
    """The name of a project that something is written to; raises `Usage` for one that holds a secret."""
    labels = _redact(name).labels if name is not None else ()
    if labels:
        raise Usage(
            f"The name of a project cannot hold a secret ({', '.join(labels)}).",
            hint="Name another one: --project NAME.",
        )
    return name


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


def _checked(values: dict[str, Any], *, at: str, fresh: Collection[str], allow_secret: bool) -> NewMemory:
    """Like `draft`, but keeps an expiry that is set already."""
    expires_at = values.pop("expires_at", None)
    checked = draft(values, at=at, fresh=fresh, allow_secret=allow_secret)
    if values.get("expires"):
        return checked
    return replace(checked, expires_at=expires_at)


@dataclass(frozen=True, slots=True)
class Clean:
    """A text as it may be written, None if nothing is left; and what its writer should know of that."""

    text: str | None
    notices: tuple[Notice, ...] = ()


def clean(
    name: str, value: str | None, longest: int, *, is_fresh: bool = True, allow_secret: bool = False
) -> Clean:
    """A text without white space around it and without secrets; raises `Usage` if it is too long.

    `name` is what the text is to its writer. Secrets stay in a text that is not fresh, since it is in the
    store already, and where a person allows them.
    """
    if value is None or not value.strip():
        return Clean(None)
    stripped = value.strip()
    _require_short(name, stripped, longest)
    if not is_fresh:
        return Clean(stripped)
    notices = _damaged(name, stripped)
    if not allow_secret:
        redacted = _redact(stripped)
        stripped, notices = redacted.text, (*_redacted(name, redacted.labels), *notices)
        _require_short(name, stripped, longest)
    return Clean(stripped, notices)


def text(name: str, value: str | None, longest: int) -> str | None:
    """The text that `clean` gives, for those who have nobody to tell what it found."""
    return clean(name, value, longest).text


def reason(given: str | None) -> Clean:
    """Why a person or an agent does something, as it may be kept."""
    return clean("reason", given, LONGEST_REASON)


def _require_short(name: str, given: str, longest: int) -> None:
    if len(given) > longest:
        raise Usage(
            f"{name} has {len(given):,} characters; at most {longest:,} are kept.",
            hint="Split it into several memories.",
        )


def _redacted(name: str, labels: tuple[str, ...]) -> tuple[Notice, ...]:
    if not labels:
        return ()
    told = f"{name} held a secret ({', '.join(labels)}); it was taken out before anything was stored."
    return (Notice("secret_redacted", told),)


def _redact(given: str) -> "Redacted":
    from mem.truth.redact import redact  # not above: who only reads pays for every import

    return redact(given)


# What UTF-8 looks like where it was read as Windows-1252, and what stands for bytes that could not be read.
_DAMAGE = re.compile(
    "\ufffd|Ã[\u00a1-\u00aa\u00ac-\u00ba\u00bc-\u00bf€ƒŠŒŽšœžŸ]|Â[\u00a3-\u00a9\u00ae-\u00b7\u00bd]"
    "|â€[™œ\u009d˜“”¦¢]|ðŸ|ã[€‚ƒ][\u0080-\u00bf]"
)


def _damaged(name: str, given: str) -> tuple[Notice, ...]:
    found = None if given.isascii() else _DAMAGE.search(given)
    if found is None:
        return ()
    told = f"{name} seems to have been read in a wrong encoding: it holds {found[0]!r}."
    return (Notice("damaged_encoding", told),)


def _clean_tags(
    values: Iterable[str], *, is_fresh: bool, allow_secret: bool
) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """Tags as they may be written, and what their writer should know."""
    given = tuple(values)
    if not is_fresh:
        return tags(given), ()
    notices = [notice for tag in given for notice in _damaged("tag", tag)]
    if allow_secret:
        return tags(given), tuple(notices)
    redacted = [_redact(tag) for tag in given]
    labels = dict.fromkeys(label for one in redacted for label in one.labels)
    return tags(one.text for one in redacted), (*_redacted("tag", tuple(labels)), *notices)


def tags(values: Iterable[str]) -> tuple[str, ...]:
    """Tags without repeats or surrounding space, in the order given; raises `Usage`."""
    kept = dict.fromkeys(" ".join(tag.split()) for tag in values)
    if "" in kept:
        raise Usage("A tag is empty.", hint="Leave it out.")
    for tag in kept:
        if len(tag) > LONGEST_TAG:
            raise Usage(
                f"The tag '{_redact(tag).text[:40]}…' has {len(tag)} characters; "
                f"at most {LONGEST_TAG} are kept."
            )
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
