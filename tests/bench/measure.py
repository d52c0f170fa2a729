"""What the retrieval benchmarks share: a store of their own, the measures, and a plain table."""

import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mem.caller import Caller
from mem.embed.local import LocalEmbedder
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind

DEPTHS = (1, 5, 10)


@dataclass(slots=True)
class Scores:
    """Recall at several depths, and the reciprocal rank of the first answer within ten."""

    recalls: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    reciprocal: list[float] = field(default_factory=list)

    def add(self, found: Sequence[Any], wanted: set[Any]) -> None:
        """Count one question: what was found, best first, and what would have been right."""
        for depth in DEPTHS:
            self.recalls[depth].append(len(wanted & set(found[:depth])) / len(wanted))
        first = next((place for place, item in enumerate(found[:10], start=1) if item in wanted), None)
        self.reciprocal.append(1 / first if first else 0.0)

    def row(self) -> list[str]:
        """R@1, R@5, R@10, MRR@10 in per cent, and the number of questions."""
        means = [statistics.mean(self.recalls[depth]) for depth in DEPTHS]
        means.append(statistics.mean(self.reciprocal))
        return [*(f"{100 * mean:.1f}" for mean in means), str(len(self.reciprocal))]


@dataclass(slots=True)
class Clocked:
    """Latencies of calls, in milliseconds."""

    times: list[float] = field(default_factory=list)

    def run(self, call: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = call()
        self.times.append(1000 * (time.perf_counter() - started))
        return result

    def summary(self) -> str:
        ordered = sorted(self.times)
        return f"p50 {statistics.median(ordered):.1f} ms, p95 {ordered[int(0.95 * len(ordered))]:.1f} ms"


@contextmanager
def fresh_service() -> Iterator[Service]:
    """A service over an empty store in a temporary folder, with the bundled model, outside any project."""
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as folder:
        store = Store(Path(folder) / "memory.db")
        try:
            yield Service(store, LocalEmbedder(), Caller(Actor(ActorKind.PERSON), Path(folder)))
        finally:
            store.close()


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    for row in (heads, ["---"] * len(heads), *rows):
        sys.stdout.write("| " + " | ".join(row) + " |\n")


def load(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def chunks(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """The items in runs of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
