"""The index that a migration prepares beside the one that is searched, and how it takes its place.

It is filled in short transactions while the store is read and written as ever; what changes meanwhile is
found by comparing it with the rows, so nobody else has to know of it. The switch renames its table of pieces
and drops the old index: for 100,000 memories a hundredth of what building it takes.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

import apsw

from mem.embed.vectors import centre, from_blob, sign_bits, stacked
from mem.search import centroids, index
from mem.search.index import KIND_NUMBERS, PROJECT_NUMBER
from mem.store import embeddings
from mem.store.connect import select
from mem.store.embeddings import Model
from mem.values import Kind


class Piece(NamedTuple):
    """A piece of a live memory as the index should have it."""

    owner: int
    embedding: int
    project: int


def begin(db: apsw.Connection, model: Model, *, has_vectors: bool) -> None:
    """Make room for the index of a model, unless what is prepared is just that."""
    if is_prepared(db, model, has_vectors=has_vectors):
        return
    index.discard_next(db, has_vectors=has_vectors)
    # An index keeps its name when its table is renamed, so these take turns.
    taken = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'indexed_pieces_owner'").get
    end = "_2" if taken else ""
    db.execute(
        f"""CREATE TABLE next_pieces (
              id           INTEGER PRIMARY KEY,
              owner        TEXT NOT NULL CHECK (owner IN ('memory', 'entity')),
              owner_id     INTEGER NOT NULL,
              embedding_id INTEGER NOT NULL REFERENCES embeddings (id),
              project      INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX indexed_pieces_owner{end} ON next_pieces (owner, owner_id);
            CREATE INDEX indexed_pieces_embedding{end} ON next_pieces (embedding_id);
            CREATE TABLE next_centroids (
              project INTEGER PRIMARY KEY, pieces INTEGER NOT NULL, total BLOB NOT NULL) STRICT"""
    )
    if has_vectors:
        db.execute(f"DROP TABLE IF EXISTS {index.other_table(db)}")
        index.create(db, index.other_table(db), model)
    db.execute(
        "INSERT INTO store_info (key, value) VALUES ('next_index', ?)",
        (_label(model, has_vectors=has_vectors),),
    )


def is_prepared(db: apsw.Connection, model: Model, *, has_vectors: bool) -> bool:
    """Whether what is prepared belongs to the model, and was not taken away in between."""
    found = db.execute("SELECT value FROM store_info WHERE key = 'next_index'").get
    return bool(found == _label(model, has_vectors=has_vectors))


def _label(model: Model, *, has_vectors: bool) -> str:
    return f"{model.id} {index.FORM} {int(has_vectors)}"


def lacking(db: apsw.Connection, model: Model, among: Sequence[int] | None = None) -> list[Piece]:
    """The pieces that are still to be added, of all memories or some."""
    rows = select(db, f"{_due(among)} EXCEPT {_held(among)} ORDER BY 1", _values(model, among))
    return [Piece(*row) for row in rows]


def beyond(db: apsw.Connection, model: Model, among: Sequence[int] | None = None) -> list[int]:
    """The numbers of prepared pieces that are due no longer, of all memories or some."""
    rows = select(
        db,
        f"""SELECT n.id FROM ({_held(among)} EXCEPT {_due(among)}) o JOIN next_pieces n
            ON n.owner = 'memory' AND n.owner_id = o.owner_id AND n.embedding_id = o.embedding_id""",
        _values(model, among),
    )
    return [row[0] for row in rows]


def _due(among: Sequence[int] | None) -> str:
    listed = "" if among is None else "AND m.id IN (SELECT value FROM json_each(?2))"
    return f"""SELECT m.id, e.id, {PROJECT_NUMBER} FROM memories m JOIN embeddings e
               ON e.text_hash = m.text_hash AND e.model_id = ?1 WHERE m.status = 'active' {listed}"""


def _held(among: Sequence[int] | None) -> str:
    listed = "" if among is None else "AND owner_id IN (SELECT value FROM json_each(?2))"
    return f"SELECT owner_id, embedding_id, project FROM next_pieces WHERE owner = 'memory' {listed}"


def _values(model: Model, among: Sequence[int] | None) -> tuple[object, ...]:
    return (model.id,) if among is None else (model.id, json.dumps(among))


def add(db: apsw.Connection, model: Model, pieces: Sequence[Piece], *, has_vectors: bool) -> None:
    """Add pieces that `lacking` named; those whose memory or vector has gone since are left out."""
    sql = """SELECT m.kind, e.vector FROM memories m, embeddings e WHERE m.id = ? AND e.id = ?"""
    found = [
        (piece, rows[0]) for piece in pieces if (rows := select(db, sql, (piece.owner, piece.embedding)))
    ]
    if not found:
        return
    blobs = [vector for _, (_, vector) in found]
    mean = from_blob(model.mean, model.dimensions) if model.mean else None
    bits = sign_bits(centre(stacked(blobs, model.dimensions), mean)) if has_vectors else []
    for place, (piece, (kind, _)) in enumerate(found):
        db.execute(
            "INSERT INTO next_pieces (owner, owner_id, embedding_id, project) VALUES ('memory', ?, ?, ?)",
            piece,
        )
        if has_vectors:
            db.execute(
                f"""INSERT INTO {index.other_table(db)} (rowid, bits, project, kind)
                    VALUES (?, vec_bit(?), ?, ?)""",
                (db.last_insert_rowid(), bits[place], piece.project, KIND_NUMBERS[Kind(kind)]),
            )
    for project in {piece.project for piece, _ in found}:
        own = [vector for piece, (_, vector) in found if piece.project == project]
        centroids.add(db, project, own, table="next_centroids")


def remove(db: apsw.Connection, numbers: Sequence[int], *, has_vectors: bool) -> None:
    """Take pieces out again that are due no longer."""
    sql = """SELECT p.project, e.vector FROM next_pieces p JOIN embeddings e ON e.id = p.embedding_id
             WHERE p.id = ?"""
    for number in numbers:
        for project, vector in select(db, sql, (number,)):
            centroids.remove(db, project, [vector], table="next_centroids")
        db.execute("DELETE FROM next_pieces WHERE id = ?", (number,))
        if has_vectors:
            db.execute(f"DELETE FROM {index.other_table(db)} WHERE rowid = ?", (number,))


def take_over(db: apsw.Connection, model: Model, *, has_vectors: bool) -> None:
    """Let the model be the one that is searched, with what was prepared as its index."""
    db.execute("DROP TABLE indexed_pieces; ALTER TABLE next_pieces RENAME TO indexed_pieces")
    db.execute("DELETE FROM centroids")
    db.execute("INSERT INTO centroids SELECT project, pieces, total FROM next_centroids WHERE pieces <> 0")
    db.execute("DROP TABLE next_centroids; DELETE FROM store_info WHERE key = 'next_index'")
    if has_vectors:
        old, new = index.table(db), index.other_table(db)
        db.execute(f"DROP TABLE IF EXISTS {old}")
        db.execute(
            """INSERT INTO store_info (key, value) VALUES ('vector_table', ?1)
               ON CONFLICT DO UPDATE SET value = ?1""",
            (new,),
        )
    index.mark(db, index.CURRENT if has_vectors else index.STALE)
    embeddings.activate(db, model, form=index.FORM)
