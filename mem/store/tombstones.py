"""What was rejected or forgotten: a content fingerprint that is refused, in one project or everywhere."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import apsw

from mem import clock
from mem.store import entities
from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit, new_uid

LEFT = "left"


class Grave(StrEnum):
    """Why a content is refused: somebody said that it is wrong, or had it erased."""

    REJECTED = "rejected"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A rejection in force; `memory_id` is the rejected memory, if it still exists.

    `left` are the UUIDs of memories that said the same and stayed, when another one was forgotten.
    """

    id: int
    kind: Grave
    reason: str | None
    recorded_at: str
    memory_id: int | None
    uid: str
    left: frozenset[str] = frozenset()


def binding(db: apsw.Connection, fingerprint: bytes, entity_uid: str, project: str | None) -> list[Tombstone]:
    """The rejections that bind a text about an entity in a project, oldest first; a global one binds all.

    One about an entity that was merged binds what it lives on in, unless the same was decided there later.
    """
    numbers = reaching(db, fingerprint, entity_uid, project)
    if not numbers:
        return []
    rows = select(
        db,
        """SELECT t.id, t.kind, t.reason, t.recorded_at, (SELECT id FROM memories WHERE uid = t.memory_uid),
                  t.uid, t.extra, t.lifted_at, t.entity_uid <> '', t.project
           FROM tombstones t JOIN origins o ON o.id = t.origin_id
           WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY t.changed_at, o.uid""",
        (json.dumps(numbers),),
    )
    latest = {(about, place): row for *row, about, place in rows}.values()
    in_force = [
        Tombstone(number, Grave(kind), reason, at, memory_id, uid, _left(extra))
        for number, kind, reason, at, memory_id, uid, extra, lifted_at in latest
        if lifted_at is None
    ]
    return sorted(in_force, key=lambda stone: (stone.recorded_at, stone.id))


def reaching(db: apsw.Connection, fingerprint: bytes, entity_uid: str, project: str | None) -> list[int]:
    """The rejections, lifted ones too, of a content about nothing or about an entity, in a project or all.

    Those about an entity that was merged are about the one that it lives on in.
    """
    rows = select(
        db,
        "SELECT id, entity_uid FROM tombstones WHERE fingerprint = ? AND project IN ('', ?)",
        (fingerprint, project or ""),
    )
    return [
        number
        for number, about in rows
        if about in ("", entity_uid) or (entity_uid and entities.lives_on(db, about)[0] == entity_uid)
    ]


def _left(extra: str) -> frozenset[str]:
    return frozenset(json.loads(extra).get(LEFT, ())) if LEFT in extra else frozenset()


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
    left: Sequence[str] = (),
) -> None:
    """Refuse a content from now on: about an entity or none, in a project or everywhere.

    `left` are the UUIDs of memories that say it and stay.
    """
    unit.db.execute(
        """INSERT INTO tombstones (uid, origin_id, entity_uid, fingerprint, project, memory_uid, reason,
                                   recorded_at, changed_at, event_id, kind, extra)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11)
           ON CONFLICT DO UPDATE SET memory_uid = ?6, reason = ?7, recorded_at = ?8, lifted_at = NULL,
                                     changed_at = ?8, event_id = ?9, kind = ?10, extra = ?11""",
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
            json.dumps({LEFT: sorted(left)}) if left else "{}",
        ),
    )


def bury_row(unit: Unit, uid: str) -> None:
    """Refuse from now on what bears a UUID, as a forgotten entity does: it has no content to refuse."""
    import hashlib

    nothing = hashlib.sha256(uid.encode()).digest()
    bury(unit, nothing, "", None, memory_uid=uid, reason=None, kind=Grave.FORGOTTEN)


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
