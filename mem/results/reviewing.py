"""The audit log, what waits for a person, and upkeep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mem.results.writing import VectorState
from mem.values import Layer, Memory, Notice


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

    `trace_bytes` is what the pruned traces took, `freed` the bytes that the file lost, where that was asked
    for. With `beside` another upkeep was at work, which did it all.
    """

    dry_run: bool
    promoted: tuple[Promotion, ...] = ()
    expired: tuple[int, ...] = ()
    sessions: tuple[int, ...] = ()
    traces: int = 0
    trace_bytes: int = 0
    beside: bool = False
    freed: int | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposed memory as a person judges it: who wrote it, what approval replaces, what it is near to.

    `writer` is the kind of actor, `session` the host's name of its session. `in_place` says that what it
    replaces takes over its text instead of being superseded, `sums_up` that it is put away as summed up. An
    entity that it is `about` is made with it. With an `obstacle` approval would be refused, for that reason.
    """

    memory: Memory
    writer: str
    session: str | None = None
    replaces: tuple[Memory, ...] = ()
    in_place: bool = False
    near: tuple[Notice, ...] = ()
    obstacle: str | None = None
    sums_up: bool = False
    about: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """What waits for a person, the oldest first. `total` counts all, also those beyond the page."""

    total: int
    proposals: tuple[Waiting, ...]
