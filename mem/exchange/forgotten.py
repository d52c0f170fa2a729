"""What was forgotten, here or in another store: what of a row, and of the log, may be kept.

A memory, or an entity, that was forgotten never comes back under its UUID, and nothing mentions it. A content
that was forgotten is out of every version that says it and was recorded before; a row goes if that is what it
says now. The reasons that were given with any of it are erased in the log, and where rows repeat them. All of
this depends on what the stores have said alone, not on the order in which it came.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mem.records.format import RecordKind
from mem.records.versions import History, Said, Version
from mem.store import arriving
from mem.store.arrivals import Arrivals

_TRUST = "trust"  # the operation that gives a reason for trust


@dataclass(slots=True)
class Forgotten:
    """What may not be kept, and what is to be looked at anew for that.

    `uids` may not come back, `fresh` are those that were not known before; `blanked` has the instant of each
    event whose texts are erased. `stale` are UUIDs of rows to look at anew, `events` those to be blanked.
    """

    arrivals: Arrivals
    is_any: bool = False
    uids: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)
    contents: set[bytes] = field(default_factory=set)
    blanked: dict[str, str] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    _given: dict[str, set[str]] = field(default_factory=dict)

    def begin(self) -> None:
        """Ask the store what is forgotten."""
        known = arriving.forgotten(self.arrivals.db)
        self.is_any = bool(known)
        if known != self.uids:
            self.uids = known
            self.blanked.clear()
            self._given.clear()
            for uid, at, subjects in arriving.blanked_events(self.arrivals.db):
                self._note(uid, at, subjects)
        for touched in (self.fresh, self.contents, self.stale, self.events):
            touched.clear()

    def add(self, uids: Iterable[str], content: bytes) -> None:
        """Something more is forgotten: these rows, and this content."""
        self.is_any = True
        new = set(uids) - self.uids
        self.uids |= new
        self.fresh |= new
        self.contents.add(content)

    def blank(self, uid: str, at: str, subjects: Iterable[str]) -> None:
        """The texts of an event are erased: the rows that it is about may repeat its reason."""
        if uid not in self.blanked:
            self._note(uid, at, subjects)
            self.stale |= set(subjects)

    def concerns(self, subjects: Iterable[str]) -> bool:
        """Whether an event is about something forgotten, so that its texts are erased."""
        return not self.uids.isdisjoint(subjects)

    def kept(self, row: History) -> History | None:
        """What may be kept of a row; None if it is to go."""
        if not self.is_any or row.kind in (RecordKind.SESSION, RecordKind.SETTING):
            return row
        if row.uid in self.uids and row.kind is not RecordKind.TOMBSTONE:
            return None
        if any(self._drafts(version.said) for version in row.versions):
            return None
        doomed = [version for version in row.versions if self._is_doomed(row, version)]
        self.events |= {
            event for version in doomed if (event := version.said.get("event"))
        } - self.blanked.keys()
        if row.versions[-1] in doomed:
            arriving.note_gone(self.arrivals.db, row.uid, row.base["changed_at"])
            return None
        if row.kind is RecordKind.MEMORY and arriving.is_gone(
            self.arrivals.db, row.uid, row.base["changed_at"]
        ):
            return None  # an earlier state of what has gone before
        versions = [version for version in row.versions if version not in doomed]
        return replace(row, versions=tuple(self._cleansed(row, versions)))

    def is_content(self, uid: str, said: Said, fingerprint: bytes) -> bool:
        """Whether what a version of a memory says was forgotten after it was recorded."""
        about = said.get("entity", "")
        graves = arriving.graves(self.arrivals.db, fingerprint, about, said.get("project"))
        return any(uid not in grave.left and said["recorded_at"] < grave.until for grave in graves)

    def _is_doomed(self, row: History, version: Version) -> bool:
        said = version.said
        match row.kind:
            case RecordKind.MEMORY:
                fingerprint = self.arrivals.derive(row.kind, said)["fingerprint"]
                return said.get("entity") in self.uids or self.is_content(row.uid, said, fingerprint)
            case RecordKind.RELATION:
                return said["from"] in self.uids or said["to"] in self.uids
            case _:
                return False

    def _drafts(self, said: Said) -> bool:
        """Whether a version proposes to change, in place, what was forgotten."""
        plan = said.get("proposal") or {}
        return bool(plan.get("in_place")) and not self.uids.isdisjoint(plan.get("replaces", ()))

    def _cleansed(self, row: History, versions: Iterable[Version]) -> Iterable[Version]:
        """Versions without what they say of what was forgotten, and without reasons that are erased."""
        given = self._given.get(row.uid, set())
        distrusted = False
        for version in versions:
            said = without(version.said, self.uids)
            event = said.get("event", "")
            gone = set[str]()
            if row.kind is RecordKind.TOMBSTONE and (
                said.get("memory") in self.uids or event in self.blanked
            ):
                gone.add("reason")
            if given and said.get("status_at") in given:
                gone.add("status_reason")
            if given and event and arriving.operation(self.arrivals.db, event) == _TRUST:
                distrusted = event in self.blanked
            if distrusted:
                gone.add("trust_reason")
            if gone & said.keys():
                said = {name: value for name, value in said.items() if name not in gone}
            yield version if said is version.said else replace(version, said=said)

    def _note(self, uid: str, at: str, subjects: Iterable[str]) -> None:
        self.blanked[uid] = at
        for subject in subjects:
            self._given.setdefault(subject, set()).add(at)


def without(said: Said, gone: set[str]) -> Said:
    """A version without what it says of rows that are gone."""
    for name in ("superseded_by", "merged_into"):
        if said.get(name) in gone:
            said = {key: value for key, value in said.items() if key != name}
    if not gone.isdisjoint(said.get("compressed_from", ())):
        said = {**said, "compressed_from": [uid for uid in said["compressed_from"] if uid not in gone]}
    plan = said.get("proposal")
    return {**said, "proposal": _plan_without(plan, gone)} if plan and _names(plan, gone) else said


def _names(plan: Mapping[str, Any], gone: set[str]) -> bool:
    return not gone.isdisjoint(plan.get("replaces", ()))


def _plan_without(plan: Mapping[str, Any], gone: set[str]) -> Said:
    kept = [place for place, uid in enumerate(plan["replaces"]) if uid not in gone]
    lists = {name: [plan[name][place] for place in kept] for name in ("replaces", "seen") if name in plan}
    return {**plan, **lists, "reason": None}
