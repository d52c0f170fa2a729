"""The summary that a host makes when it compacts a session: out of its event, or out of its transcript.

A transcript is untrusted, huge and of no promised form: it is read from its end, line by line and within
bounds, and only lines that say early that they are a user's message are looked into.
"""

import json
import os
import stat
from typing import Any

from mem.context.fence import strip_fenced

LONGEST = 100_000  # characters of a memory
_TAIL = 16 << 20  # bytes of a transcript that are read, from its end
_LONGEST_LINE = 2 << 20
_HEAD = 200  # bytes of a line within which its type stands
_USER = (b'"type":"user"', b'"type": "user"')
_MARK = b"isCompactSummary"
_BEGIN, _END = "Summary:\n", "\n\nIf you need specific details"


def of_event(given: object) -> str:
    """The summary in what a host says after a compaction; empty if there is none."""
    if not isinstance(given, str):
        return ""
    text = _inside(given, "summary")
    return _kept(text if text is not None else _without(given, "analysis"))


def of_transcript(path: object) -> str:
    """The newest summary in a transcript; empty if there is none, or no such file can be read."""
    if not isinstance(path, str) or not path or "\0" in path:
        return ""
    for line in reversed(_tail(path).split(b"\n")):
        if len(line) <= _LONGEST_LINE and _MARK in line and any(user in line[:_HEAD] for user in _USER):
            text = _of_line(line)
            if text:
                return text
    return ""


def _of_line(line: bytes) -> str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(entry, dict) or entry.get("isCompactSummary") is not True or entry.get("isSidechain"):
        return ""
    message = entry.get("message")
    text = _plain(message.get("content")) if isinstance(message, dict) else ""
    _, marked, after = text.partition(_BEGIN)
    return _kept(after.partition(_END)[0]) if marked else ""


def _plain(content: Any) -> str:
    """A message's content: a text, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [block.get("text") for block in content if isinstance(block, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _tail(path: str) -> bytes:
    """The end of a regular file; a pipe or a device, on which a read could hang, gives nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return b""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return b""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            file.seek(max(0, found.st_size - _TAIL))
            return file.read(_TAIL)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _inside(text: str, tag: str) -> str | None:
    """What stands between a tag and its end, or from the tag on where the end was cut off."""
    begin = text.find(f"<{tag}>")
    if begin < 0:
        return None
    end = text.rfind(f"</{tag}>")
    return text[begin + len(tag) + 2 : end if end > begin else None]


def _without(text: str, tag: str) -> str:
    inside = _inside(text, tag)
    return text if inside is None else text.replace(f"<{tag}>{inside}", "", 1).replace(f"</{tag}>", "", 1)


def _kept(text: str) -> str:
    """The text as it can be stored: without our own notes, and valid UTF-8 without NUL."""
    plain = strip_fenced(text).replace("\0", "").encode("utf-8", "ignore").decode()
    return plain.strip()[:LONGEST]
