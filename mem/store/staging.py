"""A private temporary file in which an import keeps its checked records until all of them are known.

Records come out in the order of their kinds, within a kind in that of the source, however large it is: memory
holds one at a time. The file goes when the import ends; what a killed one left, the next one removes.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import apsw

from mem.errors import StoreUnusable
from mem.store.copies import lives

CACHE_KIB = 8_000
PREFIX = "mem-import-"
_LEFT = re.compile(rf"{PREFIX}(\d+)-\w+")


@dataclass(frozen=True, slots=True)
class Staged:
    """A record that waits: `rank` is the place of its kind, `number` its own in the source.

    `raw` is the record as it came, kept where it may have to be checked again; `notices` are JSON.
    """

    rank: int
    number: int
    key: str
    place: str
    line: int | None
    body: bytes
    notices: bytes | None = None
    raw: bytes | None = None


class Staging:
    """The records of one import; a context, at whose end they are gone."""

    def __enter__(self) -> "Staging":
        try:
            _clear_left()
            self._folder = tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-")
            with self._translated():
                self._db = apsw.Connection(str(self.folder / "records.db"))
                self._prepare()
        except OSError as err:
            raise StoreUnusable(
                f"No temporary file can be made: {err.strerror}.", hint="Set TMPDIR to a folder with room."
            ) from err
        return self

    def __exit__(self, kind: type[BaseException] | None, err: object, trace: TracebackType | None) -> None:
        self._db.close()
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """A folder that only this user can read, for what else the import has to keep."""
        return Path(self._folder.name)

    def add(self, record: Staged, needs: Sequence[str] = ()) -> Staged | None:
        """Keep a record and what it refers to; gives the one that has its key already, if there is one."""
        with self._translated():
            self._db.execute(
                "INSERT OR IGNORE INTO staged VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    record.rank,
                    record.number,
                    record.key,
                    record.place,
                    record.line,
                    record.body,
                    record.notices,
                    record.raw,
                ),
            )
            if not self._db.changes():
                return self._known(record)
            for name in needs:
                self._db.execute("INSERT INTO needs VALUES (?, ?, ?)", (record.rank, record.number, name))
        return None

    def replace(self, record: Staged) -> None:
        """Put a record in the place of the one with its number."""
        with self._translated():
            self._db.execute(
                "UPDATE staged SET body = ?, notices = ?, raw = NULL WHERE rank = ? AND number = ?",
                (record.body, record.notices, record.rank, record.number),
            )

    def discard(self, rank: int, number: int) -> None:
        """Forget a record."""
        with self._translated():
            self._db.execute("DELETE FROM staged WHERE rank = ? AND number = ?", (rank, number))

    def records(self) -> Iterator[Staged]:
        """Every record, in the order in which they are to be written."""
        yield from self._staged("SELECT * FROM staged ORDER BY rank, number")

    def doubtful(self) -> Iterator[Staged]:
        """The records that may have to be checked again."""
        yield from self._staged("SELECT * FROM staged WHERE raw IS NOT NULL ORDER BY rank, number")

    def dangling(self, rank: int) -> Iterator[tuple[Staged, str]]:
        """The records that refer to one of a kind which is not among them, each with what it refers to."""
        found = self._db.execute(
            """SELECT s.*, n.name FROM needs n JOIN staged s ON s.rank = n.rank AND s.number = n.number
               WHERE NOT EXISTS (SELECT 1 FROM staged e WHERE e.rank = ? AND e.key = n.name)
               ORDER BY s.rank, s.number""",
            (rank,),
        )
        for row in found:
            columns: tuple[Any, ...] = tuple(row)
            yield Staged(*columns[:-1]), columns[-1]

    def _staged(self, sql: str) -> Iterator[Staged]:
        with self._translated():
            for row in self._db.execute(sql):
                yield Staged(*row)

    def _known(self, record: Staged) -> Staged:
        [row] = self._db.execute("SELECT * FROM staged WHERE rank = ? AND key = ?", (record.rank, record.key))
        return Staged(*row)

    def _prepare(self) -> None:
        db = self._db
        for name, value in (("journal_mode", "off"), ("synchronous", "off"), ("locking_mode", "exclusive")):
            db.pragma(name, value)
        db.pragma("cache_size", -CACHE_KIB)
        db.execute(
            """CREATE TABLE staged (
                 rank INTEGER, number INTEGER, key TEXT, place TEXT, line INTEGER, body BLOB, notices BLOB,
                 raw BLOB, PRIMARY KEY (rank, number)) WITHOUT ROWID;
               CREATE UNIQUE INDEX staged_key ON staged (rank, key);
               CREATE TABLE needs (rank INTEGER, number INTEGER, name TEXT);
               BEGIN"""
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (apsw.FullError, apsw.IOError, apsw.CantOpenError) as err:
            raise StoreUnusable(
                f"The temporary file {self.folder} cannot be written ({err}); nothing was imported from it.",
                hint="Free some space, or set TMPDIR to a folder with room.",
            ) from err


def _clear_left() -> None:
    """Remove the folders of imports that were killed."""
    if os.name != "posix":
        return
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            left = _LEFT.fullmatch(folder.name)
            if left and folder.lstat().st_uid == os.getuid() and not lives(int(left[1])):
                shutil.rmtree(folder, ignore_errors=True)
