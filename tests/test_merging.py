"""Stores that exchange exports agree in the end, in whatever order; nothing that was judged comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from histories import Machine, act
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from telling import live, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import Refused, Usage
from mem.records.format import RecordKind
from mem.records.versions import History, history, union
from mem.results import Action
from mem.store import events
from mem.values import SayingAction, Status

Machines = Callable[[str], Machine]
START = "2026-05-10T08:00:00Z"


@pytest.fixture
def machine(tmp_path: Path, person: Caller, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    """Machines by name, all with one clock; what they name begins with smaller ids where it came earlier."""
    WallClock(monkeypatch, START)
    made: list[Machine] = []

    def make(name: str) -> Machine:
        made.append(Machine.at(tmp_path / name, person))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


def status_of(machine: Machine, content: str) -> set[Status]:
    found = machine.memory.list_(all_projects=True, status=list(Status), limit=1000).memories
    return {memory.status for memory in found if memory.content == content}


@contextmanager
def numbered(seed: int) -> Iterator[None]:
    """The same ids in each run, so that a failure can be looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "os", SimpleNamespace(urandom=Random(seed).randbytes))  # noqa: S311
        yield


@settings(
    max_examples=int(os.environ.get("MEM_TEST_HISTORIES", "5")),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, 10_000))
