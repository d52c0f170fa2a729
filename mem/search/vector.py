"""The vector leg: the nearest sign bits in sqlite-vec, rescored exactly from the stored Float32 vectors.

A memory's score is that of its best piece. Small sets, retired rows and stores whose index cannot be read
are scored exactly over all their vectors, so nothing starves behind a filter.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from mem.embed.vectors import centre, from_blob, sign_bits
from mem.search import calibration, centroids, index
from mem.store import projects
from mem.store.connect import select
from mem.store.embeddings import Model
from mem.store.filters import Where
from mem.values import Filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POOL = 200
EXACT_BELOW = 2_000  # pieces
MOST_NEAREST = 4_096  # as many as sqlite-vec gives

_ADMITTED = """SELECT p.id FROM memories m JOIN indexed_pieces p ON p.owner_id = m.id
               WHERE p.owner = 'memory'"""


class Near(NamedTuple):
    """A memory by meaning, with two cosines to the question.

    `score` is taken around the mean of what is searched and ranks; `centred` around the model's mean, or read
    on that scale, so that it can be compared between stores and models; 0 where it cannot be.
    """

    number: int
    score: float
    centred: float


@dataclass(frozen=True, slots=True)
class VectorLeg:
    """Memories by meaning, best first, and how many pieces they are the best of.

    Without a `scale` nothing is known of the model's cosines yet: they rank, and tell no more.
    """

    hits: tuple[Near, ...] = ()
    searched: int = 0
    scale: bool = True


@dataclass(frozen=True, slots=True)
class Question:
    """An embedded query, unit length, shape (dimensions,), and the model that made it."""

    vector: "NDArray[np.float32]"
    model: Model

    @property
    def mean(self) -> "NDArray[np.float32] | None":
        return from_blob(self.model.mean, self.model.dimensions) if self.model.mean else None

    @property
    def scale(self) -> bool:
        """Whether thresholds can be applied to cosines to it."""
        return calibration.comparable(self.model)


def search(
    db: apsw.Connection,
    asked: Question,
    filter_: Filter,
    where: Where,
    *,
    has_vectors: bool,
    pool: int = POOL,
    exact_below: int = EXACT_BELOW,
) -> VectorLeg:
    """Rank the live memories that a filter admits by meaning; all are scored if they are few enough."""
    total, searched = centroids.gathered(db, asked.model, filter_.scope)
    around = centroids.mix(asked.mean, total, searched)
    usable = has_vectors and index.state(db) == index.CURRENT
    if not usable or _few(db, filter_, where, searched, exact_below):
        return VectorLeg(_scored(asked, around, _pieces(db, where), pool), searched, asked.scale)
    near = _nearest(db, asked, _prefilter(db, filter_), pool)
    hits = _scored(asked, around, _pieces_of(db, near, where), pool)
    wider = pool
    while len(near) == wider and len(hits) < pool // 2 and wider < MOST_NEAREST:
        # The filter threw most of the nearest away, or they are pieces of a few long memories: search again
        # with the whole filter inside, and for more.
        wider = min(4 * wider, MOST_NEAREST)
        near = _nearest(db, asked, _inside(where), wider)
        hits = _scored(asked, around, _pieces_of(db, near, where), pool)
    return VectorLeg(hits, searched, asked.scale)


def search_rows(
    db: apsw.Connection, asked: Question, where: Where, *, rows: str, pool: int = POOL
) -> VectorLeg:
    """Rank rows of any table with the columns of memories, live or not, exactly over their vectors.

    The mean is mixed from these rows alone, summed in their own order, so that the answer depends on nothing
    else: neither on other rows nor on which of these are versions by now.
    """
    import numpy as np

    found = select(
        db,
        f"""SELECT m.id, e.vector FROM {rows} m
            CROSS JOIN embeddings e ON e.text_hash = m.text_hash AND e.model_id = ? WHERE {where.sql}""",
        (asked.model.id, *where.values),
    )
    found.sort(key=lambda piece: int(piece[0]))
    vectors = np.frombuffer(b"".join(vector for _, vector in found), dtype="<f4")
    total = vectors.reshape(len(found), asked.model.dimensions).sum(axis=0, dtype=np.float64)
    around = centroids.mix(asked.mean, total, len(found))
    return VectorLeg(_scored(asked, around, found, pool), len(found), asked.scale)


def _few(db: apsw.Connection, filter_: Filter, where: Where, searched: int, limit: int) -> bool:
    """Whether so few pieces are admitted that all of them are scored; `searched` is the number in scope."""
    if searched < limit:
        return True
    if filter_ == Filter(filter_.scope, filter_.moment, filter_.statuses):
        return False
    sql = f"SELECT count(*) FROM ({_ADMITTED} AND {where.sql} LIMIT ?)"
    return int(db.execute(sql, (*where.values, limit)).get or 0) < limit


def _inside(where: Where) -> Where:
    """The whole filter as a condition on the pieces of the index."""
    return Where(f"rowid IN ({_ADMITTED} AND {where.sql})", where.values)


def _prefilter(db: apsw.Connection, filter_: Filter) -> Where:
    """Project and kind, which the index holds as metadata."""
    parts: list[str] = []
    values: list[Any] = []
    if not filter_.scope.everywhere:
        numbers = {0, projects.number_of(db, filter_.scope.project)}
        parts.append(f"project IN ({', '.join('?' * len(numbers))})")
        values += numbers
    if filter_.kinds:
        parts.append(f"kind IN ({', '.join('?' * len(filter_.kinds))})")
        values += [index.KIND_NUMBERS[kind] for kind in filter_.kinds]
    return Where(" AND ".join(parts), tuple(values))


def _nearest(db: apsw.Connection, asked: Question, inside: Where, pool: int) -> list[int]:
    bits = sign_bits(centre(asked.vector.reshape(1, -1), asked.mean))[0]
    condition = f" AND {inside.sql}" if inside.sql else ""
    rows = select(
        db,
        f"SELECT rowid FROM {index.table(db)} WHERE bits MATCH vec_bit(?) AND k = ?{condition}",
        (bits, pool, *inside.values),
    )
    return [row[0] for row in rows]


def _pieces(db: apsw.Connection, where: Where) -> list[tuple[int, bytes]]:
    """All pieces that a filter admits, as (memory, vector)."""
    sql = f"""SELECT m.id, e.vector FROM memories m JOIN indexed_pieces p ON p.owner_id = m.id
              JOIN embeddings e ON e.id = p.embedding_id WHERE p.owner = 'memory' AND {where.sql}"""
    return [(row[0], row[1]) for row in select(db, sql, where.values)]


def _pieces_of(db: apsw.Connection, near: list[int], where: Where) -> list[tuple[int, bytes]]:
    """Those of some pieces that a filter admits, as (memory, vector)."""
    # The cross joins look each row up by its number; left to itself SQLite reads the whole project.
    sql = f"""SELECT m.id, e.vector FROM json_each(?) j CROSS JOIN indexed_pieces p ON p.id = j.value
              CROSS JOIN memories m ON m.id = p.owner_id CROSS JOIN embeddings e ON e.id = p.embedding_id
              WHERE p.owner = 'memory' AND {where.sql}"""
    return [(row[0], row[1]) for row in select(db, sql, (json.dumps(near), *where.values))]


def _scored(
    asked: Question, around: "NDArray[np.float32] | None", pieces: Sequence[tuple[Any, ...]], pool: int
) -> tuple[Near, ...]:
    """The best piece of each memory, best memory first, the later one first among equals."""
    if not pieces:
        return ()
    import numpy as np

    matrix = np.frombuffer(b"".join(vector for _, vector in pieces), dtype="<f4").reshape(len(pieces), -1)
    scores = cosines(matrix, asked.vector, around)
    numbers = np.fromiter((piece[0] for piece in pieces), np.int64, len(pieces))
    best: dict[int, int] = {}
    for place in np.lexsort((-numbers, -scores)).tolist():
        best.setdefault(pieces[place][0], place)
        if len(best) == pool:
            break
    chosen = list(best.values())
    centred = cosines(matrix[chosen], asked.vector, calibration.zero(asked.model))
    read = calibration.common(asked.model, centred) if asked.scale else np.zeros_like(centred)
    return tuple(map(Near, best, scores[chosen].tolist(), read.tolist()))


def cosines(
    matrix: "NDArray[np.float32]", vector: "NDArray[np.float32]", mean: "NDArray[np.float32] | None"
) -> "NDArray[np.float32]":
    """Cosines of unit rows to a unit vector with a mean taken off both, without building the centred matrix.

    (v - m)·q / |v - m| with q = (vector - m) / |vector - m| and |v - m|² = 1 - 2 v·m + m·m; shape (rows,).
    """
    import numpy as np

    def along(direction: "NDArray[np.float32]") -> "NDArray[np.float32]":
        # Unlike a matrix product this gives equal rows equal numbers, wherever they stand.
        products: NDArray[np.float32] = np.einsum("ij,j->i", matrix, direction)
        return products

    if mean is None:
        return along(vector)
    query = centre(vector, mean)
    lengths = np.sqrt(np.maximum(1.0 - 2.0 * along(mean) + float(mean @ mean), 1e-12))
    centred: NDArray[np.float32] = (along(query) - float(mean @ query)) / lengths
    return centred
