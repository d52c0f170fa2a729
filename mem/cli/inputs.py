"""What the command line reads: a text from standard input, a document from a file or from standard input."""

import sys
from pathlib import Path
from typing import Any

from mem.errors import Usage
from mem.operations import Parameter

LARGEST = 256 * 1024 * 1024  # bytes; a full batch of the longest memories fits


def fetched(parameter: Parameter, value: Any) -> Any:
    """The value of an argument: what it names if it is a document, standard input if it is `-`."""
    if parameter.doc.document:
        return records(str(value))
    if parameter.doc.stdin and value == "-":
        text = _text(_standard_input(), "standard input")
        return text.removesuffix("\r\n" if text.endswith("\r\n") else "\n")
    return value


def records(source: str) -> list[Any]:
    """The items of a JSON array, or of a text with one JSON object a line; raises `Usage` naming the line."""
    place = "standard input" if source == "-" else source
    text = _text(_standard_input() if source == "-" else _file(Path(source)), place)
    return _array(text, place) if text.lstrip().startswith("[") else _lines(text, place)


def _array(text: str, place: str) -> list[Any]:
    import orjson

    try:
        items = orjson.loads(text)
    except orjson.JSONDecodeError as err:
        raise Usage(f"{place} is not a JSON array: {err}.", hint="Nothing was written.") from err
    return list(items)


def _lines(text: str, place: str) -> list[Any]:
    import orjson

    items = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            items.append(orjson.loads(line))
        except orjson.JSONDecodeError as err:
            raise Usage(
                f"Line {number} of {place} is not JSON: {err}.",
                hint="Give a JSON array of objects, or one object a line. Nothing was written.",
            ) from err
        if not isinstance(items[-1], dict):
            raise Usage(f"Line {number} of {place} is not a JSON object.", hint="Nothing was written.")
    return items


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise Usage("Standard input is closed.", hint="Give the text as an argument.")
    return _limited(sys.stdin.buffer.read(LARGEST + 1), "Standard input")


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return _limited(file.read(LARGEST + 1), str(path))
    except (OSError, ValueError) as err:
        reason = err.strerror if isinstance(err, OSError) else err
        raise Usage(f"Cannot read {path}: {reason}.", hint="Name a file, or - for standard input.") from err


def _limited(content: bytes, place: str) -> bytes:
    if len(content) > LARGEST:
        raise Usage(f"{place} holds more than {LARGEST:,} bytes.", hint="Split it.")
    return content


def _text(content: bytes, place: str) -> str:
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as err:
        raise Usage(
            f"{place} holds bytes that are not UTF-8 at position {err.start}.", hint="Send valid UTF-8 text."
        ) from err
