"""The versions of one row, as a merge sees them: a set, put in order. Pure; no store is asked.

A row is the union of its versions here and in every file. What a merge derived is no version of it: it stands
in the present with the mark `extra["settled"]`, and is left out as soon as it is read. Once an operation has
changed such a row, what was derived is what that operation found, and so part of the history.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mem.records.format import IDENTITY, SETTLED, VERSION_FIELDS, RecordKind, canonical_json

UNRESOLVED = "_unresolved"  # in `extra`: what a version refers to that is not here, by field
_LISTS: Mapping[RecordKind, tuple[str, ...]] = {
    RecordKind.ENTITY: ("aliases",),
    RecordKind.SESSION: ("tasks",),
    RecordKind.SETTING: (),
    RecordKind.TOMBSTONE: (),
    RecordKind.MEMORY: ("tags", "compressed_from", "flags"),
    RecordKind.RELATION: (),
}
_REALS = ("confidence", "weight")

Said = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Version:
    """What a row said from `changed_at` on; `origin` is that of its event, '' where that stayed at home."""

    said: Said
    origin: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What a version is the same by, and what the versions of a row are ordered by."""
        return self.said["changed_at"], self.origin, self.said.get("event", "")


@dataclass(frozen=True, slots=True)
class History:
    """A row: what names it, and its versions, oldest first. `settled` is what a merge derived of them."""

    kind: RecordKind
    identity: Said
    versions: tuple[Version, ...]
    settled: Said | None = None
    usage: tuple[Said, ...] = ()

    @property
    def base(self) -> Said:
        """What the row says without what is derived."""
        return self.versions[-1].said

    @property
    def present(self) -> Said:
        """What the row says."""
        return self.settled or self.base

    @property
    def uid(self) -> str:
        """The UUID of the row; '' for a setting."""
        return str(self.identity.get("uid", ""))


class Origins(Protocol):
    """Knows the origin of each event that is there, by its UUID."""

    def get(self, event: str, default: str = "", /) -> str:
        """The origin, or the default for an event that is not there."""


def history(kind: RecordKind, record: Mapping[str, Any], origins: Origins) -> History:
    """The history that a record holds."""
    names = VERSION_FIELDS[kind]
    identity = {name: record[name] for name in IDENTITY[kind] if name in record}
    before = [_version(kind, said, origins) for said in record.get("versions", ())]
    present = _version(kind, {name: record[name] for name in names if name in record}, origins)
    settled = None
    if before and is_settled(present.said):
        settled = present.said
    else:
        before.append(present)
    return History(kind, identity, _ordered(before), settled, tuple(record.get("usage", ())))


def union(one: History, other: History) -> History:
    """The row with the versions of both. What was derived for either has to be derived anew."""
    identity = min(one.identity, other.identity, key=_name)
    usage = most((*one.usage, *other.usage))
    return History(one.kind, identity, _ordered((*one.versions, *other.versions)), None, usage)


def same(one: History, other: History) -> bool:
    """Whether two histories have the same versions under the same name."""
    return one.identity == other.identity and [(v.key, v.said) for v in one.versions] == [
        (v.key, v.said) for v in other.versions
    ]


def is_settled(said: Mapping[str, Any]) -> bool:
    """Whether a version was derived by a merge, and by nobody's operation."""
    mark = (said.get("extra") or {}).get(SETTLED)
    return isinstance(mark, dict) and mark.get("at") == said["changed_at"]


def marked(said: Said, changes: Said, *, at: str, why: str, by: str) -> Said:
    """What is derived from a version: its changes, with the mark that says so."""
    extra = {**said.get("extra", {}), SETTLED: {"at": at, "by": by, "why": why}}
    derived = {**said, **changes, "extra": extra, "changed_at": at}
    derived.pop("event", None)
    return {name: value for name, value in derived.items() if value is not None}


def _version(kind: RecordKind, said: Mapping[str, Any], origins: Origins) -> Version:
    kept = {name: value for name, value in said.items() if value is not None}
    extra = kept.pop("extra", None)
    if extra and UNRESOLVED in extra:
        kept = {**extra[UNRESOLVED], **kept}
    if extra and (extra.keys() & {UNRESOLVED, SETTLED}):
        stale = {UNRESOLVED} if is_settled(said) else {UNRESOLVED, SETTLED}
        extra = {name: value for name, value in extra.items() if name not in stale}
    if extra:
        kept["extra"] = extra
    for name in _LISTS[kind]:
        kept.setdefault(name, [])
    for name in _REALS:
        if name in kept:
            kept[name] = float(kept[name])
    return Version(kept, origins.get(kept.get("event", ""), ""))


def _ordered(versions: Iterable[Version]) -> tuple[Version, ...]:
    """Each version once, oldest first; of two that differ under one key the greater JSON stays."""
    versions = list(versions)
    if len(versions) == 1:
        return tuple(versions)
    found: dict[tuple[str, str, str], Version] = {}
    for version in versions:
        known = found.get(version.key)
        if known is None or known.said != version.said:
            found[version.key] = version if known is None else max(known, version, key=_text)
    return tuple(found[key] for key in sorted(found))


def _text(version: Version) -> str:
    return canonical_json(version.said)


def _name(identity: Said) -> tuple[str, str]:
    return identity.get("uid", ""), identity["origin"]


def most(counted: Iterable[Said]) -> tuple[Said, ...]:
    """Per origin the greatest of each number."""
    found: dict[str, Said] = {}
    for entry in counted:
        known = found.get(entry["origin"], {})
        found[entry["origin"]] = {
            "origin": entry["origin"],
            "recalls": max(entry.get("recalls", 0), known.get("recalls", 0)),
            "last_recalled_at": max(entry.get("last_recalled_at") or "", known.get("last_recalled_at") or "")
            or None,
            "restated": max(entry.get("restated", 0), known.get("restated", 0)),
            "extra": max(known.get("extra", {}), entry.get("extra", {}), key=canonical_json),
        }
    return tuple(found[origin] for origin in sorted(found))
