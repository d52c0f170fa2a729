"""Claude Code's own memory files: found below the folders that are configured, and read, never written.

A root is a folder of projects (`<root>/<slug>/memory/*.md`), Claude's configuration folder around it, the
folder of one project, or a folder of memory files itself. Promises:

- Nothing outside a root is read: below it, no link is followed.
- At most `MOST_FILES` files of at most `LARGEST_FILE` bytes, `MOST_BYTES` in all; what is passed over is
  counted with the reason, and so is what cannot be read or is not UTF-8.
- `MEMORY.md` is an index, not a memory, and is left out.
- Front matter has two forms, both accepted: flat (`name`, `description`, `type`), and with `type`, `modified`
  and `originSessionId` under `metadata`. A file without any is a memory as well, named after the file.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from mem import clock
from mem.config import SETTINGS, value
from mem.errors import Usage
from mem.paths import expanded

SETTING, VARIABLE_BEFORE = "claude-memory.dirs", "MNEME_CLAUDE_MEMORY_DIRS"
MOST_FILES, LARGEST_FILE, MOST_BYTES = 5_000, 1 << 20, 64 << 20
MOST_ENTRIES = 100_000  # of folders that are looked through
DEEPEST = 5  # folders below a folder of memory files
INDEX = "MEMORY.md"
_FOLDER = "memory"


class Skipped(StrEnum):
    """Why a file is passed over."""

    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"
    LINK = "link"
    UNREADABLE = "unreadable"
    NO_FOLDER = "no_folder"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class ClaudeMemory:
    """One memory file: where it comes from, what its front matter says, and its text."""

    project: str  # Claude's slug of the project, a path with - for all but letters and digits
    path: str
    name: str
    description: str
    type: str | None
    modified: str
    session: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Slugs:
    """A project, as Claude names the folder of its memory; `ending` where no more of it is known."""

    exact: frozenset[str]
    ending: str | None = None

    @classmethod
    def of_folder(cls, folder: str) -> "Slugs":
        """Of a folder, or of the repository with this git common directory."""
        return cls(frozenset((slug(_main_worktree(folder)),)))

    @classmethod
    def of_project(cls, name: str, repositories: Sequence[str]) -> "Slugs":
        """Of a project with its repositories; where none is known its name is looked for at the end."""
        exact = frozenset((name, *(slug(_main_worktree(folder)) for folder in repositories)))
        return cls(exact, None if repositories else f"-{slug(name)}")

    def admits(self, project: str) -> bool:
        return project in self.exact or (self.ending is not None and project.endswith(self.ending))


def _main_worktree(folder: str) -> str:
    return folder.removesuffix("/.git") or "/"


@dataclass(slots=True)
class Reading:
    """The memories that were read, and how many files were passed over, by reason."""

    memories: list[ClaudeMemory] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    def skip(self, reason: Skipped) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


def slug(folder: str) -> str:
    """What Claude calls a project: its path with - for all but letters and digits."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def folders_of(parent: Path) -> list[str]:
    """The names of the folders in a folder; none where it cannot be read. Links are not followed."""
    return [entry.name for entry in _entries(parent) if entry.is_dir(follow_symlinks=False)]


