"""The one gate before a text is written: rejected content stays out, known content is recognised."""

from collections.abc import Collection
from dataclasses import dataclass

import apsw

from mem import clock
from mem.errors import Usage
from mem.results import Action, Refusal
from mem.store import memories, tombstones
from mem.values import Kind, Memory, Status

# Why an archived memory may come back by being restated: nobody judged its content.
REVIVABLE = frozenset(("expired", "undone", "compressed"))
ENDED = "ended"


def require_own_words(reason: str | None) -> None:
    """Refuse a person's reason that is one of those by which `mem` marks what nobody judged."""
    if reason is not None and reason.strip().casefold() in REVIVABLE | {ENDED}:
        raise Usage(f"'{reason}' is a reason that mem itself gives.", hint="Say it in other words.")


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two memories the same: fingerprint, kind, project and entity."""

    fingerprint: bytes
    kind: Kind
    project: str | None
    entity_id: int | None = None
    entity_uid: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says: add it, or what else it is, and which memory it meets."""

    action: Action
    memory: Memory | None = None
    refusal: Refusal | None = None


def admit(
    db: apsw.Connection,
    identity: Identity,
    *,
    now: str,
    itself: int | None = None,
    replaced: Collection[int] = (),
) -> Verdict:
    """Ask the tombstones and the memories with the same content.

    `itself` is a memory being rewritten; `replaced` are those that the text is about to supersede: what they
    replaced may come back.
    """
    stone = tombstones.binding(db, identity.fingerprint, identity.entity_uid, identity.project)
    if stone is not None:
        return Verdict(Action.REFUSED, refusal=_rejected(stone))
    met = memories.same_content(db, identity.fingerprint, identity.kind, identity.project, identity.entity_id)
    others = [memory_id for memory_id in met if memory_id != itself]
    if not others:
        return Verdict(Action.ADDED)
    known = memories.one(db, others[0])
    latest = memories.one(db, memories.last_successor(db, known.id))
    if known.status is Status.SUPERSEDED and (_has_ended(latest) or latest.id in {itself, *replaced}):
        return Verdict(Action.ADDED)
    return _meet(known, latest, now)


def _has_ended(latest: Memory) -> bool:
    return latest.status is Status.SUPERSEDED and latest.status_reason == ENDED


def _meet(known: Memory, latest: Memory, now: str) -> Verdict:
    match known.status:
        case Status.ACTIVE if known.superseded_by is not None and (known.valid_to or now) <= now:
            return Verdict(Action.REFUSED, known, _retired(known, latest))
        case Status.ACTIVE if known.expires_at is not None and known.expires_at <= now:
            return Verdict(Action.REVIVED, known)
        case Status.ACTIVE | Status.PROPOSED:
            return Verdict(Action.ALREADY_KNOWN, known)
        case Status.ARCHIVED if known.status_reason in REVIVABLE:
            return Verdict(Action.REVIVED, known)
        case _:
            return Verdict(Action.REFUSED, known, _retired(known, latest))


def _rejected(stone: tombstones.Tombstone) -> Refusal:
    reason = f": {stone.reason}" if stone.reason else ""
    return Refusal(
        code="rejected",
        reason=f"This was rejected on {clock.local_day(stone.recorded_at)}{reason}.",
        hint="A person can lift the rejection.",
        id=stone.memory_id,
        at=stone.recorded_at,
    )


def _retired(known: Memory, latest: Memory) -> Refusal:
    day = clock.local_day(known.status_at or known.changed_at)
    why = f": {known.status_reason}" if known.status_reason else ""
    status = Status.SUPERSEDED if known.superseded_by is not None else known.status
    match status:
        case Status.SUPERSEDED:
            reason = f"#{known.id} said this and was superseded by #{known.superseded_by} on {day}{why}."
            restore = "" if latest.status is Status.ACTIVE else f"mem restore {latest.id}, then "
            hint = f"If it holds again: {restore}mem supersede {latest.id} --content '…'"
        case Status.REJECTED:
            reason, hint = f"#{known.id} was rejected on {day}{why}.", "A person can lift the rejection."
        case _:
            reason, hint = (
                f"#{known.id} was archived on {day}{why}.",
                f"Bring it back: mem restore {known.id}",
            )
    return Refusal(code=status.value, reason=reason, hint=hint, id=known.id, at=known.status_at)
