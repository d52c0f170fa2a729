"""Opening the store: its pragmas, its permissions, the vector extension, and SQLite's errors in our words."""

import importlib.util
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from mem import __version__
from mem.errors import StoreBusy, StoreTooNew, StoreUnusable
from mem.paths import private_folder
from mem.store import migrations

PAGE_SIZE = 8192
CACHE_KIB = 32_000  # at most; the default of 2 MB does not hold the pages that one recall reads
APPLICATION_ID = 0x6D656D31  # mem1
NETWORK_FILE_SYSTEMS = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "fuse.sshfs", "fuse.glusterfs")
)


class Store:
    """One store file; each thread that uses it gets a connection of its own.

    Opening a current store runs no DDL and takes no write lock. A missing one is made whole beside its
    place and linked there in one step, so that nobody ever opens half a store.
    """

    def __init__(self, path: Path, *, timeout_ms: int = 10_000) -> None:
        self.path = path
        self._timeout_ms = timeout_ms
        self._connections = threading.local()
        self._opened: list[apsw.Connection] = []
        self._opening = threading.Lock()
        with translated(path):
            _refuse_network(path.resolve().parent)
            if not path.exists():
                _create(path)
            elif not path.is_file():
                raise StoreUnusable(
                    f"{path} is no regular file.", hint="Name a file with --db, MEM_DB or MEM_HOME."
                )
        self._connection()

    @property
    def has_vectors(self) -> bool:
        """Whether the vector extension could be loaded."""
        self._connection()
        return bool(self._connections.has_vectors)

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """One snapshot: every statement inside sees the same state of the store."""
        db = self._connection()
        with translated(self.path):
            if db.in_transaction:
                yield db
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    @contextmanager
    def write(self, *, wait_ms: int | None = None, lasting: bool = True) -> Iterator[apsw.Connection]:
        """One transaction, committed at the end or rolled back whole; waits for the lock first.

        What is not `lasting` may be lost with the power, never with the process: nobody was promised it.
        """
        db = self._connection()
        with translated(self.path):
            db.set_busy_timeout(self._timeout_ms if wait_ms is None else wait_ms)
            if not lasting:
                db.pragma("synchronous", "normal")
            try:
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise
            finally:
                db.set_busy_timeout(self._timeout_ms)
                if not lasting:
                    db.pragma("synchronous", "full")

    @contextmanager
    def bare(self, *, wait_ms: int | None = None) -> Iterator[apsw.Connection]:
        """This thread's connection outside any transaction, for what SQLite does in none."""
        db = self._connection()
        with translated(self.path):
            db.set_busy_timeout(self._timeout_ms if wait_ms is None else wait_ms)
            try:
                yield db
            finally:
                db.set_busy_timeout(self._timeout_ms)

    def close(self) -> None:
        """Close every connection; the store may not be used afterwards."""
        with self._opening:
            for db in self._opened:
                db.close()
            self._opened.clear()
        self._connections = threading.local()

    def _connection(self) -> apsw.Connection:
        db: apsw.Connection | None = getattr(self._connections, "db", None)
        if db is None:
            with translated(self.path):
                db = _open(self.path, self._timeout_ms)
            self._connections.has_vectors = _load_vectors(db)
            self._connections.db = db
            with self._opening:
                self._opened.append(db)
        return db


def select(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a query; their types are those of the columns that the query names."""
    return db.execute(sql, values).fetchall()


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, with the file named and a way out."""
    try:
        yield
    except apsw.BusyError as err:
        raise StoreBusy(
            f"Another process has held the lock of {path} for too long.",
            hint="Try again; `mem config set store.timeout-ms` lengthens the wait.",
        ) from err
    except (apsw.NotADBError, apsw.CorruptError) as err:
        raise StoreUnusable(
            f"{path} is not a sound store: {err}.",
            hint="Move it away, with its -wal, and keep it; then: mem backup --restore FILE",
        ) from err
    except apsw.FullError as err:
        raise StoreUnusable(
            f"The disk that holds {path} is full; nothing was written.",
            hint="Free some space, then try again.",
        ) from err
    except UnicodeEncodeError as err:
        raise StoreUnusable(
            f"The path {path} is not UTF-8.", hint="Name another with --db, MEM_DB or MEM_HOME."
        ) from err
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError, OSError) as err:
        told = f"Cannot use the store {path}: {err}."
        if path.parent.is_dir() and not os.access(path.parent, os.W_OK):
            told = f"Cannot use the store {path}: nothing can be written there, which reading takes too."
        raise StoreUnusable(told, hint="Check the folder's permissions, or set MEM_DB or MEM_HOME.") from err


