"""Every operation of `mem`, a few lines each, on the parts below.

Both front ends are derived from these methods: see `mem.operations`. A service is cheap to make: the store
and the embedder behind it are shared, the caller (who asks, from which folder) is its own.
"""

from __future__ import annotations

import dataclasses
import io
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import apsw

from mem import clock, config, results
from mem.caller import Caller, current_caller
from mem.clock import Edge
from mem.context import block, citations, explanations, foreign_notes
from mem.context.block import Block
from mem.context.notes import Notes
from mem.context.sessions import SILENCE, Sessions
from mem.embed import Embedder
from mem.errors import MemError, NotFound, Refused, Unavailable, Usage
from mem.exchange import claude_memory as claude_files
from mem.exchange.sources import Format
from mem.operations import Doc, Panel, find_operation, operation, operations
from mem.parameters import (
    AllowSecret,
    AllProjects,
    Alternatives,
    Budget,
    Categories,
    Concurrency,
    DeadlineMs,
    DryRun,
    EntityName,
    EntityType,
    EventTime,
    Expires,
    Force,
    Global,
    Id,
    Ids,
    Kinds,
    KnownAt,
    Layers,
    Levels,
    MinConfidence,
    MinImportance,
    MostTexts,
    OfEntity,
    Project,
    Rationale,
    Reason,
    Since,
    Source,
    Statuses,
    Tags,
    Title,
    Trusts,
    Until,
    ValidAt,
    ValidFrom,
    ValidTo,
)
from mem.paths import expanded, places, store_path
from mem.scope import Root, find_root
from mem.search import considered, index, neighbourhood, neighbours, temporal
from mem.search import entities as entity_search
from mem.search.embedding import LONGEST_QUESTION, Computed, Follow, Vectors
from mem.search.recall import Ask, Ranking, rank
from mem.search.text import query_terms
from mem.search.vector import Question
from mem.store import (
    audit,
    embeddings,
    history,
    images,
    memories,
    projects,
    proposals,
    relations,
    sessions,
    statistics,
    traces,
    upkeep,
)
from mem.store import entities as entity_rows
from mem.store.connect import Store
from mem.store.events import Unit, unit_of_work
from mem.store.exclusive import alone
from mem.store.filters import is_live, where
from mem.store.misses import Missed
from mem.store.selection import Selection
from mem.store.settings import GOAL, PROFILE
from mem.truth import (
    admission,
    contradictions,
    drafts,
    forgetting,
    merging,
    reflection,
    rejection,
    retention,
    review,
    sayings,
    similar,
    supersession,
    trust,
    undo,
)
from mem.truth import entities as graph
from mem.truth import relations as linking
from mem.truth.fingerprint import embedded_text
from mem.truth.writing import as_new, rewrite
from mem.values import (
    ActorKind,
    Category,
    Entity,
    ExportFormat,
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
    SayingAction,
    Scope,
    Sort,
    Status,
    Trust,
)
from mem.worker.embedder import WorkerEmbedder, choose_embedder, in_process, worker_counts

if TYPE_CHECKING:
    from mem.truth.compression import Group
    from mem.truth.extraction import Finding, Tally

MAX_BATCH = 500
ANSWER_TIME = 0.15  # seconds of a deadline that are kept for all but the vector of the question
MOST_FILLED = 16  # texts that were left without their vectors, and get them after another call
LOOKED_THROUGH = 500  # of the newest memories, for such texts


Progress = Callable[..., None]


@dataclasses.dataclass(frozen=True, slots=True)
class _Wanted:
    """A memory to be stored: what it says, the ids that it replaces, and whether a person insists on it."""

    new: NewMemory
    replaced: tuple[str, ...] = ()
    force: bool = False
    allow_secret: bool = False


class _TurnedAway(Exception):
    """An observation was refused, so that what its entity became by it goes again."""


