"""What a running server costs: recall without its embedding, one store with its vector, the store's size.

    python tests/bench/in_process.py LOCOMO-FILE [--memories 10000] [--entities 1000]

The large store is made of turns joined to about 200 characters, with random unit vectors instead of
embeddings: the figures of recall are those without the embedding. One store is measured with the bundled
model, in a store of 500. With `--entities` the same store gets as many entities of two observations and
related in a ring, and one of 5,000 observations: questions that name three of them, and that one.
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

QUESTIONS, STORES, MUCH = 100, 200, 5_000


class RandomVectors:
    """An `Embedder` that costs next to nothing."""

    name, choice, dimensions, loaded = "random", "bundled", 384, True

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
    parser.add_argument("--entities", type=int, default=0)
    options = parser.parse_args()
    talks = load(options.file)
    turns = [f"{turn['speaker']}: {turn['text']}" for talk in talks for turn in talk["turns"]]
    questions = [asked["question"] for talk in talks for asked in talk["questions"]][:QUESTIONS]
    rows = [
        *large(turns, questions, options.memories, options.entities),
        ["store with vector", *one_store(turns)],
    ]
    table(["call", "median ms", "p95 ms"], rows)


def large(turns: list[str], questions: list[str], count: int, entities: int) -> list[list[str]]:
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
        if entities:
            rows += with_entities(service, questions, entities)
        service.close()
        size = store.path.stat().st_size / 1e6
    sys.stdout.write(f"{count} memories with vectors: {size:.1f} MB\n\n")
    return rows


def with_entities(service: Service, questions: list[str], count: int) -> list[list[str]]:
    """Recall that names three of so many entities, or one of which much is known; and writing about that."""
    for number in range(count):
        for fact in ("is looked after by", "was moved away from"):
            service.observe(f"unit {number}", f"{fact} desk {7 * number}")
        if number:
            service.relate(f"unit {number - 1}", "next_to", f"unit {number}")
    for number in range(MUCH):
        service.observe("the hub", f"log line {number}: {questions[number % len(questions)]}")
    three = [f"{asked} (unit {7 * n}, unit {7 * n + 3}, unit 5)" for n, asked in enumerate(questions)]
    hub = [f"{asked} at the hub" for asked in questions]
    rows = [
        [
            f"{name}, {mode.value}",
            *timed([lambda q=q, mode=mode: service.recall(q, mode=mode) for q in asked]),
        ]
        for name, asked in (("names none", questions), ("names three", three), ("names the hub", hub))
        for mode in (Mode.LEXICAL, Mode.HYBRID)
    ]
    calls = [lambda n=n: service.relate(f"unit {n}", "reports_to", "the hub") for n in range(50)]
    return [*rows, ["relate to the hub", *timed(calls)]]


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
