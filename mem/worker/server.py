"""The worker's threads: who calls is heard at once, and no question waits behind a writer's texts.

The threads live as long as the worker, because SQLite wants a connection for each. A connection carries one
request. A client that says nothing, or is gone before its answer, costs a thread a few seconds at most.
"""

import os
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Protocol

from mem import __version__, link
from mem.worker.answers import Answers, answered
from mem.worker.counts import Count, Counts

READERS = 4
WRITERS = 2  # threads for the texts of writers, beside those that answer
PATIENCE = 5.0  # seconds that a client may take to say what it wants, or to take its answer
LONGEST_PAUSE = 10.0  # seconds between two looks at whether the worker is still wanted

Request = tuple[socket.socket, list[bytes]]


class Purpose(Protocol):
    """Whether there is still a reason to be here."""

    def is_current(self) -> bool:
        """Whether a call may still be answered."""

    def left(self, idle: float) -> float:
        """The seconds that are left after so many idle ones; 0 or less ends the worker."""


class Server:
    """Accepts connections until `leave` is called or nobody needs it any more."""

    def __init__(self, listening: socket.socket, counts: Counts, purpose: Purpose) -> None:
        self._listening = listening
        self._counts = counts
        self._purpose = purpose
        self._answers: Answers | None = None
        self._began = self._active = time.monotonic()
        self._open = 0
        self._guard = threading.Lock()
        self._incoming: SimpleQueue[socket.socket] = SimpleQueue()
        self._texts: SimpleQueue[Request] = SimpleQueue()
        self._wake, self._waking = os.pipe()
        os.set_blocking(self._waking, False)

    def leave(self) -> None:
        """End as soon as what is running is done; may be called from any thread and from a signal handler."""
        with suppress(BlockingIOError):  # it has been told often enough
            os.write(self._waking, b".")

    def serve(self, answers: Answers) -> None:
        """Answer until it is time to leave, then what has come in by then."""
        self._answers = answers
        for number in range(READERS):
            threading.Thread(target=self._hear, name=f"read-{number}", daemon=True).start()
        for number in range(WRITERS):
            threading.Thread(target=self._embed, name=f"write-{number}", daemon=True).start()
        while True:
            left = self._purpose.left(self._idle())
            if left <= 0:
                return
            watched = (self._listening.fileno(), self._wake)
            ready, _, _ = select.select(watched, (), (), min(left, LONGEST_PAUSE))
            if self._wake in ready:
                return
            if ready:
                self._accept()

    def finish(self, seconds: float) -> bool:
        """Take no more calls, and end those that came in; whether all did within so many seconds."""
        self._listening.setblocking(False)
        while self._accept():
            pass
        self._listening.close()
        until = time.monotonic() + seconds
        while self._open and time.monotonic() < until:
            time.sleep(0.01)
        return not self._open

    def _accept(self) -> bool:
        try:
            connection, _ = self._listening.accept()
        except OSError:
            return False
        with self._guard:
            self._open += 1
        self._incoming.put(connection)
        return True

    def _idle(self) -> float:
        with self._guard:
            return 0.0 if self._open else time.monotonic() - self._active

    def _hear(self) -> None:
        while True:
            connection = self._incoming.get()
            try:
                connection.settimeout(PATIENCE)
                request = link.received(connection, time.monotonic() + PATIENCE, link.LARGEST_REQUEST)
            except (OSError, ValueError):
                self._close(connection)
                continue
            if request[1:2] == [b"embed"] and request[4:5] == [b"passage"]:
                self._texts.put((connection, request))
            else:
                self._answer(connection, request)

    def _embed(self) -> None:
        while True:
            self._answer(*self._texts.get())

    def _answer(self, connection: socket.socket, request: list[bytes]) -> None:
        later: list[Callable[[], None]] = []
        useful = True
        try:
            connection.settimeout(PATIENCE)
            reply = self._reply(request, later)
            useful = reply[0] != b"declined"
            connection.sendall(link.packed(reply))
        except OSError:
            later = []  # nobody has seen the answer, so nothing in it was used
        finally:
            connection.close()
        try:
            for work in later:
                work()
        except Exception:
            self._counts.add(Count.FAILURES)
        finally:
            self._close(connection, useful=useful)

    def _reply(self, request: list[bytes], later: list[Callable[[], None]]) -> list[bytes]:
        version, kind, *fields = [*request, b""][: max(len(request), 2)]
        if version != __version__.encode() or (kind == b"run" and not self._purpose.is_current()):
            self.leave()
            return [b"retired"]
        answers = self._answers
        if answers is None:
            return [b"declined"]
        match kind:
            case b"stop":
                self.leave()
                return [b"done"]
            case b"status":
                return [b"done", *self._status(answers)]
            case _:
                self._counts.add(Count.CALLS)
                reply = answered(answers, kind, fields, later)
                if reply[0] == b"failed":
                    self._counts.add(Count.FAILURES)
                if reply[0] == b"retired":
                    self.leave()
                return reply

    def _status(self, answers: Answers) -> list[bytes]:
        now = time.monotonic()
        told: dict[str, object] = {
            "pid": os.getpid(),
            "version": __version__,
            "uptime_seconds": int(now - self._began),
            **answers.state,
            **self._counts.read(),
        }
        return [part.encode() for name, value in told.items() for part in (name, str(value))]

    def _close(self, connection: socket.socket, *, useful: bool = False) -> None:
        """Forget a connection; a worker that only ever declines is idle."""
        connection.close()
        with self._guard:
            self._open -= 1
            if useful:
                self._active = time.monotonic()
