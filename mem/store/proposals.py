"""What waits for a person: proposed memories, what they would replace, and who wrote them."""

import json
from collections.abc import Mapping
from typing import Any

import apsw

from mem.store import memories
from mem.store.connect import select
from mem.store.events import Unit
from mem.values import Memory


def keep(unit: Unit, memory_id: int, proposal: Mapping[str, Any] | None) -> None:
    """Write down what the approval of a memory would do besides making it live."""
    said = None if proposal is None else json.dumps(proposal, ensure_ascii=False)
    memories.change(unit, memory_id, {"proposal": said})


def waiting(
    db: apsw.Connection, project: str | None, *, limit: int, offset: int = 0
) -> tuple[int, list[Memory]]:
    """How many memories wait, in one project or in all, and a page of them, the oldest first."""
    condition = "m.status = 'proposed' AND (?1 IS NULL OR m.project = ?1)"
    total = db.execute(f"SELECT count(*) FROM memories m WHERE {condition}", (project,)).get
    rows = db.execute(
        f"""SELECT {memories.COLUMNS} FROM memories m WHERE {condition}
            ORDER BY m.recorded_at, m.id LIMIT ?2 OFFSET ?3""",
        (project, limit, offset),
    )
    return int(total), [memories.from_row(row) for row in rows]


def replacing(db: apsw.Connection, uid: str) -> list[Memory]:
    """The waiting memories that would replace this one, the oldest first."""
    rows = db.execute(
        f"""SELECT {memories.COLUMNS} FROM memories m WHERE m.status = 'proposed' AND m.proposal IS NOT NULL
              AND EXISTS (SELECT 1 FROM json_each(m.proposal, '$.replaces') WHERE value = ?)
            ORDER BY m.id""",
        (uid,),
    )
    return [memories.from_row(row) for row in rows]


def named(db: apsw.Connection, uid: str) -> Memory | None:
    """The memory with this UUID, if it is still there."""
    rows = select(db, f"SELECT {memories.COLUMNS} FROM memories m WHERE m.uid = ?", (uid,))
    return memories.from_row(rows[0]) if rows else None


def as_it_was(db: apsw.Connection, uid: str, changed_at: str) -> Memory | None:
    """The version of a memory that began at this instant, if it was replaced since."""
    rows = select(
        db,
        f"SELECT {memories.COLUMNS} FROM memories_versions m WHERE m.uid = ? AND m.changed_at = ?",
        (uid, changed_at),
    )
    return memories.from_row(rows[0]) if rows else None


def writer(db: apsw.Connection, memory_id: int) -> tuple[str, str | None]:
    """What kind of actor wrote a memory first, and in which session of its host."""
    actor, session = select(
        db,
        """SELECT e.actor, e.session FROM (
             SELECT event_id, changed_at FROM memories WHERE id = ?1 UNION ALL
             SELECT event_id, changed_at FROM memories_versions WHERE id = ?1) v
           JOIN events e ON e.id = v.event_id ORDER BY v.changed_at LIMIT 1""",
        (memory_id,),
    )[0]
    return actor, session
