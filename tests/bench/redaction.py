"""What the redaction of secrets costs: microseconds per 200 characters, at most 50.

    python tests/bench/redaction.py

Measured over the developer notes of the tests, one call a note; over these notes joined to one long text; and
over prose in which nothing begins like a secret. The best of several rounds
counts, in processor time.
"""

import sys
import time
import timeit
from collections.abc import Sequence
from pathlib import Path

from mem.truth.redact import redact

NOTES = Path(__file__).parent.parent / "data" / "developer_notes.txt"
PROSE = (
    "The deploy job for the billing service runs at 03:00 UTC and needs about 12 minutes; it restarts the "
    "workers in pairs, so that the queue is never empty. If it fails, look at the third worker's own logs. "
)
AT_MOST = 50.0  # microseconds per 200 characters
ROUNDS = 15


def cost(texts: Sequence[str]) -> float:
    """Microseconds per 200 characters of these texts."""

    def run() -> None:
        for text in texts:
            redact(text)

    run()  # compiles what is needed
    return (
        min(timeit.repeat(run, timer=time.process_time, number=1, repeat=ROUNDS))
        / sum(map(len, texts))
        * 200
        * 1e6
    )


def main() -> int:
    """Measure and print; 1 where it costs too much."""
    notes = NOTES.read_text(encoding="utf-8").splitlines()
    measured = {
        "developer notes, one by one": cost(notes),
        "developer notes, 20,000 characters at a time": cost(["\n".join(notes)[:20_000]]),
        "prose": cost([PROSE] * 200),
    }
    for name, microseconds in measured.items():
        print(f"{microseconds:6.1f} µs per 200 characters  {name}")
    return int(max(measured.values()) > AT_MOST)


if __name__ == "__main__":
    sys.exit(main())
