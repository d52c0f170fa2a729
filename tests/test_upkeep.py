"""Upkeep: it says beforehand what it will do, does that, and finds nothing to do the next time."""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import SOURCE, BagOfWords, Ran, process_environment
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from telling import get, records, rows, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import Refused, Usage
from mem.results import Maintained, Promotion
from mem.server import upkeep
from mem.server.calls import Calls
from mem.service import Service
from mem.store.connect import Store
from mem.truth import retention
from mem.values import Actor, ActorKind, Layer

Run = Callable[..., Ran]
START = "2026-05-10T08:00:00Z"


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, START)


def recall(memory: Service, query: str, times: int) -> None:
    for _ in range(times):
        assert memory.recall(query).hits


def nothing() -> Maintained:
    return Maintained(dry_run=False)


def events(home: Path) -> list[str]:
    return [event["operation"] for event in records(home, "events")]


# What it does


def lived_in(memory: Service, wall: WallClock) -> None:
    """A store with something to do for every part of upkeep."""
    tell(memory, "Stays for ever", layer=Layer.PERMANENT)
    tell(memory, "Goes by noon", layer=Layer.WORKING)
    tell(memory, "Is looked up often", layer=Layer.SHORT_TERM)
    memory.session_start()
    recall(memory, "looked often", 8)
    wall.forward(hours=30)
    tell(memory, "Matters a lot", layer=Layer.WORKING, importance=8)


def test_upkeep_says_what_it_did_and_has_nothing_to_do_then(
    memory: Service, wall: WallClock, home: Path
) -> None:
    lived_in(memory, wall)
    wall.forward(days=6, hours=-26)
    done = memory.maintain()
    assert done.expired == (2, 4)
    assert done.promoted == (Promotion(3, Layer.SHORT_TERM, Layer.LONG_TERM),)
    assert done.sessions == (1,)
    assert done.traces == 0
    wall.forward(days=2)
    pruned = memory.maintain()
    assert pruned == replace(nothing(), traces=9, trace_bytes=pruned.trace_bytes)
    assert pruned.trace_bytes > 1000
    assert rows(home, "recall_traces") == []
    before = len(events(home))
    assert memory.maintain() == nothing()
    assert events(home).count("maintain") == 1 and len(events(home)) == before


def test_a_dry_run_writes_not_a_byte(memory: Service, wall: WallClock, home: Path) -> None:
    lived_in(memory, wall)
    memory._store.close()
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert memory.maintain(dry_run=True).expired == (2,)
    memory._store.close()
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_upkeep_is_one_event_with_all_that_it_touched(memory: Service, wall: WallClock, home: Path) -> None:
    lived_in(memory, wall)
    count = len(events(home))
    cron = memory.of(Caller(Actor(ActorKind.CRON), Path.cwd()))
    assert cron.maintain().expired
    (event,) = records(home, "events")[count:]
    assert (event["operation"], event["actor"]) == ("maintain", "cron")
    assert all(get(memory, number).uid in event["subjects"] for number in (2, 3, 4))
    assert memory.doctor().sound
    assert memory.history("2").changes[-1].operation == "maintain"


def test_upkeep_keeps_no_copy_of_what_the_indexes_hold(memory: Service, home: Path) -> None:
    for number in range(50):
        tell(memory, f"Lantern number {number}", project="a-telling-name")
    assert memory.maintain() == nothing()
    assert {row["tbl"] for row in records(home, "sqlite_stat1")} >= {"memories"}
    assert rows(home, "sqlite_stat4") == []
    assert not (home / "memory.db-wal").stat().st_size


