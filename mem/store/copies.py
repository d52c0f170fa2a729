"""Copies of a store file: one snapshot, whole or not there at all; and one store put in the place of another.

Pages are copied inside one read transaction and in one step: writers go on meanwhile, and what the copy must
hold is counted in the same snapshot. (In several steps SQLite begins anew whenever somebody writes, and
`VACUUM INTO`, which would do the rest as well, runs in no transaction.) Then the copy is rewritten: it holds
no byte of what was deleted.
"""

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from mem.errors import MemError, StoreUnusable, Usage
from mem.store import integrity
from mem.store.connect import (
    APPLICATION_ID,
    NETWORK_FILE_SYSTEMS,
    Store,
    file_system,
    require_not_newer,
)

_INSTANT = r"(?P<instant>\d{8}T\d{6}\.\d{6}Z)"
INSTANT_FORM = "%Y%m%dT%H%M%S.%fZ"
# What `mem` itself calls the copies that it keeps, after the store and the instant in UTC.
BACKUP = re.compile(rf"(?P<store>.+)-{_INSTANT}\.db")
ASIDE = re.compile(rf"(?P<store>.+)\.before-restore-{_INSTANT}")

SIDE_FILES = ("-wal", "-shm", "-journal")
_COUNTED = (
    *("memories", "memories_versions", "entities", "entities_versions", "relations", "relations_versions"),
    *("sessions", "settings", "tombstones", "tombstones_versions", "events", "embeddings", "usage"),
)
_UNFINISHED = re.compile(r".+\.(\d+)\.new(-wal|-shm|-journal)?")
_NO_DISK = frozenset((errno.ENOSPC, errno.EDQUOT))
_NO_REASON = {"not an error": "the system does not let it be written whole"}


def copy(store: Store, target: Path, *, as_it_is: bool = False) -> None:
    """Write a store to a new file, mode 0600, that is checked and on the disk before it gets its name.

    Raises `MemError` where that cannot be: nothing is there then, and what is there is never overwritten. A
    damaged store can only be copied `as_it_is`, unchecked.
    """
    refuse_network(target.parent)
    with unfinished(target) as file:
        if as_it_is:
            with store.read() as db:
                take_pages_of(db, file)
        else:
            counted = take_pages(store, file)
            tidy(file)
            check(file, counted)
        with told(target):
            _publish(file, target)


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A new, empty file beside the one that it is to become; whatever is left of it is gone afterwards."""
    file = target.with_name(f"{target.name}.{os.getpid()}.new")
    try:
        with told(target):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield file
    finally:
        for end in ("", *SIDE_FILES):
            with suppress(OSError):
                Path(f"{file}{end}").unlink()


def clear_unfinished(folder: Path, name: re.Pattern[str]) -> None:
    """Remove what processes left that were killed over a copy whose name fits."""
    if os.name != "posix":
        return
    with suppress(OSError):
        for file in folder.iterdir():
            left = _UNFINISHED.fullmatch(file.name)
            if left and name.match(file.name) and not lives(int(left[1])):
                with suppress(OSError):
                    file.unlink()


def take_pages(store: Store, file: Path) -> Mapping[str, int]:
    """Fill an empty file with the pages of a store; gives how many rows the tables have in that snapshot."""
    with store.read() as db:
        counted = _counts(db)
        with told(file):
            _fill(file, db)
    return counted


def take_pages_of(source: apsw.Connection, file: Path) -> None:
    """Fill an empty file with the pages of a store that is open for reading."""
    with told(file):
        _fill(file, source)


def tidy(file: Path, *, page_size: int | None = None) -> None:
    """Rewrite a copy without what was deleted in it, as one file that is complete without a log."""
    with told(file):
        db = apsw.Connection(str(file))
        try:
            # On the disk it is when it is done; until then nothing rests on it.
            db.pragma("journal_mode", "delete")
            db.pragma("synchronous", "off")
            if page_size is not None:
                db.pragma("page_size", page_size)
            db.execute("VACUUM")
            db.pragma("journal_mode", "wal")
        finally:
            db.close()


def check(file: Path, counted: Mapping[str, int] | None = None) -> None:
    """Raise `StoreUnusable` for a copy that is not sound, or holds something else than was counted."""
    with opened(file) as db:
        found = integrity.problems(db, thorough=True)
        if counted is not None:
            held = _counts(db)
            found += [
                f"{held[table]} rows in {table} instead of {count}"
                for table, count in counted.items()
                if held[table] != count
            ]
    if found:
        raise StoreUnusable(f"{file} is not a sound store: {'; '.join(found[:3])}.", hint="See: mem doctor")


@contextmanager
def opened(file: Path) -> Iterator[apsw.Connection]:
    """A store file to be read, which nothing is written to or beside.

    Raises `Usage` for what is no store of `mem`, `StoreUnusable` for a damaged one, and `StoreTooNew`.
    """
    if not file.is_file():
        what = "is a folder" if file.is_dir() else "is no regular file" if file.exists() else "does not exist"
        raise Usage(f"{file} {what}.", hint="Name a file that mem backup has written.")
    try:
        db = apsw.Connection(_address(file), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except (apsw.Error, UnicodeEncodeError, OSError) as err:
        raise _unreadable(file, err) from err
    try:
        _require_store(db, file)
        with _read(file):
            db.execute("BEGIN")
            yield db
    finally:
        db.close()


@contextmanager
def replacing(store: Store, file: Path) -> Iterator[None]:
    """Keep writers from a store during the block, then put what the file holds by then in its place.

    That is one transaction: readers see the old state until it is there, and whatever ends the process before
    leaves the old state. Pages of both have one size.
    """
    with store.bare() as db:
        source = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            with db.backup("main", source, "main") as swap:
                swap.step(0)  # copies nothing, and takes the lock
                yield
                swap.step(-1)
        finally:
            source.close()


def settle(store: Store) -> bool:
    """Take what was replaced out of the file and its log; whether nobody was in the way."""
    with suppress(MemError), store.bare(wait_ms=1_000) as db:
        return not next(db.execute("PRAGMA wal_checkpoint(TRUNCATE)"))[0]
    return False


def page_size(store: Store) -> int:
    """The size of a store's pages in bytes."""
    with store.read() as db:
        return int(db.pragma("page_size"))


