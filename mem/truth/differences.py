"""In what two texts differ: a number, a negation, a value, or what they are about.

Two texts contradict each other when they are about the same thing and differ in one of the first
three. So all but the difference must agree: words that stand in each other's place either fill a
place that takes one value ("stored in …", "default branch is …"), or tell two things apart; words
that only one text has are more detail.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from mem.truth.places import Run, fills_a_place, identifies, turned
from mem.truth.statements import Statement

# Two texts are not compared further when they have less in common, and each more words of its own.
HARDLY, FEW = 0.4, 6


class Reason(StrEnum):
    """In what two memories that contradict each other differ."""

    NEGATION = "negation"
    NUMBER = "number"
    VALUE = "value"
    CONFIDENCE = "confidence"


@dataclass(frozen=True, slots=True)
class Difference:
    """In what two texts differ, as far as words can tell.

    `agreement` is the share of telling words that both have, of the text with more of its own, 0-1;
    `shared` is their number, an unspaced character counting half. `loose`: both have words of their
    own. `apart`: some of these stand in each other's place, or a number tells which of several
    things is meant.
    """

    reasons: tuple[Reason, ...]
    agreement: float
    shared: int
    loose: bool
    apart: bool


def compare(mine: Statement, theirs: Statement) -> Difference:
    """Compare two statements word by word."""
    left, right = mine.texts, _keys(theirs, mine)
    own, other = _own(mine, left, right), _own(theirs, right, left)
    if min(_agreement(mine, own), _agreement(theirs, other)) < HARDLY and min(len(own), len(other)) > FEW:
        return Difference((), 0.0, 0, loose=True, apart=True)
    flips = mine.denials + theirs.denials
    if not (mine.unspaced or theirs.unspaced):
        own, other, denied = _without_deprived(left, right, own, other)
        flips += denied
    grouped = _exclusive(mine, theirs, own, other)
    numbers = _counted(mine, own), _counted(theirs, other)
    differing = all(numbers)
    words = [place for place in own if place not in grouped[0] and mine.tokens[place].amount is None]
    others = [place for place in other if place not in grouped[1] and theirs.tokens[place].amount is None]
    runs = _replaced(left, right, words, others)
    value = bool(grouped[0]) or turned(mine, theirs, left, right)
    if not value and not differing and flips % 2 == 0 and fills_a_place(mine, theirs, words, others, runs):
        value, words, others, runs = True, [], [], []
    apart = bool(runs) or (0 in grouped[0] and not mine.unspaced)
    if differing:
        apart |= any(identifies(mine, place, numbers[0]) for place in numbers[0])
        apart |= any(identifies(theirs, place, numbers[1]) for place in numbers[1])
    found = {Reason.NEGATION: flips % 2 == 1, Reason.NUMBER: differing, Reason.VALUE: value}
    return Difference(
        reasons=tuple(reason for reason, holds in found.items() if holds),
        agreement=min(_agreement(mine, words), _agreement(theirs, others)),
        shared=_shared(mine, left, right),
        loose=bool(words and others),
        apart=apart,
    )


def _keys(theirs: Statement, mine: Statement) -> list[str]:
    """The tokens of one text, spelled as in the other where they say the same there."""
    known = set(mine.texts)
    amounts = [token for token in mine.tokens if token.amount is not None]
    keys = []
    for token in theirs.tokens:
        key = token.text
        if token.amount is not None:
            same = (other.text for other in amounts if other.amount and other.amount.same(token.amount))
            key = next(same, f"{key}\0")  # equal digits may be two numbers: 9 and 9:00
        elif key not in known and token.may_vary:
            key = next((form for form in mine.forms if form[:3] == key[:3] and _alike(form, key)), key)
        keys.append(key)
    return keys


def _own(statement: Statement, keys: Sequence[str], others: Sequence[str]) -> list[int]:
    """The places of what the other text lacks and what says something."""
    there = set(others)
    return [
        place
        for place, token in enumerate(statement.tokens)
        if keys[place] not in there and (not token.light or token.group is not None)
    ]


def _alike(one: str, other: str) -> bool:
    """Whether two words are forms of one: they begin alike and only their endings differ."""
    one, other = (word[:-3] + "y" if word.endswith("ies") else word for word in (one, other))
    longer = max(len(one), len(other))
    common = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        common += 1
    return common >= max(3, 0.6 * longer) and longer - common <= 4


_PRIVATIVES = ("un", "in", "im", "ir", "non", "dis", "des", "de")


def _without_deprived(
    left: Sequence[str], right: Sequence[str], own: list[int], other: list[int]
) -> tuple[list[int], list[int], int]:
    """The places without pairs such as valid and invalid, and how many there are: each denies once."""
    pairs = [
        (place, there)
        for place in own
        for there in other
        if (left[place].startswith(_PRIVATIVES) or right[there].startswith(_PRIVATIVES))
        and _deprived(left[place], right[there])
    ]
    if not pairs:
        return own, other, 0
    mine, theirs = {place for place, _ in pairs}, {there for _, there in pairs}
    return (
        [place for place in own if place not in mine],
        [place for place in other if place not in theirs],
        min(len(mine), len(theirs)),
    )


def _deprived(one: str, other: str) -> bool:
    """Whether one word is the other with a prefix that denies it."""
    short, long = (one, other) if len(one) < len(other) else (other, one)
    return (
        len(short) >= 5
        and long.startswith(_PRIVATIVES)
        and any(_alike(long[len(prefix) :], short) for prefix in _PRIVATIVES if long.startswith(prefix))
    )


def _exclusive(
    mine: Statement, theirs: Statement, own: Sequence[int], other: Sequence[int]
) -> tuple[set[int], set[int]]:
    """The places where the texts have different words of a class whose members exclude each other."""
    found: tuple[set[int], set[int]] = (set(), set())
    for place in own:
        group = mine.tokens[place].group
        for there in other if group else ():
            opposite = theirs.tokens[there].group
            if group and opposite and group[0] == opposite[0] and group[1] != opposite[1]:
                found[0].add(place)
                found[1].add(there)
    return found


def _counted(statement: Statement, places: Sequence[int]) -> list[int]:
    return [place for place in places if statement.tokens[place].amount is not None]


def _replaced(left: Sequence[str], right: Sequence[str], words: list[int], others: list[int]) -> list[Run]:
    """Where telling words of one text stand in the place of the other's."""
    if not words or not others:
        return []
    matcher = SequenceMatcher(_is_weak, left, right, autojunk=False)
    return [
        Run(range(i, j), range(k, m))
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag == "replace" and any(i <= p < j for p in words) and any(k <= p < m for p in others)
    ]


def _is_weak(key: str) -> bool:
    """Whether a token is too common to line two texts up by: an article or preposition of one letter."""
    return len(key) == 1 and key.isascii() and key.isalpha()


def _agreement(statement: Statement, own: Sequence[int]) -> float:
    return 1 - len(own) / max(1, statement.weight)


def _shared(mine: Statement, left: Sequence[str], right: Sequence[str]) -> int:
    there = set(right)
    found = {key for key, token in zip(left, mine.tokens, strict=True) if not token.light and key in there}
    return len(found) // 2 if mine.unspaced else len(found)
