"""The rows and notes of an export."""

from collections.abc import Iterator

from mem.results import Exported

Row = tuple[str, ...]


def rows(answer: Exported) -> Iterator[Row]:
    """The file, its size and its digest, then how many records of each kind it holds."""
    yield "exported", answer.path, f"{answer.bytes} bytes", answer.digest or ""
    yield from ((kind, str(count)) for kind, count in answer.counts.items())


def notes(answer: Exported) -> Iterator[str]:
    """What it holds in a line, where the data itself is the answer."""
    if not answer.counts:
        asked = " fits what was asked for" if answer.filters else " is stored yet"
        yield f"Nothing{asked}."
    elif answer.path == "-":
        listed = ", ".join(f"{kind} {count}" for kind, count in answer.counts.items())
        yield f"Exported {listed}{f'; {answer.digest}' if answer.digest else ''}."
