"""The lexical leg: BM25 over folded words, with the counts of the scope that is searched.

FTS5 is the inverted index; its postings are read through `fts5vocab`, term by term and bound as values, so
no query ever becomes MATCH syntax. The score is BM25 (Robertson and Zaragoza, 2009) with the idf that is
never negative, ln(1 + (N - n + 0.5) / (n + 0.5)), where N, n and the mean length are those of the searched
projects, k1 = 0.9 and b = 0.35: memories are short, and what FTS5's own bm25() fixes (1.2, 0.75) measured
two points of MRR worse.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf, log

import apsw

from mem.search.text import query_terms
from mem.store import projects
from mem.store.connect import select
from mem.store.filters import Where
from mem.values import Scope

POOL = 200
MOST_REFUSED = 10
K1, B = 0.9, 0.35
COLUMN_WEIGHTS = {"title": 1.5, "content": 1.0, "context": 0.5}
TOKENIZER = ("porter", ("unicode61", "remove_diacritics", "2"))
# In a store this large, terms of more than a fifth of it leave the query while a rarer one remains: they cost
# time, and hardly change the order.
LARGE, COMMON = 20_000, 0.2


@dataclass(frozen=True, slots=True)
class Words:
    """A derived word index: the prefix of its tables, and whether it holds only what the filter admits."""

    prefix: str = "memories"
    filtered: bool = False


LIVE = Words()


@dataclass(frozen=True, slots=True)
class LexicalLeg:
    """Memories by their words, best first, as (number, BM25, higher is better).

    `mass` is what all terms together could reach, `coverage` the share of it that the best hit has, 0-1;
    `known` the share of the query's terms that occur in the scope; `rarest` the largest idf among these;
    `refused` a few of the best that the filter does not admit; `postings` the searched documents with a term.
    """

    hits: tuple[tuple[int, float], ...] = ()
    mass: float = 0.0
    coverage: float = 0.0
    known: float = 0.0
    rarest: float = 0.0
    refused: tuple[int, ...] = ()
    postings: Mapping[str, Sequence[tuple[int, float, int]]] = field(
        default_factory=dict, repr=False, compare=False
    )


def search(
    db: apsw.Connection,
    query: str,
    scope: Scope,
    where: Where,
    *,
    words: Words = LIVE,
    pool: int = POOL,
    effort: int | None = None,
) -> LexicalLeg:
    """Rank the rows that a filter admits by the words of a query; no query whatever raises.

    With `effort` only the rarest terms are looked up, those that no more than so many documents hold
    together; but none that a single document holds, as befits a text that is in the index itself.
    """
    stems = stemmed(db, query_terms(query))
    if not stems:
        return LexicalLeg()
    searched = _searched(db, scope)
    count, mean_length = _size(db, searched, words)
    telling = _telling(db, stems, count, words, effort)
    postings = {stem: _postings(db, stem, searched, words) for stem in telling}
    if not any(postings.values()) and effort is None:
        # What is rare is nowhere in this scope, so the common terms are all that there is.
        postings = {stem: _postings(db, stem, searched, words) for stem in stems}
    weights = {stem: idf(len(found), count) for stem, found in postings.items()}
    scores = _bm25(postings, weights, mean_length)
    refused: list[int] = []
    hits = tuple(_admitted(db, scores, where, words, pool, refused))
    present = [stem for stem, found in postings.items() if found]
    mass = sum(weights.values()) * (K1 + 1)
    return LexicalLeg(
        hits=hits,
        mass=mass,
        coverage=min(1.0, hits[0][1] / mass) if hits else 0.0,
        known=len(present) / max(1, len(postings)),
        rarest=max((weights[stem] for stem in present), default=0.0),
        refused=tuple(refused),
        postings=postings,
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


def _telling(
    db: apsw.Connection, stems: Sequence[str], count: int, words: Words, effort: int | None
) -> Sequence[str]:
    """The terms to look up: all of them, or in a large store those that are not everywhere."""
    if count <= LARGE and effort is None:
        return stems
    sql = f"SELECT doc FROM {words.prefix}_terms WHERE term = ?"
    documents = {stem: int(db.execute(sql, (stem,)).get or 0) for stem in stems}
    if effort is None:
        return [stem for stem in stems if documents[stem] <= COMMON * count]
    shared = sorted((stem for stem in stems if documents[stem] > 1), key=documents.__getitem__)
    spent = accumulate(documents[stem] for stem in shared)
    return [stem for stem, total in zip(shared, spent, strict=True) if total <= effort]


def _postings(db: apsw.Connection, stem: str, searched: str, words: Words) -> list[tuple[int, float, int]]:
    """The searched documents with a term, as (number, weighted frequency, length)."""
    cases = " ".join(f"WHEN '{column}' THEN {weight}" for column, weight in COLUMN_WEIGHTS.items())
    sql = f"""SELECT v.doc, sum(CASE v.col {cases} END), t.length
              FROM {words.prefix}_postings v CROSS JOIN {words.prefix}_lengths t ON t.id = v.doc
              WHERE v.term = ? AND {searched} GROUP BY v.doc"""
    found: list[tuple[int, float, int]] = select(db, sql, (stem,))
    return found


def _bm25(
    postings: dict[str, list[tuple[int, float, int]]], weights: dict[str, float], mean_length: float
) -> dict[int, float]:
    scores: dict[int, float] = {}
    known = scores.get
    fixed, by_length = K1 * (1 - B), K1 * B / max(1.0, mean_length)
    for stem, found in postings.items():
        weight = weights[stem] * (K1 + 1)
        for number, frequency, length in found:
            part = weight * frequency / (frequency + fixed + by_length * length)
            scores[number] = known(number, 0.0) + part
    return scores


def _admitted(
    db: apsw.Connection,
    scores: dict[int, float],
    where: Where,
    words: Words,
    pool: int,
    refused: list[int],
) -> Iterator[tuple[int, float]]:
    """The best that the whole filter admits: looked at in order until the pool is full: nothing starves.

    A few of the best that it does not admit are added to `refused`.
    """
    # The cross join looks each row up by its number; left to itself SQLite reads the whole project.
    sql = f"SELECT m.id FROM json_each(?) j CROSS JOIN memories m ON m.id = j.value WHERE {where.sql}"
    left = pool
    for part in _best_first(scores, pool):
        allowed = {number for number, _ in part}
        if not words.filtered:
            allowed = {row[0] for row in select(db, sql, (json.dumps(list(allowed)), *where.values))}
        for pair in part:
            if pair[0] in allowed:
                yield pair
                left -= 1
                if left == 0:
                    return
            elif len(refused) < MOST_REFUSED:
                refused.append(pair[0])


def _best_first(scores: dict[int, float], size: int) -> Iterator[list[tuple[int, float]]]:
    """The scores in runs of at most `size`, best first, the later memory first among equals.

    Only as much is put in order as is asked for: most of what shares a word is never looked at.
    """
    values = sorted(scores.values(), reverse=True)
    above = inf
    for end in range(size, len(values) + size, size):
        least = values[min(end, len(values)) - 1]
        between = [(score, number) for number, score in scores.items() if least <= score < above]
        between.sort(reverse=True)
        for start in range(0, len(between), size):
            yield [(number, score) for score, number in between[start : start + size]]
        above = least
