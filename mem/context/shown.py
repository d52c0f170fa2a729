"""What a host's session was shown: the numbers of the notes, and the block that it got last.

One small file per session in the state directory, mode 0600, replaced in one step. What cannot be read counts
as nothing shown. `save` raises `OSError`: who cannot remember what it says had better say nothing.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mem.link import sha256

MOST_IDS = 1_000
_LARGEST = 256 * 1024  # bytes
_KEPT = 30 * 24 * 3600.0  # seconds
_MOST_FILES = 2_000


@dataclass(frozen=True, slots=True)
class Shown:
    """The numbers of all notes shown, oldest first; the last block and the keys of its lines."""

    ids: tuple[int, ...] = ()
    block: str = ""
    keys: tuple[str, ...] = ()

    def with_ids(self, ids: tuple[int, ...]) -> "Shown":
        """The same with more notes shown; the oldest are forgotten where they are too many."""
        return Shown(tuple(dict.fromkeys((*self.ids, *ids)))[-MOST_IDS:], self.block, self.keys)


def place(state: Path, store: Path, client: str | None, session: str) -> Path:
    """The file of a session of a client on a store."""
    name = sha256("\n".join((str(store), client or "", session)))
    return state / "sessions" / f"{name[:32]}.json"


def load(file: Path) -> Shown:
    """What the file says; nothing shown where it says nothing sensible."""
    try:
        with file.open("rb") as opened:
            found = json.loads(opened.read(_LARGEST))
        ids, block, keys = found["ids"], found["block"], found["keys"]
        sound = isinstance(block, str) and all(isinstance(key, str) for key in keys)
        return Shown(tuple(int(number) for number in ids), block, tuple(keys)) if sound else Shown()
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Shown()


def save(file: Path, shown: Shown) -> None:
    """Replace the file; raises `OSError`."""
    for folder in (file.parent.parent, file.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = json.dumps({"ids": shown.ids, "block": shown.block, "keys": shown.keys}).encode()
    temporary = file.with_name(f"{file.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        temporary.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def forget(state: Path, numbers: Iterable[int]) -> None:
    """Take notes out of what every session was shown; a block that holds one of them goes as a whole."""
    gone = frozenset(numbers)
    keys = {f"#{number}" for number in gone}
    with contextlib.suppress(OSError):
        for file in (state / "sessions").iterdir():
            known = load(file)
            if keys.intersection(known.keys):
                known = Shown(known.ids)
            elif gone.isdisjoint(known.ids):
                continue
            save(
                file,
                Shown(tuple(number for number in known.ids if number not in gone), known.block, known.keys),
            )


def prune(state: Path) -> None:
    """Remove the files that nobody touched for a month, and the oldest where there are too many."""
    with contextlib.suppress(OSError):
        ages = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(state / "sessions")]
        oldest_kept = time.time() - _KEPT
        ages.sort(reverse=True)
        for number, (touched, path) in enumerate(ages):
            if touched < oldest_kept or number >= _MOST_FILES:
                os.unlink(path)  # noqa: PTH108
