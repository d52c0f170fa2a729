"""Developers' memories: recall and silence on `coding.json`, the default beside each leg alone and RRF.

    python tests/bench/coding.py [FILE]

Each memory is stored at its own record time, each question asked in its project at the set's `now`. For
the prompts without an answer it prints what `recall` shows and what the hook's floor lets through.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest import mock

from measure import Clocked, Scores, fresh_service, load, table

from mem import clock
from mem.operations import find_operation
from mem.results import Recall
from mem.search import floor
from mem.service import Service
from mem.store import usage
from mem.values import Fusion, Mode

SETTINGS = {
    "default (convex)": (Mode.HYBRID, Fusion.CONVEX),
    "vectors alone": (Mode.VECTOR, Fusion.CONVEX),
    "words alone": (Mode.LEXICAL, Fusion.CONVEX),
    "reciprocal rank": (Mode.HYBRID, Fusion.RRF),
}
FIELDS = (
    *("content", "kind", "title", "rationale", "category", "level", "layer", "importance", "confidence"),
    *("project", "event_time", "valid_from", "valid_to"),
)


@contextmanager
def at(moment: str) -> Iterator[None]:
    """Run a block as if it were another time."""
    instant = datetime.fromisoformat(moment)
    with mock.patch.object(clock, "now", return_value=instant):
        yield


def remember(service: Service, memories: list[dict[str, Any]]) -> dict[str, int]:
    """Store the memories in the order of their record times; gives the number of each key."""
    numbers: dict[str, int] = {}
    for memory in sorted(memories, key=lambda entry: (entry["recorded_at"], entry["key"])):
        arguments = {name: memory[name] for name in FIELDS if memory.get(name) is not None}
        arguments |= {"tag": memory["tags"], "global": memory["project"] is None}
        if memory.get("supersedes"):
            arguments["supersedes"] = [str(numbers[memory["supersedes"]])]
        with at(memory["recorded_at"]):
            stored = service.store(**find_operation("store").bind(arguments, agent=False))
        if stored.id is None:
            raise SystemExit(f"{memory['key']} was not stored: {stored.refusal}")
        numbers[memory["key"]] = stored.id
        with service._store.write() as db:
            for _ in range(memory["recalls"]):
                usage.count_recalled(db, [stored.id], memory["recorded_at"])
    return numbers


def ask(service: Service, query: str, project: str | None, mode: Mode, fusion: Fusion) -> Recall:
    """One recall in its scope."""
    return service.recall(query, project=project, all_projects=project is None, mode=mode, fusion=fusion)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="developers' memories")
    parser.add_argument("file", type=Path, nargs="?", default=Path(__file__).with_name("coding.json"))
    data = load(parser.parse_args().file)
    with fresh_service() as service:
        numbers = remember(service, data["memories"])
        with at(data["now"]):
            quality(service, data["questions"], numbers)
            silence(service, data, numbers)


def quality(service: Service, questions: list[dict[str, Any]], numbers: dict[str, int]) -> None:
    """Print how well each setting finds the answers, and the default by type of question."""
    rows, types, latency = [], defaultdict(Scores), Clocked()
    for name, (mode, fusion) in SETTINGS.items():
        scores = Scores()
        for asked in questions:
            call = lambda asked=asked: ask(service, asked["question"], asked["project"], mode, fusion)  # noqa: E731, B023
            answer = latency.run(call) if not rows else call()
            found = [hit.memory.id for hit in answer.hits]
            wanted = {numbers[key] for key in asked["answers"]}
            scores.add(found, wanted)
            if not rows:
                types[asked["type"]].add(found, wanted)
        rows.append([name, *scores.row()])
    heads = ["", "R@1", "R@5", "R@10", "MRR@10", "questions"]
    table(heads, rows)
    sys.stdout.write("\n")
    table(["default, by type", *heads[1:]], [[name, *types[name].row()] for name in sorted(types)])
    sys.stdout.write(f"\nrecall, embedding included: {latency.summary()}\n\n")


def silence(service: Service, data: dict[str, Any], numbers: dict[str, int]) -> None:
    """Print what is shown for prompts without an answer, and how many of the answerable stay."""
    shown: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for negative in data["negatives"]:
        answer = ask(service, negative["prompt"], negative["project"], Mode.HYBRID, Fusion.CONVEX)
        speaks = bool(answer.hits) and answer.confidence >= floor.HOOK
        shown[negative["type"]].append((bool(answer.hits), speaks))
        shown["all negatives"].append((bool(answer.hits), speaks))
    kept = []
    for asked in data["questions"]:
        answer = ask(service, asked["question"], asked["project"], Mode.HYBRID, Fusion.CONVEX)
        right = {numbers[key] for key in asked["answers"]} & {hit.memory.id for hit in answer.hits[:3]}
        kept.append((bool(right), bool(right) and answer.confidence >= floor.HOOK))
    rows = [[name, *_shares(found)] for name, found in sorted(shown.items())]
    table(["prompts without an answer", "recall shows something", "hook speaks", "prompts"], rows)
    sys.stdout.write("\n")
    table(
        ["answerable questions", "recall: right item in the first three", "hook: the same", "questions"],
        [["all", *_shares(kept)]],
    )


def _shares(pairs: list[tuple[bool, bool]]) -> list[str]:
    total = len(pairs)
    return [f"{100 * sum(column) / total:.1f} %" for column in zip(*pairs, strict=True)] + [str(total)]


if __name__ == "__main__":
    main()
