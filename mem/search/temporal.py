"""Temporal phrases in a question: the window of time that it speaks of.

A window only ranks what lies in it higher, it never filters; so a phrase is read generously, and one that
means nothing (February 30, a billion years ago) is no window. Weeks begin on Monday, days at local midnight.

- today, yesterday, a date, a month, a season, a year: exactly that. Last week, month, quarter, year: the
  whole one before this. Last Tuesday, last June: the latest that is over. In June: the latest that has begun.
- "N units ago": minutes with 15 on both sides, hours with one; the day with one on both sides; the week with
  three days on both sides; the month, quarter or year.
- "last N units", "the past unit": up to now; from days on, from that local midnight to the end of today.
- Seasons are those of the north; a winter has the year in which it ends.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cache, partial
from itertools import chain, pairwise

from mem.search import temporal_east_asian
from mem.search.spans import ONE_DAY, Calendar, Span
from mem.search.stopwords import FRENCH, GERMAN
from mem.search.temporal_words import (
    ANY_LANGUAGE,
    UNITS,
    Kind,
    Sense,
    Unit,
    key,
    lexicon,
    longest_entries,
)

_LONGEST_QUERY = 1_000


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, half-open, in aware UTC, and the words that named it (in NFKC)."""

    since: datetime
    until: datetime
    phrase: str


_Reading = tuple[int, int, Callable[[], Span]]  # where a phrase starts and ends, and what it means


