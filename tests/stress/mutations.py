"""Processes change the same memories while some of them are killed: nothing acknowledged is lost.

    python tests/stress/mutations.py [--seconds 20] [--processes 8] [--commands 1] [--every 1]

All but one call the service, each in a Python process of its own: eight that started `mem` for every change
would mostly be starting. The other one does the same by `mem` commands. Each writes down, synced, what was
acknowledged to it before it goes on; at random one is killed with SIGKILL and started again. Afterwards the
store is held against what was written down. Prints what happened and exits 1 if a promise broke.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import mem
from mem.caller import Caller
from mem.embed import Role
from mem.errors import MemError
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Trust

CLIENT = "stress"
FACT = "Fact {} about the staging cluster"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it in a temporary home, or one of its workers; gives the exit status."""
    parser = argparse.ArgumentParser(description="mutations of the same memories, with kills")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--commands", type=int, default=1, help="how many of them run `mem` commands")
    parser.add_argument("--every", type=float, default=1, help="about so many seconds between two kills")
    parser.add_argument("--memories", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker is not None:
        return _work(options)
    with tempfile.TemporaryDirectory(prefix="mem-stress-") as folder:
        options.home = Path(folder)
        broken = _run(options)
    for line in broken:
        sys.stdout.write(f"BROKEN: {line}\n")
    return 1 if broken else 0


# The workers


class Letters:
    """A tiny embedder: it knows words, not meaning, and costs nothing."""

    name = "letters@1"
    choice = "bundled"
    dimensions = 64
    loaded = True

    def ready(self) -> None:
        """It always is."""

    def mean(self) -> None:
        """It has no centre."""

    def split(self, text: str) -> list[str]:
        """One piece."""
        return [text]

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> Any:
        """Counts of hashed words, of length one."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()) or [text]:
                row[zlib.crc32(word.encode()) % self.dimensions] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Notebook:
    """What was acknowledged to one worker: a line each, on the disk before the next change begins."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        os.write(self._file, b"\n")  # whoever was killed may have left half a line

    def write(self, **entry: Any) -> None:
        os.write(self._file, json.dumps(entry).encode() + b"\n")
        os.fsync(self._file)


def _work(options: argparse.Namespace) -> int:
    """Change memories until the time is up."""
    rng = random.Random(f"{options.seed}-{options.worker}-{os.getpid()}")  # noqa: S311
    notebook = Notebook(options.home / f"worker-{options.worker}.log")
    store = Store(_place(options))
    change = _by_command if options.worker < options.commands else _by_service
    undoable: list[str] = []
    number = 0
    while time.time() < options.until:
        time.sleep(rng.uniform(0, 0.05))  # the processors are not to be what all wait for
        number += 1
        token = f"{options.worker}x{os.getpid()}x{number}"
        memory = _service(store, options, token)
        active = [found.id for found in memory.list_(limit=options.memories).memories]
        id_ = rng.choice(active) if active and rng.random() < 0.6 else rng.randint(1, options.memories)
        name = rng.choice(WEIGHTED)
        turn = Turn(rng, token, name, str(id_), active, undoable, options)
        outcome, answer = change(memory, turn)
        event = _event(store, token)
        told = turn.told if OPERATIONS[name].is_new and outcome == "done" else None
        notebook.write(
            token=token, operation=name, outcome=outcome, event=event, told=told, answer=answer[:1000]
        )
        if event is not None:
            undoable = [*undoable[-3:], event]
    return 0


class Turn:
    """One change: what to do to which memory. `told` is a text that must be found in its version."""

    def __init__(
        self,
        rng: random.Random,
        token: str,
        name: str,
        id_: str,
        active: list[int],
        undoable: list[str],
        options: argparse.Namespace,
    ) -> None:
        self.name = name
        self.id = id_
        self.other = str(rng.choice(active)) if active else "1"
        self.importance = rng.randint(0, 10)
        self.state = rng.choice((Trust.UNVERIFIED, Trust.VERIFIED, Trust.DISPUTED))
        self.event = rng.choice(undoable) if undoable else "1"
        self.fact = FACT.format(rng.randint(1, options.memories))
        self.told = f"{self.fact} by {token}"
        self.token = token


class Operation(NamedTuple):
    """A change on the command line, the same as a call, and whether it leaves a text that was never there."""

    arguments: Callable[[Turn], list[str]]
    call: Callable[[Service, Turn], object]
    is_new: bool = False


OPERATIONS: dict[str, Operation] = {
    "store": Operation(lambda t: ["store", t.told], lambda m, t: m.store(t.told), is_new=True),
    "store in its place": Operation(
        lambda t: ["store", t.told, "--supersedes", t.id],
        lambda m, t: m.store(t.told, supersedes=[t.id]),
        is_new=True,
    ),
    "restate": Operation(lambda t: ["store", t.fact], lambda m, t: m.store(t.fact)),
    "insist": Operation(lambda t: ["store", t.fact, "--force"], lambda m, t: m.store(t.fact, force=True)),
    "reword": Operation(
        lambda t: ["update", t.id, "--content", t.told],
        lambda m, t: m.update(t.id, content=t.told),
        is_new=True,
    ),
    "weigh": Operation(
        lambda t: ["update", t.id, "--importance", str(t.importance)],
        lambda m, t: m.update(t.id, importance=t.importance),
    ),
    "supersede": Operation(
        lambda t: ["supersede", t.id, "--content", t.told],
        lambda m, t: m.supersede([t.id], content=t.told),
        is_new=True,
    ),
    "supersede by": Operation(
        lambda t: ["supersede", t.id, "--by", t.other], lambda m, t: m.supersede([t.id], by=t.other)
    ),
    "end": Operation(lambda t: ["supersede", t.id, "--ended"], lambda m, t: m.supersede([t.id], ended=True)),
    "archive": Operation(lambda t: ["archive", t.id], lambda m, t: m.archive([t.id])),
    "restore": Operation(lambda t: ["restore", t.id], lambda m, t: m.restore([t.id])),
    "restore by force": Operation(
        lambda t: ["restore", t.id, "--force"], lambda m, t: m.restore([t.id], force=True)
    ),
    "reject": Operation(
        lambda t: ["reject", t.id, "--reason", "not so"], lambda m, t: m.reject([t.id], reason="not so")
    ),
    "trust": Operation(
        lambda t: ["trust", t.id, t.state.value, "--reason", "looked at"],
        lambda m, t: m.trust([t.id], t.state, reason="looked at"),
    ),
    "undo": Operation(lambda t: ["undo", t.event], lambda m, t: m.undo(t.event)),
}
# What takes memories away is rarer than what brings them.
RARE = ("reject", "end", "supersede by", "archive")
WEIGHTED = [name for name in OPERATIONS for _ in range(1 if name in RARE else 2)]


def _by_service(memory: Service, turn: Turn) -> tuple[str, str]:
    """Make a change through the service; gives its outcome and its answer."""
    try:
        answer = OPERATIONS[turn.name].call(memory, turn)
    except MemError as err:
        return err.code, str(err)
    return "done" if getattr(answer, "refusal", None) is None else "refused", repr(answer)


def _by_command(memory: Service, turn: Turn) -> tuple[str, str]:
    """The same by a `mem` command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "mem", *OPERATIONS[turn.name].arguments(turn), "--json"],
        env={**os.environ, "CLAUDE_CODE_SESSION_ID": turn.token},
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    outcome = {0: "done", 2: "usage", 3: "not_found", 4: "refused"}.get(done.returncode, "failed")
    return outcome, (done.stdout or done.stderr).decode(errors="replace")


def _event(store: Store, token: str) -> str | None:
    """The event that a change left: each is made under a session of its own."""
    with store.read() as db:
        return db.execute("SELECT uid FROM events WHERE session = ? AND client = ?", (token, CLIENT)).get


def _service(store: Store, options: argparse.Namespace, token: str | None = None) -> Service:
    return Service(store, Letters(), Caller(Actor(ActorKind.PERSON, CLIENT, token), options.home))


# The run


def _run(options: argparse.Namespace) -> list[str]:
    """Set up, let the workers work and kill some, then look at everything; gives the promises that broke."""
    os.environ |= _environment(options)
    store = Store(_place(options))
    memory = _service(store, options)
    for number in range(1, options.memories + 1):
        memory.store(FACT.format(number))
    options.until = time.time() + options.seconds
    rng = random.Random(options.seed)  # noqa: S311
    workers = [_start(options, number) for number in range(options.processes)]
    kills, broken = 0, list[str]()
    try:
        while time.time() < options.until - 1:
            time.sleep(min(rng.uniform(0.3, 1.2) * options.every, options.until - time.time()))
            victim = rng.randrange(options.processes)
            if workers[victim].poll() is None:
                os.killpg(workers[victim].pid, signal.SIGKILL)
                kills += 1
            elif workers[victim].returncode:
                broken.append(f"worker {victim} ended with {workers[victim].returncode}")
            workers[victim].wait()
            workers[victim] = _start(options, victim)
        for number, worker in enumerate(workers):
            if worker.wait(timeout=60):
                broken.append(f"worker {number} ended with {worker.returncode}")
    finally:
        for worker in workers:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
    entries = list(_entries(options))
    broken += _compared(store, entries)
    broken += [f"doctor: {check.name}: {check.detail}" for check in memory.doctor().checks if not check.ok]
    _report(options, store, entries, kills)
    store.close()
    return broken


def _start(options: argparse.Namespace, number: int) -> subprocess.Popen[bytes]:
    """A worker, with all that it starts in a process group of its own."""
    names = ("processes", "commands", "memories", "seed", "until", "home")
    arguments = [f"--{name}={getattr(options, name)}" for name in names]
    return subprocess.Popen(
        [sys.executable, __file__, f"--worker={number}", *arguments],
        env=dict(os.environ),  # a test may have put another mapping in its place, which no process inherits
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        cwd=options.home,
    )


def _place(options: argparse.Namespace) -> Path:
    return Path(options.home) / "mem" / "memory.db"


def _environment(options: argparse.Namespace) -> dict[str, str]:
    for name in list(os.environ):
        if name.startswith(("MEM_", "CLAUDE", "XDG_")):
            del os.environ[name]
    return {
        "HOME": str(options.home),
        "MEM_HOME": str(options.home / "mem"),
        "MEM_CLIENT": CLIENT,
        "MEM_MODEL": "none",
        "MEM_WORKER": "off",
        "PYTHONPATH": str(Path(mem.__file__).parent.parent),
    }


def _entries(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What the workers wrote down; a line that was cut off by a kill was acknowledged to nobody."""
    for path in sorted(options.home.glob("worker-*.log")):
        for line in path.read_text().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


# What must be so


def _compared(store: Store, entries: Sequence[dict[str, Any]]) -> list[str]:
    with store.read() as db:
        events = db.execute(
            "SELECT id, uid, session, subjects, at, sequence FROM events ORDER BY id"
        ).fetchall()
        images = db.execute(
            """SELECT id, uid, event_id, content, changed_at, NULL, NULL, recorded_at FROM memories UNION ALL
               SELECT id, uid, event_id, content, changed_at, replaced_at, replaced_by, recorded_at
               FROM memories_versions ORDER BY 1, 5"""
        ).fetchall()
        doubled = db.execute(
            """SELECT group_concat(id) FROM memories WHERE status = 'active'
               GROUP BY ifnull(project, ''), kind, ifnull(entity_id, 0), fingerprint HAVING count(*) > 1"""
        ).fetchall()
        astray = db.execute(
            """SELECT id FROM memories m WHERE superseded_by IS NOT NULL AND NOT EXISTS (
                 SELECT 1 FROM memories s WHERE s.id = m.superseded_by AND s.id <> m.id)"""
        ).fetchall()
    return [
        *_lost(entries, events, images),
        *_out_of_order(events, images),
        *(f"live with one fingerprint: {row[0]}" for row in doubled),
        *(f"#{row[0]} is superseded by nothing" for row in astray),
        *(
            f"{entry['operation']} {entry['token']} failed: {entry['answer']}"
            for entry in entries
            if entry["outcome"] not in ("done", "refused", "not_found", "usage")
        ),
    ]


Rows = Sequence[tuple[Any, ...]]


def _lost(entries: Sequence[dict[str, Any]], events: Rows, images: Rows) -> Iterator[str]:
    """Acknowledged changes whose event, version or text is not there; refused ones that left something."""
    by_uid = {row[1]: row for row in events}
    sessions = {row[2] for row in events}
    written: dict[int, dict[str, str]] = {}
    for _, uid, event_id, content, *_ in images:
        written.setdefault(event_id, {})[uid] = content
    for entry in entries:
        what = f"{entry['operation']} {entry['token']}"
        if entry["outcome"] != "done":
            if entry["token"] in sessions:
                yield f"{what} was refused ({entry['outcome']}) and left an event"
            continue
        if entry["event"] is None:
            if entry["told"] is not None:
                yield f"{what} was acknowledged without an event: {entry['answer']}"
            continue
        if entry["event"] not in by_uid:
            yield f"{what} was acknowledged and its event is lost"
            continue
        event_id, _, _, subjects, *_ = by_uid[entry["event"]]
        left = written.get(event_id, {})
        missing = set(json.loads(subjects)) - set(left)
        if missing:
            yield f"{what}: no version of {', '.join(missing)}"
        if entry["told"] is not None and entry["told"] not in left.values():
            yield f"{what}: its text is lost"


def _out_of_order(events: Rows, images: Rows) -> Iterator[str]:
    """Gaps in the log, and versions that do not end exactly where the next one begins."""
    if [row[5] for row in events] != list(range(1, len(events) + 1)):
        yield "the sequence of events has gaps"
    instants = [row[4] for row in events]
    if instants != sorted(set(instants)):
        yield "the instants of events do not grow"
    at = {row[0]: row[4] for row in events}
    by_memory: dict[int, list[tuple[Any, ...]]] = {}
    for row in images:
        by_memory.setdefault(row[0], []).append(row)
    for number, rows in by_memory.items():
        if rows[-1][5] is not None or any(row[5] is None for row in rows[:-1]):
            yield f"#{number}: the present is not the last version"
            continue
        if rows[0][4] != rows[0][7]:
            yield f"#{number}: its first version does not begin when it was recorded"
        if any(row[4] != at[row[2]] for row in rows):
            yield f"#{number}: a version does not begin with its event"
        for earlier, later in pairwise(rows):
            if (earlier[5], earlier[6]) != (later[4], later[2]):
                yield f"#{number}: a version ends at {earlier[5]}, the next begins at {later[4]}"


def _report(options: argparse.Namespace, store: Store, entries: Sequence[dict[str, Any]], kills: int) -> None:
    with store.read() as db:
        counts = {
            table: db.execute(f"SELECT count(*) FROM {table}").get  # noqa: S608
            for table in ("events", "memories", "memories_versions", "tombstones")
        }
    changed = Counter(entry["operation"] for entry in entries if entry["event"] is not None)
    refused = Counter(entry["outcome"] for entry in entries if entry["outcome"] != "done")
    by_command = sum(int(entry["token"].split("x")[0]) < options.commands for entry in entries)
    acknowledged = sum(changed.values())
    sys.stdout.write(
        f"{options.processes} processes, {options.seconds:g} s, {kills} killed: {len(entries)} operations "
        f"({by_command} by command), {acknowledged} acknowledged changes "
        f"({acknowledged / options.seconds:.0f}/s)\n"
        f"changes: {', '.join(f'{name} {count}' for name, count in changed.most_common())}\n"
        f"refused: {', '.join(f'{name} {count}' for name, count in refused.most_common())}\n"
        f"left: {', '.join(f'{count} {name}' for name, count in counts.items())}\n"
    )


if __name__ == "__main__":
    raise SystemExit(main())
