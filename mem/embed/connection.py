"""Kept connections to one HTTP service: each exchange ends by its deadline, whatever the other side does.

A request leaves in one write on a socket without Nagle's algorithm: in two, the second waits 40 ms for the
acknowledgement of the first. Certificates are verified, redirects are not followed, answers have a limit.
Connections that the other side has closed are noticed by using them, and replaced.
"""

from __future__ import annotations

import io
import socket
import threading
import time
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import SplitResult

from mem.embed.patience import within

if TYPE_CHECKING:
    import ssl

IDLE = 50.0  # seconds after which a connection is not used again; most services keep theirs for a minute


class Answer(NamedTuple):
    """What the service said."""

    status: int
    headers: dict[str, str]
    body: bytes


class TooLarge(HTTPException):
    """The answer has more bytes than one that makes sense."""


class Kept(NamedTuple):
    """A connection that is free, and since when."""

    socket: socket.socket
    since: float


class Connections:
    """Connections to the host of an address; safe for any number of threads, one connection for each."""

    def __init__(self, address: SplitResult) -> None:
        self._host = address.hostname or ""
        self._secure = address.scheme == "https"
        self._port = address.port or (443 if self._secure else 80)
        self._free: list[Kept] = []
        self._guard = threading.Lock()
        self._context: ssl.SSLContext | None = None

    def exchange(self, request: bytes, *, until: float, most: int) -> Answer:
        """Send a request that does no harm twice; the answer has at most `most` bytes.

        `until` is an instant of the monotonic clock. Raises `OSError`, `HTTPException`, `EmbeddingTimeout`.
        """
        kept = self._take()
        if kept is not None:
            try:
                return self._ask(kept, request, until, most)
            except ConnectionError:
                pass  # it was closed while nobody used it
        return self._ask(self._connected(until), request, until, most)

    def _take(self) -> socket.socket | None:
        with self._guard:
            while self._free:
                kept = self._free.pop()
                if time.monotonic() - kept.since < IDLE:
                    return kept.socket
                kept.socket.close()
        return None

    def _ask(self, connection: socket.socket, request: bytes, until: float, most: int) -> Answer:
        keep = False
        try:
            connection.settimeout(_left(until))
            connection.sendall(request)
            with HTTPResponse(_Reading(connection, until), method="POST") as response:  # type: ignore[arg-type]
                response.begin()
                body = response.read(most + 1)
                if len(body) > most:
                    raise TooLarge(f"an answer of more than {most:,} bytes")
                if response.length:
                    raise IncompleteRead(body, response.length)
                headers = {name.lower(): value for name, value in response.getheaders()}
                keep = not response.will_close
            return Answer(response.status, headers, body)
        finally:
            if keep:
                with self._guard:
                    self._free.append(Kept(connection, time.monotonic()))
            else:
                connection.close()

    def _connected(self, until: float) -> socket.socket:
        left = _left(until)
        # Nothing else bounds the look-up of a name.
        return within(left, lambda: self._connect(left))

    def _connect(self, timeout: float) -> socket.socket:
        connection = socket.create_connection((self._host, self._port), timeout=timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self._secure:
            return connection
        try:
            return self._verifying().wrap_socket(connection, server_hostname=self._host)
        except BaseException:
            connection.close()
            raise

    def _verifying(self) -> ssl.SSLContext:
        import ssl

        with self._guard:
            if self._context is None:
                self._context = ssl.create_default_context()
            return self._context


class _Readable(Protocol):
    """A socket, plain or encrypted."""

    def settimeout(self, value: float | None, /) -> None: ...

    def recv_into(self, buffer: memoryview, /) -> int: ...


class _Reading(io.RawIOBase):
    """A socket's bytes until a deadline: one that sends them drop by drop gains nothing by it."""

    def __init__(self, connection: _Readable, until: float) -> None:
        super().__init__()
        self._connection = connection
        self._until = until

    def makefile(self, mode: str) -> io.BufferedReader:
        """What `HTTPResponse` asks a socket for."""
        return io.BufferedReader(self, 1 << 16)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._connection.settimeout(_left(self._until))
        return self._connection.recv_into(buffer)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("no answer in time")
    return left
