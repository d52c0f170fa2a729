"""The audit log as it is read: events newest first within a scope, and one event by its number or UUID."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from mem.errors import NotFound, Usage
from mem.results import Event, Subject
from mem.store import memories, origins, sessions
from mem.store.connect import select
from mem.values import ActorKind, Scope

UNDO = "undo"
MEMORY, ENTITY = "memory", "entity"  # what a subject is

# Somebody may have been at the log: what is no JSON any more is for `mem doctor --audit`, not for a read.
_SUBJECTS = "iif(json_valid(e.subjects), e.subjects, '[]')"
_DETAIL = "iif(json_valid(e.detail), e.detail, '{}')"
_COLUMNS = f"""e.id, e.uid, e.at, e.operation, e.actor, e.client, e.session, {_SUBJECTS}, {_DETAIL},
  iif(json_valid(e.texts), nullif(json_extract(e.texts, '$.reason.text'), ''), NULL)"""
_NUMBER = re.compile(r"#?(\d{1,18})", re.ASCII)
_PREFIX = re.compile(r"[0-9a-f-]{8,36}", re.ASCII)
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events a read asks for; an empty tuple or None asks nothing.

    `memories` are UUIDs, `since` and `until` stored instants, half-open; `after` is an event's number.
    """

    scope: Scope
    operations: tuple[str, ...] = ()
    actors: tuple[ActorKind, ...] = ()
    clients: tuple[str, ...] = ()
    session: str | None = None
    memories: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    after: int | None = None


def page(db: apsw.Connection, wanted: Wanted, *, limit: int, offset: int) -> tuple[int, int, list[Event]]:
    """How many events match in the scope and how many more elsewhere, and one page of them, newest first."""
    condition, values = _condition(db, wanted)
    scoped, scope_values = _scope(wanted.scope)
    counted = f"SELECT count(*) FROM events e WHERE {condition}"
    total = int(db.execute(f"{counted} AND {scoped}", (*values, *scope_values)).get)
    everywhere = total if wanted.scope.everywhere else int(db.execute(counted, values).get)
    rows = select(
        db,
        f"""SELECT {_COLUMNS} FROM events e WHERE {condition} AND {scoped}
            ORDER BY e.id DESC LIMIT ? OFFSET ?""",
        (*values, *scope_values, limit, offset),
    )
    return total, everywhere - total, _events(db, rows, wanted.scope)


def one(db: apsw.Connection, event_id: int) -> Event:
    """The event with this number, which is known to exist, with all its subjects."""
    rows = select(db, f"SELECT {_COLUMNS} FROM events e WHERE e.id = ?", (event_id,))
    return _events(db, rows, Scope(everywhere=True))[0]


def resolve(db: apsw.Connection, reference: str) -> int:
    """The number that an event's id stands for; raises `NotFound`, or `Usage` for what is no id."""
    given = reference.strip()
    if number := _NUMBER.fullmatch(given):
        rows = select(db, "SELECT id, uid FROM events WHERE id = ?", (int(number[1]),))
    elif _PREFIX.fullmatch(prefix := given.casefold()):
        rows = select(
            db,
            "SELECT id, uid FROM events WHERE uid >= ? AND uid < ? ORDER BY id LIMIT 6",
            (prefix, prefix + "g"),
        )
    else:
        raise Usage(
            f"'{reference[:80]}' is not the id of an event.",
            hint="Give its number in `mem log`, its UUID, or 8 or more of its first characters.",
        )
    if not rows:
        raise NotFound(f"There is no event {given}.", hint="See: mem log")
    if len(rows) > 1:
        listed = "; ".join(f"{event_id} {uid}" for event_id, uid in rows[:5])
        raise NotFound(f"'{given}' stands for more than one event.", hint=f"Give more of it: {listed}.")
    return int(rows[0][0])


def uids(db: apsw.Connection, references: Iterable[str]) -> tuple[str, ...]:
    """The UUIDs of memories; one that was forgotten has its whole UUID only. Raises `NotFound`, `Usage`."""
    found: dict[str, None] = {}
    for reference in references:
        uid = reference.strip().casefold()
        known = (
            _UID.fullmatch(uid)
            and db.execute("SELECT 1 FROM events WHERE instr(subjects, ?) LIMIT 1", (uid,)).get
        )
        if not known:
            [memory_id] = memories.resolve(db, [reference])
            uid = memories.one(db, memory_id).uid
        found[uid] = None
    return tuple(found)


def operations_seen(db: apsw.Connection) -> set[str]:
    """The operations that the log has events of."""
    return {row[0] for row in db.execute("SELECT DISTINCT operation FROM events")}


def newest(db: apsw.Connection) -> int:
    """The number of the newest event; 0 where there is none."""
    return int(db.execute("SELECT ifnull(max(id), 0) FROM events").get)


def is_from_here(db: apsw.Connection, event_id: int) -> bool:
    """Whether this store wrote the event itself."""
    return origins.wrote(db, event_id)


def undone(db: apsw.Connection) -> dict[str, int]:
    """By UUID, the events that are undone, each with the number of the undo that is in force."""
    rows = select(
        db,
        f"""SELECT e.id, e.uid, json_extract({_DETAIL}, '$.undoes') FROM events e WHERE e.operation = ?
            ORDER BY e.id DESC""",
        (UNDO,),
    )
    found: dict[str, int] = {}
    for event_id, uid, taken_back in rows:
        # An undo that was undone itself, by a later one, is not in force.
        if uid not in found and taken_back is not None:
            found.setdefault(taken_back, event_id)
    return found


