"""Silence: when the best that was found is no answer.

No single signal tells an answerable question from one that nothing fits. A logistic combination of three
does as well on both benchmark sets as one of a dozen; its weights are what `tests/bench/calibrate.py`
prints. `recall` drops only what is plainly unrelated; a hook speaks only when it is confident.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import exp, log, sqrt
from typing import Any

from mem.search.lexical import LexicalLeg
from mem.search.vector import VectorLeg

# Weights of the constant, the best centred cosine, the coverage by words, and whether both legs agree on
# the best hit.
BY_BOTH = (-8.47, 18.36, 2.56, 0.89)
# By words alone: the constant, the coverage, the share of known terms, the largest idf.
BY_WORDS = (-2.39, 5.01, 2.71, 0.002)

HOOK = 0.615  # confidence that one prompt in twenty without an answer reaches
LEAST_MEANING = 0.15  # centred cosine under which two texts have nothing to do with each other
MOST_NOISE = 0.32  # what the best of many unrelated texts reaches at most
LEAST_COVERAGE = 0.12  # share of the query's weight that a hit must cover by its words alone
TELLING_COVERAGE = 0.20  # share of it that speaks for itself, whatever the meaning
# What a hit needs of its own to be shown unasked beside the best one: confidence, or by words alone a share
# of the best hit's coverage. On the coding set this halves what a hook shows, and costs a right item in 100.
ALONE, ALONE_BY_WORDS = 0.4, 0.5


@dataclass(frozen=True, slots=True)
class Signals:
    """What the legs say about the best hit; `centred` is None where no vectors were compared."""

    centred: float | None = None
    coverage: float = 0.0
    known: float = 0.0
    rarest: float = 0.0
    agree: bool = False

    def confidence(self) -> float:
        """How likely it is that something fits the question, 0-1."""
        if self.centred is None:
            constant, *weights = BY_WORDS
            values = (self.coverage, self.known, self.rarest)
        else:
            constant, *weights = BY_BOTH
            values = (self.centred, self.coverage, float(self.agree))
        total = constant + sum(weight * value for weight, value in zip(weights, values, strict=True))
        return 1 / (1 + exp(-total))

    def as_record(self) -> dict[str, float | bool | None]:
        """The signals and the confidence that they make, as a trace keeps them."""
        return {**asdict(self), "confidence": round(self.confidence(), 4)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Signals":
        """The signals that a trace keeps, which may keep more."""
        return cls(**{entry.name: record[entry.name] for entry in fields(cls) if entry.name in record})


def signals(words: LexicalLeg, meaning: VectorLeg) -> Signals:
    """Read the signals off the two legs."""
    nearest = meaning.hits[0].number if meaning.hits else None
    return Signals(
        centred=max((near.centred for near in meaning.hits), default=None) if meaning.scale else None,
        coverage=words.coverage,
        known=words.known,
        rarest=words.rarest,
        agree=bool(words.hits) and words.hits[0][0] == nearest,
    )


def noise(searched: int) -> float:
    """The centred cosine that the best of so many unrelated texts reaches.

    The greatest of n normal values lies near their mean + deviation · √(2 ln n); mean and deviation are set
    so that one answerable question in a hundred of the coding set falls silent, and none of LoCoMo's.
    """
    return min(MOST_NOISE, max(LEAST_MEANING, 0.133 * sqrt(2 * log(max(1, searched))) - 0.116))


def related(words: LexicalLeg, meaning: VectorLeg) -> set[int]:
    """The hits that are not plainly unrelated: near enough in meaning, or by enough of the query's words.

    Where no vectors were compared, every shared word counts; where nothing is known of their scale, every
    hit does. Where the best of them is no nearer than chance has it and the words do not speak for
    themselves, there is none.
    """
    if not meaning.scale:
        return {near.number for near in meaning.hits} | {number for number, _ in words.hits}
    best = max((near.centred for near in meaning.hits), default=None)
    if best is not None and best < noise(meaning.searched) and words.coverage < TELLING_COVERAGE:
        return set()
    close = {near.number for near in meaning.hits if near.centred >= LEAST_MEANING}
    least = LEAST_COVERAGE * words.mass if meaning.hits else 0.0
    return close | {number for number, score in words.hits if score >= least}


def convincing(words: LexicalLeg, meaning: VectorLeg) -> frozenset[int]:
    """The hits that would stand without the better ones: what may be shown to somebody who did not ask."""
    covered = {number: score / words.mass for number, score in words.hits} if words.mass else {}
    if not (meaning.hits and meaning.scale):
        least = ALONE_BY_WORDS * words.coverage
        return frozenset(number for number, share in covered.items() if share >= least)
    agree = bool(words.hits) and words.hits[0][0] == meaning.hits[0].number
    found = set()
    for place, near in enumerate(meaning.hits):
        alone = Signals(near.centred, min(1.0, covered.get(near.number, 0.0)), agree=agree and place == 0)
        if alone.confidence() >= ALONE:
            found.add(near.number)
    return frozenset(found)
