"""How fast an import is, and how much memory it takes: many memories into an empty store, without vectors.

    python tests/bench/importing.py [--records 100000] [--profile]

Writes an export of so many memories of about 200 characters, imports it, and imports it once more. Prints the
rows a second of each, by wall clock and by processor time, the longest transaction, and the resident memory.
"""

import argparse
import os
import random
import resource
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mem import clock
from mem.caller import Caller
from mem.records.format import Header, Tally, encode
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind

TEXT = """the deploy key for staging rotates every ninety days and we use Postgres with pgbouncer in front
of services on v2.4.1 of the recallMemory module because latency matters when users in Europe ask for reports;
the ops team writes runbook entries about cache invalidation, timeouts, retries, queues and feature flags"""
WORDS = TEXT.split()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it in a temporary home; gives the exit status."""
    parser = argparse.ArgumentParser(description="the speed of an import")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as folder:
        os.environ["MEM_HOME"] = folder
        source = Path(folder) / "source.jsonl"
        write_export(source, options.records)
        store = Store(Path(folder) / "memory.db")
        longest = _watch(store)
        memory = Service(store, None, Caller(Actor(ActorKind.PERSON), Path(folder)))
        for name in ("first", "again"):
            before = time.perf_counter(), time.process_time()
            with _profiled(options.profile):
                answer = memory.import_(str(source))
            wall, processor = time.perf_counter() - before[0], time.process_time() - before[1]
            sys.stdout.write(
                f"{name}: {dict(answer.counts['memory'])} in {wall:.1f} s: {options.records / wall:,.0f} "
                f"rows/s, {options.records / processor:,.0f} by processor time; longest transaction "
                f"{max(longest):.3f} s; at most {_resident():,.0f} MB resident\n"
            )
            longest.clear()
        store.close()
    return 0


def write_export(target: Path, records: int, *, seed: int = 1) -> None:
    """An export of so many learnings by one store, which is not there."""
    rng, tally = random.Random(seed), Tally()  # noqa: S311
    origin = str(uuid.UUID(int=seed << 64 | 4 << 76 | 2 << 62))
    at, counts = clock.to_text(clock.now()), {"memory": records}
    with target.open("wb") as file:
        file.write(encode(Header(1, at, counts, tally.digest).record()))
        for number in range(records):
            line = _line(rng, number, origin)
            tally.add("memory", line)
            file.write(line)
        file.seek(0)  # every digest is as long
        file.write(encode(Header(1, at, counts, tally.digest).record()))


def _line(rng: random.Random, number: int, origin: str) -> bytes:
    at = f"2026-01-{1 + number % 28:02}T{number % 24:02}:00:00.{number % 1_000_000:06}Z"
    record: dict[str, Any] = {
        "record": "memory",
        "uid": str(uuid.UUID(int=(number + 1) << 80 | 7 << 76 | 2 << 62 | number)),
        "origin": origin,
        "kind": "learning",
        "content": f"{' '.join(rng.choices(WORDS, k=32))} case {number}",
        "category": rng.choice(("general", "workflow", "tool", "bug")),
        "level": "semi_abstract",
        "layer": "long_term",
        "importance": rng.randint(0, 10),
        "confidence": 0.7,
        "project": f"project-{number % 50}",
        "tags": rng.sample(("deploy", "api", "billing", "ops"), k=2),
        "status": "active",
        "trust": "unverified",
        "compressed_from": [],
        "flags": [],
        "recorded_at": at,
        "changed_at": at,
    }
    return encode(record)


def _watch(store: Store) -> list[float]:
    """How long each transaction takes, from the lock to its end."""
    lasted: list[float] = []
    write = store.write

    @contextmanager
    def watched(**options: Any) -> Iterator[Any]:
        began = 0.0
        with write(**options) as db:
            began = time.perf_counter()
            yield db
        lasted.append(time.perf_counter() - began)

    store.write = watched  # type: ignore[method-assign]
    return lasted


@contextmanager
def _profiled(wanted: bool) -> Iterator[None]:
    if not wanted:
        yield
        return
    import cProfile
    import pstats

    with cProfile.Profile(time.process_time) as profile:
        yield
    pstats.Stats(profile).sort_stats("cumulative").print_stats(60)


def _resident() -> float:
    """Megabytes that the process has held at most."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held / (1 << 20) if sys.platform == "darwin" else held / 1024


if __name__ == "__main__":
    raise SystemExit(main())
