"""Backfill: everything gets its vector, whatever interrupts it, and nothing is done twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import BagOfWords, Ran, process_environment
from telling import records, rows, tell

from mem.caller import Caller
from mem.cli import progress
from mem.embed import EmbeddingError, Role
from mem.errors import Unavailable
from mem.results import Backfilled
from mem.search import backfilling
from mem.service import Service
from mem.store.connect import Store
from mem.store.exclusive import alone
from mem.values import Mode, Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Run = Callable[..., Ran]


class Watched(BagOfWords):
    """Notes what it embeds, does something meanwhile, and can do nothing with some texts."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.bad: set[str] = set()
        self.gone_after: int | None = None
        self.meanwhile: Callable[[], object] = lambda: None

    def embed(
        self, texts: Sequence[str], role: Role, *, timeout: float | None = None
    ) -> "NDArray[np.float32]":
        self.meanwhile()
        if self.gone_after is not None and len(self.asked) >= self.gone_after:
            raise EmbeddingError("The model is gone.", hint="Bring it back.")
        for text in texts:
            if text in self.bad:
                raise EmbeddingError(f"Nothing can be made of {len(text)} characters.")
        self.asked += [text for text in texts if role is Role.PASSAGE and text != backfilling.PROBE]
        return super().embed(texts, role)


@pytest.fixture
def model() -> Watched:
    return Watched()


@pytest.fixture
def wordless(memory: Service, person: Caller) -> Service:
    """The same store for who has no model: what is written waits for its vector."""
    return Service(memory._store, None, person)


@pytest.fixture
def filler(memory: Service, model: Watched, person: Caller) -> Service:
    """The same store for who has one."""
    return Service(memory._store, model, person)


def sound(memory: Service) -> bool:
    diagnosis = memory.doctor()
    assert diagnosis.sound, [check.detail for check in diagnosis.checks if not check.ok]
    return True


def events(home: Path, operation: str = "backfill") -> int:
    return sum(event["operation"] == operation for event in records(home, "events"))


def facts(memory: Service, count: int) -> None:
    outcomes = memory.store_batch([{"content": f"Fact {number} of the ledger"} for number in range(count)])
    assert {outcome.action for outcome in outcomes.outcomes} == {"added"}


# What it does


def test_what_waits_is_embedded_by_importance_then_by_age_and_found_by_meaning(
    wordless: Service, filler: Service, model: Watched
) -> None:
    for text, importance in (("old", 5), ("minor", 1), ("new", 5), ("great", 9)):
        tell(wordless, f"The {text} berth", importance=importance)
    assert filler.stats().vectors_pending == 4
    done = filler.backfill()
    assert (done.embedded, done.waiting, done.failed, done.exit_status) == (4, 0, (), 0)
    assert sorted(model.asked, key=model.asked.index) == [
        f"The {text} berth" for text in ("great", "new", "old", "minor")
    ]
    assert filler.stats().vectors_pending == 0
    assert filler.recall("the great berth", mode=Mode.VECTOR).hits[0].memory.content == "The great berth"
    assert sound(filler)


def test_entities_proposals_and_what_is_retired_get_vectors_too(
    wordless: Service, filler: Service, model: Watched
) -> None:
    wordless.observe("Ana", "prefers calls to mail", type="person")
    number = tell(wordless, "The port was eighty")
    wordless.update(number, content="The port is eighty-one")
    gone = tell(wordless, "The moon is cheese")
    wordless.archive([gone])
    filler.backfill()
    assert {"Ana (person)", "prefers calls to mail", "The port is eighty-one"} == set(model.asked[:3])
    assert set(model.asked[3:]) == {"The moon is cheese", "The port was eighty"}
    found = filler.recall("cheese moon", mode=Mode.VECTOR, status=[Status.ARCHIVED])
    assert [hit.memory.content for hit in found.hits] == ["The moon is cheese"]
    assert sound(filler)


def test_the_vectors_are_those_that_a_store_with_the_model_has(
    wordless: Service, filler: Service, home: Path, fake_embedder: BagOfWords, person: Caller
) -> None:
    ids = [tell(wordless, f"Note {number} about billing", project="shop") for number in range(5)]
    tell(wordless, "Note 1 about billing", global_=True)
    wordless.archive(ids[:1])
    filler.backfill()

    def held(at: Path) -> list[object]:
        listed = [(row["owner_id"], row["project"]) for row in records(at, "indexed_pieces")]
        sums = [(row["project"], row["pieces"]) for row in records(at, "centroids")]
        return [
            sorted(listed),
            sums,
            sorted((row["text_hash"], row["vector"]) for row in records(at, "embeddings")),
        ]

    other = Service(Store(home.parent / "other" / "memory.db"), fake_embedder, person)
    for number in range(5):
        tell(other, f"Note {number} about billing", project="shop")
    tell(other, "Note 1 about billing", global_=True)
    other.archive(["1"])
    there = held(home.parent / "other")
    other.close()
    assert held(home) == there


