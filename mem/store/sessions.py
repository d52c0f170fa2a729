"""Sessions: each belongs to the client that opened it; ending one adds to it and never takes away."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from mem import clock
from mem.errors import NotFound, Usage
from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit, new_uid
from mem.values import Actor, ActorKind, Scope, Session

ABANDONED = "abandoned"
_MOST_EVENTS = 10_000  # how far back a sign of life is looked for

_COLUMNS = """s.id, s.uid, s.client, s.host_session, s.project, s.started_at, s.ended_at, s.end_reason,
  s.tasks, (SELECT json_group_array(m.id ORDER BY m.id) FROM memories m
   WHERE m.session_id = s.id AND m.kind = 'summary' AND m.status = 'active')"""


def _from_row(row: Sequence[Any]) -> Session:
    return Session(
        id=row[0],
        uid=row[1],
        client=row[2],
        host_session=row[3],
        project=row[4],
        started_at=row[5],
        ended_at=row[6],
        end_reason=row[7],
        tasks=tuple(json.loads(row[8])),
        summaries=tuple(json.loads(row[9])),
    )


def one(db: apsw.Connection, session_id: int) -> Session:
    """The session with this number, which is known to exist."""
    return _from_row(select(db, f"SELECT {_COLUMNS} FROM sessions s WHERE s.id = ?", (session_id,))[0])


def of_actor(db: apsw.Connection, actor: Actor) -> Session | None:
    """The session that the host of an actor says it is in, open or not; the newest of that name."""
    if actor.session is None:
        return None
    row = db.execute(
        f"""SELECT {_COLUMNS} FROM sessions s WHERE s.host_session = ? AND s.client IS ?
            ORDER BY s.id DESC LIMIT 1""",
        (actor.session, actor.client),
    ).fetchone()
    return _from_row(row) if row else None


def of_host(db: apsw.Connection, host_session: str) -> str | None:
    """The UUID of the newest session that a host calls so."""
    rows = select(
        db, "SELECT uid FROM sessions WHERE host_session = ? ORDER BY id DESC LIMIT 1", (host_session,)
    )
    return str(rows[0][0]) if rows else None


def open_ones(db: apsw.Connection, actor: Actor) -> list[Session]:
    """The open sessions of the actor's client in the session of the host that it is in; newest first."""
    rows = db.execute(
        f"""SELECT {_COLUMNS} FROM sessions s
            WHERE s.client IS ? AND s.host_session IS ? AND s.ended_at IS NULL ORDER BY s.id DESC""",
        (actor.client, actor.session),
    )
    return [_from_row(row) for row in rows]


def page(db: apsw.Connection, scope: Scope, *, limit: int, offset: int) -> tuple[int, list[Session]]:
    """How many sessions a scope has, and one page of them, newest first."""
    condition = "1" if scope.everywhere else "(s.project IS NULL OR s.project IS ?)"
    values = () if scope.everywhere else (scope.project,)
    total = db.execute(f"SELECT count(*) FROM sessions s WHERE {condition}", values).get
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM sessions s WHERE {condition} ORDER BY s.id DESC LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )
    return int(total), [_from_row(row) for row in rows]


_NUMBER = re.compile(r"#?(\d{1,18})", re.ASCII)
_UID = re.compile(r"[0-9a-f-]{8,36}", re.ASCII)


def resolve(db: apsw.Connection, reference: str) -> int:
    """The number that an id stands for: number, UUID, a prefix of it, or the host's own name of a session.

    Raises `NotFound`, or `Usage` where more than one answers to it.
    """
    given = reference.strip()
    if number := _NUMBER.fullmatch(given):
        rows = select(db, "SELECT id FROM sessions WHERE id = ?", (int(number[1]),))
    else:
        rows = select(db, "SELECT id FROM sessions WHERE host_session = ? ORDER BY id DESC LIMIT 1", (given,))
    if not rows and _UID.fullmatch(given.casefold()):
        prefix = given.casefold()
        rows = select(
            db, "SELECT id FROM sessions WHERE uid >= ? AND uid < ? LIMIT 2", (prefix, prefix + "g")
        )
    if not rows:
        raise NotFound(f"There is no session '{reference[:80]}'.", hint="See: mem sessions")
    if len(rows) > 1:
        raise Usage(f"'{reference[:80]}' stands for more than one session.", hint="Give more of it.")
    return int(rows[0][0])


