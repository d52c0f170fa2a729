"""Every operation of `mem`, a few lines each, on the parts below.

Both front ends are derived from these methods: see `mem.operations`. A service is cheap to make: the store
and the embedder behind it are shared, the caller (who asks, from which folder) is its own.
"""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import apsw

from mem import clock, config, doctor
from mem.caller import Caller, current_caller
from mem.clock import Edge
from mem.context import block
from mem.context.block import Block
from mem.context.notes import Notes
from mem.context.sessions import SILENCE, Sessions
from mem.embed import Embedder
from mem.errors import MemError, NotFound, Refused, Usage
from mem.operations import Doc, Panel, find_operation, operation, operations
from mem.paths import places, store_path
from mem.results import (
    Action,
    Batch,
    Changed,
    ContextBlock,
    ContextItem,
    Contradictions,
    Diagnosis,
    Forgotten,
    History,
    Hit,
    Log,
    Maintained,
    Memories,
    Recall,
    Refusal,
    ReviewQueue,
    SessionEnded,
    SessionPage,
    SessionStarted,
    Statistics,
    Stored,
    Undone,
    VectorState,
    Waiting,
    WindowUsed,
)
from mem.scope import Root, find_root
from mem.search import index, neighbours, temporal
from mem.search.embedding import Computed, Vectors
from mem.search.recall import Ask, Ranking, rank
from mem.search.vector import Question
from mem.store import (
    audit,
    embeddings,
    history,
    images,
    memories,
    projects,
    proposals,
    sessions,
    statistics,
    traces,
    upkeep,
)
from mem.store.connect import Store
from mem.store.events import Unit, unit_of_work
from mem.store.filters import is_live, where
from mem.truth import (
    admission,
    contradictions,
    drafts,
    forgetting,
    rejection,
    retention,
    review,
    similar,
    supersession,
    trust,
    undo,
)
from mem.truth.writing import as_new, rewrite
from mem.values import (
    ActorKind,
    Category,
    Filter,
    Fusion,
    Kind,
    Layer,
    Level,
    Memory,
    Mode,
    Moment,
    NewMemory,
    Notice,
    Scope,
    Sort,
    Status,
    Trust,
)
from mem.worker.embedder import choose_embedder, worker_counts

MAX_BATCH = 500
ANSWER_TIME = 0.15  # seconds of a deadline that are kept for all but the vector of the question
MOST_FILLED = 16  # texts that were left without their vectors, and get them after another call
LOOKED_THROUGH = 500  # of the newest memories, for such texts

Ids = Annotated[
    Sequence[str],
    Doc("Memories: number, UUID, or a prefix of the UUID of 8 characters or more.", metavar="ID"),
]
Id = Annotated[
    str, Doc("The memory: number, UUID, or a prefix of the UUID of 8 characters or more.", metavar="ID")
]
Reason = Annotated[str | None, Doc("Why; kept with the memory and in the audit log.")]
Force = Annotated[
    bool, Doc("Override that this was rejected, forgotten or archived; the log says so.", people=True)
]
AllowSecret = Annotated[
    bool, Doc("Store secrets as they are, instead of redacting them; the log says so.", people=True)
]
Project = Annotated[str | None, Doc("Project, by name; else MEM_PROJECT, else the current repository.")]
Global = Annotated[bool, Doc("Belongs to no project: known everywhere.")]
AllProjects = Annotated[bool, Doc("Look through all projects, not only the current one and what is global.")]
Title = Annotated[str | None, Doc("Short title; a decision's title is part of what it says.")]
Rationale = Annotated[str | None, Doc("Why it was decided so.")]
Alternatives = Annotated[str | None, Doc("What else was considered, and why not.")]
Source = Annotated[str | None, Doc("Where this comes from: a file, an address, a conversation.")]
EventTime = Annotated[str | None, Doc("When it happened: a date or a time.")]
ValidFrom = Annotated[str | None, Doc("Since when it holds: a date (its first local instant) or a time.")]
ValidTo = Annotated[str | None, Doc("Until when it held: a date (to the end of that local day) or a time.")]
Expires = Annotated[str | None, Doc("When to forget it: a date, a time, or a span such as 36h, 7d, 2w.")]
ValidAt = Annotated[str | None, Doc("Answer for what held at this date or time instead of now.")]
KnownAt = Annotated[str | None, Doc("Answer with what was believed at this date or time.")]
Kinds = Annotated[Sequence[Kind], Doc("Only memories of this kind.")]
Categories = Annotated[Sequence[Category], Doc("Only memories of this category.")]
Levels = Annotated[Sequence[Level], Doc("Only memories of this level.")]
Layers = Annotated[Sequence[Layer], Doc("Only memories of this layer.")]
Tags = Annotated[Sequence[str], Doc("Only memories with this tag; repeated: with all of them.")]
Statuses = Annotated[Sequence[Status], Doc("Memories of this status instead of the active ones.")]
MinImportance = Annotated[
    int | None, Doc("Only memories of at least this importance.", minimum=0, maximum=10)
]
MinConfidence = Annotated[
    float | None, Doc("Only memories of at least this confidence.", minimum=0, maximum=1)
]
Trusts = Annotated[Sequence[Trust], Doc("Only memories of this trust.")]
Since = Annotated[str | None, Doc("Only what happened (or was recorded) at or after this date or time.")]
Until = Annotated[
    str | None, Doc("Only what happened (or was recorded) before the end of this date, or before this time.")
]
Budget = Annotated[
    int,
    Doc(
        "Tokens that the notes may take, four characters each; only whole ones.", minimum=100, maximum=20_000
    ),
]
DeadlineMs = Annotated[
    int | None,
    Doc(
        "Milliseconds within which the answer must be there; if its vector is late, it is by words alone.",
        minimum=50,
        maximum=60_000,
    ),
]


@dataclasses.dataclass(frozen=True, slots=True)
class _Wanted:
    """A memory to be stored: what it says, the ids that it replaces, and whether a person insists on it."""

    new: NewMemory
    replaced: tuple[str, ...] = ()
    force: bool = False
    allow_secret: bool = False


