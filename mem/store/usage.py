"""How often memories were handed out and restated, counted apart from their rows."""

import json
from collections.abc import Iterable

import apsw

from mem.store.events import ORIGIN_HERE


def count_recalled(db: apsw.Connection, memory_ids: Iterable[int], at: str) -> None:
    """Count one recall for each memory that was handed out."""
    db.execute(
        """INSERT INTO usage (memory_id, origin_id, recalls, last_recalled_at)
           SELECT m.id, ?2, 1, ?3 FROM memories m WHERE m.id IN (SELECT value FROM json_each(?1))
           ON CONFLICT DO UPDATE SET recalls = recalls + 1, last_recalled_at = ?3""",
        (json.dumps(list(memory_ids)), ORIGIN_HERE, at),
    )


def count_restated(db: apsw.Connection, memory_id: int) -> None:
    """Count that a memory was stored once more."""
    db.execute(
        """INSERT INTO usage (memory_id, origin_id, restated) VALUES (?, ?, 1)
           ON CONFLICT DO UPDATE SET restated = restated + 1""",
        (memory_id, ORIGIN_HERE),
    )
