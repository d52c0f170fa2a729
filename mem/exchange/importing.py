"""The import: two passes over a source, and between them the decision whether anything is written.

Promises: a bad record means that nothing is written, unless bad ones are to be skipped. The second pass
writes in transactions of at most about a quarter of a second, each whole with its index, so that others write
in between, and a process that is killed leaves a sound store, which the same import completes. An import that
changes nothing leaves no event, any other one. Sources are never changed. A dry run is the same import into a
private copy of the store.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from mem import clock
from mem.embed import Embedder
from mem.errors import StoreUnusable, Usage
from mem.exchange import admitting, planning
from mem.exchange.adopting import Adoption
from mem.exchange.merging import Merge, MergeAction, Outcome
from mem.exchange.planning import Plan
from mem.exchange.sources import Format
from mem.exchange.validation import Checker
from mem.paths import Places, places
from mem.records.format import RecordKind
from mem.results import Imported, ImportOutcome, Refusal
from mem.search import entities as entity_search
from mem.search import index
from mem.store import copies, embeddings
from mem.store.connect import Store
from mem.store.erasure import Erased
from mem.store.events import Unit, next_instant
from mem.store.staging import Staged, Staging
from mem.truth import forgetting
from mem.values import Actor, Notice

OPERATION = "import"
LONGEST = 0.25  # seconds that a transaction may take
AIM = 0.15  # seconds that it should take, so that one that takes longer than expected is none too long
FIRST_PORTION, MOST_PORTION = 50, 5_000  # records
LOOK = 25  # records after which the clock is looked at
MOST_LISTED, MOST_FOR_AGENTS = 10_000, 50  # outcomes
_QUIET = (MergeAction.ADDED, MergeAction.IDENTICAL)
_KINDS = tuple(RecordKind)
_OF_VECTORS = (RecordKind.MODEL, RecordKind.VECTOR)


def _untold(what: str, done: int, total: int | None = None) -> None:
    """Nobody wants to know how far it is."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to import for whom; `project` is that of records of other formats which name none."""

    path: Path
    actor: Actor
    is_person: bool
    format: Format | None = None
    project: str | None = None
    dry_run: bool = False
    skip_bad: bool = False
    stdin: IO[bytes] | None = None
    places: Places = field(default_factory=places)
    progress: Callable[..., None] = _untold

    @property
    def name(self) -> str:
        """The source, as the answer names it."""
        return "-" if self.stdin is not None else str(self.path)


def run(store: Store, embedder: Embedder | None, request: Request) -> Imported:
    """Import a source; raises `Usage` for one that cannot be read or recognised, and `StoreUnusable`."""
    with Staging() as staging:
        path = _at_hand(request, staging.folder)
        reader = planning.reader_for(path, request.format)
        at = clock.to_text(clock.now())
        checker = Checker(reader.format, at, request.is_person, request.project)
        tell = partial(request.progress, "reading")
        plan = planning.plan(store, reader, path, checker, staging, tell)
        answer = _answer(request, reader.format, plan)
        if plan.malformed and not (request.skip_bad or request.dry_run):
            return answer
        writing = _Writing(
            request, reader.format, plan, {"format": reader.format.value, "source": _digest(path)}
        )
        if not request.dry_run:
            return writing.told(answer, store, embedder, staging)
        copy = _copy(store, staging.folder / "copy.db")
        try:
            return writing.told(answer, copy, embedder, staging)
        finally:
            copy.close()


def _answer(request: Request, format_: Format, plan: Plan) -> Imported:
    """What can be said after the first pass."""
    counts = {kind: {MergeAction.MALFORMED.value: count} for kind, count in plan.malformed.items()}
    notices = list(plan.notices)
    if plan.without_project:
        where = f"went to the project {request.project}; --global puts them nowhere"
        notices.append(Notice("project", f"{plan.without_project} records that name no project {where}."))
    return Imported(
        path=request.name,
        format=format_.value,
        dry_run=request.dry_run,
        applied=False,
        counts=counts,
        malformed=plan.malformed.total(),
        bad=tuple(plan.bad),
        warnings=tuple(notices),
    )


