"""What became of what was written: stored, changed, refused, forgotten."""

from dataclasses import dataclass
from enum import StrEnum

from mem.values import Entity, Memory, Notice


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

    `rewritten` are other stores that held them, `deleted` backups and exports that were to go for it;
    `listed` are files that still hold a text of theirs.
    `remains` says what could not be erased or looked into, and what to do about it.
    """

    ids: tuple[int, ...]
    uids: tuple[str, ...]
    rewritten: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()
    deleted: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        return int(bool(self.remains))
