"""Rows that come from elsewhere: found, read and placed with all their versions, in the shape of the export.

The trigger that keeps before-images knows nothing of a past that arrives late, so a row is placed whole: the
present, and every version anew, each replaced when the next one begins and by the event of that one. Where an
event stayed in its store, the event of this import stands in; a version that is here keeps its own.

What a version refers to and is not here is kept in `extra["_unresolved"]`, and linked when it arrives.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import apsw

from mem.records.format import (
    HOME_OPERATIONS,
    IDENTITY,
    VERSION_FIELDS,
    RecordKind,
    foreign_digest,
    gathered,
)
from mem.records.versions import UNRESOLVED, History, Said, history
from mem.store import carried, entities, projects
from mem.store.connect import select
from mem.store.events import Unit, canonical

# What a field refers to: its column, and the table of the row with that UUID.
LINKS: Mapping[RecordKind, Mapping[str, tuple[str, str]]] = {
    RecordKind.ENTITY: {"merged_into": ("merged_into", "entities")},
    RecordKind.MEMORY: {
        "entity": ("entity_id", "entities"),
        "session": ("session_id", "sessions"),
        "superseded_by": ("superseded_by", "memories"),
    },
    RecordKind.RELATION: {"from": ("from_id", "entities"), "to": ("to_id", "entities")},
}
_OWN_COLUMNS = {"entity": "entity_uid", "memory": "memory_uid"}  # of tombstones
_OTHERWISE = frozenset(("extra", "proposal", "event"))
_LISTS = {
    kind: [name for name in names if name in ("aliases", "tasks", "tags", "compressed_from", "flags")]
    for kind, names in VERSION_FIELDS.items()
}
_PLAIN = {
    kind: [
        (name, _OWN_COLUMNS.get(name, name))
        for name in names
        if name not in _OTHERWISE and name not in _LISTS[kind] and name not in LINKS.get(kind, {})
    ]
    for kind, names in VERSION_FIELDS.items()
}
_SEEN, _WAITING = "seen_until", "unresolved"
_HOME = json.dumps(sorted(HOME_OPERATIONS))
_KINDS = {table: kind for kind, table in carried.TABLES.items()}

Derive = Callable[[RecordKind, Said], Mapping[str, Any]]


@dataclass(slots=True)
class Arrivals:
    """Where rows arrive in one unit of work after another; `derive` gives the columns that a store works out.

    `waiting` are the rows that lack another one, by its UUID; `arrived` are UUIDs that came since `begin`.
    """

    derive: Derive
    unit: Unit = field(init=False)
    waiting: dict[str, set[tuple[RecordKind, int]]] = field(default_factory=dict)
    arrived: set[str] = field(default_factory=set)
    _is_loaded: bool = False
    _seen: str = ""
    _known: dict[tuple[str, str], int] = field(default_factory=dict)
    _origins: dict[str, int] = field(default_factory=dict)
    _projects: set[str] = field(default_factory=set)
    _event_origins: dict[str, str] = field(default_factory=dict)

    @property
    def db(self) -> apsw.Connection:
        """The connection of the unit of work."""
        return self.unit.db

    def begin(self, unit: Unit) -> None:
        """Go on in this unit of work; other writers may have been there since the last one."""
        self.unit = unit
        for cache in (self._known, self._origins, self._projects, self._event_origins, self.arrived):
            cache.clear()
        if not self._is_loaded:
            self._is_loaded = True
            self._load_waiting()

    def find(self, kind: RecordKind, identity: Said) -> int | None:
        """The number of the row that a record is about."""
        return find(self.db, kind, identity)

    def read(self, kind: RecordKind, row_id: int) -> History:
        """A row with its versions."""
        record = carried.one(self.db, kind, row_id)
        if record is None:
            raise AssertionError(f"row {row_id} of {kind} was there a moment ago")
        return history(kind, gathered(record), self)

    def get(self, event: str, default: str = "", /) -> str:
        """The origin of an event; '' for one that is not here. (What `history` asks of its mapping.)"""
        if not event:
            return default
        known = self._event_origins.get(event)
        if known is None:
            known = origin_of_event(self.db, event)
            if known:
                self._event_origins[event] = known
        return known or default

    def number(self, table: str, uid: str) -> int | None:
        """The number of the row with a UUID."""
        known = self._known.get((table, uid))
        if known is None:
            known = self.db.execute(f"SELECT id FROM {table} WHERE uid = ?", (uid,)).get
            if known is not None:
                self._known[table, uid] = known
        return known

    def forget_numbers(self) -> None:
        """Some rows are gone: look their numbers up anew."""
        self._known.clear()

    def origin(self, uid: str) -> int:
        """The number of a store that something came from."""
        known = self._origins.get(uid)
        if known is None:
            self.db.execute("INSERT INTO origins (uid) VALUES (?) ON CONFLICT DO NOTHING", (uid,))
            known = int(self.db.execute("SELECT id FROM origins WHERE uid = ?", (uid,)).get)
            self._origins[uid] = known
        return known

    def place(self, row: History, row_id: int | None, *, parked: str | None = None) -> int:
        """Write a row and all its versions; gives its number. `parked` is a status in place of its own."""
        table = carried.TABLES[row.kind]
        home = {} if row_id is None else self._home_events(row, row_id)
        missing: set[str] = set()
        said = [version.said for version in row.versions]
        if row.settled is not None:
            said.append(row.settled)
        images = [self._image(row.kind, one, home, missing) for one in said]
        if parked is not None:
            images[-1]["status"] = parked
        named = self._named(row)
        is_new = row_id is None
        if row_id is None:
            row_id = self._insert(table, {**named, **images[-1]})
        else:
            self._update(table, row_id, {**named, **images[-1]})
            key = "(key, project) = (SELECT key, project FROM settings WHERE rowid = ?)"
            found = key if row.kind is RecordKind.SETTING else "id = ?"
            self.db.execute(f"DELETE FROM {table}_versions WHERE {found}", (row_id,))
        if len(images) > 1:
            numbered = named if row.kind is RecordKind.SETTING else {"id": row_id, **named}
            self._insert_versions(table, numbered, images)
        if row.uid:
            self.arrived.add(row.uid)
        for uid in missing:
            self.waiting.setdefault(uid, set()).add((row.kind, row_id))
        self._seen = max(self._seen, images[-1]["changed_at"])
        self._note(row, row_id, is_new=is_new)
        return row_id

    def park(self, kind: RecordKind, row_id: int, status: str) -> None:
        """Take a row out of what is unique among live ones, until it is placed; no version comes of it."""
        self.db.execute(f"UPDATE {carried.TABLES[kind]} SET status = ? WHERE id = ?", (status, row_id))

    def see(self, instant: str) -> None:
        """Note a record time; what this store writes from now on is later."""
        self._seen = max(self._seen, instant)

    def add_event(self, record: Said, texts: Mapping[str, Any]) -> None:
        """Write an event of another store as it is there; `texts` are those that may be kept of it."""
        self.db.execute(
            """INSERT INTO events (uid, origin_id, sequence, at, operation, actor, client, session,
                                   subjects, detail, texts, previous, hash, extra)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                record["uid"],
                self.origin(record["origin"]),
                record["sequence"],
                record["at"],
                record["operation"],
                record["actor"],
                record.get("client"),
                record.get("session"),
                *(canonical(record.get(name, empty)) for name, empty in (("subjects", []), ("detail", {}))),
                canonical(texts),
                bytes.fromhex(record["previous"]),
                bytes.fromhex(record["hash"]),
                _text(record.get("extra")),
            ),
        )
        self.arrived.add(record["uid"])
        self.see(record["at"])

    def rewrite_texts(self, event_uid: str, texts: Mapping[str, Any]) -> None:
        """Write the free texts of an event, some of which are erased."""
        self.db.execute("UPDATE events SET texts = ? WHERE uid = ?", (canonical(texts), event_uid))

    def count(self, memory_id: int, counted: Iterable[Said]) -> None:
        """Write the usage of a memory, per store that counted; numbers only grow."""
        self.db.executemany(
            """INSERT INTO usage (memory_id, origin_id, recalls, last_recalled_at, restated, extra)
               VALUES (?, ?, ?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET recalls = excluded.recalls, restated = excluded.restated,
                 last_recalled_at = excluded.last_recalled_at, extra = excluded.extra""",
            [
                (
                    memory_id,
                    self.origin(entry["origin"]),
                    entry.get("recalls", 0),
                    entry.get("last_recalled_at"),
                    entry.get("restated", 0),
                    _text(entry.get("extra")),
                )
                for entry in counted
            ],
        )

    def keep_foreign(self, record: Said) -> bool:
        """Keep a row of another program as it is; whether it is new."""
        self.db.execute(
            """INSERT INTO "foreign" (source, table_name, row, digest) VALUES (?, ?, ?, ?)
               ON CONFLICT DO NOTHING""",
            (record["source"], record["table"], _text(record["row"]), foreign_digest(record["row"])),
        )
        return self.db.changes() > 0

    def linked(self) -> list[tuple[RecordKind, int]]:
        """The rows that waited for what has arrived since `begin`."""
        found = [row for uid in self.arrived & self.waiting.keys() for row in self.waiting.pop(uid)]
        return list(dict.fromkeys(found))

    def finish(self) -> None:
        """Write down the last record time that was seen, and whether rows still wait for others."""
        if self._seen:
            remember(self.db, _SEEN, self._seen)
        if self.waiting:
            remember(self.db, _WAITING, "1")
        else:
            self.db.execute("DELETE FROM store_info WHERE key = ?", (_WAITING,))

    def _load_waiting(self) -> None:
        if self.db.execute("SELECT 1 FROM store_info WHERE key = ?", (_WAITING,)).get is None:
            return
        for table, kind in _KINDS.items():
            key = "m.id"
            if kind is RecordKind.SETTING:
                key = "(SELECT s.rowid FROM settings s WHERE s.key = m.key AND s.project = m.project)"
            if kind is RecordKind.EVENT:
                continue
            for images in (table, f"{table}_versions"):
                rows = select(
                    self.db,
                    f"""SELECT {key}, u.value FROM {images} m, json_each(m.extra, '$.{UNRESOLVED}') u
                        WHERE instr(m.extra, '"{UNRESOLVED}"')""",
                )
                for row_id, uid in rows:
                    self.waiting.setdefault(uid, set()).add((kind, row_id))

    def _image(
        self, kind: RecordKind, said: Said, home: Mapping[str, int], missing: set[str]
    ) -> dict[str, Any]:
        """What a version says, as the values of its columns."""
        image: dict[str, Any] = {column: said.get(name) for name, column in _PLAIN[kind]}
        for name in _LISTS[kind]:
            image[name] = _text(value) if (value := said.get(name)) else "[]"
        unresolved: dict[str, str] = {}
        for name, (column, table) in LINKS.get(kind, {}).items():
            value = said.get(name)
            image[column] = None if value is None else self.number(table, value)
            if value is not None and image[column] is None:
                unresolved[name] = value
        event = said.get("event")
        number = None if event is None else self.number("events", event)
        if event is not None and number is None:
            unresolved["event"] = event
        image["event_id"] = number or home.get(said["changed_at"]) or self.unit.event_id
        extra = said.get("extra")
        if unresolved:
            extra = {**(extra or {}), UNRESOLVED: unresolved}
            missing.update(unresolved.values())
        image["extra"] = _text(extra)
        if kind is RecordKind.MEMORY:
            plan = said.get("proposal")
            image["proposal"] = None if plan is None else _text(plan)
        if (project := said.get("project")) and project not in self._projects:
            projects.bind(self.unit, project)
            self._projects.add(project)
        image.update(self.derive(kind, said))
        return image

    def _named(self, row: History) -> dict[str, Any]:
        named: dict[str, Any] = {
            _OWN_COLUMNS.get(name, name): row.identity.get(name) or "" for name in IDENTITY[row.kind]
        }
        named["origin_id"] = self.origin(named.pop("origin"))
        if row.kind is RecordKind.TOMBSTONE:
            named["fingerprint"] = bytes.fromhex(named["fingerprint"])
        return named

    def _home_events(self, row: History, row_id: int) -> dict[str, int]:
        """The events that stand in for those that stayed at home, by the instants of the versions."""
        table = carried.TABLES[row.kind]
        found = "id = ?1"
        if row.kind is RecordKind.SETTING:
            found = "(key, project) = (SELECT key, project FROM settings WHERE rowid = ?1)"
        rows = select(
            self.db,
            f"""SELECT i.changed_at, i.event_id FROM (
                  SELECT changed_at, event_id FROM {table}_versions WHERE {found}
                  UNION ALL SELECT changed_at, event_id FROM {table} WHERE rowid = ?1) i
                JOIN events e ON e.id = i.event_id
                WHERE e.operation IN (SELECT value FROM json_each(?2))""",
            (row_id, _HOME),
        )
        return dict(rows)

    def _insert(self, table: str, image: Mapping[str, Any]) -> int:
        self.db.execute(_insertion(table, tuple(image)), tuple(image.values()))
        return self.db.last_insert_rowid()

    def _update(self, table: str, row_id: int, image: Mapping[str, Any]) -> None:
        sets = ", ".join(f"{name} = ?" for name in image)
        self.db.execute(f"UPDATE {table} SET {sets} WHERE rowid = ?", (*image.values(), row_id))

    def _insert_versions(self, table: str, named: Mapping[str, Any], images: list[dict[str, Any]]) -> None:
        """Each version ends where the next begins, and is replaced by the event of that one."""
        rows = [
            {**named, **image, "replaced_at": after["changed_at"], "replaced_by": after["event_id"]}
            for image, after in pairwise(images)
        ]
        self.db.executemany(
            _insertion(f"{table}_versions", tuple(rows[0])), [tuple(row.values()) for row in rows]
        )

    def _note(self, row: History, row_id: int, *, is_new: bool) -> None:
        """What is found by the words of a row is found anew."""
        match row.kind:
            case RecordKind.MEMORY:
                self.unit.memory_ids[row_id] = None
            case RecordKind.ENTITY:
                self.unit.entity_ids[row_id] = None
                if not is_new:
                    self.unit.to_index |= dict.fromkeys(entities.live(self.db, row_id))
            case RecordKind.RELATION:
                ends = (self.number("entities", row.present[end]) for end in ("from", "to"))
                self.unit.entity_ids |= {end: None for end in ends if end is not None}


