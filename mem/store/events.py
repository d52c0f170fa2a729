"""The unit of work and the audit log: one operation, one transaction, one event, hash-chained.

The hash of an event covers the previous hash and everything in the row but the free texts; these enter as
salted SHA-256 digests. So `forget` can blank a text and its salt, and the chain still holds.
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from operator import ne
from typing import Any

import apsw

from mem import clock
from mem.store.connect import Store, select
from mem.values import Actor

ORIGIN_HERE = 1
FIRST_HASH = bytes(32)


@dataclass(slots=True)
class Unit:
    """One write: its connection, its instant, and the event that explains it.

    The event exists from the first change on (`event_id`); a unit that changed nothing leaves none.
    """

    db: apsw.Connection
    operation: str
    actor: Actor
    at: str
    texts: dict[str, str] = field(default_factory=dict)
    detail: dict[str, Any] = field(default_factory=dict)
    memory_ids: dict[int, None] = field(default_factory=dict)
    erased_uids: list[str] = field(default_factory=list)
    entity_ids: dict[int, None] = field(default_factory=dict)
    to_index: dict[int, None] = field(default_factory=dict)  # memories that are found anew, though unchanged
    _event_id: int | None = None

    @property
    def event_id(self) -> int:
        """The event's number; the row is made when the first change asks for it."""
        if self._event_id is None:
            self._event_id = _begin_event(self)
        return self._event_id

    def changed(self, memory_id: int) -> int:
        """Note that a memory changes in this unit; gives the event's number for its row."""
        self.memory_ids[memory_id] = None
        return self.event_id

    def changed_entity(self, entity_id: int) -> int:
        """Note that an entity changes in this unit; gives the event's number for its row."""
        self.entity_ids[entity_id] = None
        return self.event_id

    @contextmanager
    def part(self) -> Iterator[None]:
        """What can fail alone: an error undoes this part of the unit, and goes on to the caller."""
        kept = dict(self.memory_ids), dict(self.entity_ids), dict(self.to_index), self._event_id
        self.db.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            self.memory_ids, self.entity_ids, self.to_index, self._event_id = kept
            # A full disk has rolled everything back already.
            if self.db.in_transaction:
                self.db.execute("ROLLBACK TO part")
                self.db.execute("RELEASE part")
            raise
        self.db.execute("RELEASE part")

    @property
    def has_event(self) -> bool:
        """Whether anything has changed."""
        return self._event_id is not None

    def next_part(self, db: apsw.Connection, at: str) -> "Unit":
        """The next transaction of the same operation: its changes are of the same event, which is sealed."""
        return Unit(db, self.operation, self.actor, at, detail=self.detail, _event_id=self._event_id)

    def keep_derived(self) -> None:
        """Make real what a merge derived, where this unit has built on it."""
        if self._event_id is not None and self.operation != "import":
            from mem.store.settled import keep_what_rests_on  # it changes rows, which needs a unit

            keep_what_rests_on(self, self._event_id)

    def finish(self) -> None:
        """Seal the event, if there is one, into the chain of this store."""
        if self._event_id is not None:
            _seal_event(self, self._event_id)


@contextmanager
def unit_of_work(
    store: Store, operation: str, actor: Actor, *, reason: str | None = None, wait_ms: int | None = None
) -> Iterator[Unit]:
    """One transaction with the event of one operation; all of it is committed, or nothing.

    `wait_ms` is how long to wait for the lock, if not as long as the store does.
    """
    with store.write(wait_ms=wait_ms) as db:
        unit = Unit(db, operation, actor, next_instant(db))
        if reason:
            unit.texts["reason"] = reason
        yield unit
        unit.keep_derived()
        unit.finish()


def next_instant(db: apsw.Connection) -> str:
    """The record time of a write: now, but never at or before the last event, or what was taken in."""
    last = db.execute(
        """SELECT max(at) FROM (
             SELECT at FROM (SELECT at FROM events WHERE origin_id = ? ORDER BY sequence DESC LIMIT 1)
             UNION ALL SELECT value FROM store_info WHERE key = 'seen_until')""",
        (ORIGIN_HERE,),
    ).get
    instant: datetime = clock.now()
    if last is not None:
        instant = max(instant, clock.from_text(last) + clock.MICROSECOND)
    return clock.to_text(instant)


def new_uid(at: datetime | None = None) -> str:
    """A UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then random bits."""
    milliseconds = int((at or clock.now()).timestamp() * 1000)
    number = (milliseconds << 80) | int.from_bytes(os.urandom(10), "big")
    number = number & ~(0xF << 76) | (0x7 << 76)
    number = number & ~(0x3 << 62) | (0x2 << 62)
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _begin_event(unit: Unit) -> int:
    unit.db.execute(
        """INSERT INTO events
             (uid, origin_id, sequence, at, operation, actor, client, session, previous, hash)
           SELECT ?1, ?2, ifnull(max(sequence), 0) + 1, ?3, ?4, ?5, ?6, ?7, ?8, ?8
           FROM events WHERE origin_id = ?2""",
        (
            new_uid(),
            ORIGIN_HERE,
            unit.at,
            unit.operation,
            unit.actor.kind.value,
            unit.actor.client,
            unit.actor.session,
            FIRST_HASH,
        ),
    )
    return unit.db.last_insert_rowid()


