"""What was found, and what became of a memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mem.values import Memory, Mode, Notice


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


@dataclass(frozen=True, slots=True)
class Memories:
    """Memories by id or by filter. `total` counts all that match, also those beyond the page."""

    total: int
    memories: tuple[Memory, ...]
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
