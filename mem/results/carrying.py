"""What is carried in and out: vectors, summaries, backups, exports and imports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO

from mem.results.writing import Refusal
from mem.values import ExportFormat, Notice


@dataclass(frozen=True, slots=True)
class NotEmbedded:
    """A text that the model could do nothing with: what has it, `memory` or `entity`, and why."""

    kind: str
    id: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Backfilled:
    """What got vectors, or would (`dry_run`: `waiting`). No `model`: none is wanted.

    `skipped` rows needed none: they have theirs (`there`), or share a text with one that got it (`shared`).
    `waiting` texts are left. `stopped` is why the model could not go on; `beside`: another run is at work.
    """

    model: str | None
    dry_run: bool = False
    embedded: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[NotEmbedded, ...] = ()
    waiting: int = 0
    stopped: str | None = None
    beside: bool = False

    @property
    def exit_status(self) -> int:
        return 1 if self.failed or self.stopped else 0


@dataclass(frozen=True, slots=True)
class Migrated:
    """What became of the vectors. `model` is wanted; it is searched if it is `before`, or has `switched`.

    `choice` is how it is written as a setting. `embedded` texts, `indexed` pieces and `converted` vectors
    (from JSON text) were made, or would be (`dry_run`); `waiting` texts are left. `pruned` vectors of other
    models went. `setting` is the model that the settings name, where it is another one.
    """

    before: str | None
    model: str
    choice: str
    dry_run: bool = False
    switched: bool = False
    embedded: int = 0
    indexed: int = 0
    converted: int = 0
    failed: tuple[NotEmbedded, ...] = ()
    waiting: int = 0
    pruned: int = 0
    pruned_bytes: int = 0
    limited: bool = False
    stopped: str | None = None
    beside: bool = False
    setting: str | None = None

    @property
    def exit_status(self) -> int:
        done = self.dry_run or self.beside or self.limited or self.switched or self.before == self.model
        return 0 if done and not self.failed and not self.stopped else 1


class CompressedState(StrEnum):
    """What became of a group of traces: `due` only says that it would be summed up."""

    DUE = "due"
    COMPRESSED = "compressed"
    PROPOSED = "proposed"
    SKIPPED = "skipped"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CompressedGroup:
    """What one summary (`id`) sums up: memories (`sources`) of a session or week, or one transcript.

    `characters` are those before, `summary_characters` those after; `why` is why there is no summary.
    """

    state: CompressedState
    project: str | None
    session: str | None
    period: str | None
    transcript: str | None
    sources: tuple[int, ...]
    characters: int
    id: int | None = None
    uid: str | None = None
    summary_characters: int | None = None
    why: str = ""
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Compressed:
    """The groups that were summed up, or would be (`dry_run`); `left` are those that nobody got to."""

    dry_run: bool
    groups: tuple[CompressedGroup, ...]
    left: int

    @property
    def exit_status(self) -> int:
        states = {group.state for group in self.groups}
        if states == {CompressedState.REFUSED}:
            return 4
        return int(bool(states & {CompressedState.REFUSED, CompressedState.FAILED}))


@dataclass(frozen=True, slots=True)
class Extracted:
    """The memories that were looked through for entities, or would be (`dry_run`), and what came of it.

    `proposed` are observations that wait for a person, with the entities that some would make (`entities`);
    `known` ones were there, `refused` ones were rejected before. `failed` memories got no answer that could
    be used, `why` says the last reason; `left` are those that nobody got to.
    """

    dry_run: bool
    memories: tuple[int, ...]
    proposed: tuple[int, ...] = ()
    entities: tuple[str, ...] = ()
    known: int = 0
    refused: int = 0
    failed: tuple[int, ...] = ()
    why: str = ""
    left: int = 0

    @property
    def exit_status(self) -> int:
        return int(bool(self.failed))


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A backup: its file, its size, how many memories it holds, and the digest that an export would have.

    `removed` are older backups that were not to be kept.
    """

    path: str
    bytes: int
    memories: int
    digest: str
    removed: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class RestoredBackup:
    """A backup that is the store now: its file, where the old state is kept, how many memories it holds.

    `rejected` are the numbers of those that the old state had rejected since, and so are rejected again;
    `forgotten` says how many rows were erased again.
    """

    path: str
    kept: str
    memories: int
    rejected: tuple[int, ...] = ()
    forgotten: int = 0
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """How the records of one kind in a file and in the store compare; `examples` name some that do not."""

    kind: str
    same: int = 0
    only_in_file: int = 0
    only_in_store: int = 0
    different: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """A file held against the store: both digests, and what differs by kind. Not the same: exit status 1."""

    path: str
    same: bool
    digest: str
    store_digest: str
    kinds: tuple[Compared, ...]
    warnings: tuple[Notice, ...] = ()

    @property
    def exit_status(self) -> int:
        return 0 if self.same else 1


@dataclass(frozen=True, slots=True)
class Exported:
    """An export: its file (`-`: standard output), its size, how many records of each kind it holds.

    `digest` covers all records; Markdown has none. `filters` is what was asked for, by the names of the
    options.
    """

    path: str
    format: ExportFormat
    counts: Mapping[str, int]
    bytes: int
    digest: str | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Streamed:
    """An export that is still to be written, to a stream of bytes; there is no document of it."""

    write: Callable[[BinaryIO], Exported]


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be imported: where it stands, what it would have been, and why not."""

    line: int | None
    place: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """What became of one record: added, identical, updated, merged, refused, malformed or skipped."""

    action: str
    record: str
    place: str
    line: int | None = None
    uid: str | None = None
    id: int | None = None
    reason: str = ""
    refusal: Refusal | None = None
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """An import: how many records of each kind became what, and what there is to know of single ones.

    `applied` says whether the store was written to: never in a dry run, nor where a record was bad and bad
    ones were not to be skipped; then `counts` only has the bad ones. `outcomes` are those of memories, in the
    order of the source, and of what else did not just come in; of a long source only the latter. `left_out`
    more are not listed. `pending` texts wait for their vectors. `event` is the number of the event, if
    anything has changed.
    """

    path: str
    format: str
    dry_run: bool
    applied: bool
    counts: Mapping[str, Mapping[str, int]]
    outcomes: tuple[ImportOutcome, ...] = ()
    left_out: int = 0
    malformed: int = 0
    bad: tuple[BadRecord, ...] = ()
    pending: int = 0
    event: int | None = None
    warnings: tuple[Notice, ...] = ()

    @property
    def exit_status(self) -> int:
        """4 where every memory was refused, 1 where one was or a record was bad."""
        of_memories = self.counts.get("memory", {})
        refused = sum(said.get("refused", 0) for said in self.counts.values())
        if self.malformed:
            return 1
        if refused and set(of_memories) == {"refused"}:
            return 4
        return int(bool(refused))
