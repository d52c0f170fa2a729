"""What was rejected: a content fingerprint that is refused from now on, in one project or everywhere."""

from dataclasses import dataclass

import apsw


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A rejection in force; `memory_id` is the rejected memory, if it still exists."""

    reason: str | None
    recorded_at: str
    memory_id: int | None


def binding(
    db: apsw.Connection, fingerprint: bytes, entity_uid: str, project: str | None
) -> Tombstone | None:
    """The rejection that binds a text about an entity in a project; a global one binds everywhere."""
    row = db.execute(
        """SELECT t.reason, t.recorded_at, (SELECT id FROM memories WHERE uid = t.memory_uid)
           FROM tombstones t
           WHERE t.fingerprint = ? AND t.lifted_at IS NULL AND t.entity_uid IN ('', ?)
             AND t.project IN ('', ?)
           ORDER BY t.recorded_at LIMIT 1""",
        (fingerprint, entity_uid, project or ""),
    ).fetchone()
    return Tombstone(*row) if row else None
