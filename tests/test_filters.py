"""Filters inside the search: what is rare, or in a small project, is found among thousands nearer ones."""

import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from conftest import BagOfWords

from mem import clock
from mem.caller import Caller
from mem.results import Recall
from mem.search import neighbours, vector
from mem.service import Service
from mem.store import connect
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Category, Kind, Layer, Level, Mode, Status

QUERY = "redis cache eviction policy"
OLD = datetime(2020, 5, 10, tzinfo=UTC)
MANY = 2_500

# By the tiny embedder (shared words over length) each group is nearer to the query than the next.
NEAREST = "redis cache eviction policy of shard {}"
BETWEEN = (
    *("redis cache eviction policy one two six ten", "redis cache eviction policy one two six ten red"),
    *(
        "redis cache eviction policy one two six ten red blue",
        "redis cache eviction policy one two six ten red blue pink",
    ),
)
FAR = "redis cache alpha beta gamma delta epsilon {}"
FARTHEST = (
    "redis cache alpha beta gamma delta epsilon zeta left",
    "redis cache alpha beta gamma delta eta zeta right",
)
SPECIAL: dict[str, Any] = {
    "kind": "decision",
    "category": "bug",
    "level": "concrete_trace",
    "layer": "permanent",
    "tag": ["odd", "strange"],
    "importance": 9,
    "confidence": 0.95,
    "event_time": "2019-06-15",
}


def store_all(service: Service, texts: list[str], **options: Any) -> list[str]:
    """The ids of new memories, stored in batches."""
    ids = []
    for start in range(0, len(texts), 500):
        done = service.store_batch([{"content": text, **options} for text in texts[start : start + 500]])
        assert [outcome.action for outcome in done.outcomes] == ["added"] * len(done.outcomes)
        ids += [str(outcome.id) for outcome in done.outcomes]
    return ids


def fill(service: Service) -> None:
    """Project a: thousands that hold. Project b: two that hold among thousands that do not."""
    store_all(service, [NEAREST.format(number) for number in range(MANY)], project="a")
    store_all(service, [FAR.format(number) for number in range(MANY)], project="a", **SPECIAL)
    store_all(service, list(BETWEEN), project="a", **SPECIAL)
    service.archive(store_all(service, [f"{NEAREST} kept".format(n) for n in range(300)], project="b"))
    replaced = store_all(service, [f"{NEAREST} gone".format(n) for n in range(300)], project="b")
    service.supersede(replaced[:150], ended=True)
    service.supersede(replaced[150:], content="Memcached does it all")
    with mock.patch.object(clock, "now", return_value=OLD):
        store_all(service, [f"{NEAREST} short".format(n) for n in range(700)], project="b", expires="7d")
    ended = {"valid_from": "2020-01-01", "valid_to": "2021-01-01"}
    store_all(service, [f"{NEAREST} once".format(n) for n in range(700)], project="b", **ended)
    store_all(
        service, [f"{NEAREST} later".format(n) for n in range(700)], project="b", valid_from="2999-01-01"
    )
    store_all(service, list(FARTHEST), project="b")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store file that was filled once."""
    folder = tmp_path_factory.mktemp("crowd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEM_HOME", str(folder))
        # What each of them is near to is not asked here, and takes most of the time.
        patch.setattr(neighbours, "near", lambda *arguments, **options: [])
        store = Store(folder / "memory.db")
        fill(Service(store, BagOfWords(), Caller(Actor(ActorKind.PERSON), folder)))
        store.close()
    return folder / "memory.db"


@pytest.fixture(params=["extension", "no extension"])
def crowded(
    request: pytest.FixtureRequest, crowd: Path, home: Path, person: Caller, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    """A service on a copy of it, with the vector extension and without."""
    if request.param == "no extension":
        monkeypatch.setattr(connect, "vector_extension", lambda: None)
    home.mkdir()
    shutil.copy(crowd, home / "memory.db")
    store = Store(home / "memory.db")
    assert store.has_vectors == (request.param == "extension")
    yield Service(store, BagOfWords(), person)
    store.close()


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pieces each search of the vector index gave."""
    counted: list[int] = []
    original = vector._nearest

    def count(*arguments: Any) -> list[int]:
        found = original(*arguments)
        counted.append(len(found))
        return found

    monkeypatch.setattr(vector, "_nearest", count)
    return counted


