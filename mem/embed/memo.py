"""Questions are asked again, and by several at once: each is embedded once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mem.embed.embedder import Embedder, EmbeddingTimeout, Role
from mem.embed.patience import Run, within

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.float32]

ENTRIES = 512
SECONDS = 600.0
CLAMPED_BELOW = 1.0  # seconds; who waits for less has a deadline
MEMO_HITS, SHARED_RUNS = "memo_hits", "shared_runs"
CLAMPED_WAITS, TIMEOUTS = "clamped_waits", "timeouts"


class MemoEmbedder:
    """An `Embedder` that remembers its last questions; requests for one text at the same time share one run.

    `count` is told of memo hits, shared runs, clamped waits and timeouts, by these names; `longest` is what a
    call may take, in seconds, that names no time itself.
    """

    def __init__(
        self,
        model: Embedder,
        count: Callable[[str], None] = lambda name: None,
        *,
        longest: float | None = None,
    ) -> None:
        self._model = model
        self._longest = longest
        self._count = count
        self._guard = threading.Lock()
        self._known: OrderedDict[str, tuple[float, Row]] = OrderedDict()
        self._running: dict[str, Run[Row]] = {}

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def choice(self) -> str:
        return self._model.choice

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    def mean(self) -> Row | None:
        return self._model.mean()

    def split(self, text: str) -> list[str]:
        return self._model.split(text)

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> Row:
        """What the model gives; a single question may come out of the memo, even with a timeout of 0."""
        timeout = self._longest if timeout is None else timeout
        try:
            if role is Role.QUERY and len(texts) == 1:
                return self._question(texts[0], timeout)
            return within(timeout, lambda: self._model.embed(texts, role))
        except EmbeddingTimeout:
            self._count(TIMEOUTS)
            raise

    def _question(self, text: str, timeout: float | None) -> Row:
        with self._guard:
            found = self._known.get(text)
            if found is not None and time.monotonic() - found[0] < SECONDS:
                self._known.move_to_end(text)
                self._count(MEMO_HITS)
                return found[1]
            if timeout is not None and timeout < CLAMPED_BELOW:
                self._count(CLAMPED_WAITS)
            run = self._running.get(text)
            if run is not None:
                self._count(SHARED_RUNS)
            elif timeout is None or timeout > 0:
                # The work waits for the guard, so it cannot end before it is entered here.
                run = self._running[text] = Run(lambda: self._answered(text))
        return within(0, lambda: self._answered(text)) if run is None else run.result(timeout)

    def _answered(self, text: str) -> Row:
        row: Row | None = None
        try:
            row = self._model.embed([text], Role.QUERY)
            return row
        finally:
            with self._guard:
                self._running.pop(text, None)
                if row is not None:
                    self._known[text] = (time.monotonic(), row)
                    self._known.move_to_end(text)
                    while len(self._known) > ENTRIES:
                        self._known.popitem(last=False)
