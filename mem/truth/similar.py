"""Near-duplicates and possible contradictions: named to the writer, never merged."""

from collections.abc import Sequence

import apsw

from mem.search.close_pairs import LEAST_SHARED
from mem.search.text import words
from mem.store import memories
from mem.truth.judging import ABOUT_ONE, Judge, comparable
from mem.truth.names import names
from mem.values import Memory, Notice

MOST_NAMED = 3


def near_duplicates(
    db: apsw.Connection, mine: Memory, neighbours: Sequence[tuple[int, float]]
) -> tuple[Notice, ...]:
    """What a new memory is close to, by meaning or by words.

    `neighbours` are candidates with their centred cosine to it (0 where there is none). Texts that differ
    in a number, a version, a name or a negation are reported as a possible contradiction instead.
    """
    judge, own = Judge(), set(words(mine.content))
    notices: list[Notice] = []
    others = memories.by_ids(db, [other for other, _ in neighbours])
    for other_id, cosine in neighbours:
        other = others.get(other_id)
        if (
            other is None
            or other.id == mine.id
            or other.kind is not mine.kind
            or other.entity != mine.entity
            or other.project != mine.project
            or other.entity_id != mine.entity_id
        ):
            continue
        if 0 < cosine < ABOUT_ONE:
            continue
        theirs = set(words(other.content))
        if not comparable(own, theirs):
            continue
        overlap = len(own & theirs) / max(1, len(own | theirs))
        found = _notice(judge, mine, other, cosine, overlap)
        if found is not None:
            notices.append(found)
        if len(notices) == MOST_NAMED:
            break
    return tuple(notices)


def _notice(judge: Judge, mine: Memory, other: Memory, cosine: float, overlap: float) -> Notice | None:
    compared = cosine or None  # 0 stands for vectors that were not compared
    meaning = f"meaning {cosine:.2f}, " if compared else ""
    near = f"#{other.id} is near ({meaning}words {overlap:.2f}): {other.content[:120]!r}."
    reasons = (
        judge.contradiction(mine.content, other.content, cosine=compared) if _near(compared, overlap) else ()
    )
    if not reasons:
        if not judge.repetition(mine.content, other.content, cosine=compared, overlap=overlap):
            return None
        reasons = judge.difference(mine.content, other.content).reasons
    if reasons or _name_others(mine.content, other.content):
        differing = " and ".join(reasons) or "name"
        replace = f"mem supersede {other.id} --by {mine.id}"
        hint = f" They differ in {differing}; if the new one replaces it: {replace}"
        return Notice("possible_contradiction", near + hint, (other.id,))
    return Notice("near_duplicate", near, (other.id,))


def _near(cosine: float | None, overlap: float) -> bool:
    """Whether two texts have enough in common to be compared: all that the search gives need not have."""
    return cosine is not None or overlap >= LEAST_SHARED


def _name_others(mine: str, other: str) -> bool:
    """Whether each names something else; one more name is only more detail."""
    ours, theirs = names(mine), names(other)
    return bool(ours - theirs and theirs - ours)
