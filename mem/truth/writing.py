"""Writing one memory: through the gate, then added, recognised or revived; and changing one in place."""

import json
import re
import unicodedata
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import apsw

from mem import clock
from mem.errors import Refused
from mem.results import Action, Stored, VectorState
from mem.store import memories, usage
from mem.store.events import Unit
from mem.truth import drafts
from mem.truth.admission import ENDED, Identity, Verdict, admit, identity_of, lift
from mem.truth.fingerprint import embedded_text, fingerprint, text_hash
from mem.values import ActorKind, Kind, Memory, NewMemory, Notice, Status, Trust


def store_one(unit: Unit, new: NewMemory, *, replaced: Collection[int] = (), force: bool = False) -> Stored:
    """Write a memory unless the gate turns it away or knows it; the caller sets the vector's state.

    `replaced` are the memories that the caller will let it supersede; `force` overrides what can be. Whoever
    stores comes through `review.store`, which asks a person where one must be asked.
    """
    identity = identity_for(unit.db, new)
    verdict = _verdict(unit, identity, replaced=replaced, force=force)
    if verdict.memory is not None and has_lapsed(verdict.memory, new, unit.at):
        memories.set_status(unit, verdict.memory.id, Status.SUPERSEDED, ENDED)
        # A record time may be ahead of a clock that was set back; what held from there would be out.
        begins = min(unit.at, clock.to_text(clock.now()))
        return add(unit, replace(new, valid_from=new.valid_from or begins), identity)
    match verdict.action:
        case Action.REFUSED:
            return turned_away(verdict)
        case Action.ALREADY_KNOWN | Action.REVIVED:
            return _recognise(unit, new, verdict)
        case _:
            return add(unit, new, identity)


def turned_away(verdict: Verdict) -> Stored:
    """The answer where the gate refuses."""
    known, refused = verdict.memory, verdict.refusal
    return Stored(
        Action.REFUSED,
        refused.id if refused else None,
        known.uid if known else None,
        VectorState.NONE,
        refusal=refused,
    )


def rewrite(
    unit: Unit,
    before: Memory,
    after: NewMemory,
    *,
    status: Status | None = None,
    replaced: Collection[int] = (),
    force: bool = False,
) -> None:
    """Replace what a memory says, through the same gate; raises `Refused` for content that may not come back.

    With `status` it takes that status too, as when an archived memory is restored. What is as it was before
    stays untouched. What a person verified is unverified as soon as somebody else makes it say another thing.
    """
    own = identity_of(unit.db, before.id)
    said = fingerprint(after.kind, after.title, after.content)
    identity = replace(own, fingerprint=said, project=after.project)
    if status is not None or identity != own:
        require_admitted(unit, before, identity, status or before.status, replaced=replaced, force=force)
    elif after == as_new(before):
        return
    values = memories.columns(after)
    values["fingerprint"] = identity.fingerprint
    values["text_hash"] = text_hash(embedded_text(after))
    if status is not None:
        values |= {"status": status.value, "status_reason": None, "status_at": unit.at}
    if before.verified_at is not None and unit.actor.kind is not ActorKind.PERSON and differ(before, after):
        values |= {"verified_at": None, "verified_by": None}
        values |= {"trust": Trust.UNVERIFIED.value} if before.trust is Trust.VERIFIED else {}
    memories.change(unit, before.id, values)


def _verdict(
    unit: Unit,
    identity: Identity,
    *,
    itself: int | None = None,
    replaced: Collection[int] = (),
    force: bool = False,
) -> Verdict:
    """What the gate says; where it refuses, and `force` overrides that, the way is free from now on."""
    verdict = admit(unit.db, identity, now=unit.at, itself=itself, replaced=replaced)
    if verdict.action is not Action.REFUSED or not force:
        return verdict
    forced = admit(unit.db, identity, now=unit.at, itself=itself, replaced=replaced, force=True)
    if forced.action is not Action.REFUSED:
        lift(unit, identity)
    return forced


def has_lapsed(known: Memory, new: NewMemory, now: str) -> bool:
    """Whether a known text held until a time that has passed, without successor, and now holds again."""
    ended = known.valid_to
    if known.status is not Status.ACTIVE or known.superseded_by is not None or ended is None or ended > now:
        return False
    return new.valid_to is None or new.valid_to > ended