def texts(answer: Recall) -> list[str]:
    return [hit.memory.content for hit in answer.hits]


@pytest.mark.parametrize("mode", list(Mode))
def test_two_memories_are_found_among_thousands_that_are_nearer_but_do_not_count(
    mode: Mode, crowded: Service
) -> None:
    answer = crowded.recall(QUERY, project="b", limit=2, mode=mode)
    assert answer.mode is mode
    assert sorted(texts(answer)) == sorted(FARTHEST)
    assert answer.total == 2
    everywhere = crowded.recall(QUERY, all_projects=True, limit=100, mode=mode)
    assert len(everywhere.hits) == 100
    assert not set(texts(everywhere)) & set(FARTHEST)


@pytest.mark.parametrize("mode", list(Mode))
def test_what_expired_ended_or_has_not_begun_stays_out_now(mode: Mode, crowded: Service) -> None:
    for word in ("short", "once", "later", "kept", "gone"):
        answer = crowded.recall(f"redis cache {word}", project="b", limit=100, mode=mode)
        assert sorted(texts(answer)) == sorted(FARTHEST)
    listed = crowded.list_(project="b", limit=1000)
    assert {memory.content for memory in listed.memories} == {*FARTHEST, "Memcached does it all"}


@pytest.mark.parametrize("crowded", ["extension"], indirect=True)
def test_each_of_those_groups_is_found_where_it_is_asked_for(crowded: Service) -> None:
    def count(word: str, **options: Any) -> int:
        answer = crowded.recall(f"{QUERY} {word}", project="b", limit=100, **options)
        return sum(text.endswith(word) for text in texts(answer))

    assert count("kept", status=[Status.ARCHIVED]) == 100
    assert count("gone", status=[Status.SUPERSEDED]) == 100
    assert count("once", valid_at="2020-06-01", status=[Status.ACTIVE]) == 100
    assert count("later", valid_at="2999-06-01", status=[Status.ACTIVE]) == 100
    with mock.patch.object(clock, "now", return_value=OLD):
        assert count("short") == 100


# What admits the far half of project a, some two thousand and a half.
BROAD: dict[str, dict[str, Any]] = {
    "kind": {"kind": [Kind.DECISION]},
    "kinds": {"kind": [Kind.DECISION, Kind.SUMMARY]},
    "category": {"category": [Category.BUG, Category.TOOL]},
    "level": {"level": [Level.CONCRETE_TRACE]},
    "layer": {"layer": [Layer.PERMANENT, Layer.WORKING]},
    "tag": {"tag": ["odd"]},
    "several tags": {"tag": ["odd", "strange"]},
    "importance": {"min_importance": 9},
    "confidence": {"min_confidence": 0.95},
    "since and until": {"since": "2019-06-15", "until": "2019-06-15"},
    "until": {"until": "2019-12-31"},
    "status": {"status": [Status.ACTIVE], "min_importance": 6},
    "all at once": {
        **{"kind": [Kind.DECISION], "category": [Category.BUG], "level": [Level.CONCRETE_TRACE]},
        **{"layer": [Layer.PERMANENT], "tag": ["strange", "odd"], "min_importance": 9, "min_confidence": 0.9},
    },
}


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("name", BROAD)
def test_a_broad_filter_is_filled_from_behind_thousands_that_it_shuts_out(
    name: str, mode: Mode, crowded: Service, searches: list[int]
) -> None:
    answer = crowded.recall(QUERY, project="a", limit=100, mode=mode, **BROAD[name])
    assert texts(answer)[: len(BETWEEN)] == list(BETWEEN)
    assert len(answer.hits) == 100
    assert {hit.memory.importance for hit in answer.hits} == {9}
    uses_index = mode is not Mode.LEXICAL and crowded._store.has_vectors
    assert bool(searches) == uses_index
    assert all(count >= vector.POOL for count in searches)


