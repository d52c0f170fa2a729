"""Instants: aware UTC, ISO 8601 with microseconds and `Z`; dates are local days; intervals are half-open.

Texts of this one form sort like the instants they name, so the store compares them as text.
"""

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import Enum, auto

from mem.errors import Usage

MICROSECOND = timedelta(microseconds=1)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Edge(Enum):
    """What a date without a time of day stands for."""

    FIRST = auto()  # its first local instant: from, since
    NEXT = auto()  # the next local midnight, exclusive: to, until
    LAST = auto()  # its last instant: valid-at, known-at


def now() -> datetime:
    """The present instant, aware, in UTC."""
    return datetime.now(UTC)


def to_text(instant: datetime) -> str:
    """`2026-05-10T08:00:00.000000Z`."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0") + "Z"


def from_text(text: str) -> datetime:
    """The instant that `to_text` wrote."""
    return datetime.fromisoformat(text)


def midnight(day: date) -> datetime:
    """The first instant of a local day."""
    return datetime(day.year, day.month, day.day).astimezone(UTC)


def parse(text: str, edge: Edge, *, name: str) -> str:
    """An instant or a local day as stored text; raises `Usage` that names the value and the forms taken."""
    given = text.strip()
    try:
        if _DATE.fullmatch(given):
            return to_text(_of_day(date.fromisoformat(given), edge))
        instant = datetime.fromisoformat(given)
        return to_text(instant.astimezone(UTC))
    except (ValueError, OverflowError):
        raise Usage(
            f"{name} '{text[:80]}' is not a date or time.",
            hint="Write 2026-05-10 (a local day) or 2026-05-10T08:30:00Z.",
        ) from None


def _of_day(day: date, edge: Edge) -> datetime:
    match edge:
        case Edge.FIRST:
            return midnight(day)
        case Edge.NEXT:
            return midnight(day + timedelta(days=1))
        case Edge.LAST:
            return midnight(day + timedelta(days=1)) - MICROSECOND


def local_zone() -> tzinfo:
    """The zone of this machine, with its changes of clocks."""
    return _LocalZone()


class _LocalZone(tzinfo):
    """The rules that the platform's own `localtime` follows, so that no zone database has to be found."""

    def utcoffset(self, when: datetime | None) -> timedelta | None:
        return self._seen(when).utcoffset()

    def dst(self, when: datetime | None) -> timedelta | None:
        return timedelta(0)

    def tzname(self, when: datetime | None) -> str | None:
        return self._seen(when).tzname()

    def fromutc(self, when: datetime) -> datetime:
        local = when.replace(tzinfo=UTC).astimezone()
        return local.replace(tzinfo=self)

    def _seen(self, when: datetime | None) -> datetime:
        return (when or now()).replace(tzinfo=None).astimezone()


_SPAN = re.compile(r"(\d{1,5})\s*(m|h|d|w|minutes?|hours?|days?|weeks?)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_expiry(text: str, at: datetime) -> str:
    """A date, a time, or a span from now such as `36h`, `7d` or `2 weeks`, as stored text."""
    span = _SPAN.fullmatch(text.strip().casefold())
    if span is None:
        return parse(text, Edge.NEXT, name="expires")
    return to_text(at + timedelta(**{_UNITS[span[2][0]]: int(span[1])}))


def local_day(text: str) -> str:
    """The local date of a stored instant, for people: `2026-05-10`."""
    return from_text(text).astimezone().date().isoformat()