def test_a_text_that_several_rows_share_is_embedded_once(
    wordless: Service, filler: Service, model: Watched
) -> None:
    tell(wordless, "We deploy on Friday", project="shop")
    tell(wordless, "We deploy on Friday", project="bank")
    with_vector = tell(filler, "Something else")
    assert with_vector == "3"
    model.asked.clear()
    done = filler.backfill()
    assert model.asked == ["We deploy on Friday"]
    assert (done.embedded, done.skipped) == (1, {"there": 1, "shared": 1})
    assert len(filler.recall("deploy on Friday", mode=Mode.VECTOR, all_projects=True).hits) == 2


def test_a_second_run_does_nothing_and_leaves_no_event(
    wordless: Service, filler: Service, home: Path
) -> None:
    facts(wordless, 3)
    assert filler.backfill().embedded == 3
    assert events(home) == 1
    again = filler.backfill()
    assert (again.embedded, again.skipped, events(home)) == (0, {"there": 3, "shared": 0}, 1)


def test_a_dry_run_tells_and_changes_nothing(wordless: Service, filler: Service, home: Path) -> None:
    facts(wordless, 3)
    told = filler.backfill(dry_run=True)
    assert (told.dry_run, told.waiting, told.embedded) == (True, 3, 0)
    assert filler.backfill(dry_run=True, limit=2).waiting == 2
    assert rows(home, "embeddings") == []


def test_a_limit_stops_there_and_the_next_run_goes_on(wordless: Service, filler: Service) -> None:
    facts(wordless, 40)
    first = filler.backfill(limit=30)
    assert (first.embedded, first.waiting, first.exit_status) == (30, 10, 0)
    second = filler.backfill(limit=30)
    assert (second.embedded, second.waiting) == (10, 0)


def test_without_a_wanted_model_it_says_so(wordless: Service, home: Path) -> None:
    facts(wordless, 1)
    assert wordless.backfill() == Backfilled(None)
    assert rows(home, "embeddings") == []


def test_another_model_than_that_of_the_store_is_no_model_to_fill_with(
    wordless: Service, memory: Service, person: Caller
) -> None:
    tell(memory, "It has a vector")
    facts(wordless, 1)
    other = BagOfWords()
    other.name = "other@1"
    with pytest.raises(Unavailable, match="searches the vectors of bag-of-words@1") as raised:
        Service(memory._store, other, person).backfill()
    assert raised.value.hint == "Go over to it: mem migrate-vectors"


# What goes wrong


def test_a_text_that_fails_costs_no_other_is_named_and_tried_again(
    wordless: Service, filler: Service, model: Watched
) -> None:
    facts(wordless, 20)
    model.bad = {"Fact 3 of the ledger", "Fact 4 of the ledger", "Fact 5 of the ledger"}
    done = filler.backfill()
    assert (done.embedded, done.exit_status, done.stopped) == (17, 1, None)
    assert {one.id for one in done.failed} == {4, 5, 6}
    assert {(one.kind, one.reason) for one in done.failed} == {
        ("memory", "Nothing can be made of 20 characters.")
    }
    assert filler.stats().vectors_pending == 3
    assert sound(filler)
    model.bad.clear()
    again = filler.backfill()
    assert (again.embedded, again.failed, again.exit_status) == (3, (), 0)


def test_a_model_that_fails_altogether_stops_it_and_what_was_made_is_kept(
    wordless: Service, filler: Service, model: Watched
) -> None:
    facts(wordless, 100)
    model.gone_after = 40
    done = filler.backfill()
    assert (done.stopped, done.failed, done.exit_status) == ("The model is gone. Bring it back.", (), 1)
    assert done.embedded + done.waiting == 100
    assert 0 < done.embedded < 100
    assert sound(Service(filler._store, BagOfWords(), filler._caller))
    model.gone_after = None
    assert filler.backfill().embedded == done.waiting


@pytest.mark.parametrize("seen", [1, 33, 70])
def test_an_interrupt_keeps_what_was_made_and_the_next_run_goes_on(
    wordless: Service, filler: Service, home: Path, seen: int
) -> None:
    facts(wordless, 200)

    def interrupt(what: str, done: int, total: int) -> None:
        if done >= seen:
            raise KeyboardInterrupt

    filler.progress = interrupt
    with pytest.raises(KeyboardInterrupt):
        filler.backfill()
    kept = len(rows(home, "embeddings"))
    assert seen <= kept < 200
    assert sound(filler)
    filler.progress = lambda what, done, total: None
    assert filler.backfill().embedded == 200 - kept
    assert len(rows(home, "embeddings")) == 200


