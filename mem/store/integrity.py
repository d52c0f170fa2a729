"""Whether the file is whole and the audit log unbroken."""

import apsw

from mem.store.connect import select
from mem.store.events import FIRST_HASH, is_intact


def problems(db: apsw.Connection) -> list[str]:
    """What SQLite itself finds wrong with the file."""
    found = [str(row[0]) for row in db.execute("PRAGMA quick_check(10)") if row[0] != "ok"]
    found += [
        f"{row[0]} row {row[1]} refers to a missing {row[2]}"
        for row in db.execute("PRAGMA foreign_key_check")
    ]
    return found


def broken_link(db: apsw.Connection) -> int | None:
    """The first event whose hash fits neither its content nor its predecessor; None if the chain is whole."""
    expected: dict[int, bytes] = {}
    for event_id, origin, previous, stored in select(
        db, "SELECT id, origin_id, previous, hash FROM events ORDER BY origin_id, sequence"
    ):
        if previous != expected.get(origin, FIRST_HASH) or not is_intact(db, event_id, stored):
            return int(event_id)
        expected[origin] = stored
    return None
