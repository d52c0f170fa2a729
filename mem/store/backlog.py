"""The texts that have no vector of a model, of all that can be searched: their order, and what they say.

Live rows come first, the most important and newest of them at the head; then what waits for review, and what
only reads as of an earlier moment score.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apsw

from mem.store.connect import select
from mem.store.embeddings import Model
from mem.values import Status

MEMORIES, ENTITIES, VERSIONS = "memories", "entities", "memories_versions"

_KEYS = {MEMORIES: "id", ENTITIES: "id", VERSIONS: "version_id"}
_COLUMNS = {
    MEMORIES: "id, text_hash, status, importance, recorded_at",
    ENTITIES: "id, text_hash, status, 0, recorded_at",
    VERSIONS: "version_id, text_hash, '', 0, ''",
}
_SAID = {
    MEMORIES: "title, content, rationale, alternatives",
    ENTITIES: "name, type, aliases, summary",
    VERSIONS: "title, content, rationale, alternatives",
}
# Which rows are embedded before which others; versions are the last.
_TURNS = {(MEMORIES, "active"): 0, (ENTITIES, "active"): 1, (MEMORIES, "proposed"): 2}
_RETIRED = {MEMORIES: 3, ENTITIES: 4, VERSIONS: 5}


class Row(NamedTuple):
    """A row that has a text: its table, and its key there."""

    table: str
    key: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """The texts that lack vectors, each with the first row that has it, in the order of their turn.

    `rows` have one of these texts; `there` are the rows that have their vectors.
    """

    texts: dict[bytes, Row]
    rows: int
    there: int


class Parts(NamedTuple):
    """What a row says: the columns that make its text."""

    row: Row
    text_hash: bytes
    columns: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Touched:
    """The memories and entities that have changed since an event, by number."""

    memories: tuple[int, ...]
    entities: tuple[int, ...]

    @property
    def anything(self) -> bool:
        return bool(self.memories or self.entities)


def backlog(db: apsw.Connection, model: Model | None, among: Touched | None = None) -> Backlog:
    """What lacks vectors of a model, or of any where there is none yet; or only what of some rows does."""
    # Read in the order of the index once, which is quicker than a look-up for each row.
    sql = "SELECT text_hash FROM embeddings WHERE model_id = ? AND piece = 0"
    known = None if among else {row[0] for row in db.execute(sql, (model.id if model else 0,))}
    lacking: list[tuple[int, int, str, int, Row, bytes]] = []
    there = 0
    for table in (MEMORIES, ENTITIES) if among else (MEMORIES, ENTITIES, VERSIONS):
        for key, text_hash, status, importance, recorded_at in _texts(db, table, among):
            if _has(db, model, text_hash) if known is None else text_hash in known:
                there += 1
                continue
            turn = _TURNS.get((table, status), _RETIRED[table])
            lacking.append((-turn, importance, recorded_at, key, Row(table, key), text_hash))
    lacking.sort(reverse=True)
    texts: dict[bytes, Row] = {}
    for *_, row, text_hash in lacking:
        texts.setdefault(text_hash, row)
    return Backlog(texts, len(lacking), there)


def lacks_live(db: apsw.Connection, model: Model, but: Collection[bytes], among: Touched) -> bool:
    """Whether a live one of some rows lacks vectors of a model; texts in `but` may."""
    return any(
        status == Status.ACTIVE and text_hash not in but and not _has(db, model, text_hash)
        for table in (MEMORIES, ENTITIES)
        for _, text_hash, status, *_ in _texts(db, table, among)
    )


def last_event(db: apsw.Connection) -> int:
    """The number of the newest event: whoever changes a row that has a text leaves a newer one."""
    return int(db.execute("SELECT ifnull(max(id), 0) FROM events").get)


def touched(db: apsw.Connection, since: int) -> Touched:
    """What has changed after an event."""
    if last_event(db) == since:
        return Touched((), ())
    memories, entities = (
        tuple(row[0] for row in select(db, f"SELECT id FROM {table} WHERE event_id > ?", (since,)))
        for table in (MEMORIES, ENTITIES)
    )
    return Touched(memories, entities)


def parts(db: apsw.Connection, wanted: Sequence[Row]) -> list[Parts]:
    """What some rows say, in their order; of those that have changed, what they say now."""
    found: dict[Row, Parts] = {}
    for table, columns in _SAID.items():
        keys = json.dumps([row.key for row in wanted if row.table == table])
        sql = f"""SELECT {_KEYS[table]}, text_hash, {columns} FROM {table}
                  WHERE {_KEYS[table]} IN (SELECT value FROM json_each(?))"""
        for key, text_hash, *values in select(db, sql, (keys,)):
            found[Row(table, key)] = Parts(Row(table, key), text_hash, tuple(values))
    return [found[row] for row in wanted if row in found]


def save(db: apsw.Connection, model: Model, row: Row, text_hash: bytes, pieces: Sequence[bytes]) -> bool:
    """Keep the vectors of a text if its row still has it; gives whether it does."""
    sql = f"SELECT 1 FROM {row.table} WHERE {_KEYS[row.table]} = ? AND text_hash = ?"
    if not db.execute(sql, (row.key, text_hash)).get:
        return False
    db.executemany(
        "INSERT OR IGNORE INTO embeddings (model_id, text_hash, piece, vector) VALUES (?, ?, ?, ?)",
        [(model.id, text_hash, number, vector) for number, vector in enumerate(pieces)],
    )
    return True


def numbers(db: apsw.Connection, rows: Iterable[Row]) -> dict[Row, int | None]:
    """The number by which people know each row, a version by that of its memory."""
    return {row: _number(db, row) for row in rows}


def _texts(
    db: apsw.Connection, table: str, among: Touched | None
) -> Iterable[tuple[int, bytes, str, int, str]]:
    if among is None:
        return db.execute(f"SELECT {_COLUMNS[table]} FROM {table} WHERE text_hash IS NOT NULL")
    keys = json.dumps(among.memories if table == MEMORIES else among.entities)
    return select(
        db,
        f"""SELECT {_COLUMNS[table]} FROM {table}
            WHERE text_hash IS NOT NULL AND id IN (SELECT value FROM json_each(?))""",
        (keys,),
    )


def _has(db: apsw.Connection, model: Model | None, text_hash: bytes) -> bool:
    sql = "SELECT 1 FROM embeddings WHERE model_id = ? AND text_hash = ? AND piece = 0"
    return bool(db.execute(sql, (model.id if model else 0, text_hash)).get)


def _number(db: apsw.Connection, row: Row) -> int | None:
    if row.table != VERSIONS:
        return row.key
    found: int | None = db.execute("SELECT id FROM memories_versions WHERE version_id = ?", (row.key,)).get
    return found
