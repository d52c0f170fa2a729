"""Merging the records of an export into a store: by UUID, so that any order of files gives the same store.

How an import uses this:

    merge = Merge(has_vectors=store.has_vectors)     # one for the whole import
    with unit_of_work(store, "import", actor) as unit:      # one transaction after another
        merge.begin(unit)
        for record in some:               # in the order of RecordKind; as `gathered` gives it, and checked
            outcome = merge.take(record)
        merge.settle()                    # always, before the indexes are refreshed
        entity_search.refresh(unit.db, unit.entity_ids)
        index.refresh(unit.db, unit.memory_ids | unit.to_index, has_vectors=store.has_vectors)

`unit.memory_ids` and `unit.entity_ids` hold what was touched, by `settle` too. A unit in which nothing
changed has no event. After a rollback the `Merge` is of no use any more. Models and vectors are not for
`take`. What `merge.erased` holds at the end was forgotten elsewhere and is out of this store;
`forgetting.sweep` takes it out of the other files.

The rules: a row is the union of its versions (`versions`), without what was forgotten (`forgotten`); what
follows from several rows is derived (`settlement`); usage is the greatest number of each store; an event is
what its hash says.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from mem.exchange.settlement import Settlement
from mem.records import versions
from mem.records.format import IDENTITY, RecordKind, kind_of
from mem.records.versions import History, Said, history
from mem.results import Refusal
from mem.search.mentions import key
from mem.store import arriving
from mem.store.arrivals import Arrivals, origin_of_event
from mem.store.events import ORIGIN_HERE, Unit
from mem.store.tombstones import Grave
from mem.truth import admission
from mem.truth.fingerprint import fingerprint, joined_text, text_hash
from mem.truth.settling import name_of
from mem.values import EntityStatus, Kind, Notice, Status

_TIMES = frozenset(("recorded_at", "changed_at", "event", "status_at"))
# What a source that knows only the present cannot say of a memory that was judged here.
_FATE = ("status", "status_reason", "superseded_by", "valid_to", "expires_at", "trust", "trust_reason")


class MergeAction(StrEnum):
    """What became of a record."""

    ADDED = "added"
    IDENTICAL = "identical"
    UPDATED = "updated"
    MERGED = "merged"
    REFUSED = "refused"
    MALFORMED = "malformed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one record; `uid` and `id` where it has them.

    `reason` says why, where it was refused, malformed, skipped or merged with another row.
    """

    action: MergeAction
    uid: str | None = None
    id: int | None = None
    reason: str = ""
    refusal: Refusal | None = None
    warnings: tuple[Notice, ...] = ()


