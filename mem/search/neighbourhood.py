"""An entity as it is known: its observations, its relations, and what lies within a few steps of it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import apsw

from mem.errors import NotFound
from mem.results import Direction, EntityView, Link
from mem.search.mentions import key
from mem.store import as_of, entities, memories, relations
from mem.store.connect import select
from mem.store.filters import where
from mem.truth.entities import choose, find, one_name, survivor, type_name
from mem.values import Entity, EntityStatus, Filter, Moment, Relation, Scope, Sort

MOST_OBSERVATIONS = 1_000
MOST_NODES = 500


def view(
    db: apsw.Connection,
    reference: str,
    scope: Scope,
    moment: Moment,
    *,
    type_: str | None,
    depth: int,
    now: str,
) -> EntityView:
    """What is known of an entity at a moment, from the projects of a scope; raises `NotFound`.

    A relation is seen once from each entity, one to itself once; those to entities outside the scope are not.
    """
    tables = {name: as_of.select_as_of(db, name, moment) for name in ("entities", "relations")}
    entity = _found(db, reference, scope, moment, type_=type_, table=tables["entities"])
    seen = Filter(scope=_own(scope, entity), moment=moment, statuses=(), entity_id=entity.id)
    rows = "memories" if moment.is_now else memories.select_as_of(db, moment)
    if moment.is_now:
        seen = replace(seen, statuses=Filter().statuses)
    total, observations = memories.page(
        db, where(seen, now=now), sort=Sort.RECORDED, limit=MOST_OBSERVATIONS, offset=0, table=rows
    )
    nodes, edges = _around(db, entity, scope, moment, depth=depth, now=now, tables=tables)
    own = [relation for relation in edges if entity.id in (relation.from_id, relation.to_id)]
    return EntityView(
        entity=entity,
        observations=tuple(observations),
        relations=tuple(_link(relation, entity, nodes) for relation in own),
        moment=moment,
        depth=depth,
        total=total,
        nodes=tuple(nodes.values()),
        edges=tuple(edges),
    )


def counts(db: apsw.Connection, ids: Iterable[int], scope: Scope, *, now: str) -> dict[int, tuple[int, int]]:
    """How many live observations and present relations entities have, by number; as `view` shows them."""
    found = {}
    for entity in entities.by_ids(db, ids).values():
        condition = where(Filter(scope=_own(scope, entity), entity_id=entity.id), now=now)
        sql = f"SELECT count(*) FROM memories m WHERE {condition.sql}"
        held = relations.of(db, [entity.id], Moment(), now=now)
        ends = entities.by_ids(db, {end for relation in held for end in (relation.from_id, relation.to_id)})
        seen = {number for number, other in ends.items() if _visible(other, entity, scope)}
        related = sum({relation.from_id, relation.to_id} <= seen for relation in held)
        found[entity.id] = int(db.execute(sql, condition.values).get), related
    return found


def _own(scope: Scope, entity: Entity) -> Scope:
    """An entity that was named by its id is shown with what its own project knows of it."""
    if scope.everywhere or entity.project in (None, scope.project):
        return scope
    return Scope(entity.project)


def _found(
    db: apsw.Connection, reference: str, scope: Scope, moment: Moment, *, type_: str | None, table: str
) -> Entity:
    """The entity that a reference stood for then; else what it stands for now, as it was then."""
    if moment.known_at is None:
        return find(db, reference, scope, type_=type_)
    then = _named_then(db, reference, scope, type_=type_, table=table)
    if then is None:
        present = find(db, reference, scope, type_=type_, follow=False)
        then = entities.by_ids(db, [present.id], table=table).get(present.id)
    if then is not None:
        then = survivor(db, then, table=table)
    if then is None or then.status is not EntityStatus.ACTIVE:
        raise NotFound(f"'{one_name(reference)}' was not known at that moment.", hint="See: mem entities")
    return then


def _named_then(
    db: apsw.Connection, reference: str, scope: Scope, *, type_: str | None, table: str
) -> Entity | None:
    """The entity that had this name or alias then; raises `NotFound` where it stood for several."""
    condition, values = entities.in_scope(scope)
    rows = select(
        db,
        f"SELECT {entities.COLUMNS} FROM {table} n WHERE n.status = 'active' AND {condition} ORDER BY n.id",
        values,
    )
    wanted, kind = key(reference), None if type_ is None else type_name(type_)
    held = [
        entity
        for entity in map(entities.from_row, rows)
        if wanted in map(key, (entity.name, *entity.aliases)) and kind in (None, entity.type)
    ]
    return choose(reference, held) if held else None


def _around(
    db: apsw.Connection,
    entity: Entity,
    scope: Scope,
    moment: Moment,
    *,
    depth: int,
    now: str,
    tables: Mapping[str, str],
) -> tuple[dict[int, Entity], list[Relation]]:
    """The entities within so many steps, the nearest first, and the relations among them, each once."""
    nodes, edges = {entity.id: entity}, dict[int, Relation]()
    outer = [entity.id]
    for _ in range(depth):
        found = relations.of(db, outer, moment, now=now, table=tables["relations"])
        ends = {number for relation in found for number in (relation.from_id, relation.to_id)}
        rows = entities.by_ids(db, sorted(ends - set(nodes)), table=tables["entities"])
        fresh = {number: other for number, other in rows.items() if _visible(other, entity, scope)}
        outer = sorted(fresh)[: MOST_NODES - len(nodes)]
        nodes |= {number: fresh[number] for number in outer}
        edges |= {
            relation.id: relation
            for relation in found
            if relation.from_id in nodes and relation.to_id in nodes
        }
        if not outer:
            break
    return nodes, [edges[number] for number in sorted(edges)]


def _visible(other: Entity, entity: Entity, scope: Scope) -> bool:
    own = _own(scope, entity)
    in_scope = own.everywhere or other.project in (None, own.project)
    return in_scope and other.status is EntityStatus.ACTIVE


def _link(relation: Relation, entity: Entity, nodes: Mapping[int, Entity]) -> Link:
    if relation.from_id == relation.to_id:
        return Link(relation, Direction.ITSELF, entity)
    if relation.from_id == entity.id:
        return Link(relation, Direction.OUT, nodes[relation.to_id])
    return Link(relation, Direction.IN, nodes[relation.from_id])
