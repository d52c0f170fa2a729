"""Entities by their words, by meaning, by what is observed about them, and by being named in a question.

Their index is small: names in a table of keys, words in FTS5, vectors scored one and all. A store holds far
fewer entities than memories.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from mem.embed.vectors import centre, stacked
from mem.search import calibration, fuse, lexical, vector
from mem.search.floor import LEAST_MEANING
from mem.search.lexical import Words
from mem.search.mentions import key, named_in
from mem.search.text import fold
from mem.store import entities, projects
from mem.store.connect import select
from mem.store.filters import where
from mem.values import Entity, Filter, Kind, Scope

if TYPE_CHECKING:
    from mem.search.vector import Question

WORDS = Words("entities", filtered=True)
POOL = 50


def refresh(db: apsw.Connection, entity_ids: Iterable[int]) -> None:
    """Bring the names and words of entities in step with their rows."""
    for entity_id, entity in _known(db, list(entity_ids)).items():
        db.execute("DELETE FROM entity_names WHERE entity_id = ?", (entity_id,))
        db.execute("DELETE FROM entities_fts WHERE rowid = ?", (entity_id,))
        db.execute("DELETE FROM entities_lengths WHERE id = ?", (entity_id,))
        if entity is None or entity.status != "active":
            continue
        keys = dict.fromkeys(key(name) for name in (entity.name, *entity.aliases))
        db.executemany(
            "INSERT INTO entity_names (key, entity_id) VALUES (?, ?)",
            [(name, entity_id) for name in keys],
        )
        columns = [
            fold(text)
            for text in (
                "\n".join((entity.name, *entity.aliases)),
                entity.summary or "",
                "\n".join(filter(None, (entity.type, entity.project))),
            )
        ]
        db.execute(
            "INSERT INTO entities_fts (rowid, title, content, context) VALUES (?, ?, ?, ?)",
            (entity_id, *columns),
        )
        db.execute(
            "INSERT INTO entities_lengths (id, project, length) VALUES (?, ?, ?)",
            (
                entity_id,
                projects.number_of(db, entity.project),
                sum(len(column.split()) for column in columns),
            ),
        )


def erase(db: apsw.Connection, entity_ids: Iterable[int]) -> None:
    """Take entities that are no more out of their index, to the last word of them."""
    refresh(db, entity_ids)
    db.execute("INSERT INTO entities_fts (entities_fts) VALUES ('optimize')")


def rebuild(db: apsw.Connection) -> int:
    """Make the index anew from the rows; gives the number of live entities in it."""
    db.execute("DELETE FROM entity_names")
    db.execute("DELETE FROM entities_lengths")
    db.execute("INSERT INTO entities_fts (entities_fts) VALUES ('delete-all')")
    live = [row[0] for row in select(db, "SELECT id FROM entities WHERE status = 'active' ORDER BY id")]
    refresh(db, live)
    return len(live)


def problems(db: apsw.Connection) -> list[str]:
    """What is not in step between the rows of entities and their index."""
    live = "SELECT id FROM entities WHERE status = 'active'"
    found = []
    for name, indexed in (
        ("names", "SELECT entity_id FROM entity_names"),
        ("words", "SELECT rowid FROM entities_fts"),
        ("lengths", "SELECT id FROM entities_lengths"),
    ):
        missing = db.execute(f"SELECT count(*) FROM ({live} EXCEPT {indexed})").get
        extra = db.execute(f"SELECT count(*) FROM ({indexed} EXCEPT {live})").get
        if missing or extra:
            found.append(f"entities ({name}): {missing} missing, {extra} too many")
    if not found and set(_names(db)) != set(select(db, "SELECT key, entity_id FROM entity_names")):
        found.append("entities (names): some are not those of their rows")
    try:
        db.execute("INSERT INTO entities_fts (entities_fts) VALUES ('integrity-check')")
    except apsw.Error as err:
        found.append(f"FTS5 reports of entities: {err}")
    return found


def _names(db: apsw.Connection) -> Iterator[tuple[str, int]]:
    """The names that the live entities should be found by."""
    for entity_id, name, aliases in select(
        db, "SELECT id, name, aliases FROM entities WHERE status = 'active'"
    ):
        yield from ((key(one), entity_id) for one in (name, *json.loads(aliases)))


def _known(db: apsw.Connection, ids: list[int]) -> dict[int, Entity | None]:
    rows = entities.by_ids(db, ids)
    return {number: rows.get(number) for number in ids}


@dataclass(frozen=True, slots=True)
class Found:
    """An entity that fits a question: its number, score, 0-1, and its place in each leg."""

    id: int
    score: float
    places: Mapping[str, tuple[int, float]]


def search(
    db: apsw.Connection, query: str, scope: Scope, asked: "Question | None", *, now: str, has_vectors: bool
) -> list[Found]:
    """Rank the live entities of a scope by their names, words and meaning, and by those of observations."""
    observed = Filter(scope=scope, kinds=(Kind.OBSERVATION,))
    condition = where(observed, now=now)
    legs = {
        "names": [(number, 1.0) for number in named_in(db, query, scope)],
        "lexical": _visible(
            db, lexical.search(db, query, scope, condition, words=WORDS, pool=POOL).hits, scope
        ),
        "observed": _of_observations(db, lexical.search(db, query, scope, condition, pool=POOL).hits, scope),
    }
    if asked is not None:
        near = vector.search(db, asked, observed, condition, has_vectors=has_vectors, pool=POOL).hits
        close = [(one.number, one.centred) for one in near if one.centred >= LEAST_MEANING]
        # Cosines both, so an entity is as near as its own text or the best that is observed of it.
        legs["vector"] = _best_of(_by_meaning(db, asked, scope), _of_observations(db, close, scope))
    scores = fuse.convex(legs, dict.fromkeys(legs, 1.0))
    places = {
        name: {number: (place, score) for place, (number, score) in enumerate(leg, start=1)}
        for name, leg in legs.items()
    }
    return [
        Found(number, score, {name: leg[number] for name, leg in places.items() if number in leg})
        for number, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _best_of(*legs: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    best: dict[int, float] = {}
    for number, score in (pair for leg in legs for pair in leg):
        best[number] = max(score, best.get(number, 0.0))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))


def _visible(db: apsw.Connection, hits: Sequence[tuple[int, float]], scope: Scope) -> list[tuple[int, float]]:
    """Those that belong to the scope, in their order."""
    condition, values = entities.in_scope(scope)
    rows = select(
        db,
        f"""SELECT n.id FROM entities n
            WHERE n.id IN (SELECT value FROM json_each(?)) AND n.status = 'active' AND {condition}""",
        (json.dumps([number for number, _ in hits]), *values),
    )
    allowed = {row[0] for row in rows}
    return [(number, score) for number, score in hits if number in allowed]


def _of_observations(
    db: apsw.Connection, hits: Sequence[tuple[int, float]], scope: Scope
) -> list[tuple[int, float]]:
    """The entities that observations are about, each by its best."""
    rows = select(
        db,
        "SELECT id, entity_id FROM memories WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps([number for number, _ in hits]),),
    )
    about = dict(rows)
    best: dict[int, float] = {}
    for number, score in hits:
        if about.get(number) is not None:
            best.setdefault(about[number], score)
    return _visible(db, list(best.items()), scope)


def _by_meaning(db: apsw.Connection, asked: "Question", scope: Scope) -> list[tuple[int, float]]:
    """The entities whose own text is near enough, by the cosine around the model's mean."""
    import numpy as np

    condition, values = entities.in_scope(scope)
    rows = select(
        db,
        f"""SELECT n.id, e.vector FROM entities n
            JOIN embeddings e ON e.text_hash = n.text_hash AND e.model_id = ?
            WHERE n.status = 'active' AND {condition} ORDER BY n.id, e.piece""",
        (asked.model.id, *values),
    )
    if not rows:
        return []
    zero = calibration.zero(asked.model)
    vectors = centre(stacked([blob for _, blob in rows], asked.model.dimensions), zero)
    own = vectors @ centre(asked.vector[np.newaxis], zero)[0]
    # Where nothing is known of the model's cosines yet, names and words have to do.
    cosines = calibration.common(asked.model, own) if asked.scale else np.zeros_like(own)
    scored = zip((number for number, _ in rows), cosines.tolist(), strict=True)
    return _best_of([(number, cosine) for number, cosine in scored if cosine >= LEAST_MEANING])[:POOL]
