"""SQLite files of other programs: opened so that nothing of them changes, and read table by table."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from mem.errors import Usage

MAGIC = b"SQLite format 3\x00"


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """The database in a file, for reading only; raises `Usage` for what SQLite cannot read.

    SQLite itself would write beside a file with a log, so such a pair is copied away and read there.
    """
    log = path.with_name(f"{path.name}-wal")
    try:
        if not (log.exists() and log.stat().st_size):
            with _connected(path, "immutable=1") as db:
                yield db
            return
        with tempfile.TemporaryDirectory(prefix="mem-import-") as folder:
            for one in (path, log):
                shutil.copyfile(one, Path(folder) / one.name)
            with _connected(Path(folder) / path.name, "mode=rw") as db:
                yield db
    except (apsw.NotADBError, apsw.CorruptError, apsw.CantOpenError, apsw.IOError) as err:
        raise Usage(f"{path} cannot be read as a database: {err}.", hint="Is the file whole?") from err


@contextmanager
def _connected(path: Path, how: str) -> Iterator[apsw.Connection]:
    flags = apsw.SQLITE_OPEN_URI | (
        apsw.SQLITE_OPEN_READONLY if how == "immutable=1" else apsw.SQLITE_OPEN_READWRITE
    )
    db = apsw.Connection(f"{path.absolute().as_uri()}?{how}", flags=flags)
    try:
        yield db
    finally:
        db.close()


def columns(db: apsw.Connection, table: str) -> tuple[str, ...]:
    """The columns of a table; none where there is no such table."""
    return tuple(str(row[0]) for row in db.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def rows(db: apsw.Connection, table: str) -> Iterator[dict[str, Any]]:
    """Every row of a table with its `rowid`, in that order; none where there is no such table."""
    if not columns(db, table):
        return
    cursor = db.execute(f'SELECT rowid AS rowid, * FROM "{table}" ORDER BY rowid')
    for values in cursor:
        names = [str(column[0]) for column in cursor.get_description()]
        yield dict(zip(names, values, strict=True))