def roots(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders that a variable or the configuration names, none by default; raises `Usage`.

    `MNEME_CLAUDE_MEMORY_DIRS` is read where `MEM_CLAUDE_MEMORY_DIRS` is not set.
    """
    before = "" if environment.get(SETTINGS[SETTING].variable) else environment.get(VARIABLE_BEFORE, "")
    named = (before or str(value(SETTING, environment))).split(os.pathsep)
    for name in filter(str.strip, named):
        if not name.startswith("~") and not Path(name).is_absolute():
            raise Usage(f"{SETTING} names '{name}', which is no absolute path.", hint="Begin it with / or ~.")
    return tuple(dict.fromkeys(expanded(name, environment) for name in named if name.strip()))


def read(roots: Iterable[Path], first: Slugs | None = None) -> Reading:
    """The memories below the roots, those of the project `first` before the others, each text once."""
    reading = Reading()
    texts: dict[tuple[str, bytes], int] = {}
    left, seen = MOST_BYTES, set[str]()
    found = list(_files(roots, reading))
    for project, path in sorted(found, key=lambda one: (first is None or not first.admits(one[0]), *one)):
        if str(path) in seen:
            continue
        seen.add(str(path))
        if len(seen) > MOST_FILES or left <= 0:
            reading.skip(Skipped.TOO_MANY)
            continue
        content, changed = _content(path, reading)
        if content is None:
            continue
        left -= len(content)
        memory = _memory(project, path, content, changed, reading)
        if memory is None:
            continue
        known = texts.get((project, content))
        if known is None:
            texts[(project, content)] = len(reading.memories)
            reading.memories.append(memory)
            continue
        reading.skip(Skipped.REPEATED)
        if memory.modified > reading.memories[known].modified:
            reading.memories[known] = memory
    return reading


def parsed(text: str) -> tuple[dict[str, str], str]:
    """The front matter of a memory file, its `metadata` among the rest, and the body; no text raises.

    Just as much of YAML as these files use: `key: value`, quotes, folded and literal blocks, one level below.
    """
    match = _FRONT.match(text)
    if match is None:
        return {}, text.removeprefix("\ufeff").strip()
    found: dict[str, str] = {}
    above = ""  # the key that an indented line stands under
    lines = match["front"].splitlines()[:_MOST_LINES]
    for number, line in enumerate(lines):
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            continue
        nested, key, value = bool(entry["indent"]), entry["key"], entry["value"].strip()
        if not nested:
            above = key
        elif above != _METADATA:
            continue
        if _BLOCK.fullmatch(value):
            value = " ".join(_block(lines[number + 1 :], len(entry["indent"])))
        # What stands under metadata is the client's own, and newer.
        if nested or key not in found:
            found[key] = _unquoted(value)
    return found, text[match.end() :].strip()


_METADATA = "metadata"
_MOST_LINES = 200  # of a front matter
_FRONT = re.compile(
    r"\ufeff?---[ \t]*\r?\n(?P<front>(?:(?!---[ \t]*\r?$).*\n)*?)---[ \t]*(?:\r?\n|\Z)", re.MULTILINE
)
_ENTRY = re.compile(r"(?P<indent>[ \t]*)(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?P<value>(?:[ \t].*)?)")
_BLOCK = re.compile(r"[>|][+-]?\d?")


def _block(lines: Sequence[str], indent: int) -> Iterator[str]:
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return
        yield line.strip()


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        inner = value[1:-1]
        return inner.replace("''", "'") if value[0] == "'" else re.sub(r'\\(["\\])', r"\1", inner)
    return value


def _memory(
    project: str, path: Path, content: bytes, changed: float, reading: Reading
) -> ClaudeMemory | None:
    try:
        front, text = parsed(content.decode())
    except UnicodeDecodeError:
        reading.skip(Skipped.UNREADABLE)
        return None
    return ClaudeMemory(
        project=project,
        path=os.fsencode(path).decode(errors="backslashreplace"),
        name=front.get("name") or path.stem,
        description=front.get("description", ""),
        type=front.get("type") or None,
        modified=_modified(front.get("modified"), changed),
        session=front.get("originSessionId") or None,
        text=text,
    )


def _modified(said: str | None, changed: float) -> str:
    """When the client says that it changed the file, else when the file was changed."""
    try:
        if said:
            instant = datetime.fromisoformat(said)
            return clock.to_text(instant if instant.tzinfo else instant.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        pass
    return clock.to_text(datetime.fromtimestamp(changed, UTC))


def _files(roots: Iterable[Path], reading: Reading) -> Iterator[tuple[str, Path]]:
    """The memory files of the roots with the projects that they belong to."""
    for root in roots:
        left = [MOST_ENTRIES]
        if not root.is_dir():
            reading.skip(Skipped.NO_FOLDER)
            continue
        for project, folder in _folders(Path(os.path.realpath(root))):
            yield from ((project, path) for path in _below(folder, reading, left, DEEPEST))


def _folders(root: Path) -> Iterator[tuple[str, Path]]:
    """The folders of memory files that a root stands for, each with its project."""
    if root.name == _FOLDER:
        yield root.parent.name, root
        return
    if _is_folder(root / _FOLDER):
        yield root.name, root / _FOLDER
        return
    parent = root / "projects" if _is_folder(root / "projects") else root
    projects = folders_of(parent)
    folders = [(name, parent / name / _FOLDER) for name in projects if _is_folder(parent / name / _FOLDER)]
    yield from folders or [(root.name, root)]


def _below(folder: Path, reading: Reading, left: list[int], depth: int) -> Iterator[Path]:
    for entry in _entries(folder):
        left[0] -= 1
        if left[0] < 0:
            reading.skip(Skipped.TOO_MANY)
            return
        is_memory = entry.name.endswith(".md") and entry.name.casefold() != INDEX.casefold()
        if entry.is_dir(follow_symlinks=False):
            if depth and not entry.name.startswith("."):
                yield from _below(folder / entry.name, reading, left, depth - 1)
        elif entry.is_symlink():
            reading.skip(Skipped.LINK)
        elif is_memory:
            yield folder / entry.name


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _content(path: Path, reading: Reading) -> tuple[bytes | None, float]:
    """The bytes of a plain file and when it was changed; None for anything else."""
    try:
        # What became a link or a pipe since it was found is not waited for, nor followed.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise OSError("no plain file")
            content = file.read(LARGEST_FILE + 1)
    except OSError:
        reading.skip(Skipped.UNREADABLE)
        return None, 0.0
    if len(content) > LARGEST_FILE:
        reading.skip(Skipped.TOO_LARGE)
        return None, 0.0
    return content, state.st_mtime
