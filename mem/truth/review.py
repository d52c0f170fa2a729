"""Review: what a machine writes waits until a person approves it, if `trust.review` says so.

A proposed memory is inert: not recalled, in no context, no duplicate of anything. Its `proposal` says what
its approval would do to others: `replaces` are their UUIDs, `seen` when each had last changed, `in_place`
whether the old one takes over what the new one says (an update) or ends with it as successor, `valid_to` and
`reason` what the writer gave. A summary that `compresses` them has them put away instead; `about` describes
the entity of an observation, which is made or found when that is approved. Without a `proposal` approval just
makes it live. The gate is asked when it is proposed and again when it is approved; what has changed since is
not overwritten.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import apsw

from mem import clock, config
from mem.caller import Caller
from mem.errors import NeedsReview, Refused
from mem.results import Action, Stored, VectorState
from mem.store import memories, proposals, usage
from mem.store.events import Unit
from mem.truth import drafts, entities, supersession
from mem.truth.admission import APPLIED, COMPRESSED, DECLINED, ENDED, EXPIRED, admit, identity_of
from mem.truth.fingerprint import fingerprint
from mem.truth.writing import (
    add,
    as_new,
    differ,
    differences,
    has_lapsed,
    identity_for,
    require_admitted,
    rewrite,
    store_one,
    turned_away,
)
from mem.values import ActorKind, Memory, NewMemory, Notice, Scope, Status

# What says nothing new and judges nothing: sessions open and close, vectors are filled in, time passes.
UNREVIEWED = frozenset(("backfill", "maintain", "migrate-vectors", "session-start", "session-end"))
_ASK = "Ask the person whose memory this is."


@dataclass(frozen=True, slots=True)
class Plan:
    """What the approval of a memory does to others; see the head of this module."""

    replaces: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    in_place: bool = False
    valid_to: str | None = None
    reason: str | None = None
    compresses: bool = False
    about: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, memory: Memory) -> "Plan":
        """The plan of a proposed memory; an empty one where it stands alone."""
        said = dict(memory.proposal or {})
        return cls(tuple(said.pop("replaces", ())), tuple(said.pop("seen", ())), **said)


def is_reviewed(caller: Caller) -> bool:
    """Whether what a caller writes waits for a person: `hooks` means theirs, `agents` all but people's."""
    if caller.is_person:
        return False
    match config.value("trust.review", caller.environment):
        case "hooks":
            return caller.actor.kind is ActorKind.HOOK
        case "agents":
            return True
        case _:
            return False


def require_allowed(caller: Caller, operation: str, *, for_people: bool, proposes: bool) -> None:
    """Refuse a change that only people make, or one that would take effect without the person who is asked.

    `proposes` says that the operation only proposes wherever its caller is reviewed.
    """
    if caller.is_person:
        return
    kind = caller.actor.kind
    if for_people:
        raise Refused(f"{operation} is for people only; this call comes from {kind}.", hint=_ASK)
    if not proposes and operation not in UNREVIEWED and is_reviewed(caller):
        raise NeedsReview(
            f"{operation} would take effect at once, and a person reviews what comes from {kind}.",
            hint=f"{_ASK} A new text can be proposed: mem supersede ID --content '…'",
        )


def require_own(memory: Memory, unit: Unit) -> None:
    """Refuse to change a proposal that another client made; people may change every one."""
    theirs = memory.client != unit.actor.client
    if memory.status is Status.PROPOSED and theirs and unit.actor.kind is not ActorKind.PERSON:
        raise NeedsReview(f"#{memory.id} was proposed by {memory.client or 'another caller'}.", hint=_ASK)


def store(
    unit: Unit, new: NewMemory, *, reviewed: bool, replaced: Sequence[int] = (), force: bool = False
) -> Stored:
    """Write a memory, or propose it where its writer is reviewed; a person who says it approves it."""
    if reviewed:
        return propose(unit, new, replaced)
    outcome = store_one(unit, new, replaced=replaced, force=force)
    if outcome.action is not Action.ALREADY_KNOWN or outcome.id is None:
        return outcome
    known = memories.one(unit.db, outcome.id)
    if known.status is not Status.PROPOSED:
        return outcome
    if unit.actor.kind is ActorKind.PERSON:
        return _approve_what_is_said(unit, new, known)
    return replace(outcome, warnings=(*outcome.warnings, _waits(known.id)))


