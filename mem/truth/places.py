"""What the place of a word or number in a statement says of it: a value, an identifier, or a side."""

from collections.abc import Sequence
from typing import NamedTuple

from mem.truth import statement_words as listed
from mem.truth.statements import Statement, Token

_NEAR = 4  # tokens before a value among which what brings it in is looked for


class Run(NamedTuple):
    """Places in one text and those in the other that take their place."""

    mine: range
    theirs: range


def fills_a_place(
    mine: Statement, theirs: Statement, words: Sequence[int], others: Sequence[int], runs: Sequence[Run]
) -> bool:
    """Whether all that differs is one run of words, in a place that takes one value.

    Such places are what follows a verb of being, keeping or using; and who has a role.
    """
    unspaced = mine.unspaced or theirs.unspaced
    longest = 6 if unspaced else 3
    if len(runs) != 1 or max(len(words), len(others)) > longest:
        return False
    run = runs[0]
    if not all(place in run.mine for place in words) or not all(place in run.theirs for place in others):
        return False
    start, begin = words[0], others[0]
    if any(mine.tokens[place].text in listed.PLATFORMS for place in words):
        return False
    if start <= 1 and begin <= 1 and _has_a_role(mine):
        return True
    if unspaced:
        return _introduced_unspaced(mine, theirs, start, begin, run.mine.stop)
    return _introduced(mine, start) and _introduced(theirs, begin)


def _has_a_role(statement: Statement) -> bool:
    if statement.unspaced:
        written = "".join(token.text for token in statement.tokens)
        return any(role in written for role in listed.HAN_ROLES)
    return any(token.text in listed.ROLES for token in statement.tokens)


def _introduced(statement: Statement, start: int) -> bool:
    before = [token.text for token in statement.tokens[max(0, start - _NEAR) : start]]
    if not before or not listed.PURPOSES.isdisjoint(before[-2:]):
        return False
    if not listed.INTRODUCING.isdisjoint(before):
        return True
    if not listed.COPULAS.isdisjoint(before[-2:]):
        earlier = {token.text for token in statement.tokens[:start]}
        ends = sum(not token.light for token in statement.tokens[start:]) <= 3
        return ends and not earlier.isdisjoint(listed.ATTRIBUTES)
    return not listed.LOCATING.isdisjoint(before) and not listed.LOCATED_BY.isdisjoint(before)


def _introduced_unspaced(mine: Statement, theirs: Statement, start: int, begin: int, end: int) -> bool:
    left, right = _written(mine.tokens[:start]), _written(theirs.tokens[:begin])
    if len(left) < 3 or left[-2:] != right[-2:]:
        return False
    if any(many in _written(mine.tokens) for many in listed.HAN_MANY):
        return False
    # What stands before が is a subject.
    subject = end < len(mine.tokens) and mine.tokens[end].text == "が"
    return not subject and any(mark in left[-_NEAR:] for mark in listed.HAN_INTRODUCING)


def _written(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens)


def identifies(statement: Statement, place: int, differing: Sequence[int]) -> bool:
    """Whether a number that differs tells which of several things is meant, or when it happened.

    It does as in "sprint 12" and "server 2 has", as a date with which a text begins, and as a year
    beside another number that differs.
    """
    tokens = statement.tokens
    if (place and tokens[place - 1].text in listed.NUMBERED) or _written(
        tokens[max(0, place - _NEAR) : place]
    ).endswith(listed.HAN_NUMBERED):
        return True
    before = [token for token in tokens[:place] if not token.light]
    if _is_dated(tokens, place):
        undated = [token for token in before if token.amount is None and not token.is_month]
        return len(undated) <= (1 if statement.unspaced else 0) and place + 3 < len(tokens)
    amount = tokens[place].amount
    if amount is None or not amount.bare:
        return False
    if amount.is_year and (not before or len(differing) > 1):
        return True
    named = place == 0 or not tokens[place - 1].light
    return named and len(before) <= 1 and not statement.unspaced and place + 2 < len(tokens)


def _is_dated(tokens: Sequence[Token], place: int) -> bool:
    """Whether a number is the day or month of a date."""
    around = tokens[max(0, place - 2) : place + 3]
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    return any(token.is_month for token in around) or after in ("月", "日", "号")


def turned(mine: Statement, theirs: Statement, left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether both have the same words, but on different sides of what relates them: tabs over spaces."""
    if list(left) == list(right) or set(left) != set(right):
        return False
    one, two = _related(mine, left), _related(theirs, right)
    middle = next((word for word in one if word in listed.RELATING and word in two), None)
    if middle is None:
        return False
    here, there = one.index(middle), two.index(middle)
    if not here or not there or one[here - 1] == two[there - 1]:
        return False
    return one[here - 1] in two[there:] and two[there - 1] in one[here:]


def _related(statement: Statement, keys: Sequence[str]) -> list[str]:
    return [
        key
        for key, token in zip(keys, statement.tokens, strict=True)
        if not token.light or key in listed.RELATING
    ]
