"""What was summed up and looked through before, and what could be: rows of memories and events of the log."""

import json
from collections.abc import Iterable, Sequence

import apsw

from mem.store import audit, memories
from mem.store.connect import select
from mem.store.events import Unit
from mem.store.filters import Where
from mem.store.memories import COLUMNS, from_row
from mem.values import Memory

EXTRACTED_FROM = "extracted from "  # in the source of an observation, before the UUID of the memory

# What nobody has judged yet, and nothing waits to replace; a short life or a low level makes it a trace.
_TRACES = """(m.layer IN ('working', 'short_term') OR m.level = 'concrete_trace') AND m.layer <> 'permanent'
  AND m.kind <> 'summary' AND m.trust = 'unverified' AND m.flags = '[]' AND m.superseded_by IS NULL
  AND m.recorded_at < ?"""


def traces(db: apsw.Connection, where: Where, before: str) -> list[Memory]:
    """The live traces that were recorded before an instant and never summed up, the oldest first."""
    rows = db.execute(
        f"""SELECT {COLUMNS} FROM memories m WHERE {where.sql} AND {_TRACES}
              AND m.uid NOT IN (SELECT c.value FROM memories s, json_each(s.compressed_from) c
                                WHERE s.compressed_from <> '[]'
                                  AND NOT (s.status = 'archived' AND s.status_reason = 'undone'))
              AND m.uid NOT IN (SELECT r.value FROM memories p, json_each(p.proposal, '$.replaces') r
                                WHERE p.status = 'proposed' AND p.proposal IS NOT NULL)
            ORDER BY m.recorded_at, m.id""",
        (*where.values, before),
    )
    return list(map(from_row, rows))


def keep_sources(unit: Unit, memory_id: int, uids: Iterable[str]) -> None:
    """Write down which memories a summary sums up, besides those that it did before."""
    known = unit.db.execute("SELECT compressed_from FROM memories WHERE id = ?", (memory_id,)).get
    kept = dict.fromkeys((*json.loads(known), *uids))
    memories.change(unit, memory_id, {"compressed_from": json.dumps(list(kept))})


def made_of(db: apsw.Connection, numbers: Sequence[int]) -> list[int]:
    """The live and waiting memories that sum up some of these, or were extracted from one of them."""
    rows = select(
        db,
        """WITH sources AS (SELECT id, uid FROM memories WHERE id IN (SELECT value FROM json_each(?1)))
           SELECT s.id FROM memories s
           WHERE s.status IN ('active', 'proposed') AND s.id NOT IN (SELECT id FROM sources)
             AND (s.compressed_from <> '[]' AND EXISTS (
                    SELECT 1 FROM json_each(s.compressed_from) c JOIN sources m ON m.uid = c.value)
                  OR s.kind = 'observation' AND s.source IN (SELECT ?2 || uid FROM sources))
           ORDER BY s.id""",
        (json.dumps(list(numbers)), EXTRACTED_FROM),
    )
    return [int(row[0]) for row in rows]


def noted(db: apsw.Connection, operation: str, name: str) -> set[str]:
    """What the events of an operation list under a name in their detail, but for those that are undone."""
    undone = audit.undone(db)
    rows = select(
        db,
        """SELECT uid, detail FROM events WHERE operation = ?1
             AND json_type(iif(json_valid(detail), detail, '{}'), ?2) = 'array'""",
        (operation, f"$.{name}"),
    )
    return {item for uid, detail in rows if uid not in undone for item in json.loads(detail)[name]}


def unread(db: apsw.Connection, where: Where, before: Iterable[str]) -> list[Memory]:
    """The live memories that say something by themselves, without those looked through `before`."""
    rows = db.execute(
        f"""SELECT {COLUMNS} FROM memories m WHERE {where.sql} AND m.kind <> 'observation' AND m.flags = '[]'
              AND m.trust <> 'disputed' AND m.uid NOT IN (SELECT value FROM json_each(?))
            ORDER BY m.recorded_at, m.id""",
        (*where.values, json.dumps(list(before))),
    )
    return list(map(from_row, rows))
