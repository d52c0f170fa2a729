"""The process around a hook: `mem context --hook`.

Promises: it exits with 0, whatever happens; standard output gets the one document of the answer or nothing;
it ends within the deadline of `hook.deadline-ms`, silently where the answer is not there by then. What needs
no answer is done by a child that outlives us, since hosts give the end of a session a second and a half.

It is entered from `mem.__main__` without the application, whose imports would cost more than the answer, and
from the application itself, in the warm worker with the service that is open there.
"""

from __future__ import annotations

import _thread
import os
import select
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mem import config
from mem.caller import Caller
from mem.context import hooks, hosts
from mem.context.hosts import Event, Moment
from mem.context.notes import Notes
from mem.errors import MemError, Unavailable
from mem.paths import store_path
from mem.store.connect import Store
from mem.values import Mode

if TYPE_CHECKING:
    from mem.cli.app import Session

LARGEST = 16 << 20  # bytes of an event; with a larger one we are silent
LONGEST_CHILD = 30.0  # seconds that a child may take over what needs no answer
AFTERWARDS = 0.2  # seconds that what follows an answer may take: counting it, the trace of a silence
PAUSE = 0.1  # seconds without a byte after which an event that looks whole is taken as whole
_UNANSWERED = (Moment.POST_COMPACT, Moment.SESSION_END)


def wanted(arguments: Sequence[str]) -> bool:
    """Whether a command line is a hook's: then nothing in it may fail, not even a mistake in it."""
    own = arguments[: arguments.index("--") if "--" in arguments else None]
    words = (
        word for before, word in zip(("", *own), own, strict=False) if word[:1] != "-" and before != "--db"
    )
    return "--hook" in own and next(words, "") == "context"


def run(arguments: Sequence[str], caller: Caller) -> int:
    """Answer the event on standard input as a process of its own, by words alone; gives 0."""
    db, deadline = _option(arguments, "--db"), _option(arguments, "--deadline-ms")
    try:
        place = Path(db).expanduser().absolute() if db else store_path(caller.environment)
        _answer(caller, place, int(deadline) if deadline.isdecimal() else _deadline_ms(caller))
    except Exception as err:  # failing soft is the contract
        hooks.fail(caller, "hook", err)
    return 0


def answer(session: Session, db: Path | None, deadline_ms: int | None) -> int:
    """Answer for the application, with the service where one is open, else as `run` does; gives 0."""
    caller, service = session.caller, session.service
    if service is None:
        place = () if db is None else ("--db", str(db))
        return run((*place, "--deadline-ms", str(deadline_ms or "")), caller)
    from mem.results import Text

    told = hooks.respond(
        caller.stdin or b"",
        caller,
        service.notes.of,
        mode=Mode.HYBRID,
        timeout=service.patience(deadline_ms or _deadline_ms(caller)),
    )
    if told:
        session.show(Text(told.decode()), in_full=False, as_json=False)
    return 0


def _answer(caller: Caller, store: Path, deadline_ms: int) -> None:
    if hooks.is_ours(caller):
        return
    began = time.monotonic() if caller.began is None else caller.began
    until = began + deadline_ms / 1000
    with _Deadline(caller, until) as deadline:
        content = _event(until) if caller.stdin is None else caller.stdin
        event = hosts.read(content, caller.environment)
        if event is None:
            return
        os.environ[hooks.ACTIVE] = "1"
        later: list[Callable[[], None]] = []

        def notes(acting: Caller) -> Notes:
            timeout_ms = config.value("store.timeout-ms", caller.environment)
            return Notes(Store(store, timeout_ms=timeout_ms), acting, later=later.append)

        def reply(event: Event = event) -> bytes:
            return hooks.reply(event, caller, notes)

        if event.moment in _UNANSWERED and hasattr(os, "fork"):
            _detached(caller, reply)
            return
        told = reply()
        deadline.met()
        _write(told)
    if later:
        with _Deadline(caller, time.monotonic() + AFTERWARDS, "what follows an answer took too long"):
            for work in later:
                work()


class _Deadline:
    """Ends the process, silently and with 0, unless it was met in time.

    A thread does that: neither SQLite, which waits for a lock in C, nor an import lets an exception in.
    """

    def __init__(self, caller: Caller, until: float, missed: str = "no answer within the deadline") -> None:
        self._caller = caller
        self._until = until
        self._missed = missed
        self._over = _thread.allocate_lock()

    def __enter__(self) -> _Deadline:
        _thread.start_new_thread(self._watch, ())
        return self

    def __exit__(self, *_: object) -> None:
        self.met()

    def met(self) -> None:
        """The answer is there: from now on nothing ends the process."""
        self._over.acquire(blocking=False)

    def _watch(self) -> None:
        time.sleep(max(0.0, self._until - time.monotonic()))
        if self._over.acquire(blocking=False):
            hooks.fail(self._caller, "hook", Unavailable(self._missed))
            os._exit(0)


def _detached(caller: Caller, work: Callable[[], object]) -> None:
    """Do the work in a child that holds nothing of ours open; comes back at once."""
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nowhere, descriptor)
        with _Deadline(caller, time.monotonic() + LONGEST_CHILD):
            work()
    finally:
        os._exit(0)


def _event(until: float) -> bytes:
    """What a host writes; empty if it neither ends nor pauses after what looks whole."""
    if sys.stdin is None:
        return b""
    content, descriptor = b"", sys.stdin.fileno()
    while len(content) <= LARGEST:
        whole = content.rstrip()[-1:] == b"}"
        if os.name == "posix":
            left = PAUSE if whole else max(until - time.monotonic(), 0.0)
            if not select.select([descriptor], [], [], left)[0]:
                return content if whole else b""
        part = os.read(descriptor, 1 << 20)
        if not part:
            return content
        content += part
    return b""


def _write(content: bytes) -> None:
    """Write the answer; a host that has gone away does not want it."""
    if sys.stdout is None:
        return
    try:
        while content:
            content = content[os.write(sys.stdout.fileno(), content) :]
    except OSError:
        return


def _option(arguments: Sequence[str], name: str) -> str:
    """The last value given for an option."""
    found = ""
    for place, word in enumerate(arguments):
        if word == name:
            found = "".join(arguments[place + 1 : place + 2])
        elif word.startswith(f"{name}="):
            found = word.partition("=")[2]
    return found


def _deadline_ms(caller: Caller) -> int:
    try:
        return int(config.value("hook.deadline-ms", caller.environment))
    except MemError as err:
        hooks.fail(caller, "hook", err)
        return hooks.DEADLINE_MS
