"""`mem serve`: one client over standard input and output, until it hangs up.

Nothing but the protocol reaches standard output: the SDK keeps the descriptor to itself and points the public
one at standard error. Logs are plain lines on standard error.
"""

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from mem.server import upkeep
from mem.server.calls import Calls

log = logging.getLogger(__name__)


def run(*, db: Path | None = None) -> NoReturn:
    """Serve until the input ends or a signal comes, then leave the process; `db` names another store.

    Exit status 0 after the end of the input, 128 and the signal's number after a signal, else 1.
    """
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="mem: %(levelname)s: %(name)s: %(message)s"
    )
    calls = Calls(db)
    upkeep.start(calls)

    def leave(status: int) -> NoReturn:
        calls.close()
        sys.stderr.flush()
        # An interpreter that shuts down in order would wait for its threads, and so for a tool that runs.
        os._exit(status)

    _import_sdk()
    import anyio

    try:
        anyio.run(_serve, calls, leave)
    except KeyboardInterrupt:
        leave(128 + signal.SIGINT)
    except BaseExceptionGroup as group:
        # A client that is gone is no fault of ours.
        faults = group.split((BrokenPipeError, anyio.BrokenResourceError))[1]
        if faults is not None:
            log.error("the server stopped", exc_info=faults)
            leave(1)
    leave(0)


def _import_sdk() -> None:
    """Import the SDK without garbage collections: it makes hundreds of thousands of objects that stay."""
    gc.disable()
    import mcp.server
    import mcp.server.stdio  # noqa: F401

    gc.freeze()
    gc.enable()


async def _serve(calls: Calls, leave: Callable[[int], NoReturn]) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from mem.server.protocol import build
    from mem.server.streams import patient

    server = build(calls)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_leave_on_signal, leave)
        async with stdio_server() as (source, sink), patient(source, sink) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _leave_on_signal(leave: Callable[[int], NoReturn]) -> None:
    """Leave at the first signal; without this the thread that reads standard input would hold the process."""
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            leave(128 + number)
