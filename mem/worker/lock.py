"""Who is the worker: a lock that the kernel drops with its process, and the files that show it."""

import fcntl
import os
from contextlib import suppress

from mem import link

FINISHING = 3.0  # seconds that calls may still take when the worker ends


def take_lock(place: link.Place) -> int | None:
    """The descriptor of the lock that makes this process the worker; None if another has it."""
    while True:
        os.makedirs(place.folder, 0o700, exist_ok=True)  # noqa: PTH103
        place.check()
        try:
            descriptor = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:
            continue  # a worker that ended has just removed the folder
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same(descriptor, place.lock):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, str(os.getpid()).encode())
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        # The worker before us removed the file between our two calls.
        os.close(descriptor)


def clear(place: link.Place, lock: int) -> None:
    """Remove what shows the worker, while the lock is still held: the next one begins anew."""
    if not _is_same(lock, place.lock):
        return
    for path in (place.socket, place.lock):
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
    with suppress(OSError):
        os.rmdir(place.folder)  # noqa: PTH106


def identity(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _is_same(descriptor: int, path: str) -> bool:
    found = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == identity(path)[:2]
