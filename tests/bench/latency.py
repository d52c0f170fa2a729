"""What a call costs, whole process, on a store of 10,000 memories; and how much memory a process keeps.

    python tests/bench/latency.py [--runs 20] [--memories 10000]

Every row is measured in turn, so that a busy moment of the machine falls on all of them; the ratios are those
of the medians to `python -c pass` in the same run. The vectors of the store are drawn at random: what is
timed does not depend on what they mean. The worker, its questions and those vectors of questions are real.
"""

import argparse
import itertools
import json
import os
import pty
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from measure import table
from numpy.typing import NDArray

import mem
from mem import link
from mem.caller import Caller
from mem.embed import Role
from mem.embed.local import LocalEmbedder
from mem.results import WorkerState
from mem.service import MAX_BATCH, Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind
from mem.worker import control

SOURCE = Path(mem.__file__).parent.parent
WORDS, LENGTH = 5_000, 28  # how many words there are, and how many of them make a memory
# What an installer writes as `mem`; `-m` would add the imports of `runpy`.
SCRIPT = "import sys\nfrom mem.__main__ import main\nsys.exit(main())\n"
SETTLED = 60.0  # seconds for a worker to be there


class Drawn:
    """The bundled model's name over vectors drawn at random, so that ten thousand take seconds."""

    choice = "bundled"

    def __init__(self) -> None:
        self._model = LocalEmbedder()
        self._generator = np.random.default_rng(0)
        self.name, self.dimensions = self._model.name, self._model.dimensions

    def mean(self) -> NDArray[np.float32] | None:
        return self._model.mean()

    def split(self, text: str) -> list[str]:
        return [text]

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> NDArray[np.float32]:
        """Unit vectors around the model's mean."""
        mean = self.mean()
        drawn = self._generator.normal(size=(len(texts), self.dimensions)) * 0.03
        rows = drawn if mean is None else drawn + mean
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@dataclass(frozen=True)
class Home:
    """A `MEM_HOME` of its own, and the worker of its store."""

    folder: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> link.Place:
        return link.Place(str(self.folder / "memory.db"), str(self.folder / "run"))

    @property
    def environment(self) -> dict[str, str]:
        places = {"HOME": str(self.folder), "MEM_HOME": str(self.folder), "PYTHONPATH": str(SOURCE)}
        # Without PYTHONDONTWRITEBYTECODE, which would compile some modules at every start.
        return {"PATH": os.environ["PATH"], **places, **self.settings}

    @property
    def entry(self) -> str:
        return str(self.folder / "mem")

    def call(self, *arguments: str, event: Path | None = None, terminal: bool = False) -> float:
        """Seconds that `mem` takes with these arguments."""
        return self.spend([self.entry, *arguments], event, terminal=terminal)

    def spend(self, command: Sequence[str], event: Path | None = None, *, terminal: bool = False) -> float:
        """Seconds from before a process begins until after it has ended; it must end with 0."""
        ours, theirs = pty.openpty() if terminal else (-1, os.open(os.devnull, os.O_WRONLY))
        stdin = os.open(event or os.devnull, os.O_RDONLY)
        reader = threading.Thread(target=drain, args=(ours,), daemon=True)
        if terminal:
            reader.start()
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *command],
            env=self.environment,
            cwd=self.folder,
            stdin=stdin,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
        )
        status = process.wait()
        spent = time.perf_counter() - began
        for descriptor in (theirs, stdin):
            os.close(descriptor)
        if status:
            raise SystemExit(f"{command} ended with {status}")
        return spent

    def wait(self) -> int:
        """The process of the worker, as soon as its model is loaded."""
        until = time.monotonic() + SETTLED
        while time.monotonic() < until:
            found = control.status(self.place)
            if found.state is WorkerState.RUNNING and found.model_state == "loaded" and found.pid:
                return found.pid
            time.sleep(0.02)
        raise SystemExit(f"no worker within {SETTLED:g} seconds: {self.place.away()}")


def drain(descriptor: int) -> None:
    """Read what a terminal shows, until its other side is closed."""
    with suppress(OSError):
        while os.read(descriptor, 1 << 16):
            pass
    os.close(descriptor)


class Words:
    """Made-up words, each as frequent as words of its rank are in a language (Zipf)."""

    def __init__(self, seed: int) -> None:
        parts = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")
        self._all = ["".join(word) for word in itertools.islice(itertools.product(parts, repeat=4), WORDS)]
        random.Random(0).shuffle(self._all)  # noqa: S311
        self._weights = [1 / (rank + 10) for rank in range(WORDS)]
        self._draw = random.Random(seed)  # noqa: S311

    def text(self, length: int) -> str:
        return " ".join(self._draw.choices(self._all, self._weights, k=length))


