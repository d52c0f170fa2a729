"""What a trace says, for who asks later: which memories were shown or held back, and what became of them.

It tells nothing of other projects: what lies beyond the scope of who asks is only counted. A memory that was
rejected since is named by its number and its state, without its text.
"""

from collections.abc import Sequence

import apsw

from mem.results import Explanation, Place, Traced, TracedMemory
from mem.store import memories, traces
from mem.store.traces import Record, Shown, Withheld
from mem.values import Memory, Scope, Status

FORGOTTEN = "forgotten"


def of_trace(db: apsw.Connection, record: Record, scope: Scope, *, now: str) -> Traced:
    """The trace as a scope may see it."""
    numbers = (*(entry.id for entry in record.shown), *(entry.id for entry in record.withheld))
    rows = memories.by_ids(db, numbers)

    def told(entries: Sequence[Shown | Withheld]) -> tuple[TracedMemory, ...]:
        seen = [(entry, rows.get(entry.id)) for entry in entries]
        return tuple(_told(entry, row, now) for entry, row in seen if _is_visible(row, scope))

    shown, withheld = told(record.shown), told(record.withheld)
    signals = dict(record.signals)
    return Traced(
        trace_id=record.id,
        operation=record.operation,
        at=record.at,
        client=record.client,
        session=record.session,
        project=record.project,
        mode=record.mode,
        degraded=record.degraded,
        total=record.total,
        confidence=signals.pop("confidence", None),
        threshold=signals.pop("threshold", None),
        signals=signals,
        shown=shown,
        withheld=withheld,
        elsewhere=len(record.shown) + len(record.withheld) - len(shown) - len(withheld),
    )


def of_last_hook(db: apsw.Connection, session: str | None, scope: Scope, *, now: str) -> Explanation:
    """Why a hook said what it said last: in a session of the host, else in the project, else anywhere."""
    for place, record in (
        (Place.SESSION, traces.last(db, session=session, operations=traces.HOOKS) if session else None),
        (Place.PROJECT, traces.last(db, scope=scope, operations=traces.HOOKS)),
        (Place.ANYWHERE, traces.last(db, operations=traces.HOOKS)),
    ):
        if record is not None:
            told = of_trace(db, record, scope, now=now)
            rows = memories.by_ids(db, [entry.id for entry in (*told.shown, *told.withheld)])
            texts = (memory for memory in rows.values() if memory.status is not Status.REJECTED)
            return Explanation(place, told, tuple(texts))
    return Explanation(None, None)


def _is_visible(memory: Memory | None, scope: Scope) -> bool:
    return memory is None or scope.everywhere or memory.project in (None, scope.project)


def _told(entry: Shown | Withheld, memory: Memory | None, now: str) -> TracedMemory:
    ranks = entry.ranks if isinstance(entry, Shown) else {}
    rule = entry.rule if isinstance(entry, Withheld) else None
    return TracedMemory(entry.id, entry.score, ranks, rule, _state(memory, now))


def _state(memory: Memory | None, now: str) -> str:
    """Whether it would still be recalled, else why not."""
    if memory is None:
        return FORGOTTEN
    if memory.status is not Status.ACTIVE:
        return memory.status
    if memory.expires_at is not None and memory.expires_at <= now:
        return "expired"
    if memory.valid_to is not None and memory.valid_to <= now:
        return "ended"
    return "live" if memory.valid_from is None or memory.valid_from <= now else "not_yet"