def test_stores_that_take_the_same_exports_in_any_order_hold_the_same(machine: Machines, seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    with numbered(seed):
        stores = [machine(f"{seed}-{name}-{os.urandom(4).hex()}") for name in "abc"]
        old: list[Path] = []
        for _ in range(chance.randrange(8, 45)):
            one, other = chance.sample(stores, 2)
            if chance.random() < 0.15:
                file = other.export()
                one.take(file)
                old += [file] if chance.random() < 0.3 else []
            else:
                act(one, chance)
        files = [*(store.export() for store in stores), *old]

        fresh = [machine(f"{seed}-{name}-{os.urandom(4).hex()}") for name in "xy"]
        for empty in fresh:
            empty.take(*chance.sample(files, len(files)), chance.choice(files))
        assert fresh[0].digest == fresh[1].digest

        for counts in fresh[0].take(*files):
            assert {action for said in counts.values() for action in said} <= {
                "identical",
                "refused",
                "skipped",
            }
        stores[0].take(*chance.sample(files, len(files)))
        assert stores[0].digest == fresh[0].digest

        again = machine(f"{seed}-again-{os.urandom(4).hex()}")
        again.take(stores[1].export())
        assert again.digest == stores[1].digest


@st.composite
def rows(draw: st.DrawFn) -> list[History]:
    """What three stores hold of one row: versions in common and of their own, some at one instant."""
    version = st.fixed_dictionaries(
        {
            "changed_at": st.sampled_from([f"2026-05-10T08:00:0{n}.000000Z" for n in range(4)]),
            "value": st.sampled_from("xyz"),
        },
        optional={"event": st.sampled_from(["e1", "e2"])},
    )
    held = st.lists(version, min_size=1, max_size=5)
    origins = {"e1": "o2", "e2": "o1"}
    return [
        history(
            RecordKind.SETTING,
            {
                "key": "goal",
                "project": "",
                "origin": draw(st.sampled_from(["o1", "o2"])),
                "versions": said[:-1],
            }
            | said[-1],
            origins,  # type: ignore[arg-type]
        )
        for said in draw(st.tuples(held, held, held))
    ]


@settings(derandomize=True, max_examples=150)
@given(rows())
def test_the_union_of_versions_depends_on_no_order_and_comes_to_an_end(found: list[History]) -> None:
    one, other, third = found
    assert union(one, other) == union(other, one)
    assert union(union(one, other), third) == union(one, union(other, third))
    whole = union(union(one, other), third)
    assert union(whole, other) == whole == union(whole, whole)
    keys = [version.key for version in whole.versions]
    assert keys == sorted(set(keys))


def test_an_export_into_an_empty_store_and_back_is_the_same_and_again_adds_nothing(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    first = tell(here.memory, "Deploys go out on Monday", project="shop")
    here.memory.supersede([first], content="Deploys go out on Friday")
    here.memory.observe("Ana", "owns billing", project="shop")
    here.memory.goal(SayingAction.SET, "Ship it", project="shop")
    assert there.take(here.export())[0]["memory"] == {"added": 3}
    assert there.digest == here.digest
    logged = there.memory.log(all_projects=True).total
    assert all(set(said) == {"identical"} for said in there.take(here.export())[0].values())
    assert there.memory.log(all_projects=True).total == logged


def test_an_old_export_never_revives_what_was_rejected_since(machine: Machines) -> None:
    here = machine("here")
    wrong = tell(here.memory, "Deploys go out on Friday")
    before = here.export()
    here.memory.reject([wrong], reason="wrong day")
    here.take(before)
    assert status_of(here, "Deploys go out on Friday") == {Status.REJECTED}


def test_a_rejection_reaches_what_another_store_said_before_it(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    tell(there.memory, "Deploys go out on Friday")
    here.memory.reject([tell(here.memory, "Deploys go out on Friday")], reason="wrong day")
    there.take(here.export())
    assert live(there.memory) == set()
    counts = here.take(there.export())
    assert counts[0]["memory"]["refused"] == 1
    assert here.digest == there.digest

    # What is lifted elsewhere is live again, here as there.
    here.memory.restore(["1"], force=True)
    there.take(here.export())
    assert live(there.memory) == {"Deploys go out on Friday"} == live(here.memory)
    assert there.digest == here.digest


def test_what_was_said_after_a_rejection_that_its_store_did_not_know_stays(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    here.memory.reject([tell(here.memory, "Deploys go out on Friday")], reason="wrong day")
    tell(there.memory, "Deploys go out on Friday")
    there.take(here.export())
    assert live(there.memory) == {"Deploys go out on Friday"}


def test_of_one_content_in_two_stores_one_memory_stays(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    older = tell(here.memory, "Deploys go out on Monday", project="shop")
    newer = there.memory.store("Deploys go out on Monday.", project="shop")
    there.take(here.export())
    twin = there.memory.get([str(newer.id)]).memories[0]
    assert (twin.status, twin.status_reason) == (Status.SUPERSEDED, "same content")
    stays = here.memory.get([older]).memories[0]
    assert there.memory.get([str(twin.superseded_by)]).memories[0].uid == stays.uid
    assert there.memory.store("Deploys go out on Monday", project="shop").action is Action.ALREADY_KNOWN

    # Whoever archives the one does so in view of both: the other does not come back, here or elsewhere.
    there.memory.archive([str(twin.superseded_by)], reason="no longer so")
    here.take(there.export())
    assert live(here.memory) == set() == live(there.memory)
    assert here.digest == there.digest


def test_the_reserved_reason_is_not_for_people(machine: Machines) -> None:
    here = machine("here")
    told = tell(here.memory, "Deploys go out on Monday")
    with pytest.raises(Usage, match="a reason that mem itself gives"):
        here.memory.archive([told], reason="Same content")


def test_a_text_that_was_forgotten_elsewhere_is_erased_and_does_not_come_back(machine: Machines) -> None:
    here, there, late = machine("here"), machine("there"), machine("late")
    told = "The door code is 4711 and nobody may know"
    here.memory.archive([tell(here.memory, told)], reason="because of 4711")
    before = here.export()
    tell(there.memory, told)
    there.take(before)
    here.memory.forget(["1"])
    after = here.export()

    there.take(after)
    late.take(after, before)
    for machine_ in (there, late):
        assert machine_.take(before)[0]["memory"] == {"refused": 1}
        exported = machine_.export().read_text(encoding="utf-8")
        assert "4711" not in exported
    assert status_of(there, told) == set()


def test_an_entity_that_was_forgotten_elsewhere_does_not_come_back(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    here.memory.observe("Ana", "owns billing", project="shop")
    before = here.export()
    there.take(before)
    here.memory.entity_forget("Ana", project="shop")
    there.take(here.export(), before)
    assert there.memory.entities(all_projects=True).total == 0
    assert there.digest == here.digest


def test_entities_of_one_name_are_one_with_what_is_known_of_both(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    here.memory.observe("Ana", "owns billing", project="shop")
    there.memory.entity_set("ana", alias=["Annie"], project="shop")
    there.memory.observe("Ana", "likes tea", project="shop")
    there.take(here.export())
    here.take(there.export())
    for one in (here, there):
        known = one.memory.entity("Annie", project="shop")
        assert {memory.content for memory in known.observations} == {"owns billing", "likes tea"}
    assert here.digest == there.digest


def test_a_link_to_what_is_not_there_yet_is_made_when_it_comes(machine: Machines, tmp_path: Path) -> None:
    here, there, other = machine("here"), machine("there"), machine("other")
    old = tell(here.memory, "Deploys go out on Monday", project="shop")
    new = here.memory.supersede([old], content="Deploys go out on Friday")
    whole = here.export()
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    successor = [
        line for line, one in zip(lines, records, strict=True) if one.get("content", "").endswith("Friday")
    ]
    assert len(successor) == 1
    assert new.memories
    parts = []
    for name, kept in (("first", lambda line: line not in successor), ("second", lambda line: True)):
        part = tmp_path / f"{name}.jsonl"
        part.write_text("".join(line for line in lines if kept(line)), encoding="utf-8")
        parts.append(part)
    there.take(*parts)
    other.take(*reversed(parts))
    assert there.digest == other.digest == here.digest


def test_an_import_changes_no_earlier_answer_about_the_rows_that_were_here(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    told = tell(here.memory, "Deploys go out on Monday", project="shop")
    tell(there.memory, "Backups run at night", project="shop")
    there.take(here.export())
    there.memory.archive([told if told == "2" else "2"], reason="moved")
    moment = there.memory.log(all_projects=True).events[0].at
    here.memory.update(told, importance=9)
    before = {m.content for m in there.memory.list_(all_projects=True, known_at=moment).memories}
    there.take(here.export())
    after = {m.content for m in there.memory.list_(all_projects=True, known_at=moment).memories}
    assert before <= after


def test_what_is_done_after_an_import_comes_after_all_that_it_brought(
    machine: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = machine("here"), machine("there")
    clock = WallClock(monkeypatch, "2026-05-10T20:00:00Z")
    told = tell(here.memory, "Deploys go out on Monday")
    file = here.export()
    clock.set("2026-05-10T09:00:00Z")
    there.take(file)
    there.memory.archive([there.memory.list_().memories[0].uid], reason="moved")
    assert status_of(there, "Deploys go out on Monday") == {Status.ARCHIVED}
    here.take(there.export())
    assert here.memory.get([told]).memories[0].status is Status.ARCHIVED


def test_undo_after_an_import_works_or_names_what_is_in_the_way(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    told = tell(here.memory, "Deploys go out on Monday")
    there.take(here.export())
    here.memory.archive([told], reason="old")
    archived = here.memory.log(all_projects=True).events[0].id
    there.memory.update(there.memory.list_().memories[0].uid, importance=9)
    here.take(there.export())
    with pytest.raises(Refused, match="has changed since"):
        here.memory.undo(str(archived))
    other = tell(here.memory, "Backups run at night")
    stored = here.memory.log(all_projects=True).events[0].id
    here.take(there.export())
    here.memory.undo(str(stored))
    assert here.memory.get([other]).memories[0].status is Status.ARCHIVED


def test_memories_that_two_stores_let_replace_each_other_do_not_both_vanish(machine: Machines) -> None:
    here, there = machine("here"), machine("there")
    one = tell(here.memory, "Deploys go out on Monday")
    other = tell(here.memory, "Deploys go out on Friday")
    there.take(here.export())
    here.memory.supersede([one], by=other)
    uids = {m.content: m.uid for m in there.memory.list_().memories}
    there.memory.supersede([uids["Deploys go out on Friday"]], by=uids["Deploys go out on Monday"])
    files = here.export(), there.export()
    here.take(*files)
    there.take(*files)
    assert live(here.memory) == live(there.memory) == {"Deploys go out on Monday"}
    assert here.digest == there.digest


def test_a_source_without_dates_changes_nothing_when_it_says_what_it_said_before(
    machine: Machines, tmp_path: Path
) -> None:
    here = machine("here")
    notes = tmp_path / "notes.jsonl"
    notes.write_text(
        '{"id": "n1", "content": "Deploys go out on Monday", "tags": ["ops"]}\n', encoding="utf-8"
    )
    assert here.take(notes)[0]["memory"] == {"added": 1}
    here.memory.update("1", content="Deploys go out on Tuesday", importance=9)
    assert here.take(notes)[0]["memory"] == {"identical": 1}
    assert live(here.memory) == {"Deploys go out on Tuesday"}

    # What it says anew is a new version; what was put away stays so.
    here.memory.archive(["1"], reason="old")
    notes.write_text(
        '{"id": "n1", "content": "Deploys go out on Sunday", "tags": ["ops"]}\n', encoding="utf-8"
    )
    assert here.take(notes)[0]["memory"] == {"updated": 1}
    assert status_of(here, "Deploys go out on Sunday") == {Status.ARCHIVED}