class Service:
    """The operations, for one caller. Safe to use from several threads: each gets its own connection."""

    def __init__(
        self, store: Store, embedder: Embedder | None, caller: Caller, *, later: traces.Later | None = None
    ) -> None:
        """`later` takes what can be done after the answer; without it that is done before, or not at all."""
        self._store = store
        self._vectors = Vectors(store, embedder)
        self._caller = caller
        self._later = later

    def of(self, caller: Caller, *, later: traces.Later | None = None) -> "Service":
        """The same store and embedder for another caller."""
        return Service(self._store, self._vectors.embedder, caller, later=later)

    def close(self) -> None:
        """Close the store; no service on it may be used afterwards."""
        self._store.close()

    # Remember

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        idempotent=True,
        examples=(
            'mem store "The deploy key for staging rotates every 90 days" --tag deploy --importance 7',
            'mem store "We use Postgres" --kind decision --title Database --rationale "one engine for all"',
            "git log -1 --format=%B | mem store - --category workflow",
        ),
    )
    def store(
        self,
        content: Annotated[str, Doc("The text to remember.", stdin=True)],
        *,
        kind: Annotated[Kind, Doc("What it is.")] = Kind.LEARNING,
        title: Title = None,
        rationale: Rationale = None,
        alternatives: Alternatives = None,
        category: Annotated[Category, Doc("What it is about.")] = Category.GENERAL,
        level: Annotated[Level, Doc("How general it is; meta_knowledge is earned.")] = Level.SEMI_ABSTRACT,
        layer: Annotated[
            Layer, Doc("How long it lives: working 6 hours, short_term 7 days, else until someone ends it.")
        ] = Layer.LONG_TERM,
        importance: Annotated[
            int,
            Doc(
                "9-10 identity and rules, 7-8 active decisions, 5-6 context, up to 4 traces.",
                minimum=0,
                maximum=10,
            ),
        ] = 5,
        confidence: Annotated[float, Doc("How sure it is.", minimum=0, maximum=1)] = 0.7,
        project: Project = None,
        global_: Global = False,
        tag: Annotated[Sequence[str], Doc("A tag; may be repeated.")] = (),
        source: Source = None,
        event_time: EventTime = None,
        valid_from: ValidFrom = None,
        valid_to: ValidTo = None,
        expires: Expires = None,
        supersedes: Annotated[
            Sequence[str], Doc("A memory that this one replaces; may be repeated.", metavar="ID")
        ] = (),
        force: Force = False,
        allow_secret: AllowSecret = False,
    ) -> Stored:
        """Store a memory; says whether it was added, known already, or refused, and what it is near to.

        A text that is known already is not stored twice: its tags are merged and its id is returned.
        Near-duplicates and possible contradictions are named, never merged. Secrets are redacted.
        """
        new = self._draft(
            {
                "content": content,
                "kind": kind,
                "title": title,
                "rationale": rationale,
                "alternatives": alternatives,
                "category": category,
                "level": level,
                "layer": layer,
                "importance": importance,
                "confidence": confidence,
                "tags": tag,
                "source": source,
                "event_time": event_time,
                "valid_from": valid_from,
                "valid_to": valid_to,
                "expires": expires,
            },
            project=project,
            global_=global_,
            allow_secret=allow_secret,
        )
        wanted = _Wanted(new, tuple(supersedes), force, allow_secret)
        return self._write("store", [wanted], self._store_draft)[0]

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        idempotent=True,
        examples=("mem store-batch notes.jsonl", "mem store-batch - < notes.json"),
    )
    def store_batch(
        self,
        items: Annotated[
            Sequence[dict[str, Any]],
            Doc(
                "Objects with the arguments of store, at most 500. On the command line a file, or -: a JSON "
                "array, or one object a line.",
                metavar="FILE",
                document=True,
            ),
        ],
    ) -> Batch:
        """Store many memories in one transaction; answers with an outcome per item, in order.

        An item that is malformed is refused with its reason; the others are stored.
        """
        if len(items) > MAX_BATCH:
            raise Usage(f"A batch holds at most {MAX_BATCH} items, not {len(items)}.", hint="Split it.")
        if not items:
            raise Usage("The batch is empty.", hint="Give a JSON array of objects, or one object a line.")
        parsed = [self._item(item) for item in items]
        wanted = [entry for entry in parsed if not isinstance(entry, Stored)]
        written = iter(self._write("store-batch", wanted, self._store_item) if wanted else ())
        return Batch(tuple(entry if isinstance(entry, Stored) else next(written) for entry in parsed))

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=('mem update 42 --importance 8 --add-tag deploy --reason "it broke twice"',),
    )
    def update(
        self,
        id: Id,
        *,
        content: Annotated[str | None, Doc("The new text.", stdin=True)] = None,
        title: Title = None,
        rationale: Rationale = None,
        alternatives: Alternatives = None,
        category: Annotated[Category | None, Doc("What it is about.")] = None,
        level: Annotated[Level | None, Doc("How general it is.")] = None,
        layer: Annotated[Layer | None, Doc("How long it lives.")] = None,
        importance: Annotated[int | None, Doc("How much it matters.", minimum=0, maximum=10)] = None,
        confidence: Annotated[float | None, Doc("How sure it is.", minimum=0, maximum=1)] = None,
        project: Annotated[str | None, Doc("Move it to this project.")] = None,
        global_: Annotated[bool, Doc("Move it out of its project: known everywhere.")] = False,
        tag: Annotated[Sequence[str], Doc("Replace the tags by these.")] = (),
        add_tag: Annotated[Sequence[str], Doc("Add a tag.")] = (),
        remove_tag: Annotated[Sequence[str], Doc("Take a tag away.")] = (),
        source: Source = None,
        event_time: EventTime = None,
        valid_from: ValidFrom = None,
        valid_to: ValidTo = None,
        expires: Expires = None,
        clear: Annotated[Sequence[drafts.Clearable], Doc("Empty this field.")] = (),
        reason: Reason = None,
        force: Force = False,
        allow_secret: AllowSecret = False,
    ) -> Changed:
        """Change a memory in place, for a slip in the text or its attributes; the replaced version is kept.

        When the world changed rather than the wording, supersede it instead.
        """
        given = {
            "content": content,
            "title": title,
            "rationale": rationale,
            "alternatives": alternatives,
            "category": category,
            "level": level,
            "layer": layer,
            "importance": importance,
            "confidence": confidence,
            "project": drafts.project_to_write(self._named(project)),
            "source": source,
            "event_time": event_time,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "expires": expires,
        }
        edit = drafts.Edit(
            {name: value for name, value in given.items() if value is not None},
            leaves_project=global_,
            tags=tuple(tag),
            add_tags=tuple(add_tag),
            remove_tags=tuple(remove_tag),
            clear=tuple(clear),
            allow_secret=allow_secret,
        )
        edit.require_something()
        why = drafts.reason(reason)
        with self._store.read() as db:
            before = memories.one(db, memories.resolve(db, [id])[0])
        vectors = self._vectors.of([edit.apply(as_new(before), at=clock.to_text(clock.now()))])
        with self._change("update", why.text, proposes=True) as unit:
            before = memories.one(unit.db, before.id)
            review.require_own(before, unit)
            after = edit.apply(as_new(before), at=unit.at)
            projects.bind_if_named(unit, after.project)
            number, notices = before.id, tuple[Notice, ...]()
            if review.is_reviewed(self._caller):
                number, notices = review.propose_update(unit, before, after, reason=why.text)
            else:
                rewrite(unit, before, after, force=force)
            _note_allowed(unit, allow_secret)
            vectors.save(unit)
        told = (*after.notices, *why.notices)
        return self._changed("proposed" if notices else "updated", [number], (*told, *notices))

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        destructive=True,
        examples=(
            'mem supersede 42 --content "The API listens on port 81" --valid-from 2026-04-01',
            "mem supersede 12 13 --by 42",
            "mem supersede 42 --ended --valid-to 2026-05-10",
        ),
    )
    def supersede(
        self,
        ids: Ids,
        *,
        content: Annotated[
            str | None,
            Doc("What holds instead, as a new memory.", stdin=True),
        ] = None,
        by: Annotated[str | None, Doc("An existing memory that holds instead.", metavar="ID")] = None,
        ended: Annotated[bool, Doc("Nothing holds instead: only close the interval.")] = False,
        title: Annotated[str | None, Doc("Title of the new memory, if it changes.")] = None,
        rationale: Annotated[str | None, Doc("Rationale of the new memory, if it changes.")] = None,
        valid_from: Annotated[
            str | None, Doc("Since when the new memory holds; else when the old ones ceased to, else now.")
        ] = None,
        valid_to: Annotated[
            str | None, Doc("When the old ones ceased to hold; else when the new one begins, else now.")
        ] = None,
        reason: Reason = None,
        force: Force = False,
        allow_secret: AllowSecret = False,
    ) -> Changed:
        """Replace memories by what holds now; the old ones stay with their intervals, linked to the new one.

        All or nothing. The new memory takes its attributes from the first one named.
        """
        said = {"title": title, "rationale": rationale, "valid-from": valid_from}
        supersession.require_one(ids, content, by, ended, said)
        admission.require_own_words(reason)
        closing = clock.parse(valid_to, Edge.NEXT, name="valid-to") if valid_to is not None else None
        why = drafts.reason(reason)
        if ended:
            return self._end(ids, closing, why)
        new = self._successor(ids, content, title, rationale, valid_from, allow_secret=allow_secret)
        vectors = self._vectors.of([new] if new else [])
        if new is not None and review.is_reviewed(self._caller):
            return self._propose_successor(ids, new, vectors, closing, why)
        with self._change("supersede", why.text) as unit:
            old_ids = memories.resolve(unit.db, ids)
            successor = (
                memories.resolve(unit.db, [by])[0]
                if by
                else self._add_successor(unit, new, old_ids, force=force)
            )
            notices = supersession.supersede(
                unit,
                _not_replaced_by(unit, successor, old_ids) if new else old_ids,
                successor,
                valid_from=new.valid_from if new else None,
                valid_to=closing,
                reason=why.text,
            )
            _note_allowed(unit, allow_secret and new is not None)
            vectors.save(unit)
        told = (*(new.notices if new else ()), *why.notices)
        return self._changed("superseded", [*old_ids, successor], (*told, *notices))

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=('mem archive 42 43 --reason "the service was shut down"',),
    )
    def archive(self, ids: Ids, *, reason: Reason = None) -> Changed:
        """Archive memories: kept and exported, no longer recalled; `mem restore` brings them back."""
        admission.require_own_words(reason)
        why = drafts.reason(reason)
        with self._change("archive", why.text) as unit:
            found = memories.resolve(unit.db, ids)
            for memory in (memories.one(unit.db, number) for number in found):
                if memory.status is Status.ARCHIVED:
                    continue
                if memory.status is not Status.ACTIVE:
                    raise Refused(f"#{memory.id} is {memory.status}; only an active memory can be archived.")
                memories.set_status(unit, memory.id, Status.ARCHIVED, why.text)
        return self._changed("archived", found, why.notices)

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        idempotent=True,
        examples=("mem restore 42",),
    )
    def restore(self, ids: Ids, *, reason: Reason = None, force: Force = False) -> Changed:
        """Bring archived memories back, unless their content was rejected or is live under another id.

        A person's `--force` lifts a rejection.
        """
        why = drafts.reason(reason)
        with self._change("restore", why.text) as unit:
            found = memories.resolve(unit.db, ids)
            for memory in (memories.one(unit.db, number) for number in found):
                expired = retention.has_expired(memory, unit.at)
                if memory.status is Status.ACTIVE and not expired:
                    continue
                restorable = memory.status is Status.ARCHIVED or expired
                if not restorable and not (force and memory.status is Status.REJECTED):
                    raise _not_restorable(memory)
                restored = as_new(memory)
                if restored.expires_at is not None and restored.expires_at <= unit.at:
                    restored = drafts.renewed(restored, at=unit.at)
                # Its successor holds in its place all the same.
                replaced = memory.superseded_by is not None and (memory.valid_to or unit.at) <= unit.at
                status = Status.SUPERSEDED if replaced else Status.ACTIVE
                rewrite(unit, memory, restored, status=status, force=force)
        return self._changed("restored", found, why.notices)

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=('mem reject 42 --reason "the port was never 80"',),
    )
    def reject(
        self,
        ids: Ids,
        *,
        reason: Annotated[str, Doc("Why this is wrong; shown whenever the same content is refused.")],
    ) -> Changed:
        """Reject memories: their content is refused from now on, through every door.

        That binds in the memory's project, for a global memory everywhere. `mem undo` or a person's
        `mem restore --force` takes it back.
        """
        admission.require_own_words(reason)
        why = drafts.reason(reason)
        with self._change("reject", why.text) as unit:
            fallen, notices = rejection.reject(unit, memories.resolve(unit.db, ids), why.text)
        return self._changed("rejected", fallen, (*why.notices, *notices))

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        idempotent=True,
        examples=(
            'mem trust 42 43 disputed --reason "the load test says otherwise"',
            "mem trust 42 verified",
        ),
    )
    def trust(
        self,
        ids: Ids,
        state: Annotated[
            Trust,
            Doc(
                "What it is from now on. Only people say verified, and take it away again.",
                metavar="STATE",
                reserved=("verified",),
            ),
        ],
        *,
        reason: Reason = None,
    ) -> Changed:
        """Say how far memories can be trusted: verified, unverified, or disputed.

        What is disputed is still found, with that mark and behind what is as good.
        """
        why = drafts.reason(reason)
        with self._change("trust", why.text) as unit:
            found = memories.resolve(unit.db, ids)
            for number in found:
                trust.judge(unit, number, state, why.text)
        return self._changed(state, found, why.notices)

    @operation(
        panel=Panel.REMEMBER,
        writes=True,
        destructive=True,
        idempotent=True,
        people=True,
        asks="Erase {ids} for good, with every version? This cannot be undone.",
        examples=("mem forget 42", "mem forget 42 43 --yes"),
    )
    def forget(self, ids: Ids) -> Forgotten:
        """Erase memories for good: every version, index entry and vector, and the bytes in the files.

        Their content is refused from now on. Other stores under the folder of `mem` are rewritten, other
        files that hold a text are listed. Nothing brings it back; to keep a record of what was wrong, reject
        it.
        """
        with self._change("forget") as unit:
            numbers, before = forgetting.find(unit.db, ids)
            erased = forgetting.forget(unit, numbers, has_vectors=self._store.has_vectors)
            notices = forgetting.notices(unit.db, erased)
        uids, folders = (*erased.uids, *before), places(self._caller.environment)
        done = forgetting.sweep(self._store, erased, uids, folders, self._caller.actor)
        return dataclasses.replace(done, warnings=notices)

    # Find

    @operation(
        panel=Panel.FIND,
        examples=(
            'mem recall "how often do we change credentials?"',
            'mem recall "what did we decide about caching last June" --kind decision --limit 5 --json',
            'mem recall "api port" --valid-at 2026-03-15 --known-at 2026-05-01',
        ),
    )
    def recall(
        self,
        query: Annotated[str, Doc("The question, in any language.", stdin=True)],
        *,
        limit: Annotated[int, Doc("How many hits at most.", minimum=1, maximum=100)] = 10,
        project: Project = None,
        all_projects: AllProjects = False,
        kind: Kinds = (),
        category: Categories = (),
        level: Levels = (),
        layer: Layers = (),
        tag: Tags = (),
        status: Statuses = (),
        trust: Trusts = (),
        min_importance: MinImportance = None,
        min_confidence: MinConfidence = None,
        since: Since = None,
        until: Until = None,
        valid_at: ValidAt = None,
        known_at: KnownAt = None,
        mode: Annotated[Mode, Doc("Search by words and meaning, or by one of them.")] = Mode.HYBRID,
        fusion: Annotated[Fusion, Doc("How words and meaning are joined.")] = Fusion.CONVEX,
        surface: Annotated[
            int | None,
            Doc(
                "Add so many important memories that nobody recalled for 30 days, marked as such.",
                minimum=1,
                maximum=3,
            ),
        ] = None,
        deadline_ms: DeadlineMs = None,
    ) -> Recall:
        """Recall memories by words and by meaning; nothing at all when nothing fits."""
        if not query.strip():
            raise Usage(
                "The query is empty.", hint='Ask something: mem recall "which port does the API use?"'
            )
        now = clock.now()
        window = _window(query, since, until, now)
        asked, degraded = self._vectors.question(query, mode, timeout=self.patience(deadline_ms))
        if degraded == ("no_vectors",) and deadline_ms is None:
            # The first texts were stored before the model was there: nothing would be found by meaning until
            # the next one is.
            self._fill()
            asked, degraded = self._vectors.question(query, mode, timeout=self.patience(deadline_ms))
        found = Mode.LEXICAL if asked is None else mode
        with self._store.read() as db:
            filter_ = Filter(
                scope=self._scope(db, project, all_projects),
                moment=_moment(valid_at, known_at),
                statuses=tuple(status),
                kinds=tuple(kind),
                categories=tuple(category),
                levels=tuple(level),
                layers=tuple(layer),
                trusts=tuple(trust),
                tags=tuple(tag),
                minimum_importance=min_importance,
                minimum_confidence=min_confidence,
                since=window.since if window and window.hard else None,
                until=window.until if window and window.hard else None,
            )
            ask = Ask(query, filter_, found, fusion, window)
            ranking = rank(db, ask, asked, now=clock.to_text(now), has_vectors=self._store.has_vectors)
            shown = ranking.hits[:limit]
            rows = memories.by_ids(db, [hit.id for hit in shown], table=ranking.rows)
            surfaced = self._cold(db, filter_, surface, ranking, now)
            elsewhere = self._elsewhere(db, ask, asked, ranking, now)
        if asked is not None and not self._store.has_vectors:
            degraded = (*degraded, "no_vector_extension")
        trace_id = traces.leave(
            self._store,
            traces.Trace(
                operation="recall",
                actor=self._caller.actor,
                project=filter_.scope.project,
                mode=found,
                degraded=degraded,
                total=len(ranking.hits),
                signals=ranking.signals.as_record(),
                shown=(
                    *((hit.id, hit.score) for hit in shown),
                    *((hit.memory.id, hit.score) for hit in surfaced),
                ),
                considered=tuple((hit.id, hit.score) for hit in ranking.hits[limit:]),
            ),
            self._later,
        )
        if asked is not None:
            self._fill_later()
        return Recall(
            query=query,
            mode=found,
            requested_mode=mode,
            degraded=degraded,
            trace_id=trace_id,
            total=len(ranking.hits),
            confidence=ranking.signals.confidence(),
            hits=(*(Hit(rows[hit.id], hit.score, hit.why) for hit in shown), *surfaced),
            window=window,
            elsewhere=elsewhere,
        )

    @operation(
        panel=Panel.FIND,
        examples=("mem get 42", "mem get 42 43 --json", "mem get 42 --known-at 2026-05-01"),
    )
    def get(self, ids: Ids, *, valid_at: ValidAt = None, known_at: KnownAt = None) -> Memories:
        """Show memories in full, whatever their status; with a clock, as they were believed then."""
        moment = _moment(valid_at, known_at)
        with self._store.read() as db:
            wanted = memories.resolve(db, ids)
            table = "memories" if moment.is_now else memories.select_as_of(db, moment)
            found = memories.by_ids(db, wanted, table=table)
            if not moment.is_now:
                anything = Filter(Scope(everywhere=True), moment, statuses=())
                condition = where(anything, now=clock.to_text(clock.now()))
                held = memories.numbers(db, condition, table=table)
                found = {number: memory for number, memory in found.items() if number in held}
        missing = [number for number in wanted if number not in found]
        if missing:
            raise NotFound(
                f"#{missing[0]} did not hold, or was not known, at that moment.",
                hint=f"See: mem history {missing[0]}",
            )
        now = clock.to_text(clock.now())
        notices = [retention.notice(found[number], now) for number in wanted if moment.is_now]
        told = tuple(notice for notice in notices if notice)
        return Memories(len(wanted), tuple(found[number] for number in wanted), told)

    @operation(
        panel=Panel.FIND,
        name="list",
        examples=("mem list --kind decision --sort importance", "mem list --status archived --offset 20"),
    )
    def list_(
        self,
        *,
        limit: Annotated[int, Doc("How many at most.", minimum=1, maximum=1000)] = 20,
        offset: Annotated[int, Doc("How many to pass over first.", minimum=0, maximum=10_000_000)] = 0,
        sort: Annotated[
            Sort, Doc("Newest record, greatest importance, or newest event first.")
        ] = Sort.RECORDED,
        project: Project = None,
        all_projects: AllProjects = False,
        kind: Kinds = (),
        category: Categories = (),
        level: Levels = (),
        layer: Layers = (),
        tag: Tags = (),
        status: Statuses = (),
        trust: Trusts = (),
        min_importance: MinImportance = None,
        min_confidence: MinConfidence = None,
        since: Since = None,
        until: Until = None,
        valid_at: ValidAt = None,
        known_at: KnownAt = None,
    ) -> Memories:
        """List memories, page by page."""
        moment = _moment(valid_at, known_at)
        window = _hard_window(since, until)
        with self._store.read() as db:
            filter_ = Filter(
                scope=self._scope(db, project, all_projects),
                moment=moment,
                statuses=tuple(status),
                kinds=tuple(kind),
                categories=tuple(category),
                levels=tuple(level),
                layers=tuple(layer),
                trusts=tuple(trust),
                tags=tuple(tag),
                minimum_importance=min_importance,
                minimum_confidence=min_confidence,
                since=window.since if window else None,
                until=window.until if window else None,
            )
            table = "memories" if moment.is_now else memories.select_as_of(db, moment)
            condition = where(filter_, now=clock.to_text(clock.now()))
            total, found = memories.page(db, condition, sort=sort, limit=limit, offset=offset, table=table)
        return Memories(total, tuple(found))

    @operation(panel=Panel.FIND, examples=("mem history 42",))
    def history(self, id: Id) -> History:
        """Show every version of a memory, and of those before and after it in its line of successors."""
        with self._store.read() as db:
            return history.of(db, memories.resolve(db, [id])[0])

    @operation(
        panel=Panel.FIND,
        examples=("mem contradictions", "mem contradictions --all-projects --kind decision --limit 50"),
    )
    def contradictions(
        self,
        *,
        limit: Annotated[int, Doc("How many pairs at most.", minimum=1, maximum=200)] = 20,
        project: Project = None,
        all_projects: AllProjects = False,
        kind: Kinds = (),
    ) -> Contradictions:
        """Propose pairs of memories that contradict each other, with the command that would settle each.

        They are close in meaning and differ in a negation, a number, a value or in confidence. Nothing is
        changed.
        """
        with self._store.read() as db:
            filter_ = Filter(scope=self._scope(db, project, all_projects), kinds=tuple(kind))
            return contradictions.find(db, filter_, now=clock.to_text(clock.now()), limit=limit)

    @operation(panel=Panel.FIND, examples=("mem stats", "mem stats --all-projects --json"))
    def stats(self, *, project: Project = None, all_projects: AllProjects = False) -> Statistics:
        """Count memories by status, kind, layer, level, category and project; coverage of vectors; size."""
        with self._store.read() as db:
            counted = statistics.count(
                db, self._scope(db, project, all_projects), self._store.path, now=clock.to_text(clock.now())
            )
        return dataclasses.replace(counted, worker=worker_counts(self._store.path, self._caller.environment))

    # Sessions and context

    @operation(
        panel=Panel.SESSIONS,
        examples=("mem context", 'mem context "how do we deploy to staging?" --budget 800'),
    )
    def context(
        self,
        query: Annotated[
            str | None, Doc("What the notes are for; without it, what a session begins with.", stdin=True)
        ] = None,
        *,
        budget: Budget = block.DEFAULT_BUDGET,
        project: Project = None,
        all_projects: AllProjects = False,
        deadline_ms: DeadlineMs = None,
    ) -> ContextBlock:
        """Give stored notes for a prompt: goal, profile, summaries, open decisions, and what fits or is new.

        The text is fenced as notes; each stands on one line with its id, date, project and source.
        """
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
        if query is None or not query.strip():
            return _context(None, budget, self.notes.overview(scope, budget=budget))
        patience = self.patience(deadline_ms)
        made = self.notes.about(query, scope, budget=budget, timeout=patience)
        if made.mode is Mode.HYBRID:
            self._fill_later()
        return _context(query, budget, made)

    @operation(
        panel=Panel.SESSIONS,
        writes=True,
        examples=("mem session-start", "mem session-start --project farm --json"),
    )
    def session_start(
        self, *, project: Project = None, budget: Budget = block.DEFAULT_BUDGET
    ) -> SessionStarted:
        """Open a session, or go on with the one that the host is in; answers with its id and the context.

        It belongs to the client that opens it. Sessions without a sign of life for a day are closed.
        """
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects=False)
        session = Sessions(self.notes).start(scope.project)
        made = _context(None, budget, self.notes.overview(scope, budget=budget))
        return SessionStarted(session.id, session.uid, session.client, session.project, made)

    @operation(
        panel=Panel.SESSIONS,
        writes=True,
        idempotent=True,
        examples=('mem session-end 3 --summary "Moved the cache to Redis" --task "load test it"',),
    )
    def session_end(
        self,
        id: Annotated[
            str | None,
            Doc(
                "The session: number, UUID or a prefix of it, or the host's name of it; else the open one.",
                metavar="ID",
            ),
        ] = None,
        *,
        summary: Annotated[
            str | None, Doc("What was done and decided; stored as a memory of kind summary.", stdin=True)
        ] = None,
        task: Annotated[Sequence[str], Doc("What is left to do; may be repeated.")] = (),
    ) -> SessionEnded:
        """End a session of this client, with a summary for those that follow and the tasks that are left.

        Ending it again adds to what is there. A session of another client is refused.
        """
        session, stored, notices = Sessions(self.notes, self._vectors).end(id, summary=summary, tasks=task)
        return SessionEnded(session, self._annotated([stored])[0] if stored else None, notices)

    @operation(panel=Panel.SESSIONS, examples=("mem sessions", "mem sessions --all-projects --limit 50"))
    def sessions(
        self,
        *,
        limit: Annotated[int, Doc("How many at most.", minimum=1, maximum=1000)] = 20,
        offset: Annotated[int, Doc("How many to pass over first.", minimum=0, maximum=10_000_000)] = 0,
        project: Project = None,
        all_projects: AllProjects = False,
    ) -> SessionPage:
        """List sessions, newest first, with their summaries and tasks."""
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
            total, found = sessions.page(db, scope, limit=limit, offset=offset)
        return SessionPage(total, tuple(found))

    @property
    def notes(self) -> Notes:
        """What the store has to say unasked, for this caller; the hooks ask it too."""
        return Notes(self._store, self._caller, self._vectors, self._later)

    # Review and audit

    @operation(
        panel=Panel.REVIEW,
        examples=(
            "mem log",
            "mem log --memory 42 --json",
            "mem log --operation reject --actor agent --since 2026-05-01",
            "mem log --follow --all-projects",
        ),
    )
    def log(
        self,
        *,
        limit: Annotated[int, Doc("How many at most.", minimum=1, maximum=1000)] = 20,
        offset: Annotated[int, Doc("How many to pass over first.", minimum=0, maximum=10_000_000)] = 0,
        project: Project = None,
        all_projects: AllProjects = False,
        operation: Annotated[Sequence[str], Doc("Only events of this operation, such as supersede.")] = (),
        actor: Annotated[Sequence[ActorKind], Doc("Only what these did.")] = (),
        client: Annotated[Sequence[str], Doc("Only what this client did, by its name.")] = (),
        session: Annotated[
            str | None, Doc("Only of this session: its id, or the host's name of it.", metavar="ID")
        ] = None,
        memory: Annotated[
            Sequence[str], Doc("Only events about this memory; repeated: about any of them.", metavar="ID")
        ] = (),
        since: Annotated[str | None, Doc("Only events at or after this date or time.")] = None,
        until: Annotated[
            str | None, Doc("Only events before the end of this date, or before this time.")
        ] = None,
        after: Annotated[
            str | None, Doc("Only events later than this one, by number or UUID.", metavar="EVENT")
        ] = None,
    ) -> Log:
        """List what was done to the store, newest first: each operation is one event, with who and why."""
        window = _hard_window(since, until)
        with self._store.read() as db:
            wanted = audit.Wanted(
                scope=self._scope(db, project, all_projects),
                operations=tuple(_operation_name(db, name) for name in operation),
                actors=tuple(actor),
                clients=tuple(client),
                session=session,
                memories=audit.uids(db, memory),
                since=window.since if window else None,
                until=window.until if window else None,
                after=audit.resolve(db, after) if after is not None else None,
            )
            total, elsewhere, events = audit.page(db, wanted, limit=limit, offset=offset)
            return Log(total, tuple(events), elsewhere, audit.newest(db))

    @operation(
        panel=Panel.REVIEW,
        writes=True,
        destructive=True,
        people=True,
        examples=("mem undo 12", 'mem undo 12 --reason "the wrong memory"'),
    )
    def undo(
        self,
        event: Annotated[
            str,
            Doc(
                "The event: its number in `mem log`, its UUID, or 8 or more characters of that.",
                metavar="EVENT",
            ),
        ],
        *,
        reason: Annotated[str | None, Doc("Why; kept in the audit log.")] = None,
    ) -> Undone:
        """Take back what one event did: what it changed is as before, what it added is archived.

        Refused, naming the later events, when something of it has changed since, and where content that was
        rejected would come back. An undo can be undone; import, maintain, backfill, migrate-vectors and
        forget cannot.
        """
        with self._store.read() as db:
            number = audit.resolve(db, event)
            before = images.memories_before(db, number)
        vectors = self._vectors.of([as_new(memory) for memory in before if memory.status is Status.ACTIVE])
        with self._change("undo", drafts.reason(reason).text) as unit:
            touched = undo.undo(unit, number)
            vectors.save(unit)
            undone, by = audit.one(unit.db, number), unit.event_id
        changed = self._changed("undone", touched)
        return Undone(number, undone.uid, undone.operation, by, changed.memories, changed.vector)

    # Upkeep

    @operation(
        panel=Panel.UPKEEP,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=("mem maintain", "mem maintain --dry-run --json"),
    )
    def maintain(
        self, *, dry_run: Annotated[bool, Doc("Only say what would be done; change nothing.")] = False
    ) -> Maintained:
        """Promote what is used, archive what has expired, close dead sessions, prune traces, tidy the store.

        Over all projects. A second run finds nothing to do; `mem serve` does it every hour.
        """
        with self._store.read() as db:
            before = upkeep.maintained_at(db)
            if dry_run:
                work = self._due(db, clock.to_text(clock.now()))
                return retention.told(work, dry_run=True)
        with unit_of_work(self._store, "maintain", self._caller.actor) as unit:
            if upkeep.maintained_at(unit.db) != before:
                return Maintained(dry_run=False, beside=True)
            work = self._due(unit.db, unit.at)
            retention.carry_out(unit, work)
            # A layer stands in no index, so what was promoted need not be indexed anew.
            index.refresh(unit.db, work.expired, has_vectors=self._store.has_vectors)
            upkeep.note_maintained(unit.db, unit.at)
        upkeep.settle(self._store)
        return retention.told(work, dry_run=False)

    def upkeep_due(self) -> float:
        """The seconds after which upkeep is due again; 0 for now."""
        with self._store.read() as db:
            last = upkeep.maintained_at(db)
        if last is None:
            return 0.0
        left = clock.from_text(last) + retention.EVERY - clock.now()
        return min(max(left, timedelta()), retention.EVERY).total_seconds()

    @operation(
        panel=Panel.REVIEW,
        people=True,
        examples=("mem review", "mem review --json", "mem review --project shop"),
    )
    def review_(
        self,
        *,
        limit: Annotated[int, Doc("How many at most.", minimum=1, maximum=1000)] = 100,
        offset: Annotated[int, Doc("How many to pass over first.", minimum=0, maximum=10_000_000)] = 0,
        project: Annotated[str | None, Doc("Only what belongs to this project; else whatever waits.")] = None,
    ) -> ReviewQueue:
        """Go through what agents and hooks proposed: on a terminal one at a time, else as a list.

        Each comes with who wrote it, what it would replace, and what it is near to; the oldest is first. What
        waits at all says the setting trust.review.
        """
        with self._store.read() as db:
            total, found = proposals.waiting(db, self._named(project), limit=limit, offset=offset)
            return ReviewQueue(total, tuple(self._waiting(db, memory) for memory in found))

    @operation(
        panel=Panel.REVIEW,
        people=True,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=("mem approve 7 8", 'mem approve 7 --content "The API listens on port 81"'),
    )
    def approve(
        self,
        ids: Ids,
        *,
        content: Annotated[
            str | None, Doc("Approve it with this text instead; for one memory.", stdin=True)
        ] = None,
        reason: Reason = None,
    ) -> Changed:
        """Approve what was proposed: it is live, and replaces what it was meant to replace.

        All or nothing. Refused where that has changed since, or where the text is known or rejected by now.
        """
        if content is not None and len(ids) != 1:
            raise Usage("content is for one memory.", hint="mem approve ID --content '…'")
        with self._store.read() as db:
            waiting = list(memories.by_ids(db, memories.resolve(db, ids)).values())
        at = clock.to_text(clock.now())
        vectors = self._vectors.of([review.edited(as_new(memory), content, at=at) for memory in waiting])
        changed: list[int] = []
        notices: list[Notice] = []
        why = drafts.reason(reason)
        with self._change("approve", why.text) as unit:
            numbers = memories.resolve(unit.db, ids)
            proposed_for = review.Plan.of(memories.one(unit.db, numbers[0])).reason
            if proposed_for and len(numbers) == 1:
                unit.texts.setdefault("reason", proposed_for)
            for number in numbers:
                touched, told = review.approve(unit, number, content=content)
                changed += touched
                notices += told
            vectors.save(unit)
        return self._changed("approved", changed, (*why.notices, *notices))

    # Set up

    @operation(
        panel=Panel.SETUP,
        command_line_only=True,
        writes=True,
        idempotent=True,
        examples=("mem doctor", "mem doctor --fix", "mem doctor --audit", "mem doctor --secrets"),
    )
    def doctor(
        self,
        *,
        fix: Annotated[bool, Doc("Rebuild the derived indexes, and tighten loose permissions.")] = False,
        audit: Annotated[
            bool, Doc("Check every event and what refers to one; say which does not fit, and why.")
        ] = False,
        secrets: Annotated[bool, Doc("Look for secrets in everything that is stored; say where.")] = False,
    ) -> Diagnosis:
        """Check the store, its indexes, the model and the versions of everything."""
        return doctor.examine(self._store, self._vectors.embedder, fix=fix, audit=audit, secrets=secrets)

    # What the operations share

    def _due(self, db: apsw.Connection, now: str) -> retention.Due:
        days, most = (
            int(config.value(key, self._caller.environment)) for key in ("traces.days", "traces.most")
        )
        return retention.due(db, now, silence=SILENCE, days=days, most=most)

    @contextmanager
    def _change(
        self, operation_name: str, reason: str | None = None, *, proposes: bool = False
    ) -> Iterator[Unit]:
        """A unit of work whose index entries are in step when it commits.

        This is where a caller is turned away who may not change things so; see `review.require_allowed`.
        """
        for_people = any(entry.people for entry in operations() if entry.name == operation_name)
        review.require_allowed(self._caller, operation_name, for_people=for_people, proposes=proposes)
        with unit_of_work(self._store, operation_name, self._caller.actor, reason=reason) as unit:
            yield unit
            index.refresh(unit.db, unit.memory_ids, has_vectors=self._store.has_vectors)

    def _write(
        self,
        operation_name: str,
        wanted: Sequence["_Wanted"],
        write: Callable[[Unit, "_Wanted", bool], Stored],
    ) -> list[Stored]:
        """Store drafts in one transaction; each may name memories that it replaces."""
        vectors = self._vectors.of([one.new for one in wanted])
        reviewed = review.is_reviewed(self._caller)
        with self._change(operation_name, proposes=True) as unit:
            outcomes = [write(unit, one, reviewed) for one in wanted]
            vectors.save(unit)
        if vectors.pieces:
            self._fill_later()
        return self._annotated(outcomes)

    def _store_item(self, unit: Unit, wanted: "_Wanted", reviewed: bool) -> Stored:
        """One item of a batch; what stands against it is its outcome, and does not cost the others."""
        try:
            with unit.part():
                return self._store_draft(unit, wanted, reviewed)
        except (NotFound, Refused, Usage) as err:
            return _refused(err)

    def _store_draft(self, unit: Unit, wanted: "_Wanted", reviewed: bool) -> Stored:
        new, old_ids = wanted.new, memories.resolve(unit.db, wanted.replaced)
        outcome = review.store(unit, new, reviewed=reviewed, replaced=old_ids, force=wanted.force)
        if outcome.action is Action.REFUSED or outcome.id is None:
            return outcome
        _note_allowed(unit, wanted.allow_secret)
        number, outcome = outcome.id, dataclasses.replace(outcome, warnings=(*new.notices, *outcome.warnings))
        root = self._root()
        projects.bind_if_named(unit, new.project, root if new.project == self._own(unit.db, root) else None)
        if reviewed or not old_ids:
            return outcome
        notices = supersession.supersede(
            unit,
            _not_replaced_by(unit, number, old_ids),
            number,
            valid_from=new.valid_from,
            valid_to=None,
            reason=None,
        )
        return dataclasses.replace(outcome, warnings=(*outcome.warnings, *notices), superseded=tuple(old_ids))

    def _annotated(self, outcomes: Sequence[Stored]) -> list[Stored]:
        """The outcomes with the state of their vectors, and what the added ones are near to."""
        with self._store.read() as db:
            return [self._annotate(db, outcome) for outcome in outcomes]

    def _annotate(self, db: apsw.Connection, outcome: Stored) -> Stored:
        if outcome.action is Action.REFUSED or outcome.id is None:
            return outcome
        notices: tuple[Notice, ...] = ()
        if outcome.action is Action.ADDED:
            added = memories.one(db, outcome.id)
            close = neighbours.near(db, added, has_vectors=self._store.has_vectors)
            notices = similar.near_duplicates(db, added, close)
        kept = [notice for notice in notices if not set(notice.ids) <= set(outcome.superseded)]
        return dataclasses.replace(
            outcome, vector=self._vectors.state(db, outcome.id), warnings=(*outcome.warnings, *kept)
        )

    def _waiting(self, db: apsw.Connection, memory: Memory) -> Waiting:
        """A proposal with what a person wants to know before approving it."""
        plan = review.Plan.of(memory)
        olds = [old for uid in plan.replaces if (old := proposals.named(db, uid))]
        close = neighbours.near(db, memory, has_vectors=self._store.has_vectors)
        near = similar.near_duplicates(db, memory, close)
        replaced = {old.id for old in olds}
        writer, session = proposals.writer(db, memory.id)
        return Waiting(
            memory=memory,
            writer=writer,
            session=session,
            replaces=tuple(olds),
            in_place=plan.in_place,
            near=tuple(notice for notice in near if not set(notice.ids) <= replaced),
            obstacle=review.obstacle(db, memory, now=clock.to_text(clock.now())),
        )

    def _item(self, item: Any) -> "_Wanted | Stored":
        """One item of a batch as a draft; a malformed one as the refusal that is its outcome."""
        try:
            if not isinstance(item, dict):
                raise Usage("An item must be an object with the arguments of store.")
            values = find_operation("store").bind(item, agent=not self._caller.is_person)
            replaced = tuple(values.pop("supersedes", ()))
            project, global_ = values.pop("project", None), values.pop("global_", False)
            values["tags"], force = values.pop("tag", ()), values.pop("force", False)
            allowed = values.pop("allow_secret", False)
            new = self._draft(values, project=project, global_=global_, allow_secret=allowed)
            return _Wanted(new, replaced, force, allowed)
        except Usage as err:
            return _refused(err)

    def _draft(
        self, values: dict[str, Any], *, project: str | None, global_: bool, allow_secret: bool
    ) -> NewMemory:
        if project and global_:
            raise Usage(
                "A memory belongs to a project or is global, not both.", hint="Leave one of them out."
            )
        new = drafts.draft(values, at=clock.to_text(clock.now()), allow_secret=allow_secret)
        if global_:
            return new
        with self._store.read() as db:
            named = drafts.project_to_write(self._named(project) or self._current(db))
            return dataclasses.replace(new, project=named)

    def _successor(
        self,
        ids: Sequence[str],
        content: str | None,
        title: str | None,
        rationale: str | None,
        valid_from: str | None,
        *,
        allow_secret: bool,
    ) -> NewMemory | None:
        """The draft of what holds instead, with the attributes of the first memory named."""
        if content is None:
            return None
        with self._store.read() as db:
            before = as_new(memories.one(db, memories.resolve(db, ids)[0]))
        return drafts.successor(
            before,
            content=content,
            title=title,
            rationale=rationale,
            valid_from=valid_from,
            at=clock.to_text(clock.now()),
            allow_secret=allow_secret,
        )

    def _add_successor(
        self, unit: Unit, new: NewMemory | None, old_ids: Sequence[int], *, force: bool
    ) -> int:
        if new is None:
            raise Usage("supersede needs a new text or an existing memory.")
        return _written(review.store(unit, new, reviewed=False, replaced=old_ids, force=force))

    def _propose_successor(
        self, ids: Sequence[str], new: NewMemory, vectors: Computed, closing: str | None, why: drafts.Clean
    ) -> Changed:
        """What holds instead waits for a person; until then the old ones stay as they are."""
        with self._change("supersede", why.text, proposes=True) as unit:
            old_ids = memories.resolve(unit.db, ids)
            outcome = review.propose(unit, new, old_ids, valid_to=closing, reason=why.text)
            number = _written(outcome)
            vectors.save(unit)
        told = (*new.notices, *why.notices)
        return self._changed("proposed", [number], (*told, *outcome.warnings))

    def _end(self, ids: Sequence[str], closing: str | None, why: drafts.Clean) -> Changed:
        with self._change("supersede", why.text) as unit:
            old_ids = memories.resolve(unit.db, ids)
            supersession.end(unit, old_ids, valid_to=closing)
        return self._changed("ended", old_ids, why.notices)

    def _changed(self, action: str, ids: Sequence[int], notices: Sequence[Notice] = ()) -> Changed:
        with self._store.read() as db:
            rows = memories.by_ids(db, ids)
            states = {
                self._vectors.state(db, number) for number in ids if rows[number].status is Status.ACTIVE
            }
        pending = VectorState.PENDING if VectorState.PENDING in states else next(iter(states), None)
        return Changed(action, tuple(rows[number] for number in dict.fromkeys(ids)), pending, tuple(notices))

    def _cold(
        self, db: apsw.Connection, filter_: Filter, most: int | None, ranking: Ranking, now: datetime
    ) -> tuple[Hit, ...]:
        """What nobody recalled for long and is no hit either; only where it was asked for."""
        if most is None:
            return ()
        if not is_live(filter_):
            raise Usage(
                "surface shows what is live now; it goes with no status, valid-at or known-at.",
                hint="Leave one of them out.",
            )
        hits = [hit.id for hit in ranking.hits]
        found = retention.cold(db, filter_, now=now, most=most, without=hits)
        rows = memories.by_ids(db, found)
        return tuple(Hit(rows[number], 0.0, {}, surfaced=True) for number in found)

    def _elsewhere(
        self,
        db: apsw.Connection,
        ask: Ask,
        asked: Question | None,
        ranking: Ranking,
        now: datetime,
    ) -> int | None:
        """Outside any project: how many more hits the projects hold."""
        if ask.filter.scope != Scope():
            return None
        if ask.filter.moment.is_now and not projects.hold_memories(db):
            return 0
        everywhere = dataclasses.replace(
            ask, filter=dataclasses.replace(ask.filter, scope=Scope(everywhere=True))
        )
        found = rank(db, everywhere, asked, now=clock.to_text(now), has_vectors=self._store.has_vectors)
        here = {hit.id for hit in ranking.hits}
        rows = memories.by_ids(db, [hit.id for hit in found.hits if hit.id not in here], table=found.rows)
        return sum(memory.project is not None for memory in rows.values())

    def _scope(self, db: apsw.Connection, project: str | None, all_projects: bool) -> Scope:
        if all_projects:
            return Scope(everywhere=True)
        return Scope(self._named(project) or self._current(db))

    def _current(self, db: apsw.Connection) -> str | None:
        """The project of a call that names none."""
        return self.notes.project(db)

    def patience(self, deadline_ms: int | None) -> float | None:
        """Seconds that the vector of a question may take; None for what the embedder takes by itself."""
        now = time.monotonic()
        limits = [] if self._caller.waits_until is None else [self._caller.waits_until]
        if deadline_ms is not None:
            began = now if self._caller.began is None else self._caller.began
            limits.append(began + deadline_ms / 1000 - ANSWER_TIME)
        return max(0.0, min(limits) - now) if limits else None

    def _fill_later(self) -> None:
        """The model is at hand: after the answer, a few texts that it was not there for get their vectors."""
        if self._later is not None:
            self._later(self._fill)

    def _fill(self) -> None:
        with suppress(MemError):
            with self._store.read() as db:
                numbers = embeddings.lacking(db, among=LOOKED_THROUGH, limit=MOST_FILLED)
                waiting = memories.by_ids(db, numbers)
            vectors = self._vectors.of([as_new(memory) for memory in waiting.values()])
            if vectors.pieces:
                with self._change("backfill") as unit:
                    vectors.save(unit)

    def _own(self, db: apsw.Connection, root: Root | None) -> str | None:
        return projects.name_of(db, root) if root is not None else None

    def _root(self) -> Root | None:
        return find_root(self._caller.folder)

    def _named(self, project: str | None) -> str | None:
        return drafts.project_name(project) if project else None


