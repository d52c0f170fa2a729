"""mem's export format, version 1: what a record is, and what its bytes are.

Promises: an export is UTF-8 JSON Lines. Line 1 is the header: format, version, `exported_at`, `counts` by
kind, `digest` (SHA-256 of all bytes after the header's line end) and, only where something was left out,
`filters`. It says nothing of the store that it came from. Each further line is one record: `record` names its
kind, then its fields follow in the order below, nested objects with sorted keys. A field that holds null is
left out, and so are an empty `extra` and empty `versions` and `usage`. The kinds come in the order of
`RecordKind`, each sorted by its `KEYS`; kinds of a newer version come last. So equal contents are equal
bytes, whatever store wrote them.

Rows refer to each other by UUID. Instants are texts in UTC with microseconds and Z; hashes are hex, vectors
base64 of little-endian Float32. `versions` are what the row said before, oldest first: each has all fields of
`VERSION_FIELDS`, and was replaced at the `changed_at` of the next one, the last by the row itself. `event` is
the event that wrote a version; left out when it is one of `HOME_OPERATIONS`, whose events stay at home. Of a
filtered export the events may be missing that its versions name.

A reader keeps what it does not know: fields of a newer version in `extra["_fields"]` of the row, the version
or the usage (`gathered`), and records of a newer kind in the table of foreign rows, source `mem`. Both are
written again as they came (`canonical`). Later versions only add fields and kinds.

`--format json` is one document: the header's fields without `record`, then `records`; the digest is the same.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

FORMAT = "mem-export"
VERSION = 1
HEADER = "header"
FOREIGN_KINDS = "mem"  # the source of foreign rows that are records of a newer kind; their table is the kind
UNKNOWN_FIELDS = "_fields"
SETTLED = "settled"  # marks in `extra` what a merge derived

# What a store does for its own upkeep: these events are not exported.
HOME_OPERATIONS = frozenset(("import", "backup", "restore-backup", "maintain", "backfill", "migrate-vectors"))


class RecordKind(StrEnum):
    """The kinds of record, in the order in which an export has them."""

    EVENT = "event"
    ENTITY = "entity"
    SESSION = "session"
    SETTING = "setting"
    TOMBSTONE = "tombstone"
    MEMORY = "memory"
    RELATION = "relation"
    MODEL = "model"
    VECTOR = "vector"
    FOREIGN = "foreign"


# The fields of a record, in order, without `versions` and `usage`, which come last.
FIELDS: Mapping[RecordKind, tuple[str, ...]] = {
    RecordKind.EVENT: (
        *("uid", "origin", "sequence", "at", "operation", "actor", "client", "session"),
        *("subjects", "detail", "texts", "previous", "hash", "extra"),
    ),
    RecordKind.ENTITY: (
        *("uid", "origin", "name", "type", "aliases", "project", "summary", "status", "merged_into"),
        *("extra", "recorded_at", "changed_at", "event"),
    ),
    RecordKind.SESSION: (
        *("uid", "origin", "client", "host_session", "project", "started_at", "ended_at", "end_reason"),
        *("tasks", "extra", "changed_at", "event"),
    ),
    RecordKind.SETTING: ("key", "project", "value", "origin", "extra", "changed_at", "event"),
    RecordKind.TOMBSTONE: (
        *("uid", "origin", "entity", "fingerprint", "project", "memory", "reason", "kind"),
        *("recorded_at", "lifted_at", "extra", "changed_at", "event"),
    ),
    RecordKind.MEMORY: (
        *(
            "uid",
            "origin",
            "kind",
            "title",
            "content",
            "rationale",
            "alternatives",
            "category",
            "level",
            "layer",
        ),
        *("importance", "confidence", "project", "entity", "session", "tags", "source", "client"),
        *("status", "status_reason", "status_at", "trust", "trust_reason", "verified_at", "verified_by"),
        *("event_time", "valid_from", "valid_to", "expires_at", "superseded_by", "compressed_from"),
        *("flags", "proposal", "extra", "recorded_at", "changed_at", "event"),
    ),
    RecordKind.RELATION: (
        *("uid", "origin", "from", "to", "type", "weight", "valid_from", "valid_to", "status"),
        *("extra", "recorded_at", "changed_at", "event"),
    ),
    RecordKind.MODEL: ("name", "dimensions", "choice", "mean", "calibration"),
    RecordKind.VECTOR: ("model", "text_hash", "pieces"),
    RecordKind.FOREIGN: ("source", "table", "row"),
}

# What names a row and no version of it repeats. The kinds that have versions are those named here.
IDENTITY: Mapping[RecordKind, tuple[str, ...]] = {
    RecordKind.ENTITY: ("uid", "origin"),
    RecordKind.SESSION: ("uid", "origin"),
    RecordKind.SETTING: ("key", "project", "origin"),
    RecordKind.TOMBSTONE: ("uid", "origin", "entity", "fingerprint", "project"),
    RecordKind.MEMORY: ("uid", "origin"),
    RecordKind.RELATION: ("uid", "origin"),
}
VERSION_FIELDS: Mapping[RecordKind, tuple[str, ...]] = {
    kind: tuple(name for name in FIELDS[kind] if name not in identity) for kind, identity in IDENTITY.items()
}

USAGE_FIELDS = ("origin", "recalls", "last_recalled_at", "restated", "extra")

# What the records of a kind are sorted by; no two have the same. Foreign rows: see `foreign_digest`.
KEYS: Mapping[RecordKind, tuple[str, ...]] = {
    RecordKind.EVENT: ("origin", "sequence"),
    RecordKind.ENTITY: ("uid",),
    RecordKind.SESSION: ("uid",),
    RecordKind.SETTING: ("key", "project"),
    RecordKind.TOMBSTONE: ("entity", "fingerprint", "project"),
    RecordKind.MEMORY: ("uid",),
    RecordKind.RELATION: ("uid",),
    RecordKind.MODEL: ("name",),
    RecordKind.VECTOR: ("text_hash",),
    RecordKind.FOREIGN: ("source", "table"),
}
_KINDS = {kind.value: kind for kind in RecordKind}  # looking up a StrEnum by value takes longer
_NESTED = ("versions", "usage")


def kind_of(record: Mapping[str, Any]) -> RecordKind | None:
    """The kind of a record; None for one of a newer version."""
    return _KINDS.get(record["record"])


def canonical(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as it is written: fields in order, nulls left out, what a newer version said spread again.

    A foreign row of a newer kind becomes that record.
    """
    kind = _KINDS.get(record["record"])
    if kind is None:
        return {"record": record["record"], **sorted_keys(_without_kind(record))}
    if kind is RecordKind.FOREIGN and record["source"] == FOREIGN_KINDS:
        return {"record": record["table"], **sorted_keys(record["row"])}
    known = ("record", *FIELDS[kind])
    written = _written(record, known, skipped=_NESTED)
    if versions := record.get("versions"):
        written["versions"] = [_written(version, VERSION_FIELDS[kind]) for version in versions]
    if usage := record.get("usage"):
        written["usage"] = [_written(entry, USAGE_FIELDS) for entry in usage]
    return written


