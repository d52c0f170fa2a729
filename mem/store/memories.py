"""Rows of memories: read, found by id, inserted and changed; the before-images come from the triggers."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from mem import clock
from mem.errors import NotFound, Usage
from mem.store import as_of, sessions
from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit, new_uid
from mem.store.filters import Where
from mem.store.settled import assigned
from mem.values import (
    Category,
    Flag,
    Kind,
    Layer,
    Level,
    Memory,
    Moment,
    NewMemory,
    Sort,
    Status,
    Trust,
)

AS_OF = "as_of_memories"
ENTITY_NAME = "(SELECT name FROM entities WHERE id = m.entity_id)"
COLUMNS = f"""m.id, m.uid, m.kind, m.title, m.content, m.category, m.level, m.layer, m.project, m.tags,
  m.importance, m.confidence, m.source, {ENTITY_NAME} AS entity,
  m.rationale, m.alternatives, m.status, m.status_reason, m.status_at, m.trust, m.verified_at, m.verified_by,
  m.event_time, m.valid_from, m.valid_to, m.recorded_at, m.changed_at, m.expires_at, m.superseded_by,
  m.client, (SELECT uid FROM sessions WHERE id = m.session_id) AS session, m.flags, m.proposal, m.extra,
  m.trust_reason, m.entity_id"""

# From the greatest down; what is equal goes by record time, then by number, so that pages are stable.
_ORDERS = {
    Sort.RECORDED: (),
    Sort.CHANGED: ("m.changed_at",),
    Sort.EVENT_TIME: ("ifnull(m.event_time, m.recorded_at)",),
    Sort.IMPORTANCE: ("m.importance",),
    Sort.CONFIDENCE: ("m.confidence",),
    Sort.RECALLS: ("ifnull((SELECT sum(u.recalls) FROM usage u WHERE u.memory_id = m.id), 0)",),
    Sort.ID: ("m.id",),
}
_EQUALS = ("m.recorded_at", "m.id")


def from_row(row: Sequence[Any]) -> Memory:
    """The value of a row that was selected by `COLUMNS`."""
    return Memory(
        id=row[0],
        uid=row[1],
        kind=Kind(row[2]),
        title=row[3],
        content=row[4],
        category=Category(row[5]),
        level=Level(row[6]),
        layer=Layer(row[7]),
        project=row[8],
        tags=tuple(json.loads(row[9])),
        importance=row[10],
        confidence=row[11],
        source=row[12],
        entity=row[13],
        rationale=row[14],
        alternatives=row[15],
        status=Status(row[16]),
        status_reason=row[17],
        status_at=row[18],
        trust=Trust(row[19]),
        verified_at=row[20],
        verified_by=row[21],
        event_time=row[22],
        valid_from=row[23],
        valid_to=row[24],
        recorded_at=row[25],
        changed_at=row[26],
        expires_at=row[27],
        superseded_by=row[28],
        client=row[29],
        session=row[30],
        flags=tuple(map(Flag, json.loads(row[31]))),
        proposal=json.loads(row[32]) if row[32] else None,
        extra=json.loads(row[33]),
        trust_reason=row[34],
        entity_id=row[35],
    )


def by_ids(db: apsw.Connection, ids: Iterable[int], *, table: str = "memories") -> dict[int, Memory]:
    """The memories with these numbers, by number."""
    sql = f"SELECT {columns_of(table)} FROM {table} m WHERE m.id IN (SELECT value FROM json_each(?))"
    return {row[0]: from_row(row) for row in db.execute(sql, (json.dumps(list(ids)),))}


def one(db: apsw.Connection, memory_id: int) -> Memory:
    """The memory with this number, which is known to exist."""
    return by_ids(db, [memory_id])[memory_id]


def page(
    db: apsw.Connection,
    where: Where,
    *,
    sort: Sort,
    limit: int,
    offset: int,
    reverse: bool = False,
    table: str = "memories",
) -> tuple[int, list[Memory]]:
    """How many memories match, and one page of them; in `reverse` from the other end."""
    total = db.execute(f"SELECT count(*) FROM {table} m WHERE {where.sql}", where.values).get
    direction = "ASC" if reverse else "DESC"
    order = ", ".join(f"{key} {direction}" for key in (*_ORDERS[sort], *_EQUALS))
    rows = db.execute(
        f"SELECT {columns_of(table)} FROM {table} m WHERE {where.sql} ORDER BY {order} LIMIT ? OFFSET ?",
        (*where.values, limit, offset),
    )
    return int(total), [from_row(row) for row in rows]


def numbers(db: apsw.Connection, where: Where, *, table: str = "memories") -> set[int]:
    """The numbers of the memories that match."""
    return {row[0] for row in db.execute(f"SELECT m.id FROM {table} m WHERE {where.sql}", where.values)}


_NUMBER = re.compile(r"#?(\d{1,18})", re.ASCII)
_UID = re.compile(r"[0-9a-f-]{8,36}", re.ASCII)


def resolve(db: apsw.Connection, references: Iterable[str]) -> list[int]:
    """The numbers that ids stand for, without repeats; raises `NotFound`, or `Usage` for what is no id."""
    found: dict[int, None] = {}
    for reference in references:
        found[_resolve(db, reference.strip())] = None
    return list(found)


def _resolve(db: apsw.Connection, reference: str) -> int:
    if number := _NUMBER.fullmatch(reference):
        known = db.execute("SELECT id FROM memories WHERE id = ?", (int(number[1]),)).get
        if known is None:
            raise NotFound(f"There is no memory {reference}.", hint="See: mem list")
        return int(known)
    prefix = reference.casefold()
    if not _UID.fullmatch(prefix):
        raise Usage(
            f"'{reference}' is not an id.",
            hint="Give a number, a UUID, or 8 or more of its first characters, with a letter or hyphen.",
        )
    rows = select(
        db,
        "SELECT id, uid, title, content FROM memories WHERE uid >= ? AND uid < ? ORDER BY id LIMIT 6",
        (prefix, prefix + "g"),
    )
    if not rows:
        raise NotFound(f"There is no memory {reference}.", hint="See: mem list")
    if len(rows) > 1:
        listed = "; ".join(f"#{row[0]} {row[1]}" for row in rows[:5])
        raise NotFound(f"'{reference}' stands for more than one memory.", hint=f"Give more of it: {listed}.")
    return int(rows[0][0])


def columns(new: NewMemory) -> dict[str, Any]:
    """What a memory says, as the values of its columns."""
    return {
        "title": new.title,
        "content": new.content,
        "rationale": new.rationale,
        "alternatives": new.alternatives,
        "category": new.category.value,
        "level": new.level.value,
        "layer": new.layer.value,
        "importance": new.importance,
        "confidence": new.confidence,
        "project": new.project,
        "tags": json.dumps(new.tags, ensure_ascii=False),
        "source": new.source,
        "event_time": new.event_time,
        "valid_from": new.valid_from,
        "valid_to": new.valid_to,
        "expires_at": new.expires_at,
        "entity_id": new.entity_id,
        "flags": json.dumps(new.flags),
    }


def insert(
    unit: Unit,
    new: NewMemory,
    *,
    status: Status,
    fingerprint: bytes,
    text_hash: bytes,
) -> int:
    """Write a new memory; gives its number."""
    row = {
        "uid": new_uid(clock.from_text(unit.at)),
        "origin_id": ORIGIN_HERE,
        "kind": new.kind.value,
        **columns(new),
        "session_id": sessions.number_for(unit, new.session),
        "client": unit.actor.client,
        "status": status.value,
        "fingerprint": fingerprint,
        "text_hash": text_hash,
        "recorded_at": unit.at,
        "changed_at": unit.at,
        "event_id": unit.event_id,
    }
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    unit.db.execute(f"INSERT INTO memories ({names}) VALUES ({marks})", tuple(row.values()))
    memory_id = unit.db.last_insert_rowid()
    unit.changed(memory_id)
    return memory_id


def change(unit: Unit, memory_id: int, values: Mapping[str, Any]) -> None:
    """Write new values into a memory's columns; the trigger keeps what they replace."""
    row = {**values, "changed_at": unit.at, "event_id": unit.changed(memory_id)}
    sets, said = assigned(row)
    unit.db.execute(f"UPDATE memories SET {sets} WHERE id = ?", (*said, memory_id))