@dataclass(slots=True)
class _Writing:
    """The second pass: records go into the store, and what became of them is counted."""

    request: Request
    format: Format
    plan: Plan
    detail: dict[str, Any]
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    outcomes: list[ImportOutcome] = field(default_factory=list)
    left_out: int = 0
    _unit: Unit | None = None
    _portion: int = FIRST_PORTION

    def told(self, answer: Imported, store: Store, embedder: Embedder | None, staging: Staging) -> Imported:
        """Write everything; gives the answer with what became of it."""
        for name, counted in answer.counts.items():
            self.counts[name] = Counter(counted)
        self.detail |= {"counts": dict(sorted(self.plan.counts.items()))}
        merge = Merge(has_vectors=store.has_vectors)
        try:
            self._write(store, embedder, staging, merge)
        except StoreUnusable as err:
            raise type(err)(f"{err} {self._so_far()}", hint=err.hint) from err
        finally:
            swept = self._sweep(store, merge.erased)
        with store.read() as db:
            pending = embeddings.coverage(db, embeddings.active_model(db))[1] if embedder else 0
        has_event = self._unit is not None and self._unit.has_event
        return replace(
            answer,
            applied=not self.request.dry_run,
            counts={name: dict(counted) for name, counted in self.counts.items() if +counted},
            warnings=(*answer.warnings, *swept),
            outcomes=tuple(self.outcomes),
            left_out=self.left_out,
            pending=pending,
            event=self._unit.event_id if has_event and self._unit and not self.request.dry_run else None,
        )

    def _write(self, store: Store, embedder: Embedder | None, staging: Staging, merge: Merge) -> None:
        adoption = Adoption(embedder, has_vectors=store.has_vectors)
        adoption.recognise(self.plan.unnamed)
        waiting = _Peekable(staging.records())
        total, written = sum(self.plan.counts.values()), 0
        while waiting.has_more:
            self.request.progress("importing", written, total)
            began = time.monotonic()
            taken = self._transaction(store, merge, adoption, waiting)
            written += taken
            lasted = time.monotonic() - began
            grown = int(taken * AIM / max(lasted, 1e-4))
            self._portion = max(1, min(grown, self._portion * 2, MOST_PORTION))

    def _transaction(self, store: Store, merge: Merge, adoption: Adoption, waiting: "_Peekable") -> int:
        """Write as many records as fit into the time; gives how many."""
        done: list[tuple[Staged, Outcome]] = []
        with store.write() as db:
            unit = self._begun(db)
            merge.begin(unit)
            began = time.monotonic()
            while waiting.has_more and len(done) < self._portion:
                staged = waiting.next()
                done.append((staged, self._take(unit, staged, merge, adoption)))
                if len(done) % LOOK == 0 and time.monotonic() - began > AIM / 2:
                    break
            merge.settle()
            adoption.settle(unit)
            entity_search.refresh(db, unit.entity_ids)
            index.refresh(db, unit.memory_ids | unit.to_index, has_vectors=store.has_vectors)
            if unit.memory_ids or unit.entity_ids:
                # A migration of vectors catches up by numbers of events; what arrives may have an old one.
                index.discard_next(db, has_vectors=store.has_vectors)
            self._seal(unit, [outcome for _, outcome in done])
        for staged, outcome in done:
            self._count(staged, outcome)
        return len(done)

    def _begun(self, db: Any) -> Unit:
        at = next_instant(db)
        if self._unit is not None:
            return self._unit.next_part(db, at)
        return Unit(db, OPERATION, self.request.actor, at, detail=dict(self.detail))

    def _seal(self, unit: Unit, outcomes: Sequence[Outcome]) -> None:
        """The first transaction that changes something has the event; what it concerns, its rows say."""
        if self._unit is None and (unit.has_event or any(map(_changes, outcomes))):
            unit.memory_ids, unit.entity_ids = {}, {}
            _ = unit.event_id  # rows that came with events of their own have not asked for it
            unit.finish()
            self._unit = unit

    def _take(self, unit: Unit, staged: Staged, merge: Merge, adoption: Adoption) -> Outcome:
        import orjson

        record, given, refusal, skipped = orjson.loads(staged.body)
        if skipped:
            return Outcome(MergeAction.SKIPPED, record.get("uid"), reason=skipped)
        if refusal:
            return Outcome(MergeAction.REFUSED, record.get("uid"), refusal=Refusal(*refusal))
        kind = _KINDS[staged.rank]
        if kind in _OF_VECTORS:
            return adoption.take(unit, record)
        if kind is RecordKind.MEMORY and self.format is not Format.MEM:
            refused = admitting.refusal(unit.db, record, self.format, now=unit.at)
            if refused is not None:
                return Outcome(MergeAction.REFUSED, record["uid"], refusal=refused)
        return merge.take(record, given)

    def _count(self, staged: Staged, outcome: Outcome) -> None:
        kind = _KINDS[staged.rank]
        self.counts.setdefault(kind.value, Counter())[outcome.action.value] += 1
        quiet = outcome.action in _QUIET
        if quiet and kind is not RecordKind.MEMORY and not (outcome.warnings or staged.notices):
            return
        most = MOST_LISTED if self.request.is_person else MOST_FOR_AGENTS
        listed_whole = self.request.is_person and sum(self.plan.counts.values()) <= MOST_LISTED
        if quiet and not listed_whole:
            return
        if len(self.outcomes) >= most:
            self.left_out += 1
            return
        self.outcomes.append(_outcome(staged, outcome, kind, dry_run=self.request.dry_run))

    def _sweep(self, store: Store, erased: Erased) -> list[Notice]:
        """Take what was forgotten elsewhere out of our other files too, as `forget` does."""
        if not erased.uids or self.request.dry_run:
            return []
        again = f"mem forget {erased.uids[0]} --yes"
        swept = forgetting.sweep(
            store, erased, erased.uids, self.request.places, self.request.actor, again=again
        )
        told = [f"{len(erased.uids)} memories were forgotten elsewhere, and are erased here too."]
        told += [f"Rewritten without them: {file}" for file in swept.rewritten]
        told += [f"Still in {file}, which is yours to delete there." for file in swept.listed]
        told += [f"This remains: {left}" for left in swept.remains]
        return [Notice("forgotten", text) for text in told]

    def _so_far(self) -> str:
        written = sum(sum(counted.values()) for counted in self.counts.values()) - self.plan.malformed.total()
        if self.request.dry_run or written <= 0:
            return "Nothing was imported."
        return f"{written:,} records were imported before that; the same import again goes on."


