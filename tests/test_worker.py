"""The warm worker: one for a store, the same answers as without it, and no failure of it costs an answer."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import SOURCE, BagOfWords, Ran

from mem import __version__, link
from mem.caller import Caller
from mem.embed import EmbeddingError, EmbeddingTimeout, Role
from mem.embed.memo import MemoEmbedder
from mem.embed.patience import within
from mem.service import Service
from mem.values import Actor, ActorKind
from mem.worker import lock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there is no worker on Windows")

FACTS = (
    "The deploy key for staging rotates every 90 days",
    "Lunch is at noon in the small kitchen",
    "The barn door needs oil before the winter",
)
QUESTION = "how often do we change credentials?"
# All that the thin client may import beside what the interpreter and `-m` bring.
ALLOWED = {"mem", "mem.client", "mem.link", "gc", "_socket", "_sha2", "_sha256"}


@dataclass(frozen=True)
class Memory:
    """A home of its own with a worker that is wanted, and `mem` as a process in it."""

    home: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        places = {"HOME": str(self.home.parent), "MEM_HOME": str(self.home), "PYTHONPATH": str(SOURCE)}
        return {"PATH": os.environ["PATH"], **places, **self.settings}

    def start(self, *arguments: str, **env: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            env={**self.environment, **env},
            cwd=self.home.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def mem(self, *arguments: str, **env: str) -> Ran:
        with self.start("-m", "mem", *arguments, **env) as process:
            out, err = process.communicate(timeout=60)
        return Ran(process.returncode, out, err)

    def recall(self, *arguments: str, **env: str) -> dict[str, Any]:
        ran = self.mem("recall", "--json", *arguments, **env)
        assert ran.code == 0, ran
        return ran.document()

    def store(self, text: str, **env: str) -> dict[str, Any]:
        ran = self.mem("store", "--json", text, **env)
        assert ran.code == 0, ran
        return ran.document()

    def status(self) -> dict[str, Any]:
        return self.mem("worker", "status", "--json").document()

    def pid(self) -> int:
        found = self.status()
        assert found["state"] == "running", found
        return int(found["pid"])

    @property
    def place(self) -> link.Place:
        return link.Place(str(self.home / "memory.db"), str(self.home / "run"))

    def ask(self, *fields: bytes) -> list[bytes]:
        """One request over the socket, as the clients send it."""
        until = time.monotonic() + 10
        return link.exchange(self.place.connect(until), list(fields), until)

    def workers(self) -> list[int]:
        """The processes of workers of this home."""
        listed = subprocess.run(["ps", "-wwAo", "pid,command"], capture_output=True, text=True)  # noqa: S607
        ours = [line for line in listed.stdout.splitlines() if str(self.home) in line and "worker" in line]
        return [int(line.split()[0]) for line in ours]

    def clear(self) -> None:
        """End what runs, also what is stopped, and see that nothing is left."""
        self.mem("worker", "stop")
        assert eventually(lambda: self.workers() == [])
        assert not Path(self.place.folder).exists()


def eventually(holds: Callable[[], bool], seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def memory_in(folder: Path, **settings: str) -> Iterator[Memory]:
    found = Memory(folder / "home", settings)
    try:
        yield found
    finally:
        found.clear()


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A store with three facts and their vectors, whose worker runs with the real model."""
    with memory_in(tmp_path_factory.mktemp("w")) as memory:
        for fact in FACTS:
            assert memory.store(fact)["action"] == "added"
        assert eventually(lambda: memory.status()["model_state"] == "loaded")
        # The first may have been stored before the model was there; the next ones brought its vector too.
        assert memory.mem("stats", "--json").document()["vectors_pending"] == 0
        yield memory


@pytest.fixture
def light(tmp_path: Path) -> Iterator[Memory]:
    """An empty store whose worker has no model, so that it is there at once."""
    with memory_in(tmp_path, MEM_MODEL="none") as memory:
        yield memory


def without_trace(document: dict[str, Any]) -> dict[str, Any]:
    assert re.fullmatch(r"[0-9a-f-]{36}", document["trace_id"])
    return {name: value for name, value in document.items() if name != "trace_id"}


