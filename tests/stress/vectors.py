"""Backfill and migrate-vectors are killed at random moments: nothing is missing or doubled afterwards.

    python tests/stress/vectors.py [--kills 30] [--seconds 0] [--memories 200]

A process of its own fills a store, or moves it from one model to another and back; it is killed with SIGKILL
wherever it is, also inside its transactions, which are made to take longer than they would. After each kill
the store must be sound and answer by meaning; then it goes on where it was. With `--seconds` the kills go on
for so long, else until both works were killed `--kills` times. Exits 1 if a promise broke.
"""

import argparse
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
from pathlib import Path
from typing import Any

import mem
from mem.caller import Caller
from mem.embed import Role, choice
from mem.search import backfilling, next_index
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Mode

WORKS = ("backfill", "migrate")
FACT = "Fact {} of the ledger, page p{}"


class Letters:
    """A tiny embedder that knows words, not meaning; each model puts them elsewhere, and takes its time."""

    choice = "bundled"
    loaded = True
    concurrency = 1

    def __init__(self, name: str, dimensions: int, pause: float = 0.0) -> None:
        self.name, self.dimensions, self._pause = name, dimensions, pause

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

        time.sleep(self._pause * len(texts))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()):
                row[zlib.crc32(f"{self.name} {word}".encode()) % self.dimensions] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