def propose(
    unit: Unit,
    new: NewMemory,
    old_ids: Sequence[int],
    *,
    valid_to: str | None = None,
    reason: str | None = None,
) -> Stored:
    """Write a memory that waits for a person, unless the gate refuses or knows it.

    On approval it replaces `old_ids`. What was archived without a judgement is proposed anew, not revived.
    """
    identity = identity_for(unit.db, new)
    verdict = admit(unit.db, identity, now=unit.at, replaced=old_ids)
    if verdict.action is Action.REFUSED:
        return turned_away(verdict)
    known = verdict.memory
    if known and verdict.action is Action.ALREADY_KNOWN and not has_lapsed(known, new, unit.at):
        return _count(unit, new, known, old_ids)
    outcome = add(unit, new, identity, status=Status.PROPOSED)
    if outcome.id is None:
        raise AssertionError("a proposal has a number")
    olds = [memories.one(unit.db, old_id) for old_id in old_ids]
    if olds:
        for old in olds:
            supersession.require_replaceable(old, memories.one(unit.db, outcome.id), valid_to)
        _keep(unit, outcome.id, Plan(*_seen(olds), valid_to=valid_to, reason=reason))
    return replace(outcome, warnings=(_waits(outcome.id, old_ids),))


def await_compression(unit: Unit, memory_id: int, sources: Sequence[Memory]) -> None:
    """Let a proposed summary put its sources away when it is approved."""
    _keep(unit, memory_id, Plan(*_seen(sources), compresses=True))


def propose_about(unit: Unit, new: NewMemory, about: entities.Description) -> Stored:
    """Propose an observation about what is no entity yet: its approval makes that, or finds one so named."""
    outcome = propose(unit, new, ())
    if outcome.action is Action.PROPOSED and outcome.id is not None:
        said = {"name": about.name, "type": about.type, "aliases": list(about.aliases)}
        _keep(unit, outcome.id, Plan(about=said))
    return outcome


def propose_update(
    unit: Unit, before: Memory, after: NewMemory, *, reason: str | None
) -> tuple[int, tuple[Notice, ...]]:
    """Propose that a memory says something else; gives the number of what waits.

    What its own client proposed and nobody has approved is changed at once, and still waits.
    """
    require_own(before, unit)
    if before.status is Status.PROPOSED:
        rewrite(unit, before, after)
        return before.id, (_waits(before.id),)
    if before.status is not Status.ACTIVE:
        raise NeedsReview(f"#{before.id} is {before.status}; a person has to change it.", hint=_ASK)
    if after == as_new(before):
        return before.id, ()
    for other in proposals.replacing(unit.db, before.uid):
        if Plan.of(other).in_place and as_new(other) == after:
            return other.id, (_waits(other.id, [before.id]),)
    own = identity_of(unit.db, before.id)
    said = fingerprint(after.kind, after.title, after.content)
    identity = replace(own, fingerprint=said, project=after.project)
    if identity != own:
        require_admitted(unit, before, identity, Status.ACTIVE)
    outcome = add(unit, after, identity, status=Status.PROPOSED)
    if outcome.id is None:
        raise AssertionError("a proposal has a number")
    _keep(unit, outcome.id, Plan(*_seen([before]), in_place=True, reason=reason))
    return outcome.id, (_waits(outcome.id, [before.id]),)


