"""Settings files of other programs: read whole, written in one step, their mode and links to them kept."""

import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mem.errors import MemError
from mem.hosts.jsonc import Malformed

_NOTHING = "Nothing was written."


class SettingsUnusable(MemError):
    """Settings of a host cannot be read, understood or written."""

    code = "settings_unusable"


@dataclass(frozen=True, slots=True)
class Settings:
    """A settings file: by the name that the host knows, the file behind that name, and its text, if any."""

    path: Path
    target: Path
    text: str | None


def read(path: Path) -> Settings:
    """The settings at a path, whether or not there are any; raises `SettingsUnusable`."""
    target = path
    try:
        target = path.resolve()
        # By its own name: what `resolve` makes of a link to a pipe is the name of no file.
        regular = stat.S_ISREG(path.stat().st_mode)
        # Opening anything else may wait for ever, or do something.
        if not regular:
            raise SettingsUnusable(f"Cannot read {path}: it is not a regular file.", hint=_NOTHING)
        content = target.read_bytes()
    except FileNotFoundError:
        return Settings(path, target, None)
    except (OSError, RuntimeError) as err:
        reason = err.strerror if isinstance(err, OSError) else "it is a link to itself"
        raise SettingsUnusable(f"Cannot read {path}: {reason}.", hint=_NOTHING) from err
    try:
        return Settings(path, target, content.decode())
    except UnicodeDecodeError as err:
        raise SettingsUnusable(f"{path} is not UTF-8 (byte {err.start}).", hint=_NOTHING) from err


def malformed(path: Path, err: Malformed) -> SettingsUnusable:
    """What to tell of settings that are not JSON, or of another shape than the host's."""
    return SettingsUnusable(
        f"{path}, line {err.line}, column {err.column}: {err}.", hint=f"{_NOTHING} Mend the file first."
    )


def replace(settings: Settings, text: str | None) -> None:
    """Put a text in the place of what was read, or take the file away; raises `SettingsUnusable`.

    A file that has changed since it was read stays.
    """
    if read(settings.path).text != settings.text:
        raise SettingsUnusable(f"{settings.path} changed just now.", hint=f"{_NOTHING} Try again.")
    try:
        if text is None:
            settings.target.unlink(missing_ok=True)
        else:
            settings.target.parent.mkdir(parents=True, exist_ok=True)
            write(settings.target, text.encode())
    except OSError as err:
        raise SettingsUnusable(
            f"Cannot write {settings.path}: {err.strerror}.", hint="Make it writable, or edit it by hand."
        ) from err


def write(target: Path, content: bytes) -> None:
    """Write a file under another name and move it into its place; a new one is for its user alone."""
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o600
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
