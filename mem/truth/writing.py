"""Writing one memory: through the gate, then added, recognised or revived; and changing one in place."""

import json
import re
import unicodedata
from collections.abc import Collection
from typing import Any

from mem.errors import Refused
from mem.results import Action, Stored, VectorState
from mem.store import memories, usage
from mem.store.events import Unit
from mem.truth import drafts
from mem.truth.admission import Identity, Verdict, admit
from mem.truth.fingerprint import embedded_text, fingerprint, text_hash
from mem.values import Kind, Memory, NewMemory, Notice, Status


def store_one(unit: Unit, new: NewMemory, *, replaced: Collection[int] = ()) -> Stored:
    """Write a memory unless the gate turns it away or knows it; the caller sets the vector's state.

    `replaced` are the memories that the caller will let it supersede.
    """
    identity = _identity(new)
    verdict = admit(unit.db, identity, now=unit.at, replaced=replaced)
    match verdict.action:
        case Action.REFUSED:
            known = verdict.memory.uid if verdict.memory else None
            refused = verdict.refusal
            return Stored(
                Action.REFUSED,
                refused.id if refused else None,
                known,
                VectorState.NONE,
                refusal=verdict.refusal,
            )
        case Action.ALREADY_KNOWN | Action.REVIVED:
            return _recognise(unit, new, verdict)
        case _:
            return _add(unit, new, identity)


def rewrite(unit: Unit, before: Memory, after: NewMemory, *, status: Status | None = None) -> None:
    """Replace what a memory says, through the same gate; raises `Refused` for content that may not come back.

    With `status` it takes that status too, as when an archived memory is restored. What is as it was before
    stays untouched.
    """
    identity = _identity(after)
    if status is not None or identity != _identity(as_new(before)):
        _require_admitted(unit, before, identity, status or before.status)
    elif after == as_new(before):
        return
    values = memories.columns(after)
    values["fingerprint"] = identity.fingerprint
    values["text_hash"] = text_hash(embedded_text(after))
    if status is not None:
        values |= {"status": status.value, "status_reason": None, "status_at": unit.at}
    memories.change(unit, before.id, values)


def _require_admitted(unit: Unit, before: Memory, identity: Identity, status: Status) -> None:
    verdict = admit(unit.db, identity, now=unit.at, itself=before.id)
    if verdict.action is Action.REFUSED and verdict.refusal:
        raise Refused(verdict.refusal.reason, hint=verdict.refusal.hint)
    if verdict.memory is not None and status is Status.ACTIVE:
        raise Refused(
            f"#{verdict.memory.id} says this already.",
            hint=f"Archive one of them, or: mem get {verdict.memory.id}",
        )


def _identity(new: NewMemory) -> Identity:
    return Identity(fingerprint(new.kind, new.title, new.content), new.kind, new.project)


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
    )


def _add(unit: Unit, new: NewMemory, identity: Identity) -> Stored:
    memory_id = memories.insert(
        unit,
        new,
        status=Status.ACTIVE,
        fingerprint=identity.fingerprint,
        text_hash=text_hash(embedded_text(new)),
        entity_id=identity.entity_id,
    )
    return Stored(Action.ADDED, memory_id, memories.one(unit.db, memory_id).uid, VectorState.PENDING)


def _recognise(unit: Unit, new: NewMemory, verdict: Verdict) -> Stored:
    known = verdict.memory
    if known is None:
        raise AssertionError("the gate recognised a text without naming its memory")
    merged = drafts.tags((*known.tags, *new.tags))
    if verdict.action is Action.REVIVED:
        memories.change(unit, known.id, _revival(unit, new, merged))
    elif merged != known.tags:
        memories.change(unit, known.id, {"tags": json.dumps(merged, ensure_ascii=False)})
    usage.count_restated(unit.db, known.id)
    return Stored(verdict.action, known.id, known.uid, VectorState.PENDING, warnings=_differences(known, new))


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


def _differences(known: Memory, new: NewMemory) -> tuple[Notice, ...]:
    """Warn where texts that count as one differ in more than a capital: -V and -v, DB_URL and db_url."""
    ours, theirs = _spelled(known.title, known.content, new), _spelled(new.title, new.content, new)
    odd = len(ours) != len(theirs) or any(
        mine != other and not _same_word(mine, other) for mine, other in zip(ours, theirs, strict=True)
    )
    if not odd:
        return ()
    message = (
        f"Counted as the same text, though it differs. Known: {known.content!r}. Given: {new.content!r}."
    )
    return (Notice("text_differs", message, (known.id,)),)


def _spelled(title: str | None, content: str, new: NewMemory) -> list[str]:
    """The words of what makes the identity; composed, since nobody sees the difference."""
    said = f"{title} {content}" if new.kind is Kind.DECISION and title else content
    return _WORDS.findall(unicodedata.normalize("NFC", said))


def _same_word(mine: str, other: str) -> bool:
    mine, other = mine.rstrip(".!?…。！？"), other.rstrip(".!?…。！？")
    return mine[1:] == other[1:] and mine.casefold() == other.casefold() and (mine == other or mine.isalpha())
