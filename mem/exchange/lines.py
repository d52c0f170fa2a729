"""Text files line by line: one line in memory at a time, and bytes that are no UTF-8 named by their line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LONGEST = 64 << 20  # bytes of one line
TOO_DEEP = "It is nested too deeply."
NO_UTF_8 = "It holds bytes that are no UTF-8, or half of a pair of surrogates."


def parsed(text: str) -> Any:
    """The value of a text of JSON; raises `ValueError`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def numbered(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1; bytes that are no UTF-8 stay marked.

    What cannot be read as UTF-8 comes as lone surrogates, which no record may hold.
    """
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST):
            number += 1
            text = line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape").strip()
            if text:
                yield number, text
