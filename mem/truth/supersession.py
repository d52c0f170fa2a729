"""Supersede: what held until a time gives way to a successor, or ends without one; never erased."""

from collections.abc import Mapping, Sequence

from mem import clock
from mem.errors import Refused, Usage
from mem.store import memories
from mem.store.events import Unit
from mem.truth.admission import ENDED
from mem.truth.names import facts, mentions
from mem.values import Memory, Notice, Status


def supersede(
    unit: Unit,
    old_ids: list[int],
    successor_id: int,
    *,
    valid_from: str | None = None,
    valid_to: str | None,
    reason: str | None,
) -> tuple[Notice, ...]:
    """Let one memory replace others, all or nothing; raises `Refused` where the links would lie.

    Each old interval closes at `valid_to`, else where the successor's begins, else when that was recorded. A
    successor that does not say since when it holds does so from there on. `valid_from` is what the caller
    said of it: a successor that was known before has to agree.
    """
    successor = memories.one(unit.db, successor_id)
    if successor.status is not Status.ACTIVE:
        raise Refused(f"#{successor.id} is {successor.status}; only an active memory can supersede others.")
    olds = [memories.one(unit.db, old_id) for old_id in old_ids]
    for old in olds:
        _check(old, successor)
    _check_beginning(successor, valid_from)
    begins = successor.valid_from or _beginning(unit, successor, valid_to)
    if successor.valid_from is None and (successor.valid_to is None or successor.valid_to > begins):
        memories.change(unit, successor.id, {"valid_from": begins})
    for old in olds:
        _close(unit, old, _closing(old, valid_to, begins), successor.id, reason)
    return tuple(notice for old in olds if (notice := _dropped(old, successor)))


def end(unit: Unit, old_ids: list[int], *, valid_to: str | None) -> None:
    """Close the intervals of memories that nothing replaces; the same fact may hold again later."""
    olds = [memories.one(unit.db, old_id) for old_id in old_ids]
    for old in olds:
        _check_active(old)
    for old in olds:
        _close(unit, old, _closing(old, valid_to, unit.at), None, ENDED)


def require_replaceable(old: Memory, successor: Memory, valid_to: str | None) -> None:
    """Refuse what `supersede` would refuse of a successor that is not live yet."""
    _check(old, successor)
    _closing(old, valid_to, successor.valid_from or successor.recorded_at)


def _check(old: Memory, successor: Memory) -> None:
    if old.id == successor.id:
        raise Refused(f"#{old.id} cannot supersede itself.", hint="Name another memory, or give a new text.")
    _check_active(old)
    if old.kind is not successor.kind or old.entity_id != successor.entity_id:
        raise Refused(
            f"#{old.id} ({_about(old)}) cannot be superseded by #{successor.id} ({_about(successor)}).",
            hint="A successor has the same kind and entity.",
        )


def _check_beginning(successor: Memory, valid_from: str | None) -> None:
    if valid_from is None or successor.valid_from == valid_from:
        return
    since = f"since {successor.valid_from}" if successor.valid_from else "for as long as we know"
    raise Refused(
        f"#{successor.id} says this already, and holds {since}, not since {valid_from}.",
        hint=f"Leave valid-from out, or first: mem update {successor.id} --valid-from …",
    )


def _beginning(unit: Unit, successor: Memory, valid_to: str | None) -> str:
    """Since when a successor holds that does not say so; one that is live already stays so."""
    # A record time may be ahead of a clock that was set back; what holds from there would be out until then.
    recorded = min(successor.recorded_at, clock.to_text(clock.now()))
    if valid_to is None:
        return recorded
    return valid_to if successor.recorded_at == unit.at else min(valid_to, recorded)


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


def _closing(old: Memory, valid_to: str | None, begins: str) -> str:
    """Where an interval closes: as it is said, else where what follows begins, within its own bounds."""
    if valid_to is not None:
        if old.valid_from is not None and valid_to <= old.valid_from:
            raise Usage(
                f"#{old.id} holds since {old.valid_from}; valid-to ({valid_to}) is not after that.",
                hint="Leave valid-to out if it never held.",
            )
        return valid_to
    closing = begins if old.valid_to is None else min(begins, old.valid_to)
    return closing if old.valid_from is None else max(closing, old.valid_from)


def _close(unit: Unit, old: Memory, at: str, successor_id: int | None, reason: str | None) -> None:
    """Close an interval; what holds for a while yet stays active until then, what never does is out."""
    values = {"valid_to": at, "superseded_by": successor_id}
    if at <= unit.at or at == old.valid_from:
        values |= {"status": Status.SUPERSEDED.value, "status_reason": reason, "status_at": unit.at}
    memories.change(unit, old.id, values)


def _dropped(old: Memory, successor: Memory) -> Notice | None:
    """Report what the old text named and the new one does not: addresses, paths, versions, names."""
    said = "\n".join(filter(None, (successor.title, successor.content, successor.rationale)))
    lost = [fact for fact in facts(old.content) if not mentions(said, fact)]
    if not lost:
        return None
    return Notice("dropped", f"#{old.id} named {', '.join(lost)}; the new text does not.", (old.id,))


def require_one(
    ids: Sequence[str], content: str | None, by: str | None, ended: bool, of_new: Mapping[str, str | None]
) -> None:
    """A supersede names memories and one way: a new text, an existing memory, or an end without successor.

    `of_new` is what is said of the new text besides, by name; without one there is nothing it could mean.
    """
    if not ids:
        raise Usage("supersede names no memory.", hint="mem supersede ID --content 'what holds now'")
    given = [
        name
        for name, is_given in (("content", content is not None), ("by", by), ("ended", ended))
        if is_given
    ]
    if len(given) != 1:
        raise Usage(
            f"supersede takes one of content, by and ended, not {' and '.join(given) or 'none of them'}.",
            hint="mem supersede ID --content 'what holds now', --by ID, or --ended",
        )
    stray = [name for name, value in of_new.items() if value is not None]
    if content is None and stray:
        raise Usage(
            f"supersede takes {stray[0]} with a new text only, not with {'by' if by else 'ended'}.",
            hint=f"To change the successor itself: mem update {by}" if by else "It ends at its valid-to.",
        )
