"""Whether two texts contradict each other or say the same, for the notice at a store and `contradictions`.

Measured on the labelled pairs in tests/data by tests/bench/pairs.py, which prints the curves behind
these numbers.
"""

import re
from collections.abc import Set
from dataclasses import dataclass, field

from mem.truth.differences import Difference, Reason, compare
from mem.truth.statements import LONGEST, SPOKEN, Statement, state, votes

# Centred cosine of two stored texts. Below ABOUT_ONE they are about different things; from
# CLOSE_MEANING on they say the same, but from SAME_ALL_THE_SAME only where words stand in each
# other's place.
ABOUT_ONE = 0.55
CLOSE_MEANING = 0.80
SAME_ALL_THE_SAME = 0.88
# Shared words over all words (Jaccard), with the same meaning of the second number.
CLOSE_WORDS = 0.50
SAME_WORDS = 0.70
# Shares of telling words that both have: for one that adds words, for texts that both have words of
# their own, and for such texts where the meaning is as good as the same.
AGREEING, AGREEING_LOOSELY, AGREEING_IN_MEANING = 0.55, 0.70, 0.50
MEANING_THE_SAME = 0.85
SHARED = 3  # telling words that two sentences of longer texts share, to be about one thing
SAME_AT_LEAST = 2  # of which are spelled alike
IN_COMMON = 0.25  # of the words of the shorter text, for two texts to be compared at all

_SENTENCE = re.compile(r"(?<=[.;!?])\s+|(?<=[。；！？])|\n+")
_HEAD = re.compile(r"[,，、(（—–]|\s-\s")
_MOST_SENTENCES = 4


def comparable(mine: Set[str], theirs: Set[str]) -> bool:
    """Whether two texts with these words have enough in common to be compared; cheap beside the judge."""
    return len(mine & theirs) >= IN_COMMON * min(len(mine), len(theirs))


@dataclass(slots=True)
class Judge:
    """Compares texts; keeps what it has read of them for as long as it lives."""

    _stated: dict[tuple[str, str], Statement] = field(default_factory=dict)
    _votes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _sentences: dict[str, list[str]] = field(default_factory=dict)

    def contradiction(self, first: str, second: str, *, cosine: float | None) -> tuple[Reason, ...]:
        """In what two texts contradict each other; () if they do not.

        `cosine` is None where the meaning is not known. Of longer texts the sentences are compared
        too, and how their first ones begin.
        """
        if cosine is not None and cosine < ABOUT_ONE:
            return ()
        language = self._language(first, second)
        if found := self._weighty(first, second, language, cosine, part=False):
            return found
        mine, theirs = self._divided(first), self._divided(second)
        if len(mine) + len(theirs) > 2:
            for one in mine:
                for other in theirs:
                    if one != other and (found := self._weighty(one, other, language, cosine, part=True)):
                        return found
        begins, others = (_HEAD.split(part[0], maxsplit=1)[0] if part else "" for part in (mine, theirs))
        if (begins, others) != (first, second) and begins and others:
            return self._weighty(begins, others, language, cosine, part=True)
        return ()

    def repetition(self, first: str, second: str, *, cosine: float | None, overlap: float) -> bool:
        """Whether one text says what the other says; `overlap` is the share of their words that both have."""
        if (cosine or 0.0) < CLOSE_MEANING and overlap < CLOSE_WORDS:
            return False
        if (cosine or 0.0) >= SAME_ALL_THE_SAME or overlap >= SAME_WORDS:
            return True
        return not self.difference(first, second).apart

    def difference(self, first: str, second: str) -> Difference:
        """In what two whole texts differ."""
        return self._compared(first, second, self._language(first, second))

    def _weighty(
        self, first: str, second: str, language: str, cosine: float | None, *, part: bool
    ) -> tuple[Reason, ...]:
        mine, theirs = self._statement(first, language), self._statement(second, language)
        same = len(mine.telling & theirs.telling)
        if same < (SAME_AT_LEAST if part else 1) * (2 if mine.unspaced else 1):
            return ()
        found = compare(mine, theirs)
        if found.apart or not found.reasons or (part and found.shared < SHARED):
            return ()
        needed = AGREEING
        if found.loose:
            needed = AGREEING_IN_MEANING if (cosine or 0.0) >= MEANING_THE_SAME else AGREEING_LOOSELY
        return found.reasons if found.agreement >= needed else ()

    def _compared(self, first: str, second: str, language: str) -> Difference:
        return compare(self._statement(first, language), self._statement(second, language))

    def _statement(self, text: str, language: str) -> Statement:
        known = self._stated.get((text, language))
        if known is None:
            known = self._stated[text, language] = state(text, language)
        return known

    def _language(self, *texts: str) -> str:
        for text in texts:
            if text not in self._votes:
                self._votes[text] = votes(text)
        totals = [sum(counted) for counted in zip(*(self._votes[text] for text in texts), strict=True)]
        return SPOKEN[totals.index(max(totals))]

    def _divided(self, text: str) -> list[str]:
        if text not in self._sentences:
            parts = (part.strip() for part in _SENTENCE.split(text[:LONGEST]))
            self._sentences[text] = [part for part in parts if part][:_MOST_SENTENCES]
        return self._sentences[text]