def find(db: apsw.Connection, kind: RecordKind, identity: Mapping[str, Any]) -> int | None:
    """The number of the row that a record is about."""
    match kind:
        case RecordKind.SETTING:
            found = "SELECT rowid FROM settings WHERE key = ? AND project = ?"
            values: tuple[Any, ...] = (identity["key"], identity.get("project") or "")
        case RecordKind.TOMBSTONE:
            found = "SELECT id FROM tombstones WHERE entity_uid = ? AND fingerprint = ? AND project = ?"
            values = (
                identity.get("entity") or "",
                bytes.fromhex(identity["fingerprint"]),
                identity.get("project") or "",
            )
        case _:
            found = f"SELECT id FROM {carried.TABLES[kind]} WHERE uid = ?"
            values = (identity["uid"],)
    number: int | None = db.execute(found, values).get
    return number


def origin_of_event(db: apsw.Connection, uid: str) -> str | None:
    """The UUID of the store that wrote an event; None where the event is not here."""
    found: str | None = db.execute(
        "SELECT o.uid FROM events e JOIN origins o ON o.id = e.origin_id WHERE e.uid = ?", (uid,)
    ).get
    return found


def remember(db: apsw.Connection, key: str, value: str) -> None:
    """Write down a fact about the store; of two instants the later stays."""
    db.execute(
        """INSERT INTO store_info (key, value) VALUES (?1, ?2)
           ON CONFLICT DO UPDATE SET value = max(value, ?2)""",
        (key, value),
    )


@lru_cache(maxsize=64)
def _insertion(table: str, names: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value else "{}"
