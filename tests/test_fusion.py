"""Fusion, BM25 and centroids: against what they are defined to be, computed another way."""

import random
from collections import Counter
from collections.abc import Sequence
from math import inf, isclose, log
from typing import TYPE_CHECKING

import pytest
from conftest import BagOfWords
from hypothesis import given
from hypothesis import strategies as st

from mem.caller import Caller
from mem.embed import Role
from mem.search import fuse, lexical
from mem.search.centroids import mix
from mem.service import Service
from mem.store.connect import Store, select
from mem.store.filters import Where
from mem.values import Actor, ActorKind, Mode, Scope, Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCORES = st.floats(-50, 50, allow_nan=False)
LEG = st.dictionaries(st.integers(1, 12), SCORES, max_size=8).map(
    lambda scores: tuple(sorted(scores.items(), key=lambda pair: -pair[1]))
)
LEGS = st.fixed_dictionaries({"lexical": LEG, "vector": LEG})
WEIGHTS = st.fixed_dictionaries({"lexical": st.floats(0.01, 1), "vector": st.floats(0.01, 1)})


@given(LEGS, WEIGHTS)
def test_fused_scores_lie_between_0_and_1_and_cover_what_any_leg_found(
    legs: dict[str, fuse.Ranking], weights: dict[str, float]
) -> None:
    known = {number for leg in legs.values() for number, _ in leg}
    for fused in (fuse.convex(legs, weights), fuse.reciprocal(legs)):
        assert fused.keys() == known
        assert all(-1e-12 <= score <= 1 + 1e-12 for score in fused.values())


@given(LEGS, WEIGHTS)
def test_the_first_in_every_leg_has_1(legs: dict[str, fuse.Ranking], weights: dict[str, float]) -> None:
    firsts = [leg[0][0] for leg in legs.values() if leg]
    for fused in (fuse.convex(legs, weights), fuse.reciprocal(legs)):
        if firsts and len(set(firsts)) == 1:
            assert isclose(fused[firsts[0]], 1)
        assert fused or not firsts


@given(LEGS, WEIGHTS, st.randoms())
def test_convex_fusion_does_not_depend_on_the_order_in_which_a_leg_is_given(
    legs: dict[str, fuse.Ranking], weights: dict[str, float], chance: random.Random
) -> None:
    shuffled = {name: tuple(chance.sample(leg, len(leg))) for name, leg in legs.items()}
    assert fuse.convex(shuffled, weights) == fuse.convex(legs, weights)


@given(LEGS, WEIGHTS)
def test_fusion_treats_the_legs_alike(legs: dict[str, fuse.Ranking], weights: dict[str, float]) -> None:
    swapped = {"vector": legs["lexical"], "lexical": legs["vector"]}
    exchanged = {"vector": weights["lexical"], "lexical": weights["vector"]}
    for one, other in (
        (fuse.convex(legs, weights), fuse.convex(swapped, exchanged)),
        (fuse.reciprocal(legs), fuse.reciprocal(swapped)),
    ):
        assert one.keys() == other.keys()
        assert all(isclose(one[number], other[number], abs_tol=1e-12) for number in one)


@given(LEGS, WEIGHTS, st.floats(0.1, 10), st.floats(-5, 5))
def test_convex_fusion_knows_no_scale(
    legs: dict[str, fuse.Ranking], weights: dict[str, float], factor: float, shift: float
) -> None:
    whole = {
        name: tuple((number, float(round(score))) for number, score in leg) for name, leg in legs.items()
    }
    moved = {
        name: tuple((number, factor * score + shift) for number, score in leg) for name, leg in whole.items()
    }
    before = fuse.convex(whole, weights)
    after = fuse.convex(moved, {name: 3 * weight for name, weight in weights.items()})
    assert all(isclose(before[number], after[number], abs_tol=1e-6) for number in before)


