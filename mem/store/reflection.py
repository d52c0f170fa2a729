"""What stands out in a store: how its memories are used, what lies unused, what waits to be settled.

The condition is that of a `Filter`: what is live and holds now, in the scope that is read.
"""

from collections.abc import Sequence
from typing import Any

import apsw

from mem.store import entities, memories
from mem.store.connect import select
from mem.store.filters import Where
from mem.values import Entity, Memory, Scope

# All stores that counted together; a memory that nobody recalled has no row.
_USED = """(SELECT memory_id, sum(recalls) AS recalls, max(last_recalled_at) AS last_recalled_at
            FROM usage WHERE recalls > 0 GROUP BY memory_id)"""
_UNSETTLED = "m.kind = 'decision' AND m.trust <> 'verified' AND m.superseded_by IS NULL"


def most_used(
    db: apsw.Connection, where: Where, *, since: str, limit: int
) -> tuple[int, list[tuple[Memory, int, str]]]:
    """The memories recalled since an instant, with how often they ever were and when last; the most first."""
    condition = (
        f"FROM memories m JOIN {_USED} u ON u.memory_id = m.id WHERE {where.sql} AND u.last_recalled_at >= ?"
    )
    values = (*where.values, since)
    total = db.execute(f"SELECT count(*) {condition}", values).get
    rows = db.execute(
        f"""SELECT {memories.COLUMNS}, u.recalls, u.last_recalled_at {condition}
            ORDER BY u.recalls DESC, u.last_recalled_at DESC, m.id LIMIT ?""",
        (*values, limit),
    )
    return int(total), [(memories.from_row(row), row[-2], row[-1]) for row in rows]


def stale(db: apsw.Connection, where: Where, *, before: str, limit: int) -> tuple[int, list[Memory]]:
    """The memories recorded before an instant that nobody ever recalled, the oldest first."""
    never = "m.recorded_at < ? AND m.id NOT IN (SELECT memory_id FROM usage WHERE recalls > 0)"
    return _found(db, where, never, (before,), "m.recorded_at, m.id", limit)


def cold(
    db: apsw.Connection, where: Where, *, importance: int, since: str, limit: int
) -> tuple[int, list[Memory]]:
    """The memories of at least an importance that were neither recorded nor recalled after an instant.

    The most important first, then those that were longest unseen.
    """
    last = "(SELECT max(u.last_recalled_at) FROM usage u WHERE u.memory_id = m.id)"
    unseen = f"m.importance >= ? AND m.recorded_at <= ? AND ifnull({last}, '') <= ?"
    order = f"m.importance DESC, max(m.recorded_at, ifnull({last}, '')), m.id"
    return _found(db, where, unseen, (importance, since, since), order, limit)


def open_decisions(db: apsw.Connection, where: Where, *, limit: int) -> tuple[int, list[Memory]]:
    """The decisions that nobody verified or replaced, however old: by importance, then the oldest first."""
    return _found(db, where, _UNSETTLED, (), "m.importance DESC, m.recorded_at, m.id", limit)


def proposed(db: apsw.Connection, where: Where, *, limit: int) -> tuple[int, list[int]]:
    """How many memories wait for a person, and the numbers of the oldest."""
    total = db.execute(f"SELECT count(*) FROM memories m WHERE {where.sql}", where.values).get
    rows = db.execute(
        f"SELECT m.id FROM memories m WHERE {where.sql} ORDER BY m.recorded_at, m.id LIMIT ?",
        (*where.values, limit),
    )
    return int(total), [row[0] for row in rows]


def hot_entities(
    db: apsw.Connection, scope: Scope, where: Where, *, since: str, limit: int
) -> tuple[int, list[tuple[Entity, int]]]:
    """The live entities of a scope with what was observed of them since an instant; the most first."""
    in_scope, values = entities.in_scope(scope)
    rows = select(
        db,
        f"""SELECT {entities.COLUMNS}, count(*) AS observed, count(*) OVER () AS total
            FROM memories m JOIN entities n ON n.id = m.entity_id
            WHERE {where.sql} AND m.recorded_at >= ? AND n.status = 'active' AND {in_scope}
            GROUP BY n.id ORDER BY observed DESC, n.key, n.id LIMIT ?""",
        (*where.values, since, *values, limit),
    )
    return (rows[0][-1] if rows else 0), [(entities.from_row(row), row[-2]) for row in rows]


def _found(
    db: apsw.Connection, where: Where, condition: str, values: Sequence[Any], order: str, limit: int
) -> tuple[int, list[Memory]]:
    """How many memories meet a condition, and the first of them."""
    rows = f"FROM memories m WHERE {where.sql} AND {condition}"
    total = db.execute(f"SELECT count(*) {rows}", (*where.values, *values)).get
    found = db.execute(
        f"SELECT {memories.COLUMNS} {rows} ORDER BY {order} LIMIT ?", (*where.values, *values, limit)
    )
    return int(total), [memories.from_row(row) for row in found]
