"""Single values of a record that is about to be imported: each is checked, or refused with what is wrong."""

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from mem import clock
from mem.clock import Edge
from mem.errors import Usage
from mem.records.format import UNKNOWN_FIELDS
from mem.records.versions import UNRESOLVED

LONGEST_LABEL = 500  # characters of what has no limit of its own: a client, a session's name at its host
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_LINKS = frozenset(("event", "entity", "session", "superseded_by", "merged_into"))
_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)

Record = Mapping[str, Any]


class Malformed(Exception):
    """A record cannot be imported; the message says why."""


def uid(record: Record, name: str, *, required: bool = False) -> str | None:
    """A UUID in lower case."""
    value = record.get(name)
    if value is None:
        _require(name, required)
        return None
    # What `mem` wrote is as it should be; fullmatch costs less than making a UUID.
    if not isinstance(value, str) or not _UID.fullmatch(value):
        raise Malformed(f"{name} is no UUID in lower case: {told(value)}.")
    return value


def digest(record: Record, name: str) -> str:
    """A SHA-256 in hexadecimal digits."""
    value = record.get(name)
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise Malformed(f"{name} is no SHA-256 in 64 hexadecimal digits: {told(value)}.")
    return value


def choice(record: Record, name: str, known: Collection[str], default: str | None = None) -> str:
    """One of a closed list."""
    value = record.get(name)
    if value is None and default is not None:
        return default
    if value.__class__ is not str or value not in known:
        raise Malformed(f"{name} {told(value)} is none of: {', '.join(known)}.")
    return str(value)


def whole(record: Record, name: str, low: int, high: int, default: int | None = None) -> int:
    """A whole number within bounds."""
    value = record.get(name)
    if value is None and default is not None:
        return default
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not low <= value <= high:
        raise Malformed(f"{name} must be a whole number from {low} to {high}, not {told(value)}.")
    return value


def number(record: Record, name: str, low: float, high: float, default: float) -> float:
    """A number within bounds."""
    value = record.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise Malformed(f"{name} must be a number from {low:g} to {high:g}, not {told(value)}.")
    return float(value)


def label(record: Record, name: str, longest: int = LONGEST_LABEL, *, required: bool = False) -> str | None:
    """A short text that nobody writes by hand."""
    value = record.get(name)
    if value is None:
        _require(name, required)
        return None
    if not isinstance(value, str) or "\0" in value:
        raise Malformed(f"{name} must be text, not {told(value)}.")
    if len(value) > longest:
        raise Malformed(f"{name} has {len(value):,} characters; at most {longest:,} are kept.")
    return value


def texts(record: Record, name: str) -> list[str]:
    """A list of texts."""
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or (value and not all(map(_is_text, value))):
        raise Malformed(f"{name} must be a list of texts, not {told(value)}.")
    return value


def require_shape(record: Record) -> None:
    """See that what is nested can be walked through, and that `mem` reads its own marks in extra."""
    for name in ("versions", "usage"):
        listed = record.get(name)
        if listed is not None and not _is_objects(listed):
            raise Malformed(f"{name} must be a list of objects.")
        for nested in listed or ():
            _require_extra(nested)
    _require_extra(record)


def mapping(record: Record, name: str) -> dict[str, Any]:
    """An object of JSON."""
    value = record.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"{name} must be an object, not {told(value)}.")
    return value


def instant(record: Record, name: str, edge: Edge = Edge.FIRST, *, until: str | None = None) -> str | None:
    """An instant as it is stored, from that very form or from any that people write.

    One after `until` is refused: a clock was wrong, and what it wrote would win for as long.
    """
    value = record.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Malformed(f"{name} must be a time, not {told(value)}.")
    written = value if _is_stored(value) else _parsed(value, edge, name)
    if until is not None and written > until:
        raise Malformed(f"{name} lies more than a day ahead: {written}.")
    return written


def interval(record: Record) -> tuple[str | None, str | None]:
    """When something holds; an empty interval is one that never did."""
    begins, ends = instant(record, "valid_from"), instant(record, "valid_to", Edge.NEXT)
    if begins is not None and ends is not None and ends < begins:
        raise Malformed(f"valid_to ({ends}) is before valid_from ({begins}).")
    return begins, ends


def told(value: Any) -> str:
    """A value as a message quotes it: short, and without secrets."""
    from mem.operations import shortened

    return f"'{shortened(value)}'" if isinstance(value, str) else shortened(repr(value))


def _require_extra(record: Record) -> None:
    extra = mapping(record, "extra")
    if UNKNOWN_FIELDS in extra:
        raise Malformed(f"extra holds {UNKNOWN_FIELDS}, which is for what newer versions write beside it.")
    waiting = mapping(extra, UNRESOLVED)
    if unknown := waiting.keys() - _LINKS:
        raise Malformed(f"{UNRESOLVED} names {told(min(unknown))}, which refers to nothing.")
    for name in waiting:
        uid(waiting, name, required=True)


def _is_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _is_text(value: Any) -> bool:
    return type(value) is str and "\0" not in value


def _require(name: str, required: bool) -> None:
    if required:
        raise Malformed(f"{name} is missing.")


def _is_stored(value: str) -> bool:
    if len(value) != 27 or value[10] != "T" or value[19] != "." or value[26] != "Z" or not value.isascii():
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return value[4] == value[7] == "-"


def _parsed(value: str, edge: Edge, name: str) -> str:
    try:
        return clock.parse(value, edge, name=name)
    except Usage as err:
        raise Malformed(f"{err} {err.hint}") from None
