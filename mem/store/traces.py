"""Recall traces: what was considered and shown, without a word of the question or of the memories."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import apsw

from mem import clock
from mem.errors import NotFound, StoreUnusable, Usage
from mem.store import misses, usage
from mem.store.connect import Store, select
from mem.store.events import new_uid
from mem.store.misses import Missed
from mem.values import Actor, Mode, Rule, Scope

LONGEST_WAIT_MS = 50
MOST_WITHHELD = 50

RECALL, CONTEXT = "recall", "context"
# What a host's hook asked for: the beginning of a session, and a prompt.
HOOK_START, HOOK_PROMPT = "hook-start", "hook-prompt"
HOOKS = (HOOK_START, HOOK_PROMPT)

Later = Callable[[Callable[[], None]], None]
"""Takes work that can be done when the caller has its answer."""


class Shown(NamedTuple):
    """A memory that was handed out: its number, its score, and its rank in each leg of the search."""

    id: int
    score: float
    ranks: Mapping[str, int] = {}


class Withheld(NamedTuple):
    """A memory that was found and not handed out; without a score where none was worked out."""

    id: int
    score: float | None
    rule: Rule = Rule.LIMIT


@dataclass(frozen=True, slots=True)
class Trace:
    """What one recall handed out, and what else it considered, best first; `missed` if it found nothing."""

    operation: str
    actor: Actor
    project: str | None
    mode: Mode
    degraded: tuple[str, ...]
    total: int
    shown: tuple[Shown, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    signals: Mapping[str, Any] = field(default_factory=dict)
    missed: Missed | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A trace as the store has it."""

    id: str
    at: str
    operation: str
    client: str | None
    session: str | None
    project: str | None
    mode: Mode
    degraded: tuple[str, ...]
    total: int
    signals: Mapping[str, Any]
    shown: tuple[Shown, ...]
    withheld: tuple[Withheld, ...]


def leave(store: Store, trace: Trace, later: Later | None = None) -> str | None:
    """Keep a trace and count what it handed out; None when the store cannot be written soon enough.

    What can be done after the answer is given to `later`, where there is one.
    """
    at = clock.now()
    trace_id = new_uid(at)
    if not _written(store, trace, trace_id, at, counts=later is None):
        return None
    if later is not None and trace.shown:
        later(lambda: _count_later(store, trace, at))
    return trace_id


def leave_of_silence(store: Store, trace: Trace, later: Later | None = None) -> None:
    """Keep the trace of a call that gets nothing, after its answer where that can be: nobody waits for it."""
    at = clock.now()

    def work() -> None:
        _written(store, trace, new_uid(at), at, counts=False)

    if later is None:
        work()
    else:
        later(work)


def _written(store: Store, trace: Trace, trace_id: str, at: datetime, *, counts: bool) -> bool:
    row = (
        trace_id,
        clock.to_text(at),
        trace.operation,
        trace.actor.client,
        trace.actor.session,
        trace.project,
        trace.mode.value,
        json.dumps(trace.degraded),
        trace.total,
        json.dumps(trace.signals),
        json.dumps(trace.shown),
        json.dumps(trace.withheld[:MOST_WITHHELD]),
    )
    try:
        with store.write(wait_ms=LONGEST_WAIT_MS, lasting=False) as db:
            db.execute(f"INSERT INTO recall_traces VALUES ({', '.join('?' * len(row))})", row)
            if counts:
                _count(db, trace, at)
            if trace.missed is not None:
                misses.record(
                    db, trace.missed, operation=trace.operation, mode=trace.mode, at=clock.to_text(at)
                )
    except StoreUnusable:
        return False
    return True


def _count_later(store: Store, trace: Trace, at: datetime) -> None:
    with suppress(StoreUnusable), store.write(wait_ms=LONGEST_WAIT_MS, lasting=False) as db:
        _count(db, trace, at)


def _count(db: apsw.Connection, trace: Trace, at: datetime) -> None:
    usage.count_recalled(db, [entry.id for entry in trace.shown], clock.to_text(at))


_COLUMNS = """id, at, operation, client, session, project, mode, degraded, total, signals, shown, withheld"""
_UID = re.compile(r"[0-9a-f-]{8,36}", re.ASCII)


def find(db: apsw.Connection, reference: str) -> Record:
    """The trace that a UUID, or 8 or more of its first characters, stands for; raises `NotFound`, `Usage`."""
    given = reference.strip().casefold()
    if not _UID.fullmatch(given):
        raise Usage(
            f"'{reference[:80]}' is not the id of a trace.",
            hint="Give the trace_id of an answer, or 8 or more of its first characters.",
        )
    rows = select(
        db,
        f"SELECT {_COLUMNS} FROM recall_traces WHERE id >= ? AND id < ? ORDER BY id LIMIT 6",
        (given, given + "g"),
    )
    if not rows:
        raise NotFound(f"There is no trace {given}.", hint="Traces are kept for a few days only.")
    if len(rows) > 1:
        listed = "; ".join(row[0] for row in rows[:5])
        raise NotFound(f"'{given}' stands for more than one trace.", hint=f"Give more of it: {listed}.")
    return _from_row(rows[0])


def last(
    db: apsw.Connection,
    *,
    session: str | None = None,
    scope: Scope | None = None,
    operations: Collection[str] = (),
) -> Record | None:
    """The newest trace of a host's session, of a scope, of some operations; None if there is none."""
    conditions: list[tuple[str, Sequence[Any]]] = [("1", ())]
    if session is not None:
        conditions.append(("session = ?", (session,)))
    if scope is not None and not scope.everywhere:
        conditions.append(("project IS ?", (scope.project,)))
    if operations:
        conditions.append((f"operation IN ({', '.join('?' * len(operations))})", tuple(operations)))
    rows = select(
        db,
        f"""SELECT {_COLUMNS} FROM recall_traces WHERE {" AND ".join(sql for sql, _ in conditions)}
            ORDER BY at DESC, id DESC LIMIT 1""",
        [value for _, values in conditions for value in values],
    )
    return _from_row(rows[0]) if rows else None


def shown(db: apsw.Connection, reference: str) -> list[int] | None:
    """The numbers of the memories that a trace shows; None where nothing is known of it."""
    try:
        return [entry.id for entry in find(db, reference).shown]
    except (NotFound, Usage):
        return None


def signals(db: apsw.Connection, trace_id: str) -> dict[str, Any]:
    """The signals that a recall weighed."""
    found = db.execute("SELECT signals FROM recall_traces WHERE id = ?", (trace_id,)).get
    return dict(json.loads(str(found or "{}")))


def _from_row(row: Sequence[Any]) -> Record:
    return Record(
        id=row[0],
        at=row[1],
        operation=row[2],
        client=row[3],
        session=row[4],
        project=row[5],
        mode=Mode(row[6]),
        degraded=tuple(json.loads(row[7])),
        total=row[8],
        signals=json.loads(row[9]),
        shown=tuple(Shown(*entry) for entry in json.loads(row[10])),
        withheld=tuple(Withheld(*entry[:2], *map(Rule, entry[2:])) for entry in json.loads(row[11])),
    )