def find_window(query: str, now: datetime, zone: tzinfo) -> Window | None:
    """Return the window of the first temporal phrase in a query, the longest reading of it; None without one.

    `now` is aware; days, weeks and months are those of `zone`. No query raises.
    """
    text = unicodedata.normalize("NFKC", query[:_LONGEST_QUERY])
    calendar = Calendar(now, zone)
    readings = list(_written_dates(text, calendar))
    dates = [(start, end) for start, end, _ in readings]  # the numbers of a date are part of nothing else
    for reading in _phrases(text, calendar):
        if all(reading[1] <= start or end <= reading[0] for start, end in dates):
            readings.append(reading)
    if not text.isascii():
        readings.extend(temporal_east_asian.phrases(text, calendar))
    for start, end, meaning in sorted(readings, key=lambda reading: (reading[0], -reading[1])):
        try:
            since, until = meaning()
        except (ValueError, OverflowError):  # no such day, or none that a calendar holds
            continue
        return Window(since, until, text[start:end])
    return None


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, a number or an entry of several words, and what stands before it."""

    start: int
    end: int
    name: str
    senses: tuple[Sense, ...]
    tight: bool  # a space, hyphen or apostrophe
    mark: str = ""  # a comma or full stop
    capital: bool = False
    ordinal: bool = False

    def sense(self, kinds: tuple[Kind, ...], languages: int) -> Sense | None:
        """Return what the word means as one of the kinds in one of the languages."""
        return next((one for one in self.senses if one.kind in kinds and one.languages & languages), None)


_WORD = re.compile(
    r"(?P<number>[0-9]{1,6})(?P<ordinal>st|nd|rd|th|er|[oa])?(?![^\W_])|[^\W_]+", re.IGNORECASE
)
_TIGHT = re.compile(r"\s+|['’‐-]")
_MARK = re.compile(r"\s*[,.]\s*")


def _tokens(text: str) -> list[_Token]:
    found = list(_WORD.finditer(text))
    keys = [key(match[0]) for match in found]
    gaps = [text[before.end() : after.start()] for before, after in pairwise(found)]
    tight = [False, *(_TIGHT.fullmatch(gap) is not None for gap in gaps)]
    marks = ["", *(gap.strip() if _MARK.fullmatch(gap) else "" for gap in gaps)]
    tokens: list[_Token] = []
    place = 0
    while place < len(found):
        match, size = found[place], 1
        if match["number"]:
            senses = _number_senses(int(match["number"]), ordinal=bool(match["ordinal"]))
        else:
            size, senses = _entry_at(keys, tight, place)
        tokens.append(
            _Token(
                match.start(),
                found[place + size - 1].end(),
                keys[place],
                senses,
                tight[place],
                marks[place],
                capital=match[0][0].isupper(),
                ordinal=bool(match["ordinal"]),
            )
        )
        place += size
    return tokens


def _number_senses(number: int, *, ordinal: bool) -> tuple[Sense, ...]:
    kinds = [Kind.DAY] if 1 <= number <= 31 else []
    if not ordinal:
        kinds += [Kind.NUMBER, Kind.YEAR] if 1900 <= number < 2200 else [Kind.NUMBER]
    return tuple(Sense(kind, number, ANY_LANGUAGE) for kind in kinds)


def _entry_at(keys: list[str], tight: list[bool], place: int) -> tuple[int, tuple[Sense, ...]]:
    """Return the length in words and the senses of the longest entry that begins here, else (1, ())."""
    for size in range(longest_entries().get(keys[place], 0), 0, -1):
        if len(keys) >= place + size and all(tight[place + 1 : place + size]):
            senses = lexicon().get(" ".join(keys[place : place + size]))
            if senses:
                return size, senses
    return 1, ()


_Values = dict[str, int]
_Meaning = Callable[[Calendar, _Values], Span]


def _unit(values: _Values) -> Unit:
    return UNITS[values["unit"]]


def _ago(calendar: Calendar, values: _Values) -> Span:
    return calendar.ago(_unit(values), values.get("number", 1))


def _latest(calendar: Calendar, values: _Values) -> Span:
    return calendar.latest(_unit(values), values.get("number", 1))


def _period(calendar: Calendar, values: _Values) -> Span:
    return calendar.period(_unit(values), -values.get("last", 0))


def _weekday(calendar: Calendar, values: _Values) -> Span:
    return calendar.weekday_before(values["weekday"], values["last"])


def _month_before(calendar: Calendar, values: _Values) -> Span:
    return calendar.month_before(values["month"], values["last"])


def _month(calendar: Calendar, values: _Values) -> Span:
    return calendar.month(values["month"], values.get("year"))


def _date(calendar: Calendar, values: _Values) -> Span:
    return calendar.date(values["day"], values["month"], values.get("year"))


def _year(calendar: Calendar, values: _Values) -> Span:
    if not 1970 <= values["year"] <= calendar.today.year + 1:
        raise ValueError("a number rather than a year")
    return calendar.year(values["year"])


def _season(calendar: Calendar, values: _Values) -> Span:
    if "year" in values:
        return calendar.season(values["season"], values["year"])
    if "last" in values:
        return calendar.season_before(values["season"], values["last"])
    return calendar.season_begun(values["season"])


def _quarter(calendar: Calendar, values: _Values) -> Span:
    return calendar.quarter(values["quarter"], values.get("year"))


# A phrase is its slots in order; "*" may come up to three times, "?" once. A slot is a kind of word, or:
_SLOTS = {
    "last_after": ("last", (Kind.LAST_AFTER,)),
    "any_month": ("month", (Kind.MONTH, Kind.SHORT_MONTH)),
    "any_season": ("season", (Kind.SEASON, Kind.WEAK_SEASON)),
} | {kind.value: (kind.value, (kind,)) for kind in Kind if kind is not Kind.LAST_AFTER}

_GRAMMAR: dict[str, _Meaning] = {
    "relative": lambda calendar, values: calendar.day(calendar.today + values["relative"] * ONE_DAY),
    "ago_before number unit": _ago,
    "number unit ago_after": _ago,
    "unit ago_one": _ago,
    "last number unit": _latest,
    "past number unit": _latest,
    "number last unit": _latest,
    "past unit": _latest,
    "last unit": _period,
    "unit last_after": _period,
    "this unit": _period,
    "last weekday": _weekday,
    "weekday last_after": _weekday,
    "last any_month": _month_before,
    "month last_after": _month_before,
    "this month": lambda calendar, values: calendar.month(values["month"], calendar.today.year),
    "in link* month": _month,
    "in link* any_month link* year": _month,
    "any_month link* year": _month,
    "any_month day year?": _date,
    "in link* any_month day year?": _date,
    "day link* any_month": _date,
    "day link* any_month link* year": _date,
    "in link* day link* any_month": _date,
    "in link* day link* any_month link* year": _date,
    "in link* year": _year,
    "any_season link* year": _season,
    "last any_season": _season,
    "any_season last_after": _season,
    "this any_season": _season,
    "in link* season": _season,
    "quarter link* year": _quarter,
    "year quarter": _quarter,
    "in link* quarter": _quarter,
}


@cache
def _phrases_by_first_kind() -> dict[Kind, list[tuple[tuple[str, ...], _Meaning]]]:
    grouped: dict[Kind, list[tuple[tuple[str, ...], _Meaning]]] = {}
    for phrase, meaning in _GRAMMAR.items():
        slots = tuple(phrase.split(" "))
        for kind in _SLOTS[slots[0]][1]:
            grouped.setdefault(kind, []).append((slots, meaning))
    return grouped


# Without one of these there is no phrase.
_ANCHORS = frozenset(Kind) - {
    Kind.NUMBER, Kind.DAY, Kind.LAST, Kind.LAST_AFTER, Kind.PAST, Kind.THIS, Kind.IN, Kind.LINK,
    Kind.AGO_BEFORE, Kind.AGO_AFTER, Kind.AGO_ONE,
}  # fmt: skip


def _phrases(text: str, calendar: Calendar) -> Iterator[_Reading]:
    """Yield the readings of the phrases that the lexicon's words make."""
    tokens = _tokens(text)
    if not any(sense.kind in _ANCHORS for token in tokens for sense in token.senses):
        return
    grouped = _phrases_by_first_kind()
    for place, token in enumerate(tokens):
        for kind in {sense.kind for sense in token.senses}:
            for slots, meaning in grouped.get(kind, ()):
                if (match := _matched(slots, tokens, place)) and not _misread(tokens, place, *match):
                    values, end = match
                    yield token.start, tokens[end - 1].end, partial(meaning, calendar, values)


