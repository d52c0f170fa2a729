"""Rows of entities, and the names by which the live ones are found; the trigger keeps the before-images."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from mem import clock
from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit, new_uid
from mem.store.settled import assigned
from mem.values import Entity, EntityStatus, Scope

COLUMNS = """n.id, n.uid, n.name, n.key, n.type, n.aliases, n.project, n.summary, n.status, n.merged_into,
  n.recorded_at, n.changed_at, n.extra"""


def from_row(row: Sequence[Any]) -> Entity:
    """The value of a row that was selected by `COLUMNS`."""
    return Entity(
        id=row[0],
        uid=row[1],
        name=row[2],
        key=row[3],
        type=row[4],
        aliases=tuple(json.loads(row[5])),
        project=row[6],
        summary=row[7],
        status=EntityStatus(row[8]),
        merged_into=row[9],
        recorded_at=row[10],
        changed_at=row[11],
        extra=json.loads(row[12]),
    )


def by_ids(db: apsw.Connection, ids: Iterable[int], *, table: str = "entities") -> dict[int, Entity]:
    """The entities with these numbers, by number."""
    sql = f"SELECT {COLUMNS} FROM {table} n WHERE n.id IN (SELECT value FROM json_each(?))"
    return {row[0]: from_row(row) for row in db.execute(sql, (json.dumps(list(ids)),))}


def one(db: apsw.Connection, entity_id: int, *, table: str = "entities") -> Entity:
    """The entity with this number, which is known to exist."""
    return by_ids(db, [entity_id], table=table)[entity_id]


def of_uid(db: apsw.Connection, prefix: str) -> list[Entity]:
    """The entities whose UUID begins so, at most six."""
    rows = select(
        db,
        f"SELECT {COLUMNS} FROM entities n WHERE n.uid >= ? AND n.uid < ? ORDER BY n.id LIMIT 6",
        (prefix, prefix + "g"),
    )
    return [from_row(row) for row in rows]


def named(db: apsw.Connection, key: str, scope: Scope, *, type_: str | None = None) -> list[Entity]:
    """The live entities of a scope with this key as their name or an alias; own names and projects first."""
    condition, values = in_scope(scope)
    rows = select(
        db,
        f"""SELECT {COLUMNS} FROM entity_names k JOIN entities n ON n.id = k.entity_id
            WHERE k.key = ? AND (? IS NULL OR n.type = ?) AND {condition}
            ORDER BY n.key = k.key DESC, n.project IS NULL, n.id""",
        (key, type_, type_, *values),
    )
    return [from_row(row) for row in rows]


def keys_among(db: apsw.Connection, keys: Iterable[str], scope: Scope) -> dict[int, str]:
    """The live entities of a scope that one of these keys names, with the longest that does."""
    condition, values = in_scope(scope)
    rows = select(
        db,
        f"""SELECT k.entity_id, k.key FROM json_each(?) j CROSS JOIN entity_names k ON k.key = j.value
            JOIN entities n ON n.id = k.entity_id WHERE {condition} ORDER BY length(k.key)""",
        (json.dumps(list(keys)), *values),
    )
    return dict(rows)


def page(
    db: apsw.Connection, scope: Scope, *, type_: str | None, limit: int, offset: int, table: str = "entities"
) -> tuple[int, list[Entity]]:
    """How many live entities a scope has, and one page of them by name."""
    condition, values = in_scope(scope)
    where = f"n.status = 'active' AND (? IS NULL OR n.type = ?) AND {condition}"
    total = db.execute(f"SELECT count(*) FROM {table} n WHERE {where}", (type_, type_, *values)).get
    rows = db.execute(
        f"SELECT {COLUMNS} FROM {table} n WHERE {where} ORDER BY n.key, n.id LIMIT ? OFFSET ?",
        (type_, type_, *values, limit, offset),
    )
    return int(total), [from_row(row) for row in rows]


def in_scope(scope: Scope) -> tuple[str, tuple[Any, ...]]:
    """The condition on an entity `n` that a scope is."""
    if scope.everywhere:
        return "1", ()
    return "(n.project IS NULL OR n.project = ?)", (scope.project,)


def types(db: apsw.Connection, scope: Scope) -> dict[str, int]:
    """How many live entities of each type a scope has."""
    condition, values = in_scope(scope)
    return dict(
        select(
            db,
            f"""SELECT n.type, count(*) FROM entities n WHERE n.status = 'active' AND {condition}
                GROUP BY 1 ORDER BY 2 DESC, 1""",
            values,
        )
    )


def insert(
    unit: Unit,
    *,
    name: str,
    key: str,
    type_: str,
    project: str | None,
    aliases: Sequence[str] = (),
    summary: str | None = None,
    text_hash: bytes | None = None,
) -> int:
    """Write a new entity; gives its number."""
    row = {
        "uid": new_uid(clock.from_text(unit.at)),
        "origin_id": ORIGIN_HERE,
        "name": name,
        "key": key,
        "type": type_,
        "aliases": json.dumps(aliases, ensure_ascii=False),
        "project": project,
        "summary": summary,
        "text_hash": text_hash,
        "recorded_at": unit.at,
        "changed_at": unit.at,
        "event_id": unit.event_id,
    }
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    unit.db.execute(f"INSERT INTO entities ({names}) VALUES ({marks})", tuple(row.values()))
    entity_id = unit.db.last_insert_rowid()
    unit.changed_entity(entity_id)
    return entity_id


def change(unit: Unit, entity_id: int, values: Mapping[str, Any]) -> None:
    """Write new values into an entity's columns; the trigger keeps what they replace."""
    row = {**values, "changed_at": unit.at, "event_id": unit.changed_entity(entity_id)}
    sets, said = assigned(row)
    unit.db.execute(f"UPDATE entities SET {sets} WHERE id = ?", (*said, entity_id))


def lives_on(db: apsw.Connection, uid: str) -> tuple[str, str]:
    """The UUID of what an entity lives on in, itself if it was not merged, and when that was recorded."""
    seen: set[str] = set()
    recorded_at = ""
    while uid not in seen:
        seen.add(uid)
        row = db.execute(
            """SELECT n.recorded_at, i.uid FROM entities n
               LEFT JOIN entities i ON i.id = n.merged_into AND n.status = 'merged' WHERE n.uid = ?""",
            (uid,),
        ).fetchone()
        recorded_at = row[0] if row else recorded_at
        uid = row[1] if row and row[1] is not None else uid
    return uid, recorded_at


def live(db: apsw.Connection, entity_id: int) -> list[int]:
    """The numbers of the active memories about an entity."""
    rows = db.execute(
        "SELECT id FROM memories WHERE entity_id = ? AND status = 'active' ORDER BY id", (entity_id,)
    )
    return [row[0] for row in rows]


def observations(db: apsw.Connection, entity_id: int) -> list[int]:
    """The numbers of all memories about an entity, whatever their status."""
    rows = db.execute("SELECT id FROM memories WHERE entity_id = ? ORDER BY id", (entity_id,))
    return [row[0] for row in rows]
