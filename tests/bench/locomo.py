"""LoCoMo turn recall: each conversation a project, each turn a memory, each question a recall in it.

    python tests/bench/locomo.py FILE [--mode hybrid|lexical|vector] [--fusion convex|rrf]
                                      [--observe none|half|all|bare] [--entity-weight WEIGHT]

FILE holds conversations as `[{"id", "turns": [{"id", "speaker", "text", "date"}], "questions": [{"question",
"evidence", "category"}]}]`. A hit is a turn that the evidence names; R@k is the share of the
evidence among the first k, averaged over questions. No language model takes part.

With `--observe` turns are stored as observations about their speaker: all, every other one, or all without
the speaker's name before the text (`bare`). So the entity leg is measured: where it helps, and whether
it costs the plain notes beside the observations anything.
"""

import argparse
import sys
from collections import defaultdict
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from measure import Clocked, Scores, chunks, fresh_service, load, table

from mem.search import recall
from mem.service import MAX_BATCH, Service
from mem.values import Fusion, Mode


class Observed(StrEnum):
    """Which turns are observations about their speaker."""

    NONE = "none"
    HALF = "half"
    ALL = "all"
    BARE = "bare"


def observe(service: Service, conversation: dict[str, Any], form: Observed) -> dict[str, int]:
    """Store the turns as observations, or every other one; gives the memory of each turn."""
    numbers: dict[str, int] = {}
    for place, turn in enumerate(conversation["turns"]):
        item = _item(turn, conversation["id"])
        if form is Observed.BARE:
            item["content"] = turn["text"]
        plain = form is Observed.HALF and place % 2
        outcome = service.store(**item) if plain else service.observe(turn["speaker"], type="person", **item)
        if outcome.id is None:
            raise SystemExit(f"turn {turn['id']} was not stored: {outcome.refusal}")
        numbers[turn["id"]] = outcome.id
    return numbers


def remember(service: Service, conversation: dict[str, Any]) -> dict[str, int]:
    """Store the turns; gives the memory of each turn (turns with one text share theirs)."""
    numbers: dict[str, int] = {}
    for run in chunks(conversation["turns"], MAX_BATCH):
        batch = service.store_batch([_item(turn, conversation["id"]) for turn in run])
        for turn, outcome in zip(run, batch.outcomes, strict=True):
            if outcome.id is None:
                raise SystemExit(f"turn {turn['id']} was not stored: {outcome.refusal}")
            numbers[turn["id"]] = outcome.id
    return numbers


def _item(turn: dict[str, Any], project: str) -> dict[str, Any]:
    moment = datetime.strptime(turn["date"], "%I:%M %p on %d %B, %Y").isoformat() + "+00:00"
    return {"content": f"{turn['speaker']}: {turn['text']}", "event_time": moment, "project": project}


def main() -> None:
    """Measure one file and print the table."""
    parser = argparse.ArgumentParser(description="LoCoMo turn recall")
    parser.add_argument("file", type=Path)
    parser.add_argument("--mode", type=Mode, default=Mode.HYBRID)
    parser.add_argument("--fusion", type=Fusion, default=Fusion.CONVEX)
    parser.add_argument("--observe", type=Observed, default=Observed.NONE, choices=list(Observed))
    parser.add_argument("--entity-weight", type=float, default=recall.ENTITY_WEIGHT)
    options = parser.parse_args()
    recall.ENTITY_WEIGHT = options.entity_weight
    scores: dict[str, Scores] = defaultdict(Scores)
    clock = Clocked()
    with fresh_service() as service:
        conversations = load(options.file)
        numbers = {
            talk["id"]: remember(service, talk)
            if options.observe is Observed.NONE
            else observe(service, talk, options.observe)
            for talk in conversations
        }
        for talk in conversations:
            for asked in talk["questions"]:
                answer = clock.run(
                    lambda talk=talk, asked=asked: service.recall(
                        asked["question"], project=talk["id"], mode=options.mode, fusion=options.fusion
                    )
                )
                wanted = {numbers[talk["id"]][turn] for turn in asked["evidence"]}
                for group in (asked["category"], "all"):
                    scores[group].add([hit.memory.id for hit in answer.hits], wanted)
    heads = ["category", "R@1", "R@5", "R@10", "MRR@10", "questions"]
    groups = sorted(scores, key=lambda name: (name == "all", name))
    table(heads, [[group, *scores[group].row()] for group in groups])
    sys.stdout.write(f"\nrecall, embedding included: {clock.summary()}\n")


if __name__ == "__main__":
    main()