def test_the_index_finds_what_the_exact_search_finds(
    crowd: Path, home: Path, person: Caller, monkeypatch: pytest.MonkeyPatch, searches: list[int]
) -> None:
    home.mkdir()
    shutil.copy(crowd, home / "memory.db")
    answers = []
    for extension in (connect.vector_extension(), None):
        monkeypatch.setattr(connect, "vector_extension", lambda library=extension: library)
        store = Store(home / "memory.db")
        service = Service(store, BagOfWords(), person)
        found = [
            service.recall(query, project="a", limit=len(BETWEEN), mode=Mode.VECTOR, **options)
            for query in (QUERY, *BETWEEN, "redis cache policy one two six ten red blue pink")
            for options in (BROAD["kind"], BROAD["several tags"], BROAD["all at once"])
        ]
        answers.append([[(hit.memory.content, hit.why) for hit in answer.hits] for answer in found])
        assert bool(searches) == (extension is not None)
        searches.clear()
        store.close()
    assert answers[0] == answers[1]
    assert all(len(hits) == len(BETWEEN) for hits in answers[0])


NEEDLE = "redis cache of the old mill"
RARE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "kind": ({"kind": Kind.SUMMARY}, {"kind": [Kind.SUMMARY]}),
    "category": ({"category": Category.PEOPLE}, {"category": [Category.PEOPLE]}),
    "level": ({"level": Level.META_KNOWLEDGE}, {"level": [Level.META_KNOWLEDGE]}),
    "layer": ({"layer": Layer.SHORT_TERM}, {"layer": [Layer.SHORT_TERM]}),
    "tag": ({"tag": ["mill", "odd"]}, {"tag": ["mill"]}),
    "several tags": ({"tag": ["mill", "odd"]}, {"tag": ["odd", "mill"]}),
    "importance": ({"importance": 10}, {"min_importance": 10}),
    "confidence": ({"confidence": 1.0}, {"min_confidence": 0.99}),
    "since": ({"event_time": "2998-01-01"}, {"since": "2998-01-01"}),
    "until": ({"event_time": "1999-01-01"}, {"until": "1999-01-01"}),
}


@pytest.mark.parametrize("name", RARE)
def test_one_match_of_a_rare_filter_is_found_by_meaning_alone(
    name: str, crowded: Service, searches: list[int]
) -> None:
    stored, asked = RARE[name]
    added = crowded.store(NEEDLE, project="a", **stored)
    searches.clear()
    answer = crowded.recall(QUERY, project="a", mode=Mode.VECTOR, **asked)
    assert searches == []  # so few are all compared
    assert [hit.memory.id for hit in answer.hits] == [added.id]
    assert crowded.list_(project="a", **asked).total == 1


