"""Trust: what nobody has judged yet, what a person vouches for, and what somebody doubts.

A doubt does not take away that a person vouched: who may doubt could else take it away in two steps. Only a
person does that, and whoever is no person and makes the memory say another thing; see `writing.rewrite`.
"""

from mem.errors import Refused
from mem.store import memories
from mem.store.events import Unit
from mem.values import ActorKind, Memory, Trust


def judge(unit: Unit, memory_id: int, state: Trust, reason: str | None) -> None:
    """Give a memory a state of trust with its reason; raises `Refused` where a person has to do that.

    The same state again changes nothing, unless it comes with another reason.
    """
    memory = memories.one(unit.db, memory_id)
    if unit.actor.kind is not ActorKind.PERSON:
        _require_free(memory, state, unit.actor.kind)
    if memory.trust is state and reason in (None, memory.trust_reason):
        return
    values = {"trust": state.value, "trust_reason": reason}
    match state:
        case Trust.VERIFIED:
            values |= {"verified_at": unit.at, "verified_by": unit.actor.client or unit.actor.kind.value}
        case Trust.UNVERIFIED:
            values |= {"verified_at": None, "verified_by": None}
        case Trust.DISPUTED:
            pass
    memories.change(unit, memory_id, values)


def _require_free(memory: Memory, state: Trust, kind: ActorKind) -> None:
    if state is Trust.VERIFIED:
        told = f"Only people verify; this call comes from {kind}."
    elif state is Trust.UNVERIFIED and memory.verified_at is not None:
        told = (
            f"#{memory.id} was verified by a person; only people take that away. This call comes from {kind}."
        )
    else:
        return
    raise Refused(
        told, hint=f"Ask the person, or say that you doubt it: mem trust {memory.id} disputed --reason '…'"
    )
