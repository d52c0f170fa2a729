"""Looking back names what was planted, section by section; the store comes about through operations alone."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran
from hook_host import CLAUDE, OFF_TOPIC, Host
from telling import get, records, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.cli.rows import rows as lines_of
from mem.document import document
from mem.errors import Usage
from mem.results import Memories, Reflection
from mem.service import Service
from mem.store import misses
from mem.values import Kind, Mode

START = "2026-01-05T08:00:00Z"


@pytest.fixture
def wall() -> Iterator[WallClock]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield WallClock(patch, START)
    time.tzset()


def ids(section: Memories) -> list[str]:
    return [str(memory.id) for memory in section.memories]


def used(told: Reflection) -> list[tuple[str, int]]:
    return [(str(one.memory.id), one.recalls) for one in told.most_used.memories]


def hot(told: Reflection) -> list[tuple[str, int]]:
    return [(one.entity.name, one.observations) for one in told.hot_entities.entities]


def shown(told: Reflection) -> str:
    return "\n".join(line for (line,) in lines_of(told))


# How memories are used


def test_the_most_used_are_those_recalled_of_late_the_most_often_first(
    memory: Service, wall: WallClock
) -> None:
    berth = tell(memory, "Boats moor at the northern berth")
    tides = tell(memory, "Tide tables are cached for six hours")
    crane = tell(memory, "The crane lifts forty tonnes")
    for _ in range(9):
        assert memory.recall("crane tonnes", mode=Mode.LEXICAL).total == 1
    wall.forward(days=8)
    for question, times in (("berth", 2), ("tide tables", 3)):
        for _ in range(times):
            assert memory.recall(question, mode=Mode.LEXICAL).total == 1
    told = memory.reflect()
    assert used(told) == [(tides, 3), (berth, 2)]
    assert [str(one.memory.id) for one in memory.reflect(days=9).most_used.memories] == [crane, tides, berth]
    limited = memory.reflect(days=9, limit=1)
    assert (limited.most_used.total, used(limited)) == (3, [(crane, 9)])


def test_what_context_handed_out_is_used_and_what_a_person_looks_at_is_not(
    memory: Service, wall: WallClock
) -> None:
    id_ = tell(memory, "Boats moor at the northern berth")
    memory.get([id_])
    memory.list_()
    memory.history(id_)
    memory.reflect()
    assert memory.reflect().most_used.total == 0
    assert memory.context("where do boats moor").items
    assert used(memory.reflect()) == [(id_, 1)]


def test_stale_is_what_was_never_recalled_in_so_many_days_the_oldest_first(
    memory: Service, wall: WallClock
) -> None:
    recalled = tell(memory, "Boats moor at the northern berth")
    oldest = tell(memory, "The crane lifts forty tonnes")
    archived = tell(memory, "The old lighthouse was sold")
    assert memory.recall("berth boats", mode=Mode.LEXICAL).total == 1
    wall.forward(days=5)
    younger = tell(memory, "Tide tables are cached for six hours")
    memory.store("The pilot sleeps until nine", expires="20d")
    wall.forward(days=29)
    fresh = tell(memory, "Ferries leave on the hour")
    memory.archive([archived])
    assert ids(memory.reflect().stale) == [oldest]
    wall.forward(days=1, minutes=1)
    assert ids(memory.reflect().stale) == [oldest, younger]
    assert ids(memory.reflect(stale_days=1).stale) == [oldest, younger, fresh]
    assert recalled not in ids(memory.reflect(stale_days=1).stale)
    assert (memory.reflect(limit=1).stale.total, ids(memory.reflect(limit=1).stale)) == (2, [oldest])


def test_cold_is_what_matters_and_was_not_seen_for_thirty_days(memory: Service, wall: WallClock) -> None:
    never = tell(memory, "The crane lifts forty tonnes", importance=8)
    once = tell(memory, "Boats moor at the northern berth", importance=10)
    often = tell(memory, "Tide tables are cached for six hours", importance=9)
    tell(memory, "The pilot sleeps until nine", importance=7)
    assert memory.recall("berth boats", mode=Mode.LEXICAL).total == 1
    wall.forward(days=20)
    assert memory.recall("tide tables", mode=Mode.LEXICAL).total == 1
    assert ids(memory.reflect().cold) == []
    wall.forward(days=11)
    assert ids(memory.reflect().cold) == [once, never]
    wall.forward(days=20)
    assert ids(memory.reflect().cold) == [once, often, never]


# What waits


def test_hot_entities_are_those_of_which_something_was_observed_of_late(
    memory: Service, wall: WallClock
) -> None:
    for number in range(4):
        memory.observe("crane", f"It lifted {number} tonnes", type="machine")
    wall.forward(days=8)
    wrong = memory.observe("Ana", "She dislikes tea", type="person")
    for likes in ("tea", "calls", "lists"):
        memory.observe("Ana", f"She likes {likes}")
    memory.observe("billing service", "It runs on two machines", type="service")
    memory.archive([str(wrong.id)])
    assert hot(memory.reflect()) == [("Ana", 3), ("billing service", 1)]
    assert hot(memory.reflect(days=9)) == [("crane", 4), ("Ana", 3), ("billing service", 1)]
    assert (memory.reflect(limit=1).hot_entities.total, hot(memory.reflect(limit=1))) == (2, [("Ana", 3)])
    memory.entity_merge("billing service", "Ana")
    assert hot(memory.reflect()) == [("Ana", 4)]


def test_every_decision_is_open_that_nobody_replaced_however_old(memory: Service, wall: WallClock) -> None:
    decision: dict[str, Any] = {"kind": Kind.DECISION}
    old = tell(memory, "We use Postgres", **decision)
    weighty = tell(memory, "Releases are signed", importance=9, **decision)
    replaced = tell(memory, "The API listens on port 80", **decision)
    ended = tell(memory, "Deploys wait for Friday", **decision)
    tell(memory, "The crane lifts forty tonnes")
    wall.forward(days=400)
    memory.supersede([ended], ended=True)
    now = memory.supersede([replaced], content="The API listens on port 81").memories[-1]
    for days in (1, 7, 60, 365):
        assert ids(memory.reflect(days=days).open_decisions) == [weighty, old, str(now.id)]


def test_a_decision_whose_successor_is_still_to_come_is_settled(memory: Service, wall: WallClock) -> None:
    old = tell(memory, "The API listens on port 80", kind=Kind.DECISION)
    memory.supersede([old], content="The API listens on port 81", valid_from="2026-06-01")
    assert "The API listens on port 80" in {one.content for one in memory.list_().memories}
    assert ids(memory.reflect().open_decisions) == []


# What was asked in vain


def test_questions_that_found_nothing_are_counted_without_a_word_of_them(
    memory: Service, wall: WallClock
) -> None:
    tell(memory, "Boats moor at the northern berth")
    memory.recall("zeppelin hangar keys", mode=Mode.LEXICAL)
    wall.forward(days=1)
    memory.recall("xylophone", mode=Mode.LEXICAL)
    memory.recall("xylophone", mode=Mode.LEXICAL)
    memory.recall("northern berth", mode=Mode.LEXICAL)
    memory.context("zeppelin hangar keys")
    spots = memory.reflect().blind_spots
    assert spots.total == 4
    assert spots.by_day == {"2026-01-05": 1, "2026-01-06": 3}
    assert spots.by_operation == {"context": 1, "recall": 3}
    assert spots.by_mode == {"hybrid": 1, "lexical": 3}
    assert spots.by_terms == {"1": 2, "3": 2}
    assert spots.questions == ()
    assert "zeppelin" not in json.dumps(document(memory.reflect()))
    assert "Asked in vain" in shown(memory.reflect())
    wall.forward(days=8)
    assert memory.reflect().blind_spots.total == 0
    assert memory.reflect(days=30).blind_spots.total == 4


def test_no_table_keeps_a_word_of_what_found_nothing(memory: Service, home: Path) -> None:
    memory.recall("zeppelin hangar keys")
    found = [records(home, table) for table in ("misses", "missed_questions", "recall_traces", "events")]
    assert len(found[0]) == 1 and found[1] == [] and "zeppelin" not in repr(found)


def test_what_a_hook_asked_in_vain_counts_as_that(
    memory: Service, wall: WallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_REFLECT_MISS_TEXTS", "on")
    tell(memory, "Boats moor at the northern berth")
    assert Host(memory, CLAUDE).asks(OFF_TOPIC) == ""
    assert Host(memory, CLAUDE).asks("yes") == ""
    spots = memory.reflect().blind_spots
    assert (spots.total, spots.by_operation, spots.questions) == (1, {"hook-prompt": 1}, ())


def test_the_counts_are_kept_for_thirty_days(memory: Service, home: Path, wall: WallClock) -> None:
    memory.recall("zeppelin")
    wall.forward(days=29)
    memory.recall("xylophone")
    assert memory.reflect(days=365).blind_spots.total == 2
    wall.forward(days=2)
    memory.recall("xylophone")
    assert memory.reflect(days=365).blind_spots.total == 2
    assert [row["day"] for row in records(home, "misses")] == ["2026-02-03", "2026-02-05"]


def test_questions_are_named_where_their_texts_are_allowed(
    memory: Service, wall: WallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_REFLECT_MISS_TEXTS", "on")
    memory.recall("where is the\nzeppelin?")
    memory.recall("  where is the zeppelin? ")
    memory.recall("xylophone")
    told = memory.reflect()
    assert [(one.question, one.asked) for one in told.blind_spots.questions] == [
        ("where is the zeppelin?", 2),
        ("xylophone", 1),
    ]
    assert "“where is the zeppelin?” (2 times, last on 2026-01-05)" in shown(told)
    assert len(memory.reflect(limit=1).blind_spots.questions) == 1
    wall.forward(days=31)
    memory.recall("ukulele")
    assert [one.question for one in memory.reflect(days=365).blind_spots.questions] == ["ukulele"]


def test_secrets_in_such_questions_are_taken_out_and_long_ones_cut(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_REFLECT_MISS_TEXTS", "on")
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    memory.recall(f"is {secret} still valid")
    memory.recall("zeppelin " * 400)
    questions = [one.question for one in memory.reflect().blind_spots.questions]
    assert sorted(map(len, questions))[-1] == misses.LONGEST_QUESTION
    assert any("[redacted:" in question for question in questions) and secret not in repr(questions)


def test_texts_go_once_they_are_no_longer_allowed(
    memory: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_REFLECT_MISS_TEXTS", "on")
    memory.recall("zeppelin")
    monkeypatch.setenv("MEM_REFLECT_MISS_TEXTS", "off")
    assert memory.reflect().blind_spots.questions == ()
    Host(memory, CLAUDE).asks(OFF_TOPIC)
    assert len(records(home, "missed_questions")) == 1
    memory.recall("xylophone")
    assert records(home, "missed_questions") == []
    assert memory.reflect().blind_spots.total == 3


def test_no_more_than_so_many_texts_are_kept(memory: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misses, "MOST", 3)
    monkeypatch.setenv("MEM_REFLECT_MISS_TEXTS", "on")
    for number in range(6):
        memory.recall(f"zeppelin{number} " + "x" * number)
    kept = {one.question.split()[0] for one in memory.reflect(limit=50).blind_spots.questions}
    assert kept == {"zeppelin3", "zeppelin4", "zeppelin5"}


# Projects


def test_each_project_looks_back_on_its_own(
    memory: Service, person: Caller, wall: WallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_REFLECT_MISS_TEXTS", "on")
    here = {name: memory.of(replace(person, project=name)) for name in ("api", "web")}
    numbers = {}
    for name, service in here.items():
        decision = tell(service, f"We build {name} with care", kind=Kind.DECISION, importance=9)
        service.observe(f"crane of {name}", "It is painted")
        service.recall("build care", mode=Mode.LEXICAL)
        service.recall(f"zeppelin{name}", mode=Mode.LEXICAL)
        service.recall(f"xylophone{name}", mode=Mode.LEXICAL, all_projects=True)
        numbers[name] = decision
    wall.forward(days=40)
    for name, service in here.items():
        told = service.reflect(days=60)
        assert (told.project, told.all_projects) == (name, False)
        assert ids(told.open_decisions) == ids(told.cold) == [numbers[name]]
        assert used(told) == [(numbers[name], 1)]
        assert hot(told) == [(f"crane of {name}", 1)]
        assert len(ids(told.stale)) == 1
        assert (told.blind_spots.total, told.blind_spots.questions) == (0, ())  # no longer kept
    for name, service in here.items():
        service.recall(f"zeppelin{name}", mode=Mode.LEXICAL)
        service.recall(f"xylophone{name}", mode=Mode.LEXICAL, all_projects=True)
    for name, service in here.items():
        spots = service.reflect().blind_spots
        assert spots.by_project == {name: 2}
        assert {one.question for one in spots.questions} == {f"zeppelin{name}", f"xylophone{name}"}
    everything = memory.reflect(days=60, all_projects=True)
    assert everything.open_decisions.total == everything.hot_entities.total == 2
    assert memory.reflect(days=60).open_decisions.total == 0


# How it is shown


def test_nothing_is_one_fixed_line(memory: Service) -> None:
    assert shown(memory.reflect()) == "Nothing stands out."


def test_text_of_a_user_is_neither_a_heading_nor_a_fence(memory: Service, wall: WallClock) -> None:
    hostile = "## Now\n```sh\nrm -rf /\n```\r\n# Top\u2028~~~\n" + "x" * 500
    stored = memory.store(hostile, kind=Kind.DECISION, title="# Title\n## Two")
    memory.observe("# crane\u2028", "- it lifts\n## More")
    text = shown(memory.reflect())
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["## Hot in the last 7 days", "## Open decisions"]
    assert "```" not in text and "~~~" not in text
    assert all(line.startswith(("## ", "- ")) or not line for line in text.splitlines())
    assert max(map(len, text.splitlines())) < 250
    assert (
        document(memory.reflect())["open_decisions"]["memories"][0]["content"]
        == get(memory, stored.id).content
    )


def test_what_is_left_out_is_counted(memory: Service, wall: WallClock) -> None:
    for chosen in ("Rust", "a monorepo", "Postgres", "trunk releases", "Fly", "blue buttons", "tea"):
        tell(memory, f"Chosen: {chosen}", kind=Kind.DECISION)
    assert shown(memory.reflect()).splitlines()[-1] == "- … and 2 more"
    assert shown(memory.reflect(limit=7)).count("- #") == 7


def test_it_reads_only(memory: Service, home: Path, wall: WallClock) -> None:
    tell(memory, "We use Postgres", kind=Kind.DECISION)
    tables = ("memories", "events", "usage", "recall_traces", "misses")
    before = [records(home, table) for table in tables]
    memory.reflect(all_projects=True)
    assert [records(home, table) for table in tables] == before


def test_bounds_are_told(run_mem: Callable[..., Ran]) -> None:
    for option, value in (("--days", "0"), ("--days", "366"), ("--stale-days", "0"), ("--limit", "51")):
        ran = run_mem("reflect", option, value)
        assert (ran.code, ran.out) == (2, "")
        assert "must be from 1 to" in ran.err and value in ran.err


def test_an_unknown_value_of_the_setting_names_itself(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_REFLECT_MISS_TEXTS", "perhaps")
    with pytest.raises(Usage, match=r"reflect\.miss-texts must be true or false, not 'perhaps'"):
        memory.reflect()
