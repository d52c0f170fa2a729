"""One question to one ranking: legs, fusion, window, floor.

The derived indexes hold live rows only. A question about other statuses or another moment selects its rows
first, then ranks them in a temporary word index and by exact cosine; so its answer does not depend on what
happened since.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import apsw

from mem.search import floor, fuse, index, lexical, mentions, vector
from mem.search.floor import Signals
from mem.search.lexical import LexicalLeg
from mem.search.vector import Question, VectorLeg
from mem.store import memories
from mem.store.connect import select
from mem.store.filters import Where, is_live, where
from mem.values import Filter, Fusion, Level, Mode, Scope

if TYPE_CHECKING:
    from mem.results import LegScore, WindowUsed

# Measured on both benchmark sets: where the best lexical hit covers little of the query, its words are
# mostly noise, so the weight of the lexical leg falls with the square of the coverage.
LEXICAL_WEIGHT = 0.5
# With turns kept as observations LoCoMo's MRR rises with it: 52.2 at 0, 53.8 at 0.25, 54.5 at 0.4.
ENTITY_WEIGHT = 0.4
FULL_COVERAGE = 0.25
WINDOW_LIFT = 0.15
# General knowledge a little before traces: enough to order what is nearly equal. Decay stays out, since it
# would bring usage into the rank.
LEVEL_OFFSETS: dict[str, float] = {
    Level.META_KNOWLEDGE: 0.01,
    Level.SEMI_ABSTRACT: 0.0,
    Level.CONCRETE_TRACE: -0.01,
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked: the words, the filter, how to search, and a window that only lifts what lies in it."""

    query: str
    filter: Filter
    mode: Mode = Mode.HYBRID
    fusion: Fusion = Fusion.CONVEX
    window: "WindowUsed | None" = None


Places = Mapping[str, Mapping[int, tuple[int, float]]]  # per leg: the rank and score of each memory


