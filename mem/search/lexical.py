"""The lexical leg: BM25 over folded words, with the counts of the scope that is searched.

FTS5 is the inverted index; its postings are read through `fts5vocab`, term by term and bound as values, so
no query ever becomes MATCH syntax. The score is BM25 (Robertson and Zaragoza, 2009) with the idf that is
never negative, ln(1 + (N - n + 0.5) / (n + 0.5)), where N, n and the mean length are those of the searched
projects, k1 = 0.9 and b = 0.35: memories are short, and what FTS5's own bm25() fixes (1.2, 0.75) measured
two points of MRR worse.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import apsw

from mem.search.text import query_terms
from mem.store import projects
from mem.store.connect import select
from mem.store.filters import Where
from mem.values import Scope

POOL = 200
K1, B = 0.9, 0.35
COLUMN_WEIGHTS = {"title": 1.5, "content": 1.0, "context": 0.5}
TOKENIZER = ("porter", ("unicode61", "remove_diacritics", "2"))
# In a store this large, terms of more than a fifth of it leave the query while a rarer one remains: they cost
# time, and hardly change the order.
LARGE, COMMON = 20_000, 0.2


@dataclass(frozen=True, slots=True)
class Words:
    """A derived word index: the prefix of its tables, and the table with the rows that it describes."""

    prefix: str = "memories"
    rows: str = "memories"


LIVE = Words()


@dataclass(frozen=True, slots=True)
class LexicalLeg:
    """Memories by their words, best first, as (number, BM25, higher is better).

    `mass` is what all terms together could reach, `coverage` the share of it that the best hit has, 0-1;
    `known` the share of the query's terms that occur in the scope; `rarest` the largest idf among these.
    """

    hits: tuple[tuple[int, float], ...] = ()
    mass: float = 0.0
    coverage: float = 0.0
    known: float = 0.0
    rarest: float = 0.0


def search(
    db: apsw.Connection, query: str, scope: Scope, where: Where, *, words: Words = LIVE, pool: int = POOL
) -> LexicalLeg:
    """Rank the rows that a filter admits by the words of a query; no query whatever raises."""
    stems = stemmed(db, query_terms(query))
    if not stems:
        return LexicalLeg()
    searched = _searched(db, scope)
    count, mean_length = _size(db, searched, words)
    postings = {stem: _postings(db, stem, searched, words) for stem in _telling(db, stems, count, words)}
    weights = {stem: idf(len(postings.get(stem, ())), count) for stem in stems}
    scores = _bm25(postings, weights, mean_length)
    ordered = sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0]))
    hits = tuple(_admitted(db, ordered, where, words, pool))
    present = [stem for stem in stems if postings.get(stem)]
    mass = sum(weights.values()) * (K1 + 1)
    return LexicalLeg(
        hits=hits,
        mass=mass,
        coverage=min(1.0, hits[0][1] / mass) if hits else 0.0,
        known=len(present) / len(stems),
        rarest=max((weights[stem] for stem in present), default=0.0),
    )


def stemmed(db: apsw.Connection, terms: Sequence[str]) -> list[str]:
    """Terms as the index has them, without repeats."""
    tokenizer = db.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1]))
    stems: dict[str, None] = {}
    for term in terms:
        for token in tokenizer(term.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False):
            stems[str(token[0])] = None
    return list(stems)


def idf(documents: int, count: int) -> float:
    """How much a term tells that `documents` of `count` hold: ln(1 + (N - n + 0.5) / (n + 0.5)), above 0."""
    return log(1 + (count - documents + 0.5) / (documents + 0.5))


def _searched(db: apsw.Connection, scope: Scope) -> str:
    """The condition on the projects of the index; a project's number is an integer of ours."""
    if scope.everywhere:
        return "1"
    return f"t.project IN (0, {projects.number_of(db, scope.project)})"


def _size(db: apsw.Connection, searched: str, words: Words) -> tuple[int, float]:
    sql = f"SELECT count(*), total(t.length) FROM {words.prefix}_lengths t WHERE {searched}"
    count, total = select(db, sql)[0]
    return int(count), float(total) / max(1, int(count))


def _telling(db: apsw.Connection, stems: Sequence[str], count: int, words: Words) -> Sequence[str]:
    """The terms to look up: all of them, or in a large store those that are not everywhere."""
    if count <= LARGE:
        return stems
    sql = f"SELECT doc FROM {words.prefix}_terms WHERE term = ?"
    rare = [stem for stem in stems if int(db.execute(sql, (stem,)).get or 0) <= COMMON * count]
    return rare or stems


def _postings(db: apsw.Connection, stem: str, searched: str, words: Words) -> list[tuple[int, float, int]]:
    """The searched documents with a term, as (number, weighted frequency, length)."""
    cases = " ".join(f"WHEN '{column}' THEN {weight}" for column, weight in COLUMN_WEIGHTS.items())
    sql = f"""SELECT v.doc, sum(CASE v.col {cases} END), t.length
              FROM {words.prefix}_postings v CROSS JOIN {words.prefix}_lengths t ON t.id = v.doc
              WHERE v.term = ? AND {searched} GROUP BY v.doc"""
    return [(row[0], row[1], row[2]) for row in select(db, sql, (stem,))]


def _bm25(
    postings: dict[str, list[tuple[int, float, int]]], weights: dict[str, float], mean_length: float
) -> dict[int, float]:
    scores: dict[int, float] = defaultdict(float)
    fixed, by_length = K1 * (1 - B), K1 * B / max(1.0, mean_length)
    for stem, found in postings.items():
        weight = weights[stem] * (K1 + 1)
        for number, frequency, length in found:
            scores[number] += weight * frequency / (frequency + fixed + by_length * length)
    return scores


def _admitted(
    db: apsw.Connection, ordered: Sequence[tuple[int, float]], where: Where, words: Words, pool: int
) -> Iterator[tuple[int, float]]:
    """The best that the whole filter admits: looked at in order until the pool is full: nothing starves."""
    sql = f"SELECT m.id FROM {words.rows} m WHERE m.id IN (SELECT value FROM json_each(?)) AND {where.sql}"
    left = pool
    for start in range(0, len(ordered), 2 * pool):
        part = ordered[start : start + 2 * pool]
        allowed = {row[0] for row in select(db, sql, (json.dumps([pair[0] for pair in part]), *where.values))}
        for pair in part:
            if pair[0] in allowed:
                yield pair
                left -= 1
                if left == 0:
                    return
