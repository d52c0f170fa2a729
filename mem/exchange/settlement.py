"""What follows from what came in, worked out at the end of each transaction; see `truth.settling`.

What is worked out anew is what a change can reach, and no more: all memories of one content, all entities of
one name, all relations of one type between two entities, and what is about entities that live on elsewhere.
Rows that would clash with a live one are placed out of its way and held until then.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import apsw

from mem.exchange.forgotten import Forgotten
from mem.records.format import RecordKind
from mem.records.versions import History, Said
from mem.search import entities as entity_index
from mem.search import index
from mem.store import arriving, entities, erasure, tombstones
from mem.store.arrivals import Arrivals
from mem.store.erasure import Erased
from mem.truth import settling
from mem.truth.settling import Cause
from mem.values import EntityStatus, Status

_AWAY = {RecordKind.MEMORY: Status.ARCHIVED.value, RecordKind.ENTITY: "held", RecordKind.RELATION: "held"}
_FORGETTING = {RecordKind.ENTITY: "entities", RecordKind.MEMORY: "memories"}
# What may be named as the successor of another row, and by which column.
_NAMED_BY = {
    RecordKind.MEMORY: ("memories", "superseded_by"),
    RecordKind.ENTITY: ("entities", "merged_into"),
}


@dataclass(slots=True)
class Settlement:
    """What was touched since `begin`, and what follows from it.

    `contents` are fingerprints of memories; `erased` is what went out of this store since the merge began,
    because it was forgotten elsewhere.
    """

    arrivals: Arrivals
    has_vectors: bool
    contents: set[bytes] = field(default_factory=set)
    entities: set[int] = field(default_factory=set)
    relations: set[int] = field(default_factory=set)
    erased: Erased = field(default_factory=Erased)
    forgotten: Forgotten = field(init=False)
    has_stones: bool = True
    _doomed: dict[RecordKind, set[int]] = field(default_factory=lambda: defaultdict(set))
    _moved: set[int] = field(default_factory=set)
    _held: dict[tuple[RecordKind, int], History] = field(default_factory=dict)
    _lives_on: dict[str, Cause] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.forgotten = Forgotten(self.arrivals)

    @property
    def db(self) -> apsw.Connection:
        """The connection of the unit of work."""
        return self.arrivals.db

    def begin(self) -> None:
        """Nothing is touched yet."""
        self.forgotten.begin()
        self.has_stones = arriving.has_stones(self.db)
        for touched in (self.contents, self.entities, self.relations, self._moved):
            touched.clear()
        for cache in (self._held, self._lives_on, self._doomed):
            cache.clear()

    def place(self, row: History, row_id: int | None) -> int:
        """Write a row that clashes with none."""
        return self.arrivals.place(row, row_id)

    def hold(self, row: History, row_id: int | None) -> int:
        """Write a row out of the way of those that it may clash with, until `settle`."""
        away = _AWAY[row.kind] if row.base["status"] == "active" else None
        number = self.arrivals.place(row, row_id, parked=away)
        self._held[row.kind, number] = row
        return number

    def read(self, kind: RecordKind, row_id: int) -> History:
        """A row with all its versions."""
        return self._held.get((kind, row_id)) or self.arrivals.read(kind, row_id)

    def lives_on(self, uid: str | None) -> Cause:
        """What an entity lives on in: itself, if it was not merged."""
        if not uid:
            return Cause("", "")
        known = self._lives_on.get(uid)
        if known is None:
            known = self._lives_on[uid] = Cause(*entities.lives_on(self.db, uid))
        return known

    def doom(self, kind: RecordKind, row_id: int) -> None:
        """Erase a row at the end of the transaction; until then it is out of the way."""
        if kind is RecordKind.ENTITY:
            self.move(row_id)
        self.arrivals.park(kind, row_id, _AWAY[kind])
        self._held.pop((kind, row_id), None)
        self._doomed[kind].add(row_id)

    def move(self, row_id: int) -> None:
        """Note that an entity may live on elsewhere from now on; to be called before it changes."""
        family = set(erasure.family(self.db, [row_id]))
        targets = (self.lives_on(uid).uid for uid in arriving.uids(self.db, "entities", family))
        self._moved |= family | {n for uid in targets if (n := self.arrivals.number("entities", uid))}

    def touch_namesakes(self, said: Said) -> None:
        """Look anew at the live entity of a name that another one has given up."""
        live = arriving.entity_named(self.db, *settling.name_of(said))
        self.entities |= {live} if live is not None else set()

    def rejected(self, row: History, fingerprint: bytes) -> tombstones.Tombstone | None:
        """The rejection in force that binds a live memory, if it was recorded before that."""
        if not self.has_stones or row.base["status"] not in settling.LIVE:
            return None
        about = self.lives_on(row.base.get("entity")).uid
        stones = tombstones.binding(self.db, fingerprint, about, row.base.get("project"))
        older = (stone for stone in stones if row.base["recorded_at"] < stone.recorded_at)
        return next((stone for stone in older if row.uid not in stone.left), None)

    def settle(self) -> None:
        """Write what follows from all that was touched."""
        self._link()
        self._forget()
        self._settle_entities()
        self._settle_relations()
        if self.contents and arriving.has_circles(self.db):
            self.contents |= arriving.contents_in_circles(self.db)
        done: set[bytes] = set()
        while self.contents - done:
            content = min(self.contents - done)
            done.add(content)
            self._settle_memories(content)
        self._erase()

    # What was forgotten

    def _forget(self) -> None:
        """Take out what is forgotten by now, and look anew at every row that may repeat it."""
        forgotten, db = self.forgotten, self.db
        for kind, table in _FORGETTING.items():
            for number in sorted(arriving.numbers(db, table, forgotten.fresh)):
                self.doom(kind, number)
        if forgotten.fresh:
            drafts = [
                n for n in arriving.drafts_of(db, forgotten.fresh) if n not in self._doomed[RecordKind.MEMORY]
            ]
            for number in drafts:
                self.doom(RecordKind.MEMORY, number)
        gone = self._doomed[RecordKind.ENTITY]
        for number in sorted(arriving.leaning(db, "entities", "merged_into", gone)):
            kept = forgotten.kept(replace(self.read(RecordKind.ENTITY, number), settled=None))
            if kept is not None:
                self.hold(kept, number)
                self.entities.add(number)
        told = arriving.once_said(db, forgotten.contents)
        told |= set(erasure.about(db, sorted(gone)))
        for number in sorted(told):
            self._keep(RecordKind.MEMORY, number)
        # Looking at a row may show more events that are to be blanked, and these more rows.
        while forgotten.events or forgotten.stale or forgotten.fresh:
            for uid, at, subjects in arriving.blank(db, forgotten.fresh, forgotten.events):
                forgotten.blank(uid, at, subjects)
            events, stale = set(forgotten.events), forgotten.stale | forgotten.fresh
            for touched in (forgotten.events, forgotten.stale, forgotten.fresh):
                touched.clear()
            for number in sorted(arriving.numbers(db, "memories", stale)):
                self._keep(RecordKind.MEMORY, number)
            for number in sorted(arriving.stones_of(db, stale, events | forgotten.blanked.keys())):
                self._keep(RecordKind.TOMBSTONE, number)
            erasure.forget_mentions(db, sorted(stale & forgotten.uids))

    def _keep(self, kind: RecordKind, number: int) -> None:
        """Write a row anew without what may not be kept of it."""
        if number in self._doomed[kind]:
            return
        row = self.read(kind, number)
        kept = self.forgotten.kept(row)
        if kept is None:
            self.doom(kind, number)
        elif kept.versions != row.versions:
            if kind is RecordKind.TOMBSTONE:
                self.place(kept, number)
                self.contents.add(bytes.fromhex(kept.identity["fingerprint"]))
            else:
                self.contents |= {arriving.content(self.db, number)}
                self.hold(kept, number)
                self.contents |= {arriving.content(self.db, number)}

    def _erase(self) -> None:
        """Erase what is to go; what named it as its successor waits for it, unless nothing may name it."""
        for kind, (table, column) in _NAMED_BY.items():
            if not (numbers := sorted(self._doomed[kind])):
                continue
            leaning = {n: self.read(kind, n) for n in arriving.leaning(self.db, table, column, numbers)}
            arriving.unlink(self.db, table, column, numbers)
            if kind is RecordKind.ENTITY:
                self._erase_entities(numbers)
            else:
                self._erase_memories(numbers)
            self.arrivals.forget_numbers()
            for number, row in leaning.items():
                kept = self.forgotten.kept(replace(row, settled=None))
                if kept is not None:
                    self.arrivals.place(replace(kept, settled=row.settled), number)

    def _erase_memories(self, numbers: Sequence[int]) -> None:
        gone = erasure.erase(self.arrivals.unit, numbers, words=False)
        index.erase(self.db, numbers, has_vectors=self.has_vectors)
        erasure.drop_vectors(self.db, gone.hashes)
        self.erased = erasure.together(self.erased, gone)
        for number in numbers:
            self.arrivals.unit.memory_ids.pop(number, None)

    def _erase_entities(self, numbers: Sequence[int]) -> None:
        gone = erasure.erase_entities(self.arrivals.unit, numbers, words=False)
        entity_index.erase(self.db, numbers)
        erasure.drop_vectors(self.db, gone.hashes)
        self.erased = erasure.together(self.erased, gone)
        for number in numbers:
            self.arrivals.unit.entity_ids.pop(number, None)

    # Entities

    def _settle_entities(self) -> None:
        if not (self.entities or self._doomed[RecordKind.ENTITY]):
            return
        rows, circles = self._namesakes()
        derived = settling.entities(list(rows.values()), circles)
        changed = {n: row for n, row in rows.items() if self._differs(row, n, derived[row.uid])}
        for number, row in changed.items():
            before, after = row.settled or row.base, derived[row.uid] or row.base
            names = ("status", "merged_into")
            if any(before.get(name) != after.get(name) for name in names):
                self.move(number)
        self._write(RecordKind.ENTITY, changed, derived)
        self._lives_on.clear()
        affected = self._moved | set(erasure.family(self.db, self._moved)) if self._moved else set()
        self.contents |= arriving.contents_about(self.db, affected)
        self.relations |= arriving.relations_of(self.db, affected)

    def _namesakes(self) -> tuple[dict[int, History], list[list[str]]]:
        """The touched entities, all that share a name with one of them, and the circles among them."""
        gone, rows = self._doomed[RecordKind.ENTITY], dict[int, History]()
        wanted = (self.entities | arriving.settled_entities(self.db)) - gone
        while wanted - rows.keys():
            for number in wanted - rows.keys():
                row = rows[number] = self.read(RecordKind.ENTITY, number)
                live = arriving.entity_named(self.db, *settling.name_of(row.base))
                wanted |= {live} if live is not None else set()
        circles = {tuple(sorted(circle)) for row in rows.values() if (circle := self._circle(row))}
        missing = {self.arrivals.number("entities", uid) for circle in circles for uid in circle}
        for number in {n for n in missing if n is not None} - rows.keys() - gone:
            rows[number] = self.read(RecordKind.ENTITY, number)
        return rows, [list(circle) for circle in circles]

    def _circle(self, row: History) -> list[str]:
        """The UUIDs of merges that lead back to an entity; none where they end."""
        followed = [row.uid]
        said = row.base
        while said["status"] == EntityStatus.MERGED and (into := said.get("merged_into")):
            if into == row.uid:
                return followed
            number = self.arrivals.number("entities", into)
            if into in followed or number is None:
                return []
            followed.append(into)
            said = self.read(RecordKind.ENTITY, number).base
        return []

    # Links that waited

    def _link(self) -> None:
        for kind, number in self.arrivals.linked():
            if (kind, number) in self._held:
                continue
            row = self.arrivals.read(kind, number)
            if kind is RecordKind.ENTITY:
                self.move(number)
                self.entities.add(number)
            self.arrivals.place(row, number)
            if kind is RecordKind.MEMORY and arriving.in_a_circle(self.db, number):
                self.contents.add(arriving.content(self.db, number))

    # Relations

    def _settle_relations(self) -> None:
        if not self.relations:
            return
        rows: dict[int, History] = {}
        wanted = set(self.relations)
        for number in sorted(wanted):
            if self.forgotten.kept(self.read(RecordKind.RELATION, number)) is None:
                arriving.drop_relations(self.db, [number])
                self._held.pop((RecordKind.RELATION, number), None)
                wanted.discard(number)
        while wanted - rows.keys():
            for number in wanted - rows.keys():
                row = rows[number] = self.read(RecordKind.RELATION, number)
                begins, ends = (self.lives_on(row.base[end]).uid for end in ("from", "to"))
                wanted |= arriving.relations_between(self.db, begins, ends, row.base["type"])
        ends_of = {row.base[end] for row in rows.values() for end in ("from", "to")}
        derived = settling.relations(list(rows.values()), {uid: self.lives_on(uid) for uid in ends_of})
        changed = {n: row for n, row in rows.items() if self._differs(row, n, derived[row.uid])}
        self._write(RecordKind.RELATION, changed, derived)

    # Memories

    def _settle_memories(self, content: bytes) -> None:
        rows: dict[int, History] = {}
        rejected, circles = dict[str, Cause](), dict[str, str]()
        for number in arriving.saying(self.db, content):
            if number in self._doomed[RecordKind.MEMORY]:
                continue
            row = rows[number] = self.read(RecordKind.MEMORY, number)
            if (stone := self.rejected(row, content)) is not None:
                rejected[row.uid] = Cause(stone.uid, stone.recorded_at, stone.reason)
            if (first := self._first_link(row)) == row.uid:
                circles[row.uid] = row.base["superseded_by"]
            elif first is not None and (victim := self.arrivals.number("memories", first)) is not None:
                self.contents.add(arriving.content(self.db, victim))
        about = {uid for row in rows.values() if (uid := row.base.get("entity"))}
        lives_on = {uid: self.lives_on(uid) for uid in about}
        derived = settling.memories(
            list(rows.values()), lives_on=lives_on, rejected=rejected, circles=circles
        )
        changed = {n: row for n, row in rows.items() if self._differs(row, n, derived[row.uid])}
        self._write(RecordKind.MEMORY, changed, derived)
        if circles:
            arriving.note_circles(self.db)

    def _first_link(self, row: History) -> str | None:
        """Of the memories whose successors lead back to this one, the one whose link was made first."""
        links: dict[str, str] = {}
        uid, said = row.uid, row.base
        while (successor := said.get("superseded_by")) is not None and uid not in links:
            links[uid] = said["changed_at"]
            number = self.arrivals.number("memories", successor)
            if successor == row.uid:
                return min(links, key=lambda one: (links[one], one))
            if number is None:
                return None
            uid, said = successor, self.read(RecordKind.MEMORY, number).base
        return None

    # What they share

    def _differs(self, row: History, number: int, derived: Said | None) -> bool:
        return (row.kind, number) in self._held or row.settled != derived

    def _write(self, kind: RecordKind, rows: dict[int, History], derived: dict[str, Said | None]) -> None:
        """Place rows with what is derived of them; what gives way goes first."""
        settled = {
            number: History(kind, row.identity, row.versions, derived[row.uid], row.usage)
            for number, row in rows.items()
        }
        for number in settled:
            self.arrivals.park(kind, number, _AWAY[kind])
        for number, row in sorted(settled.items(), key=lambda one: one[1].present["status"] == "active"):
            self.arrivals.place(row, number)
            self._held.pop((kind, number), None)
        if any(row.settled is not None for row in settled.values()):
            arriving.note_settled(self.db)
