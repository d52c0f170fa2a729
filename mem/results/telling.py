"""What sessions are told, and why: context, traces, sessions, profile and goal."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mem.results.writing import Stored
from mem.values import Memory, Mode, Notice, Rule, Said, Session


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
