"""Numbers, versions, times and spans as a text writes them, in one form each: a format is no difference.

`1,000`, `1.000`, `1 000` and `1000` are one number, `9:30`, `9h30`, `9.30 Uhr` and 九点半 one time of
day, "ninety days" and `90 days` one span, `8万` is 80000. A dotted number stays as it is written
(`3.1` is not `3.10`), since most are versions; one that could be either has both readings.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

_SPACES = "[ \u00a0\u202f]"
_PLAIN = (
    rf"0x[0-9a-fA-F]+|\d{{1,3}}(?:[.,'\u2019]\d{{3}})+(?![\d.,]*\d)|\d{{1,3}}(?:{_SPACES}\d{{3}})+(?!\d)"
    r"|\d+(?:[.,]\d+)*"
)
# Spelled in Latin letters; "one" and its like stay out, since they are articles and pronouns as well.
_SPELLED = {
    word: number
    for number, words in {
        2: "two zwei deux dos dois duas",
        3: "three drei trois tres três",
        4: "four vier quatre cuatro quatro",
        5: "five fünf cinq cinco",
        6: "six sechs seis",
        7: "seven sieben sept siete sete",
        8: "eight acht huit ocho oito",
        9: "nine neun nueve nove",
        10: "ten zehn dix diez dez",
        11: "eleven elf onze once",
        12: "twelve zwölf douze doce doze",
        14: "fourteen vierzehn quatorze catorce catorze",
        15: "fifteen fünfzehn quinze quince",
        20: "twenty zwanzig vingt veinte vinte",
        24: "twenty-four vierundzwanzig vingt-quatre veinticuatro",
        30: "thirty dreißig trente treinta trinta",
        40: "forty vierzig quarante cuarenta quarenta",
        45: "forty-five fünfundvierzig",
        50: "fifty fünfzig cinquante cincuenta cinquenta",
        60: "sixty sechzig soixante sesenta sessenta",
        90: "ninety neunzig quatre-vingt-dix noventa",
        100: "hundred hundert cent cien cem",
        1000: "thousand tausend mille mil",
    }.items()
    for word in words.split()
}
_AMBIGUOUS = {"en": {"once", "mille", "mil", "dix", "cent", "dos", "quince"}, "fr": {"dos", "once"}}
_HAN_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {
    "两": 2,
    "〇": 0,
}
_HAN_POWERS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10_000, "萬": 10_000, "億": 100_000_000, "亿": 100_000_000}
# After these a Chinese numeral is a number; elsewhere it is mostly part of a word.
_COUNTED = "点時时天日号號小分秒个個次年月元円人台件回度倍周週名"

# Seconds in a unit of time, by what the words for it begin with.
_SPANS = (
    (1, ("s", "sec", "secs", "second", "seconds", "sekunde", "sekunden", "sek", "seconde", "secondes")),
    (1, ("segundo", "segundos", "秒", "秒钟", "秒間")),
    (60, ("min", "mins", "minute", "minutes", "minuten", "minuto", "minutos", "分钟", "分鐘", "分間")),
    (3600, ("h", "hr", "hrs", "hour", "hours", "stunde", "stunden", "std", "heure", "heures")),
    (3600, ("hora", "horas", "小时", "小時", "時間")),
    (86400, ("d", "day", "days", "tag", "tage", "tagen", "jour", "jours", "dia", "días", "día", "dias")),
    (86400, ("天", "日間")),
    (604800, ("week", "weeks", "woche", "wochen", "semaine", "semaines", "semana", "semanas", "周", "週間")),
)
_SECONDS = {word: seconds for seconds, words in _SPANS for word in words}
_MILLISECONDS = ("ms", "millisecond", "milliseconds", "millisekunden", "毫秒", "ミリ秒")
_SHARES = ("%", "％", "percent", "prozent", "pour cent", "por ciento", "por cento")

_UNITS = sorted((*_SECONDS, *_MILLISECONDS, *_SHARES), key=len, reverse=True)
_UNIT = "|".join(re.escape(unit) + (r"(?![^\W\d_])" if unit.isascii() else "") for unit in _UNITS)
_TIME = (
    r"(?P<hour>[01]?\d|2[0-4])"
    r"(?:(?P<joint>[:hH]|[時时点點])(?P<minute>[0-5]\d|半)?|\.(?P<dotted>[0-5]\d)(?=\ ?Uhr))"
    rf"(?![\d:A-Za-z])(?:分|:[0-5]\d)?(?:{_SPACES}?(?P<noon>[ap]\.?m\b\.?|Uhr|h\b))?"
    rf"|(?P<only>[01]?\d|2[0-4]){_SPACES}?(?P<noon2>[ap]m\b|Uhr\b)"
)
AMOUNT = (
    rf"(?P<amount>(?<![\d.])(?:{_TIME})|(?:(?<![^\W\d_])v?|(?<=[^\x00-\u024f]))(?:{_PLAIN})"
    rf"(?:(?P<myriad>[万萬億亿千])|(?:-|{_SPACES})?(?P<unit>{_UNIT}))?)"
)
HAN_AMOUNT = (
    rf"(?P<han_amount>(?P<digits>[零一二三四五六七八九十百千两〇]++)(?:(?P<han_myriad>[万萬])|(?=点半|[{_COUNTED}]))"
    rf"(?:点(?P<half>半)|(?P<oclock>点)|(?P<han_unit>{_UNIT}))?)"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as what it may mean; two are equal if they share a reading."""

    readings: frozenset[str]
    bare: bool  # nothing says what it counts, and it is no version: it may name a thing

    @property
    def is_year(self) -> bool:
        """Whether it may be a year of our time."""
        return self.bare and any(re.fullmatch("(?:19|20)[0-9]{2}", reading) for reading in self.readings)

    def same(self, other: "Amount") -> bool:
        """Whether both can mean the same."""
        return not self.readings.isdisjoint(other.readings)


