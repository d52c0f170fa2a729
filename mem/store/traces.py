"""Recall traces: what was considered and shown, without a word of the question or of the memories."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import apsw

from mem import clock
from mem.errors import StoreUnusable
from mem.store import usage
from mem.store.connect import Store
from mem.store.events import new_uid
from mem.values import Actor, Mode

LONGEST_WAIT_MS = 50
MOST_CONSIDERED = 50

Scored = tuple[tuple[int, float], ...]
Later = Callable[[Callable[[], None]], None]
"""Takes work that can be done when the caller has its answer."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What one recall considered and handed out: (memory, score), best first."""

    operation: str
    actor: Actor
    project: str | None
    mode: Mode
    degraded: tuple[str, ...]
    total: int
    shown: Scored = ()
    considered: Scored = ()
    signals: Mapping[str, Any] = field(default_factory=dict)


def leave(store: Store, trace: Trace, later: Later | None = None) -> str | None:
    """Keep a trace and count what it handed out; None when the store cannot be written soon enough.

    What can be done after the answer is given to `later`, where there is one.
    """
    at = clock.now()
    trace_id = new_uid(at)
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
        json.dumps(dict(trace.signals)),
        json.dumps(trace.shown),
        json.dumps(trace.considered[:MOST_CONSIDERED]),
    )
    try:
        with store.write(wait_ms=LONGEST_WAIT_MS, lasting=False) as db:
            db.execute(f"INSERT INTO recall_traces VALUES ({', '.join('?' * len(row))})", row)
            if later is None:
                _count(db, trace, at)
    except StoreUnusable:
        return None
    if later is not None:
        later(lambda: _count_later(store, trace, at))
    return trace_id


def _count_later(store: Store, trace: Trace, at: datetime) -> None:
    with suppress(StoreUnusable), store.write(wait_ms=LONGEST_WAIT_MS, lasting=False) as db:
        _count(db, trace, at)


def _count(db: apsw.Connection, trace: Trace, at: datetime) -> None:
    usage.count_recalled(db, [memory_id for memory_id, _ in trace.shown], clock.to_text(at))


def signals(db: apsw.Connection, trace_id: str) -> dict[str, Any]:
    """The signals that a recall weighed."""
    found = db.execute("SELECT signals FROM recall_traces WHERE id = ?", (trace_id,)).get
    return dict(json.loads(str(found or "{}")))
