"""Vectors by the hash of their text, and the models that made them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw

from mem.store.connect import select


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model as the store knows it; `mean` is its centre as little-endian Float32, or None.

    `choice` says how it is found again (`mem.embed.choice`), `calibration` what its cosines mean
    (`mem.search.calibration`); None: nothing was measured.
    """

    id: int
    name: str
    dimensions: int
    mean: bytes | None
    choice: str = "bundled"
    calibration: str | None = None


_COLUMNS = "id, name, dimensions, mean, choice, calibration"


def active_model(db: apsw.Connection) -> Model | None:
    """The model whose vectors are searched; None until the first vector is stored."""
    row = db.execute(f"SELECT {_COLUMNS} FROM models WHERE active = 1").fetchone()
    return Model(*row) if row else None


def models(db: apsw.Connection) -> list[Model]:
    """Every model that has vectors here, in the order of their first use."""
    return [Model(*row) for row in db.execute(f"SELECT {_COLUMNS} FROM models ORDER BY id")]


def adopt_model(
    db: apsw.Connection, name: str, dimensions: int, mean: bytes | None, *, at: str, choice: str = "bundled"
) -> Model | None:
    """The model of that name, entered on first use; None if the store searches another model's vectors."""
    active = active_model(db)
    if active is not None:
        return active if active.name == name and active.dimensions == dimensions else None
    db.execute(
        "INSERT INTO models (name, dimensions, mean, choice, active, created_at) VALUES (?, ?, ?, ?, 1, ?)",
        (name, dimensions, mean, choice, at),
    )
    return active_model(db)


def entered(
    db: apsw.Connection, name: str, dimensions: int, mean: bytes | None, *, at: str, choice: str
) -> Model:
    """The model of that name, entered beside the one that is searched if it is new."""
    db.execute(
        """INSERT OR IGNORE INTO models (name, dimensions, mean, choice, active, created_at)
           VALUES (?, ?, ?, ?, 0, ?)""",
        (name, dimensions, mean, choice, at),
    )
    return Model(*select(db, f"SELECT {_COLUMNS} FROM models WHERE name = ?", (name,))[0])


def named(db: apsw.Connection, name: str) -> Model | None:
    """The model of that name, if the store knows it."""
    row = db.execute(f"SELECT {_COLUMNS} FROM models WHERE name = ?", (name,)).fetchone()
    return Model(*row) if row else None


def activate(db: apsw.Connection, model: Model, *, form: int) -> None:
    """Search the vectors of this model from now on; `form` is that of the index made of them."""
    db.execute("UPDATE models SET active = 0 WHERE active = 1")
    db.execute("UPDATE models SET active = 1, index_form = ? WHERE id = ?", (form, model.id))


def index_form(db: apsw.Connection, model: Model) -> int:
    """The form of the derived index that was made of a model's vectors."""
    return int(db.execute("SELECT index_form FROM models WHERE id = ?", (model.id,)).get)


def save(db: apsw.Connection, model: Model, text_hash: bytes, pieces: Sequence[bytes]) -> None:
    """Keep the vectors of a text's pieces, unless they are there already or no row has the text.

    A text that was refused, or known in another spelling, leaves nothing behind.
    """
    db.executemany(
        """INSERT OR IGNORE INTO embeddings (model_id, text_hash, piece, vector)
           SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM memories WHERE text_hash = ?2)
                                    OR EXISTS (SELECT 1 FROM entities WHERE text_hash = ?2)""",
        [(model.id, text_hash, number, vector) for number, vector in enumerate(pieces)],
    )


def keep(db: apsw.Connection, model: Model, text_hash: bytes, pieces: Sequence[bytes]) -> None:
    """Keep the vectors of a text that a row says, or said before, unless they are there already."""
    db.executemany(
        "INSERT OR IGNORE INTO embeddings (model_id, text_hash, piece, vector) VALUES (?, ?, ?, ?)",
        [(model.id, text_hash, number, vector) for number, vector in enumerate(pieces)],
    )


def known_hashes(db: apsw.Connection, model: Model, hashes: Iterable[bytes]) -> set[bytes]:
    """Which of these texts have vectors of the model."""
    sql = "SELECT 1 FROM embeddings WHERE model_id = ? AND text_hash = ? AND piece = 0"
    return {text_hash for text_hash in hashes if db.execute(sql, (model.id, text_hash)).get}


def lacking(db: apsw.Connection, *, among: int, limit: int) -> list[int]:
    """Some live memories without vectors of the active model, of the newest `among`."""
    model = active_model(db)
    rows = select(
        db,
        """SELECT m.id FROM (SELECT id, status, text_hash FROM memories ORDER BY id DESC LIMIT ?2) m
           WHERE m.status = 'active' AND NOT EXISTS (
             SELECT 1 FROM embeddings e
             WHERE e.model_id = ?1 AND e.text_hash = m.text_hash AND e.piece = 0) LIMIT ?3""",
        (model.id if model else 0, among, limit),
    )
    return [row[0] for row in rows]


def entities_lacking(db: apsw.Connection, *, among: int, limit: int) -> list[int]:
    """Some live entities without vectors of the active model, of the newest `among`."""
    model = active_model(db)
    rows = select(
        db,
        """SELECT n.id FROM (SELECT id, status, text_hash FROM entities ORDER BY id DESC LIMIT ?2) n
           WHERE n.status = 'active' AND NOT EXISTS (
             SELECT 1 FROM embeddings e
             WHERE e.model_id = ?1 AND e.text_hash = n.text_hash AND e.piece = 0) LIMIT ?3""",
        (model.id if model else 0, among, limit),
    )
    return [row[0] for row in rows]


def coverage(db: apsw.Connection, model: Model | None) -> tuple[int, int]:
    """How many live memories and entities have vectors of the model, and how many wait for them."""
    stored, total = select(
        db,
        """SELECT ifnull(sum(EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = ?
                                     AND e.text_hash = m.text_hash AND e.piece = 0)), 0), count(*)
           FROM (SELECT text_hash FROM memories WHERE status = 'active'
                 UNION ALL SELECT text_hash FROM entities WHERE status = 'active') m""",
        (model.id if model else 0,),
    )[0]
    return int(stored), int(total) - int(stored)


def first_piece(db: apsw.Connection, model: Model, memory_id: int) -> bytes | None:
    """The vector of a memory's first piece, if it has one."""
    found: bytes | None = db.execute(
        """SELECT e.vector FROM memories m JOIN embeddings e ON e.text_hash = m.text_hash AND e.model_id = ?
           WHERE m.id = ? AND e.piece = 0""",
        (model.id, memory_id),
    ).get
    return found