def build(folder: Path, memories: int) -> None:
    """Fill a store with sentences of about 200 characters."""
    words = Words(1)
    store = Store(folder / "memory.db")
    service = Service(store, Drawn(), Caller(Actor(ActorKind.PERSON), folder))
    for start in range(0, memories, MAX_BATCH):
        several = range(start, min(start + MAX_BATCH, memories))
        service.store_batch(
            [{"content": f"{number}: {words.text(LENGTH)}", "global": True} for number in several]
        )
    store.close()


def copied(source: Path, folder: Path) -> Home:
    folder.mkdir()
    (folder / "memory.db").write_bytes((source / "memory.db").read_bytes())
    (folder / "mem").write_text(SCRIPT)
    return Home(folder)


def resident(pid: int) -> float:
    """Resident memory of a process in MB."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True)  # noqa: S607
    return int(told.stdout) / 1024


def serving(home: Home) -> float:
    """Resident memory of an idle `mem serve`, after the handshake and one recall, in MB."""
    begin = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": begin},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "deploy key"}}},
    ]
    with subprocess.Popen(
        [sys.executable, home.entry, "serve"],
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise SystemExit("no pipes")
        for message in messages[:2]:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        idle = resident(process.pid)
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **messages[2]}) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdin.close()
    return idle


def rows(warm: Home, cold: Home, stalled: Home) -> dict[str, Callable[[int], float]]:
    """What is measured: each gets the number of the round and gives seconds."""
    words, sessions = Words(2), itertools.count()

    def question() -> str:
        return words.text(8)

    def event(home: Home) -> Path:
        told = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": f"bench-{next(sessions)}",
            "prompt": f"how does the {question()} work?",
            "cwd": str(home.folder),
        }
        path = home.folder / "event.json"
        path.write_text(json.dumps(told))
        return path

    def without_worker(_: int) -> float:
        spent = cold.call("context", "--hook", event=event(cold))
        cold.wait()  # it starts one for the next time, which there shall not be here
        control.stop(cold.place)
        return spent

    hook = ("context", "--hook")
    late = ("--deadline-ms", "500")
    return {
        "python -c pass": lambda _: warm.spend(["-c", "pass"]),
        "mem context --hook, warm": lambda _: warm.call(*hook, event=event(warm)),
        "mem recall --json, warm": lambda _: warm.call("recall", "--json", question()),
        "mem recall on a terminal, warm": lambda _: warm.call("recall", question(), terminal=True),
        "mem store, warm": lambda number: warm.call("store", f"{number} {question()}"),
        "mem context --hook, no worker": without_worker,
        "mem context --hook, stalled, 500 ms": lambda _: stalled.call(*hook, *late, event=event(stalled)),
        "mem recall --json, stalled, 500 ms": lambda _: stalled.call("recall", "--json", question(), *late),
    }


def main() -> None:
    """Build, measure in turn, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--memories", type=int, default=10_000)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="mem-") as name:
        base = Path(name)
        (base / "built").mkdir()
        build(base / "built", chosen.memories)
        warm, cold, stalled = (copied(base / "built", base / part) for part in ("w", "c", "s"))
        try:
            for home in (warm, stalled):
                home.call("recall", "--json", "deploy key")
            worker, stopped = warm.wait(), stalled.wait()
            os.kill(stopped, signal.SIGSTOP)
            times: dict[str, list[float]] = {}
            for number in range(chosen.runs + 1):
                for label, measure in rows(warm, cold, stalled).items():
                    spent = measure(number)
                    if number:  # the first round compiles and fills caches
                        times.setdefault(label, []).append(spent)
            report(times, resident(worker), serving(warm))
        finally:
            for home in (warm, cold, stalled):
                control.stop(home.place)


def report(times: dict[str, list[float]], worker: float, server: float) -> None:
    bare = statistics.median(times["python -c pass"])
    table(
        ("call", "median ms", "least ms", "× python -c pass"),
        [
            (
                label,
                f"{1000 * statistics.median(spent):.1f}",
                f"{1000 * min(spent):.1f}",
                f"{statistics.median(spent) / bare:.2f}",
            )
            for label, spent in times.items()
        ],
    )
    table(("resident", "MB"), [("worker", f"{worker:.0f}"), ("mem serve, idle", f"{server:.0f}")])


if __name__ == "__main__":
    main()
