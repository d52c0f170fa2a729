"""Times as other programs write them. One without an offset is UTC, and so is a date alone."""

import re
from datetime import UTC, datetime

from mem import clock

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>[a-z]{3})[a-z]*\.?"
_CLOCK = r"(?:,?\s+(?:at\s+)?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?)?"
_ZONE = r"(?:\s*(?:z|utc|gmt(?P<offset>[+-]\d{4})?))?"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_NAMED = tuple(
    re.compile(rf"(?:[a-z]{{3,9}},?\s+)?{order}{_CLOCK}{_ZONE}(?:\s*\(.*\))?")
    for order in (rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}", rf"{_DAY}\.?\s+{_MONTH},?\s+{_YEAR}")
)
_NUMBERED = re.compile(rf"{_YEAR}[/.](?P<month>\d{{1,2}})[/.]{_DAY}{_CLOCK}{_ZONE}")


def instant(value: object) -> str | None:
    """The instant that a text stands for, as it is stored; None if it stands for none."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _in_words(text.casefold())
    return clock.to_text(found if found.tzinfo else found.replace(tzinfo=UTC))


def _in_words(text: str) -> str | None:
    for form in (*_NAMED, _NUMBERED):
        found = form.fullmatch(text)
        if found is None:
            continue
        said = found.groupdict()
        named = said["month"]
        month = int(named) if named.isdecimal() else 1 + _MONTHS.index(named) if named in _MONTHS else 0
        day, hour, minute, second = (int(said[name] or 0) for name in ("day", "hour", "minute", "second"))
        zone = datetime.strptime(said["offset"] or "+0000", "%z").tzinfo
        try:
            return clock.to_text(datetime(int(said["year"]), month, day, hour, minute, second, tzinfo=zone))
        except ValueError:
            return None
    return None
