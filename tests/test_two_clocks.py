"""When a fact held, and when we believed it: neither clock's answers are ever rewritten."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import process_environment
from telling import everything, get, live, tell
from wall_clock import WallClock

from mem import clock
from mem.errors import MemError, NotFound, Refused, Usage
from mem.service import Service
from mem.truth.drafts import Clearable
from mem.values import Kind, Layer, Mode, Status

MARCH, APRIL = "2026-03-15T12:00:00Z", "2026-04-15T12:00:00Z"
BEFORE, AFTER = "2026-05-10T07:59:00Z", "2026-05-10T08:01:00Z"


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-03-01T09:00:00Z")


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Moves the machine to a zone, by its POSIX rule."""
    with monkeypatch.context() as patched:

        def move(rule: str) -> None:
            patched.setenv("TZ", rule)
            time.tzset()

        yield move
    time.tzset()


def answers(memory: Service, ids: list[str], **moment: Any) -> set[str]:
    """What holds at a moment: the same by list, by get, and by recall in every mode."""
    listed = {found.content for found in memory.list_(**moment).memories}
    got = set()
    for id_ in ids:
        try:
            got.add(memory.get([id_], **moment).memories[0].content)
        except NotFound:
            continue
    assert got == listed
    for mode in Mode:
        recalled = memory.recall("which port does the API use", mode=mode, **moment)
        assert {hit.memory.content for hit in recalled.hits} == listed, mode
    return listed


# On 1 March we learn that the port is 80; on 10 May, that it is 81 since 1 April.
PORTS: list[tuple[dict[str, str], int | None]] = [
    ({"valid_at": MARCH, "known_at": BEFORE}, 80),
    ({"valid_at": APRIL, "known_at": BEFORE}, 80),
    ({"valid_at": MARCH, "known_at": AFTER}, 80),
    ({"valid_at": APRIL, "known_at": AFTER}, 81),
    ({"valid_at": MARCH}, 80),
    ({"valid_at": APRIL}, 81),
    ({"known_at": BEFORE}, 80),
    ({"known_at": AFTER}, 81),
    ({}, 81),
    ({"valid_at": "2026-02-15T12:00:00Z"}, None),
    ({"known_at": "2026-02-15T12:00:00Z"}, None),
    ({"valid_at": APRIL, "known_at": "2026-02-15T12:00:00Z"}, None),
    # Intervals are half-open, to the microsecond.
    ({"valid_at": "2026-03-31T23:59:59.999999Z"}, 80),
    ({"valid_at": "2026-04-01T00:00:00Z"}, 81),
    ({"valid_at": "2026-03-01T00:00:00Z"}, 80),
    ({"valid_at": "2026-02-28T23:59:59.999999Z"}, None),
]


@pytest.mark.parametrize("kind", list(Kind))
def test_the_port_changed_before_we_knew(memory: Service, wall: WallClock, kind: Kind) -> None:
    title = "Port of the API" if kind is Kind.DECISION else None
    first = tell(memory, "The API uses port 80", kind=kind, title=title, valid_from="2026-03-01T00:00:00Z")
    wall.set("2026-05-10T08:00:00Z")
    changed = memory.supersede([first], content="The API uses port 81", valid_from="2026-04-01T00:00:00Z")
    wall.set("2026-05-20T08:00:00Z")
    second = str(changed.memories[1].id)
    for moment, port in PORTS:
        expected = {f"The API uses port {port}"} if port else set()
        # Without a clock, get shows what is asked for, whatever holds.
        ids = [first, second] if moment else [second]
        assert answers(memory, ids, **moment) == expected, moment


# The four pairs: what held on a day, as believed on a day.
PAIRS = [(held, known) for known in ("2026-05-01", "2026-06-01") for held in ("2026-03-15", "2026-04-20")]