def test_traces_are_bounded_in_days_and_number(
    memory: Service, wall: WallClock, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(memory, "The bell is cracked")
    for _ in range(5):
        recall(memory, "bell cracked", 2)
        wall.forward(days=1)
    monkeypatch.setenv("MEM_TRACES_MOST", "7")
    assert memory.maintain().traces == 3
    monkeypatch.setenv("MEM_TRACES_DAYS", "2")
    wall.forward(hours=-1)
    assert memory.maintain().traces == 3
    assert [row["at"][:10] for row in records(home, "recall_traces")] == ["2026-05-13"] * 2 + [
        "2026-05-14"
    ] * 2
    for key, value in (("MEM_TRACES_DAYS", "91"), ("MEM_TRACES_MOST", "100001")):
        with monkeypatch.context() as changed:
            changed.setenv(key, value)
            with pytest.raises(Usage, match=value):
                memory.maintain()


def test_a_session_that_only_asks_is_alive_however_few_traces_are_kept(
    memory: Service, wall: WallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_TRACES_MOST", "1")
    tell(memory, "The well is deep")
    asking, silent, other = (
        memory.of(Caller(Actor(ActorKind.AGENT, "some-client", name), Path.cwd())) for name in "asx"
    )
    opened = [asking.session_start().id, silent.session_start().id]
    wall.forward(hours=20)
    recall(asking, "well deep", 1)
    recall(other, "well deep", 3)
    wall.forward(hours=10)
    assert memory.maintain().sessions == (opened[1],)
    assert memory.maintain() == nothing()


def test_upkeep_by_the_clock_is_nobodys_sign_of_life(memory: Service, wall: WallClock) -> None:
    opened = memory.session_start()
    wall.forward(hours=20)
    tell(memory.of(Caller(Actor(ActorKind.CRON), Path.cwd())), "Matters", layer=Layer.WORKING, importance=8)
    assert memory.of(Caller(Actor(ActorKind.CRON), Path.cwd())).maintain().promoted
    wall.forward(hours=5)
    assert memory.maintain().sessions == (opened.id,)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.sampled_from(Layer), st.integers(0, 10)),
        st.tuples(st.just("expires"), st.sampled_from(("1h", "30h", "9d"))),
        st.tuples(st.just("recall"), st.integers(0, 5), st.integers(1, 9)),
        st.tuples(st.just("session"), st.sampled_from("ab")),
        st.tuples(st.just("archive"), st.integers(0, 5)),
        st.tuples(st.just("supersede"), st.integers(0, 5), st.sampled_from((None, "2026-05-11"))),
        st.tuples(st.just("wait"), st.sampled_from((1, 7, 25, 170, 800))),
        st.tuples(st.just("maintain")),
    ),
    max_size=14,
)


def _take(memory: Service, wall: WallClock, number: int, step: tuple[Any, ...]) -> None:
    known = [str(found.id) for found in memory.list_(limit=1000).memories]
    match step:
        case ("tell", layer, importance):
            tell(memory, f"Buoy {number} is red", layer=layer, importance=importance)
        case ("expires", span):
            tell(memory, f"Buoy {number} is green", expires=span, layer=Layer.WORKING)
        case ("recall", place, times):
            for _ in range(times):
                memory.recall(f"buoy {place}", limit=3)
        case ("session", name):
            memory.of(Caller(Actor(ActorKind.AGENT, "client", name), Path.cwd())).session_start()
        case ("archive", place) if known:
            memory.archive([known[place % len(known)]])
        case ("supersede", place, day) if known:
            with suppress(Refused):  # what gives way on a later day has a successor already
                memory.supersede(
                    [known[place % len(known)]], content=f"Buoy {number} is black", valid_from=day
                )
        case ("wait", hours):
            wall.forward(hours=hours)
        case ("maintain",):
            memory.maintain()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_a_dry_run_reports_exactly_what_the_real_run_does_and_the_next_does_nothing(
    steps: list[tuple[Any, ...]],
    home: Path,
    fake_embedder: BagOfWords,
    person: Caller,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEM_TRACES_MOST", "20")
        wall = WallClock(patch, START)
        folder = tmp_path_factory.mktemp("store")
        store = Store(folder / "memory.db")
        memory = Service(store, fake_embedder, person)
        for number, step in enumerate(steps):
            _take(memory, wall, number, step)
        expected = memory.maintain(dry_run=True)
        assert memory.maintain(dry_run=True) == expected
        before = _dump(folder)
        done = memory.maintain()
        assert replace(done, dry_run=True) == expected
        after = _dump(folder)
        assert (after == before) == (done == nothing())
        assert memory.maintain() == nothing()
        assert _dump(folder) == after
        assert (len(after["events"]) > len(before["events"])) == bool(
            done.promoted or done.expired or done.sessions
        )
        _is_as_told(memory, done)
        store.close()


def _is_as_told(memory: Service, done: Maintained) -> None:
    assert all(get(memory, number).status_reason == "expired" for number in done.expired)
    assert all(get(memory, moved.id).layer is moved.after for moved in done.promoted)


def _dump(folder: Path) -> dict[str, list[Any]]:
    names = (
        "memories",
        "memories_versions",
        "events",
        "sessions",
        "sessions_versions",
        "recall_traces",
        "usage",
    )
    return {name: rows(folder, name) for name in names}


def test_a_second_upkeep_beside_the_first_leaves_it_the_work(
    memory: Service, wall: WallClock, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived_in(memory, wall)
    working, go = threading.Event(), threading.Event()
    carry_out = retention.carry_out

    def slowly(*arguments: Any) -> None:
        working.set()
        assert go.wait(30)
        carry_out(*arguments)

    monkeypatch.setattr(retention, "carry_out", slowly)
    answers: list[Maintained] = []

    def run() -> None:
        answers.append(memory.maintain())

    first, second = threading.Thread(target=run), threading.Thread(target=run)
    first.start()
    assert working.wait(30)
    second.start()
    time.sleep(0.3)  # it waits for the lock
    go.set()
    for thread in (first, second):
        thread.join(30)
    assert sorted(answer.beside for answer in answers) == [False, True]
    assert events(home).count("maintain") == 1


# Where it runs


def test_it_runs_from_cron_with_a_home_and_nothing_else(home: Path, tmp_path: Path) -> None:
    bare = {"HOME": str(tmp_path / "user"), "PYTHONPATH": str(SOURCE)}
    base = [sys.executable, "-m", "mem"]

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*base, *arguments], env={**bare, **more}, cwd="/", capture_output=True, timeout=60
        )

    told = run("store", "The tide is in", "--layer", "working", "--importance", "9", MEM_MODEL="none")
    assert told.returncode == 0, told
    dry = run("maintain", "--dry-run", MEM_ACTOR="cron")
    assert (dry.returncode, dry.stdout, dry.stderr) == (
        0,
        b"promoted\t#1\tworking\tlong_term\n",
        b"Nothing was changed.\n",
    )
    done = run("maintain", MEM_ACTOR="cron")
    assert (done.returncode, done.stdout, done.stderr) == (0, dry.stdout, b"")
    again = run("maintain", MEM_ACTOR="cron")
    assert (again.returncode, again.stdout, again.stderr) == (0, b"", b"There is nothing to do.\n")
    assert b"\tcron\t" in run("history", "1").stdout


