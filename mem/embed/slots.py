"""At most two processes hold the model at a time: forty parallel stores must not take ten gigabytes."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mem.embed.embedder import EmbeddingError

SLOTS = 2
POLL_SECONDS = 0.02


@contextmanager
def model_slot(directory: Path, timeout: float) -> Iterator[bool]:
    """Hold one of the two places for a loaded model while the block runs; yields False if none came free.

    The places are locks on two files in `directory` (the runtime directory, made with mode 0700 where it
    is missing). The kernel drops a lock with its process, however that ends. `timeout` is in seconds; 0
    tries once. Windows has no such locks: there it always yields True. Raises `EmbeddingError` when the
    directory cannot hold the files.
    """
    try:
        import fcntl  # noqa: F401
    except ImportError:
        yield True
        return
    try:
        held = _wait_for_lock(directory, time.monotonic() + timeout)
    except OSError as err:
        raise EmbeddingError(
            f"Cannot lock a place for the model in {directory}: {err.strerror}.",
            hint="Make the folder writable, or set MEM_HOME to a folder that is.",
        ) from err
    try:
        yield held is not None
    finally:
        if held is not None:
            os.close(held)


def _wait_for_lock(directory: Path, deadline: float) -> int | None:
    """The descriptor of the first lock that could be taken before the deadline."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        for number in range(SLOTS):
            held = _try_lock(directory / f"model-{number}.lock")
            if held is not None:
                return held
        if time.monotonic() >= deadline:
            return None
        time.sleep(POLL_SECONDS)


def _try_lock(path: Path) -> int | None:
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
