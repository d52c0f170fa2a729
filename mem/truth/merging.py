"""Merge: two entities turn out to be one; observations, relations, names and rejections move along."""

import json
from collections.abc import Sequence

from mem.errors import Refused
from mem.store import entities, memories, relations, tombstones
from mem.store.events import Unit
from mem.truth import drafts
from mem.truth.entities import described, named, require_live, rewrite, with_names_of
from mem.truth.relations import meets
from mem.values import Entity, EntityStatus, Memory, Relation, Status

MERGED = "merged"


def merge(unit: Unit, from_: Entity, into: Entity) -> tuple[int, int]:
    """Let one entity live on in another; gives how many observations and relations moved.

    What both say is said once; what was rejected of one is rejected of the other. Raises `Refused`.
    """
    if from_.id == into.id:
        raise Refused(f"{named(from_)} cannot be merged into itself.", hint="Name another entity.")
    require_live(from_)
    require_live(into)
    if into.project is not None and into.project != from_.project:
        raise Refused(
            f"{named(from_)} is {_place(from_)}, {named(into)} {_place(into)}.",
            hint=f"Merge the narrower into the wider: mem entity-merge {into.id} {from_.id}",
        )
    _move_rejections(unit, from_, into)
    moved = _move_observations(unit, from_, into)
    _reject_what_was_rejected(unit, into)
    related = _move_relations(unit, from_, into)
    # First the old name is given up, then it becomes an alias.
    entities.change(unit, from_.id, {"status": EntityStatus.MERGED.value, "merged_into": into.id})
    rewrite(unit, into, with_names_of(described(into), from_))
    return moved, related


def _place(entity: Entity) -> str:
    return "global" if entity.project is None else f"of project {entity.project}"


def _move_rejections(unit: Unit, from_: Entity, into: Entity) -> None:
    for stone in tombstones.of_entity(unit.db, from_.uid):
        tombstones.bury(
            unit,
            stone.fingerprint,
            into.uid,
            stone.project,
            memory_uid=stone.memory_uid,
            reason=stone.reason,
            kind=stone.kind,
        )


def _move_observations(unit: Unit, from_: Entity, into: Entity) -> int:
    """Each observation is about the other entity from now on; of two that say the same one stays."""
    moved = entities.observations(unit.db, from_.id)
    for number in moved:
        fingerprint, kind, project, _, _ = memories.identity(unit.db, number)
        same = memories.same_content(unit.db, fingerprint, kind, project, into.id)
        twins = [twin for other in same if (twin := memories.one(unit.db, other)).status is Status.ACTIVE]
        mine = memories.one(unit.db, number)
        if twins and mine.status is Status.ACTIVE:
            kept, other = sorted((twins[0], mine), key=lambda twin: _lasts(twin, unit.at), reverse=True)
            # First the one gives way: two live ones that say the same cannot be.
            memories.change(unit, other.id, _given_way(other, kept, unit.at))
            if joined := _joined(kept, other):
                memories.change(unit, kept.id, joined)
        memories.change(unit, number, {"entity_id": into.id})
    return len(moved)


def _lasts(memory: Memory, now: str) -> tuple[bool, str]:
    """How long it goes on; what has expired does not."""
    return memory.expires_at is None or memory.expires_at > now, memory.valid_to or "~"


def _given_way(memory: Memory, kept: Memory, now: str) -> dict[str, object]:
    """The columns of what is said once more by another; its time goes to that one where the two meet."""
    never = {"valid_from": memory.valid_from or now, "valid_to": memory.valid_from or now}
    return {
        "status": Status.SUPERSEDED.value,
        "status_reason": MERGED,
        "status_at": now,
        "superseded_by": kept.id,
        **(never if _meet(memory, kept) else {}),
    }


def _joined(kept: Memory, other: Memory) -> dict[str, object]:
    """What the kept one of two that say the same takes over: tags, and the time of both where they meet."""
    values: dict[str, object] = {}
    tags = drafts.tags((*kept.tags, *other.tags))
    if tags != kept.tags and len(tags) <= drafts.MOST_TAGS:
        values["tags"] = json.dumps(tags, ensure_ascii=False)
    if _meet(kept, other):
        begins = min(kept.valid_from or "", other.valid_from or "") or None
        if begins != kept.valid_from:
            values["valid_from"] = begins
    return values


def _meet(one: Memory, other: Memory) -> bool:
    """Whether two intervals, half-open, overlap or follow each other without a gap."""
    return (one.valid_from or "") <= (other.valid_to or "~") and (other.valid_from or "") <= (
        one.valid_to or "~"
    )


def _reject_what_was_rejected(unit: Unit, into: Entity) -> None:
    for stone in tombstones.of_entity(unit.db, into.uid):
        for number in memories.saying(unit.db, stone.fingerprint, into.id, stone.project):
            memories.set_status(unit, number, Status.REJECTED, stone.reason)


def _move_relations(unit: Unit, from_: Entity, into: Entity) -> int:
    """Each relation gets its new ends; one between the two goes, and what holds twice is said once."""
    moved = relations.all_of(unit.db, from_.id)
    for relation in moved:
        if into.id in (relation.from_id, relation.to_id):
            relations.change(unit, relation.id, {"status": MERGED})
            continue
        ends = _moved_end(relation.from_id, from_, into), _moved_end(relation.to_id, from_, into)
        known = relations.between(unit.db, *ends, relation.type)
        met = [other for other in known if meets(other, relation.valid_from, relation.valid_to)]
        kept, *gone = *met, relation
        for other in gone:
            relations.change(unit, other.id, {"status": MERGED})
        relations.change(
            unit,
            kept.id,
            {
                "from_id": ends[0],
                "to_id": ends[1],
                "weight": max(one.weight for one in (kept, *gone)),
                "valid_from": min(one.valid_from or "" for one in (kept, *gone)) or None,
                "valid_to": _latest((kept, *gone)),
            },
        )
    return len(moved)


def _latest(held: Sequence[Relation]) -> str | None:
    """When the last of these ends; None if one does not."""
    ends = [relation.valid_to for relation in held]
    return None if None in ends else max(end for end in ends if end is not None)


def _moved_end(number: int, from_: Entity, into: Entity) -> int:
    return into.id if number == from_.id else number
