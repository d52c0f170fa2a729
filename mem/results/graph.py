"""People and things: entities, relations, and what contradicts what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mem.results.recalling import LegScore
from mem.values import Entity, Memory, Moment, Notice, Relation


class Direction(StrEnum):
    """Which way a relation runs, seen from one entity."""

    OUT = "out"
    IN = "in"
    ITSELF = "itself"


@dataclass(frozen=True, slots=True)
class Link:
    """A relation as one entity sees it, with the entity at the other end."""

    relation: Relation
    direction: Direction
    other: Entity


@dataclass(frozen=True, slots=True)
class EntityPage:
    """Entities by name, or by how well they fit a question. `total` counts also those beyond the page."""

    total: int
    entities: tuple["EntityHit", ...]
    query: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityHit:
    """An entity in a list, with how much is known of it; with a question, also how well it fits, 0-1."""

    entity: Entity
    observations: int
    relations: int
    score: float | None = None
    why: Mapping[str, LegScore] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity with what holds of it, and its neighbourhood within `depth` steps: `nodes` and `edges`.

    `total` counts all observations, also those beyond the newest thousand.
    """

    entity: Entity
    observations: tuple[Memory, ...]
    relations: tuple[Link, ...]
    moment: Moment
    depth: int = 1
    total: int = 0
    nodes: tuple[Entity, ...] = ()
    edges: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityChanged:
    """An entity as an operation left it; after a merge also how much moved along."""

    action: str
    entity: Entity
    observations: int = 0
    relations: int = 0
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Related:
    """A relation as an operation left it, with both of its entities."""

    action: str
    relation: Relation
    subject: Entity
    object: Entity


@dataclass(frozen=True, slots=True)
class Side:
    """One memory of a contradiction: what it says, and what speaks for it."""

    id: int
    uid: str
    title: str | None
    content: str
    project: str | None
    confidence: float
    trust: str
    event_time: str | None
    valid_from: str | None
    recorded_at: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that cannot both hold: why (negation, number, value, confidence), and what settles it.

    `similarity` is the cosine of their meanings, or without vectors the share of words that both have, 0-1.
    `suggestion` is a command.
    """

    reasons: tuple[str, ...]
    similarity: float
    older: Side
    newer: Side
    suggestion: str


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Contradictions, the closest first. `total` counts all that were found, also those beyond the limit.

    `examined` memories were compared, the newest; `unexamined` were too many.
    """

    total: int
    examined: int
    unexamined: int
    degraded: tuple[str, ...]
    pairs: tuple[Contradiction, ...]