def _context(query: str | None, budget: int, made: Block) -> ContextBlock:
    return ContextBlock(
        query=query,
        text=made.text,
        budget=budget,
        tokens=block.tokens(made.text),
        mode=made.mode,
        requested_mode=None if made.mode is None else Mode.HYBRID,
        degraded=made.degraded,
        trace_id=made.trace_id,
        items=tuple(ContextItem(entry.memory, entry.section) for entry in made.entries if entry.memory),
        left_out=made.left_out,
    )


def _note_allowed(unit: Unit, allow_secret: bool) -> None:
    """Let the event say that a person had secrets stored."""
    if allow_secret:
        unit.detail["allow_secret"] = True


def _not_restorable(memory: Memory) -> Refused:
    hint = ""
    if memory.status is Status.REJECTED:
        hint = f"A person can override that: mem restore {memory.id} --force"
    return Refused(f"#{memory.id} is {memory.status}; only an archived memory can be restored.", hint=hint)


def _refused(err: MemError) -> Stored:
    """An error as the outcome of one item."""
    from mem.truth.redact import redact  # an error may quote what was given

    refusal = Refusal(code=err.code, reason=redact(str(err)).text, hint=redact(err.hint).text)
    return Stored(Action.REFUSED, None, None, VectorState.NONE, refusal=refusal)


