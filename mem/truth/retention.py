"""Retention: what is promoted, what has expired, what has grown cold; and the upkeep that acts on it.

Promotion, by how often a memory was recalled or how much it matters: working becomes short_term at 3 recalls
or importance 7, and either becomes long_term at 8 recalls or importance 8. The new layer brings its own
lifetime; an expiry that somebody chose stays as it is. A permanent memory is neither expired nor moved.

Decay, the power law of forgetting (1 + t)^-b of Wickelgren ("Single-trace fragility theory of memory
dynamics", 1974), slower for what matters and with a bonus for use; the constants are a choice, not a fit:

    w     = (1 + t / 24 h) ^ (-0.7 / (1 + importance / 10))
    score = min(1, w * (1 + 0.3 * min(10, recalls)))

where t is the time since the last recall, or since it was recorded. It is computed when it is read, serves
the cold pool, and never enters a ranking.

The cold pool holds live memories of importance 8 and more that nobody recalled for 30 days, and whose score
is at least 0.3.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

import apsw

from mem import clock
from mem.results import Maintained, Promotion
from mem.store import memories, misses, sessions, upkeep
from mem.store.events import Unit
from mem.store.filters import where
from mem.store.upkeep import Kept, Used
from mem.truth.drafts import LIFETIMES, layer_expiry
from mem.values import Filter, Layer, Memory, Notice, Status

EXPIRED = "expired"  # one of the reasons by which restated content comes back
EVERY = timedelta(hours=1)  # how often upkeep is worth its while

RECALLS = {Layer.SHORT_TERM: 3, Layer.LONG_TERM: 8}
IMPORTANCE = {Layer.SHORT_TERM: 7, Layer.LONG_TERM: 8}

DAY = timedelta(hours=24)
STEEPNESS = 0.7
BONUS, MOST_BONUS = 0.3, 10

COLD_FOR = timedelta(days=30)
COLD_IMPORTANCE = 8
COLD_SCORE = 0.3

# A draft is made a little before it is written, after its vector and the lock of the store were waited for.
_DRAFTED = timedelta(minutes=15)


def decay(importance: int, recalls: int, since: timedelta) -> float:
    """How present a memory still is, 0–1, so long after its last recall or its recording."""
    weight = float((1 + max(since, timedelta()) / DAY) ** (-STEEPNESS / (1 + importance / 10)))
    return min(1.0, weight * (1 + BONUS * min(MOST_BONUS, recalls)))


def earned_layer(layer: Layer, importance: int, recalls: int) -> Layer:
    """The layer that a memory has earned; never one that lives shorter."""
    if layer not in LIFETIMES:
        return layer
    for higher in (Layer.LONG_TERM, Layer.SHORT_TERM):
        if recalls >= RECALLS[higher] or importance >= IMPORTANCE[higher]:
            return higher
    return layer


def has_expired(memory: Memory, at: str) -> bool:
    """Whether the time of an active memory is over, though no upkeep has archived it yet."""
    return memory.status is Status.ACTIVE and memory.expires_at is not None and memory.expires_at <= at


def notice(memory: Memory, at: str) -> Notice | None:
    """What to tell who looks at a memory that has expired."""
    if not has_expired(memory, at):
        return None
    day = clock.local_day(memory.expires_at or at)
    message = (
        f"#{memory.id} expired on {day} and is recalled no more; mem restore {memory.id} brings it back."
    )
    return Notice("expired", message, (memory.id,))


def cold(
    db: apsw.Connection, filter_: Filter, *, now: datetime, most: int, without: Collection[int] = ()
) -> list[int]:
    """Some memories of the cold pool that the filter admits: the most important, then the longest unseen."""
    found = upkeep.unseen(
        db,
        where(filter_, now=clock.to_text(now)),
        importance=COLD_IMPORTANCE,
        since=clock.to_text(now - COLD_FOR),
        without=without,
    )
    kept = [one for one in found if decay(one.importance, one.recalls, now - _last(one)) >= COLD_SCORE]
    return [one.id for one in sorted(kept, key=lambda one: (-one.importance, _last(one), one.id))[:most]]


def _last(used: Used) -> datetime:
    return clock.from_text(max(used.recorded_at, used.last_recalled_at or ""))


@dataclass(frozen=True, slots=True)
class Due:
    """What upkeep has to do at an instant; nothing is changed by finding it out."""

    expired: tuple[int, ...]
    promoted: tuple[Promotion, ...]
    sessions: tuple[int, ...]
    traces: int
    trace_bytes: int
    kept: Kept


def due(db: apsw.Connection, now: str, *, silence: timedelta, days: int, most: int) -> Due:
    """Find out what is due.

    `silence` is after how long without a sign of life a session is closed; recall traces are kept for so many
    `days`, and `most` of them.
    """
    instant = clock.from_text(now)
    promoted = [
        Promotion(used.id, Layer(used.layer), higher)
        for used in upkeep.passing(db, now)
        if (higher := earned_layer(Layer(used.layer), used.importance, used.recalls)) != used.layer
    ]
    closing = tuple(one.id for one in sessions.abandoned(db, clock.to_text(instant - silence)))
    kept = Kept(clock.to_text(instant - timedelta(days=days)), most, closing)
    traces, size = upkeep.old_traces(db, kept)
    return Due(tuple(upkeep.expired(db, now)), tuple(promoted), closing, traces, size, kept)


def told(work: Due, *, dry_run: bool) -> Maintained:
    """What is due, as the answer of the upkeep that did it or would."""
    return Maintained(
        dry_run=dry_run,
        promoted=work.promoted,
        expired=work.expired,
        sessions=work.sessions,
        traces=work.traces,
        trace_bytes=work.trace_bytes,
    )


def carry_out(unit: Unit, work: Due) -> None:
    """Do what is due; a unit in which no memory and no session changed leaves no event."""
    for memory_id in work.expired:
        memories.set_status(unit, memory_id, Status.ARCHIVED, EXPIRED)
    for promotion in work.promoted:
        values = {"layer": promotion.after.value}
        memories.change(unit, promotion.id, values | _lifetime(unit, promotion))
    sessions.abandon(unit, work.sessions)
    upkeep.prune_traces(unit.db, work.kept)
    misses.prune(unit.db, unit.at)


def _lifetime(unit: Unit, promotion: Promotion) -> dict[str, str | None]:
    """The expiry of the new layer, unless somebody chose the old one."""
    expires_at = memories.one(unit.db, promotion.id).expires_at
    if expires_at is not None:
        began = clock.from_text(expires_at) - LIFETIMES[promotion.before]
        written = map(clock.from_text, upkeep.written_at(unit.db, promotion.id))
        if not any(began <= at <= began + _DRAFTED for at in written):
            return {}
    return {"expires_at": layer_expiry(promotion.after, unit.at)}