def set_status(unit: Unit, memory_id: int, status: Status, reason: str | None) -> None:
    """Change the status, with its reason and time."""
    change(unit, memory_id, {"status": status.value, "status_reason": reason, "status_at": unit.at})


def same_content(
    db: apsw.Connection, fingerprint: bytes, kind: Kind, project: str | None, entity_id: int | None
) -> list[int]:
    """Memories with this fingerprint in one project, of one kind, about one entity; live ones first."""
    rows = db.execute(
        """SELECT id FROM memories INDEXED BY memories_fingerprint
           WHERE fingerprint = ? AND kind = ? AND project IS ? AND entity_id IS ?
           ORDER BY status = 'active' DESC, status = 'proposed' DESC, ifnull(status_at, recorded_at) DESC,
                    id DESC""",
        (fingerprint, kind.value, project, entity_id),
    )
    return [row[0] for row in rows]


def entity_uid(db: apsw.Connection, entity_id: int | None) -> str:
    """The UUID of an entity, '' for none."""
    return str(db.execute("SELECT uid FROM entities WHERE id = ?", (entity_id,)).get or "")


def identity(db: apsw.Connection, memory_id: int) -> tuple[bytes, Kind, str | None, int | None, str]:
    """What a memory is the same by: fingerprint, kind, project, and the number and UUID of its entity."""
    fingerprint, kind, project, entity_id, entity_uid = select(
        db,
        """SELECT m.fingerprint, m.kind, m.project, m.entity_id, ifnull(e.uid, '')
           FROM memories m LEFT JOIN entities e ON e.id = m.entity_id WHERE m.id = ?""",
        (memory_id,),
    )[0]
    return fingerprint, Kind(kind), project, entity_id, entity_uid


