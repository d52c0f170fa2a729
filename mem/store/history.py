"""What became of a memory: its versions with what each changed, along the line of its successors."""

import json
from typing import Any

import apsw

from mem.results import Change, History
from mem.store.connect import select

_SHOWN = [
    "kind",
    "title",
    "content",
    "rationale",
    "alternatives",
    "category",
    "level",
    "layer",
    "importance",
    "confidence",
    "project",
    "tags",
    "source",
    "status",
    "status_reason",
    "trust",
    "trust_reason",
    "verified_by",
    "event_time",
    "valid_from",
    "valid_to",
    "expires_at",
    "superseded_by",
]


def of(db: apsw.Connection, memory_id: int) -> History:
    """The history of a memory and of all in its line of successors, oldest change first."""
    chain = _chain(db, memory_id)
    changes = [change for member in chain for change in _changes(db, member)]
    return History(memory_id, tuple(chain), tuple(sorted(changes, key=lambda change: (change.at, change.id))))


def _chain(db: apsw.Connection, memory_id: int) -> list[int]:
    rows = db.execute(
        """WITH RECURSIVE linked (id) AS (
             SELECT ? UNION
             SELECT m.id FROM memories m JOIN linked l ON m.superseded_by = l.id UNION
             SELECT m.superseded_by FROM memories m JOIN linked l ON m.id = l.id
             WHERE m.superseded_by IS NOT NULL)
           SELECT id FROM linked ORDER BY id""",
        (memory_id,),
    )
    return [row[0] for row in rows]


def _changes(db: apsw.Connection, memory_id: int) -> list[Change]:
    columns = ", ".join(f"v.{name}" for name in _SHOWN)
    rows = select(
        db,
        f"""SELECT v.changed_at, v.replaced_at, e.id, e.operation, e.actor,
                   nullif(json_extract(e.texts, '$.reason.text'), ''), {columns}
            FROM (SELECT id, changed_at, replaced_at, event_id, {", ".join(_SHOWN)}
                  FROM memories_versions WHERE id = ?1
                  UNION ALL
                  SELECT id, changed_at, NULL, event_id, {", ".join(_SHOWN)} FROM memories WHERE id = ?1) v
            JOIN events e ON e.id = v.event_id ORDER BY v.changed_at""",
        (memory_id,),
    )
    changes: list[Change] = []
    before: dict[str, Any] = {}
    for at, until, event, operation, actor, reason, *values in rows:
        after = dict(zip(_SHOWN, values, strict=True)) | {"tags": json.loads(values[_SHOWN.index("tags")])}
        changed = {name: value for name, value in after.items() if value != before.get(name)}
        replaced = {name: before[name] for name in changed} if before else {}
        changes.append(Change(memory_id, at, operation, actor, reason, changed, replaced, event, until))
        before = after
    return changes