def approve(
    unit: Unit, memory_id: int, *, content: str | None = None
) -> tuple[list[int], tuple[Notice, ...]]:
    """Let a proposed memory do what it was proposed for; gives the numbers of all that it changed.

    `content` is what a person makes of its text. Raises `Refused` where the gate says no by now, or where
    what it would replace has changed since.
    """
    memory = memories.one(unit.db, memory_id)
    if content is None and (memory.status is Status.ACTIVE or memory.status_reason == APPLIED):
        return [memory_id], ()
    if memory.status is not Status.PROPOSED:
        raise Refused(f"#{memory_id} is {memory.status}; only what is proposed can be approved.")
    plan = Plan.of(memory)
    olds = replaced_by(unit.db, memory)
    new = edited(_with_time_left(memory, unit.at), content, at=unit.at)
    if plan.in_place:
        [old] = olds
        # First it makes way: the gate would find the text waiting under another number.
        memories.set_status(unit, memory_id, Status.ARCHIVED, APPLIED)
        rewrite(unit, old, new)
        return [old.id, memory_id], new.notices
    if plan.about is not None:
        new = replace(new, entity_id=_entity(unit, memory, plan.about))
    old_ids = [old.id for old in olds]
    _make_way(unit, memory, new, old_ids)
    rewrite(unit, memory, new, status=Status.ACTIVE, replaced=() if plan.compresses else old_ids)
    proposals.keep(unit, memory_id, None)
    if plan.compresses:
        for old_id in old_ids:
            memories.set_status(unit, old_id, Status.ARCHIVED, COMPRESSED)
        return [*old_ids, memory_id], new.notices
    if not old_ids:
        return [memory_id], new.notices
    notices = supersession.supersede(unit, old_ids, memory_id, valid_to=plan.valid_to, reason=plan.reason)
    return [*old_ids, memory_id], (*new.notices, *notices)


def edited(new: NewMemory, content: str | None, *, at: str) -> NewMemory:
    """A draft with another text, checked as a new one is; itself without one."""
    return new if content is None else drafts.Edit({"content": content}).apply(new, at=at)


def replaced_by(db: apsw.Connection, memory: Memory) -> list[Memory]:
    """What the approval of a memory would replace; raises `Refused` where that is not as it was then."""
    plan = Plan.of(memory)
    olds = []
    for uid, seen in zip(plan.replaces, plan.seen, strict=True):
        old = proposals.named(db, uid)
        if old is None:
            raise Refused(f"What #{memory.id} would replace was forgotten.", hint=_settle(memory))
        if plan.compresses and (old.status, old.status_reason) == (Status.ARCHIVED, EXPIRED):
            continue  # its time was over meanwhile, which says nothing against the summary
        then = old if old.changed_at == seen else proposals.as_it_was(db, uid, seen)
        if old.status is not Status.ACTIVE or then is None or not _same(then, old, plan):
            raise Refused(f"{_fate(old)}, since #{memory.id} was proposed.", hint=_settle(memory))
        olds.append(old)
    return olds


def obstacle(db: apsw.Connection, memory: Memory, *, now: str) -> str | None:
    """Why a proposed memory could not be approved now."""
    try:
        olds = replaced_by(db, memory)
    except Refused as err:
        return str(err)
    replaced = [old.id for old in olds]
    verdict = admit(db, identity_of(db, memory.id), now=now, itself=memory.id, replaced=replaced)
    if verdict.refusal is not None:
        return verdict.refusal.reason
    known = verdict.memory
    if known is None or verdict.action is not Action.ALREADY_KNOWN or known.id in replaced:
        return None
    return None if has_lapsed(known, as_new(memory), now) else f"#{known.id} says this already."


def repeats(db: apsw.Connection, memory: Memory) -> bool:
    """Whether a proposed update keeps the text of what it would change: then no text of its own is wrong."""
    plan = Plan.of(memory)
    if not plan.in_place or not (memory.status is Status.PROPOSED or memory.status_reason == DECLINED):
        return False
    olds = [old for uid in plan.replaces if (old := proposals.named(db, uid))]
    own = identity_of(db, memory.id).fingerprint
    return any(identity_of(db, old.id).fingerprint == own for old in olds)


def _approve_what_is_said(unit: Unit, new: NewMemory, known: Memory) -> Stored:
    """A person says what waits: that approves it. Where it cannot be, the text is written beside it."""
    try:
        with unit.part():
            changed, notices = approve(unit, known.id)
    except Refused as err:
        told = Notice(
            "still_proposed", f"It waits as #{known.id} too, and cannot be approved: {err}", (known.id,)
        )
        return replace(add(unit, new, identity_for(unit.db, new)), warnings=(told,))
    live = memories.one(unit.db, changed[0] if Plan.of(known).in_place else known.id)
    tags = drafts.tags((*live.tags, *new.tags))
    if tags != live.tags:
        memories.change(unit, live.id, {"tags": json.dumps(tags, ensure_ascii=False)})
    told = Notice("approved", f"This was proposed as #{known.id}, which is approved with it.", tuple(changed))
    return Stored(Action.ADDED, live.id, live.uid, VectorState.PENDING, warnings=(*notices, told))


