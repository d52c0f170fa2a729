"""The one gate before a text is written: rejected content stays out, known content is recognised."""

from collections.abc import Collection
from dataclasses import dataclass

import apsw

from mem import clock
from mem.errors import Usage
from mem.results import Action, Refusal
from mem.store import memories, tombstones
from mem.store.events import Unit
from mem.values import Kind, Memory, Status

ENDED = "ended"
UNDONE = "undone"
SAME_CONTENT = "same content"  # of two stores, so that one memory of them stays
# Why an archived memory may come back by being restated: nobody judged its content.
EXPIRED = "expired"
COMPRESSED = "compressed"  # a summary says it from now on
APPLIED = "applied"  # a proposed update whose text another memory says since
DECLINED = "declined"  # a proposed update that a person did not want, without a text of its own
REVIVABLE = frozenset((EXPIRED, UNDONE, COMPRESSED, APPLIED, DECLINED))


def require_own_words(reason: str | None) -> None:
    """Refuse a person's reason that is one of those by which `mem` marks what nobody judged."""
    if reason is not None and reason.strip().casefold() in REVIVABLE | {ENDED, SAME_CONTENT}:
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


def identity_of(db: apsw.Connection, memory_id: int) -> Identity:
    """The identity of a memory that is in the store."""
    return Identity(*memories.identity(db, memory_id))


def admit(
    db: apsw.Connection,
    identity: Identity,
    *,
    now: str,
    itself: int | None = None,
    replaced: Collection[int] = (),
    force: bool = False,
) -> Verdict:
    """Ask the tombstones and the memories with the same content.

    `itself` is a memory being rewritten; `replaced` are those that the text is about to supersede: what they
    replaced may come back. A person's `force` overrides a rejection and an archiving, but not a successor.
    """
    stones = tombstones.binding(db, identity.fingerprint, identity.entity_uid, identity.project)
    if stones and not force:
        return Verdict(Action.REFUSED, refusal=rejected(stones[0]))
    met = memories.same_content(db, identity.fingerprint, identity.kind, identity.project, identity.entity_id)
    others = [memory_id for memory_id in met if memory_id != itself]
    if not others:
        return Verdict(Action.ADDED)
    known = memories.one(db, others[0])
    latest = memories.one(db, memories.last_successor(db, known.id))
    if known.status is Status.SUPERSEDED and (_is_open(latest) or latest.id in {itself, *replaced}):
        return Verdict(Action.ADDED)
    return _meet(known, latest, now, force=force)


def lift(unit: Unit, identity: Identity) -> None:
    """Take back what refuses this content, since a person overrides it; the event says so."""
    stones = tombstones.binding(unit.db, identity.fingerprint, identity.entity_uid, identity.project)
    tombstones.lift(unit, stones)
    unit.detail["forced"] = True


def _is_open(latest: Memory) -> bool:
    """Whether nothing holds in the place of what this one replaced: it ended, or was wrong itself."""
    # Without a successor, this memory has ended, or what replaced it was forgotten elsewhere.
    ended = latest.status is Status.SUPERSEDED and latest.superseded_by is None
    return ended or latest.status is Status.REJECTED


def _meet(known: Memory, latest: Memory, now: str, *, force: bool) -> Verdict:
    match known.status:
        case Status.ACTIVE if known.superseded_by is not None and (known.valid_to or now) <= now:
            return Verdict(Action.REFUSED, known, _retired(known, latest))
        case Status.ACTIVE if known.expires_at is not None and known.expires_at <= now:
            return Verdict(Action.REVIVED, known)
        case Status.ACTIVE | Status.PROPOSED:
            return Verdict(Action.ALREADY_KNOWN, known)
        case Status.ARCHIVED if force or known.status_reason in REVIVABLE:
            return Verdict(Action.REVIVED, known)
        case Status.REJECTED if force:
            return Verdict(Action.REVIVED, known)
        case _:
            return Verdict(Action.REFUSED, known, _retired(known, latest))


def rejected(stone: tombstones.Tombstone) -> Refusal:
    """Why a rejection refuses, and the way out."""
    reason = f": {stone.reason}" if stone.reason else ""
    which = f" as #{stone.memory_id}" if stone.memory_id else ""
    return Refusal(
        code=stone.kind.value,
        reason=f"This was {stone.kind}{which} on {clock.local_day(stone.recorded_at)}{reason}.",
        hint=_way_out(stone.memory_id),
        id=stone.memory_id,
        at=stone.recorded_at,
    )


def _way_out(memory_id: int | None) -> str:
    restore = f", or: mem restore {memory_id} --force" if memory_id else ""
    return f"A person can override that: --force{restore}"


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
            reason, hint = f"#{known.id} was rejected on {day}{why}.", _way_out(known.id)
        case _:
            reason, hint = (
                f"#{known.id} was archived on {day}{why}.",
                f"Bring it back: mem restore {known.id}",
            )
    return Refusal(code=status.value, reason=reason, hint=hint, id=known.id, at=known.status_at)
