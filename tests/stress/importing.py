"""Imports are killed at random moments: the store stays sound, and running them again completes them.

    python tests/stress/importing.py [--kills 40] [--seconds 0] [--records 3000]

An export with a little of everything and many memories is imported by `mem import`, a process of its own,
which is killed with SIGKILL at a random moment. The store is opened and looked at, then the same import is
started again, until one of them ends by itself: then the store must hold exactly what an undisturbed import
gives. So it goes on, in a new home each time, for so many kills or, with `--seconds`, so long. Every other
home also has a writer of its own beside the import, of whose acknowledged texts none may be missing. Prints
what happened and exits 1 if a promise broke.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mem
from mem.caller import Caller
from mem.exchange import exporting
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Kind, SayingAction

WRITER = "beside"
BESIDE = "Note {} from beside the import"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it in a temporary home; gives the exit status."""
    parser = argparse.ArgumentParser(description="imports that are killed")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=0, help="end after so long, whatever was killed")
    parser.add_argument("--records", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mem-stress-") as folder:
        os.environ |= _environment(Path(folder))
        run = _Run(Path(folder), options)
        run.go()
    sys.stdout.write(
        f"{run.kills} killed, {run.unfinished} of them after something was written; "
        f"{run.completed} imports of {run.lines} records completed, {run.beside} notes beside them\n"
    )
    for line in run.broken:
        sys.stdout.write(f"BROKEN: {line}\n")
    return 1 if run.broken else 0


@dataclass(slots=True)
class _Run:
    """The run, and what came of it."""

    folder: Path
    options: argparse.Namespace
    kills: int = 0
    unfinished: int = 0
    completed: int = 0
    beside: int = 0
    lines: int = 0
    broken: list[str] = field(default_factory=list)

    def go(self) -> None:
        """Import and kill until it is enough."""
        began, rng = time.monotonic(), random.Random(self.options.seed)  # noqa: S311
        source = self.folder / "source.jsonl"
        _write_source(self.folder / "source", source, self.options.records)
        self.lines = len(source.read_bytes().splitlines()) - 1
        expected, lasts = self._undisturbed(source)

        def is_over() -> bool:
            if self.options.seconds:
                return time.monotonic() - began > self.options.seconds
            return self.kills >= self.options.kills

        number = 0
        while not (self.broken or (is_over() and self.completed)):
            number += 1
            home = self.folder / f"home-{number}"
            self._complete(home, source, rng, lasts, is_over, expected, with_writer=number % 2 == 0)
            shutil.rmtree(home)

    def _undisturbed(self, source: Path) -> tuple[str, float]:
        """The digest of a store after an import that nobody disturbed, and how long that took."""
        home, began = self.folder / "undisturbed", time.monotonic()
        if _start(home, source).wait() != 0:
            self.broken.append("an undisturbed import failed")
        lasts = time.monotonic() - began
        return _look(home, self.broken)[0], lasts

    def _complete(
        self,
        home: Path,
        source: Path,
        rng: random.Random,
        lasts: float,
        is_over: Callable[[], bool],
        expected: str,
        *,
        with_writer: bool,
    ) -> None:
        """Start the import of one home until it ends by itself, and compare what is there then."""
        home.mkdir()
        writer = _Writer(home) if with_writer else None
        if writer is not None:
            writer.start()
        status = None
        while status is None and not self.broken:
            process = _start(home, source)
            try:
                status = process.wait(None if is_over() else rng.uniform(0.1, 1.0) * lasts)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.kills += 1
                self.unfinished += _look(home, self.broken)[1] > 0
        if writer is not None:
            self.beside += writer.end(self.broken)
        if status not in (0, None):
            self.broken.append(f"an import ended with {status}")
        found, _ = _look(home, self.broken, without=BESIDE.partition("{")[0])
        if found != expected:
            self.broken.append(f"{home.name} does not hold what an undisturbed import gives")
        if (again := _start(home, source).wait()) != 0:
            self.broken.append(f"importing once more ended with {again}")
        self.completed += 1


class _Writer(threading.Thread):
    """Somebody who stores notes while an import goes on."""

    def __init__(self, home: Path) -> None:
        super().__init__(daemon=True)
        self._home = home
        self._ended = threading.Event()
        self._acknowledged = 0

    def run(self) -> None:
        """Store until it is told to end."""
        memory = _service(self._home, WRITER)
        while not self._ended.wait(0.05):
            memory.store(BESIDE.format(self._acknowledged), global_=True)
            self._acknowledged += 1
        memory.close()

    def end(self, broken: list[str]) -> int:
        """Stop, and look for what was acknowledged; gives how many notes these are."""
        self._ended.set()
        self.join()
        memory = _service(self._home, WRITER)
        held = {one.content for one in memory.list_(all_projects=True, limit=1000).memories}
        missing = [n for n in range(self._acknowledged) if not _is_held(memory, n, held)]
        broken += [f"note {number} beside the import is lost" for number in missing]
        memory.close()
        return self._acknowledged


def _is_held(memory: Service, number: int, listed: set[str]) -> bool:
    text = BESIDE.format(number)
    return text in listed or memory.store(text, global_=True).action == "already_known"


def _write_source(home: Path, target: Path, records: int) -> None:
    """An export with a little of everything, and many memories more."""
    memory = _service(home)
    first = memory.store("The API listens on port 80", tag=["api"])
    memory.supersede([str(first.id)], content="The API listens on port 81", reason="moved")
    memory.reject([str(memory.store("Staging needs a VPN").id)], reason="it does not")
    memory.store("We use Postgres", kind=Kind.DECISION, title="Database", project="shop")
    for number in range(10):
        memory.observe(f"Service {number}", f"It is written in language {number}", type="service")
        memory.relate(f"Service {number}", "calls", f"Service {number // 2}")
    memory.goal(SayingAction.SET, "ship it")
    plain = str(memory.store("A plain fact").id)
    memory.update(plain, importance=9)
    memory.export(str(target))
    memory.close()
    header, *lines = (json.loads(line) for line in target.read_bytes().splitlines())
    [model] = [line for line in lines if line.get("content") == "A plain fact"]
    lines += [_another(model, number) for number in range(records)]
    target.write_text("".join(f"{json.dumps(line)}\n" for line in (header, *lines)))


def _another(model: dict[str, Any], number: int) -> dict[str, Any]:
    """The same memory under another UUID with another text, in each of its versions."""
    text = f"Fact {number} about the staging cluster in region {number % 7}"
    versions = [{**version, "content": text} for version in model["versions"]]
    uid = str(uuid.UUID(int=(number + 1) << 64 | 7 << 60 | 2 << 62))
    return {**model, "uid": uid, "content": text, "versions": versions}


def _look(home: Path, broken: list[str], *, without: str = "") -> tuple[str, int]:
    """Open the store; gives its digest without some texts, and how many memories it has."""
    if not (home / "memory.db").exists():
        return "", 0
    memory = _service(home)
    try:
        checks = memory.doctor(audit=True).checks
        broken += [f"doctor: {check.name}: {check.detail}" for check in checks if not check.ok]
        with memory._store.read() as db:
            found = [
                record
                for record in exporting.records(db, exporting.Selection())
                if not (without and _is_beside(record, without))
            ]
    finally:
        memory.close()
    return json.dumps(found, sort_keys=True), sum(record["record"] == "memory" for record in found)


def _is_beside(record: dict[str, Any], text: str) -> bool:
    """Whether a record is of the writer: one of its notes, or the event of one."""
    return str(record.get("content", "")).startswith(text) or record.get("client") == WRITER


def _service(home: Path, client: str = "stress") -> Service:
    home.mkdir(exist_ok=True, mode=0o700)
    return Service(Store(home / "memory.db"), None, Caller(Actor(ActorKind.PERSON, client), home))


def _start(home: Path, source: Path) -> subprocess.Popen[bytes]:
    """The import as a process of its own."""
    home.mkdir(exist_ok=True, mode=0o700)
    return subprocess.Popen(
        [sys.executable, "-m", "mem", "import", str(source)],
        env={**os.environ, "MEM_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=home,
    )


def _environment(folder: Path) -> dict[str, str]:
    for name in list(os.environ):
        if name.startswith(("MEM_", "CLAUDE", "XDG_")):
            del os.environ[name]
    return {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "MEM_HOME": str(folder / "source"),
        "MEM_MODEL": "none",
        "MEM_WORKER": "off",
        "PYTHONPATH": str(Path(mem.__file__).parent.parent),
    }


if __name__ == "__main__":
    raise SystemExit(main())