class Merge:
    """The merge of one import, over all its transactions; see the head of this module."""

    def __init__(self, *, has_vectors: bool = True) -> None:
        self._arrivals = Arrivals(derived)
        self._settlement = Settlement(self._arrivals, has_vectors)

    @property
    def erased(self) -> Any:
        """What went out of the store because it was forgotten elsewhere, as `erasure.Erased`."""
        return self._settlement.erased

    def begin(self, unit: Unit) -> None:
        """Go on in this unit of work."""
        self._arrivals.begin(unit)
        self._settlement.begin()

    def take(self, record: Mapping[str, Any], given: Collection[str] | None = None) -> Outcome:
        """Write one record: the union of its versions and those that are here.

        `given` are the fields that a source of another format has; what it leaves out is as it is here.
        """
        kind = kind_of(record)
        if kind is RecordKind.EVENT:
            return self._event(record)
        if kind is RecordKind.FOREIGN:
            is_new = self._arrivals.keep_foreign(dict(record))
            return Outcome(MergeAction.ADDED if is_new else MergeAction.IDENTICAL)
        if kind is None or kind not in IDENTITY:
            return Outcome(MergeAction.SKIPPED, reason=f"A record of kind {record['record']} is no row.")
        row_id = self._arrivals.find(kind, dict(record))
        local = None if row_id is None else self._settlement.read(kind, row_id)
        row = self._incoming(kind, record, given, local)
        whole = row if local is None else versions.union(local, row) if row is not None else local
        if whole is not None and row is None and record.get("usage"):
            whole = replace(whole, usage=versions.most((*whole.usage, *record["usage"])))
        whole = None if whole is None else self._settlement.forgotten.kept(whole)
        if whole is None:
            if row_id is not None and kind is RecordKind.RELATION:
                self._settlement.relations.add(row_id)
            elif row_id is not None:
                self._settlement.doom(kind, row_id)
            return _forgotten(record["uid"])
        if local is not None and versions.same(local, whole):
            return self._counted(whole, row_id, local, MergeAction.IDENTICAL)
        match kind:
            case RecordKind.MEMORY:
                return self._memory(whole, row_id, local)
            case RecordKind.ENTITY:
                number = self._entity(whole, row_id, local)
            case RecordKind.RELATION:
                ends = {version.said[end] for version in whole.versions for end in ("from", "to")}
                missing = [uid for uid in ends if self._arrivals.number("entities", uid) is None]
                if missing:
                    told = f"There is no entity {min(missing)}."
                    return Outcome(MergeAction.MALFORMED, whole.uid, reason=told)
                number = self._relation(whole, row_id)
            case RecordKind.TOMBSTONE:
                if self._arrivals.number("tombstones", whole.uid) not in (None, row_id):
                    told = "It has the id of a rejection of something else."
                    return Outcome(MergeAction.MALFORMED, whole.uid, reason=told)
                number = self._tombstone(whole, row_id)
            case _:
                number = self._settlement.place(whole, row_id)
        return Outcome(_action(local, whole), whole.uid or None, number)

    def settle(self) -> None:
        """Work out what follows from what was taken since `begin`, and write it."""
        self._settlement.settle()
        self._arrivals.finish()

    def _incoming(
        self,
        kind: RecordKind,
        record: Mapping[str, Any],
        given: Collection[str] | None,
        local: History | None,
    ) -> History | None:
        """What a record says; None if that is known."""
        if given is None and "changed_at" in record:
            row = history(kind, record, self._arrivals)
            return row if row.settled is None else replace(row, settled=None)
        at = self._arrivals.unit.at
        said = {"recorded_at": record.get("changed_at", at), "changed_at": at, **record}
        if local is None:
            return history(kind, said, self._arrivals)
        names = set(record if given is None else given) - _TIMES - set(IDENTITY[kind]) - {"record", "usage"}
        if any(_agrees(version.said, record, names) for version in local.versions):
            return None
        earlier = [
            version.said for version in local.versions if version.said["changed_at"] <= said["changed_at"]
        ]
        base = earlier[-1] if earlier else local.versions[0].said
        if kind is RecordKind.MEMORY and base["status"] not in (Status.ACTIVE, Status.PROPOSED):
            names -= set(_FATE)
        wanted = {name: record.get(name) for name in names}
        wanted["extra"] = {**base.get("extra", {}), **(record.get("extra") or {})}
        kept = {name: value for name, value in base.items() if name != "event"}
        whole = {**record, **kept, **wanted, "changed_at": said["changed_at"]}
        whole.pop("usage", None)
        return history(kind, whole, self._arrivals)

    def _event(self, record: Mapping[str, Any]) -> Outcome:
        uid, db = record["uid"], self._arrivals.db
        texts = dict(record.get("texts", {}))
        forgotten, subjects = self._settlement.forgotten, record.get("subjects", ())
        if forgotten.concerns(subjects):
            texts = {name: {**entry, "text": "", "salt": ""} for name, entry in texts.items()}
        if any(not entry.get("salt") for entry in texts.values()):
            forgotten.blank(uid, record["at"], subjects)
        if origin_of_event(db, uid) is not None:
            return Outcome(self._blanked(uid, texts), uid)
        origin = self._arrivals.origin(record["origin"])
        if origin == ORIGIN_HERE:
            told = "It bears the origin of this store, which did not write it: it comes from a copy."
            return Outcome(MergeAction.SKIPPED, uid, reason=told)
        sql = "SELECT uid FROM events WHERE origin_id = ? AND sequence = ?"
        if (other := db.execute(sql, (origin, record["sequence"])).get) is not None:
            told = f"Its place in the chain of its store, {record['sequence']}, is that of event {other}."
            return Outcome(MergeAction.SKIPPED, uid, reason=told)
        self._arrivals.add_event(dict(record), texts)
        return Outcome(MergeAction.ADDED, uid)

    def _blanked(self, uid: str, texts: Mapping[str, Any]) -> MergeAction:
        """Erase the texts of an event that are erased in the one that comes."""
        db = self._arrivals.db
        kept = json.loads(db.execute("SELECT texts FROM events WHERE uid = ?", (uid,)).get)
        erased = {name: entry for name, entry in texts.items() if not entry.get("salt")}
        now = {name: erased.get(name, entry) for name, entry in kept.items()}
        if now == kept:
            return MergeAction.IDENTICAL
        self._arrivals.rewrite_texts(uid, now)
        return MergeAction.UPDATED

    def _memory(self, row: History, row_id: int | None, local: History | None) -> Outcome:
        settlement, said = self._settlement, row.base
        content = derived(RecordKind.MEMORY, said)["fingerprint"]
        if local is not None and row_id is not None:
            settlement.contents |= {content, derived(RecordKind.MEMORY, local.base)["fingerprint"]}
        about = settlement.lives_on(said.get("entity")).uid
        stone = settlement.rejected(row, content)
        twin = None
        if said["status"] == Status.ACTIVE and stone is None:
            place = said["kind"], said.get("project"), about
            twin = arriving.twin(self._arrivals.db, content, *place, row_id)
        if about == said.get("entity", "") and stone is None and twin is None:
            number = settlement.place(row, row_id)
            if "superseded_by" in said and local is not None:
                settlement.contents.add(content)
        else:
            settlement.contents.add(content)
            number = settlement.hold(row, row_id)
        if row.usage:
            self._arrivals.count(number, row.usage)
        if stone is not None:
            return Outcome(
                MergeAction.REFUSED, row.uid, number, stone.reason or "", admission.rejected(stone)
            )
        if twin is not None:
            return Outcome(MergeAction.MERGED, row.uid, number, f"It says the same as #{twin}.")
        return Outcome(_action(local, row), row.uid, number)

    def _entity(self, row: History, row_id: int | None, local: History | None) -> int:
        settlement, said = self._settlement, row.base
        is_live = said["status"] == EntityStatus.ACTIVE
        live = arriving.entity_named(self._arrivals.db, *name_of(said)) if is_live else None
        fate = ("status", "merged_into")
        if row_id is not None and local is not None:
            if any(local.present.get(name) != said.get(name) for name in fate):
                settlement.move(row_id)
            settlement.entities.add(row_id)
            if local.settled is not None or name_of(local.base) != name_of(said):
                settlement.touch_namesakes(local.base)
        clashes = live is not None and live != row_id
        number = settlement.hold(row, row_id) if clashes else settlement.place(row, row_id)
        if clashes or not is_live:
            settlement.entities.add(number)
        return number

    def _relation(self, row: History, row_id: int | None) -> int:
        settlement, said = self._settlement, row.base
        begins, ends = (settlement.lives_on(said[end]).uid for end in ("from", "to"))
        is_moved = (begins, ends) != (said["from"], said["to"])
        others = arriving.relations_between(self._arrivals.db, begins, ends, said["type"]) - {row_id}
        if row_id is not None:
            settlement.relations |= arriving.relations_beside(self._arrivals.db, row_id)
        if not is_moved and not others:
            number = settlement.place(row, row_id)
            if row_id is not None:
                settlement.relations.add(number)
            return number
        number = settlement.hold(row, row_id)
        settlement.relations.add(number)
        return number

    def _tombstone(self, row: History, row_id: int | None) -> int:
        settlement = self._settlement
        settlement.has_stones = True
        number = settlement.place(row, row_id)
        settlement.contents.add(bytes.fromhex(row.identity["fingerprint"]))
        buried = [one.said for one in row.versions if one.said["kind"] == Grave.FORGOTTEN]
        if buried:
            content = bytes.fromhex(row.identity["fingerprint"])
            settlement.forgotten.add((uid for said in buried if (uid := said.get("memory"))), content)
        return number

    def _counted(self, row: History, row_id: int | None, local: History, action: MergeAction) -> Outcome:
        """The outcome of a row that says nothing new; its usage may."""
        if row_id is None:
            raise AssertionError("a row that is known has a number")
        counted = versions.most(row.usage)
        if counted != versions.most(local.usage):
            self._arrivals.count(row_id, counted)
            action = MergeAction.MERGED
        return Outcome(action, row.uid or None, row_id)


