"""Scripts without spaces: their characters, the pairs that stand for words, and what divides them.

The index holds overlapping pairs of characters and the characters themselves; a query asks for the pairs that
are left when function words have divided its runs: a pair across two words is found by accident only.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise

from mem.search.stopwords import (
    CHINESE,
    CHINESE_DIVIDERS,
    CHINESE_WHOLE_WORDS,
    JAPANESE,
    KOREAN_PARTICLES,
    STOP_WORDS,
)

# Where folding moves vowel signs, from U+0000 on, so that for SQLite they belong to their word.
MARKS = range(0xFC000, 0xFE000)

# Han, kana, Hangul; Thai and Lao, Burmese, Khmer, the last three with their marks.
_RANGES = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x2E80, 0x2FDF),
    (0x3005, 0x3007), (0x3021, 0x318F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF),
    (MARKS.start + 0x0E00, MARKS.start + 0x0EFF), (MARKS.start + 0x1000, MARKS.start + 0x109F),
    (MARKS.start + 0x1780, MARKS.start + 0x17FF),
)  # fmt: skip

_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HIRAGANA = re.compile("[\u3041-\u309f]++")
_CHARACTER = re.compile(f".[{chr(MARKS.start)}-{chr(MARKS.stop - 1)}]*+", re.DOTALL)


def segments(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, and whether each is a run of unspaced characters."""
    if text.isascii() or max(text) < chr(_RANGES[0][0]):
        yield text, False
        return
    for place, segment in enumerate(_run().split(text)):
        yield segment, place % 2 == 1


@cache
def _run() -> re.Pattern[str]:
    return re.compile("([" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES) + "]++)")


def has_kana(text: str) -> bool:
    """Whether a text is Japanese, in which the particles of Chinese are parts of words."""
    return _KANA.search(text) is not None


def characters(run: str) -> list[str]:
    """Return the characters of a run, each with the marks that belong to it."""
    return _CHARACTER.findall(run)


def pairs(single: list[str]) -> list[str]:
    """Return the overlapping pairs of characters; a lone character stands for itself."""
    return [first + second for first, second in pairwise(single)] if len(single) > 1 else single


def telling_pairs(run: str, *, japanese: bool) -> Iterator[str]:
    """Yield the pairs of a run in a query that say what it is about, none across a function word."""
    divide = _korean if _HANGUL.search(run) else _japanese if japanese else _chinese
    for piece in filter(None, divide(run)):
        # The endings of Japanese verbs and adjectives are no help beside their stems.
        stems = _HIRAGANA.fullmatch(piece) is None
        for pair in pairs(characters(piece)):
            if pair not in STOP_WORDS and not (stems and _HIRAGANA.fullmatch(pair)):
                yield pair


def _korean(run: str) -> Iterator[str]:
    """Yield the run without the particle at its end."""
    ending = next((end for end in KOREAN_PARTICLES if run.endswith(end) and len(run) > len(end) + 1), "")
    stem = run.removesuffix(ending)
    if run not in STOP_WORDS and stem not in STOP_WORDS:
        yield stem


def _chinese(run: str) -> Iterator[str]:
    return _between(run, _chinese_dividers(), lambda match: match.lastgroup != "kept")


def _japanese(run: str) -> Iterator[str]:
    dividers, particles = _japanese_dividers()
    return _between(
        run, dividers, lambda match: match.lastgroup != "kana" or particles.fullmatch(match[0]) is not None
    )


def _between(run: str, dividers: re.Pattern[str], divides: Callable[[re.Match[str]], bool]) -> Iterator[str]:
    """Yield what lies between the matches that divide the run."""
    start = 0
    for match in filter(divides, dividers.finditer(run)):
        yield run[start : match.start()]
        start = match.end()
    yield run[start:]


@cache
def _chinese_dividers() -> re.Pattern[str]:
    dividers = CHINESE_DIVIDERS | {word for word in CHINESE if len(word) > 1}
    return re.compile(f"(?P<kept>{_any_of(CHINESE_WHOLE_WORDS)})|{_any_of(dividers)}")


@cache
def _japanese_dividers() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what may divide, and what kana must consist of to do so; possessive, so linear in any run."""
    written = {word for word in JAPANESE if not _HIRAGANA.fullmatch(word)}
    return (
        re.compile(f"{_any_of(written)}|(?P<kana>{_HIRAGANA.pattern})"),
        re.compile(f"(?>{_any_of(JAPANESE - written)})++"),
    )


def _any_of(choices: Iterable[str]) -> str:
    return "|".join(sorted(choices, key=lambda choice: (-len(choice), choice)))
