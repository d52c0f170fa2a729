"""The labelled pairs of texts, with what the bundled model and the words say of each."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mem.embed import Embedder, Role
from mem.embed.vectors import centre
from mem.truth.contradictions import word_overlap
from mem.truth.judging import Judge

DATA = Path(__file__).parent / "data"
LANGUAGES = ("en", "de", "fr", "es", "pt", "zh", "ja")


@dataclass(frozen=True, slots=True)
class Labelled:
    """Two texts and what a person says of them."""

    language: str
    half: str  # development or held-out
    label: str  # contradiction, duplicate, related, unrelated; of the set of contradictions: other
    because: str
    texts: tuple[str, str]
    cosine: float
    overlap: float

    def contradicts(self, judge: Judge, *, by_words: bool = False) -> bool:
        """Whether the judge sees a contradiction; by words alone as where there are no vectors."""
        return bool(judge.contradiction(*self.texts, cosine=None if by_words else self.cosine))

    def repeats(self, judge: Judge, *, by_words: bool = False) -> bool:
        """Whether the judge sees a near-duplicate."""
        cosine = None if by_words else self.cosine
        if judge.contradiction(*self.texts, cosine=cosine) or judge.difference(*self.texts).reasons:
            return False
        return judge.repetition(*self.texts, cosine=cosine, overlap=self.overlap)


@dataclass(frozen=True, slots=True)
class Measured:
    """How many were found, how many of these rightly, and how many there are."""

    found: int
    right: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.wanted)


def measure(pairs: Iterable[Labelled], label: str, finds: Callable[[Labelled], bool]) -> Measured:
    """Count what is found against a label."""
    judged = [(finds(pair), pair.label == label) for pair in pairs]
    return Measured(
        sum(found for found, _ in judged),
        sum(found and wanted for found, wanted in judged),
        sum(wanted for _, wanted in judged),
    )


def labelled(embedder: Embedder) -> tuple[list[Labelled], list[Labelled]]:
    """The pairs for near-duplicates and those for contradictions, all texts embedded in one go."""
    near, contradicting = _load("near_duplicates.json"), _load("contradictions.json")
    texts = list(dict.fromkeys(text for entry in (*near, *contradicting) for text in entry["texts"]))
    vectors = centre(embedder.embed(texts, Role.PASSAGE), embedder.mean())
    places = {text: place for place, text in enumerate(texts)}

    def value(entry: dict[str, Any]) -> Labelled:
        first, second = entry["texts"]
        label = entry.get("label") or ("contradiction" if entry["contradicts"] else "other")
        cosine = float(vectors[places[first]] @ vectors[places[second]])
        because = entry.get("because", "")
        overlap = word_overlap(first, second)
        return Labelled(entry["language"], entry["half"], label, because, (first, second), cosine, overlap)

    return [value(entry) for entry in near], [value(entry) for entry in contradicting]


def _load(name: str) -> Sequence[dict[str, Any]]:
    entries = json.loads((DATA / name).read_text(encoding="utf-8"))
    assert isinstance(entries, list)
    return entries
