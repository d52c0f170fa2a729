"""Whether the file is whole and the audit log unbroken.

What is found of the log: any change of a column of an event, an event that was taken out, put in or swapped
with another, a tail that was cut off, and a row or version whose event is not there. What cannot be found
here: whoever writes events anew and recomputes every later hash, with the rows that refer to them, leaves a
chain that fits, and so does an older copy of the whole file. Only a backup, or a note of the newest event's
hash, which `mem doctor --audit` prints, shows that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import apsw

from mem.store import origins
from mem.store.connect import select
from mem.store.events import COVERED, FIRST_HASH, ORIGIN_HERE, misfit
from mem.store.migrations import VERSIONED


@dataclass(frozen=True, slots=True)
class Broken:
    """The number of an event that does not fit, or that is missing, and what is wrong with it.

    `changed` says that the event itself is not as it was written.
    """

    event: int
    why: str
    changed: bool = False


def problems(db: apsw.Connection, *, thorough: bool = False) -> list[str]:
    """What SQLite itself finds wrong with the file; a `thorough` look compares indexes with rows too."""
    # Its check looks at the segments of FTS5 that this connection remembers; once others have merged those,
    # that is reported as corruption. Any read makes it look anew.
    for words in ("memories_fts", "entities_fts"):
        db.execute(f"SELECT rowid FROM {words} LIMIT 1").fetchall()
    look = "integrity_check" if thorough else "quick_check"
    found = [str(row[0]) for row in db.execute(f"PRAGMA {look}(10)") if row[0] != "ok"]
    found += [
        f"{row[0]} row {row[1]} refers to a missing {row[2]}"
        for row in db.execute("PRAGMA foreign_key_check")
    ]
    return found


def broken_link(db: apsw.Connection) -> int | None:
    """The first event whose hash fits neither its content nor its predecessor; None if the chain is whole."""
    return next((broken.event for broken in _broken_links(db)), None)


def first_broken(db: apsw.Connection) -> Broken | None:
    """The first event that does not fit, or is missing though something refers to it; None if all is whole.

    One that was changed itself comes before those that only lost the event before them.
    """
    links = list(_broken_links(db))
    changed = (broken for broken in links if broken.changed)
    return next(chain(changed, links, _out_of_order(db), _missing(db), _cut_off(db)), None)


def newest(db: apsw.Connection) -> str:
    """The newest event of this store with its hash, for a note by which a later change can be found."""
    row = db.execute(
        "SELECT id, hash FROM events WHERE origin_id = ? ORDER BY sequence DESC LIMIT 1", (ORIGIN_HERE,)
    ).fetchone()
    return f"the newest is event {row[0]}, {row[1].hex()}" if row else "there is none yet"


def _broken_links(db: apsw.Connection) -> Iterator[Broken]:
    """The events of each chain that are not as they were written, or do not follow the one before them.

    Of other stores not every event is here: where the one before is not, there is nothing to compare.
    """
    before: dict[int, tuple[int, int, bytes]] = {}
    whole = _written_here(db)
    for event_id, origin, stored, *covered in db.execute(
        f"""SELECT e.id, e.origin_id, e.hash, {COVERED} FROM events e
            LEFT JOIN origins o ON o.id = e.origin_id ORDER BY e.origin_id, e.sequence"""
    ):
        last_id, last_sequence, last_hash = before.get(origin, (0, 0, FIRST_HASH))
        sequence, previous = covered[1], covered[-1]
        before[origin] = event_id, sequence, stored
        if why := misfit(covered, stored):
            yield Broken(event_id, why, changed=True)
        elif sequence != last_sequence + 1 and event_id > whole.get(origin, 0):
            continue  # what another store wrote for its own upkeep stays there
        elif sequence != last_sequence + 1:
            yield Broken(event_id, f"{_gap(last_sequence + 1, sequence - 1)} before it")
        elif previous != last_hash:
            follows = f"does not follow event {last_id}" if last_id else "is not the first"
            yield Broken(event_id, f"it {follows}, though its place in the chain says so")


def _written_here(db: apsw.Connection) -> dict[int, int]:
    """By origin, the last event that this store wrote under it: nothing can be missing up to there."""
    former = origins.written_before(db)
    return former | {ORIGIN_HERE: int(db.execute("SELECT ifnull(max(id), 0) FROM events").get)}


def _gap(first: int, last: int) -> str:
    missing = f"{first}" if first == last else f"{first} to {last}"
    return f"what was number {missing} of the chain is missing"


def _out_of_order(db: apsw.Connection) -> Iterator[Broken]:
    """Events whose own number, which no hash covers, is not in the order of the chain."""
    rows = select(db, "SELECT id, sequence FROM events WHERE origin_id = ? ORDER BY sequence", (ORIGIN_HERE,))
    for place in range(1, len(rows)):
        (before, _), (here, _) = rows[place - 1], rows[place]
        if here < before:
            # Which of the two is out of place: the one without which the others are in order.
            odd = place - 1 if place == 1 or rows[place - 2][0] < here else place
            yield Broken(rows[odd][0], f"it was not number {rows[odd][1]} of the chain when it was written")


def _missing(db: apsw.Connection) -> Iterator[Broken]:
    """Events that a row, or a version of one, names as its own and that are not there; the lowest first."""
    found: list[Broken] = []
    last = db.execute("SELECT ifnull(max(id), 0) FROM events").get
    for table in VERSIONED:
        for source, column, did in (
            (table, "event_id", "wrote"),
            (f"{table}_versions", "event_id", "wrote"),
            (f"{table}_versions", "replaced_by", "replaced"),
        ):
            name = "t.key" if table == "settings" else "t.id"
            rows = select(
                db,
                f"""SELECT t.{column}, {name} FROM {source} t LEFT JOIN events e ON e.id = t.{column}
                    WHERE e.id IS NULL ORDER BY t.{column} LIMIT 1""",
            )
            ends = f"; the log ends at event {last}"
            found += [
                Broken(
                    event, f"it is missing, though it {did} {name} in {table}{ends if event > last else ''}"
                )
                for event, name in rows
            ]
    yield from sorted(found, key=lambda broken: broken.event)


def _cut_off(db: apsw.Connection) -> Iterator[Broken]:
    """The first event after the newest one, if more were numbered once."""
    numbered, last = select(
        db,
        """SELECT ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0),
                  (SELECT ifnull(max(id), 0) FROM events)""",
    )[0]
    if numbered > last:
        yield Broken(
            last + 1, f"it is missing: the log ends at event {last}, though {numbered} were numbered"
        )
