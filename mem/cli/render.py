"""Where everything is printed: data on standard output, notes and errors on standard error.

On a terminal an answer is laid out by `terminal`. In a pipe it is one record a line, its columns separated by
tabs, never wrapped, with user text as it is but for the line breaks and tabs in it. `--json` is one document.
All of it is UTF-8, whatever the locale.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, RawIOBase, TextIOWrapper
from typing import TextIO

from mem.cli.beside import notes
from mem.cli.characters import escaped, one_line, visible
from mem.cli.rows import Answer, block, rows
from mem.document import write_all
from mem.errors import MemError
from mem.results import Cited, ContextBlock, Exported, ForeignNotes, Hooks, Memories, Streamed, Text

LONGEST_MESSAGE = 2_000  # characters; a message may quote what was typed


def prepare() -> None:
    """Make both streams UTF-8, so that no locale can turn an answer into an error."""
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")


def show(answer: Answer | Streamed, *, in_full: bool = False, as_json: bool = False) -> None:
    """Print an answer and the notes beside it; `in_full` shows whole memories instead of a line for each."""
    if as_json:
        _write(_document(answer))
        return
    if isinstance(answer, Streamed):
        answer = _passed_on(answer)
    elif is_terminal():
        from mem.cli import terminal

        with _writing():
            terminal.show(answer, in_full=in_full)
    else:
        _write(piped(answer, in_full=in_full))
    for line in beside(answer):
        note(line)


def piped(answer: Answer, *, in_full: bool = False, as_json: bool = False) -> str:
    """What standard output gets of an answer where it is no terminal."""
    return _document(answer) if as_json else _plain(answer, in_full=in_full)


def beside(answer: Answer, *, as_json: bool = False) -> Iterator[str]:
    """The lines that standard error gets of an answer."""
    return iter(()) if as_json else (visible(one_line(line)) for line in notes(answer))


def say(text: str) -> None:
    """Print a line of our own on standard output."""
    _write(text + "\n")


def note(text: str) -> None:
    """Print one line beside the data."""
    if sys.stderr is not None:
        sys.stderr.write(visible(one_line(text)) + "\n")
        sys.stderr.flush()


def prompt(text: str) -> None:
    """Print a question beside the data; the answer follows on its line."""
    if sys.stderr is not None:
        sys.stderr.write(visible(one_line(text)))
        sys.stderr.flush()


def fail(error: MemError, *, as_json: bool) -> None:
    """Print why a call has no answer: one line, or the JSON error document."""
    if as_json:
        from mem.document import encode, error_document

        _write(encode(error_document(error)).decode())
        return
    from mem.truth.redact import redact  # an error may quote what was given

    message, hint = one_line(redact(str(error)).text), redact(error.hint).text
    cut = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"
    note(f"mem: {cut} {hint}".rstrip())


def fail_unexpectedly(error: Exception, *, as_json: bool) -> None:
    """Print a fault of ours in one line; with `MEM_DEBUG` also where it happened."""
    if os.environ.get("MEM_DEBUG") not in (None, "", "0"):
        import traceback

        traceback.print_exception(error)
    told = MemError(f"unexpected {type(error).__name__}: {error}", hint="MEM_DEBUG=1 shows where.")
    fail(told, as_json=as_json)


def wait(seconds: float) -> None:
    """Wait, at most so long; raises `BrokenPipeError` as soon as nobody reads what is printed any more."""
    import select
    import time

    if sys.stdout is None or not hasattr(select, "poll"):
        time.sleep(seconds)
        return
    poller = select.poll()
    poller.register(sys.stdout.fileno(), 0)  # nothing is waited for; errors and a hang-up are always told
    seen = poller.poll(seconds * 1000)
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in seen):
        raise BrokenPipeError
    if seen:  # a system that cannot poll such a file says so at once
        time.sleep(seconds)


def finish() -> None:
    """Write out what is still buffered; raises `BrokenPipeError` if nobody reads any more."""
    with _writing():
        if sys.stdout is not None:
            sys.stdout.flush()


def hang_up() -> None:
    """Send what may still be buffered nowhere, so that the end of the process is silent."""
    _silence(sys.stdout)
    _silence(sys.stderr)


def _document(answer: Answer | Streamed) -> str:
    from mem.document import document, encode

    return encode(document(answer)).decode()


def _plain(answer: Answer, *, in_full: bool) -> str:
    match answer:
        case Text():
            return answer.text
        case ContextBlock() | ForeignNotes():
            return f"{answer.text}\n" if answer.text else ""
        case Cited():
            return f"{answer.text}\n"
        case Hooks(dry_run=True):
            return "".join(one.diff for one in answer.hosts)
        case Memories() if in_full:
            return "\n".join(block(memory) for memory in answer.memories)
        case _:
            return "".join("\t".join(escaped(cell) for cell in row) + "\n" for row in rows(answer))


def _silence(stream: TextIO | None) -> None:
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_terminal() -> bool:
    """Whether standard output is read by a person."""
    return sys.stdout is not None and sys.stdout.isatty()


def _write(text: str) -> None:
    with _writing():
        if sys.stdout is None:
            return
        below = getattr(sys.stdout, "buffer", None)
        if isinstance(below, RawIOBase):
            # PYTHONUNBUFFERED: the text layer does not look whether all of it was taken.
            write_all(below, text.encode(sys.stdout.encoding, sys.stdout.errors or "strict"))
            return
        sys.stdout.write(text)
        sys.stdout.flush()


def _passed_on(answer: Streamed) -> Exported:
    """Print bytes as they are."""
    with _writing():
        if sys.stdout is None:
            return answer.write(BytesIO())
        exported = answer.write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return exported


@contextmanager
def _writing() -> Iterator[None]:
    """A full disk or a lost terminal behind standard output as an error of ours; a closed pipe as it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as err:
        _silence(sys.stdout)
        raise MemError(f"Cannot write to standard output: {err.strerror}.") from err