class Service:
    """The operations, for one caller. Safe to use from several threads: each gets its own connection."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        caller: Caller,
        *,
        later: traces.Later | None = None,
        follow: Follow | None = None,
    ) -> None:
        """`later` takes what can be done after the answer; without it that is done before, or not at all.

        `follow` gives the embedder of another model that the store has gone over to meanwhile.
        """
        self._store = store
        self._vectors = Vectors(store, embedder, follow)
        self._caller = caller
        self._later = later
        # Hears how much of how much of what is done, where somebody wants to see that.
        self.progress: Progress = lambda what, done, total=None: None

    def of(self, caller: Caller, *, later: traces.Later | None = None) -> Service:
        """The same store and embedder for another caller."""
        vectors = self._vectors
        return Service(self._store, vectors.embedder, caller, later=later, follow=vectors.follow)

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
    ) -> results.Stored:
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
    ) -> results.Batch:
        """Store many memories in one transaction; answers with an outcome per item, in order.

        An item that is malformed is refused with its reason; the others are stored.
        """
        if len(items) > MAX_BATCH:
            raise Usage(f"A batch holds at most {MAX_BATCH} items, not {len(items)}.", hint="Split it.")
        if not items:
            raise Usage("The batch is empty.", hint="Give a JSON array of objects, or one object a line.")
        parsed = [self._item(item) for item in items]
        wanted = [entry for entry in parsed if not isinstance(entry, results.Stored)]
        written = iter(self._write("store-batch", wanted, self._store_item) if wanted else ())
        return results.Batch(
            tuple(entry if isinstance(entry, results.Stored) else next(written) for entry in parsed)
        )

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
    ) -> results.Changed:
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
    ) -> results.Changed:
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
    def archive(self, ids: Ids, *, reason: Reason = None) -> results.Changed:
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
    def restore(self, ids: Ids, *, reason: Reason = None, force: Force = False) -> results.Changed:
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
    ) -> results.Changed:
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
    ) -> results.Changed:
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
        examples=("mem forget 42", "mem forget 42 43 --yes", "mem forget 42 --backups"),
    )
    def forget(
        self,
        ids: Ids,
        *,
        backups: Annotated[
            bool, Doc("Delete the backups and exports under the folder of mem that hold it.")
        ] = False,
    ) -> results.Forgotten:
        """Erase memories for good: every version, index entry and vector, and the bytes in the files.

        Their content is refused from now on. Other stores under the folder of `mem`, such as backups, are
        rewritten, other files that hold a text are listed. Nothing brings it back; to keep a record of what
        was wrong, reject it.
        """
        with self._change("forget") as unit:
            numbers, before = forgetting.find(unit.db, ids)
            erased = forgetting.forget(unit, numbers, has_vectors=self._store.has_vectors)
            notices = forgetting.notices(unit.db, erased)
        uids, folders = (*erased.uids, *before), places(self._caller.environment)
        again = f"mem forget {next(iter(uids))} --yes"
        done = forgetting.sweep(
            self._store, erased, uids, folders, self._caller.actor, again=again, backups=backups
        )
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
        entity: OfEntity = None,
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
    ) -> results.Recall:
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
            scope = self._scope(db, project, all_projects)
            filter_ = Filter(
                scope=scope,
                moment=_moment(valid_at, known_at),
                statuses=tuple(status),
                kinds=tuple(kind),
                categories=tuple(category),
                levels=tuple(level),
                layers=tuple(layer),
                trusts=tuple(trust),
                tags=tuple(tag),
                entity_id=_entity_number(db, entity, scope),
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
            asked_in = self._current(db) if all_projects else scope.project
        if asked is not None and not self._store.has_vectors:
            degraded = (*degraded, "no_vector_extension")
        trace_id = traces.leave(
            self._store,
            traces.Trace(
                operation=traces.RECALL,
                actor=self._caller.actor,
                project=asked_in,
                mode=found,
                degraded=degraded,
                total=len(ranking.hits),
                signals=ranking.signals.as_record(),
                shown=(
                    *considered.handed_out(shown),
                    *(traces.Shown(hit.memory.id, hit.score) for hit in surfaced),
                ),
                withheld=considered.passed_over(ranking, limit),
                missed=None if ranking.hits else self._missed(query, asked_in),
            ),
            self._later,
        )
        if asked is not None:
            self._fill_later()
        return results.Recall(
            query=query,
            mode=found,
            requested_mode=mode,
            degraded=degraded,
            trace_id=trace_id,
            total=len(ranking.hits),
            confidence=ranking.signals.confidence(),
            hits=(*(results.Hit(rows[hit.id], hit.score, hit.why) for hit in shown), *surfaced),
            window=window,
            elsewhere=elsewhere,
        )

    @operation(
        panel=Panel.FIND,
        examples=("mem get 42", "mem get 42 43 --json", "mem get 42 --known-at 2026-05-01"),
    )
    def get(self, ids: Ids, *, valid_at: ValidAt = None, known_at: KnownAt = None) -> results.Memories:
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
        return results.Memories(len(wanted), tuple(found[number] for number in wanted), told)

    @operation(
        panel=Panel.FIND,
        name="list",
        examples=(
            "mem list --kind decision --sort importance",
            "mem list --status archived --offset 20",
            "mem list --entity Ana --sort recalls --reverse",
        ),
    )
    def list_(
        self,
        *,
        limit: Annotated[int, Doc("How many at most.", minimum=1, maximum=1000)] = 20,
        offset: Annotated[int, Doc("How many to pass over first.", minimum=0, maximum=10_000_000)] = 0,
        sort: Annotated[
            Sort, Doc("What it goes by, from the newest, the greatest or the most down.")
        ] = Sort.RECORDED,
        reverse: Annotated[bool, Doc("The other way round.")] = False,
        project: Project = None,
        all_projects: AllProjects = False,
        kind: Kinds = (),
        category: Categories = (),
        level: Levels = (),
        layer: Layers = (),
        tag: Tags = (),
        entity: OfEntity = None,
        source: Annotated[str | None, Doc("Only memories whose source holds this text.")] = None,
        client: Annotated[Sequence[str], Doc("Only what this client wrote, by its name.")] = (),
        session: Annotated[
            str | None,
            Doc("Only what was written in this session: number, UUID, or the host's name.", metavar="ID"),
        ] = None,
        status: Statuses = (),
        trust: Trusts = (),
        expired: Annotated[bool, Doc("Instead what has expired, whether or not it is archived yet.")] = False,
        min_importance: MinImportance = None,
        min_confidence: MinConfidence = None,
        since: Since = None,
        until: Until = None,
        valid_at: ValidAt = None,
        known_at: KnownAt = None,
    ) -> results.Memories:
        """List memories, page by page."""
        moment = _moment(valid_at, known_at)
        window = _hard_window(since, until)
        if expired and (status or not moment.is_now):
            raise Usage(
                "expired goes with no status, valid-at or known-at.", hint="It looks at what is over by now."
            )
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
            filter_ = Filter(
                scope=scope,
                moment=moment,
                statuses=tuple(status),
                kinds=tuple(kind),
                categories=tuple(category),
                levels=tuple(level),
                layers=tuple(layer),
                trusts=tuple(trust),
                tags=tuple(tag),
                entity_id=_entity_number(db, entity, scope),
                source=source or None,
                clients=tuple(client),
                session_id=sessions.resolve(db, session) if session is not None else None,
                expired=expired,
                minimum_importance=min_importance,
                minimum_confidence=min_confidence,
                since=window.since if window else None,
                until=window.until if window else None,
            )
            table = "memories" if moment.is_now else memories.select_as_of(db, moment)
            condition = where(filter_, now=clock.to_text(clock.now()))
            total, found = memories.page(
                db, condition, sort=sort, reverse=reverse, limit=limit, offset=offset, table=table
            )
        return results.Memories(total, tuple(found))

    @operation(panel=Panel.FIND, examples=("mem history 42",))
    def history(self, id: Id) -> results.History:
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
        entity: OfEntity = None,
    ) -> results.Contradictions:
        """Propose pairs of memories that contradict each other, with the command that would settle each.

        They are close in meaning and differ in a negation, a number, a value or in confidence. Nothing is
        changed.
        """
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
            about = _entity_number(db, entity, scope)
            filter_ = Filter(scope=scope, kinds=tuple(kind), entity_id=about)
            return contradictions.find(db, filter_, now=clock.to_text(clock.now()), limit=limit)

    @operation(panel=Panel.FIND, examples=("mem trace", "mem trace 0192f3a4-5b6c --json"))
    def trace(
        self,
        id: Annotated[
            str | None,
            Doc(
                "The trace_id of an answer, or 8 or more of its first characters; else the newest of this "
                "session or project.",
                metavar="TRACE",
            ),
        ] = None,
        *,
        project: Project = None,
        all_projects: AllProjects = False,
    ) -> results.Traced:
        """Show what a recall weighed, without its words: what was shown, what was not, and by which rule.

        Memories of other projects are only counted. Traces are kept for some days.
        """
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
            record = traces.find(db, id) if id is not None else self._newest_trace(db, scope)
            return explanations.of_trace(db, record, scope, now=clock.to_text(clock.now()))

    @operation(panel=Panel.FIND, examples=("mem why", "mem why --all-projects --json"))
    def why(self, *, project: Project = None, all_projects: AllProjects = False) -> results.Explanation:
        """Explain what a hook showed last, or its silence: scores, what was held back and by which rule.

        It is the last one of this session of the host, else of the project, else of any.
        """
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
            session = self._caller.actor.session
            return explanations.of_last_hook(db, session, scope, now=clock.to_text(clock.now()))

    @operation(
        panel=Panel.FIND,
        examples=(
            'mem cite 0192f3a4-5b6c "The API listens on port 81 [#42]."',
            "mem cite 0192f3a4-5b6c - < answer.md",
        ),
    )
    def cite(
        self,
        trace: Annotated[
            str,
            Doc(
                "The trace_id of what was shown, or 8 or more of its first characters.",
                metavar="TRACE",
            ),
        ],
        text: Annotated[str, Doc("The text with the citations, at most 100,000 characters.", stdin=True)],
    ) -> results.Cited:
        """Keep those citations, such as [#42], whose memories a trace shows; strip all others from a text.

        Any spacing and case; everything else stays as it is. An unknown trace strips all.
        """
        if len(text) > citations.LONGEST:
            raise Usage(
                f"The text has {len(text):,} characters; at most {citations.LONGEST:,} are checked.",
                hint="Check it in parts.",
            )
        with self._store.read() as db:
            shown = traces.shown(db, trace)
            checked = citations.check(text, citations.among(db, shown or ()))
        return results.Cited(checked.text, shown is not None, checked.valid, checked.rejected)

    @operation(
        panel=Panel.FIND,
        examples=('mem claude-memory "how are releases made?"', "mem claude-memory postgres --all-projects"),
    )
    def claude_memory(
        self,
        query: Annotated[str, Doc("Words to look for.", stdin=True)],
        *,
        limit: Annotated[int, Doc("How many at most.", minimum=1, maximum=20)] = 8,
        project: Annotated[
            str | None, Doc("Project, by name or as Claude names its folder; else the current one.")
        ] = None,
        all_projects: AllProjects = False,
    ) -> results.ForeignNotes:
        """Search the files of Claude's own memory by words; nothing of it is stored or changed.

        The folders come from the setting claude-memory.dirs alone. What is found is fenced: nobody has
        checked it.
        """
        if not query.strip():
            raise Usage("The query is empty.", hint="Name a word: mem claude-memory postgres")
        folders = claude_files.roots(self._caller.environment)
        with self._store.read() as db:
            own = self._slugs(db, project)
        reading = claude_files.read(folders, own)
        with self._store.read() as db:
            return foreign_notes.search(
                db, query, reading, None if all_projects else own, limit=limit, roots=folders
            )

    @operation(panel=Panel.FIND, examples=("mem stats", "mem stats --all-projects --json"))
    def stats(self, *, project: Project = None, all_projects: AllProjects = False) -> results.Statistics:
        """Count memories, people and things, recalls that found nothing, growth by week, vectors and bytes.

        Memories are counted by status, kind, layer, level, category, project and trust.
        """
        with self._store.read() as db:
            counted = statistics.count(
                db, self._scope(db, project, all_projects), self._store.path, now=clock.to_text(clock.now())
            )
        return dataclasses.replace(counted, worker=worker_counts(self._store.path, self._caller.environment))

    @operation(panel=Panel.FIND, examples=("mem reflect", "mem reflect --days 30 --limit 20 --all-projects"))
    def reflect(
        self,
        *,
        days: Annotated[
            int, Doc("How many days back is of late: used, observed, asked in vain.", minimum=1, maximum=365)
        ] = 7,
        stale_days: Annotated[
            int, Doc("After how many days what was never recalled is stale.", minimum=1, maximum=3650)
        ] = 30,
        limit: Annotated[int, Doc("How many in each section at most.", minimum=1, maximum=50)] = 5,
        project: Project = None,
        all_projects: AllProjects = False,
    ) -> results.Reflection:
        """Look back: what is used most, lies unused, waits to be settled, and what was asked in vain.

        Nothing is changed. Questions that found nothing are only counted, unless reflect.miss-texts lets them
        be kept.
        """
        shows_questions = bool(config.value("reflect.miss-texts", self._caller.environment))
        with self._store.read() as db:
            return reflection.reflect(
                db,
                self._scope(db, project, all_projects),
                reflection.Span(days, stale_days, limit),
                now=clock.now(),
                shows_questions=shows_questions,
            )

    # People and things

    @operation(
        panel=Panel.GRAPH,
        writes=True,
        idempotent=True,
        examples=(
            'mem observe "billing service" "Ana has looked after it since May" --type service',
            'mem observe Ana "prefers calls to mail" --type person --source standup --global',
        ),
    )
    def observe(
        self,
        entity: EntityName,
        content: Annotated[str, Doc("What is observed about it.", stdin=True)],
        *,
        type: Annotated[str | None, Doc("What it is, such as person, service or place; else thing.")] = None,
        category: Annotated[Category, Doc("What it is about.")] = Category.GENERAL,
        level: Annotated[Level, Doc("How general it is; meta_knowledge is earned.")] = Level.SEMI_ABSTRACT,
        layer: Annotated[Layer, Doc("How long it lives.")] = Layer.LONG_TERM,
        importance: Annotated[int, Doc("How much it matters.", minimum=0, maximum=10)] = 5,
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
            Sequence[str],
            Doc("An observation of it that this one replaces; may be repeated.", metavar="ID"),
        ] = (),
        force: Force = False,
        allow_secret: AllowSecret = False,
    ) -> results.Observed:
        """Store an observation about an entity, which is made if there is none of that name and type.

        An observation is a memory: it is recalled, superseded, rejected and reviewed like every other.
        """
        new = self._draft(
            {
                "content": content,
                "kind": Kind.OBSERVATION,
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
        scope = Scope(new.project)
        with self._store.read() as db:
            known = graph.find_or_none(db, entity, scope, type_=type)
        said = graph.to_observe(entity, type, known)
        vectors = self._vectors.of_texts((embedded_text(new), said.text))
        wanted = _Wanted(new, tuple(supersedes), force, allow_secret)
        with self._change("observe", proposes=True) as unit:
            # It may have come about, or changed its name, while the vectors were computed.
            known = graph.find_or_none(unit.db, entity, scope, type_=type)
            said = graph.to_observe(entity, type, known)
            outcome = self._observe(unit, said, wanted, known)
            vectors.save(unit)
        if vectors.pieces:
            self._fill_later()
        return dataclasses.replace(outcome, **_annotation(self._annotated([outcome])[0]))

    @operation(
        panel=Panel.GRAPH,
        examples=(
            'mem entity "billing service"',
            "mem entity Ana --valid-at 2026-03-01 --known-at 2026-05-01",
            "mem entity 7 --depth 2 --graph",
        ),
    )
    def entity(
        self,
        entity: EntityName,
        *,
        type: EntityType = None,
        depth: Annotated[
            int, Doc("Steps within which relations are followed for the neighbourhood.", minimum=1, maximum=3)
        ] = 1,
        project: Project = None,
        all_projects: AllProjects = False,
        valid_at: ValidAt = None,
        known_at: KnownAt = None,
    ) -> results.EntityView:
        """Open an entity: its observations and relations, as they are or as of either clock."""
        moment = _moment(valid_at, known_at)
        with self._store.read() as db:
            return neighbourhood.view(
                db,
                entity,
                self._scope(db, project, all_projects),
                moment,
                type_=type,
                depth=depth,
                now=clock.to_text(clock.now()),
            )

    @operation(panel=Panel.GRAPH, examples=("mem entities", 'mem entities "who pays" --type person'))
    def entities(
        self,
        query: Annotated[
            str | None,
            Doc("What they should fit, by words and meaning; without it all, by name.", stdin=True),
        ] = None,
        *,
        type: EntityType = None,
        limit: Annotated[int, Doc("How many at most.", minimum=1, maximum=1000)] = 20,
        offset: Annotated[int, Doc("How many to pass over first.", minimum=0, maximum=10_000_000)] = 0,
        project: Project = None,
        all_projects: AllProjects = False,
        deadline_ms: DeadlineMs = None,
    ) -> results.EntityPage:
        """List entities, or search them: names, aliases, summaries, and what is observed about them."""
        now = clock.to_text(clock.now())
        asked: Question | None = None
        degraded: tuple[str, ...] = ()
        if query and query.strip():
            asked, degraded = self._vectors.question(query, Mode.HYBRID, timeout=self.patience(deadline_ms))
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
            found: Sequence[entity_search.Found] = ()
            if query and query.strip():
                found = entity_search.search(
                    db, query, scope, asked, now=now, has_vectors=self._store.has_vectors
                )
                total, shown = graph.chosen(db, [one.id for one in found], type, limit, offset)
            else:
                wanted = None if type is None else graph.type_name(type)
                total, shown = entity_rows.page(db, scope, type_=wanted, limit=limit, offset=offset)
            known = neighbourhood.counts(db, [entity.id for entity in shown], scope, now=now)
        fits = {one.id: one for one in found}
        hits = tuple(
            results.EntityHit(entity, *known[entity.id], *_fit(fits.get(entity.id))) for entity in shown
        )
        return results.EntityPage(total, hits, query, degraded)

    @operation(
        panel=Panel.GRAPH,
        writes=True,
        idempotent=True,
        examples=(
            'mem entity-set "billing service" --type service --alias billing --summary "Invoices, dunning"',
            'mem entity-set 7 --name "Ana Souza"',
        ),
    )
    def entity_set(
        self,
        entity: EntityName,
        *,
        type: Annotated[str | None, Doc("What it is, such as person, service or place.")] = None,
        name: Annotated[str | None, Doc("Its new name; the old one becomes an alias.")] = None,
        summary: Annotated[str | None, Doc("What it is, in a sentence or two; - for none.")] = None,
        alias: Annotated[Sequence[str], Doc("Another name of it; may be repeated.")] = (),
        remove_alias: Annotated[Sequence[str], Doc("A name that is not its own; may be repeated.")] = (),
        project: Project = None,
        global_: Global = False,
        reason: Reason = None,
    ) -> results.EntityChanged:
        """Describe an entity: type, name, aliases and summary; it is made if there is none of that name."""
        change = graph.Change(type, name, summary, tuple(alias), tuple(remove_alias))
        with self._store.read() as db:
            scope = Scope() if global_ else self._scope(db, project, all_projects=False)
            known = graph.find_to_set(db, entity, scope, type_=type)
        said = change.apply(entity, known)
        vectors = self._vectors.of_texts([said.text])
        why = drafts.reason(reason)
        with self._change("entity-set", why.text) as unit:
            known = graph.find_to_set(unit.db, entity, scope, type_=type)
            said = change.apply(entity, known)
            if known is None:
                number, action = graph.create(unit, said, scope.project), "added"
                projects.bind_if_named(unit, scope.project, self._own_root(unit.db, scope.project))
            else:
                graph.require_live(known)
                number = known.id
                action = "updated" if graph.rewrite(unit, known, said) else "known"
            vectors.save(unit)
        return self._entity_changed(action, number)

    @operation(
        panel=Panel.GRAPH,
        writes=True,
        destructive=True,
        examples=('mem entity-merge "billing-svc" "billing service" --reason "one and the same"',),
    )
    def entity_merge(
        self,
        entity: Annotated[str, Doc("The entity that is another: id, name or alias.", metavar="ENTITY")],
        into: Annotated[str, Doc("The entity that it lives on in.", metavar="INTO")],
        *,
        project: Project = None,
        all_projects: AllProjects = False,
        reason: Reason = None,
    ) -> results.EntityChanged:
        """Merge an entity into another: observations, relations, names and rejections move along."""
        why = drafts.reason(reason)
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
            from_, to = (graph.find(db, reference, scope) for reference in (entity, into))
        vectors = self._vectors.of_texts([graph.with_names_of(graph.described(to), from_).text])
        with self._change("entity-merge", why.text) as unit:
            from_, to = (graph.find(unit.db, reference, scope) for reference in (entity, into))
            moved, related = merging.merge(unit, from_, to)
            vectors.save(unit)
        return dataclasses.replace(
            self._entity_changed("merged", to.id), observations=moved, relations=related
        )

    @operation(
        panel=Panel.GRAPH,
        writes=True,
        destructive=True,
        people=True,
        asks="Erase entity {entity} for good, with all that was observed of it?",
        examples=("mem entity-forget 7", 'mem entity-forget "Ana Souza" --yes'),
    )
    def entity_forget(
        self,
        entity: EntityName,
        *,
        type: EntityType = None,
        project: Project = None,
        all_projects: AllProjects = False,
    ) -> results.Forgotten:
        """Erase an entity for good: names, observations, relations, versions, and the bytes in the files.

        What was observed of it is refused from now on, and what was merged into it goes with it.
        """
        with self._change("entity-forget") as unit:
            scope = self._scope(unit.db, project, all_projects)
            found = graph.find(unit.db, entity, scope, type_=type)
            erased = forgetting.forget(unit, [], [found.id], has_vectors=self._store.has_vectors)
            notices = forgetting.notices(unit.db, erased)
        folders, again = places(self._caller.environment), "mem entity-forget … --yes"
        done = forgetting.sweep(self._store, erased, erased.uids, folders, self._caller.actor, again=again)
        return dataclasses.replace(done, warnings=notices)

    @operation(
        panel=Panel.GRAPH,
        writes=True,
        idempotent=True,
        examples=('mem relate Ana maintains "billing service" --valid-from 2026-05-01',),
    )
    def relate(
        self,
        subject: Annotated[str, Doc("The entity that it begins with: id, name or alias.", metavar="ENTITY")],
        relation: Annotated[str, Doc("What relates them, such as works_at or maintains.")],
        object: Annotated[str, Doc("The entity that it leads to: id, name or alias.", metavar="ENTITY")],
        *,
        weight: Annotated[
            float | None, Doc("How strong it is; 1 if it is new.", minimum=0, maximum=1)
        ] = None,
        valid_from: ValidFrom = None,
        valid_to: ValidTo = None,
        project: Project = None,
        all_projects: AllProjects = False,
        reason: Reason = None,
    ) -> results.Related:
        """Relate two entities, or change the weight and the interval of a relation that holds."""
        type_ = linking.relation_type(relation)
        interval = linking.Interval(
            clock.parse(valid_from, Edge.FIRST, name="valid-from") if valid_from is not None else None,
            clock.parse(valid_to, Edge.NEXT, name="valid-to") if valid_to is not None else None,
        )
        why = drafts.reason(reason)
        with self._change("relate", why.text) as unit:
            from_, to = self._ends(unit.db, subject, object, project, all_projects)
            action, number = linking.relate(unit, from_, type_, to, weight=weight, interval=interval)
        return self._related(action, number, from_, to)

    @operation(
        panel=Panel.GRAPH,
        writes=True,
        destructive=True,
        examples=('mem unrelate Ana maintains "billing service" --valid-to 2026-10-31',),
    )
    def unrelate(
        self,
        subject: Annotated[str, Doc("The entity that it begins with: id, name or alias.", metavar="ENTITY")],
        relation: Annotated[str, Doc("What relates them, such as works_at or maintains.")],
        object: Annotated[str, Doc("The entity that it leads to: id, name or alias.", metavar="ENTITY")],
        *,
        valid_to: Annotated[str | None, Doc("Until when it held: a date or a time; else until now.")] = None,
        project: Project = None,
        all_projects: AllProjects = False,
        reason: Reason = None,
    ) -> results.Related:
        """End a relation: its interval is closed, and it stays for what is asked of earlier days."""
        type_ = linking.relation_type(relation)
        closing = clock.parse(valid_to, Edge.NEXT, name="valid-to") if valid_to is not None else None
        why = drafts.reason(reason)
        with self._change("unrelate", why.text) as unit:
            from_, to = self._ends(unit.db, subject, object, project, all_projects)
            number = linking.close(unit, from_, type_, to, at=closing)
        return self._related("ended", number, from_, to)

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
    ) -> results.ContextBlock:
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
    ) -> results.SessionStarted:
        """Open a session, or go on with the one that the host is in; answers with its id and the context.

        It belongs to the client that opens it. Sessions without a sign of life for a day are closed.
        """
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects=False)
        session = Sessions(self.notes).start(scope.project)
        made = _context(None, budget, self.notes.overview(scope, budget=budget))
        return results.SessionStarted(session.id, session.uid, session.client, session.project, made)

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
    ) -> results.SessionEnded:
        """End a session of this client, with a summary for those that follow and the tasks that are left.

        Ending it again adds to what is there. A session of another client is refused.
        """
        session, stored, notices = Sessions(self.notes, self._vectors).end(id, summary=summary, tasks=task)
        return results.SessionEnded(session, self._annotated([stored])[0] if stored else None, notices)

    @operation(panel=Panel.SESSIONS, examples=("mem sessions", "mem sessions --all-projects --limit 50"))
    def sessions(
        self,
        *,
        limit: Annotated[int, Doc("How many at most.", minimum=1, maximum=1000)] = 20,
        offset: Annotated[int, Doc("How many to pass over first.", minimum=0, maximum=10_000_000)] = 0,
        project: Project = None,
        all_projects: AllProjects = False,
    ) -> results.SessionPage:
        """List sessions, newest first, with their summaries and tasks."""
        with self._store.read() as db:
            scope = self._scope(db, project, all_projects)
            total, found = sessions.page(db, scope, limit=limit, offset=offset)
        return results.SessionPage(total, tuple(found))

    @operation(
        panel=Panel.SESSIONS,
        writes=True,
        idempotent=True,
        examples=(
            "mem profile",
            'mem profile set language "British English"',
            "mem profile clear language",
            "mem profile history",
        ),
    )
    def profile(
        self,
        action: Annotated[SayingAction, Doc("What to do.")] = SayingAction.GET,
        field: Annotated[str | None, Doc("Which field, such as name or language.")] = None,
        value: Annotated[str | None, Doc("What it says, for set.", stdin=True)] = None,
        *,
        project: Annotated[str | None, Doc("Said in this project only, and before what is global.")] = None,
        global_: Annotated[bool, Doc("Said everywhere, as it is unless a project is named.")] = False,
    ) -> results.Sayings:
        """Show, set or clear what is said of the user; it stands in every context. Its history is kept."""
        key = sayings.profile_key(field, action)
        said = sayings.checked("profile", action, field or "profile", value)
        return self._say("profile", action, key, said, self._named(project), global_=global_)

    @operation(
        panel=Panel.SESSIONS,
        writes=True,
        idempotent=True,
        examples=(
            "mem goal",
            'mem goal set "Ship the importer by the end of May"',
            "mem goal clear",
            "mem goal history --json",
        ),
    )
    def goal(
        self,
        action: Annotated[SayingAction, Doc("What to do.")] = SayingAction.GET,
        text: Annotated[str | None, Doc("The goal, for set.", stdin=True)] = None,
        *,
        project: Project = None,
        global_: Annotated[bool, Doc("The goal of everything, where a project has none of its own.")] = False,
    ) -> results.Sayings:
        """Show, set or clear the goal of the current project; it leads every context. Its history is kept."""
        said = sayings.checked("goal", action, "goal", text)
        with self._store.read() as db:
            where_said = self._named(project) or (None if global_ else self._current(db))
        return self._say("goal", action, GOAL, said, where_said, global_=global_)

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
    ) -> results.Log:
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
            return results.Log(total, tuple(events), elsewhere, audit.newest(db))

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
    ) -> results.Undone:
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
        return results.Undone(number, undone.uid, undone.operation, by, changed.memories, changed.vector)

    # Carry

    @operation(
        panel=Panel.CARRY,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=(
            "mem export memories.jsonl",
            "mem export --project shop --format markdown > shop.md",
            "mem export old.jsonl --known-at 2026-05-01 --vectors",
        ),
    )
    def export(
        self,
        file: Annotated[
            str, Doc("The file; what it held is replaced. - is standard output.", metavar="FILE")
        ] = "-",
        *,
        format: Annotated[
            ExportFormat, Doc("JSON Lines, one JSON document, or Markdown for people.")
        ] = ExportFormat.JSONL,
        vectors: Annotated[bool, Doc("With the vectors of the model in use.")] = False,
        project: Annotated[
            str | None, Doc("Only what belongs to this project, and what that needs; else all projects.")
        ] = None,
        kind: Annotated[Sequence[Kind], Doc("Only memories of this kind, and what they need.")] = (),
        since: Annotated[
            str | None, Doc("Only what was written or changed at or after this date or time.")
        ] = None,
        until: Annotated[
            str | None, Doc("Only what was first written before the end of this date, or before this time.")
        ] = None,
        valid_at: Annotated[str | None, Doc("Only what held at this date or time.")] = None,
        known_at: Annotated[str | None, Doc("The store as it was at this date or time.")] = None,
    ) -> results.Exported | results.Streamed:
        """Write everything to a file: all projects, statuses and versions, the audit log, profile and goal.

        The file is mode 0600 and is put in place only when it is whole. Importing it into an empty store
        gives the same store; into another one, it merges. Settings and the traces of recall stay here. An
        agent replaces only an earlier export.
        """
        from mem.exchange import exporting

        window = _hard_window(since, until)
        wanted = Selection(
            project=self._named(project),
            kinds=tuple(kind),
            since=window.since if window else None,
            until=window.until if window else None,
            moment=_moment(valid_at, known_at),
            vectors=vectors,
        )
        if file == exporting.STDOUT:
            return results.Streamed(partial(exporting.write, self._store, wanted, format))
        target = self._caller.folder / Path(file).expanduser()
        return exporting.export(self._store, wanted, format, target, careful=not self._caller.is_person)

    @operation(
        panel=Panel.CARRY,
        writes=True,
        idempotent=True,
        examples=(
            "mem import memories.jsonl --dry-run",
            "mem import ~/.claude/projects --format claude-memory",
            "mem import notes.csv --project shop --skip-bad",
        ),
    )
    def import_(
        self,
        source: Annotated[
            str, Doc("A file, or a folder of memory files; - is standard input.", metavar="SOURCE")
        ],
        *,
        format: Annotated[Format | None, Doc("What it is; else it is recognised by its content.")] = None,
        project: Annotated[
            str | None, Doc("Where records go that name no project; else MEM_PROJECT, else the repository's.")
        ] = None,
        global_: Annotated[bool, Doc("Records that name no project belong to none.")] = False,
        dry_run: Annotated[bool, Doc("Only say what would become of each record.")] = False,
        skip_bad: Annotated[bool, Doc("Import what is good although some records are bad.")] = False,
    ) -> results.Imported:
        """Bring in an export, or the memories of another program; what is here stays, and nothing doubles.

        The newer version of a row is the present, the other one its history; what was rejected stays out. A
        bad record means that nothing is written. Importing again goes on where it was ended.
        """
        from mem.exchange import importing

        if project and global_:
            raise Usage(
                "A memory belongs to a project or is global, not both.", hint="Leave one of them out."
            )
        review.require_allowed(self._caller, "import", for_people=False, proposes=False)
        with self._store.read() as db:
            named = None if global_ else self._named(project) or self._current(db)
        request = importing.Request(
            path=self._caller.folder / Path(source).expanduser(),
            actor=self._caller.actor,
            is_person=self._caller.is_person,
            format=format,
            project=drafts.project_to_write(named),
            dry_run=dry_run,
            skip_bad=skip_bad,
            stdin=self._stdin() if source == "-" else None,
            places=places(self._caller.environment),
            progress=self.progress,
        )
        return importing.run(self._store, self._vectors.embedder, request)

    @operation(
        panel=Panel.CARRY,
        writes=True,
        idempotent=True,
        examples=("mem backfill", "mem backfill --dry-run --json", "mem backfill --limit 1000"),
    )
    def backfill(
        self, *, dry_run: DryRun = False, limit: MostTexts = None, concurrency: Concurrency = None
    ) -> results.Backfilled:
        """Embed what has no vector yet: the most important and newest first, what is retired last.

        It can be broken off at any moment and goes on where it was. A second run beside it leaves at once. A
        text that fails costs no other; when the model itself fails, it stops. Suited to cron.
        """
        from mem.search import backfilling

        embedder = self._model_here()
        if embedder is None:
            return results.Backfilled(None, dry_run)
        if dry_run:
            return backfilling.waiting(self._store, embedder, limit)
        with alone(self._store.path, "vectors") as mine:
            if not mine:
                return results.Backfilled(embedder.name, beside=True)
            tell = partial(self.progress, "embedding")
            done = backfilling.backfill(
                self._store, embedder, limit=limit, concurrency=concurrency, tell=tell
            )
        if done.embedded:
            with self._change("backfill") as unit:
                unit.detail |= {"embedded": done.embedded, "failed": len(done.failed)}
                _ = unit.event_id  # begins the event, though no row that has versions changes
        return done

    @operation(
        panel=Panel.CARRY,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=(
            "mem migrate-vectors --dry-run",
            "mem migrate-vectors --to bundled",
            "mem migrate-vectors --to BAAI/bge-small-en-v1.5 --prune",
        ),
    )
    def migrate_vectors(
        self,
        *,
        to: Annotated[str | None, Doc("The model to go over to; else that of the settings.")] = None,
        prune: Annotated[bool, Doc("Drop other models' vectors once the new ones are searched.")] = False,
        dry_run: DryRun = False,
        limit: MostTexts = None,
        concurrency: Concurrency = None,
    ) -> results.Migrated:
        """Go over to another model's vectors: recall keeps to the old ones until the new ones are complete.

        Brings the derived index to its present form too, and vectors that are stored as JSON text to Float32.
        It can be broken off at any moment and goes on where it was; a second run finds nothing to do.
        """
        from mem.search import migrating

        embedder, setting = self._model_wanted(to)
        wanted = migrating.Wanted(limit, concurrency, prune, partial(self.progress, "embedding"))
        if dry_run:
            told = migrating.planned(self._store, embedder, wanted)
            return dataclasses.replace(told, setting=setting)
        with alone(self._store.path, "vectors") as mine:
            if not mine:
                return results.Migrated(None, embedder.name, embedder.choice, beside=True)
            change = partial(self._change, "migrate-vectors")
            done = migrating.migrate(self._store, embedder, change, wanted)
        return dataclasses.replace(done, setting=setting)

    @operation(
        panel=Panel.CARRY,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=(
            "mem compress --dry-run",
            "mem compress --days 14 --transcripts",
            "mem compress --session 3",
        ),
    )
    def compress(
        self,
        *,
        days: Annotated[
            int | None,
            Doc(
                "Only what is older than so many days: 30, or 0 of a session that is named.",
                minimum=0,
                maximum=3650,
            ),
        ] = None,
        session: Annotated[
            str | None, Doc("Only this session: number, UUID, or the host's name.", metavar="ID")
        ] = None,
        all_: Annotated[bool, Doc("All that is due, whatever the limit.")] = False,
        transcripts: Annotated[bool, Doc("Sum up Claude Code's transcripts of the project, too.")] = False,
        limit: Annotated[int, Doc("How many summaries at most.", minimum=1, maximum=1000)] = 10,
        project: Project = None,
        all_projects: AllProjects = False,
        dry_run: Annotated[bool, Doc("Only say what would be summed up; send and change nothing.")] = False,
    ) -> results.Compressed:
        """Have old traces summed up, by session or week, by the language model that is set up; archive them.

        Traces are memories of the layers working and short_term and of the level concrete_trace. Nothing is
        archived before its summary is stored, and no summary is summed up.
        """
        from mem.chat import engine
        from mem.hosts import transcripts as files
        from mem.truth import compression

        environment = self._caller.environment
        chat = None if dry_run else engine.choose(environment)
        with self._store.read() as db:
            wanted = compression.Wanted(
                scope=self._scope(db, project, all_projects),
                before=compression.before(days, session),
                session=session,
                here=self._named(project) or self._current(db),
                slugs=self._slugs(db, project),
                own=claude_files.slug(str(places(environment).state / "chat")),
            )
            due = compression.due(db, wanted, files.root(environment) if transcripts else None)
        return compression.run(due, chat, self._keep_summary, None if all_ else limit)

    @operation(
        panel=Panel.CARRY,
        writes=True,
        idempotent=True,
        examples=("mem extract-entities --dry-run", "mem extract-entities --limit 500"),
    )
    def extract_entities(
        self,
        *,
        limit: Annotated[
            int, Doc("How many memories are looked through at most.", minimum=1, maximum=10_000)
        ] = 100,
        project: Project = None,
        all_projects: AllProjects = False,
        dry_run: Annotated[bool, Doc("Only say which would be; send and change nothing.")] = False,
    ) -> results.Extracted:
        """Look through memories for people, projects, organisations, technologies and places.

        The language model that is set up finds them, and what is said of them; each such observation is
        proposed and waits for a person. No memory is looked through twice.
        """
        from mem.chat import engine
        from mem.truth import extraction

        chat = None if dry_run else engine.choose(self._caller.environment)
        with self._store.read() as db:
            due = extraction.due(db, self._scope(db, project, all_projects))
        return extraction.run(due, chat, self._keep_findings, limit)

    @operation(
        panel=Panel.CARRY,
        writes=True,
        destructive=True,
        asks="Put {restore} in the place of the store? What the store is now is kept beside it.",
        asks_with="restore",
        examples=("mem backup --keep 7", "mem backup ~/mem.db", "mem backup --restore ~/mem.db"),
    )
    def backup(
        self,
        file: Annotated[
            str | None, Doc("The file to write, new; else one among mem's own backups.", metavar="FILE")
        ] = None,
        *,
        keep: Annotated[
            int | None,
            Doc(
                "Then remove the oldest of mem's own backups of this store beyond so many.",
                minimum=1,
                maximum=10_000,
            ),
        ] = None,
        restore: Annotated[
            str | None,
            Doc(
                "Put this backup in the place of the store instead; asks first.", metavar="FILE", people=True
            ),
        ] = None,
    ) -> results.BackedUp | results.RestoredBackup:
        """Write the whole store to one file, checked; or put such a file in the place of the store.

        Others go on reading and writing meanwhile. What is restored comes without what was rejected or
        forgotten since, and the old state is kept in a backup beside the store.
        """
        from mem.exchange import backup, restoring

        environment = self._caller.environment
        if restore is None:
            target = None if file is None else expanded(file, environment)
            return backup.back_up(self._store, places(environment), target, keep=keep)
        review.require_allowed(self._caller, "backup --restore", for_people=True, proposes=False)
        if file is not None or keep is not None:
            raise Usage("restore goes with no other FILE and no keep.", hint="mem backup --restore FILE")
        return restoring.restore(self._store, expanded(restore, environment), self._caller.actor)

    @operation(panel=Panel.CARRY, examples=("mem verify ~/mem.db", "mem verify export.jsonl --json"))
    def verify(
        self, file: Annotated[str, Doc("A backup or an export of mem.", metavar="FILE")]
    ) -> results.Verified:
        """Compare a backup or an export with the store: what only one of them has, and what differs."""
        from mem.exchange import verifying

        return verifying.verify(self._store, expanded(file, self._caller.environment))

    # Upkeep

    @operation(
        panel=Panel.UPKEEP,
        writes=True,
        destructive=True,
        idempotent=True,
        examples=("mem maintain", "mem maintain --dry-run --json", "mem maintain --vacuum"),
    )
    def maintain(
        self,
        *,
        dry_run: DryRun = False,
        vacuum: Annotated[
            bool, Doc("Rewrite the store without the space that nothing uses any more; says the bytes.")
        ] = False,
    ) -> results.Maintained:
        """Promote what is used, archive what has expired, close dead sessions, prune traces, tidy the store.

        Over all projects. A second run finds nothing to do; `mem serve` does it every hour.
        """
        with self._store.read() as db:
            before = upkeep.maintained_at(db)
            if dry_run:
                work = self._due(db, clock.to_text(clock.now()))
                told = retention.told(work, dry_run=True)
                return dataclasses.replace(told, freed=upkeep.unused(db) if vacuum else None)
        done = self._maintained(before)
        upkeep.settle(self._store)
        return dataclasses.replace(done, freed=upkeep.vacuum(self._store)) if vacuum else done

    def _maintained(self, before: str | None) -> results.Maintained:
        """Do what is due, unless another upkeep has since the instant `before`."""
        with unit_of_work(self._store, "maintain", self._caller.actor) as unit:
            if upkeep.maintained_at(unit.db) != before:
                return results.Maintained(dry_run=False, beside=True)
            work = self._due(unit.db, unit.at)
            retention.carry_out(unit, work)
            # A layer stands in no index, so what was promoted need not be indexed anew.
            index.refresh(unit.db, work.expired, has_vectors=self._store.has_vectors)
            upkeep.note_maintained(unit.db, unit.at)
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
    ) -> results.ReviewQueue:
        """Go through what agents and hooks proposed: on a terminal one at a time, else as a list.

        Each comes with who wrote it, what it would replace, and what it is near to; the oldest is first. What
        waits at all says the setting trust.review.
        """
        with self._store.read() as db:
            total, found = proposals.waiting(db, self._named(project), limit=limit, offset=offset)
            return results.ReviewQueue(total, tuple(self._waiting(db, memory) for memory in found))

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
    ) -> results.Changed:
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
    ) -> results.Diagnosis:
        """Check the store, its indexes, the model and the versions of everything."""
        from mem.doctor import examine  # looks at every part, which no other operation needs all of

        return examine(self._store, self._vectors.embedder, fix=fix, audit=audit, secrets=secrets)

    # What the operations share

    def _model_here(self) -> Embedder | None:
        """The model that the store searches, or would, in this process; None where none is wanted.

        Raises `Unavailable` when the store searches another one's vectors.
        """
        from mem.embed.memo import MemoEmbedder

        embedder = self._vectors.embedder
        with self._store.read() as db:
            active = embeddings.active_model(db)
        # Long work is not the worker's, and has no deadline.
        if isinstance(embedder, WorkerEmbedder | MemoEmbedder):
            choice = embedder.choice if active is None else active.choice
            threads = config.value("model.threads", self._caller.environment)
            embedder = in_process(choice, self._caller.environment, threads, active)
        if embedder is not None and active is not None and active.name != embedder.name:
            raise Unavailable(
                f"The store searches the vectors of {active.name}, and this is {embedder.name}.",
                hint="Go over to it: mem migrate-vectors",
            )
        return embedder

    def _model_wanted(self, to: str | None) -> tuple[Embedder, str | None]:
        """The model to go over to, in this process; and that of the settings, where it is another one."""
        from mem.embed import choice

        environment = self._caller.environment
        setting = choice.parse(config.value("model", environment))
        wanted = setting if to is None else choice.known(choice.parse(to))
        embedder = choice.make(wanted, environment, threads=config.value("model.threads", environment))
        if embedder is None:
            raise Usage(
                "There is no model to go over to: none makes no vectors.",
                hint="Name one: mem migrate-vectors --to bundled",
            )
        return embedder, setting.text if setting != wanted else None

    def _due(self, db: apsw.Connection, now: str) -> retention.Due:
        days, most = (
            int(config.value(key, self._caller.environment)) for key in ("traces.days", "traces.most")
        )
        return retention.due(db, now, silence=SILENCE, days=days, most=most)

    def _say(
        self,
        operation_name: str,
        action: SayingAction,
        key: str,
        said: drafts.Clean,
        project: str | None,
        *,
        global_: bool,
    ) -> results.Sayings:
        """Show or change what is said under a key, in a project or everywhere (None)."""
        if project and global_:
            raise Usage("It is said in a project or everywhere, not both.", hint="Leave one of them out.")
        changed = False
        if action in (SayingAction.SET, SayingAction.CLEAR):
            with self._change(operation_name) as unit:
                changed = sayings.say(unit, key, project, said.text)
                if changed:
                    self._bind(unit, project)
        with self._store.read() as db:
            read = project or (None if global_ else self._current(db))
            match action:
                case SayingAction.GET:
                    found = sayings.holding(db, key, {None, read})
                case SayingAction.HISTORY:
                    found = sayings.history(db, key, {None, read})
                case SayingAction.SET | SayingAction.CLEAR:
                    found = sayings.history(db, key, {project})[:1]
        name = key.removeprefix(PROFILE) or None
        return results.Sayings(action, name, project, changed, tuple(found), said.notices)

    def _bind(self, unit: Unit, project: str | None) -> None:
        """Make sure that a project exists, bound to the repository of the call if that is its own."""
        root = self._root()
        projects.bind_if_named(unit, project, root if project == self._own(unit.db, root) else None)

    def _newest_trace(self, db: apsw.Connection, scope: Scope) -> traces.Record:
        session = self._caller.actor.session
        found = traces.last(db, session=session) if session else None
        found = found or traces.last(db, scope=scope)
        if found is None:
            raise NotFound("There is no trace yet.", hint="A recall leaves one: mem recall --help")
        return found

    def _slugs(self, db: apsw.Connection, project: str | None) -> claude_files.Slugs:
        """The project of a call, as Claude names the folder of its memory."""
        named = project or self._caller.project or config.value("project", self._caller.environment)
        if named:
            name = drafts.project_name(named)
            return claude_files.Slugs.of_project(name, projects.roots_of(db, name))
        root = self._root()
        return claude_files.Slugs.of_folder(root.common_directory if root else str(self._caller.folder))

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
            entity_search.refresh(unit.db, unit.entity_ids)
            index.refresh(unit.db, unit.memory_ids | unit.to_index, has_vectors=self._store.has_vectors)

    def _write(
        self,
        operation_name: str,
        wanted: Sequence[_Wanted],
        write: Callable[[Unit, _Wanted, bool], results.Stored],
    ) -> list[results.Stored]:
        """Store drafts in one transaction; each may name memories that it replaces."""
        vectors = self._vectors.of([one.new for one in wanted])
        reviewed = review.is_reviewed(self._caller)
        with self._change(operation_name, proposes=True) as unit:
            outcomes = [write(unit, one, reviewed) for one in wanted]
            vectors.save(unit)
        if vectors.pieces:
            self._fill_later()
        return self._annotated(outcomes)

    def _store_item(self, unit: Unit, wanted: _Wanted, reviewed: bool) -> results.Stored:
        """One item of a batch; what stands against it is its outcome, and does not cost the others."""
        try:
            with unit.part():
                return self._store_draft(unit, wanted, reviewed)
        except (NotFound, Refused, Usage) as err:
            return _refused(err)

    def _store_draft(self, unit: Unit, wanted: _Wanted, reviewed: bool) -> results.Stored:
        new, old_ids = wanted.new, memories.resolve(unit.db, wanted.replaced)
        outcome = review.store(unit, new, reviewed=reviewed, replaced=old_ids, force=wanted.force)
        if outcome.action is results.Action.REFUSED or outcome.id is None:
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

    def _observe(
        self, unit: Unit, said: graph.Description, wanted: _Wanted, known: Entity | None
    ) -> results.Observed:
        """Store an observation; what its entity becomes by it goes again if the observation is refused."""
        outcome: results.Stored | None = None
        about, reviewed = known, review.is_reviewed(self._caller)
        with suppress(_TurnedAway), unit.part():
            if known is None:
                number = graph.create(unit, said, wanted.new.project)
            else:
                graph.require_live(known)
                graph.require_here(known, wanted.new.project)
                if not reviewed:
                    graph.rewrite(unit, known, said)
                number = known.id
            new = dataclasses.replace(wanted.new, entity_id=number)
            outcome = self._store_draft(unit, dataclasses.replace(wanted, new=new), reviewed)
            if outcome.action is results.Action.REFUSED:
                raise _TurnedAway
            about = entity_rows.one(unit.db, number)
        if outcome is None:
            raise AssertionError("an observation without an outcome")
        return results.Observed(
            **_annotation(outcome), about=about, created=known is None and about is not None
        )

    def _ends(
        self, db: apsw.Connection, subject: str, object_: str, project: str | None, all_projects: bool
    ) -> tuple[Entity, Entity]:
        scope = self._scope(db, project, all_projects)
        from_, to = graph.find(db, subject, scope), graph.find(db, object_, scope)
        for entity in (from_, to):
            graph.require_live(entity)
        return from_, to

    def _related(self, action: str, number: int, from_: Entity, to: Entity) -> results.Related:
        with self._store.read() as db:
            return results.Related(action, relations.one(db, number), from_, to)

    def _entity_changed(self, action: str, number: int) -> results.EntityChanged:
        with self._store.read() as db:
            return results.EntityChanged(action, entity_rows.one(db, number))

    def _own_root(self, db: apsw.Connection, project: str | None) -> Root | None:
        """The repository that a project is named after, if it is the one that the call comes from."""
        root = self._root()
        return root if project is not None and project == self._own(db, root) else None

    def _annotated(self, outcomes: Sequence[results.Stored]) -> list[results.Stored]:
        """The outcomes with the state of their vectors, and what the added ones are near to."""
        with self._store.read() as db:
            return [self._annotate(db, outcome) for outcome in outcomes]

    def _annotate(self, db: apsw.Connection, outcome: results.Stored) -> results.Stored:
        if outcome.action is results.Action.REFUSED or outcome.id is None:
            return outcome
        notices: tuple[Notice, ...] = ()
        if outcome.action is results.Action.ADDED:
            added = memories.one(db, outcome.id)
            close = neighbours.near(db, added, has_vectors=self._store.has_vectors)
            notices = similar.near_duplicates(db, added, close)
        kept = [notice for notice in notices if not set(notice.ids) <= set(outcome.superseded)]
        return dataclasses.replace(
            outcome, vector=self._vectors.state(db, outcome.id), warnings=(*outcome.warnings, *kept)
        )

    def _waiting(self, db: apsw.Connection, memory: Memory) -> results.Waiting:
        """A proposal with what a person wants to know before approving it."""
        plan = review.Plan.of(memory)
        olds = [old for uid in plan.replaces if (old := proposals.named(db, uid))]
        close = neighbours.near(db, memory, has_vectors=self._store.has_vectors)
        near = similar.near_duplicates(db, memory, close)
        replaced = {old.id for old in olds}
        writer, session = proposals.writer(db, memory.id)
        return results.Waiting(
            memory=memory,
            writer=writer,
            session=session,
            replaces=tuple(olds),
            in_place=plan.in_place,
            sums_up=plan.compresses,
            about=None if plan.about is None else str(plan.about["name"]),
            near=tuple(notice for notice in near if not set(notice.ids) <= replaced),
            obstacle=review.obstacle(db, memory, now=clock.to_text(clock.now())),
        )

    def _item(self, item: Any) -> _Wanted | results.Stored:
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
    ) -> results.Changed:
        """What holds instead waits for a person; until then the old ones stay as they are."""
        with self._change("supersede", why.text, proposes=True) as unit:
            old_ids = memories.resolve(unit.db, ids)
            outcome = review.propose(unit, new, old_ids, valid_to=closing, reason=why.text)
            number = _written(outcome)
            vectors.save(unit)
        told = (*new.notices, *why.notices)
        return self._changed("proposed", [number], (*told, *outcome.warnings))

    def _end(self, ids: Sequence[str], closing: str | None, why: drafts.Clean) -> results.Changed:
        with self._change("supersede", why.text) as unit:
            old_ids = memories.resolve(unit.db, ids)
            supersession.end(unit, old_ids, valid_to=closing)
        return self._changed("ended", old_ids, why.notices)

    def _changed(self, action: str, ids: Sequence[int], notices: Sequence[Notice] = ()) -> results.Changed:
        with self._store.read() as db:
            rows = memories.by_ids(db, ids)
            states = {
                self._vectors.state(db, number) for number in ids if rows[number].status is Status.ACTIVE
            }
        pending = (
            results.VectorState.PENDING if results.VectorState.PENDING in states else next(iter(states), None)
        )
        return results.Changed(
            action, tuple(rows[number] for number in dict.fromkeys(ids)), pending, tuple(notices)
        )

    def _cold(
        self, db: apsw.Connection, filter_: Filter, most: int | None, ranking: Ranking, now: datetime
    ) -> tuple[results.Hit, ...]:
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
        return tuple(results.Hit(rows[number], 0.0, {}, surfaced=True) for number in found)

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

    def _missed(self, query: str, project: str | None) -> Missed:
        """What is kept of a question that found nothing: its text only if the user allows that."""
        text = None
        if config.value("reflect.miss-texts", self._caller.environment):
            from mem.truth.redact import redact  # for those who allow it; the others need not pay for it

            text = redact(" ".join(query.split())).text
        return Missed(project, len(query_terms(query[:LONGEST_QUESTION])), text)

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
                numbers = embeddings.entities_lacking(db, among=LOOKED_THROUGH, limit=MOST_FILLED)
                things = entity_rows.by_ids(db, numbers)
            texts = [embedded_text(as_new(memory)) for memory in waiting.values()]
            texts += [graph.described(thing).text for thing in things.values()]
            vectors = self._vectors.of_texts(texts)
            if vectors.pieces:
                with self._change("backfill") as unit:
                    vectors.save(unit)

    def _keep_summary(self, group: Group, text: str, characters: int) -> results.CompressedGroup:
        """Store the summary of a group and archive what it sums up: one operation, one event."""
        from mem.truth import compression

        new = compression.draft(group, text)
        vectors = self._vectors.of([new])
        reviewed = review.is_reviewed(self._caller)
        with self._change("compress", proposes=True) as unit:
            told = compression.keep(unit, group, new, characters, reviewed=reviewed)
            if told.id is not None:
                vectors.save(unit)
        return told

    def _keep_findings(self, batch: Sequence[Memory], findings: Sequence[Finding], tally: Tally) -> None:
        from mem.truth import extraction

        vectors = self._vectors.of_texts([finding.content for finding in findings])
        with self._change("extract-entities", proposes=True) as unit:
            extraction.keep(unit, batch, findings, tally)
            vectors.save(unit)

    def _own(self, db: apsw.Connection, root: Root | None) -> str | None:
        return projects.name_of(db, root) if root is not None else None

    def _stdin(self) -> IO[bytes]:
        """The caller's standard input; raises `Usage` where there is none."""
        given = self._caller.stdin
        if given is None and sys.stdin is not None:
            return sys.stdin.buffer
        if not given:
            raise Usage("There is no standard input here.", hint="Name the file by its path.")
        return io.BytesIO(given)

    def _root(self) -> Root | None:
        return find_root(self._caller.folder)

    def _named(self, project: str | None) -> str | None:
        return drafts.project_name(project) if project else None


def _context(query: str | None, budget: int, made: Block) -> results.ContextBlock:
    return results.ContextBlock(
        query=query,
        text=made.text,
        budget=budget,
        tokens=block.tokens(made.text),
        mode=made.mode,
        requested_mode=None if made.mode is None else Mode.HYBRID,
        degraded=made.degraded,
        trace_id=made.trace_id,
        items=tuple(
            results.ContextItem(entry.memory, entry.section) for entry in made.entries if entry.memory
        ),
        left_out=made.left_out,
    )


def _note_allowed(unit: Unit, allow_secret: bool) -> None:
    """Let the event say that a person had secrets stored."""
    if allow_secret:
        unit.detail["allow_secret"] = True


def _annotation(outcome: results.Stored) -> dict[str, Any]:
    """The fields that every outcome of a store has."""
    return {entry.name: getattr(outcome, entry.name) for entry in dataclasses.fields(results.Stored)}


def _fit(found: entity_search.Found | None) -> tuple[float | None, dict[str, results.LegScore]]:
    """How well an entity fits a question, and why."""
    if found is None:
        return None, {}
    why = {name: results.LegScore(place, round(score, 4)) for name, (place, score) in found.places.items()}
    return found.score, why


def _not_restorable(memory: Memory) -> Refused:
    hint = ""
    if memory.status is Status.REJECTED:
        hint = f"A person can override that: mem restore {memory.id} --force"
    return Refused(f"#{memory.id} is {memory.status}; only an archived memory can be restored.", hint=hint)


def _refused(err: MemError) -> results.Stored:
    """An error as the outcome of one item."""
    from mem.truth.redact import redact  # an error may quote what was given

    refusal = results.Refusal(code=err.code, reason=redact(str(err)).text, hint=redact(err.hint).text)
    return results.Stored(results.Action.REFUSED, None, None, results.VectorState.NONE, refusal=refusal)


def _operation_name(db: apsw.Connection, name: str) -> str:
    """An operation that the log has events of, or one that there is; raises `Usage` naming the nearest."""
    given = name.strip().casefold().replace("_", "-")
    return given if given in audit.operations_seen(db) else find_operation(given).name


def _not_replaced_by(unit: Unit, successor: int, old_ids: Sequence[int]) -> list[int]:
    """Those that a text does not replace already, as where a person said what was proposed for that."""
    rows = memories.by_ids(unit.db, old_ids)
    return [number for number in old_ids if rows[number].superseded_by != successor]


def _written(outcome: results.Stored) -> int:
    """The number of what was stored; raises `Refused` where it was turned away."""
    if outcome.refusal is not None or outcome.id is None:
        reason = outcome.refusal.reason if outcome.refusal else "The new text was refused."
        raise Refused(reason, hint=outcome.refusal.hint if outcome.refusal else "")
    return outcome.id


def _entity_number(db: apsw.Connection, entity: str | None, scope: Scope) -> int | None:
    """The entity that a filter names; raises `NotFound`."""
    return None if entity is None else graph.find(db, entity, scope).id


def _moment(valid_at: str | None, known_at: str | None) -> Moment:
    return Moment(
        clock.parse(valid_at, Edge.LAST, name="valid-at") if valid_at is not None else None,
        clock.parse(known_at, Edge.LAST, name="known-at") if known_at is not None else None,
    )


def _hard_window(since: str | None, until: str | None) -> results.WindowUsed | None:
    if since is None and until is None:
        return None
    first = clock.parse(since, Edge.FIRST, name="since") if since is not None else None
    last = clock.parse(until, Edge.NEXT, name="until") if until is not None else None
    if first and last and last <= first:
        raise Usage(f"until '{until}' is not after since '{since}'.")
    return results.WindowUsed(first, last, None, hard=True)


def _window(query: str, since: str | None, until: str | None, now: datetime) -> results.WindowUsed | None:
    """The window asked for; else the one that a phrase of the query means, which only lifts."""
    hard = _hard_window(since, until)
    if hard is not None:
        return hard
    found = temporal.find_window(query, now, clock.local_zone())
    if found is None:
        return None
    return results.WindowUsed(
        clock.to_text(found.since), clock.to_text(found.until), found.phrase, hard=False
    )


def open_service(
    path: Path | None = None, *, caller: Caller | None = None, later: traces.Later | None = None
) -> Service:
    """The service as the environment and the configuration describe it; `path` names another store.

    Raises `StoreUnusable` when the store cannot be opened, and `Usage` for a setting that cannot be.
    """
    caller = caller or current_caller()
    place = path or store_path(caller.environment)
    # A setting that cannot be is told before a store is made.
    wanted, timeout = (config.value(key, caller.environment) for key in ("model", "store.timeout-ms"))

    def follow(model: embeddings.Model | None) -> Embedder | None:
        return choose_embedder(place, caller.environment, model)

    store = Store(place, timeout_ms=timeout)
    if wanted == "none":
        return Service(store, None, caller, later=later)
    with store.read() as db:
        active = embeddings.active_model(db)
    return Service(store, follow(active), caller, later=later, follow=follow)
