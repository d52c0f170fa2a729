"""The log as it is read: who did what, when and why, within a scope; and what each version changed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from conftest import Ran, process_environment
from telling import get, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.cli import follow
from mem.errors import NotFound, Usage
from mem.results import Event, Log
from mem.service import Service
from mem.store import audit
from mem.values import Actor, ActorKind, Scope

Run = Callable[..., Ran]


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


@pytest.fixture
def told(memory: Service, person: Caller, wall: WallClock) -> Service:
    """Seven events of a person and an agent, in two projects and none, over three days."""
    agent = memory.of(replace(person, actor=Actor(ActorKind.AGENT, "some-editor", "session-7")))
    tell(memory, "The API uses port 80")  # event 1, #1
    tell(memory, "Alpha deploys on Friday", project="alpha")  # 2, #2
    wall.forward(days=1)
    agent.session_start()  # 3
    agent.update("1", importance=8, reason="it broke twice")  # 4
    agent.store("Beta has no tests", project="beta")  # 5, #3
    wall.forward(days=1)
    memory.supersede(["1"], content="The API uses port 81", reason="new ingress")  # 6, #1 and #4
    memory.archive(["2", "3", "4"], reason="all over")  # 7
    return memory


def numbers(log: Log) -> list[int]:
    return [event.id for event in log.events]


def test_the_log_tells_who_did_what_when_and_why_newest_first(told: Service, person: Caller) -> None:
    log = told.log(all_projects=True)
    assert (log.total, log.elsewhere, log.newest) == (7, 0, 7)
    assert numbers(log) == [7, 6, 5, 4, 3, 2, 1]
    assert [event.operation for event in log.events] == [
        "archive",
        "supersede",
        "store",
        "update",
        "session-start",
        "store",
        "store",
    ]
    update = log.events[3]
    first = get(told, 1)
    assert update.at.startswith("2026-05-11T08:00:00")
    assert (update.actor, update.client, update.session) == ("agent", "some-editor", "session-7")
    assert (update.reason, update.detail, update.undoes, update.undone_by) == (
        "it broke twice",
        {},
        None,
        None,
    )
    assert [(one.id, one.uid) for one in update.subjects] == [(1, first.uid)]
    assert [one.id for one in log.events[1].subjects] == [1, 4]
    assert log.events[4].detail["session"] == told.sessions(all_projects=True).sessions[0].uid


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"operation": ["store"]}, [5, 2, 1]),
        ({"operation": ["Session_Start", "archive"]}, [7, 3]),
        ({"actor": [ActorKind.PERSON]}, [7, 6, 2, 1]),
        ({"actor": [ActorKind.AGENT, ActorKind.HOOK]}, [5, 4, 3]),
        ({"client": ["some-editor"]}, [5, 4, 3]),
        ({"client": ["nobody"]}, []),
        ({"session": "session-7"}, [5, 4, 3]),
        ({"session": "1"}, [5, 4, 3]),
        ({"memory": ["1"]}, [6, 4, 1]),
        ({"memory": ["#2", "3"]}, [7, 5, 2]),
        ({"memory": ["1"], "operation": ["supersede"]}, [6]),
        ({"since": "2026-05-11"}, [7, 6, 5, 4, 3]),
        ({"until": "2026-05-11"}, [5, 4, 3, 2, 1]),
        ({"since": "2026-05-11", "until": "2026-05-11"}, [5, 4, 3]),
        ({"after": "5"}, [7, 6]),
        ({"after": "7"}, []),
        ({"limit": 2}, [7, 6]),
        ({"limit": 2, "offset": 5}, [2, 1]),
        ({"offset": 7}, []),
        ({"operation": ["undo"]}, []),
    ],
)
def test_the_log_is_filtered(told: Service, asked: dict[str, Any], expected: list[int]) -> None:
    log = told.log(all_projects=True, **asked)
    assert numbers(log) == expected
    if not {"limit", "offset"} & set(asked):
        assert log.total == len(expected)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"operation": ["supersed"]}, Usage, "Did you mean supersede"),
        ({"memory": ["99"]}, NotFound, "no memory 99"),
        ({"memory": ["nonsense"]}, Usage, "'nonsense' is not an id"),
        ({"session": "no such"}, NotFound, "no session 'no such'"),
        ({"since": "yesterday"}, Usage, "since 'yesterday'"),
        ({"since": "2026-05-12", "until": "2026-05-11"}, Usage, "is not after"),
        ({"after": "99"}, NotFound, "no event 99"),
        ({"after": "late"}, Usage, "'late' is not the id of an event"),
    ],
)
def test_what_the_log_cannot_be_asked_is_told(
    told: Service, asked: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        told.log(**asked)
    assert words in f"{caught.value} {getattr(caught.value, 'hint', '')}"


def test_the_log_shows_the_scope_and_what_is_global_and_nothing_else(told: Service) -> None:
    log = told.log()  # outside any project
    assert numbers(log) == [7, 6, 4, 3, 1]
    assert (log.total, log.elsewhere) == (5, 2)
    assert [one.id for one in log.events[0].subjects] == [4]  # the others are in projects
    alpha = told.log(project="alpha")
    assert numbers(alpha) == [7, 6, 4, 3, 2, 1]
    assert [one.id for one in alpha.events[0].subjects] == [2, 4]
    assert alpha.elsewhere == 1
    assert told.log(project="alpha", memory=["3"]).events[0].subjects != ()
    assert [one.id for one in told.log(memory=["3"]).events[0].subjects] == [4]
    assert numbers(told.log(memory=["3"])) == [7]


def test_the_scope_of_an_event_is_looked_up_and_never_scanned_for(told: Service) -> None:
    with told._store.read() as db:
        condition, values = audit._scope(Scope("alpha"))
        plan = db.execute(f"EXPLAIN QUERY PLAN SELECT e.id FROM events e WHERE {condition}", values)  # noqa: S608
        steps = [row[3] for row in plan]
    assert [step for step in steps if " m " in f"{step} "]
    assert not [step for step in steps if step.startswith("SCAN m") or "project" in step]


def test_a_session_of_another_project_is_not_in_the_log(memory: Service) -> None:
    memory.session_start(project="alpha")
    assert numbers(memory.log()) == []
    assert memory.log().elsewhere == 1
    assert numbers(memory.log(project="beta")) == []
    assert numbers(memory.log(project="alpha")) == [1]


def test_an_event_of_a_session_without_a_host_is_found_by_its_id(memory: Service) -> None:
    started = memory.session_start()
    tell(memory, "Apart from it")
    memory.session_end(str(started.id), summary="done")
    assert numbers(memory.log(session=started.uid)) == [3, 1]


def test_what_was_forgotten_leaves_its_uuid_and_no_word(told: Service) -> None:
    uid = get(told, 4).uid
    told.forget(["4"])
    log = told.log(all_projects=True, memory=[uid])
    assert [event.operation for event in log.events] == ["forget", "archive", "supersede"]
    assert all(event.reason is None for event in log.events)
    assert (None, uid) in [(one.id, one.uid) for one in log.events[0].subjects]
    with pytest.raises(NotFound):
        told.log(memory=[uid[:-4]])


def test_a_log_that_somebody_damaged_can_still_be_read(told: Service, home: Path) -> None:
    db = apsw.Connection(str(home / "memory.db"))
    for column in ("subjects", "detail", "texts"):
        db.execute(f"UPDATE events SET {column} = 'x' WHERE id = 4")  # noqa: S608
    db.close()
    assert numbers(told.log(all_projects=True)) == [7, 6, 5, 4, 3, 2, 1]
    assert 4 in numbers(told.log())


# History


def test_history_shows_old_and_new_values_and_the_event_of_each(told: Service) -> None:
    changes = told.history("1").changes
    assert [(change.id, change.event) for change in changes] == [(1, 1), (1, 4), (1, 6), (4, 6), (4, 7)]
    assert [dict(change.before) for change in changes[:2]] == [{}, {"importance": 5}]
    assert changes[1].changed == {"importance": 8}
    assert changes[2].before == {
        "status": "active",
        "status_reason": None,
        "valid_to": None,
        "superseded_by": None,
    }
    first = [change for change in changes if change.id == 1]
    assert [change.until for change in first] == [first[1].at, first[2].at, None]
    told.undo(str(changes[-1].event))
    assert told.history("4").changes[-1].changed["status"] == "active"


# On the command line


@pytest.fixture
def stored(run_mem: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("MEM_MODEL", "none")
    assert run_mem("store", "The API uses port 80").code == 0
    assert run_mem("update", "1", "--importance", "8", "--reason", "tab\there").code == 0
    return run_mem


def test_the_log_is_one_event_a_line(stored: Run) -> None:
    lines = stored("log").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["2", "1"]
    assert lines[0].split("\t")[2:] == ["update", "person", "#1", "tab\\there"]
    assert stored("log", "--json").document()["events"][0]["subjects"][0]["id"] == 1
    page = stored("log", "--limit", "1")
    assert "1 of 2; --limit and --offset show more." in page.err
    assert stored("log", "--client", "nobody").err == "No event matches.\n"
    history = stored("history", "1").out.splitlines()[1]
    assert history.split("\t")[2:] == ["update", "person", "tab\\there", "event 2", "importance=8 (was 5)"]


def test_an_agent_reads_the_log_and_does_not_undo(stored: Run) -> None:
    agent = {"CLAUDECODE": "1", "MEM_ACTOR": "person"}
    assert stored("log", env=agent).code == 0
    ran = stored("undo", "2", env=agent)
    assert (ran.code, ran.stdout, "for people only" in ran.err) == (4, b"", True)
    assert stored("undo", "2").code == 0
    ran = stored("undo", "2")
    assert (ran.code, "undone already, by event 3" in ran.err) == (4, True)
    assert stored("undo", "99").code == 3
    assert stored("undo", "never").code == 2


@contextlib.contextmanager
def following(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """`mem log --follow` as a process whose output is a pipe."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mem", "log", "--follow", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def line_of(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    found = json.loads(process.stdout.readline())
    assert isinstance(found, dict)
    return found


def test_following_prints_each_event_as_it_is_written_until_it_is_interrupted(stored: Run) -> None:
    with following("--json", "--limit", "1") as process:
        assert line_of(process)["operation"] == "update"
        assert stored("archive", "1").code == 0
        assert stored("restore", "1", "--reason", "back").code == 0
        assert line_of(process)["operation"] == "archive"
        last = line_of(process)
        assert (last["schema_version"], last["id"], last["reason"]) == (1, 4, "back")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_following_passes_over_what_the_filters_leave_out_and_begins_in_an_empty_store(
    run_mem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_MODEL", "none")
    assert run_mem("list").code == 0
    with following("--operation", "archive") as process:
        time.sleep(1)
        assert run_mem("store", "One").code == 0
        assert run_mem("archive", "1").code == 0
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"2\t")


def test_following_ends_when_nobody_reads_any_more(stored: Run) -> None:
    with following() as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"1\t")
        process.stdout.close()
        assert process.wait(timeout=60) == 0  # though nothing more is written
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_what_cannot_be_followed_is_told_at_once(run_mem: Run, home: Path) -> None:
    for arguments in (("--offset", "1"), ("--until", "2026-05-01"), ("--limit", "0"), ("--nonsense",)):
        ran = run_mem("log", "--follow", *arguments)
        assert (ran.code, ran.stdout, len(ran.err.splitlines())) == (2, b"", 1)
    assert not os.path.lexists(home)


def test_following_loses_no_event_where_many_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "MOST", 3)
    log = [Event(n, "u", "t", "store", "person", None, None, (), None, {}) for n in range(1, 12)]

    def look(after: str, limit: str, offset: str = "0") -> Log:
        found = [event for event in reversed(log) if event.id > int(after)]
        begin = int(offset)
        log.append(replace(log[-1], id=len(log) + 1))  # another one, while this goes on
        return Log(len(found), tuple(found[begin : begin + int(limit)]), newest=len(log) - 1)

    events, newest = follow._later(look, 4)
    assert [event.id for event in events] == [11, 10, 9, 8, 7, 6, 5]
    assert newest == 11