def _condition(db: apsw.Connection, wanted: Wanted) -> tuple[str, list[Any]]:
    parts, values = ["1"], list[Any]()
    for column, listed in (
        ("operation", wanted.operations),
        ("actor", wanted.actors),
        ("client", wanted.clients),
    ):
        if listed:
            parts.append(f"e.{column} IN ({', '.join('?' * len(listed))})")
            values += map(str, listed)
    if wanted.memories:
        parts.append(f"({' OR '.join(['instr(e.subjects, ?)'] * len(wanted.memories))})")
        values += wanted.memories
    if wanted.session is not None:
        part, of_session = _of_session(db, wanted.session)
        parts.append(part)
        values += of_session
    for sql, value in (
        ("e.at >= ?", wanted.since),
        ("e.at < ?", wanted.until),
        ("e.id > ?", wanted.after),
    ):
        if value is not None:
            parts.append(sql)
            values.append(value)
    return " AND ".join(parts), values


def _of_session(db: apsw.Connection, reference: str) -> tuple[str, Sequence[Any]]:
    """Events of a session: those that it is the subject of, and those of its client in the host's session."""
    try:
        session = sessions.one(db, sessions.resolve(db, reference))
    except NotFound:
        # A host's session that nobody opened here may still have written.
        if db.execute("SELECT 1 FROM events WHERE session = ? LIMIT 1", (reference.strip(),)).get is None:
            raise
        return "e.session = ?", (reference.strip(),)
    return (
        f"(json_extract({_DETAIL}, '$.session') = ? OR (e.session = ? AND e.client IS ?))",
        (session.uid, session.host_session, session.client),
    )


def _scope(scope: Scope) -> tuple[str, Sequence[Any]]:
    """Events about what is of the scope; those about nothing belong to the project they name, or to all."""
    if scope.everywhere:
        return "1", ()
    # The cross joins keep SQLite from scanning the memories of a project for each event.
    subjects = f"json_each({_SUBJECTS}) s CROSS JOIN"
    memories, entities = (
        f"{subjects} memories m ON m.uid = s.value",
        f"{subjects} entities n ON n.uid = s.value",
    )
    return (
        f"""CASE WHEN EXISTS (SELECT 1 FROM {memories}) OR EXISTS (SELECT 1 FROM {entities})
             THEN EXISTS (SELECT 1 FROM {memories} WHERE m.project IS NULL OR m.project = ?)
               OR EXISTS (SELECT 1 FROM {entities} WHERE n.project IS NULL OR n.project = ?)
             ELSE ifnull(json_extract({_DETAIL}, '$.project'), ?) IS ?
               AND NOT EXISTS (SELECT 1 FROM sessions x WHERE x.uid = json_extract({_DETAIL}, '$.session')
                               AND x.project IS NOT NULL AND x.project IS NOT ?) END""",
        (scope.project,) * 5,
    )


def _events(db: apsw.Connection, rows: Sequence[Sequence[Any]], scope: Scope) -> list[Event]:
    if not rows:
        return []
    subjects = [json.loads(row[7]) for row in rows]
    known = _known(db, {uid for listed in subjects for uid in listed})
    taken_back = undone(db)
    undoes = _numbers(db, [json.loads(row[8]).get("undoes") for row in rows])
    return [
        Event(
            id=row[0],
            uid=row[1],
            at=row[2],
            operation=row[3],
            actor=row[4],
            client=row[5],
            session=row[6],
            subjects=tuple(_seen(listed, known, scope)),
            reason=row[9],
            detail=(detail := json.loads(row[8])),
            undoes=undoes.get(detail.get("undoes")),
            undone_by=taken_back.get(row[1]),
        )
        for row, listed in zip(rows, subjects, strict=True)
    ]


def _seen(
    listed: Sequence[str], known: Mapping[str, tuple[int, str, str | None]], scope: Scope
) -> Iterable[Subject]:
    """The subjects that a scope sees; of what was forgotten only the UUID is left."""
    for uid in listed:
        number, kind, project = known.get(uid, (None, MEMORY, None))
        if scope.everywhere or project is None or project == scope.project:
            yield Subject(number, uid, kind)


def _known(db: apsw.Connection, wanted: Iterable[str]) -> dict[str, tuple[int, str, str | None]]:
    rows = select(
        db,
        """WITH wanted (uid) AS (SELECT value FROM json_each(?1))
           SELECT m.uid, m.id, ?2, m.project FROM wanted w JOIN memories m ON m.uid = w.uid
           UNION ALL SELECT n.uid, n.id, ?3, n.project FROM wanted w JOIN entities n ON n.uid = w.uid""",
        (json.dumps(list(wanted)), MEMORY, ENTITY),
    )
    return {uid: (number, kind, project) for uid, number, kind, project in rows}


def _numbers(db: apsw.Connection, wanted: Iterable[str | None]) -> dict[str | None, int]:
    rows = select(
        db,
        "SELECT uid, id FROM events WHERE uid IN (SELECT value FROM json_each(?))",
        (json.dumps([uid for uid in wanted if uid]),),
    )
    return dict(rows)
