"""Which memories stand in the sections of a context block: chosen and ordered by stored fields alone.

Neither usage nor the clock has a say, so the same store gives the same block. The condition is that of a
`Filter`: what is live and holds now, in the scope that is read.
"""

import json
from collections.abc import Sequence
from typing import Any

import apsw

from mem.store.filters import Where
from mem.store.memories import COLUMNS, from_row
from mem.values import Memory

ABOVE_DEFAULT = 6  # the least importance that somebody must have given; the default is 5

_BY_WEIGHT = "m.importance DESC, m.recorded_at DESC, m.uid DESC"
_BY_AGE = "m.recorded_at DESC, m.uid DESC"


def summaries(db: apsw.Connection, where: Where, project: str | None, limit: int) -> list[Memory]:
    """The newest summaries, those of the project before global ones; one of old days is as old as these."""
    order = f"m.project IS ? DESC, ifnull(m.event_time, m.recorded_at) DESC, {_BY_AGE}"
    return _found(db, where, "m.kind = 'summary'", order, ordered=(project,), limit=limit)


def open_decisions(db: apsw.Connection, where: Where, limit: int) -> list[Memory]:
    """The decisions that nobody has verified, by importance."""
    return _found(db, where, "m.kind = 'decision' AND m.trust <> 'verified'", _BY_WEIGHT, limit=limit)


def newest(db: apsw.Connection, where: Where, limit: int) -> list[Memory]:
    """The newest memories, without those that sum up old days."""
    of_today = "(m.kind <> 'summary' OR m.event_time IS NULL)"
    return _found(db, where, of_today, _BY_AGE, limit=limit)


def most_important(db: apsw.Connection, where: Where, limit: int) -> list[Memory]:
    """The memories that somebody gave more than the usual importance, the greatest first."""
    return _found(db, where, f"m.importance >= {ABOVE_DEFAULT}", _BY_WEIGHT, limit=limit)


def still_live(db: apsw.Connection, where: Where, numbers: Sequence[int]) -> list[Memory]:
    """Those of the memories that the condition still admits."""
    listed = "m.id IN (SELECT value FROM json_each(?))"
    return _found(db, where, listed, "m.id", narrowed=(json.dumps(numbers),), limit=len(numbers))


def _found(
    db: apsw.Connection,
    where: Where,
    condition: str,
    order: str,
    *,
    limit: int,
    narrowed: Sequence[Any] = (),
    ordered: Sequence[Any] = (),
) -> list[Memory]:
    rows = db.execute(
        f"SELECT {COLUMNS} FROM memories m WHERE {where.sql} AND {condition} ORDER BY {order} LIMIT ?",
        (*where.values, *narrowed, *ordered, limit),
    )
    return [from_row(row) for row in rows]
