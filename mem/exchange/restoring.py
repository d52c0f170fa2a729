"""A backup in the place of the live store, without what was rejected or forgotten since.

Everything is made ready in a file beside the store: the backup's pages, a newer schema, a new origin (the
restored store must not give the numbers of events again that the old state has given; see `origins`). Then
writers are kept out, the old state is set aside, what was judged in it is applied to the file, and the file
takes the place of the old state in one transaction. Whatever ends the process, the store is the old one or
the new one, and the old one is aside before it goes.
"""

from pathlib import Path

from mem import clock
from mem.errors import MemError, StoreBusy, StoreUnusable, Usage
from mem.exchange import backup
from mem.results import RestoredBackup
from mem.search import entities as entity_index
from mem.search import index
from mem.store import copies, erasure, integrity, judged, memories, origins, tombstones
from mem.store.connect import Store
from mem.store.events import Unit, unit_of_work
from mem.store.exclusive import alone
from mem.store.judged import Judged
from mem.truth import forgetting
from mem.truth.admission import identity_of
from mem.values import Actor, Notice, Status

OPERATION = "restore-backup"
_BESIDE = "restoring"


def restore(store: Store, file: Path, actor: Actor) -> RestoredBackup:
    """Put a backup in the place of the store; what is there now is kept beside it.

    Raises `MemError`, and the store is as it was: for a file that is no sound backup, one of a newer `mem`,
    the store itself, and where the disk is full.
    """
    if file.exists() and file.samefile(store.path):
        raise Usage(f"{file} is the store itself.", hint="Name a backup. See: mem doctor")
    copies.check(file)
    with alone(store.path, _BESIDE) as is_alone:
        if not is_alone:
            raise MemError("Another process is restoring a backup.", hint="Wait for it, then see: mem log")
        copies.clear_unfinished(store.path.parent, backup.left_beside(store.path))
        with copies.unfinished(store.path.with_name(f"{store.path.name}.{_BESIDE}")) as beside:
            with copies.opened(file) as source:
                copies.take_pages_of(source, beside)
            copies.tidy(beside, page_size=copies.page_size(store))
            done = _put_in_place(store, beside, file, actor)
    copies.settle(store)
    return done


def _put_in_place(store: Store, beside: Path, file: Path, actor: Actor) -> RestoredBackup:
    fresh, old = Store(beside), Store(store.path)
    try:
        with fresh.write() as db:
            broken, until = integrity.broken_link(db), judged.until(db)
            origins.renew(db)
        notices = [] if broken is None else [backup.chain_breaks(broken)]
        with copies.replacing(store, beside):
            aside, damage = _set_aside(old)
            before, unread = _judged(old)
            with unit_of_work(fresh, OPERATION, actor) as unit:
                unit.at = _after(unit.at, until, before.until)
                rejected, forgotten = _apply(unit, before, has_vectors=fresh.has_vectors)
                held = int(unit.db.execute("SELECT count(*) FROM memories").get)
            if forgotten:
                erasure.wash(fresh)
            copies.check(beside)
    finally:
        fresh.close()
        old.close()
    if forgotten:
        notices.append(Notice("still_in_backup", f"{file} itself still holds what was forgotten since."))
    return RestoredBackup(
        str(file), str(aside), held, tuple(rejected), forgotten, (*notices, *damage, *unread)
    )


def _set_aside(old: Store) -> tuple[Path, tuple[Notice, ...]]:
    """Keep the old state; a damaged one as it is, since it may be why a backup is wanted."""
    target = backup.aside_path(old.path)
    try:
        copies.copy(old, target)
    except StoreBusy:
        raise
    except StoreUnusable as err:
        copies.copy(old, target, as_it_is=True)
        return target, (Notice("damaged", f"{target} is kept as it is, though damaged: {err}"),)
    return target, ()


def _judged(old: Store) -> tuple[Judged, tuple[Notice, ...]]:
    try:
        with old.read() as db:
            return judged.read(db), ()
    except StoreBusy:
        raise
    except StoreUnusable:
        told = "What was rejected and forgotten since the backup could not be read, and may be back."
        return judged.NOTHING, (Notice("judgements_lost", told),)


def _after(*instants: str) -> str:
    """A record time after all that either state has given."""
    *_, latest = sorted(instants)
    return latest if latest == instants[0] else clock.to_text(clock.from_text(latest) + clock.MICROSECOND)


def _apply(unit: Unit, before: Judged, *, has_vectors: bool) -> tuple[list[int], int]:
    """Forget and reject again what the old state had forgotten and rejected; gives these, and how many those.

    What it had let in again stays let in.
    """
    judged.number_on(unit.db, before.numbered)
    stones = judged.newer(unit.db, before.stones)
    erased = forgetting.forget(
        unit,
        erasure.held(unit.db, before.erased),
        erasure.held_entities(unit.db, before.erased),
        has_vectors=has_vectors,
    )
    # Also what this backup does not hold: an older state may know of it no more than that it was erased.
    unit.erased_uids = sorted({*unit.erased_uids, *before.erased})
    judged.take_over(unit, stones)
    rejected = _reject(unit, before)
    lifted = sum(stone["lifted_at"] is not None for stone in stones)
    unit.detail |= {"rejected": len(rejected), "forgotten": len(erased.uids), "lifted": lifted}
    entity_index.refresh(unit.db, unit.entity_ids)
    index.refresh(unit.db, unit.memory_ids | unit.to_index, has_vectors=has_vectors)
    return rejected, len(erased.uids)


def _reject(unit: Unit, before: Judged) -> list[int]:
    """Reject what the old state had rejected, and whatever else would say that again."""
    falling = judged.still_in(unit.db, before.rejected)
    for number in tombstones.bound(unit.db, unit.event_id):
        uid, said = memories.one(unit.db, number).uid, identity_of(unit.db, number)
        # What lived beside the tombstone had been let live.
        if before.live.get(uid) != said.fingerprint:
            stones = tombstones.binding(unit.db, said.fingerprint, said.entity_uid, said.project)
            falling.setdefault(number, stones[0].reason)
    for number, reason in falling.items():
        memories.set_status(unit, number, Status.REJECTED, reason)
    return list(falling)
