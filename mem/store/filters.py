"""A `Filter` as an SQL condition on a row of memories named `m`; values are always bound."""

from dataclasses import dataclass
from typing import Any

from mem.values import Filter, Scope, Status

EXPIRED = "expired"  # the reason by which upkeep archives what has outlived its time


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on `m` and the values that it binds, in order."""

    sql: str
    values: tuple[Any, ...]


def where(filter_: Filter, *, now: str) -> Where:
    """What a filter asks of a row that is a candidate at its moment; `now` is the present instant."""
    parts: list[tuple[str, tuple[Any, ...]]] = [
        _scope(filter_.scope),
        _held(filter_, now),
        _live(filter_, now),
    ]
    parts += _listed("kind", filter_.kinds)
    parts += _listed("category", filter_.categories)
    parts += _listed("level", filter_.levels)
    parts += _listed("layer", filter_.layers)
    parts += _listed("trust", filter_.trusts)
    parts += [_tag(tag) for tag in filter_.tags]
    if filter_.minimum_importance is not None:
        parts.append(("m.importance >= ?", (filter_.minimum_importance,)))
    if filter_.minimum_confidence is not None:
        parts.append(("m.confidence >= ?", (filter_.minimum_confidence,)))
    if filter_.entity_id is not None:
        parts.append(("m.entity_id = ?", (filter_.entity_id,)))
    if filter_.source is not None:
        parts.append(("instr(lower(m.source), lower(?)) > 0", (filter_.source,)))
    parts += _listed("client", filter_.clients)
    if filter_.session_id is not None:
        parts.append(("m.session_id = ?", (filter_.session_id,)))
    if filter_.since is not None:
        parts.append(("ifnull(m.event_time, m.recorded_at) >= ?", (filter_.since,)))
    if filter_.until is not None:
        parts.append(("ifnull(m.event_time, m.recorded_at) < ?", (filter_.until,)))
    kept = [(sql, values) for sql, values in parts if sql]
    return Where(" AND ".join(sql for sql, _ in kept), tuple(value for _, values in kept for value in values))


def statuses(filter_: Filter) -> tuple[Status, ...]:
    """The statuses that a filter admits: those it names, else what its moment is about."""
    if filter_.statuses:
        return filter_.statuses
    if filter_.moment.is_now:
        return (Status.ACTIVE,)
    return tuple(status for status in Status if status is not Status.PROPOSED)


def is_live(filter_: Filter) -> bool:
    """Whether the filter asks only for what the derived indexes hold: active rows, now."""
    return filter_.moment.is_now and statuses(filter_) == (Status.ACTIVE,) and not filter_.expired


def _scope(scope: Scope) -> tuple[str, tuple[Any, ...]]:
    if scope.everywhere:
        return "", ()
    if scope.project is None:
        return "m.project IS NULL", ()
    return "(m.project IS NULL OR m.project = ?)", (scope.project,)


def _held(filter_: Filter, now: str) -> tuple[str, tuple[Any, ...]]:
    """Half-open valid time. Retired rows are looked for by status, not by whether they hold now."""
    moment = filter_.moment
    if moment.is_now and not is_live(filter_):
        return "", ()
    at = moment.valid_at or moment.known_at or now
    return "(m.valid_from IS NULL OR m.valid_from <= ?) AND (m.valid_to IS NULL OR m.valid_to > ?)", (at, at)


def _live(filter_: Filter, now: str) -> tuple[str, tuple[Any, ...]]:
    if filter_.expired:
        return (
            "(m.status = 'active' AND m.expires_at <= ? OR m.status = 'archived' AND m.status_reason = ?)",
            (now, EXPIRED),
        )
    admitted = statuses(filter_)
    listed = ", ".join("?" * len(admitted))
    return (
        f"m.status IN ({listed}) AND (m.status <> 'active' OR m.expires_at IS NULL OR m.expires_at > ?)",
        (*(status.value for status in admitted), filter_.moment.known_at or now),
    )


def _listed(column: str, values: tuple[str, ...]) -> list[tuple[str, tuple[Any, ...]]]:
    if not values:
        return []
    return [(f"m.{column} IN ({', '.join('?' * len(values))})", tuple(str(value) for value in values))]


def _tag(tag: str) -> tuple[str, tuple[Any, ...]]:
    return "EXISTS (SELECT 1 FROM json_each(m.tags) WHERE json_each.value = ?)", (tag,)
