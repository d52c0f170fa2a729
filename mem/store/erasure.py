"""Erasing memories from a store file: every row, version and entry that says what they said.

The one place that takes away instead of adding. What stays is free of content: the tombstones, the event of
the erasure, the digests of blanked texts, and numbers in the versions of other memories.

SQLite's `secure_delete` zeroes what is deleted, but not what is left behind in the unused part of a page when
its cells move to another one (measured: some pages in a store of 1,500 memories still held texts that had
been updated away). Only a rewrite of the file is sure; see `wash`.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from mem.errors import StoreBusy, StoreUnusable
from mem.store import compressions, entities, events, free_texts
from mem.store.connect import Store, select
from mem.store.events import Unit
from mem.store.tombstones import Grave

WAIT_MS = 10_000  # for readers that hold the write-ahead log

_TEXTS = ("content", "rationale", "alternatives")
_REASONS = ("status_reason", "trust_reason")
_EVERY = "(SELECT {0} FROM memories UNION ALL SELECT {0} FROM memories_versions)"


@dataclass(frozen=True, slots=True)
class Erased:
    """What went out of one store: its texts, the reasons given, and the keys of both.

    `derived` are the memories that are there still and were made of it: summaries, extracted observations.
    """

    numbers: tuple[int, ...] = ()
    uids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    fingerprints: tuple[bytes, ...] = ()
    hashes: tuple[bytes, ...] = ()
    derived: tuple[int, ...] = ()


def together(first: Erased, second: Erased) -> Erased:
    """Two erasures as one."""
    return Erased(*(getattr(first, name) + getattr(second, name) for name in first.__slots__))


def held(db: apsw.Connection, uids: Iterable[str]) -> list[int]:
    """The numbers of the memories with these UUIDs that this store holds, or held."""
    sql = f"SELECT DISTINCT id FROM {_EVERY.format('id, uid')} WHERE uid IN (SELECT value FROM json_each(?))"
    return [row[0] for row in select(db, f"{sql} ORDER BY id", (json.dumps(list(uids)),))]


def held_entities(db: apsw.Connection, uids: Iterable[str]) -> list[int]:
    """The numbers of the entities with these UUIDs that this store holds."""
    sql = "SELECT id FROM entities WHERE uid IN (SELECT value FROM json_each(?)) ORDER BY id"
    return [row[0] for row in select(db, sql, (json.dumps(list(uids)),))]


def family(db: apsw.Connection, entity_ids: Iterable[int]) -> list[int]:
    """These entities, and all that were merged into one of them."""
    rows = select(
        db,
        """WITH RECURSIVE one (id) AS (
             SELECT value FROM json_each(?) UNION
             SELECT n.id FROM entities n JOIN one o ON n.merged_into = o.id)
           SELECT id FROM one ORDER BY id""",
        (json.dumps(list(entity_ids)),),
    )
    return [row[0] for row in rows]


def about(db: apsw.Connection, entity_ids: Sequence[int]) -> list[int]:
    """The numbers of the memories that are, or were, about one of these entities."""
    rows = select(
        db,
        f"""SELECT DISTINCT id FROM {_EVERY.format("id, entity_id")}
            WHERE entity_id IN (SELECT value FROM json_each(?)) ORDER BY id""",
        (json.dumps(entity_ids),),
    )
    return [row[0] for row in rows]


def was_forgotten(db: apsw.Connection, uid: str) -> bool:
    """Whether a memory with this UUID was forgotten here."""
    return bool(
        db.execute(
            "SELECT 1 FROM tombstones WHERE memory_uid = ? AND kind = ?", (uid, Grave.FORGOTTEN.value)
        ).get
    )


def with_drafts(db: apsw.Connection, memory_ids: Sequence[int]) -> list[int]:
    """These memories, and the proposals to change one of them in place: what it was to say, or says since."""
    rows = select(
        db,
        f"""SELECT p.id FROM {_EVERY.format("id, proposal")} p
            WHERE p.proposal ->> '$.in_place' AND EXISTS (
              SELECT 1 FROM json_each(p.proposal, '$.replaces') r JOIN memories m ON m.uid = r.value
              WHERE m.id IN (SELECT value FROM json_each(?)))""",
        (json.dumps(list(memory_ids)),),
    )
    return sorted({*memory_ids, *(row[0] for row in rows)})


def identities(db: apsw.Connection, numbers: Sequence[int]) -> list[tuple[str, bytes, str, str | None]]:
    """What memories say, and what they said before unless another one says it now.

    As (UUID of the memory, fingerprint, UUID of the entity or '', project).
    """
    rows = select(
        db,
        f"""SELECT DISTINCT v.uid, v.fingerprint, ifnull(e.uid, ''), v.project
            FROM {_EVERY.format("id, uid, fingerprint, project, entity_id")} v
            LEFT JOIN entities e ON e.id = v.entity_id
            WHERE v.id IN (SELECT value FROM json_each(?1)) AND (
              EXISTS (SELECT 1 FROM memories m WHERE m.id = v.id AND m.fingerprint = v.fingerprint)
              OR NOT EXISTS (SELECT 1 FROM memories o WHERE o.fingerprint = v.fingerprint
                             AND o.id NOT IN (SELECT value FROM json_each(?1))))""",
        (json.dumps(numbers),),
    )
    return [(uid, fingerprint, entity_uid, project) for uid, fingerprint, entity_uid, project in rows]


def erase(unit: Unit, numbers: Sequence[int], *, words: bool = True) -> Erased:
    """Erase memories, and all that this store says of them; no other may be superseded by one of them now.

    Their index entries and vectors are left: see `index.erase`, then `drop_vectors`. Without `words` the log
    and what other rows say of them is left too.
    """
    listed = json.dumps(numbers)
    among = "id IN (SELECT value FROM json_each(?))"
    uids = [row[0] for row in select(unit.db, f"SELECT uid FROM memories WHERE {among}", (listed,))]
    erased = Erased(
        tuple(numbers),
        tuple(uids),
        _values(unit.db, _TEXTS, listed),
        tuple({*_values(unit.db, _REASONS, listed), *(_blank(unit.db, uids) if words else ())}),
        _values(unit.db, ("fingerprint",), listed),
        _values(unit.db, ("text_hash",), listed),
        tuple(compressions.made_of(unit.db, numbers)),
    )
    _forget_mentions(unit.db, numbers, uids if words else ())
    unit.db.execute(f"UPDATE memories SET superseded_by = NULL WHERE {among}", (listed,))
    unit.db.execute(f"DELETE FROM memories_versions WHERE {among}", (listed,))
    unit.db.execute(f"DELETE FROM memories WHERE {among}", (listed,))
    unit.erased_uids += uids
    return erased


def erase_entities(unit: Unit, numbers: Sequence[int], *, words: bool = True) -> Erased:
    """Erase entities with their relations and all that this store says of them; no memory is about one now.

    Their index entries and vectors are left: see `drop_vectors`.
    """
    listed = json.dumps(numbers)
    among = "id IN (SELECT value FROM json_each(?1))"
    uids = [row[0] for row in select(unit.db, f"SELECT uid FROM entities WHERE {among}", (listed,))]
    rows = select(
        unit.db,
        f"""SELECT name, aliases, summary, text_hash FROM entities WHERE {among}
            UNION SELECT name, aliases, summary, text_hash FROM entities_versions WHERE {among}""",
        (listed,),
    )
    texts = {text for name, aliases, summary, _ in rows for text in (name, *json.loads(aliases), summary)}
    reasons = _blank(unit.db, uids) if words else set[str]()
    for table in ("relations", "relations_versions"):
        ends = "from_id IN (SELECT value FROM json_each(?1)) OR to_id IN (SELECT value FROM json_each(?1))"
        unit.db.execute(f"DELETE FROM {table} WHERE {ends}", (listed,))
    unit.db.execute(f"UPDATE entities SET merged_into = NULL WHERE {among}", (listed,))
    unit.db.execute(f"DELETE FROM entities_versions WHERE {among}", (listed,))
    unit.db.execute(f"DELETE FROM entities WHERE {among}", (listed,))
    unit.erased_uids += uids
    _ = unit.event_id  # begins the event, also where nothing else is left to say that there was one
    return Erased(
        uids=tuple(uids),
        texts=tuple(sorted(text for text in texts if text)),
        reasons=tuple(sorted(reasons)),
        hashes=tuple({row[3] for row in rows if row[3] is not None}),
    )


def forget_mentions(db: apsw.Connection, uids: Sequence[str]) -> None:
    """Take memories that are not here out of what other rows list."""
    _forget_mentions(db, (), uids)


def one_with(db: apsw.Connection, entity_uid: str) -> list[str]:
    """The UUIDs of all entities that live on in one with this one, itself first; '' stands for none."""
    if not entity_uid:
        return [""]
    root, _ = entities.lives_on(db, entity_uid)
    numbers = family(db, held_entities(db, [root]))
    rows = select(
        db, "SELECT uid FROM entities WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(numbers),)
    )
    return [entity_uid, *sorted({uid for (uid,) in rows} - {entity_uid})]


def said_by_others(
    db: apsw.Connection, numbers: Sequence[int], fingerprint: bytes, entity_uid: str, project: str | None
) -> list[str]:
    """The UUIDs of other memories that say a content, or said it, where a tombstone of it would bind."""
    about = held_entities(db, one_with(db, entity_uid))
    rows = select(
        db,
        f"""SELECT DISTINCT m.uid FROM {_EVERY.format("id, uid, fingerprint, project, entity_id")} m
            WHERE m.fingerprint = ?1 AND (?2 = '' OR m.entity_id IN (SELECT value FROM json_each(?3)))
              AND (?4 IS NULL OR m.project = ?4) AND m.id NOT IN (SELECT value FROM json_each(?5))
            ORDER BY m.uid""",
        (fingerprint, entity_uid, json.dumps(about), project, json.dumps(list(numbers))),
    )
    return [uid for (uid,) in rows]


def drop_vectors(db: apsw.Connection, hashes: Iterable[bytes]) -> None:
    """Delete the vectors of those of these texts that no row has any more, present or version."""
    kept = " ".join(
        f"AND NOT EXISTS (SELECT 1 FROM {table} WHERE text_hash = ?1)"
        for table in ("memories", "entities", "memories_versions", "entities_versions")
    )
    for text_hash in hashes:
        db.execute(f"DELETE FROM embeddings WHERE text_hash = ?1 {kept}", (text_hash,))


def quoting(
    db: apsw.Connection, texts: Iterable[str], fingerprints: Iterable[bytes]
) -> tuple[list[int], list[str]]:
    """The memories that say or hold one of these texts, and what else in the store does."""
    looked_for = list(texts)
    columns = ("content", "title", "rationale", "alternatives", "status_reason", "trust_reason", "extra")
    said = " || char(10) || ".join(f"ifnull({column}, '')" for column in columns)
    rows = select(
        db,
        f"""SELECT DISTINCT m.id FROM {_EVERY.format(f"id, fingerprint, {said} AS said")} m
            WHERE EXISTS (SELECT 1 FROM json_each(?) t WHERE instr(m.said, t.value))
              OR hex(m.fingerprint) IN (SELECT value FROM json_each(?)) ORDER BY m.id""",
        (json.dumps(looked_for), json.dumps([fingerprint.hex().upper() for fingerprint in fingerprints])),
    )
    places = (place for place in free_texts.every(db) if "#" not in place.name)
    return [row[0] for row in rows], [
        place.name for place in places if any(text in place.text for text in looked_for)
    ]


def wash(store: Store) -> str:
    """Rewrite the file without what was deleted in it, and empty its log; gives what was in the way."""
    try:
        with store.bare(wait_ms=WAIT_MS) as db:
            db.execute("VACUUM")
            busy, *_ = select(db, "PRAGMA wal_checkpoint(TRUNCATE)")[0]
    except StoreBusy:
        busy = 1
    except StoreUnusable as err:
        return f"{err} {err.hint}"
    return "another process is reading it or writing to it" if busy else ""


def _values(db: apsw.Connection, columns: Sequence[str], listed: str) -> tuple[Any, ...]:
    """What the rows and versions of some memories hold in some columns, each value once."""
    names = ", ".join(columns)
    rows = select(
        db,
        f"SELECT {names} FROM {_EVERY.format(f'id, {names}')} WHERE id IN (SELECT value FROM json_each(?))",
        (listed,),
    )
    return tuple(sorted({value for row in rows for value in row if value}))


def _blank(db: apsw.Connection, uids: Sequence[str]) -> set[str]:
    """Erase the reasons given for these memories, in the log and where they were copied to; gives them."""
    # A proposal's reason stands in the event that made it, whose only subject is the proposal.
    proposals = select(
        db,
        f"""SELECT DISTINCT p.uid FROM {_EVERY.format("uid, proposal")} p
            JOIN json_each(p.proposal, '$.replaces') r
            JOIN json_each(?) f ON f.value = r.value""",
        (json.dumps(list(uids)),),
    )
    reasons, concerned = events.blank(db, [*uids, *(uid for (uid,) in proposals)])
    given, of = json.dumps(sorted(reasons)), json.dumps(sorted({*concerned, *uids}))
    for table in ("memories", "memories_versions"):
        for column in ("status_reason", "trust_reason"):
            db.execute(
                f"""UPDATE {table} SET {column} = NULL WHERE {column} IN (SELECT value FROM json_each(?))
                    AND uid IN (SELECT value FROM json_each(?))""",
                (given, of),
            )
    for table in ("tombstones", "tombstones_versions"):
        db.execute(
            f"""UPDATE {table} SET reason = NULL WHERE reason IS NOT NULL AND (
                  memory_uid IN (SELECT value FROM json_each(?3))
                  OR id IN (SELECT id FROM tombstones WHERE memory_uid IN (SELECT value FROM json_each(?3)))
                  OR (reason IN (SELECT value FROM json_each(?1))
                      AND memory_uid IN (SELECT value FROM json_each(?2))))""",
            (given, of, json.dumps(list(uids))),
        )
    return reasons


def _forget_mentions(db: apsw.Connection, numbers: Sequence[int], uids: Sequence[str]) -> None:
    """Take these memories out of what other rows list: traces, sources of a compression, proposals."""
    gone = json.dumps([*numbers, *uids])
    for column in ("shown", "withheld"):
        db.execute(
            f"""UPDATE recall_traces SET {column} = (
                  SELECT json_group_array(json(s.value)) FROM json_each({column}) s
                  WHERE json_extract(s.value, '$[0]') NOT IN (SELECT value FROM json_each(?1)))
                WHERE EXISTS (SELECT 1 FROM json_each({column}) s
                              WHERE json_extract(s.value, '$[0]') IN (SELECT value FROM json_each(?1)))""",
            (gone,),
        )
    for table in ("memories", "memories_versions"):
        db.execute(
            f"""UPDATE {table} SET compressed_from = (
                  SELECT json_group_array(c.value) FROM json_each(compressed_from) c
                  WHERE c.value NOT IN (SELECT value FROM json_each(?1)))
                WHERE compressed_from <> '[]'""",
            (gone,),
        )
        _forget_in_proposals(db, table, frozenset(uids))


def _forget_in_proposals(db: apsw.Connection, table: str, uids: Collection[str]) -> None:
    """Take memories out of what proposals would replace; nobody needs the reason for that any more."""
    rows = select(
        db,
        f"""SELECT rowid, proposal FROM {table} WHERE EXISTS (
              SELECT 1 FROM json_each(proposal, '$.replaces') r JOIN json_each(?) f ON f.value = r.value)""",
        (json.dumps(list(uids)),),
    )
    for row_id, proposal in rows:
        said = json.loads(proposal)
        kept = [place for place, uid in enumerate(said["replaces"]) if uid not in uids]
        for name in ("replaces", "seen"):
            said[name] = [said[name][place] for place in kept]
        text = json.dumps(said | {"reason": None}, ensure_ascii=False)
        db.execute(f"UPDATE {table} SET proposal = ? WHERE rowid = ?", (text, row_id))
