"""Which project a folder belongs to, found by reading `.git` and `commondir`, never by running git."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

_REMOTE_SECTION = re.compile(
    r"^\s*\[remote\s+\"origin\"\](?P<body>.*?)(?=^\s*\[|\Z)", re.MULTILINE | re.DOTALL | re.IGNORECASE
)
_REMOTE_URL = re.compile(r"^\s*url\s*=\s*\"?([^\"\n]*)", re.MULTILINE | re.IGNORECASE)
_HELPER = re.compile(r"[\w.+-]+::")  # ext::ssh -i key …: a command, no address
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_LARGEST_CONFIG = 1_000_000
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Root:
    """A git repository as a project is recognised by it: all worktrees of a clone share one.

    `remote` is one spelling for one remote, `host/path` or a path, and holds no credentials.
    """

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
                return _root(git.resolve(), name=candidate.name)
            if git.is_file():
                return _linked(git)
            if _is_bare(candidate):
                return _root(candidate)
    except (OSError, ValueError):
        return None
    return None


def _is_bare(folder: Path) -> bool:
    """Whether a folder is a git directory itself: a bare repository, or the inside of `.git`."""
    return (folder / "HEAD").is_file() and all((folder / part).is_dir() for part in ("objects", "refs"))


def _linked(file: Path) -> Root | None:
    """A worktree or submodule: `.git` is a file that points at its own git directory."""
    text = file.read_text(encoding="utf-8", errors="surrogateescape")[:4096]
    if not text.startswith("gitdir:"):
        return None
    git = Path(file.parent, text.removeprefix("gitdir:").strip()).resolve()
    if not (git / "HEAD").is_file():
        return None
    shared = git / "commondir"
    if not shared.is_file():
        return _root(git, name=file.parent.name)
    return _root(Path(git, shared.read_text(encoding="utf-8", errors="surrogateescape").strip()).resolve())


def _root(common: Path, *, name: str | None = None) -> Root:
    """The repository named after the folder around `.git`; a bare one by its own name without `.git`.

    A bare one whose name is hidden (`app/.bare`, with worktrees beside it) has that of the folder around it.
    """
    own = common.parent.name if common.name.startswith(".") else common.name.removesuffix(".git")
    return Root(_readable(str(common)), _named(name or own), _remote(common / "config"))


def _readable(path: str) -> str:
    """A path that any encoding can write; bytes that are no UTF-8 appear as `\\xe9`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _named(name: str) -> str:
    """The name of a folder as that of a project: one printable line."""
    line = "".join(mark if mark.isprintable() else "_" for mark in _readable(name)).strip()
    return line[:_LONGEST_NAME].strip() or "root"


def _remote(config: Path) -> str | None:
    if not config.is_file() or config.stat().st_size > _LARGEST_CONFIG:
        return None
    section = _REMOTE_SECTION.search(config.read_text(encoding="utf-8", errors="replace"))
    url = _REMOTE_URL.search(section["body"]) if section else None
    return _address(re.split(r"\s[#;]", url[1])[0].strip()) if url else None


def _address(url: str) -> str | None:
    """A remote without scheme, user, password, query and `.git`; None where it names no one place."""
    if _HELPER.match(url):
        return None
    scheme, has_scheme, rest = url.partition("://")
    is_path = url.startswith("/") or _DRIVE.match(url) is not None
    if is_path or scheme.casefold() == "file":
        return (rest if has_scheme and not is_path else url).rstrip("/").removesuffix(".git") or None
    if not has_scheme and ":" not in url.partition("/")[0]:
        return None  # a relative path: another place for each clone
    # A password may hold any character, even a slash, so all before the last @ goes.
    place = re.split("[?#]", (rest if has_scheme else url).rpartition("@")[2])[0]
    host, _, path = place.partition("/") if has_scheme else place.partition(":")
    path = path.strip("/").removesuffix(".git")
    return f"{host.casefold()}/{path}" if host and path else None
