"""Reject: a content that is wrong leaves what is known, and is refused from now on, through every door."""

from collections.abc import Sequence

from mem.store import compressions, memories, tombstones
from mem.store.events import Unit
from mem.truth import review
from mem.truth.admission import DECLINED, identity_of
from mem.values import Notice, Status


def reject(unit: Unit, ids: Sequence[int], reason: str | None) -> tuple[list[int], tuple[Notice, ...]]:
    """Reject memories, whatever their status; gives the numbers of all that say the same and fall with them.

    The rejection binds in the memory's project, that of a global memory everywhere, whatever the kind. A
    proposed update that leaves the text as it is has no content that could be wrong: it is only put away.
    """
    fallen: dict[int, None] = {}
    for memory_id in ids:
        identity = identity_of(unit.db, memory_id)
        memory = memories.one(unit.db, memory_id)
        fallen[memory_id] = None
        if review.repeats(unit.db, memory):
            if memory.status is Status.PROPOSED:
                memories.set_status(unit, memory_id, Status.ARCHIVED, DECLINED)
            continue
        in_force = tombstones.binding(unit.db, identity.fingerprint, identity.entity_uid, identity.project)
        if memory.status is not Status.REJECTED or not in_force:
            tombstones.bury(
                unit,
                identity.fingerprint,
                identity.entity_uid,
                identity.project,
                memory_uid=memory.uid,
                reason=reason,
            )
        fallen |= dict.fromkeys(
            memories.saying(unit.db, identity.fingerprint, identity.entity_id, identity.project)
        )
    for memory_id in fallen:
        fate = memories.one(unit.db, memory_id)
        if fate.status is not Status.REJECTED and fate.status_reason != DECLINED:
            memories.set_status(unit, memory_id, Status.REJECTED, reason)
    return list(fallen), (*_replaced_by(unit, list(fallen)), *_made_of(unit, list(fallen)))


def _replaced_by(unit: Unit, rejected: Sequence[int]) -> tuple[Notice, ...]:
    """Name what a rejected memory had replaced: it stays replaced, unless it is said again."""
    return tuple(
        Notice(
            "replaced_nothing",
            f"#{rejected_id} had replaced #{old}, which stays superseded; if it holds, store it again.",
            (old,),
        )
        for rejected_id in rejected
        for old in memories.predecessors(unit.db, rejected_id)
    )


def _made_of(unit: Unit, rejected: Sequence[int]) -> tuple[Notice, ...]:
    """Name the summaries and extracted observations that were made of it: no rejection knows other words."""
    return tuple(
        Notice(
            "said_elsewhere",
            f"#{number} was made of this, and may say it in other words; look at it: mem get {number}",
            (number,),
        )
        for number in compressions.made_of(unit.db, rejected)
    )
