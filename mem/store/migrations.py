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


def named_entities(db: apsw.Connection) -> None:
    """The names by which live entities are found, and their words in the shape of those of memories."""
    db.execute(
        """
        CREATE TABLE entity_names (
          key       TEXT NOT NULL,
          entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
          PRIMARY KEY (key, entity_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX entity_names_entity ON entity_names (entity_id);
        CREATE UNIQUE INDEX relations_live ON relations (from_id, to_id, type)
          WHERE status = 'active' AND valid_to IS NULL;
        DROP TABLE entities_fts;
        CREATE VIRTUAL TABLE entities_fts USING fts5 (
          title, content, context,
          content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
        );
        CREATE VIRTUAL TABLE entities_terms USING fts5vocab (entities_fts, row);
        CREATE VIRTUAL TABLE entities_postings USING fts5vocab (entities_fts, instance);
        CREATE TABLE entities_lengths (
          id      INTEGER PRIMARY KEY,
          project INTEGER NOT NULL,
          length  INTEGER NOT NULL
        ) STRICT;
        """
    )


def missed_questions(db: apsw.Connection) -> None:
    """Questions that found nothing: how many there were, and their texts where the user allows that."""
    db.execute(
        """
        CREATE TABLE misses (
          id        INTEGER PRIMARY KEY,
          day       TEXT NOT NULL,
          project   TEXT NOT NULL,
          operation TEXT NOT NULL,
          mode      TEXT NOT NULL,
          terms     INTEGER NOT NULL,
          asked     INTEGER NOT NULL,
          UNIQUE (day, project, operation, mode, terms)
        ) STRICT;
        CREATE TABLE missed_questions (
          id       INTEGER PRIMARY KEY,
          project  TEXT NOT NULL,
          question TEXT NOT NULL,
          asked    INTEGER NOT NULL,
          last_at  TEXT NOT NULL,
          UNIQUE (project, question)
        ) STRICT;
        """
    )


def carried(db: apsw.Connection) -> None:
    """How a model is found again and what its thresholds are, and room for what newer exports say besides."""
    db.execute(
        """
        ALTER TABLE models ADD COLUMN choice TEXT NOT NULL DEFAULT 'bundled';
        ALTER TABLE models ADD COLUMN calibration TEXT;
        ALTER TABLE models ADD COLUMN index_form INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE events ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
        ALTER TABLE usage ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
        CREATE INDEX memories_versions_text ON memories_versions (text_hash);
        CREATE INDEX entities_versions_text ON entities_versions (text_hash);
        CREATE INDEX entities_merged ON entities (merged_into) WHERE merged_into IS NOT NULL;
        """
    )
    add_column(db, "settings", "extra TEXT NOT NULL DEFAULT '{}'")
    add_column(db, "tombstones", "extra TEXT NOT NULL DEFAULT '{}'")


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (
    first_schema,
    review_and_forgetting,
    named_entities,
    missed_questions,
    carried,
)
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
