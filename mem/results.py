"""What the operations answer: one frozen value each, rendered alike on the command line and over MCP.

`exit_status` is the command line's; a front end without exit statuses leaves it out. Fields are only ever
added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mem.values import Entity, Layer, Memory, Mode, Moment, Notice, Relation, Rule, Said, Session


class Action(StrEnum):
    """What a store did."""

    ADDED = "added"
    ALREADY_KNOWN = "already_known"
    REVIVED = "revived"
    PROPOSED = "proposed"
    REFUSED = "refused"


class VectorState(StrEnum):
    """Whether the text can be found by meaning: now, after the next `backfill`, or never (no model)."""

    STORED = "stored"
    PENDING = "pending"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a rule of the store turned a text away, and the way out."""

    code: str
    reason: str
    hint: str
    id: int | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """The outcome of storing one memory. A refusal is an answer, not an error."""

    action: Action
    id: int | None
    uid: str | None
    vector: VectorState
    warnings: tuple[Notice, ...] = ()
    superseded: tuple[int, ...] = ()
    refusal: Refusal | None = None

    @property
    def exit_status(self) -> int:
        return 4 if self.action is Action.REFUSED else 0


@dataclass(frozen=True, slots=True)
class Observed(Stored):
    """The outcome of storing an observation, and the entity that it is about; `created` with it or before."""

    about: Entity | None = None
    created: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """The outcomes of a batch, one per item in order."""

    outcomes: tuple[Stored, ...]

    @property
    def exit_status(self) -> int:
        statuses = {outcome.exit_status for outcome in self.outcomes}
        return statuses.pop() if len(statuses) == 1 else int(bool(statuses))


@dataclass(frozen=True, slots=True)
class Changed:
    """The memories that an operation changed, as they are now."""

    action: str
    memories: tuple[Memory, ...]
    vector: VectorState | None = None
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The memories that were erased, by number and UUID, and what was done about other files.

    `rewritten` are other stores that held them; `listed` are files that still hold a text of theirs.
    `remains` says what could not be erased or looked into, and what to do about it.
    """

    ids: tuple[int, ...]
    uids: tuple[str, ...]
    rewritten: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()

    @property
    def exit_status(self) -> int:
        return int(bool(self.remains))


@dataclass(frozen=True, slots=True)
class LegScore:
    """Where one leg of the search put a hit: its rank, from 1, and its own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory; `score` lies in 0–1, higher is better."""

    memory: Memory
    score: float
    why: Mapping[str, LegScore]
    surfaced: bool = False


@dataclass(frozen=True, slots=True)
class WindowUsed:
    """The time window of a recall: asked for (`hard`), or read out of a phrase of the query."""

    since: str | None
    until: str | None
    phrase: str | None
    hard: bool


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question.

    `total` counts the hits above the floor; `confidence` is how likely it is that something fits at all, 0-1.
    """

    query: str
    mode: Mode
    requested_mode: Mode
    degraded: tuple[str, ...]
    trace_id: str | None
    total: int
    confidence: float
    hits: tuple[Hit, ...]
    window: WindowUsed | None = None
    elsewhere: int | None = None


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
class Memories:
    """Memories by id or by filter. `total` counts all that match, also those beyond the page."""

    total: int
    memories: tuple[Memory, ...]
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A memory that stands in a context block, and in which section."""

    memory: Memory
    section: str


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """Stored notes for a prompt: the fenced text, empty if there are none, and the memories that it shows.

    `tokens` is what the text is estimated at. `left_out` are memories that found no room in the budget.
    Without a query nothing is searched, so there are no modes.
    """

    query: str | None
    text: str
    budget: int
    tokens: int
    mode: Mode | None
    requested_mode: Mode | None
    degraded: tuple[str, ...]
    trace_id: str | None
    items: tuple[ContextItem, ...]
    left_out: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TracedMemory:
    """A memory in a trace: its rank in each leg if it was shown, the rule if not, and whether it is live now.

    `state` is `live`, a status, `expired`, `ended`, `not_yet`, or `forgotten` for what is no longer there.
    """

    id: int
    score: float | None
    ranks: Mapping[str, int]
    rule: Rule | None
    state: str


@dataclass(frozen=True, slots=True)
class Traced:
    """What one recall weighed, without its words.

    `confidence` is how likely it was that something fitted, 0-1, `threshold` what a hook asked of it.
    `elsewhere` counts the memories that belong to other projects, of which nothing else is told.
    """

    trace_id: str
    operation: str
    at: str
    client: str | None
    session: str | None
    project: str | None
    mode: Mode
    degraded: tuple[str, ...]
    total: int
    confidence: float | None
    threshold: float | None
    signals: Mapping[str, Any]
    shown: tuple[TracedMemory, ...]
    withheld: tuple[TracedMemory, ...]
    elsewhere: int


class Place(StrEnum):
    """Where the last hook was looked for and found."""

    SESSION = "session"
    PROJECT = "project"
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a hook showed last and held back, with the texts of both; nothing if no hook has asked yet."""

    place: Place | None
    trace: Traced | None
    memories: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Cited:
    """A text with no citations but of what was shown; `rejected` are the ids that were taken out."""

    text: str
    trace_found: bool
    valid: tuple[int, ...]
    rejected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sayings:
    """Goal or profile, as they hold or as they were, newest first; `project` is where they were said.

    `name` is `goal` or the field that is asked for, None for all of the profile.
    """

    action: str
    name: str | None
    project: str | None
    changed: bool
    settings: tuple[Said, ...]
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignNote:
    """Where a note of another program's memory comes from; its text stands in the fence alone."""

    project: str
    path: str
    name: str
    description: str
    type: str | None
    modified: str
    session: str | None
    score: float


