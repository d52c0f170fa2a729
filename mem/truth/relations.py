"""Relations: entered or weighed anew, and closed when they cease to hold; never erased."""

from collections.abc import Sequence
from dataclasses import dataclass

from mem.errors import NotFound, Refused, Usage
from mem.search.mentions import key
from mem.store import relations
from mem.store.events import Unit
from mem.truth.drafts import check_interval
from mem.truth.entities import one_name
from mem.values import Entity, Relation

LONGEST_TYPE = 50


@dataclass(frozen=True, slots=True)
class Interval:
    """When a relation holds, half-open; None where nobody said."""

    valid_from: str | None = None
    valid_to: str | None = None


def relation_type(name: str) -> str:
    """The type of a relation: lower case, words joined by underscores; raises `Usage`."""
    kept = key(name).replace(" ", "_")
    if not kept or len(kept) > LONGEST_TYPE or not kept.isprintable():
        raise Usage(
            f"'{one_name(name)}' cannot be the type of a relation.",
            hint=f"Take a verb such as works_at, of at most {LONGEST_TYPE} characters.",
        )
    return kept


def relate(
    unit: Unit, from_: Entity, type_: str, to: Entity, *, weight: float | None, interval: Interval
) -> tuple[str, int]:
    """Enter a relation, or change the one that holds: its weight, and its interval as far as one is given.

    Gives what was done (`added`, `updated`, `known`) and its number. A relation that has ended begins anew.
    Raises `Refused` where it is not clear which of several times is meant.
    """
    check_interval(interval.valid_from, interval.valid_to)
    all_held = relations.between(unit.db, from_.id, to.id, type_)
    known = _holding(unit, all_held, interval)
    if known is None:
        begins = interval.valid_from
        if begins is None and interval.valid_to is None and all_held:
            begins = unit.at
        number = relations.insert(
            unit,
            from_.id,
            to.id,
            type_,
            weight=1.0 if weight is None else weight,
            valid_from=begins,
            valid_to=interval.valid_to,
        )
        _touch(unit, from_, to)
        return "added", number
    wanted = Interval(interval.valid_from or known.valid_from, interval.valid_to or known.valid_to)
    check_interval(wanted.valid_from, wanted.valid_to)
    _require_clear(known, interval, wanted, [other for other in all_held if other.id != known.id])
    now = {
        "weight": known.weight if weight is None else weight,
        "valid_from": wanted.valid_from,
        "valid_to": wanted.valid_to,
    }
    changed = {name: value for name, value in now.items() if value != getattr(known, name)}
    if not changed:
        return "known", known.id
    relations.change(unit, known.id, changed)
    _touch(unit, from_, to)
    return "updated", known.id


def close(unit: Unit, from_: Entity, type_: str, to: Entity, *, at: str | None) -> int:
    """Close the interval of the relation that holds, at an instant or now; gives its number."""
    held = relations.between(unit.db, from_.id, to.id, type_)
    if not held:
        raise NotFound(
            f"{from_.name} has no relation {type_} to {to.name}.", hint=f"See: mem entity {from_.id}"
        )
    still = [relation for relation in held if relation.valid_to is None or relation.valid_to > unit.at]
    if not still:
        raise Refused(
            f"That {from_.name} {type_} {to.name} has ended on {held[0].valid_to} already.",
            hint="To change when: mem relate … --valid-from … --valid-to …",
        )
    closing = at or unit.at
    begun = [relation for relation in still if relation.valid_from is None or relation.valid_from < closing]
    if not begun:
        raise Usage(
            f"{from_.name} {type_} {to.name} holds since {still[-1].valid_from}; it cannot end at {closing}.",
            hint="Name a later --valid-to.",
        )
    relations.change(unit, begun[0].id, {"valid_to": closing})
    _touch(unit, from_, to)
    return begun[0].id


def meets(relation: Relation, begins: str | None, ends: str | None) -> bool:
    """Whether a relation holds at some time of an interval, half-open."""
    return (relation.valid_from or "") < (ends or "~") and (begins or "") < (relation.valid_to or "~")


def _holding(unit: Unit, held: Sequence[Relation], interval: Interval) -> Relation | None:
    """The relation of these that the interval meets; without an interval, the one that holds now or later.

    Of several that meet it, the one that begins like it, else the newest.
    """
    if interval == Interval():
        interval = Interval(unit.at)
    met = [relation for relation in held if meets(relation, interval.valid_from, interval.valid_to)]
    same = [relation for relation in met if relation.valid_from == interval.valid_from]
    return next(iter(same or met), None)


def _require_clear(known: Relation, given: Interval, wanted: Interval, others: Sequence[Relation]) -> None:
    """Refuse an interval that says of a time that ended, or of another one, that it was otherwise."""
    reopens = known.valid_to is not None and given.valid_to is None and given.valid_from is not None
    met = known if reopens and given.valid_from != known.valid_from else None
    met = met or next((other for other in others if meets(other, wanted.valid_from, wanted.valid_to)), None)
    if met is not None:
        since = f"from {met.valid_from}" if met.valid_from else "from the beginning"
        until = f"to {met.valid_to}" if met.valid_to else "on"
        raise Refused(
            f"{met.type} holds {since} {until} already.",
            hint="Give both --valid-from and --valid-to to change that, or a --valid-from after it.",
        )


def _touch(unit: Unit, from_: Entity, to: Entity) -> None:
    """The event is about both ends."""
    unit.changed_entity(from_.id)
    unit.changed_entity(to.id)