@pytest.mark.parametrize("kind", [Kind.LEARNING, Kind.DECISION, Kind.SUMMARY])
@pytest.mark.parametrize("rule", ["UTC0", "EET-2EEST,M3.5.0/3,M10.5.0/4", "PST8PDT,M3.2.0,M11.1.0"])
def test_all_four_pairs_of_days_are_right_before_and_after(
    memory: Service, wall: WallClock, zone: Callable[[str], None], kind: Kind, rule: str
) -> None:
    zone(rule)
    wall.set("2026-03-01T20:00:00Z")
    title = "Port of the API" if kind is Kind.DECISION else None
    first = tell(memory, "The API uses port 80", kind=kind, title=title, valid_from="2026-03-01")

    def seen(*ids: str) -> list[set[str]]:
        return [answers(memory, list(ids), valid_at=held, known_at=known) for held, known in PAIRS]

    wall.set("2026-05-09T08:00:00Z")
    assert seen(first) == [{"The API uses port 80"}] * 4
    assert answers(memory, [first], valid_at="2026-02-28") == set()
    wall.set("2026-05-10T20:00:00Z")
    changed = memory.supersede([first], content="The API uses port 81", valid_from="2026-04-01")
    wall.set("2026-07-01T08:00:00Z")
    ids = [first, str(changed.memories[1].id)]
    assert seen(*ids) == [{f"The API uses port {port}"} for port in (80, 80, 80, 81)]
    by_day = {
        day: answers(memory, ids, valid_at=day)
        for day in ("2026-02-28", "2026-03-01", "2026-03-31", "2026-04-01")
    }
    assert list(by_day.values()) == [set(), *({f"The API uses port {port}"} for port in (80, 80, 81))]
    # The day on which we learned it ends with what we learned.
    assert answers(memory, ids, valid_at="2026-04-20", known_at="2026-05-09") == {"The API uses port 80"}
    assert answers(memory, ids, valid_at="2026-04-20", known_at="2026-05-10") == {"The API uses port 81"}


MOVED = """
import os
from datetime import datetime
from mem import clock
now = datetime.fromisoformat(os.environ["NOW"])
clock.now = lambda: now
from mem.__main__ import main
main()
"""


def test_real_processes_answer_all_four_pairs(home: Path) -> None:
    def mem(now: str, *arguments: str) -> dict[str, Any]:
        environment = process_environment({"NOW": now, "TZ": "UTC0", "MEM_MODEL": "none"})
        command = [sys.executable, "-c", MOVED, *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, env=environment, timeout=120)
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (3 if "error" in found else 0), done.stderr
        return found

    def seen(now: str, held: str, known: str) -> list[tuple[str, str]]:
        clocks = ("--valid-at", held, "--known-at", known)
        hits = mem(now, "recall", "which port does the API use", *clocks)["hits"]
        listed = mem(now, "list", *clocks)["memories"]
        assert sorted(hit["id"] for hit in hits) == sorted(one["id"] for one in listed)
        assert mem(now, "get", *(str(one["id"]) for one in listed), *clocks)["memories"] == listed
        return sorted((one["kind"], one["content"]) for one in listed)

    kinds = ("decision", "learning", "summary")
    for kind in kinds:
        title = ("--title", "Port") if kind == "decision" else ()
        told = ("API: port 80", "--kind", kind, *title, "--valid-from", "2026-03-01")
        assert mem("2026-03-01T09:00:00Z", "store", *told)["action"] == "added"
    port_80 = [(kind, "API: port 80") for kind in kinds]
    assert [seen("2026-05-05T09:00:00Z", *pair) for pair in PAIRS[:2]] == [port_80] * 2
    for id_ in ("1", "2", "3"):
        learned = ("--content", "API: port 81", "--valid-from", "2026-04-01")
        assert mem("2026-05-10T09:00:00Z", "supersede", id_, *learned)["action"] == "superseded"
    port_81 = [(kind, "API: port 81") for kind in kinds]
    after = [seen("2026-06-02T09:00:00Z", *pair) for pair in PAIRS]
    assert after == [port_80, port_80, port_80, port_81]
    assert mem("2026-06-02T09:00:00Z", "get", "4", "--known-at", "2026-05-01")["error"]["code"] == "not_found"


def test_both_clocks_meet_in_store_with_supersedes(memory: Service, wall: WallClock) -> None:
    first = tell(memory, "The API uses port 80", valid_from="2026-03-01T00:00:00Z")
    wall.set("2026-05-10T08:00:00Z")
    second = tell(memory, "The API uses port 81", supersedes=[first], valid_from="2026-04-01T00:00:00Z")
    seen = [
        answers(memory, [first, second], valid_at=valid_at, known_at=known_at)
        for known_at in (BEFORE, AFTER)
        for valid_at in (MARCH, APRIL)
    ]
    assert seen == [{f"The API uses port {port}"} for port in (80, 80, 80, 81)]


