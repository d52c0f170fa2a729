"""The values that the parts hand to each other: frozen, and checked at the edge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    LEARNING = "learning"
    DECISION = "decision"
    OBSERVATION = "observation"
    SUMMARY = "summary"


class Status(StrEnum):
    """`proposed` waits for a person; only `active` memories are recalled unless another is asked for."""

    PROPOSED = "proposed"
    ACTIVE = "active"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


class Trust(StrEnum):
    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    DISPUTED = "disputed"


class Level(StrEnum):
    """How general a memory is."""

    META_KNOWLEDGE = "meta_knowledge"
    SEMI_ABSTRACT = "semi_abstract"
    CONCRETE_TRACE = "concrete_trace"


class Layer(StrEnum):
    """How long a memory lives: 6 hours, 7 days, until someone ends it, for ever."""

    WORKING = "working"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"
    PERMANENT = "permanent"


class Category(StrEnum):
    GENERAL = "general"
    PEOPLE = "people"
    PROJECT = "project"
    DECISION = "decision"
    FEEDBACK = "feedback"
    BUG = "bug"
    RELATIONSHIP = "relationship"
    SKILL = "skill"
    PREFERENCE = "preference"
    PATTERN = "pattern"
    MISTAKE = "mistake"
    INSIGHT = "insight"
    RESEARCH = "research"
    ARCHITECTURE = "architecture"
    INFRASTRUCTURE = "infrastructure"
    TOOL = "tool"
    WORKFLOW = "workflow"
    PERFORMANCE = "performance"
    SECURITY = "security"


class Mode(StrEnum):
    HYBRID = "hybrid"
    LEXICAL = "lexical"
    VECTOR = "vector"


class Fusion(StrEnum):
    """How the legs of a recall are joined: a weighted sum of min-max scores, or reciprocal rank fusion."""

    CONVEX = "convex"
    RRF = "rrf"


class Flag(StrEnum):
    """What a memory is marked with on write: `instruction` speaks to the agent as one who gives orders."""

    INSTRUCTION = "instruction"

    @property
    def mark(self) -> str:
        """What people and agents read where the memory is shown."""
        return "speaks to the agent"


class Rule(StrEnum):
    """Why something that was found is not handed out.

    `floor` has nothing to do with the question, `filter` is what the filters do not admit or what does not
    hold now, `limit` is more than was asked for. The others are a hook's: the best hit is not sure enough
    (`confidence`), it would not stand without the better ones (`alone`), it holds no name out of a few words
    (`name`), the session was shown it already, it is too long, or there is no room.
    """

    FLOOR = "floor"
    FILTER = "filter"
    LIMIT = "limit"
    CONFIDENCE = "confidence"
    ALONE = "alone"
    NAME = "name"
    ALREADY_SHOWN = "already_shown"
    LENGTH = "length"
    BUDGET = "budget"


class SayingAction(StrEnum):
    """What `profile` and `goal` do."""

    GET = "get"
    SET = "set"
    CLEAR = "clear"
    HISTORY = "history"


class Sort(StrEnum):
    """What a list goes by: each from the newest, greatest or most down; `id` is the order of entry."""

    RECORDED = "recorded"
    CHANGED = "changed"
    EVENT_TIME = "event_time"
    IMPORTANCE = "importance"
    CONFIDENCE = "confidence"
    RECALLS = "recalls"
    ID = "id"


class ExportFormat(StrEnum):
    """The shapes of an export: JSON Lines, one JSON document, or Markdown for people."""

    JSONL = "jsonl"
    JSON = "json"
    MARKDOWN = "markdown"


class ActorKind(StrEnum):
    """Who acts: a person at a shell, an agent, a host's hook, or an unattended job."""

    PERSON = "person"
    AGENT = "agent"
    HOOK = "hook"
    CRON = "cron"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who an event is ascribed to."""

    kind: ActorKind
    client: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which projects a read sees: one project and what belongs to none, or everything."""

    project: str | None = None
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """The two clocks of a read, as stored texts: what held at `valid_at`, as believed at `known_at`."""

    valid_at: str | None = None
    known_at: str | None = None

    @property
    def is_now(self) -> bool:
        return self.valid_at is None and self.known_at is None


