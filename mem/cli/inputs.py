"""What the command line reads: a text from standard input, a document from a file or from standard input."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mem.errors import Usage
from mem.operations import Parameter

LARGEST = 256 * 1024 * 1024  # bytes; a full batch of the longest memories fits


def in_utf8(arguments: Sequence[str]) -> list[str]:
    """The arguments of the process as UTF-8, whatever the locale; broken bytes stay lone surrogates."""
    return [os.fsencode(one).decode("utf-8", "surrogateescape") for one in arguments]


def path(argument: str) -> Path:
    """The file that an argument names, in the encoding of the file system."""
    return Path(os.fsdecode(argument.encode("utf-8", "surrogateescape")))


def fetched(parameter: Parameter, value: Any) -> Any:
    """The value of an argument: what it names if it is a document, standard input if it is `-`."""
    if parameter.doc.document:
        return records(str(value))
    if parameter.doc.stdin and value == "-":
        text = _text(_standard_input(), "standard input")
        return text.removesuffix("\r\n" if text.endswith("\r\n") else "\n")
    return value


def is_terminal() -> bool:
    """Whether there is somebody at standard input who can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def line() -> str:
    """One line of standard input; empty at its end."""
    return sys.stdin.readline()


def key() -> str:
    """One key at once, without its echo; empty at the end of input.

    What was typed before is dropped. An escape sequence, as arrows send it, is one key with a long name. The
    terminal is given back as it was, whatever happens.
    """
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSAFLUSH)
        typed = os.read(descriptor, 64).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    if typed[:1] == "\x1b":
        return typed
    return "" if typed[:1] == "\x04" else typed[:1]


def records(source: str) -> list[Any]:
    """The items of a JSON array, or of a text with one JSON value a line; `Usage` names a broken line."""
    place = "standard input" if source == "-" else source
    text = _text(_standard_input() if source == "-" else _file(path(source)), place)
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
    return items


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise Usage("Standard input is closed.", hint="Give the text as an argument.")
    parts, size = [], 0
    # In parts, so that an interrupt is noticed between them.
    while size <= LARGEST and (part := os.read(sys.stdin.fileno(), 1 << 16)):
        parts.append(part)
        size += len(part)
    return _limited(b"".join(parts), "Standard input")


def _file(place: Path) -> bytes:
    try:
        with place.open("rb") as file:
            return _limited(file.read(LARGEST + 1), str(place))
    except (OSError, ValueError) as err:
        reason = err.strerror if isinstance(err, OSError) else err
        raise Usage(f"Cannot read {place}: {reason}.", hint="Name a file, or - for standard input.") from err


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
