"""Backfill against the model alone: the same texts, the same threads, in turns.

    python tests/bench/backfill.py [--texts 1000] [--rounds 3] [--threads 2]

In each round a store with texts that wait is filled by `backfill`, and the same texts are run through the
model's session alone, tokens made beforehand, one text in a run and as many runs side by side as backfill has
(`raw`), and through the embedder (`embedder`), which also makes the tokens. Prints texts a second, the share
of the raw rate that backfill reaches, the same by processor time, which other processes disturb less, and the
size of the store.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import load, table

from mem.caller import Caller
from mem.embed import Role
from mem.embed.local import LocalEmbedder
from mem.service import MAX_BATCH, Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind

CODING = Path(__file__).parent / "coding.json"


def main() -> None:
    parser = argparse.ArgumentParser(description="backfill against the model alone")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    wanted = texts(options.texts)
    embedder = LocalEmbedder(threads=options.threads)
    embedder.embed(wanted[:50], Role.PASSAGE)  # it is loaded, and the processor at work
    measured: dict[str, list[Clocked]] = {"raw": [], "embedder": [], "backfill": []}
    size = 0
    raw = raw_runs(embedder, wanted, options.threads)
    for _ in range(options.rounds):
        measured["raw"].append(Clocked.of(raw, len(wanted)))
        measured["embedder"].append(Clocked.of(lambda: embedder.embed(wanted, Role.PASSAGE), len(wanted)))
        with tempfile.TemporaryDirectory(prefix="mem-bench-") as folder:
            memory = waiting(Path(folder), wanted, embedder)
            measured["backfill"].append(Clocked.of(memory.backfill, len(wanted)))
            if memory.stats().vectors_pending:
                raise SystemExit("backfill did not come to its end")
            memory.close()
            size = (Path(folder) / "memory.db").stat().st_size
    heads = ["", *(f"round {number + 1}, texts/s" for number in range(options.rounds)), "processor, ms/text"]
    table(
        heads,
        [
            [name, *(f"{one.rate:.1f}" for one in runs), ", ".join(f"{one.processor:.1f}" for one in runs)]
            for name, runs in measured.items()
        ],
    )
    pairs = list(zip(measured["backfill"], measured["raw"], strict=True))
    sys.stdout.write(
        f"\nbackfill reaches {share(own.rate / alone.rate for own, alone in pairs)} of the raw rate, by "
        f"processor time {share(alone.processor / own.processor for own, alone in pairs)}; "
        f"a store of {len(wanted)}: {size / 1e6:.1f} MB\n"
    )


@dataclass(frozen=True, slots=True)
class Clocked:
    """Texts a second, and milliseconds of processor time for one."""

    rate: float
    processor: float

    @classmethod
    def of(cls, work: Callable[[], Any], count: int) -> "Clocked":
        began, used = time.perf_counter(), time.process_time()
        work()
        seconds, used = time.perf_counter() - began, time.process_time() - used
        return cls(count / seconds, 1000 * used / count)


def share(parts: Iterable[float]) -> str:
    """The median of some shares, and all of them, in per cent."""
    found = [100 * part for part in parts]
    return f"{statistics.median(found):.1f} % ({', '.join(f'{one:.1f}' for one in found)})"


def texts(count: int) -> list[str]:
    """So many texts of the lengths that memories have, no two alike."""
    known = [memory["content"] for memory in load(CODING)["memories"]]
    return [f"{known[number % len(known)]} [{number // len(known)}]" for number in range(count)]


def raw_runs(embedder: LocalEmbedder, wanted: Sequence[str], threads: int) -> Callable[[], None]:
    """The session alone over texts that are tokens already."""
    import numpy as np

    model: Any = embedder._engine()._model.model  # what nobody else needs to reach into
    session, names = model.model, {node.name for node in model.model.get_inputs()}
    inputs = []
    for encoding in model.tokenizer.encode_batch([f"passage: {text}" for text in wanted]):
        ids = np.array([encoding.ids], np.int64)
        mask = np.array([encoding.attention_mask], np.int64)
        every = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        # As each text is alone in its run, so are its tokens: without the padding of the batch.
        length = int(mask.sum())
        inputs.append({name: rows[:, :length] for name, rows in every.items() if name in names})

    def run() -> None:
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda one: session.run(None, one), inputs):
                pass

    return run


def waiting(folder: Path, wanted: Sequence[str], embedder: LocalEmbedder) -> Service:
    """A store in which these texts wait for their vectors, for who has the model."""
    caller = Caller(Actor(ActorKind.PERSON), folder)
    store = Store(folder / "memory.db")
    without = Service(store, None, caller)
    for start in range(0, len(wanted), MAX_BATCH):
        without.store_batch([{"content": text} for text in wanted[start : start + MAX_BATCH]])
    return Service(store, embedder, caller)


if __name__ == "__main__":
    main()
