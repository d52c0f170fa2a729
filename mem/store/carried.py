"""Rows in the shape of the export format: one at a time, in its order, with what they said before.

Nothing is held but the row at hand, whatever the size of the store. The format: `mem.records.format`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import apsw

from mem.records.format import (
    FIELDS,
    FOREIGN_KINDS,
    HOME_OPERATIONS,
    IDENTITY,
    UNKNOWN_FIELDS,
    USAGE_FIELDS,
    VERSION_FIELDS,
    RecordKind,
    canonical,
    sorted_keys,
)
from mem.store import selection as choosing
from mem.store.connect import select
from mem.store.embeddings import active_model
from mem.store.selection import Selection, chosen

TABLES: Mapping[RecordKind, str] = {
    RecordKind.EVENT: "events",
    RecordKind.ENTITY: "entities",
    RecordKind.SESSION: "sessions",
    RecordKind.SETTING: "settings",
    RecordKind.TOMBSTONE: "tombstones",
    RecordKind.MEMORY: "memories",
    RecordKind.RELATION: "relations",
}

# The columns that fields come from, where the names differ.
COLUMNS: Mapping[RecordKind, Mapping[str, str]] = {
    RecordKind.ENTITY: {},
    RecordKind.SESSION: {},
    RecordKind.SETTING: {},
    RecordKind.TOMBSTONE: {"entity": "entity_uid", "memory": "memory_uid"},
    RecordKind.MEMORY: {"entity": "entity_id", "session": "session_id"},
    RecordKind.RELATION: {"from": "from_id", "to": "to_id"},
}
SHARED_COLUMNS = {"origin": "origin_id", "event": "event_id"}

# What a store works out itself from what it is given.
DERIVED: Mapping[RecordKind, tuple[str, ...]] = {
    RecordKind.ENTITY: ("id", "key", "text_hash"),
    RecordKind.SESSION: ("id",),
    RecordKind.SETTING: (),
    RecordKind.TOMBSTONE: ("id",),
    RecordKind.MEMORY: ("id", "fingerprint", "text_hash"),
    RecordKind.RELATION: ("id",),
}

_HOME = ", ".join(f"'{name}'" for name in sorted(HOME_OPERATIONS))
_ORIGIN = "(SELECT o.uid FROM origins o WHERE o.id = m.origin_id)"
_EVENT = f"(SELECT e.uid FROM events e WHERE e.id = m.event_id AND e.operation NOT IN ({_HOME}))"
_EVENT_ORIGIN = f"""(SELECT o.uid FROM events e JOIN origins o ON o.id = e.origin_id
  WHERE e.id = m.event_id AND e.operation NOT IN ({_HOME}))"""
_EXPRESSIONS: Mapping[RecordKind, Mapping[str, str]] = {
    RecordKind.EVENT: {"previous": "lower(hex(m.previous))", "hash": "lower(hex(m.hash))"},
    RecordKind.ENTITY: {"merged_into": "(SELECT n.uid FROM entities n WHERE n.id = m.merged_into)"},
    RecordKind.SESSION: {},
    RecordKind.SETTING: {},
    RecordKind.TOMBSTONE: {
        "entity": "m.entity_uid",
        "memory": "m.memory_uid",
        "fingerprint": "lower(hex(m.fingerprint))",
    },
    RecordKind.MEMORY: {
        "entity": "(SELECT n.uid FROM entities n WHERE n.id = m.entity_id)",
        "session": "(SELECT s.uid FROM sessions s WHERE s.id = m.session_id)",
        "superseded_by": "(SELECT s.uid FROM memories s WHERE s.id = m.superseded_by)",
    },
    RecordKind.RELATION: {
        "from": "(SELECT n.uid FROM entities n WHERE n.id = m.from_id)",
        "to": "(SELECT n.uid FROM entities n WHERE n.id = m.to_id)",
    },
}
_JSON = frozenset(
    (
        *("aliases", "tasks", "tags", "compressed_from", "flags", "proposal", "extra"),
        *("subjects", "detail", "texts"),
    )
)
_ORDER = {
    RecordKind.SETTING: "m.key, m.project",
    RecordKind.TOMBSTONE: "m.entity_uid, m.fingerprint, m.project",
}
Row = dict[str, Any]


def records(db: apsw.Connection, selection: Selection) -> Iterator[Row]:
    """The records that a selection takes, in the order of the format, as `canonical` makes them."""
    if selection.narrows:
        choosing.choose(db, selection)
    yield from _events(db, selection)
    for kind in IDENTITY:
        yield from _rows(db, kind, selection)
    if selection.vectors:
        yield from _vectors(db, selection)
    if not selection.filters:
        yield from _foreign(db)


def one(db: apsw.Connection, kind: RecordKind, row_id: int) -> Row | None:
    """The record of one row of a kind that has versions, by its row id; None if there is none."""
    return next(_rows(db, kind, Selection(), row_id=row_id), None)


def _events(db: apsw.Connection, selection: Selection) -> Iterator[Row]:
    fields = FIELDS[RecordKind.EVENT]
    shaped = _shaper(RecordKind.EVENT, fields)
    known_at = selection.moment.known_at
    sql = f"""SELECT {_selected(RecordKind.EVENT, fields)} FROM events m
      WHERE m.origin_id = ?1 AND m.operation NOT IN ({_HOME}) {_condition("events", selection)}
        AND (?2 IS NULL OR m.at <= ?2)
      ORDER BY m.sequence"""
    for (origin,) in select(db, "SELECT id FROM origins ORDER BY uid"):
        for row in db.execute(sql, (origin, known_at)):
            yield {"record": RecordKind.EVENT.value, **shaped(row)}


def _rows(
    db: apsw.Connection, kind: RecordKind, selection: Selection, *, row_id: int | None = None
) -> Iterator[Row]:
    table, fields, name = TABLES[kind], FIELDS[kind], kind.value
    known_at = selection.moment.known_at
    of_row = "v.key = m.key AND v.project = m.project" if kind is RecordKind.SETTING else "v.id = m.id"
    used = "EXISTS (SELECT 1 FROM usage u WHERE u.memory_id = m.id)" if kind is RecordKind.MEMORY else "0"
    condition = _condition(table, selection) if row_id is None else "AND m.rowid = ?"
    found = db.execute(
        f"""SELECT m.rowid, EXISTS (SELECT 1 FROM {table}_versions v WHERE {of_row}), {used},
                   {_selected(kind, fields)}
            FROM {table} m WHERE 1 {condition} ORDER BY {_ORDER.get(kind, "m.uid")}""",
        () if row_id is None else (row_id,),
    )
    shaped, versions = _shaper(kind, fields), _versions_of(db, kind)
    for number, replaced, used, *row in found:
        record = {"record": name, **shaped(row)}
        if replaced:
            record["versions"] = versions(number)
        if known_at is not None:
            held = _as_of(kind, record, known_at)
            if held is not None:
                yield canonical(held)
            continue
        if used:
            record["usage"] = _usage(db, number)
        yield record


def _versions_of(db: apsw.Connection, kind: RecordKind) -> Callable[[int], list[Row]]:
    table, fields = TABLES[kind], VERSION_FIELDS[kind]
    of_row = "m.id = ?"
    if kind is RecordKind.SETTING:
        of_row = "(m.key, m.project) = (SELECT key, project FROM settings WHERE rowid = ?)"
    sql = f"""SELECT {_selected(kind, fields)} FROM {table}_versions m WHERE {of_row}
      ORDER BY m.changed_at, {_EVENT_ORIGIN}, {_EVENT}, m.version_id"""
    shaped = _shaper(kind, fields)
    return lambda number: [shaped(row) for row in db.execute(sql, (number,))]


def _as_of(kind: RecordKind, record: Row, known_at: str) -> Row | None:
    """A record as it was at a moment of record time; None if it was not there yet."""
    named = ("record", *IDENTITY[kind])
    present = {name: value for name, value in record.items() if name not in named and name != "versions"}
    images = [*record.get("versions", ()), present]
    held = [image for image in images if image["changed_at"] <= known_at]
    if not held:
        return None
    return {**{name: record[name] for name in named}, **held[-1], "versions": held[:-1]}


def _usage(db: apsw.Connection, memory_id: int) -> list[Row]:
    counted = db.execute(
        """SELECT o.uid, u.recalls, u.last_recalled_at, u.restated, u.extra
           FROM usage u JOIN origins o ON o.id = u.origin_id
           WHERE u.memory_id = ? AND (u.recalls OR u.restated OR u.last_recalled_at IS NOT NULL
                                      OR u.extra <> '{}')
           ORDER BY o.uid""",
        (memory_id,),
    )
    return [_shaped(USAGE_FIELDS, ("extra",), row) for row in counted]


def _vectors(db: apsw.Connection, selection: Selection) -> Iterator[Row]:
    import base64

    model = active_model(db)
    if model is None:
        return
    mean = None if model.mean is None else base64.b64encode(model.mean).decode()
    said = {"name": model.name, "dimensions": model.dimensions, "choice": model.choice, "mean": mean}
    calibration = None if model.calibration is None else _parsed(model.calibration)
    yield canonical({"record": RecordKind.MODEL.value, **said, "calibration": calibration})
    _choose_texts(db, selection)
    pieces = db.execute(
        """SELECT e.text_hash, e.vector FROM embeddings e
           WHERE e.model_id = ? AND EXISTS (SELECT 1 FROM temp.chosen_texts t WHERE t.text_hash = e.text_hash)
           ORDER BY e.text_hash, e.piece""",
        (model.id,),
    )
    for text_hash, rows in groupby(pieces, itemgetter(0)):
        vectors = [base64.b64encode(vector).decode() for _, vector in rows]
        said = {"model": model.name, "text_hash": text_hash.hex(), "pieces": vectors}
        yield {"record": RecordKind.VECTOR.value, **said}


def _choose_texts(db: apsw.Connection, selection: Selection) -> None:
    """The texts that the chosen rows say, and said before: only their vectors are of use."""
    db.execute("DROP TABLE IF EXISTS temp.chosen_texts")
    db.execute("CREATE TEMP TABLE chosen_texts (text_hash BLOB PRIMARY KEY) WITHOUT ROWID")
    for table in ("memories", "entities"):
        for images in (table, f"{table}_versions"):
            db.execute(
                f"""INSERT OR IGNORE INTO temp.chosen_texts SELECT m.text_hash FROM {images} m
                    WHERE m.text_hash IS NOT NULL AND (?1 IS NULL OR m.changed_at <= ?1)
                      {_condition(table, selection)}""",
                (selection.moment.known_at,),
            )


def _foreign(db: apsw.Connection) -> Iterator[Row]:
    """Rows of other programs; then, as the records that they are, those of a newer kind."""
    for newer in (False, True):
        rows = db.execute(
            f"""SELECT source, table_name, row FROM "foreign" WHERE source {"=" if newer else "<>"} ?
                ORDER BY source, table_name, digest""",
            (FOREIGN_KINDS,),
        )
        for source, table, row in rows:
            said = {"source": source, "table": table, "row": _parsed(row)}
            yield canonical({"record": RecordKind.FOREIGN.value, **said})


def _condition(table: str, selection: Selection) -> str:
    if not selection.narrows:
        return ""
    key = "m.rowid" if table == "settings" else "m.id"
    return f"AND EXISTS (SELECT 1 FROM {chosen(table)} c WHERE c.id = {key})"


def _selected(kind: RecordKind, fields: tuple[str, ...]) -> str:
    shared = {"origin": _ORIGIN, "event": _EVENT if kind is not RecordKind.EVENT else ""}
    own = _EXPRESSIONS[kind]
    return ", ".join(own.get(name) or shared.get(name) or f"m.{name}" for name in fields)


def _shaper(kind: RecordKind, fields: tuple[str, ...]) -> Callable[[Any], Row]:
    """What makes a row of these fields into the values of a canonical record."""
    return partial(_shaped, fields, tuple(name for name in fields if name in _JSON))


def _shaped(fields: tuple[str, ...], parsed: tuple[str, ...], row: Any) -> Row:
    said = {name: value for name, value in zip(fields, row, strict=True) if value is not None}
    for name in parsed:
        text = said.get(name)
        if text is not None:
            value = [] if text == "[]" else {} if text == "{}" else _parsed(text)
            said[name] = sorted_keys(value) if value and type(value) is dict else value
    extra = said.get("extra")
    if extra is None:
        return said
    newer = extra.pop(UNKNOWN_FIELDS, None)
    if not extra:
        del said["extra"]
    return said if newer is None else said | newer


def _parsed(text: str) -> Any:
    import orjson

    return orjson.loads(text)
