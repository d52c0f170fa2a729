"""Where the vectors of a scope lie: sums of the live pieces per project, kept in step with the index.

The sign-bit index takes the model's own mean off every vector, once and for all. Ranking does better around
the mean of what is searched (LoCoMo R@10 54.7 to 57.7 by vectors alone), as soon as there is enough of it:
the two are mixed as if the model's mean were that of `PRIOR` pieces.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from mem.store import projects
from mem.store.connect import select
from mem.store.embeddings import Model
from mem.values import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PRIOR = 100


def add(db: apsw.Connection, project: int, vectors: Sequence[bytes], *, table: str = "centroids") -> None:
    """Count the vectors of pieces that become live."""
    _move(db, project, vectors, 1, table)


def remove(db: apsw.Connection, project: int, vectors: Sequence[bytes], *, table: str = "centroids") -> None:
    """Take away the vectors of pieces that are no longer live."""
    _move(db, project, vectors, -1, table)


def gathered(db: apsw.Connection, model: Model, scope: Scope) -> tuple["NDArray[np.float64]", int]:
    """The sum of the vectors of a scope, shape (dimensions,), and how many pieces they are."""
    import numpy as np

    numbers = (0, projects.number_of(db, scope.project))
    rows = select(
        db,
        "SELECT pieces, total FROM centroids WHERE ?1 OR project IN (?2, ?3)",
        (scope.everywhere, *numbers),
    )
    total = np.zeros(model.dimensions)
    for _, blob in rows:
        total += np.frombuffer(blob, dtype="<f8")
    return total, sum(pieces for pieces, _ in rows)


def mix(
    mean: "NDArray[np.float32] | None", total: "NDArray[np.float64]", pieces: int
) -> "NDArray[np.float32] | None":
    """(PRIOR · model's mean + sum of pieces) / (PRIOR + number of pieces); None if the model has no mean."""
    import numpy as np

    if mean is None:
        return None
    mixed: NDArray[np.float32] = ((PRIOR * mean + total) / (PRIOR + pieces)).astype(np.float32)
    return mixed


def _move(db: apsw.Connection, project: int, vectors: Sequence[bytes], sign: int, table: str) -> None:
    import numpy as np

    if not vectors:
        return
    moved = sign * np.sum([np.frombuffer(blob, dtype="<f4") for blob in vectors], axis=0, dtype=np.float64)
    known = db.execute(f"SELECT total FROM {table} WHERE project = ?", (project,)).get
    total = moved if known is None else np.frombuffer(known, dtype="<f8") + moved
    db.execute(
        f"""INSERT INTO {table} (project, pieces, total) VALUES (?1, ?2, ?3)
           ON CONFLICT DO UPDATE SET pieces = pieces + ?2, total = ?3""",
        (project, sign * len(vectors), total.astype("<f8").tobytes()),
    )
