"""Supersede: what held until a time gives way to a successor, or ends without one; never erased."""

import re
from collections.abc import Sequence

import apsw

from mem.errors import Refused, Usage
from mem.store import memories
from mem.store.events import Unit
from mem.truth.admission import ENDED
from mem.values import Memory, Notice, Status

_FACTS = re.compile(
    r"""https?://[^\s<>"')\]]+            # addresses
      | (?<![\w/])(?:~|\.{1,2})?/[\w.+-]+(?:/[\w.+-]+)*   # paths
      | \bv?\d+\.\d+(?:\.\d+)*\b           # versions
      | \b[A-Za-z]+(?:[A-Z][a-z0-9]+|_[A-Za-z0-9]+)+\b    # identifiers
      | (?<=[\w,;:]\s)[A-Z][a-z]{2,}\b     # names inside a sentence
    """,
    re.VERBOSE,
)


def supersede(
    unit: Unit, old_ids: list[int], successor_id: int, *, valid_to: str | None, reason: str | None
) -> tuple[Notice, ...]:
    """Let one memory replace others, all or nothing; raises `Refused` where the links would lie.

    Each old interval closes at `valid_to`, else where the successor's begins, else now.
    """
    successor = memories.one(unit.db, successor_id)
    if successor.status is not Status.ACTIVE:
        raise Refused(f"#{successor.id} is {successor.status}; only an active memory can supersede others.")
    olds = [memories.one(unit.db, old_id) for old_id in old_ids]
    for old in olds:
        _check(unit.db, old, successor)
    for old in olds:
        _close(unit, old, valid_to or successor.valid_from or unit.at, successor.id, reason)
    return tuple(notice for old in olds if (notice := _dropped(old, successor)))


def end(unit: Unit, old_ids: list[int], *, valid_to: str | None) -> None:
    """Close the intervals of memories that nothing replaces; the same fact may hold again later."""
    olds = [memories.one(unit.db, old_id) for old_id in old_ids]
    for old in olds:
        _check_active(old)
    for old in olds:
        _close(unit, old, valid_to or unit.at, None, ENDED)


def _check(db: apsw.Connection, old: Memory, successor: Memory) -> None:
    if old.id == successor.id:
        raise Refused(f"#{old.id} cannot supersede itself.", hint="Name another memory, or give a new text.")
    _check_active(old)
    if old.kind is not successor.kind or old.entity != successor.entity:
        raise Refused(
            f"#{old.id} ({_about(old)}) cannot be superseded by #{successor.id} ({_about(successor)}).",
            hint="A successor has the same kind and entity.",
        )
    if old.id in _successors(db, successor):
        raise Refused(f"#{old.id} already follows #{successor.id}; that would be a cycle.")


def _check_active(old: Memory) -> None:
    if old.superseded_by is not None:
        raise Refused(
            f"#{old.id} is superseded by #{old.superseded_by} already.",
            hint=f"Supersede that one: mem supersede {old.superseded_by} --content '…'",
        )
    if old.status is not Status.ACTIVE:
        raise Refused(f"#{old.id} is {old.status}; only an active memory can be superseded.")


def _about(memory: Memory) -> str:
    return f"{memory.kind} about {memory.entity}" if memory.entity else str(memory.kind)


def _successors(db: apsw.Connection, memory: Memory) -> set[int]:
    following: set[int] = set()
    current: int | None = memory.superseded_by
    while current is not None and current not in following:
        following.add(current)
        current = memories.one(db, current).superseded_by
    return following


def _close(unit: Unit, old: Memory, at: str, successor_id: int | None, reason: str | None) -> None:
    if old.valid_to is not None and old.valid_to < at:
        at = old.valid_to
    if old.valid_from is not None and at < old.valid_from:
        at = old.valid_from
    memories.change(
        unit,
        old.id,
        {
            "status": Status.SUPERSEDED.value,
            "status_reason": reason,
            "status_at": unit.at,
            "valid_to": at,
            "superseded_by": successor_id,
        },
    )


def _dropped(old: Memory, successor: Memory) -> Notice | None:
    """Report what the old text named and the new one does not: addresses, paths, versions, names."""
    said = " ".join(part for part in (successor.title, successor.content, successor.rationale) if part)
    lost = [fact for fact in dict.fromkeys(_FACTS.findall(old.content)) if fact not in said]
    if not lost:
        return None
    return Notice("dropped", f"#{old.id} named {', '.join(lost)}; the new text does not.", (old.id,))


def require_one(ids: Sequence[str], content: str | None, by: str | None, ended: bool) -> None:
    """A supersede names memories and one way: a new text, an existing memory, or an end without successor."""
    if not ids:
        raise Usage("supersede names no memory.", hint="mem supersede ID --content 'what holds now'")
    given = [name for name, is_given in (("content", content), ("by", by), ("ended", ended)) if is_given]
    if len(given) != 1:
        raise Usage(
            f"supersede takes one of content, by and ended, not {' and '.join(given) or 'none of them'}.",
            hint="mem supersede ID --content 'what holds now', --by ID, or --ended",
        )
