"""The derived indexes of live memories: words in FTS5, sign bits of centred vectors in sqlite-vec.

Both can be rebuilt from the rows and the Float32 vectors. `refresh` brings a memory's entries in step with
its row inside the transaction that changed it. When the extension cannot be loaded, the vector index is
marked as stale and every reader scores the stored vectors themselves until a rebuild.
"""

import json
from collections.abc import Iterable

import apsw

from mem.embed.vectors import centre, from_blob, sign_bits, stacked
from mem.search import centroids
from mem.search.lexical import LIVE, Words
from mem.search.text import fold
from mem.store import embeddings, memories
from mem.store.connect import select
from mem.store.embeddings import Model
from mem.store.filters import Where
from mem.values import Kind

KIND_NUMBERS = {kind: number for number, kind in enumerate(Kind, start=1)}
ABSENT, CURRENT, STALE = "absent", "current", "stale"
PORTION = 500  # memories that are looked up together
FORM = 1  # of the vector index, as `models.index_form` names it; `migrate-vectors` brings older ones up to it
TABLES = ("vector_index", "vector_index_2")
AS_OF = Words("as_of", filtered=True)
FOREIGN = Words("foreign_notes", filtered=True)

# As `projects.number_of` numbers it.
PROJECT_NUMBER = """CASE WHEN m.project IS NULL THEN 0
              ELSE ifnull((SELECT id FROM projects WHERE name = m.project), -1) END"""
_TEXTS = f"""m.title, m.content, m.rationale, m.alternatives, m.tags, m.category,
  {memories.ENTITY_NAME}, m.project"""


def state(db: apsw.Connection) -> str:
    """Whether the vector index is `absent`, `current` or `stale`."""
    return str(db.execute("SELECT value FROM store_info WHERE key = 'vector_index'").get)


def table(db: apsw.Connection) -> str:
    """The name of the vector index: a table of sqlite-vec cannot be renamed, so its successor has another."""
    return str(db.execute("SELECT value FROM store_info WHERE key = 'vector_table'").get or TABLES[0])


def other_table(db: apsw.Connection) -> str:
    """The name that the successor of the vector index has."""
    return TABLES[1 - TABLES.index(table(db))]


