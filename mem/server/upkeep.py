"""Upkeep by a running server: some time after its start if it is overdue, then every hour.

It runs as a job that belongs to nobody, on one of the threads that tool calls run on, and holds the store's
lock for some milliseconds. It makes no store where there is none. What goes wrong is logged, and tried again
an hour later.
"""

import logging
import threading
import time
from collections.abc import Callable

from mem.errors import MemError
from mem.server.calls import Calls

log = logging.getLogger(__name__)

QUIET = 60.0  # seconds after the start, which belong to the client
PAUSE = 3600.0  # seconds to the next try after one that failed


def start(calls: Calls, *, quiet: float = QUIET, sleep: Callable[[float], None] = time.sleep) -> None:
    """Look after the store as long as the process lives."""
    threading.Thread(target=_keep, args=(calls, quiet, sleep), name="upkeep", daemon=True).start()


def _keep(calls: Calls, quiet: float, sleep: Callable[[float], None]) -> None:
    sleep(quiet)
    while True:
        try:
            left = calls.maintain()
        except MemError as err:
            log.warning("no upkeep: %s", err)
            left = PAUSE
        except Exception:
            log.exception("upkeep failed")
            left = PAUSE
        if left is None:
            return
        sleep(max(left, 1.0))
