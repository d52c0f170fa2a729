"""Questions that a merge asks of the store, about what a row that arrives may meet."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import apsw

from mem.store.connect import select
from mem.store.events import canonical
from mem.store.tombstones import LEFT

SETTLED, _CIRCLES = "settled", "circles"
_GONE = "gone:"  # and the UUID of a row; the value is when it began to say what was forgotten
_MARK = '"settled"'


def forgotten(db: apsw.Connection) -> set[str]:
    """The UUIDs of the memories that were forgotten, here or elsewhere."""
    rows = select(
        db,
        """SELECT memory_uid FROM tombstones WHERE kind = 'forgotten' AND memory_uid IS NOT NULL
           UNION
           SELECT memory_uid FROM tombstones_versions WHERE kind = 'forgotten' AND memory_uid IS NOT NULL""",
    )
    return {uid for (uid,) in rows}


def has_stones(db: apsw.Connection) -> bool:
    """Whether anything was ever rejected or forgotten here."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM tombstones)").get)


def blanked_events(db: apsw.Connection) -> list[tuple[str, str, list[str]]]:
    """The events whose free texts are erased: UUID, instant, and what they are about."""
    sql = 'SELECT uid, at, subjects FROM events WHERE instr(texts, \'"salt":""\')'
    return [(uid, at, json.loads(subjects)) for uid, at, subjects in select(db, sql)]


def blank(
    db: apsw.Connection, subjects: Collection[str], uids: Collection[str]
) -> list[tuple[str, str, list[str]]]:
    """Erase the free texts of the events about some rows, and of some others; gives those as above."""
    rows = select(
        db,
        """SELECT e.id, e.uid, e.at, e.subjects, e.texts FROM events e WHERE e.texts <> '{}' AND (
             e.uid IN (SELECT value FROM json_each(?1)) OR EXISTS (
               SELECT 1 FROM json_each(e.subjects) s JOIN json_each(?2) f ON f.value = s.value))""",
        (json.dumps(sorted(uids)), json.dumps(sorted(subjects))),
    )
    for event_id, _, _, _, texts in rows:
        blanked = {name: {**entry, "text": "", "salt": ""} for name, entry in json.loads(texts).items()}
        db.execute("UPDATE events SET texts = ? WHERE id = ?", (canonical(blanked), event_id))
    return [(uid, at, json.loads(about)) for _, uid, at, about, _ in rows]


def operation(db: apsw.Connection, event_uid: str) -> str | None:
    """The operation of an event, if it is here."""
    found: str | None = db.execute("SELECT operation FROM events WHERE uid = ?", (event_uid,)).get
    return found


@dataclass(frozen=True, slots=True)
class Grave:
    """A content that was forgotten: what was recorded before `until` is gone, but for what was `left`."""

    until: str
    left: frozenset[str]


def graves(db: apsw.Connection, fingerprint: bytes, entity_uid: str, project: str | None) -> list[Grave]:
    """When a content about an entity was forgotten in a project; lifted since or not."""
    rows = select(
        db,
        """WITH stones (id) AS (SELECT id FROM tombstones WHERE fingerprint = ?1 AND entity_uid IN ('', ?2)
                                AND project IN ('', ?3))
           SELECT t.recorded_at, t.extra FROM stones s JOIN tombstones t ON t.id = s.id
           WHERE t.kind = 'forgotten'
           UNION ALL
           SELECT v.recorded_at, v.extra FROM stones s JOIN tombstones_versions v ON v.id = s.id
           WHERE v.kind = 'forgotten'""",
        (fingerprint, entity_uid, project or ""),
    )
    return [Grave(at, frozenset(json.loads(extra).get(LEFT, ()))) for at, extra in rows]


def note_gone(db: apsw.Connection, uid: str, at: str) -> None:
    """Note that what a row said from an instant on was forgotten: no earlier state of it comes back."""
    db.execute(
        """INSERT INTO store_info (key, value) VALUES (?1, ?2)
           ON CONFLICT DO UPDATE SET value = max(value, ?2)""",
        (f"{_GONE}{uid}", at),
    )


def is_gone(db: apsw.Connection, uid: str, at: str) -> bool:
    """Whether a row has gone with all that it said until an instant."""
    known = db.execute("SELECT value FROM store_info WHERE key = ?", (f"{_GONE}{uid}",)).get
    return known is not None and at <= known