def test_a_corrected_slip_is_still_what_we_believed(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API uses port 8O")
    wall.set("2026-05-10T08:00:00Z")
    corrected = memory.update(id_, content="The API uses port 80").memories[0]
    wall.set("2026-05-20T08:00:00Z")
    assert answers(memory, [id_], known_at=BEFORE) == {"The API uses port 8O"}
    assert answers(memory, [id_], known_at=AFTER) == {"The API uses port 80"}
    assert answers(memory, [id_], valid_at=MARCH) == {"The API uses port 80"}
    # A version ends exactly where the next begins.
    assert answers(memory, [id_], known_at=corrected.changed_at) == {"The API uses port 80"}
    just_before = clock.to_text(clock.from_text(corrected.changed_at) - clock.MICROSECOND)
    assert answers(memory, [id_], known_at=just_before) == {"The API uses port 8O"}
    assert answers(memory, [id_], known_at=BEFORE, valid_at=AFTER) == {"The API uses port 8O"}


def test_what_is_archived_now_was_believed_then_and_is_marked(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API uses port 80")
    wall.set("2026-05-10T08:00:00Z")
    memory.archive([id_], reason="shut down")
    assert live(memory) == set()
    assert [found.status for found in memory.list_(known_at=BEFORE).memories] == [Status.ACTIVE]
    assert [found.status for found in memory.list_(known_at=AFTER).memories] == [Status.ARCHIVED]
    assert [hit.memory.status for hit in memory.recall("API port", valid_at=MARCH).hits] == [Status.ARCHIVED]
    assert memory.list_(known_at=AFTER, status=[Status.ACTIVE]).total == 0


def test_a_moved_memory_was_believed_where_it_was(memory: Service, wall: WallClock) -> None:
    tell(memory, "The API uses port 80", project="shop")
    wall.set("2026-05-10T08:00:00Z")
    memory.update("1", project="blog")
    for project, moment, total in (
        ("shop", BEFORE, 1),
        ("shop", AFTER, 0),
        ("blog", BEFORE, 0),
        ("blog", AFTER, 1),
    ):
        assert memory.list_(project=project, known_at=moment).total == total
        assert len(memory.recall("API port", project=project, known_at=moment).hits) == total


def test_what_had_expired_by_then_is_not_believed(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API uses port 80", layer=Layer.WORKING)
    wall.set("2026-05-10T08:00:00Z")
    assert answers(memory, [id_], known_at="2026-03-01T14:00:00Z") == {"The API uses port 80"}
    assert answers(memory, [id_], known_at="2026-03-01T16:00:00Z") == set()


def test_known_at_alone_asks_what_was_believed_to_hold_then(memory: Service, wall: WallClock) -> None:
    first = tell(memory, "The API uses port 80", valid_to="2026-03-10T00:00:00Z")
    second = tell(memory, "The API uses port 81", valid_from="2026-03-10T00:00:00Z")
    wall.set("2026-05-10T08:00:00Z")
    ids = [first, second]
    assert answers(memory, ids, known_at="2026-03-02T00:00:00Z") == {"The API uses port 80"}
    assert answers(memory, ids, known_at="2026-03-12T00:00:00Z") == {"The API uses port 81"}
    believed_to_come = answers(memory, ids, known_at="2026-03-02T00:00:00Z", valid_at=APRIL)
    assert believed_to_come == {"The API uses port 81"}


def test_without_a_clock_what_has_ended_or_not_begun_stays_out(memory: Service, wall: WallClock) -> None:
    tell(memory, "The API uses port 80", valid_to="2026-03-10T00:00:00Z")
    tell(memory, "The API uses port 81", valid_from="2026-03-10T00:00:00Z", valid_to="2026-03-20T00:00:00Z")
    tell(memory, "The API uses port 82", valid_from="2026-03-20T00:00:00Z")
    for day, port in (("2026-03-09", 80), ("2026-03-11", 81), ("2026-03-21", 82)):
        wall.set(f"{day}T12:00:00Z")
        expected = {f"The API uses port {port}"}
        assert live(memory) == expected
        for mode in Mode:
            assert {hit.memory.content for hit in memory.recall("API port", mode=mode).hits} == expected
    assert {found.status for found in everything(memory)} == {Status.ACTIVE}


def test_a_day_is_a_local_day(memory: Service, wall: WallClock, zone: Callable[[str], None]) -> None:
    zone("XXX-3")
    first = tell(memory, "The API uses port 80", valid_to="2026-03-31")
    second = tell(memory, "The API uses port 81", valid_from="2026-04-01")
    assert get(memory, first).valid_to == get(memory, second).valid_from == "2026-03-31T21:00:00.000000Z"
    assert answers(memory, [first, second], valid_at="2026-03-31") == {"The API uses port 80"}
    assert answers(memory, [first, second], valid_at="2026-04-01") == {"The API uses port 81"}
    assert answers(memory, [first, second], valid_at="2026-03-31T23:59:59+03:00") == {"The API uses port 80"}
    # Known at a day means at its last instant.
    assert answers(memory, [first, second], known_at="2026-02-28") == set()
    assert answers(memory, [first, second], known_at="2026-03-01") == {"The API uses port 80"}


# What begins, ends and is replaced at a time that is named


def test_what_is_replaced_from_a_later_day_holds_until_then(memory: Service, wall: WallClock) -> None:
    def now() -> tuple[set[str], set[str]]:
        recalled = memory.recall("which port does the API use").hits
        return {found.content for found in memory.list_().memories}, {hit.memory.content for hit in recalled}

    old = tell(memory, "The API listens on port 80")
    memory.supersede([old], content="The API listens on port 81", valid_from="2026-03-11T00:00:00Z")
    new = get(memory, old).superseded_by
    assert now() == ({"The API listens on port 80"}, {"The API listens on port 80"})
    with pytest.raises(MemError, match=f"superseded by #{new} already"):
        memory.supersede([old], content="The API listens on port 82")
    wall.forward(days=20)
    assert now() == ({"The API listens on port 81"}, {"The API listens on port 81"})
    told = memory.store("The API listens on port 80")
    assert (told.action, told.refusal and told.refusal.code) == ("refused", "superseded")


def test_the_day_on_which_clocks_change_is_as_long_as_it_is(
    memory: Service, wall: WallClock, zone: Callable[[str], None]
) -> None:
    wall.set("2026-12-01T00:00:00Z")
    zone("CET-1CEST,M3.5.0,M10.5.0/3")
    long_day = tell(memory, "The API uses port 80", valid_from="2026-10-25", valid_to="2026-10-25")
    short_day = tell(memory, "The API uses port 81", valid_from="2026-03-29", valid_to="2026-03-29")
    told = [(get(memory, id_).valid_from, get(memory, id_).valid_to) for id_ in (long_day, short_day)]
    assert told == [
        ("2026-10-24T22:00:00.000000Z", "2026-10-25T23:00:00.000000Z"),
        ("2026-03-28T23:00:00.000000Z", "2026-03-29T22:00:00.000000Z"),
    ]
    ids = [long_day, short_day]
    for day, port in (("2026-10-24", 0), ("2026-10-25", 80), ("2026-10-26", 0), ("2026-03-29", 81)):
        assert answers(memory, ids, valid_at=day) == ({f"The API uses port {port}"} if port else set())
    assert answers(memory, ids, valid_at="2026-10-25T22:59:59.999999Z") == {"The API uses port 80"}
    assert answers(memory, ids, valid_at="2026-10-25T23:00:00Z") == set()
    # The same text, read elsewhere, means the day there.
    zone("JST-9")
    assert answers(memory, ids, valid_at="2026-10-26") == set()
    assert answers(memory, ids, valid_at="2026-10-25") == {"The API uses port 80"}
    assert answers(memory, ids, valid_at="2026-03-30") == set()


def test_a_successor_holds_from_where_the_old_one_ceased(memory: Service, wall: WallClock) -> None:
    told = {
        "now": (tell(memory, "The API uses port 80"), {}),
        "since it ended": (tell(memory, "The web uses port 80"), {"valid_to": "2026-02-01T00:00:00Z"}),
        "from when it will end": (
            tell(memory, "The mail uses port 80"),
            {"valid_to": "2026-09-01T00:00:00Z"},
        ),
    }
    wall.set("2026-05-10T08:00:00Z")
    for name, (id_, until) in told.items():
        text = memory.get([id_]).memories[0].content.replace("80", "81")
        old, new = memory.supersede([id_], content=text, **until).memories
        assert (new.valid_from, new.valid_to) == (old.valid_to, None), name
        for moment in ({}, {"valid_at": MARCH}, {"valid_at": "2026-10-01T00:00:00Z"}):
            held = [found for found in (old.content, new.content) if found in answers_of(memory, moment)]
            assert len(held) == 1, (name, moment)


def answers_of(memory: Service, moment: dict[str, str]) -> set[str]:
    return {found.content for found in memory.list_(**moment).memories}


def test_an_existing_successor_holds_from_when_it_was_recorded(memory: Service, wall: WallClock) -> None:
    old = tell(memory, "The API uses port 80")
    wall.set("2026-04-10T08:00:00Z")
    new = tell(memory, "The API uses port 81")
    wall.set("2026-05-10T08:00:00Z")
    # What is live now stays so, even where the old one is said to hold for a while yet.
    memory.supersede([old], by=new, valid_to="2026-06-01T00:00:00Z")
    assert get(memory, new).valid_from == get(memory, new).recorded_at
    assert answers(memory, [old, new], valid_at=MARCH) == {"The API uses port 80"}
    assert answers(memory, [new], valid_at="2026-06-01T00:00:00Z") == {"The API uses port 81"}
    before = {"The API uses port 80", "The API uses port 81"}
    assert answers(memory, [old, new], valid_at=APRIL, known_at=BEFORE) == before


def test_a_successor_that_is_known_keeps_its_own_interval(memory: Service, wall: WallClock) -> None:
    old = tell(memory, "The API uses port 80")
    new = tell(memory, "The API uses port 81", valid_from="2026-02-01T00:00:00Z")
    for change in (
        lambda: memory.supersede([old], content="the API uses port 81.", valid_from="2026-02-20T00:00:00Z"),
        lambda: memory.store("The API uses port 81", supersedes=[old], valid_from="2026-02-20T00:00:00Z"),
    ):
        with pytest.raises(Refused, match=f"#{new} says this already, and holds since 2026-02-01") as caught:
            change()
        assert f"mem update {new} --valid-from" in caught.value.hint
    assert get(memory, old).superseded_by is None
    memory.supersede([old], content="The API uses port 81", valid_from="2026-02-01T00:00:00Z")
    assert (get(memory, old).superseded_by, get(memory, old).valid_to) == (
        int(new),
        get(memory, new).valid_from,
    )


@pytest.mark.parametrize("said", ["title", "rationale", "valid_from"])
@pytest.mark.parametrize("way", ["by", "ended"])
def test_what_is_said_of_a_new_text_is_refused_without_one(memory: Service, said: str, way: str) -> None:
    old, new = tell(memory, "The API uses port 80"), tell(memory, "The API uses port 81")
    arguments: dict[str, Any] = {"by": {"by": new}, "ended": {"ended": True}}[way]
    with pytest.raises(Usage, match=f"supersede takes {said.replace('_', '-')} with a new text only"):
        memory.supersede([old], **arguments, **{said: "2026-04-01"})
    assert get(memory, old).superseded_by is None


def test_what_never_began_is_out_once_it_is_ended_or_replaced(memory: Service, wall: WallClock) -> None:
    ended = tell(memory, "The API uses port 80", valid_from="2026-06-01T00:00:00Z")
    replaced = tell(memory, "The web uses port 80", valid_from="2026-06-01T00:00:00Z")
    memory.supersede([ended], ended=True)
    memory.supersede([replaced], content="The web uses port 81", valid_from="2026-02-01T00:00:00Z")
    assert {get(memory, id_).status for id_ in (ended, replaced)} == {Status.SUPERSEDED}
    assert get(memory, ended).valid_to == get(memory, ended).valid_from
    assert live(memory) == {"The web uses port 81"}
    wall.set("2026-06-02T00:00:00Z")
    assert live(memory) == {"The web uses port 81"}
    assert answers_of(memory, {"valid_at": "2026-06-01T00:00:00Z"}) == {"The web uses port 81"}


def test_what_replaces_something_is_found_at_once_though_the_clock_was_set_back(
    memory: Service, wall: WallClock
) -> None:
    old = tell(memory, "The API uses port 80")
    wall.set("2026-02-20T08:00:00Z")
    memory.supersede([old], content="The API uses port 81")
    assert live(memory) == {"The API uses port 81"}
    assert {hit.memory.content for hit in memory.recall("API port").hits} == {"The API uses port 81"}


def test_a_fact_that_ended_by_itself_is_told_anew(memory: Service, wall: WallClock) -> None:
    first = tell(memory, "The API uses port 80", valid_to="2026-03-10T00:00:00Z")
    known = memory.store("The API uses port 80")
    assert (known.action, str(known.id)) == ("already_known", first)
    wall.set("2026-05-10T08:00:00Z")
    second = tell(memory, "The API uses port 80")
    wall.set("2026-05-20T08:00:00Z")
    assert live(memory) == {"The API uses port 80"}
    held = {
        day: [str(found.id) for found in memory.list_(valid_at=f"2026-{day}T00:00:00Z").memories]
        for day in ("03-09", "04-01", "05-11")
    }
    assert held == {"03-09": [first], "04-01": [], "05-11": [second]}
    then = memory.get([first], known_at=MARCH, valid_at="2026-03-09T00:00:00Z").memories[0]
    assert (then.status, then.valid_to) == (Status.ACTIVE, "2026-03-10T00:00:00.000000Z")


def test_an_interval_can_be_corrected_later_but_not_turned_round(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API uses port 80", valid_from="2026-03-01T00:00:00Z")
    wall.set("2026-05-10T08:00:00Z")
    with pytest.raises(Usage, match="not after valid-from"):
        memory.update(id_, valid_to="2026-02-01T00:00:00Z")
    with pytest.raises(Usage, match="not after valid-from"):
        memory.update(id_, valid_to="2026-03-01T00:00:00Z")
    memory.update(id_, valid_from="2026-01-01T00:00:00Z", valid_to="2026-04-01T00:00:00Z")
    wall.set("2026-05-20T08:00:00Z")
    february, now = {"valid_at": "2026-02-01T00:00:00Z"}, {"valid_at": AFTER}
    assert answers_of(memory, february) == {"The API uses port 80"}
    assert answers_of(memory, {**february, "known_at": BEFORE}) == set()
    assert answers_of(memory, now) == answers_of(memory, {}) == set()
    assert answers_of(memory, {**now, "known_at": BEFORE}) == {"The API uses port 80"}
    memory.update(id_, valid_from="2026-06-01T00:00:00Z", clear=[Clearable.VALID_TO])
    assert live(memory) == set()
    wall.set("2026-06-01T00:00:00Z")
    assert live(memory) == {"The API uses port 80"}


def test_what_was_rejected_since_was_believed_then(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API uses port 80")
    wall.set("2026-05-10T08:00:00Z")
    memory.reject([id_], reason="it never did")
    wall.set("2026-05-20T08:00:00Z")
    assert [found.status for found in memory.list_(known_at=BEFORE).memories] == [Status.ACTIVE]
    assert [found.status for found in memory.list_(valid_at=MARCH).memories] == [Status.REJECTED]
    assert [hit.memory.status for hit in memory.recall("API port", valid_at=MARCH).hits] == [Status.REJECTED]
    assert "port 80" not in memory.context("which port does the API use").text
    assert live(memory) == set()


@pytest.mark.parametrize("argument", ["valid_at", "known_at", "since", "until"])
def test_an_empty_time_is_refused_and_not_taken_for_none(memory: Service, argument: str) -> None:
    with pytest.raises(MemError, match="'' is not a date or time"):
        memory.list_(**{argument: ""})  # type: ignore[arg-type]


def test_an_empty_interval_is_refused_and_nothing_is_stored(memory: Service) -> None:
    with pytest.raises(MemError, match="valid-from '' is not a date or time"):
        memory.store("The API listens on port 80", valid_from="")
    assert memory.list_().total == 0
