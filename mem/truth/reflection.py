"""Looking back over a store: what is used, what lies unused, what waits, and what is not known. Reads only.

Each signal has a producer in normal use: recall and context count what they hand out and what they do not
find, writes leave record times and statuses, review leaves proposals. What a person looks at by itself, with
get or list or here, counts for nothing.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import apsw

from mem import clock
from mem.results import (
    BlindSpots,
    HotEntities,
    HotEntity,
    Memories,
    MissedQuestion,
    Queue,
    Reflection,
    UsedMemories,
    UsedMemory,
)
from mem.store import misses, reflection
from mem.store.filters import where
from mem.truth import contradictions
from mem.truth.retention import COLD_FOR, COLD_IMPORTANCE
from mem.values import Filter, Kind, Memory, Scope, Status


@dataclass(frozen=True, slots=True)
class Span:
    """How far `mem reflect` looks back, in days, and how much of each section it shows."""

    days: int
    stale_days: int
    limit: int


def reflect(
    db: apsw.Connection, scope: Scope, span: Span, *, now: datetime, shows_questions: bool
) -> Reflection:
    """What stands out in a scope; the questions that found nothing only where their texts are allowed."""
    filter_ = Filter(scope=scope)
    here = where(filter_, now=clock.to_text(now))
    since, limit = _ago(now, span.days), span.limit
    used, most_used = reflection.most_used(db, here, since=since, limit=limit)
    observed = where(replace(filter_, kinds=(Kind.OBSERVATION,)), now=clock.to_text(now))
    hot, entities = reflection.hot_entities(db, scope, observed, since=since, limit=limit)
    return Reflection(
        project=scope.project,
        all_projects=scope.everywhere,
        days=span.days,
        stale_days=span.stale_days,
        most_used=UsedMemories(used, tuple(UsedMemory(*one) for one in most_used)),
        stale=_memories(reflection.stale(db, here, before=_ago(now, span.stale_days), limit=limit)),
        hot_entities=HotEntities(hot, tuple(HotEntity(*one) for one in entities)),
        open_decisions=_memories(reflection.open_decisions(db, here, limit=limit)),
        contradictions=contradictions.find(db, filter_, now=clock.to_text(now), limit=limit),
        review=review_queue(db, filter_, now=clock.to_text(now), limit=limit),
        blind_spots=blind_spots(
            db,
            scope,
            since=max(since, clock.to_text(now - misses.KEPT)),
            limit=limit,
            shows_questions=shows_questions,
        ),
        cold=_memories(
            reflection.cold(
                db, here, importance=COLD_IMPORTANCE, since=clock.to_text(now - COLD_FOR), limit=limit
            )
        ),
    )


def review_queue(db: apsw.Connection, filter_: Filter, *, now: str, limit: int) -> Queue:
    """What waits for a person."""
    waiting = where(replace(filter_, statuses=(Status.PROPOSED,)), now=now)
    total, ids = reflection.proposed(db, waiting, limit=limit)
    return Queue(total, tuple(ids))


def blind_spots(
    db: apsw.Connection, scope: Scope, *, since: str, limit: int, shows_questions: bool
) -> BlindSpots:
    """What was asked in vain."""
    counted = misses.count(db, scope, since=since)
    asked = misses.questions(db, scope, since=since, limit=limit)[1] if shows_questions else []
    return BlindSpots(
        total=counted.total,
        by_day=counted.by_day,
        by_project=counted.by_project,
        by_operation=counted.by_operation,
        by_mode=counted.by_mode,
        by_terms=counted.by_terms,
        questions=tuple(MissedQuestion(*one) for one in asked),
    )


def _memories(found: tuple[int, list[Memory]]) -> Memories:
    total, shown = found
    return Memories(total, tuple(shown))


def _ago(now: datetime, days: int) -> str:
    return clock.to_text(now - timedelta(days=days))
