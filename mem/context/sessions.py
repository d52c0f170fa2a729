"""A client's sessions: opened, ended with a summary and tasks, and closed when nobody comes back.

A session belongs to the client that opened it; nobody else can end it. Ending one twice takes nothing away.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import apsw

from mem import clock
from mem.context.notes import Notes
from mem.errors import NotFound, Refused, Usage
from mem.store import projects, sessions
from mem.store.events import Unit, unit_of_work
from mem.values import Kind, NewMemory, Notice, Session

if TYPE_CHECKING:
    from mem.results import Stored
    from mem.search.embedding import Vectors

SILENCE = timedelta(hours=24)  # after which a session that nobody ended is abandoned
ENDED = "ended"
MOST_TASKS, LONGEST_TASK = 100, 2_000


class Sessions:
    """The sessions of the client that calls, over the same store as its notes.

    Without `vectors` a summary is stored without its own, and found by words until somebody fills them in.
    `wait_ms` is how long a write waits for the lock, if not as long as the store does.
    """

    def __init__(self, notes: Notes, vectors: "Vectors | None" = None, *, wait_ms: int | None = None) -> None:
        self._notes = notes
        self._vectors = vectors
        self._store = notes.store
        self._actor = notes.caller.actor
        self._wait_ms = wait_ms

    def start(self, project: str | None) -> Session:
        """Open a session, or go on with the one that the host is in; closes those that were abandoned."""
        with self._change("session-start") as unit:
            known = sessions.of_actor(unit.db, self._actor)
            if known is None:
                self._bind(unit, project)
                number = sessions.begin(unit, project)
            else:
                number = known.id
                if known.ended_at is not None:
                    sessions.reopen(unit, known)
            silent_since = clock.to_text(clock.from_text(unit.at) - SILENCE)
            sessions.close_abandoned(unit, silent_since, but=number)
            return sessions.one(unit.db, number)

    def end(
        self,
        reference: str | None = None,
        *,
        summary: str | None = None,
        tasks: Sequence[str] = (),
        reason: str = ENDED,
    ) -> "tuple[Session, Stored | None, tuple[Notice, ...]]":
        """End one of this client's sessions; a summary becomes a memory that belongs to it.

        Without a reference it is the session that the host is in, else the client's only open one. What was
        there before stays. Gives the session, what became of the summary, and what to know of the tasks.
        Raises `NotFound`, or `Refused` for a session of another client.
        """
        with self._store.read() as db:
            session = self._mine(db, reference)
        more, notices = _checked(tasks)
        why = reason if reason == ENDED else _plain(reason)
        new = _draft(summary, session.project, session.uid, source=None) if summary is not None else None
        vectors = self._vectors.of([new]) if new and self._vectors else None
        with self._change("session-end") as unit:
            stored = self._store_summary(unit, new) if new else None
            sessions.end(unit, sessions.one(unit.db, session.id), why, more)
            if vectors is not None:
                vectors.save(unit)
            return sessions.one(unit.db, session.id), stored, notices

    def keep_summary(self, text: str, source: str) -> "Stored":
        """Store what a host made of the session so far as a summary of it; the session goes on."""
        with self._store.read() as db:
            session = sessions.of_actor(db, self._actor)
            project = session.project if session else self._notes.project(db)
        new = _draft(text, project, session.uid if session else None, source=source)
        with self._change("store") as unit:
            self._bind(unit, project)
            return self._store_summary(unit, new)

    def _store_summary(self, unit: Unit, new: NewMemory) -> "Stored":
        from mem.truth import review

        stored = review.store(unit, new, reviewed=review.is_reviewed(self._notes.caller))
        return replace(stored, warnings=(*new.notices, *stored.warnings))

    @contextmanager
    def _change(self, operation: str) -> Iterator[Unit]:
        """A unit of work whose index entries are in step when it commits."""
        with unit_of_work(self._store, operation, self._actor, wait_ms=self._wait_ms) as unit:
            yield unit
            if unit.memory_ids:
                from mem.search import index

                index.refresh(unit.db, unit.memory_ids, has_vectors=self._store.has_vectors)

    def _bind(self, unit: Unit, project: str | None) -> None:
        """Make sure that the project exists, bound to the repository that it is named after."""
        if project is not None:
            from mem.truth.drafts import project_to_write

            project_to_write(project)
        root = self._notes.root()
        own = root is not None and project == projects.name_of(unit.db, root)
        projects.bind_if_named(unit, project, root if own else None)

    def _mine(self, db: apsw.Connection, reference: str | None) -> Session:
        if reference is not None:
            session = sessions.one(db, sessions.resolve(db, reference))
            if session.client != self._actor.client:
                raise Refused(
                    f"Session {session.id} was opened by {session.client or 'a call without a client'}, "
                    f"not by {self._actor.client or 'one without a client'}.",
                    hint="The client that opened a session ends it.",
                )
            return session
        here = sessions.of_actor(db, self._actor)
        if here is not None:
            return here
        mine = sessions.open_ones(db, self._actor)
        if not mine:
            raise NotFound("No session of this client is open.", hint="See: mem sessions")
        if len(mine) > 1:
            listed = ", ".join(str(session.id) for session in mine)
            raise Usage(f"This client has several open sessions: {listed}.", hint="Name one of them.")
        return mine[0]


def _draft(text: str, project: str | None, session: str | None, *, source: str | None) -> NewMemory:
    """A summary as a draft, checked as every memory is."""
    from mem.truth.drafts import draft

    values = {"content": text, "kind": Kind.SUMMARY, "source": source}
    return replace(draft(values, at=clock.to_text(clock.now())), project=project, session=session)


def _plain(reason: str) -> str:
    from mem.truth import drafts

    return drafts.reason(reason).text or ENDED


def _checked(tasks: Sequence[str]) -> "tuple[tuple[str, ...], tuple[Notice, ...]]":
    """Tasks that say something, and what their writer should know; raises `Usage` for too many or long."""
    from mem.truth.drafts import clean

    if len(tasks) > MOST_TASKS:
        raise Usage(f"{len(tasks)} tasks are too many; at most {MOST_TASKS} are kept.")
    cleaned = [clean("task", task, LONGEST_TASK) for task in tasks]
    kept = tuple(task.text for task in cleaned if task.text)
    return kept, tuple(notice for task in cleaned for notice in task.notices)
