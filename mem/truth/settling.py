"""What follows when rows of several stores meet: one entity under one name, one live memory of one content.

None of it is a version of a row. It is worked out from what the rows say and when each was recorded, and from
nothing else, so every store that holds the same versions has the same state, in whatever order they came:

- entities: of live ones with one project, type and name the smallest UUID lives on, with the names of the
  others; a circle of merges ends at its smallest UUID;
- what is about a merged entity is about the one that it lives on in;
- relations: of live ones of one type between the same two the smallest UUID stays;
- rejections: a live memory that was recorded before a rejection in force that binds it is rejected;
- memories: of live ones with one content, kind, project and entity the smallest UUID stays and supersedes the
  others; of a circle of successors the link that was made first is undone.

A derived state begins after the version that it rests on, and not before its cause was recorded. It is
marked, and goes when its cause goes; see `mem.records.versions`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mem import clock
from mem.records.versions import History, Said, marked
from mem.truth.admission import ENDED, SAME_CONTENT
from mem.values import EntityStatus, Status

ENTITY, CIRCLE, REJECTED, SAME = "entity", "circle", "rejected", "same"
LIVE = (Status.ACTIVE.value, Status.PROPOSED.value)


@dataclass(frozen=True, slots=True)
class Cause:
    """What settles a row: its UUID, and when it was recorded."""

    uid: str
    recorded_at: str
    reason: str | None = None


@dataclass(slots=True)
class Derived:
    """What is derived from a version, one thing after another."""

    said: Said
    at: str = ""
    why: list[str] = field(default_factory=list)
    by: str = ""
    _changes: Said = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.at = _after(self.said["changed_at"])

    def get(self, name: str) -> Any:
        """What the row says by now."""
        return self._changes.get(name, self.said.get(name))

    def change(self, why: str, by: str, since: str, **changes: Any) -> None:
        """Derive one thing more, which does not begin before `since`."""
        self._changes |= changes
        self.at = max(self.at, since)
        self.why.append(why)
        self.by = by

    def result(self) -> Said | None:
        """The derived present; None where the version itself is the present."""
        if not self.why:
            return None
        changes = dict(self._changes)
        if "status_at" in changes:
            changes["status_at"] = self.at
        return marked(self.said, changes, at=self.at, why=", ".join(self.why), by=self.by)


def entities(rows: Sequence[History], circles: Iterable[Sequence[str]]) -> dict[str, Said | None]:
    """What is derived of entities, by UUID; `rows` hold every live one of each name among them.

    `circles` are the UUIDs of entities whose merges lead back to themselves.
    """
    found = {row.uid: Derived(row.base) for row in rows}
    for circle in circles:
        first = min(circle)
        if first in found:
            found[first].change(CIRCLE, max(circle), "", status=EntityStatus.ACTIVE.value, merged_into=None)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if found[row.uid].get("status") == EntityStatus.ACTIVE:
            groups.setdefault(name_of(row.base), []).append(row.uid)
    for uids in groups.values():
        first, *others = sorted(uids)
        for uid in others:
            since = _after(found[first].said["recorded_at"])
            found[uid].change(ENTITY, first, since, status=EntityStatus.MERGED.value, merged_into=first)
        if others:
            _join(found[first], [(uid, found[uid].said) for uid in others])
    return {uid: derived.result() for uid, derived in found.items()}


def name_of(said: Said) -> tuple[str, str, str]:
    """What no two live entities share."""
    from mem.search.mentions import key

    return said.get("project", ""), said["type"], key(said["name"])


def _join(first: Derived, others: Sequence[tuple[str, Said]]) -> None:
    """The entity that lives on is found by all their names, and has the first summary."""
    from mem.search.mentions import key
    from mem.truth.entities import MOST_ALIASES

    names = {key(alias): alias for alias in first.said["aliases"]}
    summary = first.said.get("summary")
    for uid, said in others:
        for name in (said["name"], *said["aliases"]):
            if key(name) != key(first.said["name"]) and len(names) < MOST_ALIASES:
                names.setdefault(key(name), name)
        summary = summary or said.get("summary")
        since = _after(said["recorded_at"])
        if list(names.values()) != first.get("aliases") or summary != first.get("summary"):
            first.change(ENTITY, uid, since, aliases=list(names.values()), summary=summary)


def relations(rows: Sequence[History], lives_on: Mapping[str, Cause]) -> dict[str, Said | None]:
    """What is derived of relations, by UUID; `rows` hold every live one of one type between two entities.

    `lives_on` is what each entity lives on in, itself where it was not merged.
    """
    found = {row.uid: Derived(row.base) for row in rows}
    groups: dict[tuple[str, str, str], list[str]] = {}
    for uid, derived in found.items():
        _move(derived, "from", lives_on)
        _move(derived, "to", lives_on)
        ends = derived.get("from"), derived.get("to")
        if derived.said["status"] != EntityStatus.ACTIVE:
            continue
        if ends[0] == ends[1] and derived.said["from"] != derived.said["to"]:
            derived.change(ENTITY, ends[0], "", status=EntityStatus.MERGED.value)
        elif derived.said.get("valid_to") is None:
            groups.setdefault((*ends, derived.said["type"]), []).append(uid)
    for uids in groups.values():
        first, *others = sorted(uids)
        since = _after(found[first].said["recorded_at"])
        for uid in others:
            found[uid].change(SAME, first, since, status=EntityStatus.MERGED.value)
    return {uid: derived.result() for uid, derived in found.items()}


def memories(
    rows: Sequence[History],
    *,
    lives_on: Mapping[str, Cause],
    rejected: Mapping[str, Cause],
    circles: Mapping[str, str],
) -> dict[str, Said | None]:
    """What is derived of the memories of one content, by UUID.

    `rejected` is the rejection that binds a memory, `circles` the successor of a memory whose successors lead
    back to it, if its link is the one to undo.
    """
    found = {row.uid: Derived(row.base) for row in rows}
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        derived = found[row.uid]
        _move(derived, "entity", lives_on)
        if row.uid in circles:
            derived.change(CIRCLE, circles[row.uid], "", **_before_link(row))
        if derived.get("status") not in LIVE:
            continue
        if (cause := rejected.get(row.uid)) is not None:
            said = {"status": Status.REJECTED.value, "status_reason": cause.reason, "status_at": ""}
            derived.change(REJECTED, cause.uid, cause.recorded_at, **said)
        elif derived.get("status") == Status.ACTIVE:
            place = (derived.said.get("project", ""), derived.said["kind"], derived.get("entity") or "")
            groups.setdefault(place, []).append(row.uid)
    for uids in groups.values():
        first, *others = sorted(uids)
        since = _after(found[first].said["recorded_at"])
        for uid in others:
            said = {"status": Status.SUPERSEDED.value, "status_reason": SAME_CONTENT, "status_at": ""}
            found[uid].change(SAME, first, since, **said, superseded_by=first)
    return {uid: derived.result() for uid, derived in found.items()}


def _before_link(row: History) -> Said:
    """What a memory said of its own fate before it was superseded; that it ended, where it said nothing."""
    names = ("status", "status_reason", "status_at", "valid_to")
    for version in reversed(row.versions):
        if version.said.get("superseded_by") is None:
            return {"superseded_by": None, **{name: version.said.get(name) for name in names}}
    return {"superseded_by": None, "status": Status.SUPERSEDED.value, "status_reason": ENDED}


def _move(derived: Derived, field_: str, lives_on: Mapping[str, Cause]) -> None:
    uid = derived.said.get(field_)
    cause = lives_on.get(uid) if uid else None
    if cause is not None and cause.uid != uid:
        derived.change(ENTITY, cause.uid, _after(cause.recorded_at), **{field_: cause.uid})


def _after(instant: str) -> str:
    return clock.to_text(clock.from_text(instant) + clock.MICROSECOND)