def number_for(unit: Unit, uid: str | None) -> int | None:
    """The session that a memory is written in: the one named, else the open one of who writes it."""
    if uid is not None:
        found = unit.db.execute("SELECT id FROM sessions WHERE uid = ?", (uid,)).get
        return None if found is None else int(found)
    if unit.actor.session is None:
        return None
    found = unit.db.execute(
        """SELECT id FROM sessions WHERE host_session = ? AND client IS ? AND ended_at IS NULL
           ORDER BY id DESC LIMIT 1""",
        (unit.actor.session, unit.actor.client),
    ).get
    return None if found is None else int(found)


def begin(unit: Unit, project: str | None) -> int:
    """Open a session for the client and the host's session of who acts; gives its number."""
    uid = new_uid(clock.from_text(unit.at))
    unit.db.execute(
        """INSERT INTO sessions
             (uid, origin_id, client, host_session, project, started_at, changed_at, event_id)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)""",
        (uid, ORIGIN_HERE, unit.actor.client, unit.actor.session, project, unit.at, unit.event_id),
    )
    unit.detail["session"] = uid
    return unit.db.last_insert_rowid()


def reopen(unit: Unit, session: Session) -> None:
    """Let an ended session go on, as when the host resumes it."""
    unit.detail["session"] = session.uid
    unit.db.execute(
        """UPDATE sessions SET ended_at = NULL, end_reason = NULL, changed_at = ?, event_id = ?
           WHERE id = ?""",
        (unit.at, unit.event_id, session.id),
    )


def end(unit: Unit, session: Session, reason: str, tasks: Iterable[str] = ()) -> None:
    """End a session; one that has ended keeps when and why, unless nobody had said so. Tasks are added."""
    kept = (*session.tasks, *(task for task in dict.fromkeys(tasks) if task not in session.tasks))
    ended = session.ended_at is not None and session.end_reason != ABANDONED
    if ended and kept == session.tasks:
        return
    unit.detail["session"] = session.uid
    unit.db.execute(
        """UPDATE sessions SET ended_at = ?, end_reason = ?, tasks = ?, changed_at = ?, event_id = ?
           WHERE id = ?""",
        (
            session.ended_at if ended else unit.at,
            session.end_reason if ended else reason,
            json.dumps(kept, ensure_ascii=False),
            unit.at,
            unit.event_id,
            session.id,
        ),
    )


def close_abandoned(unit: Unit, since: str, *, but: int) -> None:
    """End the sessions `but` one from which nothing has come since an instant: no write, no recall."""
    abandon(unit, [session.id for session in abandoned(unit.db, since) if session.id != but])


def abandoned(db: apsw.Connection, since: str) -> list[Session]:
    """The open sessions from which nothing has come since an instant; what runs by the clock is no sign."""
    rows = db.execute(
        f"""WITH recent (client, session) AS MATERIALIZED (
              SELECT client, session FROM (SELECT at, actor, client, session FROM events
                                           ORDER BY id DESC LIMIT {_MOST_EVENTS})
              WHERE at >= ?1 AND actor <> '{ActorKind.CRON}'
              UNION SELECT client, session FROM recall_traces WHERE at >= ?1)
            SELECT {_COLUMNS} FROM sessions s
            WHERE s.ended_at IS NULL AND s.changed_at < ?1
              AND NOT EXISTS (SELECT 1 FROM recent r
                              WHERE r.client IS s.client AND r.session IS s.host_session)
            ORDER BY s.id""",
        (since,),
    )
    return [_from_row(row) for row in rows]


def abandon(unit: Unit, session_ids: Iterable[int]) -> None:
    """End sessions because nobody came back."""
    for session_id in session_ids:
        unit.db.execute(
            """UPDATE sessions SET ended_at = ?1, end_reason = ?2, changed_at = ?1, event_id = ?3
               WHERE id = ?4""",
            (unit.at, ABANDONED, unit.event_id, session_id),
        )
        unit.detail.setdefault("abandoned", []).append(one(unit.db, session_id).uid)