def require_admitted(
    unit: Unit,
    before: Memory,
    identity: Identity,
    status: Status,
    *,
    replaced: Collection[int] = (),
    force: bool = False,
) -> None:
    """Refuse to let a memory say what the gate turns away, or what another live one says already."""
    verdict = _verdict(unit, identity, itself=before.id, replaced=replaced, force=force)
    if verdict.action is Action.REFUSED and verdict.refusal:
        raise Refused(verdict.refusal.reason, hint=verdict.refusal.hint)
    live = (Status.ACTIVE, Status.PROPOSED)
    if verdict.memory is not None and verdict.memory.status in live and status in live:
        raise Refused(
            f"#{verdict.memory.id} says this already.",
            hint=f"Archive one of them, or: mem get {verdict.memory.id}",
        )


def differ(before: Memory, after: NewMemory) -> bool:
    """Whether it says another thing, and not only has other attributes."""
    said = ("title", "content", "rationale", "alternatives", "valid_from", "valid_to")
    return any(getattr(before, name) != getattr(after, name) for name in said)


def identity_for(db: apsw.Connection, new: NewMemory) -> Identity:
    """The identity of a memory that is about to be written."""
    said = fingerprint(new.kind, new.title, new.content)
    return Identity(said, new.kind, new.project, new.entity_id, memories.entity_uid(db, new.entity_id))


def as_new(memory: Memory) -> NewMemory:
    """What a memory says, as something that could be written."""
    return NewMemory(
        kind=memory.kind,
        content=memory.content,
        title=memory.title,
        rationale=memory.rationale,
        alternatives=memory.alternatives,
        category=memory.category,
        level=memory.level,
        layer=memory.layer,
        importance=memory.importance,
        confidence=memory.confidence,
        project=memory.project,
        tags=memory.tags,
        source=memory.source,
        event_time=memory.event_time,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        expires_at=memory.expires_at,
        entity_id=memory.entity_id,
        flags=memory.flags,
    )


def add(unit: Unit, new: NewMemory, identity: Identity, *, status: Status = Status.ACTIVE) -> Stored:
    """Write a memory that the gate admitted."""
    memory_id = memories.insert(
        unit,
        new,
        status=status,
        fingerprint=identity.fingerprint,
        text_hash=text_hash(embedded_text(new)),
    )
    action = Action.PROPOSED if status is Status.PROPOSED else Action.ADDED
    return Stored(action, memory_id, memories.one(unit.db, memory_id).uid, VectorState.PENDING)


def _recognise(unit: Unit, new: NewMemory, verdict: Verdict) -> Stored:
    known = verdict.memory
    if known is None:
        raise AssertionError("the gate recognised a text without naming its memory")
    merged = drafts.tags((*known.tags, *new.tags))
    if verdict.action is Action.REVIVED:
        memories.change(unit, known.id, _revival(unit, new, merged))
    elif merged != known.tags and known.status is not Status.PROPOSED:
        memories.change(unit, known.id, {"tags": json.dumps(merged, ensure_ascii=False)})
    usage.count_restated(unit.db, known.id)
    return Stored(verdict.action, known.id, known.uid, VectorState.PENDING, warnings=differences(known, new))


def _revival(unit: Unit, new: NewMemory, merged: tuple[str, ...]) -> dict[str, Any]:
    """The old id lives again as the new text's layer and interval have it."""
    return {
        "status": Status.ACTIVE.value,
        "status_reason": None,
        "status_at": unit.at,
        "layer": new.layer.value,
        "expires_at": new.expires_at,
        "valid_from": new.valid_from,
        "valid_to": new.valid_to,
        "tags": json.dumps(merged, ensure_ascii=False),
    }


_WORDS = re.compile(r"\S+")


def differences(known: Memory, new: NewMemory) -> tuple[Notice, ...]:
    """Warn where texts that count as one differ in more than a capital: -V and -v, DB_URL and db_url."""
    ours, theirs = _spelled(known.title, known.content, new), _spelled(new.title, new.content, new)
    odd = len(ours) != len(theirs) or any(
        mine != other and not _same_word(mine, other) for mine, other in zip(ours, theirs, strict=True)
    )
    if not odd:
        return ()
    from mem.truth.redact import redact  # the known text may hold what a person allowed

    message = (
        f"Counted as the same text, though it differs. Known: {known.content!r}. Given: {new.content!r}."
    )
    return (Notice("text_differs", redact(message).text, (known.id,)),)


def _spelled(title: str | None, content: str, new: NewMemory) -> list[str]:
    """The words of what makes the identity; composed, since nobody sees the difference."""
    said = f"{title} {content}" if new.kind is Kind.DECISION and title else content
    return _WORDS.findall(unicodedata.normalize("NFC", said))


def _same_word(mine: str, other: str) -> bool:
    mine, other = mine.rstrip(".!?…。！？"), other.rstrip(".!?…。！？")
    return mine[1:] == other[1:] and mine.casefold() == other.casefold() and (mine == other or mine.isalpha())
