"""Where things lie: the store, the configuration, sockets and locks, and the files that ship with `mem`.

`MEM_HOME` moves everything below one folder; without it each platform's own places are used.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
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


def places(environment: Mapping[str, str] | None = None) -> Places:
    """The folders that an environment asks for, by default that of the process as it is now.

    `mem.client` finds the store, the configuration and the sockets by the same rules; a test compares them.
    """
    variables = os.environ if environment is None else environment
    named = variables.get("MEM_HOME")
    if named:
        root = expanded(named, variables)
        return Places(root, root, root / "cache", root / "state", root / "run")
    match sys.platform:
        case "darwin":
            library = _home(variables) / "Library"
            support = library / "Application Support" / "mem"
            cache = library / "Caches" / "mem"
            return Places(support, support, cache, support, _temporary_runtime(variables))
        case "win32":
            local = Path(variables.get("LOCALAPPDATA") or _home(variables) / "AppData" / "Local") / "mem"
            return Places(local, local, local / "cache", local, local / "run")
        case _:
            return Places(
                _xdg(variables, "XDG_DATA_HOME", ".local/share"),
                _xdg(variables, "XDG_CONFIG_HOME", ".config"),
                _xdg(variables, "XDG_CACHE_HOME", ".cache"),
                _xdg(variables, "XDG_STATE_HOME", ".local/state"),
                _linux_runtime(variables),
            )


def store_path(environment: Mapping[str, str] | None = None) -> Path:
    """The store that an environment asks for."""
    variables = os.environ if environment is None else environment
    named = variables.get("MEM_DB")
    return expanded(named, variables) if named else places(variables).store


def expanded(path: str, environment: Mapping[str, str]) -> Path:
    """An absolute path, with the home of that environment for a leading `~`."""
    first, _, rest = path.partition("/")
    if first == "~":
        return Path(_home(environment), rest.lstrip("/")).absolute()
    return Path(path).expanduser().absolute()


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


def _home(environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME")
    return Path(home) if home and os.name != "nt" else Path.home()


def _xdg(environment: Mapping[str, str], variable: str, fallback: str) -> Path:
    base = environment.get(variable, "")
    return (Path(base) if base.startswith("/") else _home(environment) / fallback) / "mem"


def _linux_runtime(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_RUNTIME_DIR", "")
    # Who becomes another user may keep the first one's folder in the environment.
    with suppress(OSError):
        if base.startswith("/") and Path(base).stat().st_uid == os.getuid():
            return Path(base) / "mem"
    return _temporary_runtime(environment)


def _temporary_runtime(environment: Mapping[str, str]) -> Path:
    """A folder of the user's own in the temporary one; `tempfile` would try out where it can write."""
    base = environment.get("TMPDIR", "")
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(base if base.startswith("/") and Path(base).is_dir() else "/tmp") / f"mem-{user}"  # noqa: S108
