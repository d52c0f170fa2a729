"""Files that may hold a text that was forgotten: copies of the store, exports, logs, whatever lies there.

Only what lies in the folders of `mem`, or beside the store under a name that begins as its own does, is
looked at; a link is not followed. A text counts as it is in UTF-8 or as JSON writes it.
"""

import json
import mmap
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mem.paths import Places
from mem.store import copies
from mem.store.connect import APPLICATION_ID

SHORTEST = 12  # characters of a text that is looked for; a shorter one is found everywhere
_LOGS = ("hook.log", "worker.log", "worker.log.1")
_COMPRESSED = frozenset((".gz", ".tgz", ".xz", ".bz2", ".zst", ".zip", ".7z"))
_SIDE_FILES = ("-wal", "-shm", "-journal")
_MAGIC = b"SQLite format 3\0"


def telling(texts: Iterable[str]) -> list[str]:
    """Those of some texts that can be looked for."""
    return [text for text in texts if len(text) >= SHORTEST]


def files(places: Places, store: Path) -> list[Path]:
    """Every regular file in the folders of `mem`, and beside the store; without the store itself."""
    own = {f"{store.resolve()}{end}" for end in ("", *_SIDE_FILES)}
    folders = dict.fromkeys((places.data, places.config, places.cache, places.state, places.runtime))
    found = dict.fromkeys(file for folder in folders for file in _below(folder))
    with suppress(OSError):
        found |= dict.fromkeys(file for file in store.parent.iterdir() if file.name.startswith(store.stem))
    regular = [file for file in found if file.is_file() and not file.is_symlink()]
    return [file for file in regular if str(file.resolve()) not in own]


def is_store(file: Path) -> bool:
    """Whether a file is a store of `mem`, whatever its name."""
    try:
        with file.open("rb") as opened:
            header = opened.read(100)
    except OSError:
        return False
    return header.startswith(_MAGIC) and int.from_bytes(header[68:72], "big") == APPLICATION_ID


def is_backup(file: Path) -> bool:
    """Whether a file is called as `mem` calls its backups, and what a restored one has replaced."""
    return bool(copies.BACKUP.fullmatch(file.name) or copies.ASIDE.fullmatch(file.name))


def is_export(file: Path) -> bool:
    """Whether a file begins as an export of `mem` does."""
    try:
        with file.open("rb") as opened:
            return b'"format":"mem-export"' in opened.read(200)
    except OSError:
        return False


def deleted(file: Path) -> list[str]:
    """Delete a file with what lies beside it; gives its path, or nothing where it could not be deleted."""
    try:
        file.unlink()
    except OSError:
        return []
    for end in _SIDE_FILES:
        with suppress(OSError):
            Path(f"{file}{end}").unlink()
    return [str(file)]


def holds(file: Path, needles: Collection[bytes]) -> bool:
    """Whether any of these bytes stand in a file; raises `OSError`."""
    if not needles or not file.stat().st_size:
        return False
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return any(mapped.find(needle) >= 0 for needle in needles)


def search(
    candidates: Iterable[Path],
    texts: Iterable[str],
    uids: Iterable[str],
    *,
    logs: Path,
    reasons: Iterable[str] = (),
) -> tuple[list[str], list[str]]:
    """The files that hold one of some texts, or are exports with one of some rows; those that are unreadable.

    Lines of our own logs that hold a text, or a reason, are removed instead.
    """
    needles, rows = _needles(telling(texts)), _exported(uids)
    for name in _LOGS:
        _without_lines(logs / name, needles | _needles(telling(reasons)))
    holding, unread = [], []
    for file in candidates:
        try:
            if file.suffix in _COMPRESSED:
                holding.append(f"{file} (perhaps: it is compressed)")
            elif holds(file, needles) or (is_export(file) and holds(file, rows)):
                holding.append(str(file))
        except FileNotFoundError:
            continue
        except OSError as err:
            unread.append(f"{file}: cannot be read ({err.strerror}).")
    return holding, unread


def _below(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in sorted(names))


def _needles(texts: Iterable[str]) -> set[bytes]:
    return {
        form.encode()
        for text in texts
        for form in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    }


def _exported(uids: Iterable[str]) -> set[bytes]:
    """How the records of rows begin in an export, which holds them however short their texts are."""
    return {f'"record":"{kind}","uid":"{uid}"'.encode() for uid in uids for kind in ("memory", "entity")}


def _without_lines(log: Path, needles: Collection[bytes]) -> None:
    """Remove the lines of a log that hold one of some bytes."""
    with suppress(OSError):
        lines = log.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not any(needle in line for needle in needles)]
        if kept != lines:
            log.write_bytes(b"".join(kept))
