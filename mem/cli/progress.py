"""How far long work is: on a terminal a bar with its rate and the time that is left, else a line every 10 s.

Both go to standard error, and the bar is gone when the work ends. With `--json` only a terminal is told.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mem.cli import render

EVERY = 10.0  # seconds between two lines


class Progress:
    """Told by work how much of how much is done. Without a total, as in a download, it is only counted."""

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        """`what` is being done, such as "embedding"; `quiet` says nothing but on a terminal."""
        self._what = what
        self._quiet = quiet
        self._began = self._told = time.monotonic()
        self._first: int | None = None
        self._bar: Any = None

    def __call__(self, done: int, total: int | None = None) -> None:
        """Show it."""
        if self._first is None:
            self._first, self._began = done, time.monotonic()
        if on_terminal():
            self._draw(done, total)
        elif not self._quiet and time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            render.note(self.line(done, total, self._told - self._began))

    def line(self, done: int, total: int | None, seconds: float) -> str:
        """What is done, how fast, and how long it will still take."""
        rate = (done - (self._first or 0)) / seconds if seconds > 0 else 0.0
        parts = [f"{self._what}: {done}" + ("" if total is None else f" of {total}")]
        if rate > 0:
            parts.append(f"{rate:.1f}/s" if rate < 100 else f"{rate:.0f}/s")
            if total is not None:
                parts.append(f"{_span((total - done) / rate)} left")
        return ", ".join(parts)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self, done: int, total: int | None) -> None:
        if self._bar is None:
            self._bar = _bar()
            self._bar.add_task(self._what, total=total, told="")
            self._bar.start()
        seconds = time.monotonic() - self._began
        told = self.line(done, total, seconds).partition(": ")[2]
        self._bar.update(0, completed=done, total=total, told=told)


class Reporter:
    """What a service tells how far it is: each kind of work has a line or bar of its own."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._shown: dict[str, Progress] = {}

    def __call__(self, what: str, done: int, total: int | None = None) -> None:
        """Show how much of what is done."""
        if what not in self._shown:
            self.close()
            self._shown = {what: Progress(what, quiet=self._quiet)}
        self._shown[what](done, total)

    def close(self) -> None:
        """Take away what is still shown."""
        for shown in self._shown.values():
            shown.close()


@contextmanager
def reporting(*, quiet: bool = False) -> Iterator[Reporter]:
    """A reporter for the work inside; nothing of it is left on a terminal afterwards."""
    reporter = Reporter(quiet=quiet)
    try:
        yield reporter
    finally:
        reporter.close()


def on_terminal() -> bool:
    """Whether a bar can be drawn on standard error."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[told]}"),
        console=Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")) or None),
        transient=True,
        refresh_per_second=4,
    )


def _span(seconds: float) -> str:
    """A time as people say it, in its two greatest units at most."""
    whole = int(seconds + 0.5)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
