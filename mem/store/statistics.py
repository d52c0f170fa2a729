"""Counts over the store."""

from pathlib import Path

import apsw

from mem.results import Statistics
from mem.store import embeddings
from mem.store.connect import select
from mem.values import Scope

_STATUS = "CASE WHEN m.status = 'active' AND m.expires_at <= ?4 THEN 'expired' ELSE m.status END"


def count(db: apsw.Connection, scope: Scope, path: Path, *, now: str) -> Statistics:
    """Count the memories of a scope; coverage of vectors and sizes are those of the whole store.

    What has expired by `now` counts as that, whether or not upkeep has archived it yet.
    """
    model = embeddings.active_model(db)
    stored, pending = embeddings.coverage(db, model)
    wal = path.with_name(path.name + "-wal")
    by_status = _by(db, scope, _STATUS, now, every_status=True)
    return Statistics(
        total=sum(by_status.values()),
        by_status=by_status,
        by_kind=_by(db, scope, "m.kind", now),
        by_layer=_by(db, scope, "m.layer", now),
        by_level=_by(db, scope, "m.level", now),
        by_category=_by(db, scope, "m.category", now),
        by_project=_by(db, scope, "ifnull(m.project, '(global)')", now),
        model=model.name if model else None,
        vectors_stored=stored,
        vectors_pending=pending,
        store_bytes=path.stat().st_size,
        wal_bytes=wal.stat().st_size if wal.exists() else 0,
    )


def _by(
    db: apsw.Connection, scope: Scope, column: str, now: str, *, every_status: bool = False
) -> dict[str, int]:
    """Live memories, or those of every status, by the value of a column."""
    rows = select(
        db,
        f"""SELECT {column}, count(*) FROM memories m
            WHERE (?1 OR m.project IS NULL OR m.project = ?2)
              AND (?3 OR (m.status = 'active' AND (m.expires_at IS NULL OR m.expires_at > ?4)))
            GROUP BY 1 ORDER BY 2 DESC, 1""",
        (scope.everywhere, scope.project, every_status, now),
    )
    return dict(rows)
