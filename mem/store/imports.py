"""What an import asks the store about what it brings."""

import json
from collections.abc import Collection

import apsw

from mem.values import ActorKind


def entity_number(db: apsw.Connection, uid: str) -> int | None:
    """The number of the entity with this UUID, if it is here."""
    found: int | None = db.execute("SELECT id FROM entities WHERE uid = ?", (uid,)).get
    return found


def allowed_secrets(db: apsw.Connection, events: Collection[str]) -> bool:
    """Whether one of these events is here, and is one by which a person had secrets stored as they were."""
    sql = """SELECT 1 FROM events WHERE uid IN (SELECT value FROM json_each(?)) AND actor = ?
             AND json_extract(iif(json_valid(detail), detail, '{}'), '$.allow_secret')"""
    return db.execute(sql, (json.dumps(list(events)), ActorKind.PERSON.value)).get is not None


def has_text(db: apsw.Connection, text_hash: bytes) -> bool:
    """Whether something in the store says the text with this hash."""
    return bool(
        db.execute(
            """SELECT EXISTS (SELECT 1 FROM memories WHERE text_hash = ?1)
                   OR EXISTS (SELECT 1 FROM entities WHERE text_hash = ?1)""",
            (text_hash,),
        ).get
    )


def had_text(db: apsw.Connection, text_hash: bytes) -> bool:
    """Whether something in the store said the text with this hash once."""
    return bool(
        db.execute(
            """SELECT EXISTS (SELECT 1 FROM memories_versions WHERE text_hash = ?1)
                   OR EXISTS (SELECT 1 FROM entities_versions WHERE text_hash = ?1)""",
            (text_hash,),
        ).get
    )


def says_already(db: apsw.Connection, uid: str, fingerprint: bytes) -> bool:
    """Whether the memory with this UUID is here, and says this content or said it once."""
    return bool(
        db.execute(
            """SELECT EXISTS (
                 SELECT 1 FROM memories WHERE uid = ?1 AND (fingerprint = ?2 OR EXISTS (
                   SELECT 1 FROM memories_versions v WHERE v.id = memories.id AND v.fingerprint = ?2)))""",
            (uid, fingerprint),
        ).get
    )


def written_by(db: apsw.Connection, tombstone_id: int) -> str:
    """The store that a tombstone comes from."""
    return str(
        db.execute(
            "SELECT o.uid FROM tombstones t JOIN origins o ON o.id = t.origin_id WHERE t.id = ?",
            (tombstone_id,),
        ).get
    )
