"""Tool calls on their way to the store: a few threads, and one service that the first call opens.

The threads are this module's own and live as long as the server: SQLite wants a connection for each, and the
SDK's pool would leave one behind with every thread that it lets go. A call that its client gave up keeps its
thread to the end, so that no more than these ever run.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mem.caller import Caller, current_caller
from mem.document import document
from mem.operations import Operation
from mem.paths import store_path
from mem.values import Actor, ActorKind

if TYPE_CHECKING:
    from mem.service import Service

log = logging.getLogger(__name__)

THREADS = 4
LONGEST_CLIENT_NAME = 100
LONGEST_PAUSE = 3600.0  # seconds to the next look at a store that is not there yet
UNATTENDED = Actor(ActorKind.CRON, client="mem serve")


class Calls:
    """Runs operations for the one client of this process, as its agent.

    The store is opened by the first call. Where it cannot be, that call fails with the reason, and the next
    one tries again.
    """

    def __init__(self, db: Path | None) -> None:
        self._db = db
        self._service: Service | None = None
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="tool")
        self._busy = 0
        self._closed = False
        self._counting = threading.Lock()

    async def run(
        self, operation: Operation, arguments: Mapping[str, Any], client: str | None
    ) -> dict[str, Any]:
        """The answer as a document; raises what the operation raises."""
        call = partial(self._call, operation, arguments, client, time.monotonic())
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def maintain(self) -> float | None:
        """Do the upkeep of the store if it is due; gives the seconds after which it is due again.

        None where the server ends. Raises what the upkeep raises.
        """
        try:
            return self._threads.submit(self._maintain).result()
        except (RuntimeError, CancelledError):
            if self._closed:
                return None
            raise

    def close(self) -> None:
        """Take no more calls, and close the store; if a call still runs in it, SQLite rolls that one back."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._counting:
            if not self._busy:
                # The last reference: its connections close with it.
                self._service = None

    def _call(
        self, operation: Operation, arguments: Mapping[str, Any], client: str | None, began: float
    ) -> dict[str, Any]:
        later: list[Callable[[], None]] = []
        service = self._opened(client).of(replace(_caller(client), began=began), later=later.append)
        with self._running():
            answer = document(getattr(service, operation.method)(**arguments))
        for work in later:
            with suppress(RuntimeError):  # the server ends
                self._threads.submit(self._after, work)
        return answer

    def _after(self, work: Callable[[], None]) -> None:
        try:
            with self._running():
                work()
        except Exception:
            log.exception("what could wait for the end of a call failed")

    def _maintain(self) -> float:
        with self._running():
            if not (self._db or store_path()).exists():
                return LONGEST_PAUSE
            service = self._opened(None).of(replace(_caller(None), actor=UNATTENDED))
            if service.upkeep_due() <= 0:
                service.maintain()
            return service.upkeep_due()

    @contextmanager
    def _running(self) -> Iterator[None]:
        with self._counting:
            self._busy += 1
        try:
            yield
        finally:
            with self._counting:
                self._busy -= 1

    def _opened(self, client: str | None) -> Service:
        from mem.service import open_service

        with self._opening:
            if self._service is None:
                self._service = open_service(self._db, caller=_caller(client))
            return self._service


def _caller(client: str | None) -> Caller:
    """The client's agent, in the project that the client works in."""
    folder = os.environ.get("CLAUDE_PROJECT_DIR")
    caller = current_caller(folder=Path(folder).absolute() if folder else None)
    from mem.truth.redact import redact  # the name is stored with all that the client writes

    name = redact("".join(filter(str.isprintable, client or ""))).text[:LONGEST_CLIENT_NAME].strip()
    return caller.as_agent(name or caller.actor.client)
