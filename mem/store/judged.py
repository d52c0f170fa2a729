"""What was judged in one state of a store, read there and written into another: rejections and erasures."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from mem.store import origins
from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit
from mem.store.tombstones import Grave

Row = Mapping[str, Any]
Rejected = Mapping[str, tuple[bytes, str | None]]  # by UUID: fingerprint and reason

# The operations that erase, and the one that does so again; what they erased is among their subjects.
_ERASING = ("forget", "entity-forget", "restore-backup")
_KEY = ("entity_uid", "fingerprint", "project")
_OF_THE_FILE = frozenset(("id", "origin_id", "event_id"))  # what means nothing in another file
_NUMBERED = ("events", "memories", "entities", "relations", "sessions", "tombstones")


@dataclass(frozen=True, slots=True)
class Judged:
    """What a state of a store says: its tombstones, the UUIDs erased in it, and what lives and is rejected.

    `live` are the fingerprints of active and proposed memories by UUID, `rejected` those of the rejected
    ones, with the reasons. `until` is its last record time, `numbered` how far each table has counted.
    """

    stones: Sequence[Row]
    erased: frozenset[str]
    live: Mapping[str, bytes]
    rejected: Rejected
    until: str
    numbered: Mapping[str, int]


def read(db: apsw.Connection) -> Judged:
    """All of that of one store."""
    stones = _stones(db)
    buried = [row["memory_uid"] for row in stones if row["kind"] == Grave.FORGOTTEN and row["memory_uid"]]
    return Judged(
        stones,
        _erased(db, buried),
        dict(select(db, "SELECT uid, fingerprint FROM memories WHERE status IN ('active', 'proposed')")),
        _rejected(db),
        until(db),
        dict(select(db, "SELECT name, seq FROM sqlite_sequence")),
    )


NOTHING = Judged((), frozenset(), {}, {}, "", {})


def until(db: apsw.Connection) -> str:
    """The last record time of what this store wrote or took in; '' where there is none."""
    own = db.execute("SELECT max(at) FROM events WHERE origin_id = ?", (ORIGIN_HERE,)).get
    seen = db.execute("SELECT value FROM store_info WHERE key = 'seen_until'").get
    return max(own or "", seen or "")


def newer(db: apsw.Connection, stones: Sequence[Row]) -> list[Row]:
    """Those tombstones of another state that this one does not have, or has as they were before."""
    known = {_key(row): row["changed_at"] for row in _stones(db)}
    return [row for row in stones if known.get(_key(row), "") < row["changed_at"]]


def take_over(unit: Unit, stones: Sequence[Row]) -> None:
    """Write tombstones of another state as they are there, with the event of this unit."""
    for row in stones:
        values = {name: value for name, value in row.items() if name != "origin"}
        values |= {"origin_id": _origin(unit.db, row["origin"]), "event_id": unit.event_id}
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        sets = ", ".join(f"{name} = excluded.{name}" for name in values if name not in _KEY)
        unit.db.execute(
            f"""INSERT INTO tombstones ({names}) VALUES ({marks})
                ON CONFLICT ({", ".join(_KEY)}) DO UPDATE SET {sets}""",
            tuple(values.values()),
        )


def number_on(db: apsw.Connection, numbered: Mapping[str, int]) -> None:
    """Give no number again that another state has given."""
    for table in _NUMBERED:
        last = numbered.get(table, 0)
        if db.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", (table,)).get is None:
            db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))
        else:
            db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, table))


def still_in(db: apsw.Connection, rejected: Rejected) -> dict[int, str | None]:
    """The memories that another state has rejected and this one has not, saying the same; with reasons."""
    rows = select(
        db,
        """SELECT uid, id, fingerprint FROM memories
           WHERE status <> 'rejected' AND uid IN (SELECT value FROM json_each(?)) ORDER BY id""",
        (json.dumps(list(rejected)),),
    )
    return {number: rejected[uid][1] for uid, number, said in rows if rejected[uid][0] == said}


def _rejected(db: apsw.Connection) -> Rejected:
    rows = select(db, "SELECT uid, fingerprint, status_reason FROM memories WHERE status = 'rejected'")
    return {uid: (fingerprint, reason) for uid, fingerprint, reason in rows}


def _stones(db: apsw.Connection) -> list[Row]:
    cursor = db.execute("SELECT t.*, o.uid AS origin FROM tombstones t JOIN origins o ON o.id = t.origin_id")
    found: list[Row] = []
    for values in cursor:
        names = (str(column[0]) for column in cursor.get_description())
        row = dict(zip(names, values, strict=True))
        found.append({name: value for name, value in row.items() if name not in _OF_THE_FILE})
    return found


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)


def _erased(db: apsw.Connection, buried: Sequence[str]) -> frozenset[str]:
    """The UUIDs that were erased in this store: subjects of such events that are not there any more."""
    rows = select(
        db,
        f"""SELECT e.id, s.value FROM events e, json_each(iif(json_valid(e.subjects), e.subjects, '[]')) s
            WHERE e.operation IN ({", ".join("?" * len(_ERASING))})""",
        _ERASING,
    )
    ours = {number for number in {row[0] for row in rows} if origins.wrote(db, number)}
    gone = {uid for number, uid in rows if number in ours} | set(buried)
    here = select(
        db,
        """SELECT w.value FROM json_each(?) w WHERE EXISTS (SELECT 1 FROM memories WHERE uid = w.value)
             OR EXISTS (SELECT 1 FROM entities WHERE uid = w.value)""",
        (json.dumps(sorted(gone)),),
    )
    return frozenset(gone - {uid for (uid,) in here})


def _origin(db: apsw.Connection, uid: str) -> int:
    db.execute("INSERT INTO origins (uid) VALUES (?) ON CONFLICT DO NOTHING", (uid,))
    return int(db.execute("SELECT id FROM origins WHERE uid = ?", (uid,)).get)
