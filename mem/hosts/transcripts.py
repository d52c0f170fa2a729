"""Claude Code's transcripts: found below its configuration folder and read line by line, never written.

A transcript is `projects/<slug>/<session>.jsonl`. Its form is internal to the host and changes: only what
people typed and what the agent said is taken, every line that is not understood is passed over, and so is
what tools and hooks put out, what a subagent said, and the summary of a compaction. What came out of `mem` is
taken out. No link is followed, and nothing but a regular file is opened.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from mem.context.fence import strip_fenced
from mem.context.prompts import typed
from mem.paths import expanded

LONGEST_LINE = 2 << 20  # bytes; what is longer is no message
LONGEST_SAID = 4_000  # characters of one message; what is longer was pasted, or is a whole file
_HEAD = 1_000  # bytes of a line within which its type stands
_LOOKED_INTO = 200  # lines that are searched for the folder of a session
_NO_MESSAGE = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "toolUseResult")
_CUT = " […]"


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript of one session: the host's name of it, its file, and when that was last written."""

    session: str
    path: Path
    changed: datetime


@dataclass(frozen=True, slots=True)
class Folder:
    """The transcripts of one folder that the host worked in; `slug` is its path as the host writes it."""

    slug: str
    transcripts: tuple[Transcript, ...]

    def place(self) -> str | None:
        """The folder itself, as the first transcript that says so names it."""
        return next((found for one in self.transcripts if (found := _place(one.path))), None)


def root(environment: Mapping[str, str]) -> Path:
    """Where the host keeps the transcripts of all projects."""
    named = environment.get("CLAUDE_CONFIG_DIR")
    return expanded(named or "~/.claude", environment) / "projects"


def folders(root: Path) -> Iterator[Folder]:
    """The folders that hold transcripts, by name."""
    for folder in _entries(root):
        if folder.is_dir(follow_symlinks=False):
            found = tuple(filter(None, map(_transcript, _entries(Path(folder.path)))))
            if found:
                yield Folder(folder.name, found)


def said(transcript: Transcript) -> Iterator[str]:
    """The messages of a session in their order, each as one text that begins with who said it."""
    for entry in _messages(transcript.path):
        message = entry.get("message")
        if not isinstance(message, Mapping) or any(entry.get(mark) for mark in _NO_MESSAGE):
            continue
        text = _plain(message.get("content"))
        if entry["type"] == "user":
            who, text = "User", typed(text)
        else:
            who, text = "Agent", strip_fenced(text).strip()
        if text:
            yield f"{who}: {text if len(text) <= LONGEST_SAID else text[:LONGEST_SAID] + _CUT}"


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _transcript(entry: os.DirEntry[str]) -> Transcript | None:
    name, ending = os.path.splitext(entry.name)  # noqa: PTH122  (of a name, not of a path)
    try:
        if ending != ".jsonl" or not name.isprintable() or not entry.is_file(follow_symlinks=False):
            return None
        changed = entry.stat(follow_symlinks=False).st_mtime
        return Transcript(name, Path(entry.path), datetime.fromtimestamp(changed, UTC))
    except (OSError, ValueError, OverflowError):
        return None


def _place(path: Path) -> str | None:
    for number, line in enumerate(_lines(path)):
        if number >= _LOOKED_INTO:
            return None
        if b'"cwd"' in line[:_HEAD]:
            place = _parsed(line).get("cwd")
            if isinstance(place, str) and place:
                return place
    return None


def _messages(path: Path) -> Iterator[Mapping[str, Any]]:
    for line in _lines(path):
        head = line[:_HEAD]
        if b'"user"' in head or b'"assistant"' in head:
            entry = _parsed(line)
            if entry.get("type") in ("user", "assistant"):
                yield entry


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file that are no longer than a message can be; none of what cannot be read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError:
        return
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        yield from _short_lines(file)


def _short_lines(file: IO[bytes]) -> Iterator[bytes]:
    is_inside = False
    try:
        while part := file.readline(LONGEST_LINE):
            is_whole = part.endswith(b"\n") or len(part) < LONGEST_LINE
            if is_whole and not is_inside:
                yield part
            is_inside = not is_whole
    except OSError:
        return


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _plain(content: Any) -> str:
    """A message's content: a text, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [
        block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"
    ]
    return "\n".join(part for part in parts if isinstance(part, str))
