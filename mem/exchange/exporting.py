"""The export: one snapshot of the store, written a record at a time, whole or not at all.

A file is written under a temporary name beside its target, mode 0600 from its first byte, and renamed when
all of it is on the disk; what was there before is then replaced. The header comes first and holds the digest
of all that follows, so records wait in an unnamed temporary file, of which a few megabytes stay in memory.
Readers and writers of the store go on meanwhile, and an export leaves no event.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO

import apsw

from mem import clock
from mem.document import encode as encode_document
from mem.document import write_all
from mem.errors import MemError, Refused, Usage
from mem.exchange import markdown
from mem.records.format import FORMAT, HEADER, VERSION, Header, Tally, line
from mem.results import Exported
from mem.store import carried
from mem.store.connect import Store
from mem.store.selection import Selection
from mem.values import ExportFormat

_IN_MEMORY = 4 * 1024 * 1024  # bytes of records that wait for their header outside any file
_BLOCK = 1024 * 1024  # bytes
_DATABASE = b"SQLite format 3\x00"
_FORMAT = f'"format":"{FORMAT}"'
_EXPORTS = (f'{{"record":"{HEADER}",{_FORMAT}'.encode(), f"{{{_FORMAT}".encode(), markdown.OPENING)
STDOUT = "-"


def records(db: apsw.Connection, selection: Selection) -> Iterator[dict[str, Any]]:
    """The records that a selection takes, in the order of the format."""
    return carried.records(db, selection)


def digest(db: apsw.Connection, selection: Selection | None = None) -> str:
    """The digest of all that an export would hold: the same for stores that hold the same."""
    return tally(db, selection).digest


def tally(db: apsw.Connection, selection: Selection | None = None) -> Tally:
    """The digest and the counts of what an export would hold."""
    found = Tally()
    for record in carried.records(db, selection or Selection()):
        found.add(record["record"], line(record))
    return found


def export(
    store: Store, selection: Selection, format_: ExportFormat, target: Path, *, careful: bool = False
) -> Exported:
    """Write an export to a file, in the place of what it held; raises `Usage` where that cannot be meant.

    Who is `careful` replaces nothing but an earlier export; raises `Refused`.
    """
    place = _place(target, store.path)
    if careful and place.exists() and place.stat().st_size and not _begins(place, *_EXPORTS):
        raise Refused(
            f"{target} is no export, and only a person replaces such a file.", hint="Name another file."
        )
    temporary = place.parent / f".mem-{os.getpid()}-{os.urandom(6).hex()}.new"
    try:
        with _writing(target):
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            exported = write(store, selection, format_, file, name=str(target), beside=place.parent)
            with _writing(target):
                file.flush()
                os.fsync(file.fileno())
        with _writing(target):
            temporary.replace(place)
            _keep_name(place.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return exported


def write(
    store: Store,
    selection: Selection,
    format_: ExportFormat,
    out: BinaryIO,
    *,
    name: str = STDOUT,
    beside: Path | None = None,
) -> Exported:
    """Write an export to a stream; `beside` is the folder for what does not fit into memory."""
    written = _Written(format_, selection, clock.to_text(clock.now()))
    with SpooledTemporaryFile(_IN_MEMORY, dir=None if beside is None else str(beside)) as spool:
        with store.read() as db:
            for part in written.lines(db):
                with _writing(name):
                    spool.write(part)
        with _writing(name):
            size = sum(write_all(out, part) for part in written.parts(spool))
    return Exported(name, format_, written.counts, size, written.digest, selection.filters)


@dataclass(slots=True)
class _Written:
    """An export on its way: its lines, and what stands before, between and after them."""

    format: ExportFormat
    selection: Selection
    at: str
    _tally: Tally = field(default_factory=Tally)
    _told: Counter[str] = field(default_factory=Counter)

    @property
    def counts(self) -> Mapping[str, int]:
        return dict(self._told) if self.format is ExportFormat.MARKDOWN else self._tally.counts

    @property
    def digest(self) -> str | None:
        return None if self.format is ExportFormat.MARKDOWN else self._tally.digest

    def lines(self, db: apsw.Connection) -> Iterator[bytes]:
        """All but the header; JSON has the lines of JSON Lines until they are put together."""
        if self.format is ExportFormat.MARKDOWN:
            yield from markdown.lines(db, self.selection, self._told, at=self.at)
            return
        for record in carried.records(db, self.selection):
            written = line(record)
            self._tally.add(record["record"], written)
            yield written

    def parts(self, spool: IO[bytes]) -> Iterator[bytes]:
        """The whole export, once all lines wait in the spool."""
        spool.seek(0)
        blocks = iter(lambda: spool.read(_BLOCK), b"")
        filters = self.selection.filters
        said = Header(VERSION, self.at, self.counts, self._tally.digest, filters).record()
        match self.format:
            case ExportFormat.JSONL:
                yield line(said)
                yield from blocks
            case ExportFormat.MARKDOWN:
                yield markdown.heading(self.at, self.counts, filters)
                yield from blocks
            case ExportFormat.JSON:
                del said["record"]
                yield encode_document(said).removesuffix(b"}\n") + b',"records":['
                for number, one in enumerate(spool):
                    yield (b",\n" if number else b"\n") + one.removesuffix(b"\n")
                yield b"\n]}\n"


def _place(target: Path, store: Path) -> Path:
    """Where the file comes to lie: what a link leads to. Raises `Usage` for what must not be replaced."""
    try:
        place = target.resolve()
        mode = place.stat().st_mode if place.exists() else None
        parent = place.parent.is_dir()
    except (OSError, RuntimeError, ValueError) as err:
        raise Usage(f"Cannot export to {target}: {err}.", hint="Name a file in a folder of yours.") from err
    if not parent:
        raise Usage(f"There is no folder {place.parent}.", hint="Make it first, or name another file.")
    if mode is None:
        return place
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise Usage(f"{target} is {what}.", hint="Name a file, or - for standard output.")
    if (store.exists() and place.samefile(store)) or _begins(place, _DATABASE):
        raise Usage(f"{target} is a database, which an export never replaces.", hint="Name another file.")
    return place


def _begins(place: Path, *marks: bytes) -> bool:
    try:
        with place.open("rb") as file:
            return file.read(max(map(len, marks))).startswith(marks)
    except OSError:
        return False  # what cannot be read can be replaced all the same


def _keep_name(folder: Path) -> None:
    """Put the new name of a file on the disk too, where a system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _writing(target: Path | str) -> Iterator[None]:
    """A full disk, a folder that is read-only and the like, as an error of ours; a closed pipe as it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as err:
        name = "standard output" if target == STDOUT else str(target)
        raise MemError(
            f"Cannot write {name}: {err.strerror}.",
            hint="Nothing was replaced. Name another place, or make room.",
        ) from err
