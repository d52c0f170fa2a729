"""Temporal phrases of Chinese and Japanese, read as they are written: no spaces take their words apart."""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from mem.search.spans import ONE_DAY, Calendar, Span
from mem.search.temporal_words import (
    EAST_ASIAN_DAYS,
    EAST_ASIAN_NUMBERS,
    EAST_ASIAN_PERIODS,
    EAST_ASIAN_SEASONS,
    EAST_ASIAN_UNITS,
    EAST_ASIAN_WEEKDAYS,
    Unit,
)

_Parts = dict[str, str]
_DAYS = {word: days for days, words in EAST_ASIAN_DAYS.items() for word in words.split("|")}
_PERIODS = {word: period for period, words in EAST_ASIAN_PERIODS.items() for word in words.split("|")}
_UNITS = {word: unit for unit, words in EAST_ASIAN_UNITS.items() for word in words.split("|")}
_WEEKS = {"上上": 2, "先々": 2, "先先": 2, "上": 1, "先": 1, "这": 0, "這": 0, "本": 0, "今": 0}
_SOME = dict.fromkeys("几幾数", 3)


def _number(digits: str) -> int:
    """Return the value of 12, 十二 or 二十; 几 is about three."""
    if digits.isdecimal():
        return int(digits)
    if digits in _SOME:
        return _SOME[digits]
    tens, ten, ones = digits.rpartition("十")
    units = EAST_ASIAN_NUMBERS[ones] if ones else 0
    return units + (10 * (EAST_ASIAN_NUMBERS[tens] if tens else 1) if ten else 0)


def _year(calendar: Calendar, parts: _Parts) -> int | None:
    """Return the year that a phrase names in figures or as this or last year."""
    if parts.get("year"):
        return int(parts["year"])
    return calendar.today.year + _PERIODS[parts["near"]][1] if parts.get("near") else None


def _date(calendar: Calendar, parts: _Parts) -> Span:
    month, year = _number(parts["month"]), _year(calendar, parts)
    return (
        calendar.date(_number(parts["day"]), month, year) if parts.get("day") else calendar.month(month, year)
    )


def _season(calendar: Calendar, parts: _Parts) -> Span:
    return calendar.season(EAST_ASIAN_SEASONS.index(parts["season"]), _year(calendar, parts) or 0)


def _ago(calendar: Calendar, parts: _Parts) -> Span:
    unit = _UNITS[parts["unit"]]
    if parts["count"] == "半":
        return calendar.ago(*_half(unit))
    return calendar.ago(unit, _number(parts["count"]))


def _latest(calendar: Calendar, parts: _Parts) -> Span:
    unit = _UNITS[parts["unit"]]
    if parts["count"] == "半":
        return calendar.latest(*_half(unit))
    return calendar.latest(unit, _number(parts["count"]))


def _half(unit: Unit) -> tuple[Unit, int]:
    halves = {Unit.YEAR: (Unit.MONTH, 6), Unit.MONTH: (Unit.DAY, 15), Unit.DAY: (Unit.HOUR, 12)}
    return halves.get(unit, (Unit.MINUTE, 30))


def _weekday(calendar: Calendar, parts: _Parts) -> Span:
    monday = calendar.first_of(Unit.WEEK) - 7 * _WEEKS[parts["weeks"]] * ONE_DAY
    return calendar.day(monday + EAST_ASIAN_WEEKDAYS[parts["weekday"][0]] * ONE_DAY)


def _named_day(calendar: Calendar, parts: _Parts) -> Span:
    return calendar.day(calendar.today + _DAYS[parts["word"]] * ONE_DAY)


def _named_period(calendar: Calendar, parts: _Parts) -> Span:
    return calendar.period(*_PERIODS[parts["word"]])


@cache
def _grammar() -> tuple[tuple[re.Pattern[str], Callable[[Calendar, _Parts], Span]], ...]:
    near = "|".join(word for word, (unit, _) in _PERIODS.items() if unit is Unit.YEAR)
    year = rf"(?:(?P<year>(?:19|20|21)[0-9]{{2}})年|(?P<near>{near}))(?:的|の)?"
    digit = f"[{''.join(EAST_ASIAN_NUMBERS).replace('十', '')}]"
    number = f"(?:[0-9]{{1,6}}|{digit}?十{digit}?|{digit})"
    count = f"(?P<count>{number}|[{''.join(_SOME)}半])(?P<unit>{_any_of(_UNITS)})"
    weekday = "(?P<weekday>[一二三四五六日天](?![个個些起下共次直边邊])|[月火水木金土日]曜日?)"
    day = f"(?:(?P<day>{number})[日号號])?"
    first = "(?<![0-9〇一二三四五六七八九十])"
    patterns = {
        rf"(?:{year})?{first}(?P<month>{number})月(?:份|的|の)?{day}(?![前間间])": _date,
        rf"{year}(?P<season>[{EAST_ASIAN_SEASONS}])[天季]?": _season,
        r"(?P<year>(?:19|20|21)[0-9]{2})年(?![前間间度])": lambda calendar, parts: calendar.year(
            int(parts["year"])
        ),
        f"{first}{count}(?:之|以)?前": _ago,
        f"(?:最近|过去|過去|近|这|這|直近|ここ|この)(?:的|の)?{count}": _latest,
        f"(?P<weeks>{_any_of(_WEEKS)})(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?:的|の)?{weekday}": _weekday,
        f"(?P<word>{_any_of(_DAYS)})": _named_day,
        f"(?P<word>{_any_of(_PERIODS)})": _named_period,
    }
    return tuple((re.compile(pattern), meaning) for pattern, meaning in patterns.items())


def _any_of(words: dict[str, Unit] | dict[str, int] | dict[str, tuple[Unit, int]]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def phrases(text: str, calendar: Calendar) -> Iterator[tuple[int, int, Callable[[], Span]]]:
    """Yield where each phrase starts and ends, and a function that gives its span or raises ValueError."""
    for pattern, meaning in _grammar():
        for match in pattern.finditer(text):
            yield match.start(), match.end(), partial(meaning, calendar, match.groupdict())