def create(db: apsw.Connection, name: str, model: Model) -> None:
    """Make a vector index for the vectors of a model, unless it is there."""
    width = -(-model.dimensions // 8) * 8  # sqlite-vec takes whole bytes; the bits beyond are all zero
    db.execute(
        f"""CREATE VIRTUAL TABLE IF NOT EXISTS {name}
            USING vec0 (bits bit[{width}], project integer, kind integer)"""
    )


def refresh(db: apsw.Connection, memory_ids: Iterable[int], *, has_vectors: bool) -> None:
    """Bring the index entries of memories in step with their rows."""
    model = embeddings.active_model(db)
    writable = model is not None and _writable(db, model, has_vectors)
    numbers = list(memory_ids)
    for start in range(0, len(numbers), PORTION):
        _refresh(db, numbers[start : start + PORTION], model, writable=writable)


def _refresh(db: apsw.Connection, numbers: list[int], model: Model | None, *, writable: bool) -> None:
    """The same for a portion: what can be looked up for all of them together is."""
    listed = json.dumps(numbers)
    _drop(db, numbers, writable=writable)
    rows = select(
        db,
        f"""SELECT m.id, m.kind, m.text_hash, {PROJECT_NUMBER},
                   EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = ?2 AND e.text_hash = m.text_hash),
                   {_TEXTS}
            FROM memories m WHERE m.id IN (SELECT value FROM json_each(?1)) AND m.status = 'active'
            ORDER BY m.id""",
        (listed, model.id if model else None),
    )
    for memory_id, kind, text_hash, project, embedded, *texts in rows:
        _add_words(db, LIVE, memory_id, texts, project)
        if model is not None and embedded:
            _add_pieces(db, model, memory_id, text_hash, KIND_NUMBERS[Kind(kind)], project, writable=writable)


def erase(db: apsw.Connection, memory_ids: Iterable[int], *, has_vectors: bool) -> None:
    """Take memories whose rows are gone out of the indexes for good.

    FTS5 keeps the words of a removed row until its segments are merged; sqlite-vec zeroes the bits of a piece
    as it is removed. Without the extension these bits stay until the index is rebuilt.
    """
    refresh(db, memory_ids, has_vectors=has_vectors)
    discard_next(db, has_vectors=has_vectors)
    db.execute("DELETE FROM centroids WHERE pieces = 0")
    db.execute("INSERT INTO memories_fts (memories_fts) VALUES ('optimize')")


def without_pieces(db: apsw.Connection, hashes: Iterable[bytes]) -> list[int]:
    """The live memories with one of these texts that are not indexed by meaning."""
    sql = """SELECT m.id FROM memories m WHERE m.text_hash = ? AND m.status = 'active' AND NOT EXISTS (
               SELECT 1 FROM indexed_pieces p WHERE p.owner = 'memory' AND p.owner_id = m.id)"""
    return [row[0] for text_hash in hashes for row in select(db, sql, (text_hash,))]


def discard_next(db: apsw.Connection, *, has_vectors: bool) -> None:
    """Take away what a migration has prepared beside the index; it begins that anew."""
    if not db.execute("SELECT 1 FROM store_info WHERE key = 'next_index'").get:
        return
    db.execute("DELETE FROM store_info WHERE key = 'next_index'")
    db.execute("DROP TABLE IF EXISTS next_pieces; DROP TABLE IF EXISTS next_centroids")
    if has_vectors:
        db.execute(f"DROP TABLE IF EXISTS {other_table(db)}")


def add_pieces(db: apsw.Connection, hashes: Iterable[bytes], *, has_vectors: bool) -> None:
    """Index by meaning the live memories with these texts that are not; by words they are already."""
    _add_all_pieces(db, without_pieces(db, hashes), has_vectors=has_vectors)


def rebuild_pieces(db: apsw.Connection, *, has_vectors: bool) -> None:
    """Make the vector index anew, and leave that of words as it is."""
    db.execute("DELETE FROM indexed_pieces; DELETE FROM centroids")
    mark(db, ABSENT)
    if has_vectors:
        db.execute(f"DROP TABLE IF EXISTS {table(db)}")
    embedded = """SELECT m.id FROM memories m WHERE m.status = 'active' AND EXISTS (
                    SELECT 1 FROM embeddings e JOIN models o ON o.id = e.model_id AND o.active = 1
                    WHERE e.text_hash = m.text_hash) ORDER BY m.id"""
    _add_all_pieces(db, [row[0] for row in select(db, embedded)], has_vectors=has_vectors)


def _add_all_pieces(db: apsw.Connection, memory_ids: list[int], *, has_vectors: bool) -> None:
    model = embeddings.active_model(db)
    if model is None or not memory_ids:
        return
    writable = _writable(db, model, has_vectors)
    sql = f"SELECT m.kind, m.text_hash, {PROJECT_NUMBER} FROM memories m WHERE m.id = ?"
    for memory_id in memory_ids:
        [(kind, text_hash, project)] = select(db, sql, (memory_id,))
        _add_pieces(db, model, memory_id, text_hash, KIND_NUMBERS[Kind(kind)], project, writable=writable)


def rebuild(db: apsw.Connection, *, has_vectors: bool) -> int:
    """Make the indexes anew from the rows and vectors; gives the number of memories in them."""
    for name in ("indexed_pieces", "memories_lengths", "centroids"):
        db.execute(f"DELETE FROM {name}")
    db.execute("INSERT INTO memories_fts (memories_fts) VALUES ('delete-all')")
    mark(db, ABSENT)
    if has_vectors:
        db.execute(f"DROP TABLE IF EXISTS {table(db)}")
    db.execute("UPDATE models SET index_form = ? WHERE active = 1", (FORM,))
    ids = [row[0] for row in select(db, "SELECT id FROM memories WHERE status = 'active' ORDER BY id")]
    refresh(db, ids, has_vectors=has_vectors)
    return len(ids)


def build_as_of(db: apsw.Connection, condition: Where) -> Words:
    """Index the words of the rows selected as of a moment, for one question, in temporary tables."""
    _make_temporary(db, AS_OF)
    texts_then = _TEXTS.replace(memories.ENTITY_NAME, "m.entity")
    selected = f"SELECT m.id, {texts_then} FROM {memories.AS_OF} m WHERE {condition.sql}"
    for memory_id, *texts in select(db, selected, condition.values):
        _add_words(db, AS_OF, memory_id, texts, 0)
    return AS_OF


def build_foreign(db: apsw.Connection, notes: Iterable[tuple[str, str, str]]) -> Words:
    """Index the words of notes that are not in the store, as (title, content, context), numbered from 0."""
    _make_temporary(db, FOREIGN)
    for number, (title, content, context) in enumerate(notes):
        _add_words(db, FOREIGN, number, [title, content, context, None, None], 0)
    return FOREIGN


def _make_temporary(db: apsw.Connection, words: Words) -> None:
    name = words.prefix
    for table in ("postings", "terms", "fts", "lengths"):
        db.execute(f"DROP TABLE IF EXISTS temp.{name}_{table}")
    db.execute(
        f"""CREATE VIRTUAL TABLE temp.{name}_fts USING fts5 (
              title, content, context, content = '', contentless_delete = 1,
              tokenize = 'porter unicode61 remove_diacritics 2');
            CREATE VIRTUAL TABLE temp.{name}_terms USING fts5vocab (temp, {name}_fts, row);
            CREATE VIRTUAL TABLE temp.{name}_postings USING fts5vocab (temp, {name}_fts, instance);
            CREATE TABLE temp.{name}_lengths (id INTEGER PRIMARY KEY, project INTEGER, length INTEGER)"""
    )


def problems(db: apsw.Connection, *, has_vectors: bool) -> list[str]:
    """What is not in step between rows and indexes; FTS5's own integrity check included."""
    found: list[str] = []
    try:
        db.execute("INSERT INTO memories_fts (memories_fts) VALUES ('integrity-check')")
    except apsw.Error as err:
        found.append(f"FTS5 reports: {err}")
    for name, columns, indexed in (
        ("fts", "m.id", "SELECT rowid FROM memories_fts"),
        ("lengths", f"m.id, {PROJECT_NUMBER}", "SELECT id, project FROM memories_lengths"),
    ):
        missing, extra = _apart(db, f"SELECT {columns} FROM memories m WHERE m.status = 'active'", indexed)
        if missing or extra:
            found.append(f"word index ({name}): {missing} memories missing, {extra} too many")
    model = embeddings.active_model(db)
    if model is not None:
        found += _vector_problems(db, model, has_vectors=has_vectors)
    return found


def _vector_problems(db: apsw.Connection, model: Model, *, has_vectors: bool) -> list[str]:
    due = f"""SELECT m.id, e.id, {PROJECT_NUMBER} FROM memories m JOIN embeddings e
              ON e.text_hash = m.text_hash AND e.model_id = {model.id} WHERE m.status = 'active'"""
    listed = "SELECT owner_id, embedding_id, project FROM indexed_pieces WHERE owner = 'memory'"
    missing, extra = _apart(db, due, listed)
    found = [f"vectors: {missing} pieces not listed, {extra} too many"] if missing or extra else []
    counted = "SELECT project, pieces FROM centroids WHERE pieces <> 0"
    pieces = "SELECT project, count(*) FROM indexed_pieces GROUP BY project"
    if any(_apart(db, pieces, counted)):
        found.append("centroids: the pieces counted are not those that are listed")
    if has_vectors and state(db) == CURRENT:
        pieces = "SELECT id, project FROM indexed_pieces"
        missing, extra = _apart(db, pieces, f"SELECT rowid, project FROM {table(db)}")
        if missing or extra:
            found.append(f"vector index: {missing} pieces missing, {extra} too many")
    elif has_vectors and state(db) == STALE:
        found.append("vector index: stale since a write without the extension")
    return found


def _apart(db: apsw.Connection, wanted: str, held: str) -> tuple[int, int]:
    """How many rows one query has that the other lacks, both ways."""
    missing = db.execute(f"SELECT count(*) FROM (SELECT * FROM ({wanted}) EXCEPT SELECT * FROM ({held}))").get
    extra = db.execute(f"SELECT count(*) FROM (SELECT * FROM ({held}) EXCEPT SELECT * FROM ({wanted}))").get
    return int(missing or 0), int(extra or 0)


def _writable(db: apsw.Connection, model: Model, has_vectors: bool) -> bool:
    """Whether the vector index can be written now; made on first use, marked stale where it cannot be."""
    current = state(db)
    if not has_vectors:
        # Also where there was none yet: one that is made later would lack what is written now.
        if current != STALE:
            mark(db, STALE)
        return False
    if current == ABSENT:
        create(db, table(db), model)
        mark(db, CURRENT)
        return True
    return current == CURRENT


def _add_words(
    db: apsw.Connection, words: Words, memory_id: int, texts: list[str | None], project: int
) -> None:
    title, content, rationale, alternatives, tags, *labels = texts
    context = (rationale, alternatives, *json.loads(tags or "[]"), *labels)
    columns = [
        fold(text) for text in (title or "", content or "", "\n".join(part for part in context if part))
    ]
    db.execute(
        f"INSERT INTO {words.prefix}_fts (rowid, title, content, context) VALUES (?, ?, ?, ?)",
        (memory_id, *columns),
    )
    db.execute(
        f"INSERT INTO {words.prefix}_lengths (id, project, length) VALUES (?, ?, ?)",
        (memory_id, project, sum(len(column.split()) for column in columns)),
    )


def _add_pieces(
    db: apsw.Connection,
    model: Model,
    memory_id: int,
    text_hash: bytes,
    kind: int,
    project: int,
    *,
    writable: bool,
) -> None:
    pieces = select(
        db,
        "SELECT id, vector FROM embeddings WHERE model_id = ? AND text_hash = ? ORDER BY piece",
        (model.id, text_hash),
    )
    if not pieces:
        return
    centroids.add(db, project, [vector for _, vector in pieces])
    mean = from_blob(model.mean, model.dimensions) if model.mean else None
    bits = (
        sign_bits(centre(stacked([vector for _, vector in pieces], model.dimensions), mean))
        if writable
        else []
    )
    for place, (embedding_id, _) in enumerate(pieces):
        db.execute(
            "INSERT INTO indexed_pieces (owner, owner_id, embedding_id, project) VALUES ('memory', ?, ?, ?)",
            (memory_id, embedding_id, project),
        )
        if writable:
            db.execute(
                f"INSERT INTO {table(db)} (rowid, bits, project, kind) VALUES (?, vec_bit(?), ?, ?)",
                (db.last_insert_rowid(), bits[place], project, kind),
            )


def _drop(db: apsw.Connection, numbers: list[int], *, writable: bool) -> None:
    """Take the words and pieces of memories out of the indexes; most have none, as when they are new."""
    keys = [(number,) for number in numbers]
    db.executemany("DELETE FROM memories_fts WHERE rowid = ?", keys)
    db.executemany("DELETE FROM memories_lengths WHERE id = ?", keys)
    pieces = select(
        db,
        """SELECT p.id, p.project, e.vector FROM indexed_pieces p JOIN embeddings e ON e.id = p.embedding_id
           WHERE p.owner = 'memory' AND p.owner_id IN (SELECT value FROM json_each(?))""",
        (json.dumps(numbers),),
    )
    for piece_id, project, vector in pieces:
        centroids.remove(db, project, [vector])
        if writable:
            db.execute(f"DELETE FROM {table(db)} WHERE rowid = ?", (piece_id,))
        db.execute("DELETE FROM indexed_pieces WHERE id = ?", (piece_id,))


def mark(db: apsw.Connection, value: str) -> None:
    """Note the state of the vector index."""
    db.execute("UPDATE store_info SET value = ? WHERE key = 'vector_index'", (value,))