def saying(db: apsw.Connection, fingerprint: bytes, entity_id: int | None, project: str | None) -> list[int]:
    """The active and proposed memories with this fingerprint, of any kind, that a rejection would bind.

    One about no entity binds whatever says it, one in no project everywhere.
    """
    rows = db.execute(
        """SELECT id FROM memories
           WHERE fingerprint = ?1 AND (?2 IS NULL OR entity_id = ?2) AND (?3 IS NULL OR project = ?3)
             AND status IN ('active', 'proposed') ORDER BY id""",
        (fingerprint, entity_id, project),
    )
    return [row[0] for row in rows]


def predecessors(db: apsw.Connection, memory_id: int) -> list[int]:
    """The memories that this one replaced."""
    rows = db.execute("SELECT id FROM memories WHERE superseded_by = ? ORDER BY id", (memory_id,))
    return [row[0] for row in rows]


def last_successor(db: apsw.Connection, memory_id: int) -> int:
    """Where the line of successors ends that begins with this memory; itself if nothing replaced it."""
    return int(
        db.execute(
            """WITH RECURSIVE following (id) AS (
                 SELECT ? UNION
                 SELECT m.superseded_by FROM memories m JOIN following f ON m.id = f.id
                 WHERE m.superseded_by IS NOT NULL)
               SELECT f.id FROM following f JOIN memories m ON m.id = f.id WHERE m.superseded_by IS NULL""",
            (memory_id,),
        ).get
    )


def select_as_of(db: apsw.Connection, moment: Moment) -> str:
    """Fill a temporary table with what the store held at a moment of record time; gives the table's name.

    One row per memory, with the name that its entity had then. Without `known_at` these are the present rows.
    """
    db.execute(f"DROP TABLE IF EXISTS temp.{AS_OF}")
    db.execute(f"CREATE TEMP TABLE {AS_OF} AS SELECT *, '' AS entity FROM memories WHERE 0")
    things = as_of.select_as_of(db, "entities", moment)
    columns = [str(row[1]) for row in db.execute("PRAGMA table_info(memories)")]
    names, qualified = ", ".join(columns), ", ".join(f"m.{name}" for name in columns)
    held = f"SELECT {names} FROM memories"
    if moment.known_at is not None:
        held += f""" WHERE changed_at <= ?1
                UNION ALL
                SELECT {names} FROM memories_versions WHERE changed_at <= ?1 AND replaced_at > ?1"""
    db.execute(
        f"""INSERT INTO {AS_OF} SELECT {qualified}, n.name FROM ({held}) m
            LEFT JOIN {things} n ON n.id = m.entity_id""",
        (moment.known_at,) if moment.known_at is not None else (),
    )
    return AS_OF


def columns_of(table: str) -> str:
    """`COLUMNS`, as a table of memories has them."""
    return COLUMNS.replace(ENTITY_NAME, "m.entity") if table == AS_OF else COLUMNS
