"""Profile and goal: what is said of the user, everywhere or in one project; clearing keeps the history."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import apsw

from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit
from mem.values import Said

GOAL = "goal"
PROFILE = "profile."  # followed by the name of the field


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds in a project: its goal, else the global one; a field of the profile likewise."""

    goal: str | None
    profile: Mapping[str, str]


def read(db: apsw.Connection, project: str | None) -> Settings:
    """What holds in a project, or outside any; the fields of the profile in the order of their names."""
    rows = select(
        db,
        """SELECT key, value FROM settings WHERE project IN ('', ?) AND value IS NOT NULL
           ORDER BY project <> '', key""",
        (project or "",),
    )
    found = {str(key): str(value) for key, value in rows}
    profile = {key.removeprefix(PROFILE): found[key] for key in sorted(found) if key.startswith(PROFILE)}
    return Settings(found.get(GOAL), profile)


def write(unit: Unit, key: str, project: str | None, value: str | None) -> bool:
    """Set or clear (None) a setting in a project, or everywhere; False where it says so already."""
    here = (key, project or "")
    before = unit.db.execute("SELECT value FROM settings WHERE key = ? AND project = ?", here).get
    if before == value:
        return False
    unit.db.execute(
        """INSERT INTO settings (key, project, value, origin_id, changed_at, event_id)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6)
           ON CONFLICT DO UPDATE SET value = ?3, changed_at = ?5, event_id = ?6""",
        (*here, value, ORIGIN_HERE, unit.at, unit.event_id),
    )
    return True


def said(db: apsw.Connection, prefix: str, projects: Collection[str | None]) -> list[Said]:
    """The settings whose keys begin so, in these projects (None: everywhere), cleared ones too, by key."""
    return _said(db, "SELECT key, project, value, changed_at, event_id FROM settings", prefix, projects)


def history(db: apsw.Connection, prefix: str, projects: Collection[str | None]) -> list[Said]:
    """All that these settings ever said, newest first."""
    columns = "key, project, value, changed_at, event_id"
    both = f"SELECT {columns} FROM settings UNION ALL SELECT {columns} FROM settings_versions"
    return sorted(_said(db, both, prefix, projects), key=lambda one: (one.at, one.name), reverse=True)


def _said(db: apsw.Connection, rows: str, prefix: str, projects: Collection[str | None]) -> list[Said]:
    found = db.execute(
        f"""SELECT s.key, s.value, nullif(s.project, ''), s.changed_at, e.operation, e.actor, e.client
            FROM ({rows}) s JOIN events e ON e.id = s.event_id
            WHERE substr(s.key, 1, ?) = ? AND s.project IN ({", ".join("?" * len(projects))})
            ORDER BY s.key, s.project""",
        (len(prefix), prefix, *(project or "" for project in projects)),
    )
    return [Said(str(key).removeprefix(PROFILE), *rest) for key, *rest in found]
