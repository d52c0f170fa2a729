"""The rows that upkeep looks for and takes away, and what is noted of it in the store."""

import json
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

import apsw

from mem.errors import StoreBusy
from mem.store.connect import Store, select
from mem.store.filters import Where

SETTLING_MS = 1_000  # how long to wait for others before the log is folded in

_MAINTAINED_AT = "maintained_at"

# All stores that counted together; a memory that nobody recalled has no row.
_USED = """(SELECT memory_id, sum(recalls) AS recalls, max(last_recalled_at) AS last_recalled_at
            FROM usage GROUP BY memory_id)"""
# A successor ends a memory by itself, when its interval closes.
_LIVING = "m.status = 'active' AND m.superseded_by IS NULL"
# The last trace of an open session shows that somebody is there.
_NO_LONGER_KEPT = """(t.at < ?1 OR t.id IN (SELECT id FROM recall_traces ORDER BY at DESC, id DESC
                                           LIMIT -1 OFFSET ?2))
  AND t.id NOT IN (
    SELECT id FROM (SELECT o.id, max(o.at) FROM recall_traces o
                    JOIN sessions s ON s.host_session IS o.session AND s.client IS o.client
                    WHERE s.ended_at IS NULL AND s.id NOT IN (SELECT value FROM json_each(?3))
                    GROUP BY o.client, o.session))"""


class Used(NamedTuple):
    """A memory and how it was used: what decides over its layer, and whether it is remembered."""

    id: int
    layer: str
    importance: int
    expires_at: str | None
    recorded_at: str
    recalls: int
    last_recalled_at: str | None


class Kept(NamedTuple):
    """Which recall traces are kept: those since an instant, the newest `most` of them.

    The last one of an open session stays too, unless the session is one of `but`.
    """

    since: str
    most: int
    but: tuple[int, ...] = ()


def expired(db: apsw.Connection, now: str) -> list[int]:
    """The active memories whose time is over, but for permanent ones."""
    rows = db.execute(
        f"""SELECT m.id FROM memories m
            WHERE {_LIVING} AND m.expires_at <= ? AND m.layer <> 'permanent' ORDER BY m.id""",
        (now,),
    )
    return [row[0] for row in rows]


def passing(db: apsw.Connection, now: str) -> list[Used]:
    """The live memories of the layers that end by themselves."""
    return _used(db, f"{_LIVING} AND m.layer IN ('working', 'short_term') AND m.expires_at > ?", (now,))


def unseen(
    db: apsw.Connection, condition: Where, *, importance: int, since: str, without: Collection[int]
) -> list[Used]:
    """The memories of at least this importance that were neither recorded nor recalled after an instant."""
    return _used(
        db,
        f"""{condition.sql} AND m.importance >= ? AND m.recorded_at <= ?
            AND ifnull(u.last_recalled_at, '') <= ? AND m.id NOT IN (SELECT value FROM json_each(?))""",
        (*condition.values, importance, since, since, json.dumps(list(without))),
    )


def _used(db: apsw.Connection, condition: str, values: tuple[object, ...]) -> list[Used]:
    rows = db.execute(
        f"""SELECT m.id, m.layer, m.importance, m.expires_at, m.recorded_at, ifnull(u.recalls, 0),
                   u.last_recalled_at
            FROM memories m LEFT JOIN {_USED} u ON u.memory_id = m.id WHERE {condition} ORDER BY m.id""",
        values,
    )
    return [Used(*row) for row in rows]


def written_at(db: apsw.Connection, memory_id: int) -> list[str]:
    """When a memory was written: each of its versions and the present one."""
    rows = db.execute(
        """SELECT changed_at FROM memories WHERE id = ?1
           UNION ALL SELECT changed_at FROM memories_versions WHERE id = ?1""",
        (memory_id,),
    )
    return [row[0] for row in rows]


def old_traces(db: apsw.Connection, kept: Kept) -> tuple[int, int]:
    """How many recall traces are kept no longer, and their bytes."""
    count, size = select(
        db,
        f"""SELECT count(*), ifnull(sum(length(id) + length(at) + length(operation) + length(mode)
                     + ifnull(length(client), 0) + ifnull(length(session), 0) + ifnull(length(project), 0)
                     + length(degraded) + length(signals) + length(shown) + length(withheld)), 0)
            FROM recall_traces t WHERE {_NO_LONGER_KEPT}""",
        _values(kept),
    )[0]
    return int(count), int(size)


def prune_traces(db: apsw.Connection, kept: Kept) -> None:
    """Take away the traces that `old_traces` counts."""
    db.execute(f"DELETE FROM recall_traces AS t WHERE {_NO_LONGER_KEPT}", _values(kept))


def _values(kept: Kept) -> tuple[object, ...]:
    return kept.since, kept.most, json.dumps(kept.but)


def maintained_at(db: apsw.Connection) -> str | None:
    """When the last upkeep ended; None if there was none."""
    found: str | None = db.execute("SELECT value FROM store_info WHERE key = ?", (_MAINTAINED_AT,)).get
    return found


def note_maintained(db: apsw.Connection, at: str) -> None:
    """Note when an upkeep was done."""
    db.execute(
        "INSERT INTO store_info (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2",
        (_MAINTAINED_AT, at),
    )


def unused(db: apsw.Connection) -> int:
    """The bytes of the file in which nothing is any more."""
    return int(db.pragma("freelist_count")) * int(db.pragma("page_size"))


def vacuum(store: Store) -> int:
    """Rewrite the file without what nothing uses any more; gives the bytes by which it is smaller.

    Raises `StoreBusy` where another process is in the way, `StoreUnusable` where there is no room to do it.
    """
    with store.bare() as db:
        size, before = int(db.pragma("page_size")), int(db.pragma("page_count"))
        db.execute("VACUUM")
        # Without it the file is as long as before, and what was in it stands in the log once more.
        db.execute("PRAGMA wal_checkpoint (TRUNCATE)").fetchall()
        return (before - int(db.pragma("page_count"))) * size


def settle(store: Store) -> None:
    """Bring the query planner's statistics up to date, and fold the write-ahead log into the store.

    What another process is in the way of is left to the next time. The statistics keep no samples of what the
    indexes hold: a name in one would outlive the row that it was taken from.
    """
    with suppress(StoreBusy), store.bare(wait_ms=SETTLING_MS) as db:
        db.execute("PRAGMA optimize = 0x10002")
        if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat4'").get:
            db.execute("DELETE FROM sqlite_stat4")
        db.execute("PRAGMA wal_checkpoint (TRUNCATE)").fetchall()
