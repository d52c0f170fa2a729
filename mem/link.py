"""Where the worker of a store listens, how it is started, and what passes between it and everyone else.

- Only a folder that is the user's own, is closed to others and is no symbolic link is trusted.
- A request or an answer is one frame: four bytes of length, big-endian, then fields, each of them four bytes
  of length and its bytes. A request begins with the version of `mem`, then says what it wants:

    run       environment (NAME=value, joined by NUL), `terminal` or nothing, folder, began, until, event of a
              hook, arguments…
    embed     model, until, role, texts…    gives a vector for each, as little-endian Float32
    tokens    model, until, text            gives the places where tokens begin, as native uint32
    status                                  gives names and values in turn
    stop                                    gives nothing

  `began` and `until` are instants of the clock that `time.monotonic` reads. The first field of an answer says
  what became of it: `done`, then what is given (`run`: exit status, output, error output); `failed` and why;
  `late`; `declined`, the application has to answer; or `retired`: the worker is of another version, or has
  another model than the store by now, and ends.

This is part of the thin client: it imports no more than that may.
"""

import _socket
import os
import sys
import time

from mem import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST_REQUEST = 16 << 20
LARGEST_ANSWER = 64 << 20
# Bytes of a socket's path; macOS takes 103, Linux 107.
LONGEST_ADDRESS = 100
# Seconds that a worker stays away after it could not do its work.
AWAY = 60
POLL = 0.01
# Seconds without a word of the worker after which its caller does something else meanwhile.
SILENCE = 0.1


class Place:
    """Where the worker of a store listens."""

    __slots__ = ("_base", "folder", "store")

    def __init__(self, store: str, runtime: str) -> None:
        """Both paths are absolute; two spellings of one store have one place."""
        self.store = os.path.realpath(store)
        parent, _, last = runtime.rpartition("/")
        folder = f"{os.path.realpath(parent or '/').rstrip('/')}/{last}"
        name = sha256(f"{self.store}\n{__version__}")[:16]
        if len(os.fsencode(folder)) + len(name) + len("/.sock") > LONGEST_ADDRESS:
            folder = f"/tmp/mem-{os.getuid()}-{sha256(folder)[:8]}"  # noqa: S108
        self.folder = folder
        self._base = f"{folder}/{name}"

    @property
    def socket(self) -> str:
        return self._base + ".sock"

    @property
    def lock(self) -> str:
        return self._base + ".lock"

    @property
    def marker(self) -> str:
        """The file that keeps workers away for a while; it says why."""
        return self._base + ".away"

    def check(self) -> None:
        """Raise `PermissionError` unless the folder is no link, is ours, and nobody else can enter it."""
        found = os.lstat(self.folder)
        if found.st_mode & 0o170077 != 0o040000 or found.st_uid != os.getuid():
            raise PermissionError(f"{self.folder} is not a private folder")

    def away(self) -> str:
        """Why a worker failed less than a minute ago; empty if none did."""
        try:
            descriptor = os.open(self.marker, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return ""
        try:
            fresh = -1 < time.time() - os.fstat(descriptor).st_mtime < AWAY
            return os.read(descriptor, 2000).decode(errors="replace") or "it failed" if fresh else ""
        finally:
            os.close(descriptor)

    def start(self) -> int:
        """Start a worker that outlives us, and ends by itself where another one runs; waits for nothing.

        Gives the process that detaches it, which ends at once; 0 where none could be started.
        """
        if not sys.executable or self.away():
            return 0
        previous = os.umask(0o077)
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            self.check()
        except OSError:
            return 0
        finally:
            os.umask(previous)
        # -P: the folder that we were called from must not come before the library.
        entry = os.path.join(os.path.dirname(__file__), "worker", "__main__.py")
        command = [sys.executable, "-P", entry, self.store, self.folder]
        silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        try:
            try:
                return os.posix_spawn(command[0], command, os.environ, file_actions=silent, setsid=True)
            except NotImplementedError:
                return os.posix_spawn(command[0], command, os.environ, file_actions=silent)
        except OSError:
            return 0

    def connect(self, until: float) -> _socket.socket:
        """A connection to the worker; raises `OSError`, `TimeoutError` where it takes no more calls."""
        self.check()
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.settimeout(left(until))
            connection.connect(self.socket)
        except BlockingIOError:
            connection.close()
            raise TimeoutError("the worker takes no more calls") from None
        except BaseException:
            connection.close()
            raise
        return connection

    def connect_or_start(self, until: float) -> _socket.socket:
        """A connection to the worker, started where none runs; raises `OSError` if there is none in time."""
        started = 0
        try:
            while True:
                try:
                    return self.connect(until)
                except (FileNotFoundError, ConnectionError):
                    if time.monotonic() + POLL > until or self.away():
                        raise
                    started = started or self.start()
                    if not started:
                        raise
                    time.sleep(POLL)
        finally:
            if started:
                _reap(started)


def exchange(
    connection: _socket.socket,
    request: list[bytes],
    until: float,
    meanwhile: "Callable[[], None] | None" = None,
) -> list[bytes]:
    """Send a request and give the fields of the answer; closes the connection.

    Where no answer comes at once, `meanwhile` is called. Raises `TimeoutError` when the time is over, another
    `OSError` when the worker is gone, and `ValueError` for a request that is too large or no answer at all.
    """
    frame = packed([__version__.encode(), *request])
    if len(frame) > LARGEST_REQUEST:
        raise ValueError("the request is too large")
    try:
        connection.settimeout(left(until))
        connection.sendall(frame)
        if meanwhile is not None and not _speaks(connection, min(until, time.monotonic() + SILENCE)):
            meanwhile()
        return received(connection, until, LARGEST_ANSWER)
    finally:
        connection.close()


def packed(fields: list[bytes]) -> bytes:
    """The fields as one frame."""
    content = b"".join([part for field in fields for part in (len(field).to_bytes(4, "big"), field)])
    return len(content).to_bytes(4, "big") + content


def received(connection: _socket.socket, until: float, largest: int) -> list[bytes]:
    """The fields of one frame, at least one; raises `OSError`, or `ValueError` for what is no frame."""
    size = int.from_bytes(_exactly(connection, 4, until), "big")
    if not 4 <= size <= largest:
        raise ValueError("no frame")
    content = _exactly(connection, size, until)
    fields, place = [], 0
    while place < size:
        end = place + 4 + int.from_bytes(content[place : place + 4], "big")
        if place + 4 > size or end > size:
            raise ValueError("no frame")
        fields.append(content[place + 4 : end])
        place = end
    return fields


def sha256(text: str) -> str:
    """The SHA-256 of a path in hexadecimal digits, without the weight of `hashlib`."""
    try:
        from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            from hashlib import sha256
    digest: str = sha256(os.fsencode(text)).hexdigest()
    return digest


def _reap(child: int) -> None:
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        return  # whoever started us may have had it that nobody waits for children


def _speaks(connection: _socket.socket, until: float) -> bool:
    connection.settimeout(left(until))
    try:
        connection.recv(1, _socket.MSG_PEEK)
    except TimeoutError:
        return False
    return True


def _exactly(connection: _socket.socket, size: int, until: float) -> bytes:
    parts, missing = [], size
    while missing:
        connection.settimeout(left(until))
        part = connection.recv(min(missing, 1 << 20))
        if not part:
            raise ConnectionResetError("the other side is gone")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def left(until: float) -> float:
    """The seconds left; never 0, which would mean to wait for nothing at all."""
    return max(until - time.monotonic(), 0.001)
