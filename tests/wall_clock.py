"""The clock that `mem` reads, in the hands of a test."""

from datetime import datetime, timedelta

import pytest

from mem import clock


class WallClock:
    """Stands where a test sets it, and moves on by a millisecond each time that `mem` looks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, instant: str) -> None:
        self.set(instant)
        monkeypatch.setattr(clock, "now", self._look)

    def set(self, instant: str) -> None:
        """Put it at an instant such as `2026-05-10T08:00:00Z`, forwards or backwards."""
        self.instant = datetime.fromisoformat(instant)

    def forward(self, **span: float) -> str:
        """Move it on, by days, hours or other arguments of `timedelta`; gives the new instant as text."""
        self.instant += timedelta(**span)
        return clock.to_text(self.instant)

    def _look(self) -> datetime:
        self.instant += timedelta(milliseconds=1)
        return self.instant
