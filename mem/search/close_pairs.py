"""Pairs of live memories that lie close together: by meaning, by words where there are no vectors.

Pairs are of one kind, project and entity. What is looked at is bounded: the newest `MOST_LOOKED_AT`
memories, their first pieces, and of each block of vectors and of each word the closest and the
newest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import apsw

from mem.embed.vectors import centre, stacked
from mem.search import calibration
from mem.search.text import words
from mem.store import embeddings
from mem.store.connect import select
from mem.store.embeddings import Model
from mem.store.filters import Where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_LOOKED_AT = 20_000
BLOCK = 512  # vectors compared at once with those after them
MOST_OF_BLOCK = 8 * BLOCK
LONGEST = 1_000  # characters of a text whose words are compared
LEAST_SHARED = 0.4  # of the words of two texts (Jaccard)
MOST_WITH_WORD = 16


class Pair(NamedTuple):
    """Two memories by number, the smaller first; their centred cosine, None by words alone."""

    first: int
    second: int
    cosine: float | None


@dataclass(frozen=True, slots=True)
class ClosePairs:
    """Pairs in no order, how many memories were looked at, how many there are, how many lack a vector."""

    pairs: tuple[Pair, ...]
    examined: int
    total: int
    without_vector: int


class _Row(NamedTuple):
    number: int
    group: tuple[str, str | None, int | None]
    content: str
    vector: bytes | None


def close_pairs(db: apsw.Connection, where: Where, *, least: float) -> ClosePairs:
    """The pairs among the memories that a condition admits; `least` is the cosine of a pair by meaning."""
    model = embeddings.active_model(db)
    if model is not None and not calibration.comparable(model):
        model = None  # nothing is known of its cosines yet
    total = int(db.execute(f"SELECT count(*) FROM memories m WHERE {where.sql}", where.values).get or 0)
    found = [
        _Row(number, (kind, project, entity), content, vector)
        for number, kind, project, entity, content, vector in select(
            db,
            f"""SELECT m.id, m.kind, m.project, m.entity_id, m.content, e.vector FROM memories m
                LEFT JOIN embeddings e ON e.text_hash = m.text_hash AND e.model_id = ? AND e.piece = 0
                WHERE {where.sql} ORDER BY m.id DESC LIMIT ?""",
            (model.id if model else 0, *where.values, MOST_LOOKED_AT),
        )
    ]
    groups: dict[tuple[str, str | None, int | None], list[_Row]] = defaultdict(list)
    for row in found:
        groups[row.group].append(row)
    pairs: list[Pair] = []
    for group in groups.values():
        known = [row for row in group if row.vector is not None]
        if model is not None and len(known) > 1:
            vectors = stacked([row.vector for row in known if row.vector is not None], model.dimensions)
            vectors = centre(vectors, calibration.zero(model))
            pairs += _by_meaning(model, [row.number for row in known], vectors, least)
        if len(known) < len(group):
            pairs += _by_words(group)
    lacking = sum(row.vector is None for row in found)
    return ClosePairs(tuple(pairs), len(found), total, lacking)


def _by_meaning(
    model: Model, numbers: Sequence[int], vectors: "NDArray[np.float32]", least: float
) -> Iterator[Pair]:
    """The pairs of rows with at least this cosine; of a block with too many the closest."""
    import numpy as np

    least = calibration.own(model, least)
    for start in range(0, len(numbers), BLOCK):
        block = vectors[start : start + BLOCK] @ vectors[start:].T
        # Each pair once, and none with itself.
        rows, columns = np.nonzero(np.triu(block >= least, 1))
        cosines = block[rows, columns]
        if len(cosines) > MOST_OF_BLOCK:
            closest = np.argpartition(-cosines, MOST_OF_BLOCK)[:MOST_OF_BLOCK]
            rows, columns, cosines = rows[closest], columns[closest], cosines[closest]
        cosines = calibration.common(model, cosines)
        for row, column, cosine in zip(rows.tolist(), columns.tolist(), cosines.tolist(), strict=True):
            one, other = numbers[start + row], numbers[start + column]
            yield Pair(min(one, other), max(one, other), min(1.0, cosine))


def _by_words(group: Sequence[_Row]) -> Iterator[Pair]:
    """The pairs with enough shared words of which one has no vector.

    Two such texts share one of their rarest words: of n words, one of the first n -
    ceil(LEAST_SHARED · n) + 1 in the order of how many texts have them (Chaudhuri et al. 2006, the
    prefix filter).
    """
    texts = {row.number: set(words(row.content[:LONGEST])) for row in group}
    lacking = {row.number for row in group if row.vector is None}
    for one, other in _candidates(texts):
        if lacking.isdisjoint((one, other)):
            continue
        mine, theirs = texts[one], texts[other]
        if len(mine & theirs) >= LEAST_SHARED * len(mine | theirs):
            yield Pair(min(one, other), max(one, other), None)


def _candidates(texts: dict[int, set[str]]) -> Iterable[tuple[int, int]]:
    counts = Counter(word for text in texts.values() for word in text)
    holders: dict[str, list[int]] = defaultdict(list)
    for number, text in texts.items():
        rarest = sorted(text, key=lambda word: (counts[word], word))
        for word in rarest[: len(text) - ceil(LEAST_SHARED * len(text)) + 1]:
            if counts[word] > 1 and len(holders[word]) < MOST_WITH_WORD:
                holders[word].append(number)
    return {pair for numbers in holders.values() for pair in combinations(numbers, 2)}
