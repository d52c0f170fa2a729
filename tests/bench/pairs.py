"""Near-duplicates and contradictions on the labelled pairs: precision and recall per language and threshold.

    python tests/bench/pairs.py

The held-out contradictions were written when the rules stood, and measured once before two slips that
they showed were mended: precision 0.92 (23 of 25), recall 0.82 (23 of 28). All with the bundled model; the
last columns by words alone, as in a store without vectors.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from labelled_pairs import LANGUAGES, Labelled, Measured, labelled, measure
from measure import table

from mem.embed.local import LocalEmbedder
from mem.truth import judging
from mem.truth.judging import Judge

HALVES = ("development", "held-out")


def main() -> None:
    """Print all tables."""
    near, contradicting = labelled(LocalEmbedder())
    judge = Judge()
    for title, pairs, label, finds in (
        ("contradictions", contradicting, "contradiction", Labelled.contradicts),
        ("near-duplicates", near, "duplicate", Labelled.repeats),
        ("contradictions among the near-duplicates", near, "contradiction", Labelled.contradicts),
    ):
        sys.stdout.write(f"\n{title}: {len(pairs)} pairs\n\n")
        _per_language(pairs, label, lambda pair, words, finds=finds: finds(pair, judge, by_words=words))
    sys.stdout.write("\nthresholds\n\n")
    _curve(near, contradicting)


def _per_language(pairs: list[Labelled], label: str, finds: Callable[[Labelled, bool], bool]) -> None:
    rows = []
    for language in (*LANGUAGES, "all"):
        chosen = [pair for pair in pairs if language in (pair.language, "all")]
        if not chosen:
            continue
        row = [language]
        for half in HALVES:
            row += _shown(measure([p for p in chosen if p.half == half], label, lambda p: finds(p, False)))
        rows.append([*row, *_shown(measure(chosen, label, lambda p: finds(p, True)))])
    heads = [f"{half} {what}" for half in (*HALVES, "words") for what in ("precision", "recall")]
    table(["language", *heads], rows)


def _shown(found: Measured) -> list[str]:
    return [
        f"{found.precision:.2f} ({found.right}/{found.found})",
        f"{found.recall:.2f} ({found.right}/{found.wanted})",
    ]


def _curve(near: list[Labelled], contradicting: list[Labelled]) -> None:
    """Each threshold moved by itself; the one in force is marked."""
    for name, values, pairs, label, finds in (
        ("ABOUT_ONE", (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8), contradicting, "contradiction", "contradicts"),
        ("CLOSE_MEANING", (0.7, 0.75, 0.78, 0.8, 0.82, 0.85, 0.88), near, "duplicate", "repeats"),
        ("SAME_ALL_THE_SAME", (0.8, 0.84, 0.86, 0.88, 0.9, 0.95), near, "duplicate", "repeats"),
    ):
        in_force = getattr(judging, name)
        rows = []
        for value in values:
            setattr(judging, name, value)
            judge = Judge()
            row = [f"{value:.2f}{' *' if value == in_force else ''}"]
            for half in HALVES:
                chosen = [pair for pair in pairs if pair.half == half]
                row += _shown(
                    measure(chosen, label, lambda pair, judge=judge, finds=finds: getattr(pair, finds)(judge))
                )
            rows.append(row)
        setattr(judging, name, in_force)
        table([name, *(f"{half} {what}" for half in HALVES for what in ("precision", "recall"))], rows)
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
