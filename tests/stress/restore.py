"""Backups are restored, and made, by processes that are killed: the store is the old or the new one, whole.

    python tests/stress/restore.py [--kills 60] [--seconds 600] [--memories 400]

Each round changes the store, then has a process put an old backup in its place, since which a memory was
rejected and one forgotten, and kills that process with SIGKILL at a random moment. The store must open, be
sound, and hold all of the old state or all of the new one; then the old one must be aside. Running it again
must complete. Every third round a process is killed that makes a backup: what has the name of a backup must
be one. Prints what happened and exits 1 if a promise broke.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mem
from mem.caller import Caller
from mem.errors import MemError
from mem.exchange import exporting
from mem.service import Service
from mem.store import copies, integrity
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Status

# Says when it is ready, so that no kill falls into the time that Python takes to start.
CHILD = """
import sys
from pathlib import Path
from mem.caller import Caller
from mem.exchange import backup, exporting, restoring
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind
print("ready", flush=True)
file = sys.stdin.readline().strip()
store = Store(Path(sys.argv[1]))
Service(store, None, Caller(Actor(ActorKind.PERSON), Path.cwd())).backup(restore=file or None)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it in a temporary home; gives the exit status."""
    parser = argparse.ArgumentParser(description="restores and backups that are killed")
    parser.add_argument("--kills", type=int, default=60, help="of restores, at least")
    parser.add_argument("--seconds", type=float, default=600, help="at most")
    parser.add_argument("--memories", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mem-stress-") as folder:
        run = Run(Path(folder), options)
        broken = list(run.all())
    sys.stdout.write(run.told())
    for line in broken:
        sys.stdout.write(f"BROKEN: {line}\n")
    return 1 if broken else 0


@dataclass
class Run:
    """The home, what was done in it, and how it went."""

    home: Path
    options: argparse.Namespace
    kills: dict[str, int] = field(default_factory=lambda: {"restore": 0, "backup": 0})
    left: dict[str, int] = field(default_factory=lambda: {"old": 0, "new": 0})
    rounds: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.options.seed)  # noqa: S311
        # Seconds within which one is killed; it grows until one comes to its end, and begins anew from there.
        self.within = {"restore": 0.1, "backup": 0.05}
        self.place = self.home / "mem" / "memory.db"
        self.backups = self.home / "mem" / "backups"
        for name in list(os.environ):
            if name.startswith(("MEM_", "CLAUDE", "XDG_")):
                del os.environ[name]
        os.environ |= {
            "HOME": str(self.home),
            "MEM_HOME": str(self.home / "mem"),
            "MEM_MODEL": "none",
            "MEM_WORKER": "off",
            "PYTHONPATH": str(Path(mem.__file__).parent.parent),
        }

    def all(self) -> Iterator[str]:
        """Every round, until there were enough kills or the time is up; gives what was broken."""
        until = time.monotonic() + self.options.seconds
        self._begin()
        self.child = self._child()
        try:
            while self.kills["restore"] < self.options.kills and time.monotonic() < until:
                self.rounds += 1
                broken = list(self._killed_backup() if self.rounds % 3 == 0 else self._killed_restore())
                yield from (f"round {self.rounds}: {line}" for line in broken)
        finally:
            self.child.kill()
            self.child.communicate()

    def told(self) -> str:
        """What was done, in a line."""
        return (
            f"{self.rounds} rounds, {self.options.memories} memories: {self.kills['restore']} restores "
            f"killed ({self.left['old']} left the old state, {self.left['new']} the new one), "
            f"{self.kills['backup']} backups killed\n"
        )

    def _begin(self) -> None:
        """A store, a backup of it, and two memories that are judged after that."""
        service = self._service()
        items = [
            {"content": f"Fact {number}: {self.rng.random()}"} for number in range(self.options.memories)
        ]
        for start in range(0, len(items), 500):
            service.store_batch(items[start : start + 500])
        self.file = str(self.home / "backup.db")
        service.backup(self.file)
        service.reject(["1"], reason="it is wrong")
        service.forget(["2"])
        service.close()

    def _killed_restore(self) -> Iterator[str]:
        service = self._service()
        service.store(f"Told in round {self.rounds}")
        service.close()
        for aside in self._asides():
            aside.unlink()
        old = self._digest(self.place)
        if not self._run("restore", self.file):
            return
        state = self._state(old)
        if state is None:
            yield "the store is neither the old nor the new one"
        else:
            self.left[state] += 1
        yield from self._unsound()
        asides = self._asides()
        if state == "new" and old not in [self._digest(aside) for aside in asides]:
            yield "the old state is not aside"
        try:
            again = self._service()
            again.backup(restore=self.file)
            again.close()
        except MemError as err:
            yield f"running it again failed: {err}"
        if self._state(old) != "new":
            yield "running it again did not complete"
        yield from self._unsound()
        left = [file.name for file in self.place.parent.iterdir() if ".new" in file.name]
        if left:
            yield f"left behind: {', '.join(left)}"

    def _killed_backup(self) -> Iterator[str]:
        for file in self.backups.glob("*.db"):
            file.unlink()
        if not self._run("backup", ""):
            return
        for file in self.backups.glob("*.db"):
            try:
                copies.check(file)
                if self._digest(file) != self._digest(self.place):
                    yield f"{file.name} is not the store"
            except MemError as err:
                yield f"{file.name} is no backup: {err}"
        yield from self._unsound()

    def _run(self, what: str, file: str) -> bool:
        """Have it done and kill that; whether it was killed before it was done."""
        child, self.child = self.child, self._child()
        child.stdout.readline()  # type: ignore[union-attr]
        began = time.monotonic()
        child.stdin.write(f"{file}\n".encode())  # type: ignore[union-attr]
        child.stdin.flush()  # type: ignore[union-attr]
        moment = began + self.rng.uniform(0, self.within[what])
        while child.poll() is None and time.monotonic() < moment:
            time.sleep(0.001)
        child.kill()
        killed = child.wait() != 0
        child.communicate()
        if killed:
            self.kills[what] += 1
            self.within[what] *= 1.4
        else:
            self.within[what] = time.monotonic() - began
        return killed

    def _child(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-c", CHILD, str(self.place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.home,
        )

    def _service(self) -> Service:
        return Service(Store(self.place), None, Caller(Actor(ActorKind.PERSON), self.home))

    def _digest(self, file: Path) -> str:
        store = Store(file)
        try:
            with store.read() as db:
                return exporting.digest(db)
        finally:
            store.close()

    def _state(self, old: str) -> str | None:
        """Whether the store holds all of the old state, or all of the new one."""
        if self._digest(self.place) == old:
            return "old"
        service = self._service()
        try:
            with service._store.read() as db:
                restored = db.execute(
                    "SELECT count(*) FROM events WHERE operation = 'restore-backup'"
                ).get  # the backup itself has none
            states = {
                found.id: found.status
                for start in range(0, self.options.memories, 1000)
                for found in service.list_(status=list(Status), limit=1000, offset=start).memories
            }
        finally:
            service.close()
        whole = len(states) == self.options.memories - 1 and 2 not in states
        return "new" if restored == 1 and whole and states[1] is Status.REJECTED else None

    def _asides(self) -> list[Path]:
        found = self.place.parent.glob(f"{self.place.name}.before-restore-*Z")
        return sorted(found)

    def _unsound(self) -> Iterator[str]:
        for file in (self.place, *self._asides()):
            try:
                store = Store(file)
                with store.read() as db:
                    problems = integrity.problems(db, thorough=True)
                    broken = integrity.first_broken(db)
                store.close()
            except MemError as err:
                yield f"{file.name} does not open: {err}"
                continue
            yield from (f"{file.name}: {problem}" for problem in problems)
            if broken is not None:
                yield f"{file.name}: event {broken.event}: {broken.why}"
        service = self._service()
        yield from (f"doctor: {one.detail}" for one in service.doctor(audit=True).checks if not one.ok)
        service.close()


if __name__ == "__main__":
    raise SystemExit(main())
