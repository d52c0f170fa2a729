"""Fusion: one ranking out of several, by a weighted sum of min-max scores or by reciprocal rank.

The convex combination is after Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval", 2022; reciprocal rank fusion after Cormack, Clarke and Büttcher, 2009.
"""

from collections.abc import Collection, Mapping, Sequence

RRF_K = 60
Ranking = Sequence[tuple[int, float]]


def convex(
    legs: Mapping[str, Ranking], weights: Mapping[str, float], *, even: Collection[str] = ()
) -> dict[int, float]:
    """Σ weight · min-max score, so that 1 is the best in every leg; what a leg does not know gets 0 there.

    The scores of the legs in `even` are 0-1 by themselves, and are not stretched.
    """
    total = sum(weights[name] for name, leg in legs.items() if leg) or 1.0
    fused: dict[int, float] = {}
    for name, leg in legs.items():
        for memory_id, score in leg if name in even else min_max(leg):
            fused[memory_id] = fused.get(memory_id, 0.0) + weights[name] * score / total
    return fused


def reciprocal(legs: Mapping[str, Ranking], *, k: int = RRF_K) -> dict[int, float]:
    """Σ 1 / (k + rank), scaled so that 1 is the first place in every leg."""
    present = [leg for leg in legs.values() if leg]
    best = len(present) / (k + 1) or 1.0
    fused: dict[int, float] = {}
    for leg in present:
        for rank, (memory_id, _) in enumerate(leg, start=1):
            fused[memory_id] = fused.get(memory_id, 0.0) + 1 / (k + rank) / best
    return fused


def min_max(leg: Ranking) -> list[tuple[int, float]]:
    """Scores of one leg stretched to 0–1; a leg whose scores are all alike gives 1."""
    if not leg:
        return []
    scores = [score for _, score in leg]
    low, high = min(scores), max(scores)
    if high == low:
        return [(memory_id, 1.0) for memory_id, _ in leg]
    return [(memory_id, (score - low) / (high - low)) for memory_id, score in leg]