def encode(record: Mapping[str, Any]) -> bytes:
    """The line of a record, or of the header, with its line end."""
    return line(record if record["record"] == HEADER else canonical(record))


def line(written: Mapping[str, Any]) -> bytes:
    """The line of what `canonical` gave."""
    import orjson

    return orjson.dumps(written, option=orjson.OPT_APPEND_NEWLINE)


def gathered(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record that was read, with the fields that this version does not know in `extra["_fields"]`.

    A record of a newer kind becomes a foreign row.
    """
    kind = _KINDS.get(record["record"])
    if kind is None:
        row = _without_kind(record)
        return {"record": "foreign", "source": FOREIGN_KINDS, "table": record["record"], "row": row}
    if kind in (RecordKind.MODEL, RecordKind.VECTOR, RecordKind.FOREIGN):
        return dict(record)
    known = {"record", *FIELDS[kind]}
    kept = _kept(record, known | set(_NESTED))
    if versions := record.get("versions"):
        said = set(VERSION_FIELDS[kind])
        kept["versions"] = [_kept(version, said) for version in versions]
    if usage := record.get("usage"):
        kept["usage"] = [_kept(entry, set(USAGE_FIELDS)) for entry in usage]
    return kept


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and without blanks: the same text for the same value."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def foreign_digest(row: Mapping[str, Any]) -> bytes:
    """What a foreign row is known by within its source and table, and what these are sorted by: SHA-256."""
    import hashlib

    return hashlib.sha256(canonical_json(row).encode()).digest()


@dataclass(frozen=True, slots=True)
class Header:
    """What the first line says. `filters` are the options that left something out, by name."""

    version: int
    exported_at: str
    counts: Mapping[str, int]
    digest: str
    filters: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """The header as the record that is written."""
        said: dict[str, Any] = {"record": HEADER, "format": FORMAT, "version": self.version}
        said |= {"exported_at": self.exported_at, "counts": dict(self.counts), "digest": self.digest}
        return said | ({"filters": dict(self.filters)} if self.filters else {})


def read_header(said: Mapping[str, Any]) -> Header | None:
    """The header that a first line, or a document of JSON, holds; None if it is none of this format."""
    if said.get("format") != FORMAT or type(said.get("version")) is not int:
        return None
    counts, filters = said.get("counts"), said.get("filters")
    return Header(
        said["version"],
        str(said.get("exported_at", "")),
        {kind: n for kind, n in counts.items() if type(n) is int} if isinstance(counts, dict) else {},
        str(said.get("digest", "")),
        filters if isinstance(filters, dict) else {},
    )


class Tally:
    """The digest and the counts of records, as their lines go by."""

    def __init__(self) -> None:
        import hashlib  # not above: a hook that only reads pays for every import

        self._hash = hashlib.sha256()
        self._counts: Counter[str] = Counter()

    def add(self, kind: str, line: bytes) -> None:
        """Count a record; its line with the line end."""
        self._hash.update(line)
        self._counts[kind] += 1

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind, in the order in which they came."""
        return dict(self._counts)

    @property
    def digest(self) -> str:
        """`sha256:` and the digest of all lines so far."""
        return f"sha256:{self._hash.hexdigest()}"


def _without_kind(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "record"}


def _written(
    said: Mapping[str, Any], known: tuple[str, ...], *, skipped: tuple[str, ...] = ()
) -> dict[str, Any]:
    extra = said.get("extra") or {}
    newer = dict(extra.get(UNKNOWN_FIELDS, {}))
    written = {}
    for name in known:
        value = said.get(name)
        if name == "extra":
            value = {key: extra[key] for key in sorted(extra) if key != UNKNOWN_FIELDS} or None
        if value is not None:
            written[name] = sorted_keys(value) if type(value) is dict or type(value) is list else value
    newer |= {name: said[name] for name in said.keys() - known if name not in skipped}
    return written | sorted_keys(newer) if newer else written


def sorted_keys(value: Any) -> Any:
    """Plain JSON values with the keys of all objects sorted."""
    if isinstance(value, dict):
        return {name: sorted_keys(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [sorted_keys(item) for item in value]
    return value


def _kept(said: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    unknown = said.keys() - known
    if not unknown:
        return dict(said)
    kept = {name: value for name, value in said.items() if name not in unknown}
    newer = {name: said[name] for name in sorted(unknown)}
    return kept | {"extra": {**(said.get("extra") or {}), UNKNOWN_FIELDS: newer}}
