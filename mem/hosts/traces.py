"""What installations left in settings files, kept so that they can be taken out to the byte.

One file in the state directory, by settings file: how long and where the added stretches are, which members
were added, and the SHA-256 of the whole. It holds nothing that was in the settings before. Without it an
uninstallation still works, on what can be seen in the settings.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mem.errors import MemError
from mem.hosts import files
from mem.hosts.merge import Trace
from mem.paths import places, private_folder


@dataclass(frozen=True, slots=True)
class Installation:
    """What an installation did: the trace in the text, that text's hash, and what was not there before."""

    sha256: str
    trace: Trace
    made_file: bool
    made_folder: bool


def fingerprint(text: str) -> str:
    """What tells whether a text is still the same."""
    return hashlib.sha256(text.encode()).hexdigest()


def load(target: Path) -> Installation | None:
    """The last installation into a settings file; None if none is known."""
    try:
        one = _all()[str(target)]
        trace = Trace(tuple((start, length) for start, length in one["stretches"]), frozenset(one["members"]))
        return Installation(one["sha256"], trace, one["made_file"], one["made_folder"])
    except (KeyError, TypeError, ValueError):
        return None


def save(target: Path, installation: Installation | None) -> None:
    """Keep what was done to a settings file, or with None forget it; raises `MemError`."""
    known = _all()
    if installation is None:
        if known.pop(str(target), None) is None:
            return
    else:
        known[str(target)] = {
            "sha256": installation.sha256,
            "stretches": installation.trace.stretches,
            "members": sorted(installation.trace.members),
            "made_file": installation.made_file,
            "made_folder": installation.made_folder,
        }
    place = _place()
    try:
        if known:
            files.write(private_folder(place.parent) / place.name, json.dumps(known, indent=1).encode())
        else:
            place.unlink()
    except OSError as err:
        raise MemError(
            f"Cannot write {place}: {err.strerror}.",
            hint="Make it writable, or set MEM_HOME to a folder that is.",
        ) from err


def _place() -> Path:
    return places().state / "hooks.json"


def _all() -> dict[str, Any]:
    try:
        known = json.loads(_place().read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
