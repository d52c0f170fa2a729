"""Fit the weights of the floor on both benchmark sets, and print where the hook's threshold lies.

    python tests/bench/calibrate.py LOCOMO-FILE

An answerable question counts where a right memory is among the first three; LoCoMo's conversations are also
asked the small talk, code edits and foreign topics of the coding set. Both sets and both labels weigh the
same.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coding
import locomo
import numpy as np
from measure import fresh_service, load, table
from numpy.typing import NDArray

from mem.search.floor import Signals
from mem.service import Service
from mem.store import traces

QUIET = 0.05  # share of the prompts without an answer that may pass


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt: its set, whether it has an answer, whether that was found, and the signals."""

    group: str
    answerable: bool
    right: bool
    signals: Signals


def main() -> None:
    """Fit, and print weights and threshold."""
    parser = argparse.ArgumentParser(description="calibrate the floor")
    parser.add_argument("locomo", type=Path)
    asked = [*_coding(), *_locomo(parser.parse_args().locomo)]
    both = _fitted(asked, lambda s: (s.centred or 0.0, s.coverage, float(s.agree)))
    words = _fitted(asked, lambda s: (s.coverage, s.known, s.rarest))
    table(
        ["by", "constant and weights"], [["both", str(np.round(both, 3))], ["words", str(np.round(words, 3))]]
    )
    confidences = [entry.signals.confidence() for entry in asked]
    threshold = float(
        np.quantile([c for c, e in zip(confidences, asked, strict=True) if not e.answerable], 1 - QUIET)
    )
    sys.stdout.write(
        f"\nwith the weights in force, {QUIET:.0%} of the prompts without an answer reach {threshold:.3f}\n"
    )
    for group in ("coding", "locomo"):
        known = [(c, e) for c, e in zip(confidences, asked, strict=True) if e.group == group and e.answerable]
        kept = sum(c >= threshold and e.right for c, e in known) / len(known)
        sys.stdout.write(
            f"{group}: right item in the first three and above it for {kept:.1%} of {len(known)}\n"
        )


def _fitted(asked: list[Asked], values: Any) -> NDArray[np.float64]:
    """Logistic regression by Newton's method; the constant comes first."""
    kept = [entry for entry in asked if entry.right or not entry.answerable]
    x = np.array([(1.0, *values(entry.signals)) for entry in kept])
    y = np.array([entry.answerable for entry in kept], dtype=float)
    cells = [(entry.group, entry.answerable) for entry in kept]
    weight = np.array([len(kept) / len(set(cells)) / cells.count(cell) for cell in cells])
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(len(beta))
        beta -= np.linalg.solve(hessian, x.T @ (weight * (p - y)))
    return beta


def _coding() -> list[Asked]:
    data = load(Path(__file__).with_name("coding.json"))
    with fresh_service() as service:
        numbers = coding.remember(service, data["memories"])
        with coding.at(data["now"]):
            asked = [
                _ask(
                    service,
                    "coding",
                    entry["question"],
                    entry["project"],
                    {numbers[key] for key in entry["answers"]},
                )
                for entry in data["questions"]
            ]
            return asked + [
                _ask(service, "coding", entry["prompt"], entry["project"]) for entry in data["negatives"]
            ]


def _locomo(file: Path) -> list[Asked]:
    talks = load(file)
    negatives = [
        entry
        for entry in load(Path(__file__).with_name("coding.json"))["negatives"]
        if entry["type"] != "near-topic"
    ]
    with fresh_service() as service:
        asked = []
        for talk in talks:
            numbers = locomo.remember(service, talk)
            for entry in talk["questions"]:
                wanted = {numbers[turn] for turn in entry["evidence"]}
                asked.append(_ask(service, "locomo", entry["question"], talk["id"], wanted))
        for place, entry in enumerate(negatives):
            asked.append(_ask(service, "locomo", entry["prompt"], talks[place % len(talks)]["id"]))
        return asked


def _ask(
    service: Service, group: str, query: str, project: str | None, wanted: set[int] | None = None
) -> Asked:
    answer = service.recall(query, project=project, all_projects=project is None)
    right = {hit.memory.id for hit in answer.hits[:3]} & (wanted or set())
    with service._store.read() as db:
        signals = traces.signals(db, answer.trace_id or "")
    return Asked(group, wanted is not None, bool(right), Signals.from_record(signals))


if __name__ == "__main__":
    main()
