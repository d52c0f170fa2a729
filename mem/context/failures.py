"""Where a hook says what went wrong: a log of bounded size, since a host gets nothing but answers.

It holds times, events and errors, never the text of a prompt or of a memory.
"""

import contextlib
import os
from pathlib import Path

from mem import clock

LARGEST = 256 * 1024  # bytes


def record(state: Path, event: str, error: BaseException) -> None:
    """Add a line to `hook.log`; where even that fails, nothing happens."""
    from mem.truth.redact import redact  # not above: most hooks never fail

    said = redact(" ".join(f"{type(error).__name__}: {error}".split())).text[:500]
    line = f"{clock.to_text(clock.now())} {event} {said}\n".encode("utf-8", "replace")
    file = state / "hook.log"
    with contextlib.suppress(OSError):
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_room(file, len(line))
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def _make_room(file: Path, more: int) -> None:
    """Keep the newer half of a log that is about to grow too large."""
    if not file.exists() or file.stat().st_size + more <= LARGEST:
        return
    kept = file.read_bytes()[-LARGEST // 2 :]
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(kept[kept.find(b"\n") + 1 :])
    temporary.replace(file)
