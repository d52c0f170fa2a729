"""Instants: aware UTC, ISO 8601 with microseconds and `Z`; dates are local days; intervals are half-open.

Texts of this one form sort like the instants they name, so the store compares them as text.
"""

import re
from bisect import bisect_left
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import Enum, auto

from mem.errors import Usage

MICROSECOND = timedelta(microseconds=1)
# The first and the last instant that can be written; what lies beyond is one of them.
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"\d{4}(-?)\d{2}\1\d{2}", re.ASCII)
_TIME = re.compile(r"\d{4}(-?)\d{2}\1\d{2}[T ]\d{2}.*", re.ASCII)


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
    try:
        utc = instant.astimezone(UTC)
    except OverflowError:
        utc = EARLIEST if instant.year == 1 else LATEST
    return utc.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_text(text: str) -> datetime:
    """The instant that `to_text` wrote."""
    return datetime.fromisoformat(text)


def midnight(day: date) -> datetime:
    """The first instant of a local day, whether or not its clocks show midnight."""
    local = datetime(day.year, day.month, day.day)
    # Where the clocks leap, local times between do not exist: one fold reads them by the offset before the
    # leap, the other by that after it, and the day begins between the two.
    before, after = _utc(local.replace(fold=1)), _utc(local)
    if before >= after:
        return after
    seconds = range(int((before - _EPOCH).total_seconds()), int((after - _EPOCH).total_seconds()))
    return _EPOCH + timedelta(seconds=seconds.start + bisect_left(seconds, day, key=date.fromtimestamp))


def parse(text: str, edge: Edge, *, name: str) -> str:
    """An instant or a local day as stored text; raises `Usage` that names the value and the forms taken."""
    given = text.strip().upper()
    try:
        if _DATE.fullmatch(given):
            return to_text(_of_day(date.fromisoformat(given), edge))
        if _TIME.fullmatch(given):
            instant = datetime.fromisoformat(given)
            return to_text(instant if instant.tzinfo else _utc(instant))
    except ValueError:
        pass
    raise Usage(
        f"{name} '{text[:80]}' is not a date or time.",
        hint="Write 2026-05-10 (a local day) or 2026-05-10T08:30:00Z.",
    )


def _of_day(day: date, edge: Edge) -> datetime:
    if edge is Edge.FIRST:
        return midnight(day)
    following = midnight(day + timedelta(days=1)) if day < date.max else LATEST
    return following if edge is Edge.NEXT else following - MICROSECOND


def _utc(local: datetime) -> datetime:
    """The instant of a local time without a zone.

    `astimezone` is wrong by the length of the leap where the clocks leapt over the time; `timestamp` is not.
    """
    try:
        seconds = local.replace(microsecond=0).timestamp()
        return _EPOCH + timedelta(seconds=seconds, microseconds=local.microsecond)
    except (ValueError, OverflowError):
        return EARLIEST if local.year == 1 else LATEST


def local_zone() -> tzinfo:
    """The zone of this machine, with its changes of clocks."""
    return _LocalZone()


class _LocalZone(tzinfo):
    """The rules that the platform's own `localtime` follows, so that no zone database has to be found."""

    def utcoffset(self, when: datetime | None) -> timedelta | None:
        local = (when or now().astimezone()).replace(tzinfo=None)
        return local - _utc(local).replace(tzinfo=None)

    def dst(self, when: datetime | None) -> timedelta | None:
        return timedelta(0)

    def tzname(self, when: datetime | None) -> str | None:
        return (when or now().astimezone()).replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, when: datetime) -> datetime:
        instant = when.replace(tzinfo=UTC)
        local = instant.astimezone().replace(tzinfo=None)
        return local.replace(tzinfo=self, fold=_utc(local) != instant)


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
    try:
        return from_text(text).astimezone().date().isoformat()
    except (ValueError, OverflowError):  # beyond the years 1 to 9999 here
        return text[:10]