@pytest.fixture
def calls(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    monkeypatch.setenv("MEM_MODEL", "none")
    made = Calls(None)
    yield made
    made.close()


def test_a_running_server_looks_after_the_store_every_hour(
    memory: Service, calls: Calls, wall: WallClock, home: Path
) -> None:
    lived_in(memory, wall)
    assert calls.maintain() == pytest.approx(3600, abs=5)
    (event,) = [one for one in records(home, "events") if one["operation"] == "maintain"]
    assert (event["actor"], event["client"]) == ("cron", "mem serve")
    memory.update("1", layer=Layer.WORKING, importance=9)
    wall.forward(minutes=40)
    assert calls.maintain() == pytest.approx(1200, abs=5)
    assert get(memory, "1").layer is Layer.WORKING
    wall.forward(minutes=20)
    assert calls.maintain() == pytest.approx(3600, abs=5)
    assert get(memory, "1").layer is Layer.LONG_TERM


def test_a_server_makes_no_store_to_look_after(calls: Calls, home: Path) -> None:
    assert calls.maintain() == 3600
    assert not (home / "memory.db").exists()


def test_upkeep_in_a_server_waits_first_and_goes_on_after_a_fault(caplog: pytest.LogCaptureFixture) -> None:
    ended = threading.Event()

    left = [1200.0, Usage("a setting is wrong"), LookupError("a fault"), None]

    class Faulty:
        def maintain(self) -> float | None:
            found = left.pop(0)
            if isinstance(found, Exception):
                raise found
            return found

    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 4:
            ended.set()

    with caplog.at_level(logging.WARNING):
        upkeep.start(Faulty(), quiet=7, sleep=sleep)  # type: ignore[arg-type]
        assert ended.wait(30)
    assert slept == [7, 1200, 3600, 3600]
    assert "a setting is wrong" in caplog.text and "a fault" in caplog.text


def test_a_server_that_ends_needs_no_upkeep(calls: Calls) -> None:
    calls.close()
    assert calls.maintain() is None


def test_a_server_process_does_it_and_says_nothing_on_standard_output(run_mem: Run, home: Path) -> None:
    ran = run_mem(
        "store", "Is promoted", "--layer", "working", "--importance", "8", env={"MEM_MODEL": "none"}
    )
    assert ran.code == 0
    code = (
        "import mem.server.upkeep as upkeep, functools;"
        "upkeep.start = functools.partial(upkeep.start, quiet=0.1);"
        "from mem.server import stdio; stdio.run()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment({"MEM_MODEL": "none"}),
    )
    try:
        until = time.monotonic() + 30
        while "maintain" not in events(home) and time.monotonic() < until:
            time.sleep(0.1)
        assert process.stdin is not None
    finally:
        out, err = process.communicate(b"", timeout=30)
    assert (process.returncode, out, err) == (0, b"", b"")
    assert events(home) == ["store", "maintain"]
