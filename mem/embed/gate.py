"""Questions do not queue behind a batch: whoever asks waits for one run at most."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mem.embed.embedder import Role


class QueryFirstGate:
    """Lets a few runs in at a time; while a query waits, no further passage gets in."""

    def __init__(self, lanes: int) -> None:
        self._changed = threading.Condition()
        self._free = lanes
        self._waiting_queries = 0

    @contextmanager
    def lane(self, role: Role) -> Iterator[None]:
        """Hold one lane while the block runs."""
        with self._changed:
            if role is Role.QUERY:
                self._wait_as_query()
            else:
                self._changed.wait_for(lambda: self._free > 0 and self._waiting_queries == 0)
            self._free -= 1
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

    def _wait_as_query(self) -> None:
        self._waiting_queries += 1
        try:
            self._changed.wait_for(lambda: self._free > 0)
        finally:
            self._waiting_queries -= 1
            # Passages that held back for this query look again, even if it was interrupted.
            self._changed.notify_all()
