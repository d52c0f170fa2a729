"""Rows of relations between entities; the before-images come from the trigger."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from mem import clock
from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit, new_uid
from mem.store.settled import assigned
from mem.values import Moment, Relation

COLUMNS = """r.id, r.uid, r.from_id, r.to_id, r.type, r.weight, r.valid_from, r.valid_to, r.status,
  r.recorded_at, r.changed_at"""


def from_row(row: Sequence[Any]) -> Relation:
    """The value of a row that was selected by `COLUMNS`."""
    return Relation(*row)


def one(db: apsw.Connection, relation_id: int) -> Relation:
    """The relation with this number, which is known to exist."""
    return from_row(select(db, f"SELECT {COLUMNS} FROM relations r WHERE r.id = ?", (relation_id,))[0])


def between(db: apsw.Connection, from_id: int, to_id: int, type_: str) -> list[Relation]:
    """The relations of one type from one entity to another but for undone ones, the newest interval first."""
    rows = select(
        db,
        f"""SELECT {COLUMNS} FROM relations r
            WHERE r.from_id = ? AND r.to_id = ? AND r.type = ? AND r.status = 'active'
            ORDER BY r.valid_to IS NULL DESC, r.valid_to DESC, r.id DESC""",
        (from_id, to_id, type_),
    )
    return [from_row(row) for row in rows]


def of(
    db: apsw.Connection, entity_ids: Iterable[int], moment: Moment, *, now: str, table: str = "relations"
) -> list[Relation]:
    """The relations of these entities, either way, that hold at a moment; each once, oldest first."""
    at = moment.valid_at or moment.known_at or now
    rows = select(
        db,
        f"""WITH wanted (id) AS (SELECT value FROM json_each(?1))
            SELECT {COLUMNS} FROM {table} r
            WHERE (r.from_id IN (SELECT id FROM wanted) OR r.to_id IN (SELECT id FROM wanted))
              AND r.status = 'active'
              AND (r.valid_from IS NULL OR r.valid_from <= ?2) AND (r.valid_to IS NULL OR r.valid_to > ?2)
            ORDER BY r.recorded_at, r.id""",
        (json.dumps(list(entity_ids)), at),
    )
    return [from_row(row) for row in rows]


def all_of(db: apsw.Connection, entity_id: int) -> list[Relation]:
    """Every relation of an entity that was not undone, whenever it held."""
    rows = select(
        db,
        f"""SELECT {COLUMNS} FROM relations r WHERE (r.from_id = ?1 OR r.to_id = ?1) AND r.status = 'active'
            ORDER BY r.id""",
        (entity_id,),
    )
    return [from_row(row) for row in rows]


def insert(
    unit: Unit,
    from_id: int,
    to_id: int,
    type_: str,
    *,
    weight: float,
    valid_from: str | None,
    valid_to: str | None,
) -> int:
    """Write a new relation; gives its number."""
    unit.db.execute(
        """INSERT INTO relations (uid, origin_id, from_id, to_id, type, weight, valid_from, valid_to,
                                  recorded_at, changed_at, event_id)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)""",
        (
            new_uid(clock.from_text(unit.at)),
            ORIGIN_HERE,
            from_id,
            to_id,
            type_,
            weight,
            valid_from,
            valid_to,
            unit.at,
            unit.event_id,
        ),
    )
    return unit.db.last_insert_rowid()


def change(unit: Unit, relation_id: int, values: Mapping[str, Any]) -> None:
    """Write new values into a relation's columns; the trigger keeps what they replace."""
    row = {**values, "changed_at": unit.at, "event_id": unit.event_id}
    sets, said = assigned(row)
    unit.db.execute(f"UPDATE relations SET {sets} WHERE id = ?", (*said, relation_id))
