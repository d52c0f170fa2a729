"""Profile and goal: what is said of the user, everywhere or in one project; clearing keeps the history."""

from collections.abc import Mapping
from dataclasses import dataclass

import apsw

from mem.store.connect import select
from mem.store.events import ORIGIN_HERE, Unit

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


def write(unit: Unit, key: str, project: str | None, value: str | None) -> None:
    """Set or clear (None) a setting in a project, or everywhere."""
    unit.db.execute(
        """INSERT INTO settings (key, project, value, origin_id, changed_at, event_id)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6)
           ON CONFLICT DO UPDATE SET value = ?3, changed_at = ?5, event_id = ?6""",
        (key, project or "", value, ORIGIN_HERE, unit.at, unit.event_id),
    )
