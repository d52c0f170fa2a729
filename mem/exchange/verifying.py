"""A backup or an export held against the store, record by record, as an export of the store would have them.

Both sides are read in one pass each; of every record in the file only a digest is held.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from mem.errors import Usage
from mem.records.format import (
    KEYS,
    Header,
    RecordKind,
    Tally,
    encode,
    foreign_digest,
    kind_of,
    read_header,
)
from mem.results import Compared, Verified
from mem.store import carried, copies, migrations
from mem.store.connect import Store
from mem.store.selection import Selection
from mem.values import Kind, Moment, Notice

MOST_NAMED = 5
_MAGIC = b"SQLite format 3\0"

Key = tuple[str, ...]
Record = Mapping[str, Any]


@dataclass(slots=True)
class _File:
    """What a file says: its records, what of a store they are, and what is wrong with it, once it is read."""

    records: Iterator[Record]
    selection: Selection = field(default_factory=Selection)
    claimed: str | None = None
    notices: list[Notice] = field(default_factory=list)


def verify(store: Store, file: Path) -> Verified:
    """Compare a backup or an export with the store. Raises `MemError` for what is neither."""
    theirs, ours = Tally(), Tally()
    with _opened(store, file) as said:
        held = {(kind, key): digest for kind, key, digest in _told(said.records, theirs)}
        if said.claimed not in (None, theirs.digest):
            said.notices.append(
                Notice("digest_differs", "It is not as it was written: its digest does not fit its records.")
            )
    counted: dict[str, _Count] = {}
    with store.read() as db:
        for kind, key, digest in _told(carried.records(db, said.selection), ours):
            _count(counted, kind).meet(held.pop((kind, key), None), digest, key)
        for kind, key in held:
            _count(counted, kind).missing(key)
        kinds = tuple(count.told(db) for count in counted.values())
    same = theirs.digest == ours.digest and not said.notices
    return Verified(str(file), same, theirs.digest, ours.digest, kinds, tuple(said.notices))


@dataclass(slots=True)
class _Count:
    """How the records of one kind compare, as they go by."""

    kind: str
    same: int = 0
    only_in_file: int = 0
    only_in_store: int = 0
    different: int = 0
    examples: list[Key] = field(default_factory=list)

    def meet(self, theirs: bytes | None, ours: bytes, key: Key) -> None:
        """Count a record of the store, and what the file has under its key."""
        if theirs == ours:
            self.same += 1
            return
        if theirs is None:
            self.only_in_store += 1
        else:
            self.different += 1
        self._name(key)

    def missing(self, key: Key) -> None:
        """Count a record that only the file has."""
        self.only_in_file += 1
        self._name(key)

    def told(self, db: apsw.Connection) -> Compared:
        """The count as an answer; a memory that is in the store is named by its number."""
        named = tuple(_name(db, self.kind, key) for key in self.examples)
        return Compared(self.kind, self.same, self.only_in_file, self.only_in_store, self.different, named)

    def _name(self, key: Key) -> None:
        if len(self.examples) < MOST_NAMED:
            self.examples.append(key)


def _count(counted: dict[str, _Count], kind: str) -> _Count:
    return counted.setdefault(kind, _Count(kind))


def _name(db: apsw.Connection, kind: str, key: Key) -> str:
    match kind:
        case RecordKind.MEMORY:
            number = db.execute("SELECT id FROM memories WHERE uid = ?", key).get
            return key[0] if number is None else f"#{number}"
        case RecordKind.EVENT:
            sql = """SELECT e.id FROM events e JOIN origins o ON o.id = e.origin_id
                     WHERE o.uid = ? AND e.sequence = ?"""
            number = db.execute(sql, (key[0], int(key[1]))).get
            return f"{key[0]} {key[1]}" if number is None else f"event {number}"
        case RecordKind.SETTING:
            return key[0]  # not the project, which may be another than the caller's
        case _:
            return " ".join(part[:16] if kind == RecordKind.TOMBSTONE else part for part in key if part)


def _told(records: Iterator[Record], tally: Tally) -> Iterator[tuple[str, Key, bytes]]:
    """The kind of each record, what it is known by, and a digest of it."""
    for record in records:
        line = encode(record)
        tally.add(record["record"], line)
        digest = hashlib.sha256(line).digest()
        yield record["record"], _key(record, digest), digest[:16]


def _key(record: Record, digest: bytes) -> Key:
    kind = kind_of(record)
    if kind is None:
        return (digest.hex(),)
    last = (foreign_digest(record["row"]).hex(),) if kind is RecordKind.FOREIGN else ()
    return (*(str(record.get(name, "")) for name in KEYS[kind]), *last)


@contextmanager
def _opened(store: Store, file: Path) -> Iterator[_File]:
    if not file.is_file():
        raise Usage(f"{file} is no file.", hint="Name a backup or an export.")
    try:
        with file.open("rb") as stream:
            is_store = stream.read(len(_MAGIC)) == _MAGIC
    except OSError as err:
        raise Usage(f"{file} cannot be read: {err.strerror}.", hint="Name a backup or an export.") from err
    if not is_store:
        yield _export(file)
        return
    with copies.opened(file) as db:
        if migrations.schema_number(db) == migrations.CURRENT:
            yield _File(carried.records(db, Selection()))
            return
        with copies.unfinished(store.path.with_name(f"{store.path.name}.verifying")) as beside:
            copies.take_pages_of(db, beside)
            older = Store(beside)  # brings it to the present schema
            try:
                with older.read() as present:
                    yield _File(carried.records(present, Selection()))
            finally:
                older.close()


def _export(file: Path) -> _File:
    """An export, of lines or of one JSON document; raises `Usage` for any other file."""
    with file.open("rb") as stream:
        said = _object(stream.readline())
    if said is None or read_header(said) is None or "records" in said:
        said = _object(file.read_bytes())
    header = None if said is None else read_header(said)
    if said is None or header is None:
        raise Usage(f"{file} is neither a backup nor an export of mem.", hint="See: mem backup, mem export")
    found = _File(iter(()), _selection(file, header), header.digest or None)
    if "records" in said:
        found.records = _listed(said["records"], found.notices)
    else:
        found.records = _lines(file, found.notices)
    return found


def _object(text: bytes) -> dict[str, Any] | None:
    import orjson

    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return said if isinstance(said, dict) else None


def _lines(file: Path, notices: list[Notice]) -> Iterator[Record]:
    with file.open("rb") as stream:
        stream.readline()
        for number, line in enumerate(stream, start=2):
            record = _object(line)
            if record is None or not _is_record(record):
                notices.append(Notice("malformed", f"Line {number} is no record."))
            else:
                yield record


def _listed(records: object, notices: list[Notice]) -> Iterator[Record]:
    if not isinstance(records, list):
        notices.append(Notice("malformed", "Its records are no list."))
        return
    for number, record in enumerate(records, start=1):
        if isinstance(record, dict) and _is_record(record):
            yield record
        else:
            notices.append(Notice("malformed", f"Record {number} is no record."))


def _is_record(said: Record) -> bool:
    """Whether it has a kind, and what a record of that kind is known by can be taken from it."""
    if not isinstance(said.get("record"), str):
        return False
    return kind_of(said) is not RecordKind.FOREIGN or isinstance(said.get("row"), dict)


def _selection(file: Path, header: Header) -> Selection:
    """What of a store the header says that an export holds; raises `Usage` where it says nothing sensible."""
    filters, kinds = header.filters, header.filters.get("kind", ())
    texts = {name: filters.get(name) for name in ("project", "since", "until", "valid_at", "known_at")}
    wrong = [name for name, value in texts.items() if not isinstance(value, str | None)]
    if not isinstance(kinds, list | tuple) or not set(map(str, kinds)) <= set(Kind):
        wrong.append("kind")
    if wrong:
        raise Usage(
            f"{file} says of itself what no export does, by its filter {wrong[0]}: {filters[wrong[0]]!r}.",
            hint="It was edited; export it again.",
        )
    return Selection(
        project=texts["project"],
        kinds=tuple(map(Kind, kinds)),
        since=texts["since"],
        until=texts["until"],
        moment=Moment(texts["valid_at"], texts["known_at"]),
        vectors="model" in header.counts,
    )
