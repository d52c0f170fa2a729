"""Work on a store that only one process does at a time: a lock that the kernel drops with its process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mem.store.connect import translated


@contextmanager
def alone(store: Path, work: str) -> Iterator[bool]:
    """Whether nobody else does this work on the store while the block runs; nobody is waited for."""
    path = store.with_name(f"{store.name}.{work}.lock")
    with translated(store):
        descriptor = _taken(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            # Still held, so that nobody takes the file that is about to go. Windows removes no open file.
            with suppress(OSError):
                path.unlink()
            os.close(descriptor)


def _taken(path: Path) -> int | None:
    """The descriptor of the lock; None if another process has it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _locked(descriptor):
            os.close(descriptor)
            return None
        if _is_same(descriptor, path):
            return descriptor
        os.close(descriptor)  # whoever had it before removed the file between our two calls


def _locked(descriptor: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