def refuse_network(folder: Path) -> None:
    """Raise `Usage` for a folder on a network file system, where SQLite's locks do not hold."""
    kind = file_system(folder)
    if kind in NETWORK_FILE_SYSTEMS:
        raise Usage(
            f"{folder} lies on a network file system ({kind}), where SQLite's locks do not hold.",
            hint="Leave FILE out, and copy the backup there: it is one file that nothing changes any more.",
        )


@contextmanager
def told(target: Path) -> Iterator[None]:
    """What keeps a file from being written, as a clear word that names it."""
    try:
        yield
    except FileExistsError as err:
        raise _taken(target) from err
    except apsw.FullError as err:
        raise _full(target) from err
    except (OSError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError) as err:
        if isinstance(err, OSError) and err.errno in _NO_DISK:
            raise _full(target) from err
        # Of a file that would grow beyond what is allowed SQLite says no more than "not an error".
        why = err.strerror if isinstance(err, OSError) else _NO_REASON.get(str(err), err)
        raise MemError(f"{target} cannot be written: {why}.", hint="Name another FILE.") from err
    except (apsw.CorruptError, apsw.NotADBError) as err:
        raise StoreUnusable(f"What {target} would hold is damaged: {err}.", hint="See: mem doctor") from err
    except UnicodeEncodeError as err:
        raise Usage(f"The path {target} is not UTF-8.", hint="Name another FILE.") from err


def require_free(target: Path) -> None:
    """Raise `Usage` where something is in the place of a file that is to be written."""
    if target.is_dir():
        raise Usage(f"{target} is a folder.", hint=f"Name a file in it: {target / 'memory.db'}")
    if target.exists() or target.is_symlink():
        raise _taken(target)
    if not target.parent.is_dir():
        raise Usage(f"There is no folder {target.parent}.", hint="Make it first, or name another FILE.")


def _fill(file: Path, source: apsw.Connection) -> None:
    db = apsw.Connection(str(file))
    try:
        db.pragma("synchronous", "off")
        with db.backup("main", source, "main") as pages:
            pages.step(-1)
    finally:
        db.close()


def _publish(file: Path, target: Path) -> None:
    """Have a finished file on the disk, then give it its name, unless something else has that."""
    _synced(file)
    try:
        target.hardlink_to(file)
    except FileExistsError:
        raise
    except OSError:
        # No hard links on this file system: the rename is as good, but for two processes in the same instant.
        if target.exists():
            raise FileExistsError from None
        file.rename(target)
    if os.name == "posix":
        _synced(target.parent)


def _synced(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _counts(db: apsw.Connection) -> dict[str, int]:
    return {table: int(db.execute(f"SELECT count(*) FROM {table}").get) for table in _COUNTED}


def _address(file: Path) -> str:
    from urllib.parse import quote

    # Without a log nobody has it open, so it need not be locked, nor a log be made beside it.
    mode = "mode=ro" if Path(f"{file}-wal").exists() else "immutable=1"
    return f"file:{quote(os.fsencode(file.absolute()))}?{mode}"


@contextmanager
def _read(file: Path) -> Iterator[None]:
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.CantOpenError) as err:
        raise _unreadable(file, err) from err


def _require_store(db: apsw.Connection, file: Path) -> None:
    try:
        owner = db.pragma("application_id")
    except apsw.NotADBError as err:
        raise _foreign(file) from err
    except apsw.Error as err:
        raise _unreadable(file, err) from err
    if owner != APPLICATION_ID:
        raise _foreign(file)
    with _read(file):
        require_not_newer(db, file)


def _foreign(file: Path) -> Usage:
    return Usage(f"{file} is no store of mem.", hint="Name a file that mem backup has written.")


def _unreadable(file: Path, err: Exception) -> StoreUnusable:
    return StoreUnusable(f"{file} cannot be read: {err}.", hint="Name another backup. See: mem doctor")


def _taken(target: Path) -> Usage:
    return Usage(
        f"{target} exists, and is not overwritten.", hint="Name another FILE, or move that one away."
    )


def _full(target: Path) -> MemError:
    return MemError(
        f"The disk that was to hold {target} is full; nothing is left of it.", hint="Free some space."
    )


def lives(process: int) -> bool:
    """Whether a process is there; where that cannot be told, it is."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