class Ranked(NamedTuple):
    """A memory in the ranking, with its score, 0–1, and the places that the legs gave to all of theirs."""

    id: int
    score: float
    places: Places

    @property
    def why(self) -> "dict[str, LegScore]":
        """Where each leg put it; made when asked for, since few of the ranked are shown."""
        from mem.results import LegScore

        found = {name: leg[self.id] for name, leg in self.places.items() if self.id in leg}
        return {name: LegScore(place, round(score, 4)) for name, (place, score) in found.items()}


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits above the floor, best first, and the table that holds their rows."""

    hits: tuple[Ranked, ...] = ()
    rows: str = "memories"
    signals: Signals = field(default_factory=Signals)
    words: LexicalLeg = field(default_factory=LexicalLeg)
    meaning: VectorLeg = field(default_factory=VectorLeg)

    @property
    def convincing(self) -> frozenset[int]:
        """The hits that may be shown to somebody who did not ask."""
        return floor.convincing(self.words, self.meaning)


def rank(db: apsw.Connection, ask: Ask, asked: Question | None, *, now: str, has_vectors: bool) -> Ranking:
    """Search, fuse and cut; `asked` is the embedded query, None for words alone."""
    condition = where(ask.filter, now=now)
    named: fuse.Ranking = ()
    if is_live(ask.filter):
        rows = "memories"
        words = _words(db, ask, condition)
        meaning = (
            vector.search(db, asked, ask.filter, condition, has_vectors=has_vectors) if asked else VectorLeg()
        )
        named = _named(db, ask, words, meaning, condition, now)
    else:
        rows = memories.select_as_of(db, ask.filter.moment)
        words = _words_as_of(db, ask, condition)
        meaning = vector.search_rows(db, asked, condition, rows=rows) if asked else VectorLeg()
    hits = tuple(_fused(db, ask, words, meaning, named, rows))
    return Ranking(hits, rows, floor.signals(words, meaning), words, meaning)


def _named(
    db: apsw.Connection, ask: Ask, words: LexicalLeg, meaning: VectorLeg, condition: Where, now: str
) -> fuse.Ranking:
    if ask.mode is Mode.VECTOR:
        return ()
    near = (one.number for one in meaning.hits)
    return mentions.observed(db, ask.query, ask.filter.scope, condition, words=words, meaning=near, now=now)


def _words(db: apsw.Connection, ask: Ask, condition: Where) -> LexicalLeg:
    if ask.mode is Mode.VECTOR:
        return LexicalLeg()
    return lexical.search(db, ask.query, ask.filter.scope, condition)


def _words_as_of(db: apsw.Connection, ask: Ask, condition: Where) -> LexicalLeg:
    if ask.mode is Mode.VECTOR:
        return LexicalLeg()
    built = index.build_as_of(db, condition)
    return lexical.search(db, ask.query, Scope(everywhere=True), condition, words=built)


def _fused(
    db: apsw.Connection,
    ask: Ask,
    words: LexicalLeg,
    meaning: VectorLeg,
    named: fuse.Ranking,
    rows: str,
) -> list[Ranked]:
    legs = {
        "lexical": words.hits,
        "vector": tuple((near.number, near.score) for near in meaning.hits),
        "entity": named,
    }
    scores = _scores(ask, legs, words)
    related = floor.related(words, meaning) | {number for number, _ in named}
    facts = _facts(db, [memory_id for memory_id in scores if memory_id in related], rows)
    scores = {memory_id: _bounded(scores[memory_id] + fact.offset) for memory_id, fact in facts.items()}
    if ask.window is not None and not ask.window.hard:
        scores = _lifted(scores, facts, ask.window)
    places = {
        name: {number: (place, score) for place, (number, score) in enumerate(leg, start=1)}
        for name, leg in legs.items()
    }
    ordered = sorted(facts, key=lambda memory_id: (-scores[memory_id], facts[memory_id].order))
    return [Ranked(memory_id, scores[memory_id], places) for memory_id in ordered]


def _scores(ask: Ask, legs: Mapping[str, fuse.Ranking], words: LexicalLeg) -> dict[int, float]:
    if ask.fusion is Fusion.RRF:
        return fuse.reciprocal(legs)
    weight = LEXICAL_WEIGHT * min(1.0, words.coverage / FULL_COVERAGE) ** 2
    weights = {"lexical": weight, "vector": 1 - LEXICAL_WEIGHT, "entity": ENTITY_WEIGHT}
    return fuse.convex(legs, weights, even=("entity",))


class _Facts(NamedTuple):
    """What orders equals (`order` sorts ascending), what its level adds, and when the memory is of."""

    order: tuple[bool, int, int]
    offset: float
    time: str


def _facts(db: apsw.Connection, ids: list[int], rows: str) -> dict[int, _Facts]:
    """Equals are ordered by dispute, importance and record time, newest first."""
    found = select(
        db,
        f"""SELECT m.id, m.trust = 'disputed', m.importance, m.recorded_at,
                   ifnull(m.event_time, m.recorded_at), m.level
            FROM {rows} m WHERE m.id IN (SELECT value FROM json_each(?))""",
        (json.dumps(ids),),
    )
    newest = {row[0]: -place for place, row in enumerate(sorted(found, key=lambda row: (row[3], row[0])))}
    return {
        row[0]: _Facts((bool(row[1]), -row[2], newest[row[0]]), LEVEL_OFFSETS[row[5]], row[4])
        for row in found
    }


def _bounded(score: float) -> float:
    return min(1.0, max(0.0, score))


def _lifted(scores: dict[int, float], facts: Mapping[int, _Facts], window: "WindowUsed") -> dict[int, float]:
    """Lift what lies in the window, within the fusion: the best possible stays 1."""
    inside = {
        memory_id
        for memory_id, fact in facts.items()
        if (window.since or "") <= fact.time < (window.until or "~")
    }
    return {
        memory_id: (score + WINDOW_LIFT * (memory_id in inside)) / (1 + WINDOW_LIFT)
        for memory_id, score in scores.items()
    }