def _seal_event(unit: Unit, event_id: int) -> None:
    db = unit.db
    uids = [*_uids(db, "memories", unit.memory_ids), *_uids(db, "entities", unit.entity_ids)]
    texts = {name: salted(text) for name, text in sorted(unit.texts.items())}
    previous = db.execute(
        """SELECT hash FROM events WHERE origin_id = ?
           AND sequence = (SELECT sequence FROM events WHERE id = ?) - 1""",
        (ORIGIN_HERE, event_id),
    ).get
    db.execute(
        "UPDATE events SET subjects = ?, detail = ?, texts = ?, previous = ? WHERE id = ?",
        (
            canonical([*uids, *unit.erased_uids]),
            canonical(unit.detail),
            canonical(texts),
            previous or FIRST_HASH,
            event_id,
        ),
    )
    db.execute("UPDATE events SET hash = ? WHERE id = ?", (event_hash(db, event_id), event_id))


def _uids(db: apsw.Connection, table: str, ids: Collection[int]) -> list[str]:
    placed = ",".join("?" * len(ids))
    return [
        row[0]
        for row in select(db, f"SELECT uid FROM {table} WHERE id IN ({placed}) ORDER BY id", tuple(ids))
    ]


def salted(text: str) -> dict[str, str]:
    """A free text with the salt and the digest under which it enters the chain."""
    salt = os.urandom(16)
    return {"text": text, "salt": salt.hex(), "digest": _digest(salt, text)}


def blank(db: apsw.Connection, memory_uids: Iterable[str]) -> tuple[set[str], set[str]]:
    """Erase the free texts, and their salts, of every event that concerns one of some memories.

    The digests stay, so the chain stays whole. Gives the texts that were erased, and the UUIDs of all
    memories that the events concern.
    """
    rows = select(
        db,
        """SELECT e.id, e.subjects, e.texts FROM events e WHERE e.texts <> '{}' AND EXISTS (
             SELECT 1 FROM json_each(e.subjects) s JOIN json_each(?) f ON f.value = s.value)""",
        (json.dumps(list(memory_uids)),),
    )
    erased: set[str] = set()
    concerned: set[str] = set()
    for event_id, subjects, texts in rows:
        entries = json.loads(texts)
        erased.update(entry["text"] for entry in entries.values())
        concerned.update(json.loads(subjects))
        blanked = {name: {**entry, "text": "", "salt": ""} for name, entry in entries.items()}
        db.execute("UPDATE events SET texts = ? WHERE id = ?", (canonical(blanked), event_id))
    return erased - {""}, concerned


def _digest(salt: bytes, text: str) -> str:
    import hashlib

    return hashlib.sha256(salt + text.encode()).hexdigest()


# What the hash of an event `e` of the origin `o` covers, in this order.
COVERED = """o.uid, e.sequence, e.uid, e.at, e.operation, e.actor, e.client, e.session,
  e.subjects, e.detail, e.texts, e.previous"""


def misfit(covered: Sequence[Any], stored: bytes) -> str:
    """What of an event is not as its hash and the digests of its texts were made from; '' if all is.

    `covered` are its `COVERED` columns. A blanked text has lost its salt too; only its digest is left to be
    compared.
    """
    columns = covered[-4:-1]
    try:
        subjects, detail, texts = map(json.loads, columns)
        if any(map(ne, map(canonical, (subjects, detail, texts)), columns)):
            return "its subjects, detail or texts are not written as they were"
        changed = [name for name, entry in texts.items() if not _fits(entry)]
        if changed:
            return f"its {changed[0]} is not the one that was given"
        return "" if stored == hash_of(covered) else "what it says does not fit its hash"
    except (ValueError, TypeError, KeyError, AttributeError):
        return "its subjects, detail or texts cannot be read"


def _fits(entry: dict[str, str]) -> bool:
    if not entry["salt"]:
        return not entry["text"]
    salt = bytes.fromhex(entry["salt"])
    return salt.hex() == entry["salt"] and entry["digest"] == _digest(salt, entry["text"])


def event_hash(db: apsw.Connection, event_id: int) -> bytes:
    """The hash that a stored event should have."""
    sql = f"SELECT {COVERED} FROM events e JOIN origins o ON o.id = e.origin_id WHERE e.id = ?"
    return hash_of(select(db, sql, (event_id,))[0])


def hash_of(covered: Sequence[Any]) -> bytes:
    """SHA-256 over the previous hash and the canonical JSON of an event, given its `COVERED` columns."""
    *plain, subjects, detail, texts, previous = covered
    digests = {name: entry["digest"] for name, entry in json.loads(texts).items()}
    said = canonical([*plain, json.loads(subjects), json.loads(detail), digests])
    import hashlib  # not above: a hook that only reads pays for every import

    return hashlib.sha256(previous + said.encode()).digest()


def canonical(value: Any) -> str:
    """The one JSON text of a value, as an event keeps its subjects, detail and texts, and as it is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
