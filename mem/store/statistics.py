"""Counts over the store."""

from bisect import bisect_right
from collections import Counter
from datetime import date, timedelta
from enum import IntEnum
from pathlib import Path
from typing import Any

import apsw

from mem import clock
from mem.results import Statistics
from mem.store import embeddings, entities, traces
from mem.store.connect import select
from mem.store.filters import EXPIRED, where
from mem.values import Filter, Layer, Scope, Status

DEAD_AFTER = timedelta(days=30)  # what nobody recalled in so long is dead knowledge
MISSED_WITHIN = timedelta(days=7)
WEEKS = 12  # the last ones, whose growth is told
TEMPORARY = (Layer.WORKING, Layer.SHORT_TERM)


_COLUMNS = ("status", "kind", "layer", "level", "category", "project", "trust", "life")
_IN_SCOPE = "(?1 OR m.project IS NULL OR m.project = ?2)"

Group = tuple[Any, ...]  # the values of `_COLUMNS`


class Life(IntEnum):
    """Whether a memory holds now, and whether it is dead knowledge: old, and never recalled."""

    OVER = 0
    LIVE = 1
    DEAD = 2


def count(db: apsw.Connection, scope: Scope, path: Path, *, now: str) -> Statistics:
    """Count the memories, entities, relations and recalls of a scope.

    Vectors, events and sizes are those of the whole store. What has expired by `now` counts as that, whether
    or not upkeep has archived it yet.
    """
    groups = _groups(db, scope, now)
    active = Counter({group: count for group, count in groups.items() if group[0] == Status.ACTIVE})
    lives = _by(groups, "life")
    by_layer = _by(active, "layer")
    temporary = sum(by_layer.get(layer, 0) for layer in TEMPORARY)
    lasting = sum(by_layer.values()) - temporary
    dead = lives.get(Life.DEAD, 0)
    types = entities.types(db, scope)
    return Statistics(
        total=groups.total(),
        by_status=_by(groups, "status"),
        by_kind=_by(active, "kind"),
        by_layer=by_layer,
        by_level=_by(active, "level"),
        by_category=_by(active, "category"),
        by_project=_by(active, "project"),
        by_trust=_by(active, "trust"),
        temporary=temporary,
        lasting=lasting,
        pressure=round(temporary / max(1, lasting), 4),
        dead=dead,
        dead_share=round(dead / max(1, dead + lives.get(Life.LIVE, 0)), 4),
        **_misses(db, scope, now),
        added_by_week=_growth(db, scope, now),
        entities=sum(types.values()),
        entities_by_type=types,
        relations=_relations(db, scope, now),
        events=int(db.execute("SELECT count(*) FROM events").get),
        **_vectors(db),
        **_sizes(path),
    )


def _groups(db: apsw.Connection, scope: Scope, now: str) -> Counter[Group]:
    """How many memories share their values of `_COLUMNS`: one pass, however many ways they are summed."""
    live = where(Filter(scope=Scope(everywhere=True)), now=now)
    return Counter(
        select(
            db,
            f"""SELECT iif(m.status = 'active' AND m.expires_at <= ?, '{EXPIRED}', m.status), m.kind, m.layer,
                       m.level, m.category, ifnull(m.project, '(global)'), m.trust,
                       CASE WHEN NOT ({live.sql}) THEN {Life.OVER:d}
                            WHEN m.recorded_at < ? AND m.id NOT IN (
                              SELECT memory_id FROM usage WHERE recalls > 0) THEN {Life.DEAD:d}
                            ELSE {Life.LIVE:d} END
                FROM memories m WHERE (? OR m.project IS NULL OR m.project = ?)""",
            (now, *live.values, _before(now, DEAD_AFTER), scope.everywhere, scope.project),
        )
    )


def _by(groups: Counter[Group], column: str) -> dict[Any, int]:
    """The sums by one column, the greatest first."""
    place = _COLUMNS.index(column)
    found = Counter[Any]()
    for group, count in groups.items():
        found[group[place]] += count
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _vectors(db: apsw.Connection) -> dict[str, Any]:
    """The coverage of the model that is searched, and of each that there is."""
    active = embeddings.active_model(db)
    stored, pending = embeddings.coverage(db, active)
    covered = {
        model.name: stored if model == active else embeddings.coverage(db, model)[0]
        for model in embeddings.models(db)
    }
    return {
        "model": active.name if active else None,
        "vectors_stored": stored,
        "vectors_pending": pending,
        "vectors_by_model": covered,
    }


def _sizes(path: Path) -> dict[str, Any]:
    wal = path.with_name(path.name + "-wal")
    return {
        "store_bytes": path.stat().st_size,
        "wal_bytes": wal.stat().st_size if wal.exists() else 0,
    }


def _misses(db: apsw.Connection, scope: Scope, now: str) -> dict[str, Any]:
    """How often a question found nothing of late; what hooks were asked is counted apart."""
    rows = select(
        db,
        """SELECT t.operation, count(*), sum(t.total = 0) FROM recall_traces t
           WHERE t.at >= ?3 AND (?1 OR t.project IS ?2)
             AND (t.operation = ?4 OR (t.operation = ?5 AND t.signals <> '{}'))
           GROUP BY 1""",
        (
            scope.everywhere,
            scope.project,
            _before(now, MISSED_WITHIN),
            traces.RECALL,
            traces.HOOK_PROMPT,
        ),
    )
    found = {row[0]: (int(row[1]), int(row[2])) for row in rows}
    recalls, missed = found.get(traces.RECALL, (0, 0))
    prompts, silent = found.get(traces.HOOK_PROMPT, (0, 0))
    return {
        "recent_recalls": recalls,
        "recent_misses": missed,
        "miss_rate": round(missed / max(1, recalls), 4),
        "recent_prompts": prompts,
        "recent_prompt_misses": silent,
    }


def _growth(db: apsw.Connection, scope: Scope, now: str) -> dict[str, int]:
    """How many memories were added in each of the last weeks, by the Monday that it began with (local days).

    Whatever became of them since.
    """
    today = date.fromisoformat(clock.local_day(now))
    monday = today - timedelta(days=today.weekday())
    weeks = [monday - timedelta(weeks=back) for back in reversed(range(WEEKS))]
    begins = [clock.to_text(clock.midnight(week)) for week in weeks]
    rows = select(
        db,
        f"SELECT m.recorded_at FROM memories m WHERE {_IN_SCOPE} AND m.recorded_at >= ?3",
        (scope.everywhere, scope.project, begins[0]),
    )
    found = dict.fromkeys(map(str, weeks), 0)
    for (recorded_at,) in rows:
        found[str(weeks[bisect_right(begins, recorded_at) - 1])] += 1
    return found


def _relations(db: apsw.Connection, scope: Scope, now: str) -> int:
    """How many relations hold now between live entities of a scope."""
    return int(
        db.execute(
            """WITH seen (id) AS (SELECT n.id FROM entities n WHERE n.status = 'active'
                                  AND (?1 OR n.project IS NULL OR n.project = ?2))
               SELECT count(*) FROM relations r WHERE r.status = 'active'
                 AND r.from_id IN (SELECT id FROM seen) AND r.to_id IN (SELECT id FROM seen)
                 AND (r.valid_from IS NULL OR r.valid_from <= ?3)
                 AND (r.valid_to IS NULL OR r.valid_to > ?3)""",
            (scope.everywhere, scope.project, now),
        ).get
    )


def _before(now: str, span: timedelta) -> str:
    return clock.to_text(clock.from_text(now) - span)
