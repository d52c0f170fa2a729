"""Claude Code's own memory files as records: each file one memory, that an edit of the file updates.

A file is known by its project and its place in the folder, so the same file gives the same memory again, on
every machine. Its record says neither a status nor when it was first written: the store has both.
"""

from collections.abc import Iterator
from pathlib import Path

from mem.exchange import claude_memory
from mem.exchange.claude_memory import ClaudeMemory
from mem.exchange.sources import Format, Found, Reader, named_uid
from mem.scope import find_root

_SOURCE = Format.CLAUDE_MEMORY
_CATEGORIES = {"user": "people", "feedback": "feedback", "project": "project"}
_IMPORTANCE = {"user": 8, "feedback": 8, "project": 7}
_MOST_FOLDERS = 10_000  # that are looked at for the one that a slug stands for


def _recognises(path: Path, head: bytes) -> bool:
    if path.is_dir():
        return True
    return (
        path.suffix == ".md" and path.parent.name == "memory" and head.lstrip(b"\xef\xbb\xbf")[:3] == b"---"
    )


def _read(path: Path) -> Iterator[Found]:
    root = path if path.is_dir() else path.parent
    reading = claude_memory.read([root])
    wanted = None if path.is_dir() else str(path.resolve())
    projects: dict[str, str] = {}
    for memory in reading.memories:
        if wanted is None or memory.path == wanted:
            name = projects.setdefault(memory.project, _project(memory.project))
            yield _record(memory, name)
    for reason, count in sorted(reading.skipped.items()):
        if wanted is None and reason != claude_memory.Skipped.REPEATED:
            yield Found(str(root), None, f"{count} files were passed over: {reason}.")


READER = Reader(_SOURCE, _recognises, _read)


def _record(memory: ClaudeMemory, project: str) -> Found:
    text = memory.text or memory.description
    if not text:
        return Found(memory.path, None, "The file holds no text.")
    kind = (memory.type or "").casefold()
    told = {
        "file": _place(memory.path),
        "name": memory.name,
        "description": memory.description,
        "type": memory.type,
        "session": memory.session,
    }
    record = {
        "record": "memory",
        "uid": named_uid(_SOURCE, f"{memory.project}/{_place(memory.path)}"),
        "origin": named_uid(_SOURCE, "store"),
        "title": memory.description or memory.name,
        "content": text,
        "category": _CATEGORIES.get(kind, "general"),
        "importance": _IMPORTANCE.get(kind, 6),
        "project": project,
        "tags": [str(_SOURCE), *([kind] if kind else [])],
        "source": str(_SOURCE),
        "extra": {str(_SOURCE): {name: value for name, value in told.items() if value}},
        "changed_at": memory.modified,
    }
    return Found(memory.path, record)


def _place(path: str) -> str:
    """A file's path below the folder of its project's memory."""
    parts = Path(path).parts
    below = len(parts) - 1 - parts[::-1].index("memory") if "memory" in parts[:-1] else len(parts) - 2
    return "/".join(parts[below + 1 :])


def _project(slug: str) -> str:
    """The project of a folder that Claude names by its path, if that is on this machine, else the slug."""
    left = [_MOST_FOLDERS]
    folder = _folder(Path("/"), slug, left) if slug.startswith("-") else None
    if folder is None:
        return slug
    root = find_root(folder)
    return root.name if root else folder.name


def _folder(parent: Path, slug: str, left: list[int]) -> Path | None:
    """The folder whose path reads so once all but letters and digits are hyphens."""
    for name in claude_memory.folders_of(parent):
        left[0] -= 1
        if left[0] < 0:
            return None
        written = "-" + claude_memory.slug(name)
        if slug == written:
            return parent / name
        if slug.startswith(written + "-"):
            found = _folder(parent / name, slug[len(written) :], left)
            if found is not None:
                return found
    return None