class _Peekable:
    """Staged records, one looked at ahead."""

    def __init__(self, records: Iterator[Staged]) -> None:
        self._records = records
        self._ahead = next(records, None)

    @property
    def has_more(self) -> bool:
        return self._ahead is not None

    def next(self) -> Staged:
        """The next record, which is there."""
        if self._ahead is None:
            raise StopIteration
        found, self._ahead = self._ahead, next(self._records, None)
        return found


def _changes(outcome: Outcome) -> bool:
    """Whether a record left something in the store: what is refused may come in as rejected."""
    match outcome.action:
        case MergeAction.ADDED | MergeAction.UPDATED | MergeAction.MERGED:
            return True
        case MergeAction.REFUSED:
            return outcome.id is not None
        case _:
            return False


def _outcome(staged: Staged, outcome: Outcome, kind: RecordKind, *, dry_run: bool) -> ImportOutcome:
    import orjson

    told = [Notice(code, message) for code, message in orjson.loads(staged.notices or b"[]")]
    is_new = outcome.action is MergeAction.ADDED
    return ImportOutcome(
        action=outcome.action.value,
        record=kind.value,
        place=staged.place,
        line=staged.line,
        uid=outcome.uid,
        id=None if dry_run and is_new else outcome.id,
        reason=outcome.reason,
        refusal=outcome.refusal,
        warnings=(*told, *outcome.warnings),
    )


def _at_hand(request: Request, folder: Path) -> Path:
    """The source as something that can be read more than once, which a stream and a pipe cannot."""
    if request.stdin is not None:
        return _spooled(request.stdin, folder)
    if not request.path.is_fifo():
        return request.path
    try:
        with request.path.open("rb") as stream:
            return _spooled(stream, folder, request.name)
    except PermissionError as err:
        told = f"Cannot read {request.name}: {err.strerror}."
        raise Usage(told, hint="Name a file that can be read.") from err


def _spooled(stream: IO[bytes], folder: Path, name: str = "Standard input") -> Path:
    """What comes on a stream, in a file."""
    path = folder / "source"
    try:
        with path.open("xb") as file:
            while part := stream.read1(1 << 20) if hasattr(stream, "read1") else stream.read(1 << 20):
                file.write(part)
    except OSError as err:
        raise StoreUnusable(
            f"{name} cannot be kept in {folder}: {err.strerror}.",
            hint="Free some space, or set TMPDIR to a folder with room.",
        ) from err
    if not path.stat().st_size:
        raise Usage(f"{name} is empty.", hint="Name a file, or send one: mem import - < FILE")
    return path


def _digest(path: Path) -> str | None:
    """What tells this source from another; a folder has no digest."""
    if path.is_dir():
        return None
    with path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def _copy(store: Store, file: Path) -> Store:
    """A private copy of a store, for what must not touch it."""
    file.touch(mode=0o600)
    with store.read() as db:
        copies.take_pages_of(db, file)
    return Store(file)
