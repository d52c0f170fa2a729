"""Which rows an export takes: those that are asked for, and what these need to make sense elsewhere."""

from dataclasses import dataclass

import apsw

from mem.store import as_of
from mem.values import Kind, Moment

TABLES = ("memories", "entities", "sessions", "settings", "tombstones", "relations", "events")
NOW = Moment()
_BEGAN = {"sessions": "started_at", "settings": "changed_at"}  # elsewhere recorded_at


@dataclass(frozen=True, slots=True)
class Selection:
    """What to take of a store; nothing asked takes everything, of all projects.

    `project` is the rows of that project alone, `kinds` memories of these kinds. `since` is what was written
    or changed from then on, `until` what was recorded before. With `valid_at` only what held then, with
    `known_at` every row as it was then.
    """

    project: str | None = None
    kinds: tuple[Kind, ...] = ()
    since: str | None = None
    until: str | None = None
    moment: Moment = NOW
    vectors: bool = False

    @property
    def narrows(self) -> bool:
        """Whether whole rows are left out because of what they say."""
        return bool(self.project or self.kinds or self.since or self.until or self.moment.valid_at)

    @property
    def filters(self) -> dict[str, str | list[str]]:
        """What was asked for, by the names of the options."""
        asked = {
            "project": self.project,
            "kind": [kind.value for kind in self.kinds],
            "since": self.since,
            "until": self.until,
            "valid_at": self.moment.valid_at,
            "known_at": self.moment.known_at,
        }
        return {name: value for name, value in asked.items() if value}


def chosen(table: str) -> str:
    """The temporary table that holds the row ids which were chosen of a table."""
    return f"temp.chosen_{table}"


def choose(db: apsw.Connection, selection: Selection) -> None:
    """Fill the `chosen` tables with what a selection that narrows takes."""
    for table in TABLES:
        db.execute(f"DROP TABLE IF EXISTS {chosen(table)}")
        db.execute(f"CREATE TEMP TABLE chosen_{table} (id INTEGER PRIMARY KEY)")
    asked = TABLES[:1] if selection.kinds else TABLES[:-1]
    for table in asked:
        _match(db, selection, table)
    if selection.moment.valid_at is None:
        _add_links(db)
    _add_needed(db)
    _add_events(db)


def _match(db: apsw.Connection, selection: Selection, table: str) -> None:
    """What was asked for, by what a row said at the moment."""
    conditions: list[tuple[str, str | None]] = [
        (_IN_PROJECT.get(table, "m.project = ?"), selection.project),
        ("m.changed_at >= ?", selection.since),
        (f"m.{_BEGAN.get(table, 'recorded_at')} < ?", selection.until),
    ]
    if table in ("memories", "relations"):
        conditions.append(("ifnull(m.valid_from, '') <= ?", selection.moment.valid_at))
        conditions.append(("(m.valid_to IS NULL OR m.valid_to > ?)", selection.moment.valid_at))
    given = [(sql, value) for sql, value in conditions if value]
    parts = [sql for sql, _ in given]
    if table == "memories" and selection.kinds:
        parts.append(f"m.kind IN ({', '.join('?' * len(selection.kinds))})")
    if table == "memories" and selection.moment.valid_at:
        parts.append("m.status <> 'proposed'")
    held = as_of.select_as_of(db, table, selection.moment)
    key = "rowid" if held == table else _IDENTITY.get(table, "id")
    values = [value for _, value in given]
    if table == "memories":
        values += [kind.value for kind in selection.kinds]
    db.execute(
        f"INSERT OR IGNORE INTO {chosen(table)} SELECT {key} FROM {held} m WHERE {' AND '.join(parts) or 1}",
        values,
    )


_IN_PROJECT = {
    "relations": "EXISTS (SELECT 1 FROM entities e WHERE e.id IN (m.from_id, m.to_id) AND e.project = ?)"
}
_IDENTITY = {"settings": "(SELECT s.rowid FROM settings s WHERE s.key = m.key AND s.project = m.project)"}


def _add_links(db: apsw.Connection) -> None:
    """The lines of successors that the chosen memories are part of, and what a proposal would replace."""
    db.execute(
        f"""INSERT OR IGNORE INTO {chosen("memories")}
            WITH RECURSIVE linked (id) AS (
              SELECT id FROM {chosen("memories")}
              UNION
              SELECT m.superseded_by FROM linked l JOIN memories m ON m.id = l.id
              WHERE m.superseded_by IS NOT NULL
              UNION
              SELECT m.id FROM linked l JOIN memories m ON m.superseded_by = l.id
              UNION
              SELECT old.id FROM linked l JOIN memories m ON m.id = l.id
              JOIN json_each(m.proposal, '$.replaces') r JOIN memories old ON old.uid = r.value)
            SELECT id FROM linked"""
    )


def _add_needed(db: apsw.Connection) -> None:
    """What the chosen rows refer to, and the rejections that bind them."""
    _add(
        db,
        "tombstones",
        f"""SELECT t.id FROM ({_images("memories", "project, fingerprint")}) m
            JOIN tombstones t ON t.fingerprint = m.fingerprint
            WHERE t.project IN ('', ifnull(m.project, ''))""",
    )
    _add(db, "sessions", _images("memories", "session_id"))
    _add(db, "entities", _images("memories", "entity_id"))
    _add(db, "entities", _images("relations", "from_id"))
    _add(db, "entities", _images("relations", "to_id"))
    _add(
        db,
        "entities",
        f"""SELECT e.id FROM tombstones t JOIN {chosen("tombstones")} c ON c.id = t.id
            JOIN entities e ON e.uid = t.entity_uid""",
    )
    _add(
        db,
        "entities",
        f"""WITH RECURSIVE merged (id) AS (
              SELECT id FROM {chosen("entities")} UNION
              SELECT e.merged_into FROM merged m JOIN entities e ON e.id = m.id)
            SELECT id FROM merged""",
    )


def _add_events(db: apsw.Connection) -> None:
    """The events that wrote the chosen rows, but for those that concern others too."""
    wrote = " UNION ".join(_images(table, "event_id") for table in TABLES[:-1])
    _add(
        db,
        "events",
        f"""SELECT e.id FROM events e WHERE e.id IN ({wrote}) AND NOT EXISTS (
              SELECT 1 FROM json_each(e.subjects) s
              WHERE NOT EXISTS (SELECT 1 FROM memories m JOIN {chosen("memories")} c ON c.id = m.id
                                WHERE m.uid = s.value)
                AND NOT EXISTS (SELECT 1 FROM entities n JOIN {chosen("entities")} c ON c.id = n.id
                                WHERE n.uid = s.value))""",
    )


def _add(db: apsw.Connection, table: str, query: str) -> None:
    db.execute(
        f"""INSERT OR IGNORE INTO {chosen(table)}
            WITH found (id) AS ({query}) SELECT id FROM found WHERE id IS NOT NULL"""
    )


def _images(table: str, columns: str) -> str:
    """What the chosen rows of a table say, and what they said before."""
    if table == "settings":
        before = f"""SELECT {columns} FROM settings_versions v WHERE EXISTS (
            SELECT 1 FROM settings s JOIN {chosen(table)} c ON c.id = s.rowid
            WHERE s.key = v.key AND s.project = v.project)"""
    else:
        before = f"SELECT {columns} FROM {table}_versions WHERE id IN (SELECT id FROM {chosen(table)})"
    return f"SELECT {columns} FROM {table} WHERE rowid IN (SELECT id FROM {chosen(table)}) UNION ALL {before}"