def vector_extension() -> Path | None:
    """The sqlite-vec library, found without importing its package, which would pull in numpy."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        return None
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    library = Path(spec.submodule_search_locations[0]) / f"vec0{suffix}"
    return library if library.exists() else None


def _create(path: Path) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    previous = os.umask(0o077)
    try:
        private_folder(path.parent)
        db = apsw.Connection(str(temporary))
        try:
            _prepare(db)
        finally:
            db.close()
        _publish(temporary, path)
    finally:
        os.umask(previous)
        for name in (temporary, Path(f"{temporary}-wal"), Path(f"{temporary}-shm")):
            name.unlink(missing_ok=True)


def _publish(temporary: Path, path: Path) -> None:
    """Give a finished file its name, unless another process was first."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return
    except OSError:
        # No hard links on this file system: the rename is as good, but for two processes in the same instant.
        if not path.exists():
            temporary.rename(path)


def _open(path: Path, timeout_ms: int) -> apsw.Connection:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        db.set_busy_timeout(timeout_ms)
        db.pragma("foreign_keys", True)
        db.pragma("synchronous", "full")
        db.pragma("secure_delete", True)
        db.pragma("cache_size", -CACHE_KIB)
        _require_ours(db, path)
        if require_not_newer(db, path) < migrations.CURRENT:
            migrations.migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def require_not_newer(db: apsw.Connection, path: Path) -> int:
    """The number of a store's schema; raises `StoreTooNew` for one that this `mem` does not know."""
    found = migrations.schema_number(db)
    if found > migrations.CURRENT:
        written = db.execute("SELECT version FROM migrations ORDER BY at DESC, rowid DESC LIMIT 1").get
        raise StoreTooNew(
            f"{path} was written by mem {written} (schema {found}); this is mem {__version__} "
            f"(schema {migrations.CURRENT}).",
            hint="Upgrade this mem: python3 -m pip install --upgrade mem",
        )
    return found


def _require_ours(db: apsw.Connection, path: Path) -> None:
    """Refuse another program's database; a file without any content becomes a store."""
    owner = db.pragma("application_id")
    if owner == APPLICATION_ID:
        return
    # A process that died over an empty file may have left a header, which holds nothing either.
    blank = db.pragma("page_count") > 0 or path.stat().st_size == 0
    if owner or not blank or db.pragma("user_version") or db.execute("SELECT 1 FROM sqlite_schema").get:
        raise StoreUnusable(
            f"{path} is a database of another program.",
            hint="Name another file with --db, MEM_DB or MEM_HOME.",
        )
    path.chmod(0o600)
    _prepare(db)


def _prepare(db: apsw.Connection) -> None:
    """Make a store out of an empty database."""
    db.pragma("page_size", PAGE_SIZE)
    db.pragma("journal_mode", "wal")
    db.pragma("application_id", APPLICATION_ID)
    migrations.migrate(db)


def _load_vectors(db: apsw.Connection) -> bool:
    library = vector_extension()
    if library is None:
        return False
    try:
        db.enable_load_extension(True)
        db.load_extension(str(library))
    except (apsw.Error, AttributeError):
        return False
    finally:
        db.enable_load_extension(False)
    return True


def _refuse_network(folder: Path) -> None:
    """SQLite's locks and shared memory do not hold on network file systems; refuse before any write."""
    kind = file_system(folder)
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreUnusable(
            f"{folder} lies on a network file system ({kind}), where SQLite's locks do not hold.",
            hint="Set MEM_HOME to a local folder, and carry memories between machines with an export.",
        )


def file_system(folder: Path) -> str | None:
    """The type of the file system that holds a folder, or would hold it, where the system tells (Linux)."""
    try:
        nearest = next((place for place in (folder, *folder.parents) if place.exists()), folder)
        device = nearest.stat().st_dev
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts:
        fields = line.split()
        if len(fields) > 6 and fields[2] == number:
            return fields[fields.index("-") + 1] if "-" in fields else None
    return None
