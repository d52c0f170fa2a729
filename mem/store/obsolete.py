"""Vectors that cannot be read as they are, and those of models that are searched no more."""

from typing import NamedTuple

import apsw

from mem.store.connect import select


class Unreadable(NamedTuple):
    """A stored vector that is no Float32 of its model's length: text, or damaged."""

    id: int
    model: int
    dimensions: int
    text_hash: bytes
    stored: bytes


def unreadable(db: apsw.Connection, *, after: int, most: int) -> list[Unreadable]:
    """Some such vectors with greater numbers than `after`; each that could be a JSON array is among them."""
    rows = select(
        db,
        """SELECT e.id, e.model_id, m.dimensions, e.text_hash, e.vector FROM embeddings e
           JOIN models m ON m.id = e.model_id
           WHERE e.id > ? AND (length(e.vector) <> 4 * m.dimensions
                               OR (substr(e.vector, 1, 1) = x'5B' AND substr(e.vector, -1) = x'5D'))
           ORDER BY e.id LIMIT ?""",
        (after, most),
    )
    return [Unreadable(*row) for row in rows]


def put_right(db: apsw.Connection, one: Unreadable, vector: bytes | None) -> bool:
    """Put a vector in its place, or with None take all of its text away; gives whether it was there."""
    if vector is not None:
        sql = "UPDATE embeddings SET vector = ? WHERE id = ? AND vector = ?"
        db.execute(sql, (vector, one.id, one.stored))
    else:
        # A text whose first pieces alone are there would count as embedded.
        db.execute(
            """DELETE FROM embeddings WHERE model_id = ?1 AND text_hash = ?2
               AND EXISTS (SELECT 1 FROM embeddings WHERE id = ?3 AND vector = ?4) AND NOT EXISTS (
                 SELECT 1 FROM indexed_pieces p JOIN embeddings e ON e.id = p.embedding_id
                 WHERE e.model_id = ?1 AND e.text_hash = ?2)""",
            (one.model, one.text_hash, one.id, one.stored),
        )
    return db.changes() > 0


def vectors_but(db: apsw.Connection, name: str) -> tuple[int, int]:
    """How many vectors of other models than this one there are, and their bytes."""
    count, size = select(
        db,
        """SELECT count(*), ifnull(sum(length(e.vector)), 0) FROM embeddings e
           JOIN models m ON m.id = e.model_id WHERE m.name <> ?""",
        (name,),
    )[0]
    return int(count), int(size)


def prune(db: apsw.Connection, *, most: int) -> tuple[int, int]:
    """Delete some vectors of models that are not searched, and models that have none left.

    Gives how many vectors went, and their bytes.
    """
    rows = select(
        db,
        """SELECT e.id, length(e.vector) FROM models m JOIN embeddings e ON e.model_id = m.id
           WHERE m.active = 0 LIMIT ?""",
        (most,),
    )
    db.executemany("DELETE FROM embeddings WHERE id = ?", [(number,) for number, _ in rows])
    if len(rows) < most:
        db.execute("DELETE FROM models WHERE active = 0")
    return len(rows), sum(size for _, size in rows)