def spelled(word: str, language: str) -> Amount | None:
    """The amount that a word in Latin letters spells."""
    number = _SPELLED.get(word)
    if number is None or word in _AMBIGUOUS.get(language, ()):
        return None
    return Amount(frozenset((str(number),)), bare=True)


def with_unit(amount: Amount, unit: str) -> Amount:
    """A spelled number with the unit that follows it."""
    number = next(iter(amount.readings))
    return Amount(frozenset(_measured(Fraction(number), unit.casefold())), bare=False)


def is_unit(word: str) -> bool:
    """Whether a word is a unit of time or a share."""
    return word in _SECONDS or word in _MILLISECONDS or word in _SHARES


def read(match: re.Match[str]) -> Amount:
    """The amount that `AMOUNT` or `HAN_AMOUNT` found."""
    if match["han_amount"]:
        return _han(match)
    if match["hour"] or match["only"]:
        return _time(match)
    text = match["amount"]
    end = text.find(match["myriad"] or match["unit"] or "\0")
    digits = (text if end < 0 else text[:end]).lstrip("vV").rstrip(" -\u00a0\u202f")
    readings = set(_numbers(digits))
    if match["myriad"]:
        factor = _MYRIADS.get(match["myriad"], 1000)
        readings = {_written(Fraction(reading) * factor) for reading in readings if _is_number(reading)}
    unit = (match["unit"] or "").casefold()
    if unit:
        readings = {
            one
            for reading in readings
            for one in (_measured(Fraction(reading), unit) if _is_number(reading) else ())
        }
    return Amount(frozenset(readings), bare=not unit and not match["myriad"])


def _numbers(digits: str) -> list[str]:
    """The readings of digits with points, commas or spaces; `1.500` has two."""
    plain = re.sub("[ \u00a0\u202f'\u2019]", "", digits)
    if plain.isdigit():
        return [str(int(plain))]
    if plain[:2] in ("0x", "0X"):
        return [str(int(plain, 16))]
    readings = [plain] if "," not in plain else []
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", plain):
        readings.append(str(int(re.sub("[.,]", "", plain))))
    head, _, tail = plain.replace(",", ".").rpartition(".")
    if "," in plain and len(tail) != 3:
        readings.append(f"{head.replace('.', '')}.{tail}")
    return readings or [plain]


def _is_number(reading: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", reading) is not None


def _written(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):g}"


def _measured(number: Fraction, unit: str) -> list[str]:
    if unit in _SECONDS:
        return [f"{_written(number * _SECONDS[unit])}s"]
    if unit in _MILLISECONDS:
        return [f"{_written(number / 1000)}s"]
    return [f"{_written(number)}%"]


def _time(match: re.Match[str]) -> Amount:
    hour = int(match["hour"] or match["only"])
    written = match["minute"] or match["dotted"]
    minute = 30 if written == "半" else int(written or 0)
    half = (match["noon"] or match["noon2"] or "").casefold().replace(".", "")
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    readings = {f"{hour}:{minute:02}"}
    if match["joint"] in ("h", "H") and not written:
        readings = {f"{hour * 3600}s", f"{hour}:00"}
    return Amount(frozenset(readings), bare=False)


def _han(match: re.Match[str]) -> Amount:
    text = match["digits"]
    total = current = 0
    for character in text:
        if character in _HAN_POWERS:
            total += (current or 1) * _HAN_POWERS[character]
            current = 0
        else:
            current = _HAN_DIGITS[character]
    number = (total + current) * (10_000 if match["han_myriad"] else 1)
    if match["han_unit"]:
        return Amount(frozenset(_measured(Fraction(number), match["han_unit"])), bare=False)
    if match["half"] or match["oclock"]:
        return Amount(frozenset((f"{number}:{'30' if match['half'] else '00'}",)), bare=False)
    return Amount(frozenset((str(number),)), bare=True)
