"""Backups: whole stores in one file each, that are checked before they get their name.

Those without a name of the user's own are called after the store and the instant, in the folder `backups`
under the data of `mem`. Only such files, and only of the same store, does `mem` ever remove by itself.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mem import clock
from mem.errors import MemError, Usage
from mem.exchange import exporting
from mem.paths import Places, private_folder
from mem.results import BackedUp
from mem.store import copies, integrity, origins
from mem.store.connect import Store
from mem.values import Notice


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup that `mem` has named itself."""

    path: Path
    at: datetime


def folder(places: Places) -> Path:
    """Where backups lie that nobody gave a name."""
    return places.data / "backups"


def back_up(store: Store, places: Places, target: Path | None, *, keep: int | None = None) -> BackedUp:
    """Write the store to a file, by default one of our own; then only `keep` of those stay.

    Raises `MemError` with nothing written or removed.
    """
    if target is not None:
        if keep is not None:
            raise Usage("keep is for backups without a name.", hint="Leave FILE out: mem backup --keep 7")
        if target.name == "-":
            raise Usage("A backup is not written to standard output.", hint="Name a file: mem backup FILE")
        copies.require_free(target)
    else:
        private_folder(places.data)
        here = private_folder(folder(places))
        copies.clear_unfinished(here, _NAMED_BEFORE)
        target = here / f"{store.path.stem}-{_stamp()}.db"
    copies.copy(store, target)
    return described(target, removed=() if keep is None else _prune(store, target, keep))


def aside_path(store: Path) -> Path:
    """Where the state of a store is kept that another one replaces now."""
    return store.with_name(f"{store.name}.before-restore-{_stamp()}")


def described(file: Path, *, removed: tuple[str, ...] = ()) -> BackedUp:
    """A backup as it is told of, read from the file itself."""
    with copies.opened(file) as db:
        memories = int(db.execute("SELECT count(*) FROM memories").get)
        broken = integrity.broken_link(db)
        digest = exporting.digest(db)
    warnings = () if broken is None else (chain_breaks(broken),)
    return BackedUp(str(file), file.stat().st_size, memories, digest, removed, warnings)


def chain_breaks(event: int) -> Notice:
    """That the audit log of a copy does not fit, which was so in the store."""
    return Notice("chain_broken", f"Its audit log does not fit at event {event}. See: mem doctor --audit")


def own(store: Store, here: Path) -> list[Kept]:
    """The backups of a store in a folder that `mem` has named itself, oldest first."""
    with store.read() as db:
        ours = origins.lineage(db)
    found = []
    for file, named in _named(here):
        if named["store"] == store.path.stem and _is_of(file, ours):
            at = datetime.strptime(named["instant"], copies.INSTANT_FORM).replace(tzinfo=UTC)
            found.append(Kept(file, at))
    return sorted(found, key=lambda kept: kept.at)


# What a process leaves that is killed over one of these.
_NAMED_BEFORE = re.compile(rf"{copies.BACKUP.pattern}\.\d+\.new")


def left_beside(store: Path) -> re.Pattern[str]:
    """The names of what is left beside a store by a process that was killed while it restored one."""
    return re.compile(rf"{re.escape(store.name)}\.(restoring|before-restore-[^.]+\.\d+Z)\.\d+\.new")


def _prune(store: Store, newest: Path, keep: int) -> tuple[str, ...]:
    """Remove the oldest backups of a store beyond so many, whatever the clock said; gives their paths."""
    others = [kept for kept in own(store, newest.parent) if kept.path != newest]
    removed = []
    for kept in others[: max(0, len(others) - keep + 1)]:
        with suppress(OSError):
            kept.path.unlink()
            removed.append(str(kept.path))
    return tuple(removed)


def _named(here: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    with suppress(OSError):
        for file in here.iterdir():
            named = copies.BACKUP.fullmatch(file.name)
            if named and file.is_file() and not file.is_symlink():
                yield file, named.groupdict()


def _is_of(file: Path, ours: frozenset[str]) -> bool:
    try:
        with copies.opened(file) as db:
            return bool(origins.lineage(db) & ours)
    except MemError:
        return False


def _stamp() -> str:
    return clock.now().astimezone(UTC).strftime(copies.INSTANT_FORM)