def drafts_of(db: apsw.Connection, uids: Collection[str]) -> list[int]:
    """The memories that propose, or proposed, to change one of these in place."""
    rows = select(
        db,
        """SELECT DISTINCT p.id FROM (SELECT id, proposal FROM memories
                                      UNION ALL SELECT id, proposal FROM memories_versions) p
           WHERE p.proposal ->> '$.in_place' AND EXISTS (
             SELECT 1 FROM json_each(p.proposal, '$.replaces') r JOIN json_each(?) f ON f.value = r.value)""",
        (json.dumps(sorted(uids)),),
    )
    return [number for (number,) in rows]


def numbers(db: apsw.Connection, table: str, uids: Collection[str]) -> set[int]:
    """The numbers of the rows with some of these UUIDs."""
    sql = f"SELECT id FROM {table} WHERE uid IN (SELECT value FROM json_each(?))"
    return {number for (number,) in select(db, sql, (json.dumps(sorted(uids)),))}


def once_said(db: apsw.Connection, contents: Collection[bytes]) -> set[int]:
    """The memories that say one of these, or said it before."""
    return {
        number
        for content in contents
        for (number,) in select(
            db,
            """SELECT id FROM memories WHERE fingerprint = ?1
               UNION SELECT id FROM memories_versions WHERE fingerprint = ?1""",
            (content,),
        )
    }


def stones_of(db: apsw.Connection, uids: Collection[str], events: Collection[str]) -> set[int]:
    """The rejections that name one of these memories, or were written by one of these events."""
    rows = select(
        db,
        """SELECT t.id FROM (SELECT id, memory_uid, event_id FROM tombstones
                             UNION ALL SELECT id, memory_uid, event_id FROM tombstones_versions) t
           WHERE t.memory_uid IN (SELECT value FROM json_each(?1))
              OR t.event_id IN (SELECT e.id FROM json_each(?2) j JOIN events e ON e.uid = j.value)""",
        (json.dumps(sorted(uids)), json.dumps(sorted(events))),
    )
    return {number for (number,) in rows}


def leaning(db: apsw.Connection, table: str, column: str, numbers: Collection[int]) -> set[int]:
    """The rows that name one of these as their successor, now or before, and are none of them."""
    rows = select(
        db,
        f"""SELECT id FROM {table} WHERE {column} IN (SELECT value FROM json_each(?1))
            UNION SELECT id FROM {table}_versions WHERE {column} IN (SELECT value FROM json_each(?1))""",
        (json.dumps(sorted(numbers)),),
    )
    return {number for (number,) in rows} - set(numbers)


def drop_relations(db: apsw.Connection, numbers: Collection[int]) -> None:
    """Erase relations with all their versions."""
    for table in ("relations", "relations_versions"):
        db.execute(
            f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(numbers)),),
        )


def uids(db: apsw.Connection, table: str, numbers: Iterable[int]) -> list[str]:
    """The UUIDs of rows."""
    sql = f"SELECT uid FROM {table} WHERE id IN (SELECT value FROM json_each(?))"
    return [uid for (uid,) in select(db, sql, (json.dumps(sorted(numbers)),))]


def settled_entities(db: apsw.Connection) -> set[int]:
    """The entities of which something is derived."""
    if db.execute("SELECT 1 FROM store_info WHERE key = ?", (SETTLED,)).get is None:
        return set()
    return {number for (number,) in select(db, "SELECT id FROM entities WHERE instr(extra, ?)", (_MARK,))}


def entity_named(db: apsw.Connection, project: str, type_: str, key: str) -> int | None:
    """The live entity of a name."""
    found: int | None = db.execute(
        """SELECT id FROM entities WHERE ifnull(project, '') = ? AND type = ? AND key = ?
           AND status = 'active'""",
        (project, type_, key),
    ).get
    return found


def contents_about(db: apsw.Connection, entity_ids: Collection[int]) -> set[bytes]:
    """The contents of all memories about some entities."""
    sql = "SELECT fingerprint FROM memories WHERE entity_id IN (SELECT value FROM json_each(?))"
    return {content for (content,) in select(db, sql, (json.dumps(sorted(entity_ids)),))}


