"""Pairs of live memories that contradict each other, each with the command that would settle it.

What one of a pair has already been marked for is settled: superseded, rejected, archived, disputed.
A pair is of one kind, in one project, about one entity. Nothing is changed here.
"""

from collections.abc import Sequence

import apsw

from mem.results import Contradiction, Contradictions, Side
from mem.search.close_pairs import LONGEST, Pair, close_pairs
from mem.search.text import words
from mem.store import memories
from mem.store.filters import Where, where
from mem.truth.differences import Reason
from mem.truth.judging import ABOUT_ONE, Judge, comparable
from mem.values import Filter, Memory, Trust

CONFIDENT, UNCONFIDENT = 0.7, 0.4  # from and up to which a memory is one or the other
MOST_JUDGED = 6_000  # pairs; the closest come first


def find(db: apsw.Connection, filter_: Filter, *, now: str, limit: int) -> Contradictions:
    """The closest `limit` pairs that contradict each other, of the memories that a filter admits.

    Without vectors pairs are found by their words alone: `degraded` says so.
    """
    admitted = where(filter_, now=now)
    unsettled = Where(
        f"{admitted.sql} AND m.trust <> ? AND m.superseded_by IS NULL", (*admitted.values, Trust.DISPUTED)
    )
    close = close_pairs(db, unsettled, least=ABOUT_ONE)
    pairs = sorted(close.pairs, key=lambda pair: (-(pair.cosine or 0.0), -pair.second, -pair.first))[
        :MOST_JUDGED
    ]
    rows = memories.by_ids(db, {number for pair in pairs for number in pair[:2]})
    said = {number: set(words(row.content[:LONGEST])) for number, row in rows.items()}
    judge = Judge()
    found = [
        one
        for pair in pairs
        if comparable(said[pair.first], said[pair.second]) and (one := _judged(judge, pair, rows)) is not None
    ]
    found.sort(key=lambda one: -one.similarity)
    return Contradictions(
        total=len(found),
        examined=close.examined,
        unexamined=close.total - close.examined,
        degraded=_degraded(close.examined, close.without_vector),
        pairs=tuple(found[:limit]),
    )


def _degraded(examined: int, without_vector: int) -> tuple[str, ...]:
    if not without_vector:
        return ()
    return ("no_vectors",) if without_vector == examined else ("pending_vectors",)


def _judged(judge: Judge, pair: Pair, rows: dict[int, Memory]) -> Contradiction | None:
    first, second = rows[pair.first], rows[pair.second]
    overlap = word_overlap(first.content, second.content) if pair.cosine is None else 0.0
    reasons = judge.contradiction(first.content, second.content, cosine=pair.cosine)
    if not reasons and _differ_in_confidence(first, second):
        same = judge.repetition(first.content, second.content, cosine=pair.cosine, overlap=overlap)
        if same and not judge.difference(first.content, second.content).reasons:
            reasons = (Reason.CONFIDENCE,)
    if not reasons:
        return None
    older, newer = sorted((first, second), key=_since)
    return Contradiction(
        reasons=tuple(map(str, reasons)),
        similarity=overlap if pair.cosine is None else pair.cosine,
        older=_side(older),
        newer=_side(newer),
        suggestion=_suggestion(older, newer, reasons),
    )


def word_overlap(first: str, second: str) -> float:
    """Shared words over all words of two texts, 0-1."""
    mine, theirs = set(words(first)), set(words(second))
    return len(mine & theirs) / max(1, len(mine | theirs))


def _differ_in_confidence(first: Memory, second: Memory) -> bool:
    low, high = sorted((first.confidence, second.confidence))
    return low <= UNCONFIDENT and high >= CONFIDENT


def _since(memory: Memory) -> tuple[str, int]:
    return memory.valid_from or memory.event_time or memory.recorded_at, memory.id


def _side(memory: Memory) -> Side:
    return Side(
        id=memory.id,
        uid=memory.uid,
        title=memory.title,
        content=memory.content,
        project=memory.project,
        confidence=memory.confidence,
        trust=memory.trust,
        event_time=memory.event_time,
        valid_from=memory.valid_from,
        recorded_at=memory.recorded_at,
    )


def _suggestion(older: Memory, newer: Memory, reasons: Sequence[Reason]) -> str:
    """The command that settles it most likely: the newer holds, unless it stands on weaker feet."""
    if Reason.CONFIDENCE in reasons:
        low, high = sorted((older, newer), key=lambda memory: memory.confidence)
        return f"mem supersede {low.id} --by {high.id}"
    verified = older.trust is Trust.VERIFIED and newer.trust is not Trust.VERIFIED
    if verified or (_differ_in_confidence(older, newer) and newer.confidence < older.confidence):
        return f'mem trust {newer.id} disputed --reason "contradicts #{older.id}"'
    return f"mem supersede {older.id} --by {newer.id}"