@given(LEG, LEG, st.floats(0.01, 1), st.floats(0.01, 1))
def test_more_weight_for_a_leg_brings_the_result_nearer_to_it(
    words: fuse.Ranking, meaning: fuse.Ranking, less: float, more: float
) -> None:
    less, more = sorted((less, more))
    legs = {"lexical": words, "vector": meaning}
    alone = dict(fuse.min_max(words))
    light, heavy = (fuse.convex(legs, {"lexical": weight, "vector": 1.0}) for weight in (less, more))
    for number in light:
        target = alone.get(number, 0.0)
        assert abs(heavy[number] - target) <= abs(light[number] - target) + 1e-9 or not words


def test_a_leg_that_found_nothing_takes_no_part() -> None:
    words = ((1, 9.0), (2, 4.0), (3, 1.0))
    alone = fuse.convex({"lexical": words, "vector": ()}, {"lexical": 0.2, "vector": 0.5})
    assert alone == pytest.approx({1: 1.0, 2: 0.375, 3: 0.0})
    assert fuse.reciprocal({"lexical": words, "vector": ()}) == pytest.approx({1: 1, 2: 61 / 62, 3: 61 / 63})
    assert fuse.convex({"lexical": (), "vector": ()}, {"lexical": 0.5, "vector": 0.5}) == {}
    assert fuse.reciprocal({}) == {}


def test_reciprocal_ranks_are_added_and_scaled() -> None:
    legs = {"lexical": ((1, 9.0), (2, 4.0)), "vector": ((2, 0.9), (3, 0.1))}
    assert fuse.reciprocal(legs, k=1) == pytest.approx({1: 0.5, 2: (1 / 3 + 1 / 2), 3: 1 / 3})


# BM25

TEXTS = (
    ("Redis caches the sessions", "cache"),
    ("Postgres stores the orders; orders are never deleted", "storage"),
    ("The orders queue feeds the billing worker", None),
    ("Billing retries a failed card three times", "billing"),
    ("Sessions expire after thirty minutes", None),
    ("Redis Redis Redis", None),
    (
        "A long memory about nothing that matters here, with many words to make it longer than the others",
        None,
    ),
)


def reference(query: str, documents: dict[int, tuple[list[str], list[str], list[str]]]) -> dict[int, float]:
    """BM25 by its definition, over documents as their three columns of terms."""
    k1, b = 0.9, 0.35
    mean = sum(sum(map(len, columns)) for columns in documents.values()) / len(documents)
    scores: dict[int, float] = {}
    for term in dict.fromkeys(query.split()):
        holding = {
            number for number, columns in documents.items() if any(term in column for column in columns)
        }
        idf = log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        for number in holding:
            title, content, context = documents[number]
            frequency = 1.5 * title.count(term) + content.count(term) + 0.5 * context.count(term)
            length = len(title) + len(content) + len(context)
            share = frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * length / mean))
            scores[number] = scores.get(number, 0.0) + idf * share
    return scores


def terms(service: Service, text: str) -> list[str]:
    """The words of a simple English text as the index stems them, with repeats."""
    with service._store.read() as db:
        return [stem for word in text.casefold().split() for stem in lexical.stemmed(db, [word.strip(";,")])]


@pytest.mark.parametrize(
    "query", ["redis", "orders billing", "redis sessions expire", "worker card orders redis", "cache unknown"]
)
@pytest.mark.parametrize("project", [None, "shop"])
def test_bm25_is_what_its_definition_gives(query: str, project: str | None, memory: Service) -> None:
    memory.store_batch(
        [
            {
                "content": text,
                **({"title": title} if title else {}),
                "tag": ["orders"] if "queue" in text else [],
            }
            for text, title in TEXTS
        ]
    )
    memory.store("Orders of another project, redis and billing too", project="other")
    memory.store("Orders of the shop: redis, redis", project="shop")
    documents = {
        found.id: (
            terms(memory, found.title or ""),
            terms(memory, found.content),
            terms(memory, " ".join((*found.tags, found.category, found.project or ""))),
        )
        for found in memory.list_(project=project, limit=100).memories
    }
    assert len(documents) == (7 if project is None else 8)
    expected = reference(" ".join(terms(memory, query)), documents)
    hits = memory.recall(query, mode=Mode.LEXICAL, project=project).hits
    assert {hit.memory.id: hit.why["lexical"].score for hit in hits} == pytest.approx(expected, abs=1e-4)
    best = sorted(expected, key=lambda number: (-round(expected[number], 9), -number))
    assert [hit.memory.id for hit in hits] == best