MODELS = {"one": ("one@1", 256), "two": ("two@1", 192)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it in a temporary home, or do the work that is to be killed; gives the exit status."""
    parser = argparse.ArgumentParser(description="kills of backfill and migrate-vectors")
    parser.add_argument("--kills", type=int, default=30, help="of each")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--memories", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", choices=WORKS, help=argparse.SUPPRESS)
    parser.add_argument("--to", choices=tuple(MODELS), help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.work is not None:
        return _work(options)
    with tempfile.TemporaryDirectory(prefix="mem-stress-") as folder:
        options.home = Path(folder)
        broken = _run(options)
    for line in broken:
        sys.stdout.write(f"BROKEN: {line}\n")
    return 1 if broken else 0


# The work


def _work(options: argparse.Namespace) -> int:
    """Fill or move the store, slowly, and say when it begins."""
    rng = random.Random()  # noqa: S311
    backfilling.PER_WRITE = 40
    for module, name in ((backfilling.backlog, "save"), (next_index, "add"), (next_index, "take_over")):
        setattr(module, name, _slow(getattr(module, name), rng, 0.001 if name == "save" else 0.05))
    searched = _searched(options.home)
    here = Letters(*MODELS[searched or "one"], pause=0.001)
    there = Letters(*MODELS[options.to or "one"], pause=0.001)
    choice.make = lambda *_, **__: there  # type: ignore[assignment]
    memory = _service(options, here)
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    if options.work == "backfill":
        return memory.backfill().exit_status
    return memory.migrate_vectors(to="bundled").exit_status


def _slow(function: Callable[..., Any], rng: random.Random, most: float) -> Callable[..., Any]:
    """The function, and then a while inside its transaction in which the process can be killed."""

    def call(*arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        time.sleep(rng.uniform(0, most))
        return result

    return call


def _searched(home: Path) -> str | None:
    """Which of the models the store searches."""
    store = Store(home / "memory.db")
    with store.read() as db:
        name = db.execute("SELECT name FROM models WHERE active = 1").get
    store.close()
    return next((key for key, (known, _) in MODELS.items() if known == name), None)


def _service(options: argparse.Namespace, embedder: Letters | None) -> Service:
    caller = Caller(Actor(ActorKind.PERSON), options.home, environment={"MEM_HOME": str(options.home)})
    return Service(Store(options.home / "memory.db"), embedder, caller)


# The run


def _run(options: argparse.Namespace) -> list[str]:
    """Kill and look, until it is enough; then let everything come to its end and look again."""
    rng = random.Random(options.seed)  # noqa: S311
    kills: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    broken: list[str] = []
    told = 0
    until = time.monotonic() + options.seconds
    to = "two"
    while not broken and _goes_on(options, kills, until):
        work = min(WORKS, key=lambda one: kills[one])
        if not told or (work == "backfill" and not _pending(options)):
            told += _tell(options, told)
        # Now and then it comes to its end, so that a migration goes the other way the next time.
        after = None if rng.random() < 0.15 else rng.uniform(0.0, 0.8)
        killed = _killed(options, work, to, after)
        (kills if killed else ends)[work] += 1
        broken += [f"after a {work}: {line}" for line in _looked(options)]
        if not killed and work == "migrate":
            to = "one" if to == "two" else "two"
    for work in ("backfill", "migrate", "backfill"):
        if _killed(options, work, to, None):
            broken.append(f"{work} did not come to its end")
    broken += _complete(options, to)
    sys.stdout.write(
        f"{kills['backfill']} backfills and {kills['migrate']} migrations killed, {ends['backfill']} and "
        f"{ends['migrate']} came to their end; {told} memories\n"
    )
    return broken


def _goes_on(options: argparse.Namespace, kills: Counter[str], until: float) -> bool:
    if options.seconds:
        return time.monotonic() < until or not kills.total()
    return any(kills[work] < options.kills for work in WORKS)


def _tell(options: argparse.Namespace, told: int) -> int:
    """Store texts without vectors, and retire some; gives how many were told."""
    memory = _service(options, None)
    count = options.memories if told == 0 else options.memories // 3
    for start in range(told, told + count, 100):
        numbers = range(start, min(start + 100, told + count))
        memory.store_batch([{"content": FACT.format(number, 7 * number + 3)} for number in numbers])
    memory.archive([str(told + 1), str(told + 2)])
    memory.close()
    return count


def _killed(options: argparse.Namespace, work: str, to: str, after: float | None) -> bool:
    """Begin a work and kill it after so many seconds; gives whether it had not come to its end."""
    process = subprocess.Popen(
        [sys.executable, __file__, f"--work={work}", f"--to={to}", f"--home={options.home}"],
        env={
            "HOME": str(options.home),
            "MEM_HOME": str(options.home),
            "PYTHONPATH": str(Path(mem.__file__).parent.parent),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        process.wait(timeout=120 if after is None else after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    finally:
        process.wait()
    if process.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(f"{work} ended with {process.returncode}")
    return process.returncode != 0


# What must be so


def _pending(options: argparse.Namespace) -> int:
    memory = _service(options, None)
    try:
        return memory.stats().vectors_pending
    finally:
        memory.close()


def _looked(options: argparse.Namespace) -> Iterator[str]:
    """What is wrong with the store as it was left: doctor's word, and whether it still answers by meaning."""
    searched = _searched(options.home)
    memory = _service(options, Letters(*MODELS[searched or "one"]))
    yield from (f"doctor: {check.name}: {check.detail}" for check in memory.doctor().checks if not check.ok)
    with memory._store.read() as db:
        doubled = db.execute(
            """SELECT count(*) FROM (SELECT 1 FROM indexed_pieces GROUP BY owner, owner_id, embedding_id
                                     HAVING count(*) > 1)"""
        ).get
        some = db.execute(
            """SELECT m.content FROM memories m JOIN indexed_pieces p ON p.owner_id = m.id
               ORDER BY m.id LIMIT 1"""
        ).get
    if doubled:
        yield f"{doubled} pieces are indexed twice"
    if some is not None:
        found = memory.recall(some, mode=Mode.VECTOR)
        if found.degraded or some not in [hit.memory.content for hit in found.hits]:
            yield f"recall lost {some!r}: {found.degraded}"
    memory.close()


def _complete(options: argparse.Namespace, to: str) -> Iterator[str]:
    """What is missing or doubled in a store in which everything came to its end."""
    yield from _looked(options)
    memory = _service(options, None)
    with memory._store.read() as db:
        name, active = db.execute("SELECT name, id FROM models WHERE active = 1").fetchone()
        vectors = db.execute("SELECT count(*) FROM embeddings WHERE model_id = ?", (active,)).get
        indexed = db.execute("SELECT count(*) FROM indexed_pieces").get
        live = db.execute("SELECT count(*) FROM memories WHERE status = 'active'").get
        texts = db.execute("SELECT count(DISTINCT text_hash) FROM memories").get
        left = db.execute("SELECT count(*) FROM store_info WHERE key = 'next_index'").get
        tables = db.execute("SELECT group_concat(name) FROM sqlite_schema WHERE name LIKE 'next_%'").get
    memory.close()
    if name != MODELS[to][0]:
        yield f"the store searches {name}, not {to}"
    if (vectors, indexed) != (texts, live):
        yield f"{vectors} vectors for {texts} texts, {indexed} pieces for {live} live memories"
    if left or tables or list(options.home.glob("*.lock")):
        yield f"left behind: {tables} {list(options.home.glob('*.lock'))}"


if __name__ == "__main__":
    os.environ.pop("MEM_DB", None)
    raise SystemExit(main())
