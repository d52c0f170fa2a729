"""What a selection takes, in the order in which people read it."""

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from mem.store import as_of, entities, memories, relations
from mem.store import selection as choosing
from mem.store.selection import Selection, chosen
from mem.values import Entity, Memory, Relation


@dataclass(frozen=True, slots=True)
class Listing:
    """The rows of a selection at its moment; iterating holds one at a time."""

    db: apsw.Connection
    narrows: bool
    memories: str
    entities: str
    relations: str
    settings: str

    def said(self) -> Iterator[tuple[str, str, str | None]]:
        """What is said now: key, value and project, everywhere first."""
        yield from self.db.execute(
            f"""SELECT s.key, s.value, nullif(s.project, '') FROM {self.settings} s
                WHERE s.value IS NOT NULL AND {self._among("settings", "s")} ORDER BY s.key, s.project"""
        )

    def notes(self) -> Iterator[Memory]:
        """All but observations: by project, what is in none first, by kind and time."""
        yield from self._memories("m.kind <> 'observation'", "m.project, m.kind, m.recorded_at, m.id")

    def things(self) -> Iterator[Entity]:
        """The live entities, and those that something is said about, by name."""
        found = self.db.execute(
            f"""SELECT {entities.COLUMNS} FROM {self.entities} n
                WHERE {self._among("entities", "n")} AND (
                  n.status = 'active' OR EXISTS (SELECT 1 FROM {self.memories} m WHERE m.entity_id = n.id))
                ORDER BY n.key, n.type, n.project, n.id"""
        )
        yield from map(entities.from_row, found)

    def observations(self, entity_id: int) -> Iterator[Memory]:
        """What is said about an entity, the oldest first."""
        yield from self._memories("m.entity_id = ?", "m.recorded_at, m.id", entity_id)

    def relations_of(self, entity_id: int) -> Iterator[tuple[Relation, str]]:
        """The relations that go out from an entity, with the name of the other end."""
        found = self.db.execute(
            f"""SELECT {relations.COLUMNS}, (SELECT n.name FROM {self.entities} n WHERE n.id = r.to_id)
                FROM {self.relations} r
                WHERE r.from_id = ? AND r.status = 'active' AND {self._among("relations", "r")}
                ORDER BY r.type, r.recorded_at, r.id""",
            (entity_id,),
        )
        for *row, name in found:
            yield relations.from_row(row), name or ""

    def _memories(self, condition: str, order: str, *values: int) -> Iterator[Memory]:
        found = self.db.execute(
            f"""SELECT {memories.columns_of(self.memories)} FROM {self.memories} m
                WHERE {condition} AND {self._among("memories", "m")} ORDER BY {order}""",
            values,
        )
        yield from map(memories.from_row, found)

    def _among(self, table: str, alias: str) -> str:
        if not self.narrows:
            return "1"
        if table == "settings":
            return f"""EXISTS (SELECT 1 FROM settings p JOIN {chosen(table)} c ON c.id = p.rowid
                               WHERE p.key = {alias}.key AND p.project = {alias}.project)"""
        return f"EXISTS (SELECT 1 FROM {chosen(table)} c WHERE c.id = {alias}.id)"


def listing(db: apsw.Connection, selection: Selection) -> Listing:
    """What a selection takes, ready to be read; for one transaction."""
    if selection.narrows:
        choosing.choose(db, selection)
    moment = selection.moment
    held = "memories" if moment.known_at is None else memories.select_as_of(db, moment)
    tables = (as_of.select_as_of(db, table, moment) for table in ("entities", "relations", "settings"))
    return Listing(db, selection.narrows, held, *tables)