@dataclass(frozen=True, slots=True)
class Filter:
    """What a read asks of memories; an empty tuple or None asks nothing. Instants are stored texts."""

    scope: Scope = Scope()
    moment: Moment = Moment()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    kinds: tuple[Kind, ...] = ()
    categories: tuple[Category, ...] = ()
    levels: tuple[Level, ...] = ()
    layers: tuple[Layer, ...] = ()
    tags: tuple[str, ...] = ()
    minimum_importance: int | None = None
    minimum_confidence: float | None = None
    trusts: tuple[Trust, ...] = ()
    entity_id: int | None = None
    source: str | None = None  # a part of it
    clients: tuple[str, ...] = ()
    session_id: int | None = None
    expired: bool = False  # instead of the statuses: what has outlived its time, archived for it or not yet
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is about to be written: checked, with its instants as stored texts."""

    content: str
    kind: Kind = Kind.LEARNING
    title: str | None = None
    rationale: str | None = None
    alternatives: str | None = None
    category: Category = Category.GENERAL
    level: Level = Level.SEMI_ABSTRACT
    layer: Layer = Layer.LONG_TERM
    importance: int = 5
    confidence: float = 0.7
    project: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    event_time: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None
    session: str | None = None  # the UUID of the session that it belongs to, where that is not the writer's
    entity_id: int | None = None  # what an observation is about
    flags: tuple[Flag, ...] = ()
    notices: tuple["Notice", ...] = field(default=(), compare=False)  # what the writer should know of it


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as the store has it. `recorded_at` and the other instants are stored texts."""

    id: int
    uid: str
    kind: Kind
    title: str | None
    content: str
    category: Category
    level: Level
    layer: Layer
    project: str | None
    tags: tuple[str, ...]
    importance: int
    confidence: float
    source: str | None
    entity: str | None
    rationale: str | None
    alternatives: str | None
    status: Status
    status_reason: str | None
    status_at: str | None
    trust: Trust
    verified_at: str | None
    verified_by: str | None
    event_time: str | None
    valid_from: str | None
    valid_to: str | None
    recorded_at: str
    changed_at: str
    expires_at: str | None
    superseded_by: int | None
    client: str | None
    session: str | None
    flags: tuple[Flag, ...] = ()
    proposal: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    trust_reason: str | None = None
    entity_id: int | None = None


class EntityStatus(StrEnum):
    """A `merged` entity lives on in another; an `undone` one never should have been."""

    ACTIVE = "active"
    MERGED = "merged"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that observations are about; `key` is the normalised name."""

    id: int
    uid: str
    name: str
    key: str
    type: str
    aliases: tuple[str, ...]
    project: str | None
    summary: str | None
    status: EntityStatus
    merged_into: int | None
    recorded_at: str
    changed_at: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed relation between two entities, by their numbers, and when it held."""

    id: int
    uid: str
    from_id: int
    to_id: int
    type: str
    weight: float
    valid_from: str | None
    valid_to: str | None
    status: str
    recorded_at: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class Session:
    """A client's session; `host_session` is the host's own name of it, `summaries` are memories."""

    id: int
    uid: str
    client: str | None
    host_session: str | None
    project: str | None
    started_at: str
    ended_at: str | None
    end_reason: str | None
    tasks: tuple[str, ...] = ()
    summaries: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """The goal, or a field of the profile, as it was said in a project or for everywhere; None: cleared."""

    name: str
    value: str | None
    project: str | None
    at: str
    operation: str
    actor: str
    client: str | None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the writer should know though the write was done."""

    code: str
    message: str
    ids: tuple[int, ...] = ()
