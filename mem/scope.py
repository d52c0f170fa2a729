"""Which project a folder belongs to, found by reading `.git` and `commondir`, never by running git."""

import re
from dataclasses import dataclass
from pathlib import Path

REMOTE_SECTION = re.compile(r"\[remote \"origin\"\](?P<body>[^\[]*)")
REMOTE_URL = re.compile(r"^\s*url\s*=\s*(\S+)", re.MULTILINE)
_LARGEST_CONFIG = 1_000_000


@dataclass(frozen=True, slots=True)
class Root:
    """A git repository as a project is recognised by it: all worktrees of a clone share one."""

    common_directory: str
    name: str
    remote: str | None


def find_root(folder: Path) -> Root | None:
    """The repository that a folder lies in, or None; unreadable or odd files count as no repository."""
    try:
        start = folder.resolve()
        for candidate in (start, *start.parents):
            git = candidate / ".git"
            if git.is_dir() and (git / "HEAD").is_file():
                return _root(git)
            if git.is_file():
                return _linked(git)
    except (OSError, ValueError):
        return None
    return None


def _linked(file: Path) -> Root | None:
    """A worktree or submodule: `.git` is a file that points at its own git directory."""
    text = file.read_text(encoding="utf-8", errors="replace")[:4096]
    if not text.startswith("gitdir:"):
        return None
    git = Path(file.parent, text.removeprefix("gitdir:").strip()).resolve()
    shared = git / "commondir"
    if not shared.is_file():
        return _root(git, name=file.parent.name)
    return _root(Path(git, shared.read_text(encoding="utf-8", errors="replace").strip()).resolve())


def _root(common: Path, *, name: str | None = None) -> Root:
    """The repository named after the folder around `.git`; a bare one by its own name without `.git`."""
    own = common.parent.name if common.name == ".git" else common.name.removesuffix(".git")
    return Root(str(common), name or own or "root", _remote(common / "config"))


def _remote(config: Path) -> str | None:
    if not config.is_file() or config.stat().st_size > _LARGEST_CONFIG:
        return None
    section = REMOTE_SECTION.search(config.read_text(encoding="utf-8", errors="replace"))
    url = REMOTE_URL.search(section["body"]) if section else None
    return _without_secrets(url[1]) if url else None


def _without_secrets(url: str) -> str:
    """One spelling for one remote: no user or password, no `.git`, no closing slash."""
    bare = re.sub(r"^(\w+://)[^/@]*@", r"\1", url)
    return bare.rstrip("/").removesuffix(".git")
