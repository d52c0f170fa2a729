"""What the worker counts, since it began."""

import threading
from enum import StrEnum

from mem.embed.memo import CLAMPED_WAITS, MEMO_HITS, SHARED_RUNS, TIMEOUTS


class Count(StrEnum):
    """What is counted: requests, and what became of the vectors that they needed."""

    CALLS = "calls"
    MEMO_HITS = MEMO_HITS
    SHARED_RUNS = SHARED_RUNS
    TIMEOUTS = TIMEOUTS
    CLAMPED_WAITS = CLAMPED_WAITS
    FAILURES = "failures"


class Counts:
    """Counters that any thread may raise."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._numbers = dict.fromkeys(map(str, Count), 0)

    def add(self, name: str) -> None:
        with self._guard:
            self._numbers[name] += 1

    def read(self) -> dict[str, int]:
        with self._guard:
            return dict(self._numbers)
