"""What a running server costs: recall without its embedding, one store with its vector, the store's size.

    python tests/bench/in_process.py LOCOMO-FILE [--memories 10000]

The large store is made of turns joined to about 200 characters, with random unit vectors instead of
embeddings: the figures of recall are those without the embedding. One store is measured with the bundled
model, in a store of 500.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measure import chunks, fresh_service, load, table
from numpy.typing import NDArray

from mem.caller import Caller
from mem.embed import Role
from mem.service import MAX_BATCH, Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Mode

QUESTIONS, STORES = 100, 200


class RandomVectors:
    """An `Embedder` that costs next to nothing."""

    name, dimensions, loaded = "random", 384, True

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)

    def ready(self) -> None:
        return None

    def mean(self) -> NDArray[np.float32]:
        return np.full(self.dimensions, 0.01, np.float32)

    def split(self, text: str) -> list[str]:
        return [text]

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> NDArray[np.float32]:
        rows = self._random.standard_normal((len(texts), self.dimensions)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="a running server")
    parser.add_argument("file", type=Path)
    parser.add_argument("--memories", type=int, default=10_000)
    options = parser.parse_args()
    talks = load(options.file)
    turns = [f"{turn['speaker']}: {turn['text']}" for talk in talks for turn in talk["turns"]]
    questions = [asked["question"] for talk in talks for asked in talk["questions"]][:QUESTIONS]
    rows = [*large(turns, questions, options.memories), ["store with vector", *one_store(turns)]]
    table(["call", "median ms", "p95 ms"], rows)


def large(turns: list[str], questions: list[str], count: int) -> list[list[str]]:
    """Recall by words and hybrid in a store of that many memories; prints the size of its file."""
    chosen = random.Random(2)  # noqa: S311
    texts = [f"{chosen.choice(turns)} {chosen.choice(turns)}"[:188] + f" {number}" for number in range(count)]
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as folder:
        store = Store(Path(folder) / "memory.db")
        service = Service(store, RandomVectors(), Caller(Actor(ActorKind.PERSON), Path(folder)))
        for run in chunks(texts, MAX_BATCH):
            service.store_batch([{"content": text} for text in run])
        modes = {"recall, words": Mode.LEXICAL, "recall, hybrid": Mode.HYBRID}
        rows = [
            [name, *timed([lambda q=q, mode=mode: service.recall(q, mode=mode) for q in questions])]
            for name, mode in modes.items()
        ]
        service.close()
        size = store.path.stat().st_size / 1e6
    sys.stdout.write(f"{count} memories with vectors: {size:.1f} MB\n\n")
    return rows


def one_store(turns: list[str]) -> list[str]:
    """One store with the bundled model."""
    with fresh_service() as service:
        service.store_batch([{"content": text} for text in turns[:MAX_BATCH]])
        texts = turns[MAX_BATCH : MAX_BATCH + STORES]
        return timed([lambda text=text: service.store(text) for text in texts])


def timed(calls: list[Callable[[], Any]]) -> list[str]:
    """Median and 95th percentile of the calls, in milliseconds."""
    times = []
    for call in calls:
        started = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - started))
    return [f"{statistics.median(times):.1f}", f"{sorted(times)[int(0.95 * len(times))]:.1f}"]


if __name__ == "__main__":
    main()