# Beside others


def test_others_write_while_the_model_works_and_what_they_write_is_embedded_too(
    wordless: Service, filler: Service, model: Watched
) -> None:
    facts(wordless, 30)
    written: list[str] = []
    guard = threading.Lock()

    def write() -> None:
        with guard:
            if len(written) < 5:
                written.append(tell(wordless, f"Written meanwhile {len(written)}"))

    model.meanwhile = write
    done = filler.backfill(concurrency=1)
    assert len(written) == 5
    assert (done.embedded, filler.stats().vectors_pending) == (35, 0)
    assert sound(filler)


def test_what_is_rejected_or_forgotten_meanwhile_gets_no_vector(
    wordless: Service, filler: Service, model: Watched, home: Path
) -> None:
    facts(wordless, 20)
    done: list[int] = []
    guard = threading.Lock()

    def take_away() -> None:
        with guard:
            if not done:
                done.append(1)
                wordless.forget(["1"])
                wordless.update("2", content="Another text")

    model.meanwhile = take_away
    filler.backfill()
    assert done == [1]
    stored = {row["text_hash"] for row in records(home, "embeddings")}
    present = {
        row["text_hash"] for table in ("memories", "memories_versions") for row in records(home, table)
    }
    assert stored == present
    assert sound(filler)


def test_no_transaction_writes_more_than_its_share(
    wordless: Service, filler: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfilling, "PER_WRITE", 10)
    facts(wordless, 60)
    written: list[int] = []
    save = backfilling.backlog.save

    def counted(*arguments: object) -> bool:
        written.append(filler._store._connection().total_changes())
        return bool(save(*arguments))  # type: ignore[arg-type]

    shares: list[int] = []
    write = filler._store.write

    def share(**options: object) -> object:
        if written:
            shares.append(len(written))
            written.clear()
        return write(**options)  # type: ignore[arg-type]

    monkeypatch.setattr(backfilling.backlog, "save", counted)
    monkeypatch.setattr(filler._store, "write", share)
    assert filler.backfill().embedded == 60
    assert max(shares) <= 10
    assert sum(shares) == 60


def test_a_second_run_beside_the_first_leaves_at_once(wordless: Service, filler: Service, home: Path) -> None:
    facts(wordless, 3)
    with alone(home / "memory.db", "vectors") as mine:
        assert mine
        beside = filler.backfill()
        assert (beside.beside, beside.embedded, beside.exit_status) == (True, 0, 0)
    assert sorted(path.name for path in home.glob("*.lock")) == []
    assert filler.backfill().embedded == 3


# On the command line


def test_it_runs_from_cron_and_ctrl_c_ends_it_with_what_was_made(
    home: Path, person: Caller, fake_embedder: BagOfWords, run_mem: Run
) -> None:
    cron = {"HOME": os.environ["HOME"], "PYTHONPATH": process_environment()["PYTHONPATH"]}
    place = Path(os.environ["HOME"], ".local/share/mem/memory.db")
    store = Store(place)
    wordless = Service(store, None, person)
    facts(wordless, 500)
    command = [sys.executable, "-m", "mem", "backfill"]
    process = subprocess.Popen(command, env=cron, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/")
    deadline = time.monotonic() + 60
    while not Service(store, None, person).stats().vectors_stored and time.monotonic() < deadline:
        time.sleep(0.02)
    beside = subprocess.run(command, env=cron, capture_output=True, timeout=60, cwd="/")
    assert beside.returncode == 0
    if process.poll() is None:
        assert b"Another run is at work" in beside.stderr
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    kept = Service(store, None, person).stats().vectors_stored
    assert 0 < kept < 500
    store.close()
    limited = subprocess.run([*command, "--limit", "3"], env=cron, capture_output=True, timeout=60, cwd="/")
    assert limited.returncode == 0
    assert limited.stdout.decode().startswith("embedded\t3\n")


def test_progress_is_a_line_now_and_then_with_the_rate_and_what_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    instant = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: instant[0])
    with progress.reporting() as report:
        for done in range(0, 300, 100):
            report("embedding", done, 1000)
            instant[0] += 6
    assert capsys.readouterr().err == "embedding: 200 of 1000, 16.7/s, 48 s left\n"
    with progress.reporting(quiet=True) as report:
        for done in range(0, 300, 100):
            report("embedding", done, 1000)
            instant[0] += 60
    assert capsys.readouterr().err == ""


def test_on_a_terminal_a_bar_comes_and_goes(
    wordless: Service, on_terminal: Callable[..., tuple[int, str]]
) -> None:
    facts(wordless, 40)
    code, seen = on_terminal("backfill")
    assert code == 0
    assert "━" in seen
    assert "of 40" in seen
    assert seen.rstrip().splitlines()[-1].split() == ["failed", "0"]
