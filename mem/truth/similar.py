"""Near-duplicates: named to the writer, never merged."""

import re
from collections.abc import Sequence

import apsw

from mem.search.text import words
from mem.store import memories
from mem.truth.names import names
from mem.values import Memory, Notice

CLOSE_MEANING = 0.80  # centred cosine of two stored texts
CLOSE_WORDS = 0.60  # shared words over all words (Jaccard)
MOST_NAMED = 3

_NUMBERS = re.compile(r"\d+(?:[.:]\d+)*")
_NEGATIONS = frozenset(
    (
        *("no", "not", "never", "without", "don't", "doesn't", "isn't", "aren't", "won't", "cannot", "can't"),
        *("nicht", "kein", "keine", "keinen", "nie", "niemals", "ohne"),
        *("ne", "pas", "jamais", "sans", "aucun", "aucune"),
        *("sin", "nunca", "ningún", "ninguna", "não", "nem", "sem", "nenhum", "nenhuma"),
        *("не", "нет", "никогда", "без"),
    )
)
# Scripts without spaces: looked for anywhere in the text.
_NEGATING_PARTS = ("不", "没", "沒", "无", "無", "ない", "ません")


def near_duplicates(
    db: apsw.Connection, mine: Memory, neighbours: Sequence[tuple[int, float]]
) -> tuple[Notice, ...]:
    """What a new memory is close to, by meaning or by words.

    `neighbours` are candidates with their centred cosine to it (0 where there is none). Texts that differ
    in a number, a version, a name or a negation are reported as a possible contradiction instead.
    """
    own = set(words(mine.content))
    notices: list[Notice] = []
    others = memories.by_ids(db, [other for other, _ in neighbours])
    for other_id, cosine in neighbours:
        other = others.get(other_id)
        if (
            other is None
            or other.id == mine.id
            or other.kind is not mine.kind
            or other.project != mine.project
        ):
            continue
        theirs = set(words(other.content))
        overlap = len(own & theirs) / max(1, len(own | theirs))
        if cosine >= CLOSE_MEANING or overlap >= CLOSE_WORDS:
            notices.append(_notice(mine, other, cosine, overlap))
    return tuple(notices[:MOST_NAMED])


def _notice(mine: Memory, other: Memory, cosine: float, overlap: float) -> Notice:
    meaning = f"meaning {cosine:.2f}, " if cosine else ""  # 0 stands for vectors that were not compared
    near = f"#{other.id} is near ({meaning}words {overlap:.2f}): {other.content[:120]!r}."
    if _differs(mine.content, other.content):
        replace = f"mem supersede {other.id} --by {mine.id}"
        hint = f" They differ in a number, name or negation; if the new one replaces it: {replace}"
        return Notice("possible_contradiction", near + hint, (other.id,))
    return Notice("near_duplicate", near, (other.id,))


def _differs(mine: str, other: str) -> bool:
    if sorted(_NUMBERS.findall(mine)) != sorted(_NUMBERS.findall(other)):
        return True
    ours, theirs = names(mine), names(other)
    # One more name is more detail; a name in another's place is another statement.
    return bool(ours - theirs and theirs - ours) or _negates(mine) != _negates(other)


def _negates(text: str) -> bool:
    folded = text.casefold().replace("’", "'")
    return not _NEGATIONS.isdisjoint(re.findall(r"[\w']+", folded)) or any(
        part in folded for part in _NEGATING_PARTS
    )