def _operation_name(db: apsw.Connection, name: str) -> str:
    """An operation that the log has events of, or one that there is; raises `Usage` naming the nearest."""
    given = name.strip().casefold().replace("_", "-")
    return given if given in audit.operations_seen(db) else find_operation(given).name


def _not_replaced_by(unit: Unit, successor: int, old_ids: Sequence[int]) -> list[int]:
    """Those that a text does not replace already, as where a person said what was proposed for that."""
    rows = memories.by_ids(unit.db, old_ids)
    return [number for number in old_ids if rows[number].superseded_by != successor]


def _written(outcome: Stored) -> int:
    """The number of what was stored; raises `Refused` where it was turned away."""
    if outcome.refusal is not None or outcome.id is None:
        reason = outcome.refusal.reason if outcome.refusal else "The new text was refused."
        raise Refused(reason, hint=outcome.refusal.hint if outcome.refusal else "")
    return outcome.id


def _moment(valid_at: str | None, known_at: str | None) -> Moment:
    return Moment(
        clock.parse(valid_at, Edge.LAST, name="valid-at") if valid_at is not None else None,
        clock.parse(known_at, Edge.LAST, name="known-at") if known_at is not None else None,
    )


def _hard_window(since: str | None, until: str | None) -> WindowUsed | None:
    if since is None and until is None:
        return None
    first = clock.parse(since, Edge.FIRST, name="since") if since is not None else None
    last = clock.parse(until, Edge.NEXT, name="until") if until is not None else None
    if first and last and last <= first:
        raise Usage(f"until '{until}' is not after since '{since}'.")
    return WindowUsed(first, last, None, hard=True)


def _window(query: str, since: str | None, until: str | None, now: datetime) -> WindowUsed | None:
    """The window asked for; else the one that a phrase of the query means, which only lifts."""
    hard = _hard_window(since, until)
    if hard is not None:
        return hard
    found = temporal.find_window(query, now, clock.local_zone())
    if found is None:
        return None
    return WindowUsed(clock.to_text(found.since), clock.to_text(found.until), found.phrase, hard=False)


def open_service(
    path: Path | None = None, *, caller: Caller | None = None, later: traces.Later | None = None
) -> Service:
    """The service as the environment and the configuration describe it; `path` names another store.

    Raises `StoreUnusable` when the store cannot be opened, and `Usage` for a setting that cannot be.
    """
    caller = caller or current_caller()
    place = path or store_path(caller.environment)
    embedder = choose_embedder(place, caller.environment)
    store = Store(place, timeout_ms=config.value("store.timeout-ms", caller.environment))
    return Service(store, embedder, caller, later=later)
