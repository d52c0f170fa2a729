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
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mem.caller import Caller, current_caller
from mem.document import document
from mem.operations import Operation

if TYPE_CHECKING:
    from mem.service import Service

log = logging.getLogger(__name__)

THREADS = 4
LONGEST_CLIENT_NAME = 100


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
        self._counting = threading.Lock()

    async def run(
        self, operation: Operation, arguments: Mapping[str, Any], client: str | None
    ) -> dict[str, Any]:
        """The answer as a document; raises what the operation raises."""
        call = partial(self._call, operation, arguments, client, time.monotonic())
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def close(self) -> None:
        """Take no more calls, and close the store; if a call still runs in it, SQLite rolls that one back."""
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
    name = "".join(filter(str.isprintable, client or ""))[:LONGEST_CLIENT_NAME].strip()
    return caller.as_agent(name or caller.actor.client)