def test_what_other_projects_say_does_not_change_a_score(memory: Service) -> None:
    memory.store_batch([{"content": text, "project": "shop"} for text, _ in TEXTS])
    before = memory.recall("redis orders", mode=Mode.LEXICAL, project="shop").hits
    memory.store_batch([{"content": f"redis orders number {i}", "project": "other"} for i in range(50)])
    after = memory.recall("redis orders", mode=Mode.LEXICAL, project="shop").hits
    assert [(hit.memory.id, hit.score, hit.why) for hit in after] == [
        (hit.memory.id, hit.score, hit.why) for hit in before
    ]


def test_in_a_large_store_common_terms_leave_the_query_while_a_rarer_one_remains(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.store_batch([{"content": f"The deployment of service {i} is green"} for i in range(30)])
    rare = memory.store("The deployment of the zeppelin is red").id

    def found(query: str) -> tuple[set[int], lexical.LexicalLeg]:
        answer = memory.recall(query, mode=Mode.LEXICAL, limit=100)
        with memory._store.read() as db:
            everything = Where("1", ())
            leg = lexical.search(db, query, Scope(), everything)
        return {hit.memory.id for hit in answer.hits}, leg

    whole, leg_whole = found("deployment of the zeppelin")
    assert (len(whole), leg_whole.known) == (31, 1.0)
    monkeypatch.setattr(lexical, "LARGE", 20)
    few, leg = found("deployment of the zeppelin")
    assert few == {rare}
    # What left the query does not count as a word that is unknown.
    assert leg.known == 1.0
    assert leg.coverage > leg_whole.coverage
    assert leg.hits[0][1] <= leg.mass
    # A word that nobody wrote is no rarer one that remains.
    assert len(found("deployment xylophone")[0]) == 31
    assert len(found("deployment")[0]) == 31


@given(
    st.dictionaries(st.integers(1, 50), st.sampled_from((0.5, 1.0, 1.5, 2.0)) | SCORES, max_size=40),
    st.integers(1, 12),
)
def test_the_best_come_first_in_runs_of_a_size(scores: dict[int, float], size: int) -> None:
    runs = list(lexical._best_first(scores, size))
    assert all(0 < len(run) <= size for run in runs)
    flat = [pair for run in runs for pair in run]
    assert flat == sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0]))


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_rarer_term_tells_more_and_none_tells_less_than_nothing(one: int, other: int) -> None:
    rare, common = sorted((one, other))
    count = 10_000
    assert inf > lexical.idf(rare, count) >= lexical.idf(common, count) > 0


# Centroids


class Scattered(BagOfWords):
    """Texts as vectors without any zero, around a centre; long ones in pieces."""

    name = "scattered@1"
    dimensions = 32

    def mean(self) -> "NDArray[np.float32]":  # type: ignore[override]
        import numpy as np

        return np.full(self.dimensions, 0.1, np.float32)

    def split(self, text: str) -> list[str]:
        return [text[start : start + 40] for start in range(0, len(text), 40)]

    def embed(
        self, texts: Sequence[str], role: Role, *, timeout: float | None = None
    ) -> "NDArray[np.float32]":
        import numpy as np

        rows = [np.random.default_rng(list(text.encode())).standard_normal(self.dimensions) for text in texts]
        moved = np.array(rows) + 0.5
        unit: NDArray[np.float32] = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        return unit


@pytest.fixture
def scattered(memory: Service) -> Service:
    """A service whose embedder has a centre and pieces."""
    return Service(memory._store, Scattered(), Caller(Actor(ActorKind.PERSON), memory._caller.folder))


def recomputed(service: Service) -> dict[str | None, tuple[int, list[float]]]:
    """The number and sum of the vectors of what is live, by project, from the texts themselves."""
    import numpy as np

    model = Scattered()
    found: dict[str | None, tuple[int, list[float]]] = {}
    for memory in service.list_(all_projects=True, limit=1000).memories:
        rows = model.embed(model.split(memory.content), Role.PASSAGE)
        count, total = found.get(memory.project, (0, [0.0] * model.dimensions))
        found[memory.project] = (
            count + len(rows),
            list(np.array(total) + rows.sum(axis=0, dtype=np.float64)),
        )
    return found