def _matched(slots: tuple[str, ...], tokens: list[_Token], start: int) -> tuple[_Values, int] | None:
    """Return the values of the slots and the place after the phrase, if it begins here."""
    values: _Values = {}
    languages, place = ANY_LANGUAGE, start
    for slot in slots:
        if slot == "link*":
            place = _after_links(tokens, place)
            continue
        name, kinds = _SLOTS[slot.removesuffix("?")]
        token = tokens[place] if place < len(tokens) else None
        if token is not None and place > start and not (token.tight or _goes_on(tokens[place - 1], token)):
            token = None
        sense = token.sense(kinds, languages) if token else None
        if sense is None:
            if slot.endswith("?"):
                continue
            return None
        values[name] = sense.value
        languages &= sense.languages
        place += 1
    return values, place


def _after_links(tokens: list[_Token], place: int) -> int:
    """Return the place after up to three links (of, the) that begin here."""
    for token in tokens[place : place + 3]:
        if not token.tight or token.sense((Kind.LINK,), ANY_LANGUAGE) is None:
            break
        place += 1
    return place


def _goes_on(before: _Token, token: _Token) -> bool:
    """Whether a phrase runs on over a punctuation mark: June 3, 2024; 3. Juni; Sept. 2024."""
    if token.mark == ",":
        return token.sense((Kind.YEAR,), ANY_LANGUAGE) is not None
    return token.mark == "." and before.sense((Kind.DAY, Kind.SHORT_MONTH), ANY_LANGUAGE) is not None


_VERBS = ("may", "march")
_BEFORE_A_DATE = frozenset(("on", "by", "since", "from", "of", "until", "till", "before", "after"))
# What follows "last may" when it is the month: "last may be" is not.
_AFTER_A_MONTH = frozenset(
    ("and", "did", "for", "i", "in", "or", "the", "was", "we", "were", "what", "when", "with")
)


def _misread(tokens: list[_Token], start: int, values: _Values, end: int) -> bool:
    """Whether a month is rather a verb (we may, march through), a year a count, or "hier" German."""
    if tokens[start].name == "hier":
        return _is_german(tokens)
    following = tokens[end] if end < len(tokens) and tokens[end].tight else None
    if set(values) == {"in", "year"}:
        return following is not None and following.sense((Kind.UNIT,), ANY_LANGUAGE) is not None
    verb = next((token for token in tokens[start:end] if token.name in _VERBS), None)
    if verb is None or verb.capital or "year" in values:
        return False
    if "day" in values:
        dated = any(token.ordinal for token in tokens[start:end]) or "in" in values
        return not (dated or (start > 0 and tokens[start - 1].name in _BEFORE_A_DATE))
    if "in" in values and tokens[start].name not in ("early", "mid", "late"):
        return False
    return following is not None and following.name not in _AFTER_A_MONTH


def _is_german(tokens: list[_Token]) -> bool:
    """Whether the words around are those of German rather than French."""
    names = [token.name for token in tokens if token.name != "hier"]
    return sum(name in GERMAN for name in names) > sum(name in FRENCH for name in names)


_ISO = re.compile(
    r"(?<![\w.-])(?P<year>[12][0-9]{3})(?:[-/](?P<month>[0-9]{2})(?:[-/](?P<day>[0-9]{1,2}))?)(?=T[0-9]|(?![\w/-]))"
)
_DOTTED = re.compile(r"(?<![\w.])(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[12][0-9]{3})(?!\.?\w)")


def _written_dates(text: str, calendar: Calendar) -> Iterator[_Reading]:
    """Yield 2025-03-14, 2025/03/14, 2025-03 and 14.3.2025."""
    for match in chain(_ISO.finditer(text), _DOTTED.finditer(text)):
        values = {name: int(digits) for name, digits in match.groupdict().items() if digits}
        yield match.start(), match.end(), partial(_date if "day" in values else _month, calendar, values)