def _entity(unit: Unit, memory: Memory, about: Mapping[str, Any]) -> int:
    """Let an observation be about the entity that it was proposed for, made now if there is none."""
    said = entities.describe(about["name"], about["type"], about["aliases"])
    known = entities.find_to_set(unit.db, said.name, Scope(memory.project), type_=said.type)
    number = entities.create(unit, said, memory.project) if known is None else known.id
    memories.change(unit, memory.id, {"entity_id": number})
    return number


def _count(unit: Unit, new: NewMemory, known: Memory, old_ids: Sequence[int]) -> Stored:
    """A reviewed writer says what is known or waits already: that is counted, and changes nothing."""
    if old_ids:
        plan, wanted = Plan.of(known), {memories.one(unit.db, old_id).uid for old_id in old_ids}
        if known.status is not Status.PROPOSED or plan.in_place or set(plan.replaces) != wanted:
            listed = " ".join(map(str, old_ids))
            raise NeedsReview(
                f"#{known.id} says this already; a person has to let it replace others.",
                hint=f"Ask the person for: mem supersede {listed} --by {known.id}",
            )
    usage.count_restated(unit.db, known.id)
    notices = differences(known, new)
    if known.status is Status.PROPOSED:
        notices = (*notices, _waits(known.id, old_ids))
    elif not set(new.tags) <= set(known.tags):
        told = f"The tags of #{known.id} stay as they are; new ones can be proposed by mem update."
        notices = (*notices, Notice("tags_kept", told, (known.id,)))
    return Stored(Action.ALREADY_KNOWN, known.id, known.uid, VectorState.PENDING, warnings=notices)


def _waits(memory_id: int, old_ids: Collection[int] = ()) -> Notice:
    until = f"#{', #'.join(map(str, old_ids))} stays as it is" if old_ids else "it is not recalled"
    return Notice(
        "proposed",
        f"#{memory_id} waits for a person; {until} until then. The person: mem approve {memory_id}",
        (memory_id,),
    )


def _seen(olds: Sequence[Memory]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(old.uid for old in olds), tuple(old.changed_at for old in olds)


def _keep(unit: Unit, memory_id: int, plan: Plan) -> None:
    proposals.keep(unit, memory_id, asdict(plan))


def _same(then: Memory, now: Memory, plan: Plan) -> bool:
    """Whether what is to be replaced is still what it was; an update would overwrite every field of it."""
    return as_new(then) == as_new(now) if plan.in_place else not differ(then, as_new(now))


def _fate(old: Memory) -> str:
    day = clock.local_day(old.changed_at)
    if old.superseded_by is not None:
        return f"#{old.id} was superseded by #{old.superseded_by} on {day}"
    return f"#{old.id} was {'changed' if old.status is Status.ACTIVE else old.status} on {day}"


def _settle(memory: Memory) -> str:
    return f"Write what holds yourself, or turn it down: mem reject {memory.id} --reason '…'"


def _with_time_left(memory: Memory, at: str) -> NewMemory:
    """The draft of what waited; a short life begins anew, an end that was asked for has passed."""
    new = as_new(memory)
    if new.expires_at is None or new.expires_at > at:
        return new
    if drafts.layer_expiry(new.layer, at) is None:
        raise Refused(
            f"#{memory.id} was to expire on {clock.local_day(new.expires_at)}, before anybody approved it.",
            hint=f"Give it more time: mem update {memory.id} --expires 30d",
        )
    return drafts.renewed(new, at=at)


def _make_way(unit: Unit, memory: Memory, new: NewMemory, replaced: Sequence[int]) -> None:
    """Retire a memory with the same text whose time is over, though nothing has marked it so yet."""
    identity = replace(identity_of(unit.db, memory.id), fingerprint=identity_for(unit.db, new).fingerprint)
    verdict = admit(unit.db, identity, now=unit.at, itself=memory.id, replaced=replaced)
    known = verdict.memory
    if known is None or known.status is not Status.ACTIVE:
        return
    if has_lapsed(known, new, unit.at):
        memories.set_status(unit, known.id, Status.SUPERSEDED, ENDED)
    elif verdict.action is Action.REVIVED:
        memories.set_status(unit, known.id, Status.ARCHIVED, EXPIRED)
