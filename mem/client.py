"""The thin client: hands `mem context` and `mem recall` to the warm worker and prints what comes back.

Promises:
- It and `mem.link` import `sys`, `os`, `_socket`, one module for SHA-256, and what is loaded anyway.
- It takes a command line only if nothing in it has to be understood: help, another store, a text from
  standard input and relative paths go to the application, as does whatever the worker declines.
"""

import os
import sys
import time

from mem.link import LARGEST_REQUEST, Place, exchange, left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

BEGAN = time.monotonic()  # where the process begins, as near as it can be told
# Seconds that a call without a deadline waits for a worker that starts, and for one that runs.
STARTING = 2.0
ANSWERING = 4.0
# Seconds of a deadline that are kept for an answer without the worker.
RESERVE = 0.15
# Seconds for the answer to a hook, where no setting says otherwise.
HOOK_DEADLINE = 0.8
# Seconds without a byte after which a hook's event that looks whole is taken as whole.
PAUSE = 0.1

_COMMANDS = ("context", "recall")
_NOT_OURS = ("--db", "--help", "--version")
_ENVIRONMENT = (
    *(b"MEM_", b"CLAUDE", b"CURSOR_", b"GEMINI_", b"CODEX_", b"PLUGIN_ROOT=", b"XDG_"),
    *(b"HOME=", b"TMPDIR=", b"TZ=", b"EMBEDDING_"),
)
# What decides how an answer looks on a terminal.
_LOOKS = (b"TERM=", b"COLORTERM=", b"NO_COLOR=", b"FORCE_COLOR=", b"COLUMNS=", b"LINES=", b"TTY_")


class Unanswered:
    """A call that the application has to answer.

    `stdin` is what was read of its input already; it has `waited` for the worker in vain, or never waits.
    """

    __slots__ = ("_missing", "stdin", "waited")

    def __init__(self, stdin: bytes | None, *, waited: bool, missing: Place | None) -> None:
        self.stdin = stdin
        self.waited = waited
        self._missing = missing

    def finish(self) -> None:
        """After the answer, start the worker that was missing, for the next call."""
        if self._missing is not None:
            self._missing.start()


def answer(arguments: list[str]) -> Unanswered | None:
    """Let the worker answer a command line, print that, and leave the process.

    Comes back only where the application has to answer: with what it must know, or None if nothing happened.
    """
    taken = _taken(arguments) if os.name == "posix" else None
    found = _place() if taken else None
    if taken is None or found is None:
        return None
    try:
        folder = os.fsencode(os.getcwd())
    except OSError:
        return None
    hook, deadline = taken
    place, usual = found
    deadline = deadline or (usual if hook else 0.0)
    stdin = _event(BEGAN + deadline) if hook else None
    until = BEGAN + (max(deadline - RESERVE, 0.0) if deadline else ANSWERING)
    try:
        connection = place.connect(until) if hook else place.connect_or_start(min(until, BEGAN + STARTING))
    except (FileNotFoundError, ConnectionError):
        return Unanswered(stdin, waited=True, missing=place if hook else None)
    except OSError as err:
        return Unanswered(stdin, waited=hook or isinstance(err, TimeoutError), missing=None)
    terminal = not hook and os.isatty(1)
    request = [b"run", _environment(terminal), b"terminal" if terminal else b"", folder]
    request += [b"%r" % BEGAN, b"%r" % until, stdin or b"", *map(os.fsencode, arguments)]
    try:
        reply = exchange(connection, request, until, _expect_hook if hook else _expect_app)
    except (OSError, ValueError) as err:
        return Unanswered(stdin, waited=hook or isinstance(err, TimeoutError), missing=None)
    if reply[0] == b"done":
        _leave(int(reply[1]), reply[2], reply[3])
    return Unanswered(stdin, waited=hook, missing=place if hook and reply[0] == b"retired" else None)


def paths(variables: "Mapping[str, str]") -> tuple[str, str, str] | None:
    """Store, runtime folder and configuration, as `mem.paths` finds them; None where that takes more."""
    home, moved, db = (variables.get(name) or "" for name in ("HOME", "MEM_HOME", "MEM_DB"))
    moved, db = (home + path[1:] if path.startswith("~/") else path for path in (moved, db))
    if not all(path.startswith("/") for path in (home, moved or "/", db or "/")):
        return None
    if moved:
        data, configuration, runtime = moved, moved, moved + "/run"
    elif sys.platform == "darwin":
        data = configuration = home + "/Library/Application Support/mem"
        runtime = _temporary(variables)
    else:
        data = _xdg(variables, "XDG_DATA_HOME", home + "/.local/share")
        configuration = _xdg(variables, "XDG_CONFIG_HOME", home + "/.config")
        runtime = _linux_runtime(variables)
    return db or data + "/memory.db", runtime, configuration + "/config.toml"


