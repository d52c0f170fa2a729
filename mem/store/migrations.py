"""Named migrations: one function and one transaction each, recorded by name, never edited once released.

`PRAGMA user_version` holds how many have run, so that opening a current store reads one number and writes
nothing.
"""

from collections.abc import Callable
from pathlib import Path

import apsw

from mem import __version__, clock

VERSIONED = ("memories", "entities", "relations", "sessions", "settings", "tombstones")


def first_schema(db: apsw.Connection) -> None:
    """The complete schema of the first release."""
    import uuid

    db.execute((Path(__file__).parent / "schema.sql").read_text(encoding="utf-8"))
    for table in VERSIONED:
        keep_versions(db, table)
    origin = str(uuid.uuid4())
    db.execute("INSERT INTO origins (id, uid) VALUES (1, ?)", (origin,))
    db.execute(
        "INSERT INTO store_info (key, value) VALUES ('created_at', ?), ('vector_index', 'absent')",
        (clock.to_text(clock.now()),),
    )


def review_and_forgetting(db: apsw.Connection) -> None:
    """What a proposal would do, what a text is marked with, and whether a tombstone is a grave."""
    add_column(db, "memories", "proposal TEXT")
    add_column(db, "memories", "flags TEXT NOT NULL DEFAULT '[]'")
    add_column(db, "tombstones", "kind TEXT NOT NULL DEFAULT 'rejected'")


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (first_schema, review_and_forgetting)
CURRENT = len(MIGRATIONS)


def migrate(db: apsw.Connection) -> None:
    """Run what this store has not seen yet, each migration in a transaction of its own."""
    db.execute(
        """CREATE TABLE IF NOT EXISTS migrations (
             name TEXT PRIMARY KEY, at TEXT NOT NULL, version TEXT NOT NULL) STRICT"""
    )
    while (done := schema_number(db)) < CURRENT:
        db.execute("BEGIN IMMEDIATE")
        try:
            if schema_number(db) == done:
                run = MIGRATIONS[done]
                run(db)
                db.execute(
                    "INSERT INTO migrations (name, at, version) VALUES (?, ?, ?)",
                    (run.__name__, clock.to_text(clock.now()), __version__),
                )
                db.execute(f"PRAGMA user_version = {done + 1}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise


def schema_number(db: apsw.Connection) -> int:
    """How many migrations the store has seen."""
    return int(db.execute("PRAGMA user_version").get)


def keep_versions(db: apsw.Connection, table: str) -> None:
    """Give a table its versions: `<table>_versions` and the trigger that writes the before-image.

    A version is the replaced row with `replaced_at`, exactly the new row's changed_at, and `replaced_by`, the
    event that replaced it. A second change by the same event adds no version: what it replaced never was
    the present.
    """
    columns = _columns(db, table)
    declared = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    key = "id" if "id" in columns else "key, project"
    db.execute(
        f"""
        CREATE TABLE {table}_versions (
          version_id INTEGER PRIMARY KEY, {declared}, replaced_at TEXT NOT NULL, replaced_by INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX {table}_versions_row ON {table}_versions ({key}, replaced_at);
        CREATE INDEX {table}_versions_event ON {table}_versions (replaced_by);
        """
    )
    _keep_before_images(db, table)


def add_column(db: apsw.Connection, table: str, declaration: str) -> None:
    """Give a table and its versions one more column."""
    db.execute(f"ALTER TABLE {table} ADD COLUMN {declaration}")
    db.execute(f"ALTER TABLE {table}_versions ADD COLUMN {declaration}")
    db.execute(f"DROP TRIGGER {table}_keep_version")
    _keep_before_images(db, table)


def _columns(db: apsw.Connection, table: str) -> dict[str, str]:
    return {str(row[1]): str(row[2]) for row in db.execute(f"PRAGMA table_info({table})")}


def _keep_before_images(db: apsw.Connection, table: str) -> None:
    names = _columns(db, table)
    images = ", ".join(f"OLD.{name}" for name in names)
    db.execute(
        f"""
        CREATE TRIGGER {table}_keep_version BEFORE UPDATE ON {table} WHEN NEW.event_id <> OLD.event_id BEGIN
          INSERT INTO {table}_versions ({", ".join(names)}, replaced_at, replaced_by)
          VALUES ({images}, NEW.changed_at, NEW.event_id);
        END;
        """
    )
