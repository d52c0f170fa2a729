"""What was rejected or forgotten: a content fingerprint that is refused, in one project or everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import apsw

from mem import clock
from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit, new_uid


class Grave(StrEnum):
    """Why a content is refused: somebody said that it is wrong, or had it erased."""

    REJECTED = "rejected"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A rejection in force; `memory_id` is the rejected memory, if it still exists."""

    id: int
    kind: Grave
    reason: str | None
    recorded_at: str
    memory_id: int | None


def binding(db: apsw.Connection, fingerprint: bytes, entity_uid: str, project: str | None) -> list[Tombstone]:
    """The rejections that bind a text about an entity in a project, oldest first; a global one binds all."""
    rows = select(
        db,
        """SELECT t.id, t.kind, t.reason, t.recorded_at, (SELECT id FROM memories WHERE uid = t.memory_uid)
           FROM tombstones t
           WHERE t.fingerprint = ? AND t.lifted_at IS NULL AND t.entity_uid IN ('', ?)
             AND t.project IN ('', ?)
           ORDER BY t.recorded_at, t.id""",
        (fingerprint, entity_uid, project or ""),
    )
    return [Tombstone(row[0], Grave(row[1]), *row[2:]) for row in rows]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rejection in force as it is written: what it is keyed by, and why."""

    fingerprint: bytes
    project: str | None
    memory_uid: str | None
    reason: str | None
    kind: Grave


def of_entity(db: apsw.Connection, entity_uid: str) -> list[Rejected]:
    """The rejections in force about an entity."""
    rows = select(
        db,
        """SELECT fingerprint, nullif(project, ''), memory_uid, reason, kind FROM tombstones
           WHERE entity_uid = ? AND lifted_at IS NULL ORDER BY id""",
        (entity_uid,),
    )
    return [Rejected(row[0], row[1], row[2], row[3], Grave(row[4])) for row in rows]


def bury(
    unit: Unit,
    fingerprint: bytes,
    entity_uid: str,
    project: str | None,
    *,
    memory_uid: str | None,
    reason: str | None,
    kind: Grave = Grave.REJECTED,
) -> None:
    """Refuse a content from now on: about an entity or none, in a project or everywhere."""
    unit.db.execute(
        """INSERT INTO tombstones (uid, origin_id, entity_uid, fingerprint, project, memory_uid, reason,
                                   recorded_at, changed_at, event_id, kind)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10)
           ON CONFLICT DO UPDATE SET memory_uid = ?6, reason = ?7, recorded_at = ?8, lifted_at = NULL,
                                     changed_at = ?8, event_id = ?9, kind = ?10""",
        (
            new_uid(clock.from_text(unit.at)),
            ORIGIN_HERE,
            entity_uid,
            fingerprint,
            project or "",
            memory_uid,
            reason,
            unit.at,
            unit.event_id,
            kind.value,
        ),
    )


def bound(db: apsw.Connection, event_id: int) -> list[int]:
    """The live memories that the rejections which an event wrote bind, if they are in force."""
    rows = select(
        db,
        """SELECT m.id FROM tombstones t JOIN memories m ON m.fingerprint = t.fingerprint
           LEFT JOIN entities e ON e.id = m.entity_id
           WHERE t.event_id = ? AND t.lifted_at IS NULL AND t.entity_uid IN ('', ifnull(e.uid, ''))
             AND t.project IN ('', ifnull(m.project, '')) AND m.status IN ('active', 'proposed')
           ORDER BY m.id""",
        (event_id,),
    )
    return [memory_id for (memory_id,) in rows]


def lift(unit: Unit, stones: Sequence[Tombstone]) -> None:
    """Let what these refuse in again; they stay, marked as lifted."""
    for stone in stones:
        unit.db.execute(
            "UPDATE tombstones SET lifted_at = ?1, changed_at = ?1, event_id = ?2 WHERE id = ?3",
            (unit.at, unit.event_id, stone.id),
        )