def derived(kind: RecordKind, said: Said) -> Mapping[str, Any]:
    """The columns that a store works out from what a version says."""
    match kind:
        case RecordKind.MEMORY:
            texts = said.get("title"), said["content"], said.get("rationale"), said.get("alternatives")
            return _keys_of_memory(said["kind"], *texts)
        case RecordKind.ENTITY:
            return _keys_of_entity(said["name"], said["type"], tuple(said["aliases"]), said.get("summary"))
        case _:
            return {}


@lru_cache(maxsize=64)
def _keys_of_memory(kind: str, title: str | None, content: str, *rest: str | None) -> Mapping[str, Any]:
    return {
        "fingerprint": fingerprint(Kind(kind), title, content),
        "text_hash": text_hash(joined_text(title, content, *rest)),
    }


@lru_cache(maxsize=64)
def _keys_of_entity(
    name: str, type_: str, aliases: tuple[str, ...], summary: str | None
) -> Mapping[str, Any]:
    from mem.truth.entities import Description

    return {"key": key(name), "text_hash": text_hash(Description(name, type_, aliases, summary).text)}


def _action(local: History | None, whole: History) -> MergeAction:
    if local is None:
        return MergeAction.ADDED
    newest = whole.versions[-1]
    is_new = (newest.key, newest.said) != (local.versions[-1].key, local.versions[-1].said)
    return MergeAction.UPDATED if is_new else MergeAction.MERGED


def _agrees(version: Said, record: Mapping[str, Any], names: Collection[str]) -> bool:
    """Whether a version says all that a record does of these fields."""
    for name in names:
        mine, theirs = version.get(name) or None, record.get(name) or None
        if name == "extra":
            mine = {key: value for key, value in (mine or {}).items() if key in (theirs or {})} or None
        if mine != theirs:
            return False
    return True


def _forgotten(uid: str) -> Outcome:
    reason = "This was forgotten."
    refusal = Refusal(Grave.FORGOTTEN.value, reason, "A person can store it anew: mem store '…' --force")
    return Outcome(MergeAction.REFUSED, uid, None, reason, refusal)
