"""Usage counts what recall and context handed out, only that, once per answer; and it never moves a rank."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hook_host import CLAUDE, FACTS, OFF_TOPIC, QUESTION, Host
from telling import records, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.service import Service
from mem.values import Actor, ActorKind, Kind, Level, Status

REEDS = "The heron nests in the reeds by the weir"


def counted(home: Path) -> dict[int, int]:
    """How often each memory was recalled, where it was at all."""
    return {row["memory_id"]: row["recalls"] for row in records(home, "usage") if row["recalls"]}


def restated(home: Path) -> dict[int, int]:
    return {row["memory_id"]: row["restated"] for row in records(home, "usage") if row["restated"]}


def ranked(memory: Service, query: str, **options: object) -> list[tuple[int, float]]:
    return [(hit.memory.id, hit.score) for hit in memory.recall(query, **options).hits]  # type: ignore[arg-type]


def test_the_same_question_200_times_leaves_ranks_and_scores_as_they_were(
    real_memory: Service, home: Path
) -> None:
    for number in range(12):
        tell(real_memory, f"Sluice {number} is opened by the miller at dawn", importance=number % 10)
    tell(real_memory, REEDS, level=Level.META_KNOWLEDGE)
    whole = ranked(real_memory, "who opens the sluice at dawn?", limit=100)
    assert len(whole) > 5
    first = ranked(real_memory, "who opens the sluice at dawn?", limit=3)
    for _ in range(199):
        assert ranked(real_memory, "who opens the sluice at dawn?", limit=3) == first
    assert counted(home) == {number: 201 if place < 3 else 1 for place, (number, _) in enumerate(whole)}
    assert ranked(real_memory, "who opens the sluice at dawn?", limit=100) == whole


def test_only_recall_and_context_count(memory: Service, home: Path) -> None:
    id_, other = tell(memory, REEDS), tell(memory, "Eels pass the weir at night")
    for _ in range(3):
        assert memory.get([id_, f"#{id_}"]).memories and memory.list_().memories
        assert memory.history(id_).changes and memory.log().events and memory.stats().total
    memory.update(id_, importance=6)
    memory.archive([other])
    memory.restore([other])
    memory.maintain()
    assert records(home, "usage") == []
    assert memory.recall("heron reeds", limit=1).hits
    assert counted(home) == {int(id_): 1}
    assert memory.context("heron reeds").items
    assert memory.session_start().context.items
    assert counted(home) == {int(id_): 3, int(other): 1}


def test_a_text_that_is_known_counts_as_restated_and_not_as_recalled(memory: Service, home: Path) -> None:
    id_ = tell(memory, REEDS)
    assert memory.store(REEDS).action == "already_known"
    assert (restated(home), counted(home)) == ({int(id_): 1}, {})


def test_what_a_recall_found_but_did_not_show_is_not_counted(memory: Service, home: Path) -> None:
    for number in range(9):
        tell(memory, f"Heron number {number} in the reeds")
    answer = memory.recall("heron reeds", limit=2)
    assert answer.total == 9
    assert counted(home) == {hit.memory.id: 1 for hit in answer.hits}


def test_an_answer_counts_a_memory_once_however_often_it_stands_there(memory: Service, home: Path) -> None:
    id_ = tell(memory, REEDS, kind=Kind.DECISION, importance=9)  # relevant, and an open decision too
    shown = memory.context("heron reeds weir")
    assert int(id_) in {item.memory.id for item in shown.items}
    assert counted(home) == {int(id_): 1}


def test_a_recall_counts_what_it_surfaced(
    memory: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = WallClock(monkeypatch, "2026-05-10T08:00:00Z")
    id_ = tell(memory, REEDS, importance=9)
    memory.recall("heron reeds")
    wall.forward(days=31)
    assert [hit.surfaced for hit in memory.recall("weather", surface=2).hits] == [True]
    assert counted(home) == {int(id_): 2}
    assert (
        records(home, "recall_traces")[-1]["total"],
        records(home, "usage")[0]["last_recalled_at"][:10],
    ) == (
        0,
        "2026-06-10",
    )


def test_looking_back_counts_as_well(memory: Service, home: Path) -> None:
    id_ = tell(memory, REEDS)
    memory.archive([id_])
    assert memory.recall("heron", status=[Status.ARCHIVED]).hits
    assert counted(home) == {int(id_): 1}


def test_the_worker_counts_after_its_answer(memory: Service, home: Path) -> None:
    id_ = tell(memory, REEDS)
    later: list[Callable[[], None]] = []
    answering = memory.of(Caller(Actor(ActorKind.AGENT), Path.cwd()), later=later.append)
    assert answering.recall("heron reeds").trace_id and answering.context("heron reeds").trace_id
    assert counted(home) == {}
    for work in later:
        work()
    assert counted(home) == {int(id_): 2}


def test_a_hook_counts_what_it_says_and_nothing_where_it_is_silent(memory: Service, home: Path) -> None:
    host = Host(memory, CLAUDE)
    ids = {int(tell(memory, fact)) for fact in FACTS[:3]}
    assert host.says("SessionStart", source="startup")
    assert counted(home) == dict.fromkeys(ids, 1)
    assert host.asks("what time does the harbour office open in the morning?") == ""  # it was shown already
    assert host.asks(OFF_TOPIC) == ""
    assert counted(home) == dict.fromkeys(ids, 1)
    assert host.says("SessionStart", source="resume")
    assert counted(home) == dict.fromkeys(ids, 2)
    assert FACTS[0] in host.asks(QUESTION, session="s2")
    assert counted(home) == {**dict.fromkeys(ids, 2), 1: 3}


def test_a_store_that_is_locked_costs_the_count_and_not_the_answer(memory: Service, home: Path) -> None:
    tell(memory, REEDS)
    other = Service(type(memory._store)(home / "memory.db"), None, memory._caller)
    with memory._store.write():
        began = time.monotonic()
        answer = other.recall("heron reeds")
        assert (len(answer.hits), answer.trace_id) == (1, None)
        assert time.monotonic() - began < 2
    other.close()
    assert counted(home) == {}
