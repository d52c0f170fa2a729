"""What one event did to the rows of every table that keeps versions: before it, as it left them, and now.

Nothing here knows an operation: what changes such a table can be looked at, and taken back, in one way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from mem.store import entities, memories
from mem.store.connect import select
from mem.store.events import Unit
from mem.store.migrations import VERSIONED
from mem.store.settled import assigned
from mem.values import Memory

# Who wrote a row and when says nothing of what it says.
_BOOKKEEPING = frozenset(("changed_at", "event_id"))
_OF_VERSIONS = frozenset(("version_id", "replaced_at", "replaced_by"))

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Image:
    """A row that an event wrote: before it (None: the event made the row), as it left it, and at present."""

    table: str
    before: Row | None
    after: Row
    now: Row

    @property
    def key(self) -> tuple[Any, ...]:
        """What the row is found by."""
        return tuple(self.now[name] for name in _key(self.now))

    @property
    def has_changed(self) -> bool:
        """Whether the row says something else than the event left it saying."""
        return bool(self.differing(self.after))

    def differing(self, wanted: Row) -> dict[str, Any]:
        """The values of `wanted` that the row does not have at present."""
        return {
            name: value
            for name, value in wanted.items()
            if name not in _BOOKKEEPING and value != self.now[name]
        }


def of_event(db: apsw.Connection, event_id: int) -> list[Image]:
    """Every row that an event wrote, if it still exists; the tables in the order of `VERSIONED`."""
    return [image for table in VERSIONED for image in _of_table(db, table, event_id)]


def memories_before(db: apsw.Connection, event_id: int) -> list[Memory]:
    """The memories that an event changed, as they were before it."""
    rows = select(
        db,
        f"SELECT {memories.COLUMNS} FROM memories_versions m WHERE m.replaced_by = ? ORDER BY m.id",
        (event_id,),
    )
    return list(map(memories.from_row, rows))


def write(unit: Unit, image: Image, values: Row) -> None:
    """Write new values into a row, as a new version of it."""
    if image.table == "memories":
        memories.change(unit, image.now["id"], values)
        return
    row = {**values, "changed_at": unit.at, "event_id": unit.event_id}
    _note(unit, image)
    sets, said = assigned(row)
    found = " AND ".join(f"{name} = ?" for name in _key(image.now))
    unit.db.execute(f"UPDATE {image.table} SET {sets} WHERE {found}", (*said, *image.key))


def _note(unit: Unit, image: Image) -> None:
    """Entities are found by what their rows say, and so are their observations; relations by both ends."""
    match image.table:
        case "entities":
            unit.changed_entity(image.now["id"])
            unit.to_index |= dict.fromkeys(entities.live(unit.db, image.now["id"]))
        case "relations":
            unit.changed_entity(image.now["from_id"])
            unit.changed_entity(image.now["to_id"])


def writers(db: apsw.Connection, image: Image, *, after: int) -> list[int]:
    """The events after one that wrote a row, oldest first."""
    found = " AND ".join(f"{name} = ?" for name in _key(image.now))
    rows = select(
        db,
        f"""SELECT event_id FROM {image.table}_versions WHERE {found}
            UNION SELECT event_id FROM {image.table} WHERE {found} ORDER BY 1""",
        (*image.key, *image.key),
    )
    return [event_id for (event_id,) in rows if event_id > after]


def replaced_by(db: apsw.Connection, memory_id: int) -> dict[int, int]:
    """The memories that one replaces, each with the event that said so first."""
    rows = select(
        db,
        """SELECT m.id, (SELECT min(event_id) FROM (
                    SELECT v.event_id FROM memories_versions v WHERE v.id = m.id AND v.superseded_by = ?1
                    UNION ALL SELECT m.event_id))
           FROM memories m WHERE m.superseded_by = ?1 ORDER BY m.id""",
        (memory_id,),
    )
    return {int(old): int(event_id) for old, event_id in rows}


def in_a_circle(db: apsw.Connection, memory_id: int) -> bool:
    """Whether the successors of a memory lead back to it."""
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


def exists(db: apsw.Connection, memory_id: int) -> bool:
    """Whether a memory of that number is still there."""
    return db.execute("SELECT 1 FROM memories WHERE id = ?", (memory_id,)).get is not None


def _of_table(db: apsw.Connection, table: str, event_id: int) -> Iterator[Image]:
    before = _rows(db, f"SELECT * FROM {table}_versions WHERE replaced_by = ?", event_id)
    left = _rows(db, f"SELECT * FROM {table}_versions WHERE event_id = ?", event_id)
    now = _rows(db, f"SELECT * FROM {table} WHERE event_id = ?", event_id)
    for key, after in (left | now).items():
        present = now[key] if key in now else _present(db, table, after)
        if present is not None:
            yield Image(table, before.get(key), after, present)


def _present(db: apsw.Connection, table: str, row: Row) -> Row | None:
    names = _key(row)
    found = " AND ".join(f"{name} = ?" for name in names)
    cursor = db.execute(f"SELECT * FROM {table} WHERE {found}", tuple(row[name] for name in names))
    return next((_named(cursor, values) for values in cursor), None)


def _rows(db: apsw.Connection, sql: str, event_id: int) -> dict[tuple[Any, ...], Row]:
    cursor = db.execute(f"{sql} ORDER BY 1", (event_id,))
    found = (_named(cursor, values) for values in cursor)
    return {tuple(row[name] for name in _key(row)): row for row in found}


def _named(cursor: apsw.Cursor, values: Any) -> dict[str, Any]:
    names = (str(column[0]) for column in cursor.get_description())
    return {name: value for name, value in zip(names, values, strict=True) if name not in _OF_VERSIONS}


def _key(row: Row) -> tuple[str, ...]:
    return ("id",) if "id" in row else ("key", "project")