@dataclass(frozen=True, slots=True)
class ForeignNotes:
    """What Claude's own memory files say: `text` is fenced, since nobody has checked it.

    `files` were searched, `skipped` says how many were not and why; `elsewhere` are hits of other projects.
    """

    query: str
    text: str
    total: int
    elsewhere: int
    files: int
    skipped: Mapping[str, int]
    roots: tuple[str, ...]
    hits: tuple[ForeignNote, ...]


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session that is open now, by number and UUID, and what to begin it with."""

    id: int
    uid: str
    client: str | None
    project: str | None
    context: ContextBlock


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session that has ended, and what became of the summary if there was one."""

    session: Session
    summary: Stored | None = None
    warnings: tuple[Notice, ...] = ()

    @property
    def exit_status(self) -> int:
        return 0 if self.summary is None else self.summary.exit_status


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, newest first. `total` counts all that match, also those beyond the page."""

    total: int
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One version of a memory: when it was written, by what, and what it changed.

    `before` holds the replaced values of what it changed, nothing for the first version; `event` is the
    number by which `mem undo` takes it back. The version was the present from `at` until before `until`.
    """

    id: int
    at: str
    operation: str
    actor: str
    reason: str | None
    changed: Mapping[str, Any]
    before: Mapping[str, Any] = field(default_factory=dict)
    event: int | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Every version of a memory and of those that it supersedes or that supersede it, oldest first."""

    id: int
    chain: tuple[int, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A memory or an entity that an event is about; one that was forgotten has no number any more."""

    id: int | None
    uid: str
    kind: str = "memory"


@dataclass(frozen=True, slots=True)
class Event:
    """One operation in the audit log: what was done, when, by whom and why.

    `session` is the host's name of it. Subjects in projects out of scope are left out. `undoes` and
    `undone_by` are numbers of events; an undo that was undone itself no longer counts.
    """

    id: int
    uid: str
    at: str
    operation: str
    actor: str
    client: str | None
    session: str | None
    subjects: tuple[Subject, ...]
    reason: str | None
    detail: Mapping[str, Any]
    undoes: int | None = None
    undone_by: int | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """Events, newest first. `total` counts all that match in scope, `elsewhere` those beyond it.

    `newest` is the number of the newest event of all, 0 if there is none: what comes later comes after it.
    """

    total: int
    events: tuple[Event, ...]
    elsewhere: int = 0
    newest: int = 0


@dataclass(frozen=True, slots=True)
class Undone:
    """An event that was undone, the number of the event that did it, and the memories as they are now."""

    event: int
    uid: str
    operation: str
    by: int
    memories: tuple[Memory, ...]
    vector: VectorState | None = None


@dataclass(frozen=True, slots=True)
class Promotion:
    """A memory that has earned a layer which lives longer."""

    id: int
    before: Layer
    after: Layer


