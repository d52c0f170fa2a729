"""Counts over the store."""

from pathlib import Path

import apsw

from mem.results import Statistics
from mem.store import embeddings
from mem.store.connect import select
from mem.values import Scope


def count(db: apsw.Connection, scope: Scope, path: Path) -> Statistics:
    """Count the memories of a scope; coverage of vectors and sizes are those of the whole store."""
    model = embeddings.active_model(db)
    stored, pending = embeddings.coverage(db, model)
    wal = path.with_name(path.name + "-wal")
    by_status = _by(db, scope, "m.status", every_status=True)
    return Statistics(
        total=sum(by_status.values()),
        by_status=by_status,
        by_kind=_by(db, scope, "m.kind"),
        by_layer=_by(db, scope, "m.layer"),
        by_level=_by(db, scope, "m.level"),
        by_category=_by(db, scope, "m.category"),
        by_project=_by(db, scope, "ifnull(m.project, '(global)')"),
        model=model.name if model else None,
        vectors_stored=stored,
        vectors_pending=pending,
        store_bytes=path.stat().st_size,
        wal_bytes=wal.stat().st_size if wal.exists() else 0,
    )


def _by(db: apsw.Connection, scope: Scope, column: str, *, every_status: bool = False) -> dict[str, int]:
    """Active memories, or those of every status, by the value of a column."""
    rows = select(
        db,
        f"""SELECT {column}, count(*) FROM memories m
            WHERE (?1 OR m.project IS NULL OR m.project = ?2) AND (?3 OR m.status = 'active')
            GROUP BY 1 ORDER BY 2 DESC, 1""",
        (scope.everywhere, scope.project, every_status),
    )
    return dict(rows)
