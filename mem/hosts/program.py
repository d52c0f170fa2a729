"""How a host starts this `mem`: it may know no PATH, so by an absolute path."""

import os
import shutil
import sys
from pathlib import Path

from mem.errors import MemError

_NAMES = ("mem.exe", "mem") if os.name == "nt" else ("mem",)


def program() -> tuple[str, ...]:
    """The words that start this `mem`: its command, else the interpreter with the module.

    The command is that of this call, else the one beside the interpreter, else the first on the PATH. Links
    stay as they are: they outlive the version behind them.
    """
    called = Path(sys.argv[0])
    beside = [Path(sys.executable).parent / name for name in _NAMES]
    known = [Path(found) for name in _NAMES if (found := shutil.which(name))]
    for candidate in [*([called] if called.name in _NAMES else []), *beside, *known]:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return (_told(os.path.abspath(candidate)),)  # noqa: PTH100  (`resolve` would follow links)
    return (_told(sys.executable), "-m", "mem")


def _told(path: str) -> str:
    """A path that can stand in a settings file."""
    try:
        path.encode()
    except UnicodeEncodeError as err:
        raise MemError(
            f"{path!r} is not UTF-8, so no settings can name it.", hint="Install mem elsewhere."
        ) from err
    return path