@dataclass(frozen=True, slots=True)
class Maintained:
    """What upkeep did, or with `dry_run` would do: memories and sessions by number, traces by count.

    `trace_bytes` is what the pruned traces took. With `beside` another upkeep was at work, which did it all.
    """

    dry_run: bool
    promoted: tuple[Promotion, ...] = ()
    expired: tuple[int, ...] = ()
    sessions: tuple[int, ...] = ()
    traces: int = 0
    trace_bytes: int = 0
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposed memory as a person judges it: who wrote it, what approval replaces, what it is near to.

    `writer` is the kind of actor, `session` the host's name of its session. `in_place` says that what it
    replaces takes over its text instead of being superseded. With an `obstacle` approval would be refused,
    for that reason.
    """

    memory: Memory
    writer: str
    session: str | None = None
    replaces: tuple[Memory, ...] = ()
    in_place: bool = False
    near: tuple[Notice, ...] = ()
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """What waits for a person, the oldest first. `total` counts all, also those beyond the page."""

    total: int
    proposals: tuple[Waiting, ...]


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
class UsedMemory:
    """A memory with how often it was recalled, and when last."""

    memory: Memory
    recalls: int
    last_recalled_at: str


@dataclass(frozen=True, slots=True)
class UsedMemories:
    """The memories that were recalled of late. In every section `total` counts also those not shown."""

    total: int
    memories: tuple[UsedMemory, ...]


@dataclass(frozen=True, slots=True)
class HotEntity:
    """An entity with how much was observed of it of late."""

    entity: Entity
    observations: int


@dataclass(frozen=True, slots=True)
class HotEntities:
    """The entities of which something was observed of late."""

    total: int
    entities: tuple[HotEntity, ...]


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


@dataclass(frozen=True, slots=True)
class Queue:
    """How many memories wait for a person, and the numbers of the oldest."""

    total: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MissedQuestion:
    """A question that found nothing, how often, and when last."""

    question: str
    asked: int
    last_at: str


@dataclass(frozen=True, slots=True)
class BlindSpots:
    """How often questions found nothing, by local day, project, operation, mode and number of terms.

    `questions` stays empty unless the user lets their texts be kept.
    """

    total: int
    by_day: Mapping[str, int]
    by_project: Mapping[str, int]
    by_operation: Mapping[str, int]
    by_mode: Mapping[str, int]
    by_terms: Mapping[str, int]
    questions: tuple[MissedQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class Reflection:
    """What stands out, by section: used, unused, waiting, not known. `days` and `stale_days` bound them."""

    project: str | None
    all_projects: bool
    days: int
    stale_days: int
    most_used: UsedMemories
    stale: Memories
    hot_entities: HotEntities
    open_decisions: Memories
    contradictions: Contradictions
    review: Queue
    blind_spots: BlindSpots
    cold: Memories


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts, coverage of vectors, size in bytes, and what the warm worker has counted, if one runs.

    `pressure` is temporary to lasting memories; `dead` are live ones that are over 30 days old and were never
    recalled, `dead_share` of all live ones. `recent` is of the last 7 days: recalls, those that found nothing
    (`miss_rate` is their share, 0-1), and apart from them the prompts that hooks searched for.
    `added_by_week` is keyed by the Mondays of the last twelve weeks.
    """

    total: int
    by_status: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_layer: Mapping[str, int]
    by_level: Mapping[str, int]
    by_category: Mapping[str, int]
    by_project: Mapping[str, int]
    by_trust: Mapping[str, int]
    temporary: int
    lasting: int
    pressure: float
    dead: int
    dead_share: float
    recent_recalls: int
    recent_misses: int
    miss_rate: float
    recent_prompts: int
    recent_prompt_misses: int
    added_by_week: Mapping[str, int]
    entities: int
    entities_by_type: Mapping[str, int]
    relations: int
    events: int
    model: str | None
    vectors_stored: int
    vectors_pending: int
    vectors_by_model: Mapping[str, int]
    store_bytes: int
    wal_bytes: int
    worker: Mapping[str, int] | None = None


class WorkerState(StrEnum):
    """Whether there is a warm worker."""

    RUNNING = "running"
    NOT_RUNNING = "not_running"
    NOT_ANSWERING = "not_answering"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The warm worker of a store: its process, its model, what it counted; `away` is why none is started."""

    state: WorkerState
    store: str
    pid: int | None = None
    version: str | None = None
    model: str | None = None
    model_state: str | None = None
    uptime_seconds: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    away: str | None = None

    @property
    def exit_status(self) -> int:
        return 1 if self.state is WorkerState.NOT_ANSWERING else 0


@dataclass(frozen=True, slots=True)
class Setting:
    """A configuration key with its value in force and where that came from."""

    key: str
    value: Any
    origin: str
    description: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings asked for, and the file that holds them."""

    path: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that `doctor` looked at."""

    name: str
    ok: bool
    detail: str
    hint: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `doctor` found. Not sound: exit status 1."""

    sound: bool
    checks: tuple[Check, ...]

    @property
    def exit_status(self) -> int:
        return 0 if self.sound else 1


class HookState(StrEnum):
    """What became of hooks in a host's settings, or how they are there."""

    INSTALLED = "installed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    OUTDATED = "outdated"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook that a host runs, or should run, at an event; the timeout is in the host's unit."""

    event: str
    state: HookState
    command: str
    timeout: int | None


@dataclass(frozen=True, slots=True)
class HostHooks:
    """The hooks in the settings of one host, and the change of that file as a unified diff."""

    host: str
    path: str
    state: HookState
    hooks: tuple[Hook, ...] = ()
    diff: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of several hosts: after a change, as they would be after it (`dry_run`), or as they are."""

    action: str
    dry_run: bool
    hosts: tuple[HostHooks, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text that is the whole answer, such as a completion script."""

    text: str
