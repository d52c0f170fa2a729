"""Counts name exactly what was planted; the store comes about through operations alone."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Ran
from hook_host import CLAUDE, OFF_TOPIC, Host
from telling import tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.service import Service
from mem.values import Category, Kind, Layer, Level, Mode

OnTerminal = Callable[..., tuple[int, str]]


@pytest.fixture
def wall() -> Iterator[WallClock]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield WallClock(patch, "2026-05-13T08:00:00Z")  # a Wednesday
    time.tzset()


def test_totals_are_told_by_everything_that_a_memory_is(memory: Service) -> None:
    tell(memory, "We use Postgres", kind=Kind.DECISION, layer=Layer.PERMANENT, category=Category.TOOL)
    tell(memory, "The crane lifts forty tonnes", level=Level.CONCRETE_TRACE, project="harbour")
    archived = tell(memory, "Boats moor at the northern berth", project="harbour")
    memory.archive([archived])
    told = memory.stats(all_projects=True)
    assert told.total == 3
    assert told.by_status == {"active": 2, "archived": 1}
    assert told.by_kind == {"decision": 1, "learning": 1}
    assert told.by_layer == {"long_term": 1, "permanent": 1}
    assert told.by_level == {"concrete_trace": 1, "semi_abstract": 1}
    assert told.by_category == {"general": 1, "tool": 1}
    assert told.by_project == {"(global)": 1, "harbour": 1}
    assert told.by_trust == {"unverified": 2}


def test_pressure_is_what_passes_beside_what_lasts(memory: Service) -> None:
    assert memory.stats().pressure == 0
    for number, layer in enumerate(
        (*[Layer.WORKING] * 2, Layer.SHORT_TERM, Layer.LONG_TERM, Layer.PERMANENT)
    ):
        tell(memory, f"Berth {number} is taken", layer=layer)
    told = memory.stats()
    assert (told.temporary, told.lasting, told.pressure) == (3, 2, 1.5)


def test_what_has_expired_counts_as_that(memory: Service, wall: WallClock) -> None:
    tell(memory, "Berth 1 is taken", layer=Layer.WORKING)
    tell(memory, "Berth 2 is taken")
    wall.forward(days=1)
    told = memory.stats()
    assert told.by_status == {"active": 1, "expired": 1}
    assert (told.temporary, told.by_kind) == (0, {"learning": 1})


def test_dead_is_what_is_live_and_old_and_was_never_recalled(memory: Service, wall: WallClock) -> None:
    for text in ("The crane lifts forty tonnes", "Boats moor at the northern berth", "Tides are tabled"):
        tell(memory, text)
    tell(memory, "The lighthouse is manned", valid_to="2026-05-20")
    memory.archive([tell(memory, "The old quay was sold")])
    assert memory.recall("crane", mode=Mode.LEXICAL).total == 1
    wall.forward(days=29)
    tell(memory, "Ferries leave on the hour")
    assert memory.stats().dead == 0
    wall.forward(days=2)
    assert (memory.stats().dead, memory.stats().dead_share) == (2, 0.5)
    memory.get(["2"])
    assert memory.stats().dead == 2


def test_misses_are_the_recalls_of_the_last_week_that_found_nothing_hooks_apart(
    memory: Service, wall: WallClock
) -> None:
    tell(memory, "The crane lifts forty tonnes")
    memory.recall("zeppelin", mode=Mode.LEXICAL)
    wall.forward(days=8)
    for question in ("zeppelin", "crane", "crane tonnes", "lifts"):
        memory.recall(question, mode=Mode.LEXICAL)
    Host(memory, CLAUDE).asks(OFF_TOPIC)
    Host(memory, CLAUDE).asks("how many tonnes does the crane lift?")
    Host(memory, CLAUDE).asks("yes")  # is not searched for
    memory.context("zeppelin")
    told = memory.stats()
    assert (told.recent_recalls, told.recent_misses, told.miss_rate) == (4, 1, 0.25)
    assert (told.recent_prompts, told.recent_prompt_misses) == (2, 1)


def test_growth_is_told_by_the_mondays_of_twelve_weeks(memory: Service, wall: WallClock) -> None:
    wall.set("2026-02-22T23:00:00Z")  # the Sunday before the first of them
    tell(memory, "The quay was built")
    wall.set("2026-02-23T00:00:00Z")
    tell(memory, "The crane was bought")
    wall.set("2026-05-10T23:59:00Z")
    gone = tell(memory, "The pilot retired")
    memory.archive([gone])
    wall.set("2026-05-11T00:00:00Z")
    tell(memory, "The lighthouse was manned")
    wall.set("2026-05-17T23:00:00Z")
    tell(memory, "The ferry was painted")
    growth = memory.stats().added_by_week
    assert len(growth) == 12 and sum(growth.values()) == 4
    assert (min(growth), max(growth)) == ("2026-02-23", "2026-05-11")
    assert (growth["2026-02-23"], growth["2026-05-04"], growth["2026-05-11"]) == (1, 1, 2)


def test_people_and_things_are_counted_within_the_scope(memory: Service, person: Caller) -> None:
    memory.observe("Ana", "likes tea", type="person", project="api")
    memory.observe("Bo", "likes lists", type="person", project="api")
    memory.observe("billing", "runs twice", type="service", global_=True)
    memory.observe("Zoe", "likes quays", type="person", project="web")
    memory.relate("Ana", "maintains", "billing", project="api")
    memory.relate("Zoe", "maintains", "billing", project="web")
    memory.relate("Bo", "maintains", "billing", project="api")
    memory.unrelate("Bo", "maintains", "billing", project="api")
    told = memory.of(replace(person, project="api")).stats()
    assert (told.entities, told.entities_by_type, told.relations) == (3, {"person": 2, "service": 1}, 1)
    everything = memory.stats(all_projects=True)
    assert (everything.entities, everything.relations, everything.events) == (4, 2, 8)


def test_coverage_is_told_by_model(memory: Service) -> None:
    assert memory.stats().vectors_by_model == {}
    tell(memory, "The crane lifts forty tonnes")
    told = memory.stats()
    assert told.vectors_by_model == {"bag-of-words@1": 1}
    assert (told.model, told.vectors_stored, told.vectors_pending) == ("bag-of-words@1", 1, 0)
    assert told.store_bytes > 0 and told.wal_bytes >= 0


def test_in_a_pipe_each_count_is_one_record(run_mem: Callable[..., Ran]) -> None:
    assert run_mem("store", "We use Postgres", env={"MEM_MODEL": "none"}).code == 0
    lines = run_mem("stats", env={"MEM_MODEL": "none"}).out.splitlines()
    assert "status active\t1" in lines and "dead share\t0.0" in lines and "recent recalls\t0" in lines
    assert sum(line.startswith("added by week 20") for line in lines) == 12
    assert all(line.count("\t") == 1 for line in lines)
    assert "█" not in "".join(lines)


@pytest.mark.parametrize("plain", [True, False], ids=["no colour", "colour"])
def test_on_a_terminal_there_are_bars_that_fit_its_width(
    run_mem: Callable[..., Ran], on_terminal: OnTerminal, home: Path, plain: bool
) -> None:
    environment = {"MEM_MODEL": "none", **({"NO_COLOR": "1"} if plain else {})}
    notes = home.parent / "notes.jsonl"
    written = "".join(
        f'{{"content": "note {number}", "kind": "{"decision" if number < 2 else "learning"}"}}\n'
        for number in range(8)
    )
    notes.write_text(written)
    assert run_mem("store-batch", notes, env=environment).code == 0
    code, seen = on_terminal("stats", env=environment)
    assert code == 0
    assert ("\x1b[36m" in seen) is not plain
    bars = {
        key: line.count("█") for line in seen.splitlines() for key in ("learning", "decision") if key in line
    }
    assert bars["learning"] > 10 and abs(bars["learning"] / 3 - bars["decision"]) <= 1
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in seen.splitlines()]
    assert max(map(len, lines)) <= 80