@pytest.mark.parametrize("crowded", ["extension"], indirect=True)
def test_one_match_that_was_archived_or_held_once_is_found_by_meaning_alone(crowded: Service) -> None:
    archived = crowded.store(NEEDLE, project="a")
    crowded.archive([str(archived.id)])
    answer = crowded.recall(QUERY, project="a", mode=Mode.VECTOR, status=[Status.ARCHIVED])
    assert [hit.memory.id for hit in answer.hits] == [archived.id]
    once = crowded.store(
        "redis cache of the new mill",
        project="a",
        category=Category.PEOPLE,
        valid_from="2001-01-01",
        valid_to="2002-01-01",
    )
    options: dict[str, Any] = {"project": "a", "mode": Mode.VECTOR, "category": [Category.PEOPLE]}
    assert [hit.memory.id for hit in crowded.recall(QUERY, valid_at="2001-06-01", **options).hits] == [
        once.id
    ]
    for other in ("2000-12-31", "2002-01-02"):
        assert crowded.recall(QUERY, valid_at=other, **options).hits == ()
    assert crowded.recall(QUERY, **options).hits == ()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"since": "2024-03-05", "until": "2024-03-05"}, {"fifth"}),
        ({"since": "2024-03-05"}, {"fifth", "sixth", "now"}),
        ({"until": "2024-03-05"}, {"fourth", "fifth"}),
        ({"since": "2024-03-05T12:00:00Z", "until": "2024-03-06T00:00:00Z"}, {"fifth"}),
        ({"since": "2024-03-05T12:00:01Z", "until": "2024-03-06T12:00:00Z"}, set()),
        ({"since": "2024-03-05T12:00:01Z", "until": "2024-03-06T12:00:01Z"}, {"sixth"}),
        ({"tag": ["a"]}, {"fourth", "fifth"}),
        ({"tag": ["a", "b"]}, {"fifth"}),
        ({"tag": ["b", "a"]}, {"fifth"}),
        ({"tag": ["A"]}, set()),
        ({"tag": ["a%"]}, set()),
        ({"tag": ['a","b']}, set()),
        ({"min_importance": 0}, {"fourth", "fifth", "sixth", "now"}),
        ({"min_importance": 6}, {"sixth"}),
        ({"min_importance": 7}, set()),
        ({"min_confidence": 0.7}, {"fifth", "sixth", "now"}),
        ({"kind": [Kind.SUMMARY, Kind.DECISION]}, {"fourth", "now"}),
    ],
)
@pytest.mark.parametrize("mode", list(Mode))
def test_a_filter_admits_exactly_what_it_says(
    options: dict[str, Any], found: set[str], mode: Mode, memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    memory.store(
        "redis fourth", event_time="2024-03-04T12:00:00Z", tag=["a"], kind=Kind.SUMMARY, confidence=0.69
    )
    memory.store("redis fifth", event_time="2024-03-05T12:00:00Z", tag=["a", "b"], confidence=0.7)
    memory.store("redis sixth", event_time="2024-03-06T12:00:00Z", tag=["b", "ab"], importance=6)
    memory.store("redis now", kind=Kind.DECISION)
    answer = memory.recall("redis", mode=mode, **options)
    assert {text.removeprefix("redis ") for text in texts(answer)} == found
    listed = memory.list_(**options).memories
    assert {entry.content.removeprefix("redis ") for entry in listed} == found


def test_long_memories_do_not_crowd_others_out_of_the_vector_index(
    memory: Service, searches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        BagOfWords, "split", lambda self, text: [part for part in text.split("\n") if part], raising=True
    )
    monkeypatch.setattr(vector, "EXACT_BELOW", 100)
    pieces = "\n".join(f"redis cache eviction policy of shard {number}" for number in range(450))
    longest = memory.store(pieces).id
    others = [memory.store(f"redis cache note {number}").id for number in range(150)]
    answer = memory.recall(QUERY, mode=Mode.VECTOR, limit=100)
    assert answer.hits[0].memory.id == longest
    assert answer.total == 151
    assert {hit.memory.id for hit in answer.hits} <= {longest, *others}
    assert len(searches) > 1


@pytest.mark.parametrize("crowded", ["extension"], indirect=True)
def test_project_and_kind_are_filtered_by_the_index_itself(crowded: Service, searches: list[int]) -> None:
    answer = crowded.recall(QUERY, project="a", kind=[Kind.DECISION], mode=Mode.VECTOR)
    assert texts(answer)[: len(BETWEEN)] == list(BETWEEN)
    assert searches == [vector.POOL]  # one search, since none of what it gave was shut out


def test_a_filter_that_nothing_passes_gives_nothing_and_says_no_error(crowded: Service) -> None:
    for mode in Mode:
        answer = crowded.recall(QUERY, project="a", mode=mode, tag=["unheard-of"])
        assert (answer.hits, answer.total) == ((), 0)


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 0.5),
        (BROAD["several tags"], 0.5),
        ({"tag": ["unheard-of"]}, 0.5),
        ({"valid_at": "2026-01-01"}, 4),
    ],
)
def test_a_search_stays_quick_in_a_crowd(options: dict[str, Any], most: float, crowded: Service) -> None:
    crowded.recall(QUERY, project="a")
    started = time.thread_time()
    assert crowded.recall(QUERY, project="a", **options).degraded in ((), ("no_vector_extension",))
    assert time.thread_time() - started < most