def kept(store: Store) -> dict[str | None, tuple[int, list[float]]]:
    """The same as the store keeps it in step."""
    import numpy as np

    with store.read() as db:
        rows = select(
            db,
            """SELECT p.name, c.pieces, c.total FROM centroids c LEFT JOIN projects p ON p.id = c.project
               WHERE c.pieces <> 0""",
        )
    return {name: (pieces, list(np.frombuffer(total, "<f8"))) for name, pieces, total in rows}


@pytest.mark.parametrize("seed", range(4))
def test_centroids_are_the_sums_of_what_is_live_after_any_operations(seed: int, scattered: Service) -> None:
    chance = random.Random(seed)  # noqa: S311
    done: Counter[str] = Counter()
    for step in range(70):
        text = f"Memory {step} says " + " ".join(chance.choices(("red", "green", "blue", "grey"), k=12))
        live = [str(found.id) for found in scattered.list_(all_projects=True, limit=1000).memories]
        retired = [
            str(found.id)
            for found in scattered.list_(all_projects=True, limit=1000, status=[Status.ARCHIVED]).memories
        ]
        match chance.choice(("store", "store", "update", "move", "archive", "restore", "supersede", "end")):
            case "update" if live:
                scattered.update(chance.choice(live), content=text)
                done["update"] += 1
            case "move" if live:
                moved = scattered.update(chance.choice(live), project=chance.choice(("a", "b", "c")))
                done["move"] += len(moved.memories)
            case "archive" if live:
                scattered.archive([chance.choice(live)])
                done["archive"] += 1
            case "restore" if retired:
                scattered.restore([chance.choice(retired)])
                done["restore"] += 1
            case "supersede" if live:
                scattered.supersede([chance.choice(live)], content=text)
                done["supersede"] += 1
            case "end" if live:
                scattered.supersede([chance.choice(live)], ended=True)
                done["end"] += 1
            case _:
                project = chance.choice((None, "a", "b", "c"))
                scattered.store(text, project=project, global_=project is None)
                done["store"] += 1
    assert min(done[name] for name in ("store", "update", "move", "archive", "supersede")) > 0
    expected, found = recomputed(scattered), kept(scattered._store)
    assert len(expected) > 1
    assert {name: pieces for name, (pieces, _) in found.items()} == {
        name: pieces for name, (pieces, _) in expected.items()
    }
    for name, (_, total) in expected.items():
        assert found[name][1] == pytest.approx(total, abs=1e-9)
    report = scattered.doctor()
    assert next(check for check in report.checks if check.name == "indexes").ok


def test_the_mean_of_much_is_that_of_the_texts_and_of_little_that_of_the_model() -> None:
    import numpy as np

    model, texts = np.zeros(3, np.float32), np.array([3.0, 0.0, 0.0])
    few = mix(model, 1 * texts, 1)
    many = mix(model, 1_000_000 * texts, 1_000_000)
    assert few is not None and many is not None
    assert few.tolist() == pytest.approx([3 / 101, 0, 0])
    assert many.tolist() == pytest.approx([3, 0, 0], abs=1e-3)
    assert mix(None, texts, 1) is None


def test_what_is_searched_is_the_scope_alone(scattered: Service) -> None:
    from mem.search import centroids
    from mem.store import embeddings

    for project, count in (("a", 3), ("b", 5), (None, 2)):
        for number in range(count):
            scattered.store(f"{project} {number}", project=project, global_=project is None)
    with scattered._store.read() as db:
        model = embeddings.active_model(db)
        assert model is not None
        counted = {
            scope: centroids.gathered(db, model, scope)[1]
            for scope in (Scope("a"), Scope("b"), Scope(), Scope(everywhere=True), Scope("unknown"))
        }
    assert list(counted.values()) == [5, 7, 2, 10, 2]
