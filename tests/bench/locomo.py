"""LoCoMo turn recall: each conversation a project, each turn a memory, each question a recall in it.

    python tests/bench/locomo.py FILE [--mode hybrid|lexical|vector] [--fusion convex|rrf]

FILE holds conversations as `[{"id", "turns": [{"id", "speaker", "text", "date"}], "questions": [{"question",
"evidence", "category"}]}]`. A hit is a turn that the evidence names; R@k is the share of the
evidence among the first k, averaged over questions. No language model takes part.
"""

import argparse
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

from measure import Clocked, Scores, chunks, fresh_service, load, table

from mem.service import MAX_BATCH, Service
from mem.values import Fusion, Mode


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
    options = parser.parse_args()
    scores: dict[str, Scores] = defaultdict(Scores)
    clock = Clocked()
    with fresh_service() as service:
        conversations = load(options.file)
        numbers = {talk["id"]: remember(service, talk) for talk in conversations}
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