def served(memory: Memory, query: str) -> dict[str, Any]:
    """The answer of `recall` over MCP."""
    messages = (
        {
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": query}}},
    )
    done = subprocess.run(
        [sys.executable, "-m", "mem", "serve"],
        input="".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages),
        env=memory.environment,
        cwd=memory.home.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    found = answers[1]["result"]["structuredContent"]
    assert isinstance(found, dict)
    return found


# The same answers


def test_the_answer_is_the_same_from_the_worker_in_process_and_over_mcp(warm: Memory) -> None:
    before = warm.status()["counts"]["calls"]
    thin = warm.recall(QUESTION)
    assert warm.status()["counts"]["calls"] == before + 1
    assert thin["mode"] == "hybrid" and thin["hits"][0]["content"] == FACTS[0]
    assert without_trace(warm.recall(QUESTION, MEM_WORKER="off")) == without_trace(thin)
    assert without_trace(served(warm, QUESTION)) == without_trace(thin)


def test_people_and_pipes_read_the_same_from_the_worker_as_in_process(
    warm: Memory, on_terminal: Callable[..., tuple[int, str]]
) -> None:
    words = ("recall", "deploy key", "--mode", "lexical")
    looks = ({}, {"TERM": "dumb"}, {"TERM": "xterm-256color", "NO_COLOR": "1", "COLUMNS": "40"})

    def seen(worker: str) -> list[Any]:
        own = {**warm.environment, "MEM_WORKER": worker}
        shown = [on_terminal(*words, env={**own, **look}) for look in looks]
        return [warm.mem(*words, MEM_WORKER=worker), *shown]

    before = warm.status()["counts"]["calls"]
    piped, *shown = seen("on")
    assert warm.status()["counts"]["calls"] == before + 4
    assert (piped.code, FACTS[0] in piped.out) == (0, True)
    assert len({text for _, text in shown}) == 3 and all("deploy key" in text for _, text in shown)
    assert seen("off") == [piped, *shown]


def test_the_context_is_the_same_from_the_worker_as_in_process(warm: Memory) -> None:
    before = warm.status()["counts"]["calls"]
    for words in (("context",), ("context", "deploy key", "--budget", "300")):
        assert warm.mem(*words).code == 0
        assert warm.mem(*words) == warm.mem(*words, MEM_WORKER="off")
        thin, own = (warm.mem(*words, "--json", MEM_WORKER=worker).document() for worker in ("on", "off"))
        assert {**thin, "trace_id": None} == {**own, "trace_id": None}
    assert warm.status()["counts"]["calls"] == before + 6


def test_the_thin_client_imports_next_to_nothing(warm: Memory) -> None:
    def imported(*arguments: str) -> set[str]:
        with warm.start("-X", "importtime", *arguments) as process:
            _, err = process.communicate(timeout=60)
        assert process.returncode == 0
        return set(re.findall(r"\| +([\w.]+)$", err.decode(), re.MULTILINE))

    empty = imported("-c", "import runpy, importlib.util")
    own = imported("-m", "mem", "recall", QUESTION, "--json") - empty
    assert "mem.client" in own and own <= ALLOWED | {"pkgutil"}, own - ALLOWED


def test_an_error_is_told_as_without_a_worker(warm: Memory) -> None:
    for arguments in (
        ("recall", "--json"),
        ("recall", "x", "--json", "--limit", "0"),
        ("recall", "", "--json"),
    ):
        assert warm.mem(*arguments) == warm.mem(*arguments, MEM_WORKER="off")


def test_another_time_zone_and_another_folder_are_the_callers(warm: Memory) -> None:
    query = ("what happened yesterday", "--mode", "lexical")
    ours, theirs = warm.recall(*query), warm.recall(*query, TZ="Pacific/Kiritimati")
    assert ours["window"]["since"] != theirs["window"]["since"]
    assert theirs == {
        **warm.recall(*query, TZ="Pacific/Kiritimati", MEM_WORKER="off"),
        "trace_id": theirs["trace_id"],
    }
    assert warm.recall(QUESTION, MEM_PROJECT="farm")["elsewhere"] is None


def test_a_broken_terminal_of_the_caller_is_no_error(warm: Memory) -> None:
    process = warm.start("-m", "mem", "recall", QUESTION, "--json")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert (process.wait(timeout=60), process.stderr.read()) == (0, b"")
    process.stderr.close()


def test_a_recall_is_counted_after_its_answer(warm: Memory) -> None:
    warm.recall(QUESTION)
    assert eventually(lambda: warm.status()["counts"]["calls"] > 0)
    counts = warm.mem("stats", "--json").document()["worker"]
    assert counts["calls"] > 0 and counts["failures"] == 0


def test_use_is_counted_after_the_answer_where_that_can_be(memory: Service) -> None:
    stored = memory.store(FACTS[0])
    later: list[Callable[[], None]] = []
    assert (
        memory.of(Caller(Actor(ActorKind.PERSON), Path.cwd()), later=later.append).recall("deploy").trace_id
    )
    assert recalls(memory, stored.id) == 0
    for work in later:
        work()
    assert recalls(memory, stored.id) == 1
    memory.recall("deploy")
    assert recalls(memory, stored.id) == 2


def recalls(memory: Service, number: int | None) -> int:
    with memory._store.read() as db:
        return int(db.execute("SELECT recalls FROM usage WHERE memory_id = ?", (number,)).get or 0)


# Memo


def test_a_question_that_is_asked_again_is_not_embedded_again(warm: Memory) -> None:
    warm.recall("where is the oil for the door?")
    before = warm.status()["counts"]["memo_hits"]
    warm.recall("where is the oil for the door?")
    assert warm.mem("recall", "where is the oil for the door?").code == 0
    assert warm.status()["counts"]["memo_hits"] == before + 2


class Slow(BagOfWords):
    """An embedder that waits until it is let go, and counts its runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.go = threading.Event()

    def embed(
        self, texts: Sequence[str], role: Role, *, timeout: float | None = None
    ) -> "NDArray[np.float32]":
        self.runs += 1
        assert self.go.wait(10)
        if "fail" in texts:
            raise EmbeddingError("as asked")
        return super().embed(texts, role)


def test_requests_for_one_text_at_the_same_time_share_a_run() -> None:
    slow, counted = Slow(), list[str]()
    memo = MemoEmbedder(slow, counted.append)
    rows: list[Any] = []
    askers = [
        threading.Thread(target=lambda: rows.append(memo.embed(["tea"], Role.QUERY, timeout=10)))
        for _ in range(5)
    ]
    for asker in askers:
        asker.start()
    assert eventually(lambda: counted.count("shared_runs") == 4)
    slow.go.set()
    for asker in askers:
        asker.join()
    memo.embed(["tea"], Role.QUERY, timeout=0)
    assert (slow.runs, len(rows), counted.count("memo_hits")) == (1, 5, 1)
    assert all((row == rows[0]).all() for row in rows)


def test_a_late_vector_is_a_timeout_and_there_the_next_time() -> None:
    slow, counted = Slow(), list[str]()
    memo = MemoEmbedder(slow, counted.append)
    with pytest.raises(EmbeddingTimeout):
        memo.embed(["tea"], Role.QUERY, timeout=0.05)
    with pytest.raises(EmbeddingTimeout):
        memo.embed(["coffee"], Role.QUERY, timeout=0)
    assert (counted.count("timeouts"), counted.count("clamped_waits"), slow.runs) == (2, 2, 1)
    slow.go.set()
    assert eventually(
        lambda: "memo_hits" in counted or bool(memo.embed(["tea"], Role.QUERY, timeout=5).any())
    )
    assert slow.runs == 1


def test_a_failure_is_not_remembered() -> None:
    slow = Slow()
    slow.go.set()
    memo = MemoEmbedder(slow)
    for _ in range(2):
        with pytest.raises(EmbeddingError, match="as asked"):
            memo.embed(["fail"], Role.QUERY, timeout=5)
    assert slow.runs == 2


def test_the_memo_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mem.embed.memo.ENTRIES", 2)
    slow = Slow()
    slow.go.set()
    memo = MemoEmbedder(slow)
    for text in ("one", "two", "three", "three", "one"):
        memo.embed([text], Role.QUERY)
    assert slow.runs == 4


def test_work_without_time_does_not_begin() -> None:
    begun: list[int] = []
    with pytest.raises(EmbeddingTimeout):
        within(0, lambda: begun.append(1))
    assert begun == []
    assert within(5, lambda: 1) == within(None, lambda: 1) == 1


# What goes wrong


def test_clients_that_hang_up_cost_nobody_anything(warm: Memory) -> None:
    pid = warm.pid()
    frame = link.packed([__version__.encode(), b"status"])
    for sent in (b"", frame[:3], frame[:-1], frame, b"\xff" * 8) * 6:
        connection = warm.place.connect(time.monotonic() + 5)
        connection.sendall(sent)
        connection.close()
    assert warm.recall(QUESTION)["mode"] == "hybrid"
    assert warm.pid() == pid


def test_a_stalled_worker_costs_a_call_no_more_than_its_deadline(warm: Memory) -> None:
    bare = min(timed(lambda: warm.start("-c", "pass")) for _ in range(3))
    pid = warm.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        found: dict[str, Any] = {}
        fastest = min(
            timed(lambda: found.update(warm.recall("deploy key", "--deadline-ms", "500"))) for _ in range(3)
        )
        assert (found["mode"], found["degraded"]) == ("lexical", ["embedding_timeout"])
        assert found["hits"][0]["content"] == FACTS[0]
        assert fastest <= 0.55 + bare
        state = warm.mem("worker", "status", "--json")
        assert (state.code, state.document()["state"]) == (1, "not_answering")
        stored = warm.store("The old tractor starts only downhill")
        assert (stored["action"], stored["vector"]) == ("added", "pending")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert warm.recall("deploy key", "--deadline-ms", "5000")["degraded"] == []
    # The next writer that finds the worker brings the vector that was left out.
    assert warm.store("The new tractor starts everywhere")["vector"] == "stored"
    assert warm.mem("stats", "--json").document()["vectors_pending"] == 0
    assert warm.pid() == pid


def timed(work: Callable[[], Any]) -> float:
    began = time.monotonic()
    done = work()
    if isinstance(done, subprocess.Popen):
        done.communicate()
    return time.monotonic() - began


def test_a_deadline_out_of_bounds_is_refused(light: Memory) -> None:
    for wrong in ("49", "60001", "soon"):
        ran = light.mem("recall", "x", "--json", "--deadline-ms", wrong)
        assert (ran.code, ran.document()["error"]["code"]) == (2, "usage")


def test_after_a_kill_the_next_call_has_a_worker_again(light: Memory) -> None:
    light.recall("anything")
    pid = light.pid()
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: light.workers() == [])
    assert Path(light.place.socket).exists(), "the stale socket that this is about"
    light.recall("anything")
    assert light.pid() != pid


def test_of_two_that_start_at_once_one_stays(light: Memory) -> None:
    place = light.place
    started = [light.start("-m", "mem.worker", place.store, place.folder) for _ in range(4)]
    for one in started:
        one.communicate(timeout=10)
    assert eventually(lambda: light.status()["state"] == "running")
    assert eventually(lambda: light.workers() == [light.pid()])


def test_a_client_of_another_version_makes_the_worker_retire(light: Memory) -> None:
    light.recall("anything")
    pid = light.pid()
    until = time.monotonic() + 5
    connection = light.place.connect(until)
    connection.sendall(link.packed([b"99.0", b"run"]))
    assert link.received(connection, until, 1 << 20) == [b"retired"]
    connection.close()
    assert eventually(lambda: light.workers() == [])
    light.recall("anything")
    assert light.pid() != pid


def test_a_store_that_was_replaced_is_not_served(light: Memory) -> None:
    light.store("The first store")
    for _ in range(6):  # so that each of its threads has the store open
        light.recall("store")
    for suffix in ("", "-wal", "-shm"):
        (light.home / f"memory.db{suffix}").unlink(missing_ok=True)
    light.store("The second store")
    found = [light.recall("store")["hits"] for _ in range(2)]
    assert [[hit["content"] for hit in hits] for hits in found] == [["The second store"]] * 2


def test_a_worker_ends_when_nobody_calls(light: Memory) -> None:
    assert light.recall("anything", MEM_WORKER_IDLE_MINUTES="0")["hits"] == []
    assert len(light.workers()) == 1
    assert eventually(lambda: light.workers() == [], 8)
    assert not Path(light.place.folder).exists()


def test_a_termination_signal_is_a_clean_end(light: Memory) -> None:
    light.recall("anything")
    os.kill(light.pid(), signal.SIGTERM)
    assert eventually(lambda: light.workers() == [])
    assert not Path(light.place.folder).exists()


def test_a_stalled_worker_can_be_ended(light: Memory) -> None:
    light.recall("anything")
    pid = light.pid()
    os.kill(pid, signal.SIGSTOP)
    stopped = light.mem("worker", "stop", "--json").document()
    assert (stopped["state"], stopped["pid"]) == ("stopped", pid)
    assert light.workers() == []
    assert light.status()["state"] == "not_running"


def test_without_a_worker_everything_runs_in_process(light: Memory) -> None:
    light.store("The barn is red", MEM_WORKER="off")
    assert light.recall("barn", MEM_WORKER="off")["total"] == 1
    (light.home / "config.toml").write_text("worker = false\n")
    assert light.recall("barn")["total"] == 1
    assert light.workers() == []


def test_a_folder_that_is_gone_is_no_reason_to_fail(light: Memory) -> None:
    light.store("The barn is red")
    code = """
import os, sys
os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
sys.argv = ["mem", "recall", "barn", "--json"]
from mem.__main__ import main
main()
"""
    with light.start("-c", code) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err, json.loads(out)["total"]) == (0, b"", 1)


def test_the_socket_is_for_its_owner_alone(light: Memory) -> None:
    light.recall("anything")
    folder = Path(light.place.folder)
    assert {path.suffix: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        ".sock": 0o600,
        ".lock": 0o600,
    }
    assert {path.stat().st_mode & 0o777 for path in (light.home, folder)} == {0o700}


def test_a_folder_that_others_can_enter_is_refused(light: Memory) -> None:
    light.store("The barn is red")
    folder = Path(light.place.folder)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    assert light.recall("barn")["total"] == 1
    assert light.workers() == []
    folder.rmdir()
    (light.home / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(light.home / "elsewhere")
    assert light.recall("barn")["total"] == 1
    assert light.workers() == []
    folder.unlink()


def test_a_folder_of_another_user_is_refused_on_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    place = link.Place(str(tmp_path / "memory.db"), str(tmp_path / "run"))
    ours = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: ours + 1)
    with pytest.raises(PermissionError):
        place.connect(time.monotonic() + 1)
    assert not place.start()
    with pytest.raises(PermissionError):
        lock.take_lock(place)


def test_a_model_that_does_not_load_is_told_once_and_costs_no_waiting(tmp_path: Path) -> None:
    (tmp_path / "broken" / "fastembed").mkdir(parents=True)
    (tmp_path / "broken" / "fastembed" / "__init__.py").write_text("raise ImportError('no such wheel')\n")
    path = f"{tmp_path / 'broken'}{os.pathsep}{SOURCE}"
    with memory_in(tmp_path, PYTHONPATH=path) as memory:
        broken = Memory(memory.home, {"PYTHONPATH": path})
        assert broken.mem("store", "The barn is red", PYTHONPATH=path).code == 0
        assert eventually(lambda: broken.workers() == [])
        told = broken.status()
        assert (told["state"], "no such wheel" in told["away"]) == ("not_running", True)
        began = time.monotonic()
        found = broken.recall("barn")
        assert (found["degraded"], found["total"]) == (["no_vectors"], 1)
        assert time.monotonic() - began < 2
        assert broken.workers() == []
        # A minute later the next one tries again, and has nothing new to say.
        an_hour_ago = time.time() - 3600
        os.utime(broken.place.marker, (an_hour_ago, an_hour_ago))
        assert broken.store("The barn is new")["vector"] == "pending"
        assert eventually(lambda: time.time() - Path(broken.place.marker).stat().st_mtime < 60)
        assert (broken.home / "state" / "worker.log").read_text().count("no such wheel") == 1
