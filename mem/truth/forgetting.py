"""Forget: the only erasure. A memory goes out of every store that holds it, and its content is refused.

What stays is free of content: a tombstone for each text, and the event. What the memory had replaced is
replaced by its successor from then on; where it has none, it has ended, so that it may be said again. Earlier
answers of `--known-at` lose the memory and nothing else. Reasons that were given for it together with others
are erased for these too, since a reason may say what it is about.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw

from mem.context import shown
from mem.errors import MemError, NotFound
from mem.paths import Places
from mem.results import Forgotten
from mem.search import entities as entity_index
from mem.search import index
from mem.store import erasure, memories, origins, tombstones
from mem.store.connect import Store
from mem.store.erasure import Erased
from mem.store.events import Unit, unit_of_work
from mem.store.tombstones import Grave
from mem.truth import leftovers
from mem.truth.admission import ENDED
from mem.values import Actor, Notice, Status


def find(db: apsw.Connection, references: Iterable[str]) -> tuple[list[int], list[str]]:
    """The numbers of the memories to forget, and the UUIDs of those that were forgotten before."""
    numbers: dict[int, None] = {}
    before: dict[str, None] = {}
    for reference in references:
        try:
            numbers |= dict.fromkeys(memories.resolve(db, [reference]))
        except NotFound:
            uid = reference.strip().casefold()
            if not erasure.was_forgotten(db, uid):
                raise
            before[uid] = None
    return list(numbers), list(before)


def forget(
    unit: Unit, memory_ids: Sequence[int], entity_ids: Sequence[int] = (), *, has_vectors: bool
) -> Erased:
    """Erase memories from one store with all that it says of them, and refuse their content from now on.

    Entities go with all that was observed of them and of what was merged into them, and with their relations.
    """
    entities = erasure.family(unit.db, entity_ids)
    erased = _forget_memories(unit, [*memory_ids, *erasure.about(unit.db, entities)], has_vectors=has_vectors)
    if not entities:
        return erased
    gone = erasure.erase_entities(unit, entities)
    for uid in gone.uids:
        tombstones.bury_row(unit, uid)
    entity_index.erase(unit.db, entities)
    erasure.drop_vectors(unit.db, gone.hashes)
    return erasure.together(erased, gone)


def _forget_memories(unit: Unit, memory_ids: Sequence[int], *, has_vectors: bool) -> Erased:
    if not memory_ids:
        return Erased()
    numbers = erasure.with_drafts(unit.db, memory_ids)
    for uid, fingerprint, entity_uid, project in erasure.identities(unit.db, numbers):
        left = erasure.said_by_others(unit.db, numbers, fingerprint, entity_uid, project)
        # Elsewhere it may still be said of what was merged into the entity here.
        for about in erasure.one_with(unit.db, entity_uid):
            tombstones.bury(
                unit,
                fingerprint,
                about,
                project,
                memory_uid=uid,
                reason=None,
                kind=Grave.FORGOTTEN,
                left=left,
            )
    _relink(unit, numbers)
    erased = erasure.erase(unit, numbers)
    index.erase(unit.db, numbers, has_vectors=has_vectors)
    erasure.drop_vectors(unit.db, erased.hashes)
    return erased


def notices(db: apsw.Connection, erased: Erased) -> tuple[Notice, ...]:
    """What else in the store says or quotes what was erased; it stays, since nobody named it."""
    numbers, places = erasure.quoting(db, leftovers.telling(erased.texts), erased.fingerprints)
    found = [
        Notice(
            "said_elsewhere",
            f"#{number} says or quotes this too; to erase it: mem forget {number}",
            (number,),
        )
        for number in numbers
    ]
    found += [
        Notice(
            "said_elsewhere",
            f"#{number} was made of this, and may say it in other words; to erase it: mem forget {number}",
            (number,),
        )
        for number in erased.derived
        if number not in numbers
    ]
    return (*found, *(Notice("said_elsewhere", f"This is quoted in {place}.") for place in places))


def sweep(
    store: Store,
    erased: Erased,
    uids: Collection[str],
    places: Places,
    actor: Actor,
    *,
    again: str,
    backups: bool = False,
) -> Forgotten:
    """Take what was erased in a store out of every other file of ours, and its bytes out of all of them.

    Other stores, such as backups, are rewritten; other files that hold a text are only listed. With `backups`
    a backup or an export that holds one is deleted instead. `again` is the command that goes on where this
    could not.
    """
    shown.forget(places.state, erased.numbers)
    remains = _washed(store, again)
    texts = {*erased.texts}
    rewritten, deleted = [], []
    files = leftovers.files(places, store.path)
    with store.read() as db:
        ours = origins.lineage(db)
    for file in files:
        if not (leftovers.is_store(file) and leftovers.holds(file, {uid.encode() for uid in uids})):
            continue
        if backups and leftovers.is_backup(file):
            deleted += leftovers.deleted(file)
            continue
        gone, left = _forget_copy(file, uids, actor, again, ours)
        texts.update(gone.texts)
        remains += left
        if gone.uids:
            rewritten.append(str(file))
    listed, unread = leftovers.search(files, texts, uids, logs=places.state, reasons=erased.reasons)
    if backups:
        exports = [file for file in listed if leftovers.is_export(Path(file))]
        deleted += [gone for file in exports for gone in leftovers.deleted(Path(file))]
    return Forgotten(
        ids=erased.numbers,
        uids=tuple(uids),
        rewritten=tuple(rewritten),
        listed=tuple(file for file in listed if file not in deleted),
        remains=(*remains, *unread),
        deleted=tuple(deleted),
    )


def _forget_copy(
    file: Path, uids: Collection[str], actor: Actor, again: str, ours: Collection[str]
) -> tuple[Erased, list[str]]:
    """Forget the same memories in another store; gives what could not be done.

    A copy of the store whose origins are `ours` goes on under its own, so that no two events have one number.
    """
    try:
        copy = Store(file)
    except MemError as err:
        return Erased(), [f"{file}: {err} {err.hint}".rstrip()]
    try:
        with unit_of_work(copy, "forget", actor) as unit:
            if origins.here(unit.db) in ours:
                origins.renew(unit.db)
            erased = forget(
                unit,
                erasure.held(unit.db, uids),
                erasure.held_entities(unit.db, uids),
                has_vectors=copy.has_vectors,
            )
            index.refresh(unit.db, unit.memory_ids, has_vectors=copy.has_vectors)
        return erased, _washed(copy, again)
    except MemError as err:
        return Erased(), [f"{file}: {err} {err.hint}".rstrip()]
    finally:
        copy.close()


def _washed(store: Store, again: str) -> list[str]:
    """Have SQLite let go of the bytes; gives what could not be done, and what to do."""
    left = []
    if not store.has_vectors:
        left.append(
            f"{store.path}: the vector extension does not load, so bits of vectors may stay. "
            f"Mend that (see mem doctor), then: {again}"
        )
    if why := erasure.wash(store):
        left.append(
            f"{store.path}: {why}, so deleted bytes may still be in the file or in its -wal. "
            f"End what uses it (mem worker stop), then: {again}"
        )
    return left


def _relink(unit: Unit, numbers: Sequence[int]) -> None:
    """Let what these memories had replaced be replaced by what replaced them, else have ended."""
    gone = set(numbers)
    for number in numbers:
        successor: int | None = number
        while successor in gone:
            successor = memories.one(unit.db, successor).superseded_by
        for before in memories.predecessors(unit.db, number):
            if before in gone:
                continue
            values: dict[str, Any] = {"superseded_by": successor}
            if successor is None and memories.one(unit.db, before).status is Status.SUPERSEDED:
                values["status_reason"] = ENDED
            memories.change(unit, before, values)
