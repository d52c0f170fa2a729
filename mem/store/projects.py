"""Projects: names, bound to the repositories by which they are recognised."""

import apsw

from mem.scope import Root
from mem.store.events import Unit, new_uid


def name_of(db: apsw.Connection, root: Root) -> str:
    """The project of a repository: the one bound to it or to its remote, else the first free name of its own.

    Nothing is written: a repository is bound by the first write that comes from it.
    """
    bound = db.execute(
        """SELECT p.name FROM project_roots r JOIN projects p ON p.id = r.project_id
           WHERE r.root = ?1 OR (?2 IS NOT NULL AND r.remote = ?2) ORDER BY r.root = ?1 DESC LIMIT 1""",
        (root.common_directory, root.remote),
    ).get
    return bound or _free_name(db, root.name)


def bind(unit: Unit, name: str, root: Root | None = None) -> None:
    """Make sure that a project exists, and bind a repository to it, with the remote that it has now."""
    known = unit.db.execute("SELECT id FROM projects WHERE name = ?", (name,)).get
    if known is None:
        unit.db.execute(
            "INSERT INTO projects (uid, name, created_at) VALUES (?, ?, ?)", (new_uid(), name, unit.at)
        )
        known = unit.db.last_insert_rowid()
    if root is not None:
        unit.db.execute(
            """INSERT INTO project_roots (root, project_id, remote) VALUES (?1, ?2, ?3)
               ON CONFLICT DO UPDATE SET remote = ?3 WHERE remote IS NOT ?3""",
            (root.common_directory, known, root.remote),
        )


def bind_if_named(unit: Unit, name: str | None, root: Root | None = None) -> None:
    """Make sure that the project of a memory exists; a global memory has none."""
    if name is not None:
        bind(unit, name, root)


def number_of(db: apsw.Connection, name: str | None) -> int:
    """The number that stands for a project in the vector index: 0 for none, -1 for one without memories."""
    if name is None:
        return 0
    known = db.execute("SELECT id FROM projects WHERE name = ?", (name,)).get
    return -1 if known is None else int(known)


def roots_of(db: apsw.Connection, name: str) -> list[str]:
    """The git common directories of the repositories that are bound to a project."""
    rows = db.execute(
        "SELECT r.root FROM project_roots r JOIN projects p ON p.id = r.project_id WHERE p.name = ?", (name,)
    )
    return [str(row[0]) for row in rows]


def _free_name(db: apsw.Connection, name: str) -> str:
    """A name is taken once another repository is bound to it; the next root of that name gets `-2`."""
    taken = {
        row[0]
        for row in db.execute(
            "SELECT DISTINCT p.name FROM projects p JOIN project_roots r ON r.project_id = p.id"
        )
    }
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def hold_memories(db: apsw.Connection) -> bool:
    """Whether any memory belongs to a project, whatever its status."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM memories WHERE project > '')").get)
