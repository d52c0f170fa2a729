"""Undo one event: what it changed is written back as new versions, what it added ends.

One routine over the before-images of every table that keeps versions, so that an operation does nothing of
its own to be undone. What comes back passes the gate; all of it comes back, or nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import apsw

from mem.errors import Refused
from mem.results import Action, Event, Refusal
from mem.store import audit, images, memories, tombstones
from mem.store.events import Unit
from mem.store.images import Image
from mem.truth.admission import UNDONE, admit, identity_of
from mem.values import Kind, Status

# What these did is not in before-images, or not to be brought back.
NEVER_UNDONE = (
    *("import", "maintain", "backfill", "migrate-vectors", "forget", "entity-forget"),
    "restore-backup",
)
MOST_NAMED = 5

_LIVE = frozenset((Status.ACTIVE.value, Status.PROPOSED.value))
_ADDED_RELATION: dict[str, Any] = {"status": UNDONE}

# What becomes of a row that the event made, by its table. A session has taken place.
_ENDED: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "memories": lambda at: {
        "status": Status.ARCHIVED.value,
        "status_reason": UNDONE,
        "status_at": at,
        "superseded_by": None,
    },
    "tombstones": lambda at: {"lifted_at": at},
    "settings": lambda _: {"value": None},
    "entities": lambda _: _ADDED_RELATION,
    "relations": lambda _: _ADDED_RELATION,
    "sessions": lambda _: {},
}


def undo(unit: Unit, event_id: int) -> list[int]:
    """Take back what an event did; gives the numbers of the memories that this changed.

    Raises `Refused` for an event that cannot be undone, where a row has changed since, or where the gate does
    not let in what would come back.
    """
    event = audit.one(unit.db, event_id)
    _require_undoable(unit.db, event)
    found = images.of_event(unit.db, event_id)
    _require_unchanged(unit.db, event, found)
    unit.detail["undoes"] = event.uid
    written = [(image, wanted) for image in found if (wanted := _wanted(image, unit.at))]
    if not written:
        raise Refused(f"Event {_named(event)} left nothing that could be undone.", hint="See: mem log")
    rows = [(image, wanted) for image, wanted in written if image.table == "memories"]
    for image, wanted in written:
        if image.table != "memories":
            images.write(unit, image, wanted)
    _bring_back(unit, rows, since=event.at)
    _require_rejections_kept(unit)
    return [image.now["id"] for image, _ in rows]


def _wanted(image: Image, at: str) -> dict[str, Any]:
    """The values that a row has to take; none where it has them."""
    if image.before is not None:
        return image.differing(image.before)
    ended = image.differing(_ENDED[image.table](at))
    return {} if set(ended) == {"status_at"} else ended


def _require_undoable(db: apsw.Connection, event: Event) -> None:
    if event.operation in NEVER_UNDONE:
        raise Refused(
            f"Event {_named(event)} cannot be undone.",
            hint=f"{', '.join(NEVER_UNDONE[:-1])} and {NEVER_UNDONE[-1]} are for good.",
        )
    if not audit.is_from_here(db, event.id):
        raise Refused(f"Event {_named(event)} came from another store, and can be undone only there.")
    if event.undone_by is not None:
        raise Refused(
            f"Event {_named(event)} was undone already, by event {event.undone_by}.",
            hint=f"To do it again: mem undo {event.undone_by}",
        )
    if any(subject.id is None for subject in event.subjects):
        raise Refused(f"Event {_named(event)} cannot be undone: what it changed was forgotten since.")


def _require_unchanged(db: apsw.Connection, event: Event, found: Sequence[Image]) -> None:
    """Refuse where a row says something else than the event left, or has replaced another one since."""
    later: dict[int, None] = {}
    changed = [image for image in found if image.has_changed]
    for image in changed:
        later |= dict.fromkeys(images.writers(db, image, after=event.id))
    touched = {image.now["id"] for image in found if image.table == "memories"}
    leaning: dict[int, int] = {}
    for image in found:
        if image.table == "memories" and image.before is None:
            replaced = images.replaced_by(db, image.now["id"])
            leaning |= {old: by for old, by in replaced.items() if old not in touched}
    if not changed and not leaning:
        return
    what = _what(changed[0]) if changed else f"#{next(iter(leaning))}"
    named = _in_force([audit.one(db, number) for number in sorted({*later, *leaning.values()})])
    raise Refused(
        f"Event {_named(event)} cannot be undone: {what} has changed since, by {_listed(named)}.",
        hint="" if named[-1].operation in NEVER_UNDONE else f"First: mem undo {named[-1].id}",
    )


def _in_force(events: Sequence[Event]) -> Sequence[Event]:
    """Events without those that others of them have undone, and these."""
    undone = {event.id: event.undone_by for event in events if event.undone_by}
    return [event for event in events if event.id not in {*undone, *undone.values()}] or events


def _bring_back(unit: Unit, rows: Sequence[tuple[Image, dict[str, Any]]], *, since: str) -> None:
    """Write memories, what goes out of the way first, then ask the gate about each that is live again.

    `since` is when the event was that is undone.
    """
    touched = {image.now["id"] for image, _ in rows}
    for image, wanted in sorted(rows, key=_turn):
        if _returns(image, wanted):
            _require_unique(unit.db, image, wanted, touched)
        _require_successor(unit.db, wanted)
        images.write(unit, image, wanted)
    for image, wanted in rows:
        if _returns(image, wanted):
            _require_admitted(unit, image.now["id"], since)
        if wanted.get("superseded_by") is not None and images.in_a_circle(unit.db, image.now["id"]):
            raise Refused(
                f"#{image.now['id']} would be its own successor: what replaced it was replaced by it."
            )


def _turn(row: tuple[Image, dict[str, Any]]) -> int:
    """A text may pass from one memory to another in one event: the one that has it gives it back first."""
    image, wanted = row
    if wanted.get("status", image.now["status"]) != Status.ACTIVE:
        return 0
    return 1 if image.now["status"] == Status.ACTIVE else 2


def _returns(image: Image, wanted: Mapping[str, Any]) -> bool:
    """Whether a memory says, live, what it does not say now."""
    status = wanted.get("status", image.now["status"])
    if status not in _LIVE:
        return False
    was_live = image.now["status"] == Status.ACTIVE or image.now["status"] == status
    return not was_live or bool({"fingerprint", "project", "entity_id"} & set(wanted))


def _require_unique(db: apsw.Connection, image: Image, wanted: Mapping[str, Any], touched: set[int]) -> None:
    row = {**image.now, **wanted}
    if row["status"] != Status.ACTIVE:
        return
    same = memories.same_content(db, row["fingerprint"], Kind(row["kind"]), row["project"], row["entity_id"])
    for other in same:
        if other not in touched and memories.one(db, other).status is Status.ACTIVE:
            raise Refused(
                f"#{other} says by now what #{row['id']} would say again.",
                hint=f"Archive it first: mem archive {other}",
            )


def _require_admitted(unit: Unit, memory_id: int, since: str) -> None:
    """Refuse what is rejected, or was judged in another memory since then.

    Beside what had been judged there before, this one was live: a person had overridden it.
    """
    verdict = admit(unit.db, identity_of(unit.db, memory_id), now=unit.at, itself=memory_id)
    refusal, known = verdict.refusal, verdict.memory
    if verdict.action is not Action.REFUSED or refusal is None:
        return
    if known is not None and (known.status_at or known.changed_at) <= since:
        return
    raise Refused(f"#{memory_id} would say again what is kept out. {refusal.reason}", hint=_way_out(refusal))


def _way_out(refusal: Refusal) -> str:
    if refusal.code in tuple(tombstones.Grave):
        return f"A person can lift that: mem restore {refusal.id} --force" if refusal.id else ""
    return refusal.hint


def _require_successor(db: apsw.Connection, wanted: Mapping[str, Any]) -> None:
    successor = wanted.get("superseded_by")
    if successor is not None and not images.exists(db, successor):
        raise Refused(f"This would be superseded by #{successor} again, which was forgotten since.")


def _require_rejections_kept(unit: Unit) -> None:
    """A rejection that is in force again binds what was written while it was not."""
    bound = tombstones.bound(unit.db, unit.event_id)
    if bound:
        raise Refused(
            f"#{bound[0]} says what would be rejected again; it was written since.",
            hint=f"Reject it first: mem reject {bound[0]} --reason '…'",
        )


def _what(image: Image) -> str:
    match image.table:
        case "memories":
            return f"#{image.now['id']}"
        case "settings":
            return f"the setting {image.now['key']}"
        case table:
            name = {"sessions": "session", "tombstones": "rejection", "entities": "entity"}.get(
                table, "relation"
            )
            return f"{name} {image.now['id']}"


def _named(event: Event) -> str:
    return f"{event.id} ({event.operation})"


def _listed(events: Sequence[Event]) -> str:
    named = [f"event {_named(event)}" for event in events[-MOST_NAMED:]]
    if len(events) > MOST_NAMED:
        named = [f"{len(events) - MOST_NAMED} others", *named]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