def _linux_runtime(variables: "Mapping[str, str]") -> str:
    base = variables.get("XDG_RUNTIME_DIR", "")
    try:
        if base.startswith("/") and os.stat(base).st_uid == os.getuid():
            return base + "/mem"
    except OSError:
        pass
    return _temporary(variables)


def _temporary(variables: "Mapping[str, str]") -> str:
    base = variables.get("TMPDIR", "")
    return f"{base if base.startswith('/') and os.path.isdir(base) else '/tmp'}/mem-{os.getuid()}"  # noqa: S108


def _xdg(variables: "Mapping[str, str]", name: str, fallback: str) -> str:
    base = variables.get(name, "")
    return (base if base.startswith("/") else fallback) + "/mem"


def _expect_app() -> None:
    """Import what answers without the worker, while it may still answer."""
    import mem.cli.app
    import mem.service  # noqa: F401


def _expect_hook() -> None:
    import mem.cli.hook  # noqa: F401


def _place() -> tuple[Place, float] | None:
    """Where the worker is that the environment asks for, and the deadline of its hooks, in seconds.

    None where no worker may be wanted: the application will tell.
    """
    if os.environ.get("MEM_WORKER", "").casefold() not in ("", "on", "true", "yes", "1"):
        return None
    found = paths(os.environ)
    lines = None if found is None else _settings(found[2])
    if found is None or lines is None:
        return None
    deadline = os.environ.get("MEM_HOOK_DEADLINE_MS", "")
    for line in lines:
        if "worker" in line and "idle" not in line:
            return None
        if "deadline-ms" in line and not deadline:
            deadline = line.partition("=")[2].partition("#")[0].strip()
    seconds = int(deadline) / 1000 if deadline.isascii() and deadline.isdigit() else HOOK_DEADLINE
    return Place(found[0], found[1]), seconds


def _settings(configuration: str) -> list[str] | None:
    """The lines of the configuration that set something, none without a file; None if it cannot be read."""
    try:
        descriptor = os.open(configuration, os.O_RDONLY)
    except FileNotFoundError:
        return []
    except OSError:
        return None
    try:
        content = os.read(descriptor, 1 << 16).decode(errors="replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return [line for line in content.splitlines() if "=" in line and line.lstrip()[:1] not in ("[", "#")]


def _taken(arguments: list[str]) -> tuple[bool, float] | None:
    """Whether a command line is a hook's, and its deadline in seconds or 0; None for one not for us."""
    if not arguments or arguments[0] not in _COMMANDS or "-" in arguments:
        return None
    own = arguments[1 : arguments.index("--") if "--" in arguments else None]
    hook = arguments[0] == "context" and "--hook" in own
    if None in (sys.stdout, sys.stderr, sys.stdin if hook else sys.stdout):
        return None
    deadline = 0.0
    for number, word in enumerate(own):
        name, given, value = word.partition("=")
        if word[:1] == "-" and (word[:2] != "--" or name in _NOT_OURS):
            return None
        if name == "--deadline-ms":
            value = value if given else "".join(own[number + 1 : number + 2])
            if not (value.isascii() and value.isdigit() and 50 <= int(value) <= 60_000):
                return None
            deadline = int(value) / 1000
    return (hook, deadline) if sys.getfilesystemencoding() == "utf-8" else None


def _event(until: float) -> bytes:
    """What a host writes to a hook; without an end, or a pause after what looks whole, the hook is silent."""
    import _signal  # type: ignore[import-not-found, unused-ignore]

    def stop(*_: object) -> None:
        raise TimeoutError

    content = b""
    previous = _signal.signal(_signal.SIGALRM, stop)
    try:
        while True:
            whole = content.rstrip()[-1:] == b"}"
            _signal.setitimer(_signal.ITIMER_REAL, PAUSE if whole else left(until))
            part = os.read(0, 1 << 20)
            if not part:
                return content
            content += part
            if len(content) > LARGEST_REQUEST // 2:
                os._exit(0)
    except TimeoutError:
        if not content.rstrip().endswith(b"}") or time.monotonic() > until:
            os._exit(0)
        return content
    except OSError:
        return content
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGALRM, previous)


def _environment(terminal: bool) -> bytes:
    wanted = _ENVIRONMENT + _LOOKS if terminal else _ENVIRONMENT
    lines = [name + b"=" + value for name, value in os.environb.items()]
    lines = [line for line in lines if line.startswith(wanted)]
    if terminal and not os.environ.get("COLUMNS", "").isdigit():
        lines.append(b"COLUMNS=%d" % (_columns() or 80))
    return b"\0".join(lines)


def _columns() -> int:
    for descriptor in range(3):
        try:
            return os.get_terminal_size(descriptor).columns
        except OSError:
            continue
    return 0


def _leave(status: int, output: bytes, errors: bytes) -> "NoReturn":
    try:
        for descriptor, content in ((1, output), (2, errors)):
            while content:
                content = content[os.write(descriptor, content) :]
    except BrokenPipeError:
        status = 0
    except OSError:
        status = 1
    os._exit(status)
