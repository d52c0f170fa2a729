"""Work that cannot be stopped, and callers that cannot wait: the one goes on while the others give up."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from mem.embed.embedder import EmbeddingTimeout

Result = TypeVar("Result")


class Run(Generic[Result]):
    """Work in a thread of its own, which any number of callers wait for, each as long as it can."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._done = threading.Event()
        self._result: Result
        self._error: Exception | None = None
        # A daemon: a process that has its answer does not stay for a vector that came too late.
        threading.Thread(target=self._finish, name="mem-embed-run", daemon=True).start()

    def result(self, timeout: float | None) -> Result:
        """The result, or what the work raised; raises `EmbeddingTimeout` after so many seconds."""
        if not self._done.wait(timeout):
            raise EmbeddingTimeout(
                f"No vector within {timeout:.3g} seconds.", hint="Try again, or give it more time."
            )
        if self._error is not None:
            raise self._error
        return self._result

    def _finish(self) -> None:
        try:
            self._result = self._work()
        except Exception as err:
            self._error = err
        finally:
            self._done.set()


def within(timeout: float | None, work: Callable[[], Result]) -> Result:
    """The result of the work if it is there in time, else `EmbeddingTimeout`; with 0 it does not begin."""
    if timeout is None:
        return work()
    if timeout <= 0:
        raise EmbeddingTimeout("There is no time left for a vector.", hint="Give it more time.")
    return Run(work).result(timeout)
