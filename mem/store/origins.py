"""Which store wrote what: a store that goes on from a copy writes under a new origin from then on.

The chain of events is one per origin, and exports of one origin are merged by its numbers. A copy that went
on writing under the old one would give numbers again that the other has given, to other events.
"""

import apsw

from mem.store.connect import select
from mem.store.events import ORIGIN_HERE

_FORMER = "former_origin:"  # and the number of the origin; the value is the last event that it wrote here
_SEEN = "seen_until"


def here(db: apsw.Connection) -> str:
    """The UUID of the origin under which this store writes."""
    return str(db.execute("SELECT uid FROM origins WHERE id = ?", (ORIGIN_HERE,)).get)


def lineage(db: apsw.Connection) -> frozenset[str]:
    """The UUIDs of the origin under which this store writes, and of those under which it wrote before."""
    rows = select(
        db,
        f"""SELECT uid FROM origins WHERE id = ?
            UNION SELECT o.uid FROM origins o JOIN store_info i ON i.key = '{_FORMER}' || o.id""",
        (ORIGIN_HERE,),
    )
    return frozenset(uid for (uid,) in rows)


def renew(db: apsw.Connection) -> None:
    """Let the store write under a new origin from now on; what it has written keeps the old one.

    Its record times go on from the last event of the old one.
    """
    import uuid

    old = here(db)
    db.execute("UPDATE origins SET uid = ? WHERE id = ?", (str(uuid.uuid4()), ORIGIN_HERE))
    db.execute("INSERT INTO origins (uid) VALUES (?)", (old,))
    former = db.last_insert_rowid()
    last, at = select(
        db, "SELECT ifnull(max(id), 0), max(at) FROM events WHERE origin_id = ?", (ORIGIN_HERE,)
    )[0]
    for (table,) in _tables(db):
        db.execute(f'UPDATE "{table}" SET origin_id = ? WHERE origin_id = ?', (former, ORIGIN_HERE))
    db.execute("INSERT INTO store_info (key, value) VALUES (?, ?)", (f"{_FORMER}{former}", str(last)))
    if at is not None:
        db.execute(
            """INSERT INTO store_info (key, value) VALUES (?1, ?2)
               ON CONFLICT DO UPDATE SET value = max(value, ?2)""",
            (_SEEN, at),
        )


def wrote(db: apsw.Connection, event_id: int) -> bool:
    """Whether this store wrote the event itself, under whichever origin."""
    return bool(
        db.execute(
            f"""SELECT origin_id = ? OR EXISTS (
                  SELECT 1 FROM store_info i WHERE i.key = '{_FORMER}' || e.origin_id
                    AND e.id <= CAST(i.value AS INTEGER))
                FROM events e WHERE id = ?""",
            (ORIGIN_HERE, event_id),
        ).get
    )


def written_before(db: apsw.Connection) -> dict[int, int]:
    """The numbers of the origins under which this store wrote before, each with its last event."""
    rows = select(
        db,
        f"""SELECT o.id, CAST(i.value AS INTEGER) FROM origins o
            JOIN store_info i ON i.key = '{_FORMER}' || o.id""",
    )
    return {int(number): int(last) for number, last in rows}


def _tables(db: apsw.Connection) -> list[tuple[str]]:
    """The tables whose rows name the origin that wrote them."""
    return select(
        db,
        """SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c ON c.name = 'origin_id'
           WHERE t.type = 'table'""",
    )