def relations_of(db: apsw.Connection, entity_ids: Collection[int]) -> set[int]:
    """The relations from or to some entities."""
    listed = json.dumps(sorted(entity_ids))
    sql = """SELECT id FROM relations WHERE from_id IN (SELECT value FROM json_each(?1))
             UNION SELECT id FROM relations WHERE to_id IN (SELECT value FROM json_each(?1))"""
    return {number for (number,) in select(db, sql, (listed,))}


def relations_between(db: apsw.Connection, from_uid: str, to_uid: str, type_: str) -> set[int]:
    """The relations of a type from one entity to another, whatever their status."""
    sql = """SELECT r.id FROM entities f JOIN relations r ON r.from_id = f.id
             JOIN entities t ON t.id = r.to_id WHERE f.uid = ? AND t.uid = ? AND r.type = ?"""
    return {number for (number,) in select(db, sql, (from_uid, to_uid, type_))}


def relations_beside(db: apsw.Connection, relation_id: int) -> set[int]:
    """The relations of the type of one between the same two entities."""
    sql = """SELECT r.id FROM relations m JOIN relations r
             ON r.from_id = m.from_id AND r.to_id = m.to_id AND r.type = m.type WHERE m.id = ?"""
    return {number for (number,) in select(db, sql, (relation_id,))}


def saying(db: apsw.Connection, content: bytes) -> list[int]:
    """All memories of a content, whatever their status."""
    return [n for (n,) in select(db, "SELECT id FROM memories WHERE fingerprint = ? ORDER BY id", (content,))]


def content(db: apsw.Connection, memory_id: int) -> bytes:
    """The fingerprint of a memory."""
    return bytes(db.execute("SELECT fingerprint FROM memories WHERE id = ?", (memory_id,)).get)


def twin(
    db: apsw.Connection, content: bytes, kind: str, project: str | None, entity_uid: str, but: int | None
) -> int | None:
    """The live memory of one content, kind, project and entity, `but` the one that asks."""
    found: int | None = db.execute(
        """SELECT id FROM memories INDEXED BY memories_fingerprint
           WHERE fingerprint = ? AND kind = ? AND project IS ? AND status = 'active'
           AND entity_id IS (SELECT id FROM entities WHERE uid = ?) AND id IS NOT ?""",
        (content, kind, project, entity_uid, but),
    ).get
    return found


def in_a_circle(db: apsw.Connection, memory_id: int) -> bool:
    """Whether the successors of a memory lead back to it, or may where a circle was undone before."""
    if has_circles(db):
        return True
    return bool(
        db.execute(
            """WITH RECURSIVE following (id) AS (
                 SELECT superseded_by FROM memories WHERE id = ?1 UNION
                 SELECT m.superseded_by FROM memories m JOIN following f ON m.id = f.id
                 WHERE m.superseded_by IS NOT NULL)
               SELECT EXISTS (SELECT 1 FROM following WHERE id = ?1)""",
            (memory_id,),
        ).get
    )


def has_circles(db: apsw.Connection) -> bool:
    """Whether a circle of successors was ever undone here."""
    return db.execute("SELECT 1 FROM store_info WHERE key = ?", (_CIRCLES,)).get is not None


def contents_in_circles(db: apsw.Connection) -> set[bytes]:
    """The contents of the memories whose link to a successor is undone."""
    sql = "SELECT fingerprint FROM memories WHERE instr(extra, ?) AND instr(extra, 'circle')"
    return {found for (found,) in select(db, sql, (_MARK,))}


def note_circles(db: apsw.Connection) -> None:
    """Note that a circle of successors is undone here."""
    _note(db, _CIRCLES)


def note_settled(db: apsw.Connection) -> None:
    """Note that something is derived here."""
    _note(db, SETTLED)


def unlink(db: apsw.Connection, table: str, column: str, numbers: Collection[int]) -> None:
    """Let no row name these as its successor, now or before."""
    for images in (table, f"{table}_versions"):
        db.execute(
            f"UPDATE {images} SET {column} = NULL WHERE {column} IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(numbers)),),
        )


def _note(db: apsw.Connection, key: str) -> None:
    db.execute("INSERT INTO store_info (key, value) VALUES (?, '1') ON CONFLICT DO NOTHING", (key,))
