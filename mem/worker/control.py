"""Asking the worker how it is, and ending it: also one that hangs, or was stopped."""

import fcntl
import os
import signal
import time
from contextlib import suppress

from mem import link
from mem.results import WorkerState, WorkerStatus
from mem.worker.counts import Count
from mem.worker.lock import FINISHING, clear, take_lock

PATIENCE = 1.0  # seconds for an answer
ENDING = FINISHING + 1.0  # seconds for it to be gone


def status(place: link.Place) -> WorkerStatus:
    """The worker as it describes itself, or that there is none or that it does not answer."""
    try:
        told = _ask(place, b"status")
    except TimeoutError:
        return WorkerStatus(WorkerState.NOT_ANSWERING, place.store, pid=holder(place))
    except (OSError, ValueError):
        return WorkerStatus(WorkerState.NOT_RUNNING, place.store, away=place.away() or None)
    facts = dict(zip(told[::2], told[1::2], strict=True))
    return WorkerStatus(
        WorkerState.RUNNING,
        facts["store"],
        pid=int(facts["pid"]),
        version=facts["version"],
        model=facts["model"],
        model_state=facts["model_state"],
        uptime_seconds=int(facts["uptime_seconds"]),
        counts={name.value: int(facts[name]) for name in Count},
    )


def stop(place: link.Place) -> WorkerStatus:
    """End the worker, politely if it listens; a new one may be started at once, whatever failed before."""
    with suppress(OSError):
        os.unlink(place.marker)  # noqa: PTH108
    pid = holder(place)
    with suppress(OSError, ValueError):
        _ask(place, b"stop")
        _wait(place)
    if pid is not None and holder(place) == pid:
        os.kill(pid, signal.SIGKILL)
        _wait(place)
    # One that was killed leaves its files.
    lock = take_lock(place) if os.path.exists(place.lock) else None  # noqa: PTH110
    if lock is not None:
        clear(place, lock)
        os.close(lock)
    with suppress(OSError):
        os.rmdir(place.folder)  # noqa: PTH106
    state = WorkerState.NOT_RUNNING if pid is None else WorkerState.STOPPED
    return WorkerStatus(state, place.store, pid=pid)


def holder(place: link.Place) -> int | None:
    """The process that holds the worker's lock; the kernel gives it back however that process ends."""
    try:
        descriptor = os.open(place.lock, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.read(descriptor, 20) or b"0") or None
    finally:
        os.close(descriptor)
    return None


def _ask(place: link.Place, what: bytes) -> list[str]:
    until = time.monotonic() + PATIENCE
    answer = link.exchange(place.connect(until), [what], until)
    if answer[0] != b"done":
        raise ConnectionError("it is just beginning, or ends")
    return [part.decode() for part in answer[1:]]


def _wait(place: link.Place) -> None:
    until = time.monotonic() + ENDING
    while holder(place) is not None and time.monotonic() < until:
        time.sleep(link.POLL)
