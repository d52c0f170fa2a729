"""Where things lie: the store, the configuration, sockets and locks, and the files that ship with `mem`.

`MEM_HOME` moves everything below one folder; without it each platform's own places are used.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from mem.errors import StoreUnusable


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one user's `mem`; none of them need exist yet."""

    data: Path
    config: Path
    cache: Path
    state: Path
    runtime: Path

    @property
    def store(self) -> Path:
        return self.data / "memory.db"

    @property
    def configuration(self) -> Path:
        return self.config / "config.toml"


def places() -> Places:
    """The folders that the environment asks for, read now, so that a test or a hook can move them."""
    home = os.environ.get("MEM_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Places(root, root, root / "cache", root / "state", root / "run")
    match sys.platform:
        case "darwin":
            library = Path.home() / "Library"
            support = library / "Application Support" / "mem"
            return Places(support, support, library / "Caches" / "mem", support, _temporary_runtime())
        case "win32":
            local = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "mem"
            return Places(local, local, local / "cache", local, local / "run")
        case _:
            return Places(
                _xdg("XDG_DATA_HOME", ".local/share"),
                _xdg("XDG_CONFIG_HOME", ".config"),
                _xdg("XDG_CACHE_HOME", ".cache"),
                _xdg("XDG_STATE_HOME", ".local/state"),
                _linux_runtime(),
            )


def private_folder(folder: Path) -> Path:
    """The folder, made with mode 0700 where it is missing; raises `StoreUnusable`."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as err:
        raise StoreUnusable(
            f"Cannot make the folder {folder}: {err.strerror}.",
            hint="Make it writable, or set MEM_HOME to a folder that is.",
        ) from err
    return folder


def shipped(*names: str) -> Path:
    """A file or folder that ships with `mem`, found in a wheel and in a checkout alike."""
    package = Path(__file__).parent
    packed = package.joinpath("data", *names)
    return packed if packed.exists() else package.parent.joinpath(*names)


def bundled_model() -> Path:
    """The folder of the embedding model that is part of the package."""
    return Path(__file__).parent / "models" / "multilingual-e5-small"


def _xdg(variable: str, fallback: str) -> Path:
    base = os.environ.get(variable, "")
    return (Path(base) if base.startswith("/") else Path.home() / fallback) / "mem"


def _linux_runtime() -> Path:
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    return Path(base) / "mem" if base.startswith("/") and Path(base).is_dir() else _temporary_runtime()


def _temporary_runtime() -> Path:
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"mem-{user}"
