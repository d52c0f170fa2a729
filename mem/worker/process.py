"""The life of the worker: one for each store, from the lock on its file to the last trace of it.

A lock that the kernel drops with the process decides who is the worker; the socket file alone says nothing,
because a process that was killed leaves it behind. A worker that cannot do its work says so in the log, once,
and leaves a mark beside the socket that keeps others from trying again for a minute.
"""

import logging
import os
import signal
import socket
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import NoReturn

from mem import config, link
from mem.errors import MemError
from mem.paths import places, private_folder
from mem.worker.counts import Counts
from mem.worker.lock import FINISHING, clear, identity, take_lock

BACKLOG = 64
LOG_BYTES = 64 * 1024
# Seconds that a worker stays for the one who started it, however short its idle time is.
SHORTEST_STAY = 2.0

# Holds the version, so that no upgrade leaves it as it is.
CODE = str(Path(link.__file__).with_name("__init__.py"))

log = logging.getLogger("mem.worker")


def run(store: str, runtime: str | None) -> NoReturn:
    """Be the worker of a store until nobody needs it; ends the process."""
    place = link.Place(store, runtime or str(places().runtime))
    lock = take_lock(place)
    if lock is None:
        os._exit(0)
    try:
        _log_to_file()
        _work(place, lock)
    except Exception as err:
        stay_away(place, _reason(err))
    finally:
        clear(place, lock)
        os._exit(0)


def stay_away(place: link.Place, reason: str) -> None:
    """Keep workers from being started for a while, and log why, unless that was the reason the last time."""
    marker = Path(place.marker)
    with suppress(OSError):
        known = marker.read_text(encoding="utf-8", errors="replace") if marker.is_file() else None
        if known != reason:
            log.error("%s", reason)
        marker.unlink(missing_ok=True)
        descriptor = os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(reason)


def _work(place: link.Place, lock: int) -> None:
    if not config.value("worker"):
        raise MemError("the configuration wants no worker")
    counts = Counts()
    wanted = Wanted(place)
    try:
        listening = _listen(place)
    except OSError:
        return  # as in some sandboxes, whose callers load the model themselves; others may fare better
    from mem.worker.server import Server

    server = Server(listening, counts, wanted)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.leave())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    from mem.worker.answers import Answers

    def loaded(failure: str) -> None:
        if failure:
            stay_away(place, failure)
            server.leave()
        else:
            Path(place.marker).unlink(missing_ok=True)

    answers = Answers(Path(place.store), counts, loaded)
    wanted.note_store()
    server.serve(answers)
    clear(place, lock)
    if server.finish(FINISHING):
        answers.close()


class Wanted:
    """Whether a worker is still needed: its time, its files, and the configuration."""

    def __init__(self, place: link.Place) -> None:
        self._place = place
        self._code = identity(CODE)
        self._store: tuple[int, ...] | None = None
        self._socket: tuple[int, ...] | None = None

    def note_store(self) -> None:
        """From now on the store and the socket are to be the files that they are now."""
        self._store = identity(self._place.store)[:2]
        self._socket = identity(self._place.socket)

    def is_current(self) -> bool:
        """Whether its files are still those that it began with.

        A new `mem` in the place of the old one must not be mixed with it, a store that was moved away must
        not be served, and without its socket nobody can reach the worker.
        """
        return (
            identity(CODE) == self._code
            and identity(self._place.store)[:2] == self._store
            and identity(self._place.socket) == self._socket
        )

    def left(self, idle: float) -> float:
        """The seconds that the worker may stay idle; 0 where its time is over or nobody wants it."""
        if not self.is_current():
            return 0.0
        try:
            if not config.value("worker"):
                return 0.0
            minutes: int = config.value("worker.idle-minutes")
        except MemError:
            minutes = config.SETTINGS["worker.idle-minutes"].default
        return max(60.0 * minutes, SHORTEST_STAY) - idle


def _listen(place: link.Place) -> socket.socket:
    with suppress(FileNotFoundError):
        os.unlink(place.socket)  # noqa: PTH108
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    previous = os.umask(0o177)
    try:
        listening.bind(place.socket)
    finally:
        os.umask(previous)
    listening.listen(BACKLOG)
    return listening


def _log_to_file() -> None:
    with suppress(MemError, OSError):
        handler = RotatingFileHandler(
            private_folder(places().state) / "worker.log",
            maxBytes=LOG_BYTES,
            backupCount=1,
            delay=True,
            encoding="utf-8",
        )
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logging.getLogger("mem").addHandler(handler)
    logging.raiseExceptions = False


def _reason(err: Exception) -> str:
    hint = err.hint if isinstance(err, MemError) else ""
    return f"{err or type(err).__name__} {hint}".strip()
