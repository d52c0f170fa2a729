"""The SQLite file of mneme (`tokenmem.db`, `engram.db`): every column of every table has a place here.

What becomes what:

- a memory becomes a learning, a compression product a summary; `memory_type` is the layer, `memory_level`
  the level, `summary` the title; what was deleted softly is archived, as expired where its time was over;
- a supersede chain becomes superseded memories with their intervals. A prior version whose own row is gone
  becomes such a memory as well, so that its text stays in the line of successors;
- quarantine becomes proposed (pending) or rejected with a tombstone; what was approved is its memory already;
- entities become entities, their mentions stand in the memory's extra;
- vectors, whether JSON text or Float32 bytes, are offered for what they were made from: the content alone;
- conversations, goals, locations, episodes, search misses and traces have no counterpart, and are kept as
  they are among the foreign rows. So is every other column, in the memory's extra under `mneme`.
"""

import base64
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from mem import clock
from mem.errors import Usage
from mem.exchange.lines import parsed
from mem.exchange.sources import Format, Found, Reader, named_uid
from mem.store import foreign_files
from mem.truth.fingerprint import fingerprint, text_hash
from mem.values import Kind

_SOURCE = Format.MNEME
_ORIGIN = named_uid(_SOURCE, "store")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What has a field of its own, or says nothing that its row does not.
_MAPPED = frozenset(
    (
        *("rowid", "id", "content", "summary", "memory_type", "category", "importance", "source", "tags"),
        *("memory_level", "content_vector", "created_at", "access_count", "last_accessed", "expires_at"),
        *("deleted_at", "superseded_by", "prior_versions", "event_time", "source_host"),
    )
)
_NOTHING: tuple[Any, ...] = (None, "", "[]", "{}", 0)
_KEPT_AS_THEY_ARE = ("conversations", "goals", "locations", "episodes", "search_misses", "recall_traces")
_JSON = frozenset(("metadata", "compressed_from", "aliases", "participants", "kept_ids", "steps"))


@dataclass(slots=True)
class _Line:
    """What is known of the whole file before its rows are read: who replaced whom, and who is mentioned."""

    uids: dict[int, str] = field(default_factory=dict)
    contents: set[bytes] = field(default_factory=set)  # hashes of what rows say
    changed: dict[str, str] = field(default_factory=dict)  # by UUID
    begins: dict[int, int] = field(default_factory=dict)  # when the row replaced others
    ceased: dict[int, int] = field(default_factory=dict)  # when the row was replaced
    mentions: dict[int, list[str]] = field(default_factory=dict)
    reviews: dict[int, dict[str, Any]] = field(default_factory=dict)


def _recognises(path: Path, head: bytes) -> bool:
    if not head.startswith(foreign_files.MAGIC):
        return False
    with foreign_files.opened(path) as db:
        return {"memory_type", "memory_level"} <= set(foreign_files.columns(db, "memories"))


def _read(path: Path) -> Iterator[Found]:
    with foreign_files.opened(path) as db:
        try:
            line = _lined_up(db)
        except KeyError as err:
            told = f"{path} is no file of mneme: its rows have no {err}."
            raise Usage(told, hint="Name another file.") from None
        yield from _entities(db)
        for row in foreign_files.rows(db, "memories"):
            place = f"memories {row['rowid']}"
            try:
                yield from _memory(row, line, place)
            except (ValueError, TypeError, OverflowError, KeyError) as err:
                yield Found(place, None, f"It cannot be read: {err}.")
        yield from _quarantine(db, line)
        for table in _KEPT_AS_THEY_ARE:
            for row in foreign_files.rows(db, table):
                kept = {name: _plain(name, value) for name, value in row.items() if name != "rowid"}
                foreign = {"record": "foreign", "source": str(_SOURCE), "table": table, "row": kept}
                yield Found(f"{table} {row['rowid']}", foreign)


READER = Reader(_SOURCE, _recognises, _read)


def _lined_up(db: apsw.Connection) -> _Line:
    line = _Line()
    for row in foreign_files.rows(db, "memories"):
        number = int(row["rowid"])
        line.uids[number] = named_uid(_SOURCE, str(row["id"]))
        line.contents.add(text_hash(str(row["content"])))
    for row in foreign_files.rows(db, "memories"):
        number = int(row["rowid"])
        for prior in _list(row["prior_versions"]):
            merged, source = prior.get("merged_at"), _number(prior.get("source_rowid"))
            if isinstance(merged, int | float):
                line.begins[number] = max(line.begins.get(number, 0), int(merged))
                if source in line.uids:
                    line.ceased.setdefault(source, int(merged))
    names = {row["id"]: str(row["name"]) for row in foreign_files.rows(db, "entities")}
    for row in foreign_files.rows(db, "mentions"):
        line.mentions.setdefault(int(row["memory_rowid"]), []).append(names.get(row["entity_id"], "?"))
    for row in foreign_files.rows(db, "memories_quarantine"):
        if (merged_row := _number(row["merged_rowid"])) is not None:
            line.reviews[merged_row] = {
                "qid": row["qid"],
                "reviewed_at": _instant(row["reviewed_at"]),
                "review_note": row["review_note"],
            }
    return line


def _memory(row: Mapping[str, Any], line: _Line, place: str) -> Iterator[Found]:
    number, uid = int(row["rowid"]), line.uids[int(row["rowid"])]
    recorded = _required(row["created_at"])
    record = _said(row, uid, recorded)
    record["valid_from"] = _instant(line.begins.get(number))
    record["extra"] = {_SOURCE.value: _left(row, line)}
    ended = _ended(row, line, recorded)
    first = {name: value for name, value in record.items() if name in _OF_VERSIONS}
    if ended:
        first |= {"status": "active", "changed_at": recorded}
        record |= {**ended, "versions": [first]}
    record["changed_at"] = record.get("status_at") or recorded
    line.changed[uid] = record["changed_at"]
    if is_session := _is_summary_of_session(row):
        record["session"] = named_uid(_SOURCE, f"session:{row['source_id']}")
    record["usage"] = [
        {
            "origin": _ORIGIN,
            "recalls": max(0, int(row["access_count"] or 0)),
            "last_recalled_at": _instant(row["last_accessed"]) if row["access_count"] else None,
            "restated": 0,
        }
    ]
    if is_session:
        yield Found(place, _session(row, recorded))
    yield Found(place, record)
    for order, prior in enumerate(_list(row["prior_versions"])):
        yield from _prior(prior, row, record, line, f"{place}, prior version {order + 1}", order)
    if vector := _vector(row["content_vector"]):
        offered = {"record": "vector", "model": "", "text": row["content"], "pieces": [vector]}
        yield Found(place, {**offered, "text_hash": text_hash(str(row["content"])).hex()})


def _said(row: Mapping[str, Any], uid: str, recorded: str) -> dict[str, Any]:
    platform = row.get("source_platform")
    return {
        "record": "memory",
        "uid": uid,
        "origin": _ORIGIN,
        "kind": (Kind.SUMMARY if row["source"] == "compression" else Kind.LEARNING).value,
        "title": row["summary"] or None,
        "content": row["content"],
        "category": row["category"],
        "level": row["memory_level"],
        "layer": row["memory_type"],
        "importance": row["importance"],
        "tags": _list(row["tags"]),
        "source": row["source"],
        "client": row.get("source_host") or (platform if platform != "unknown" else None),
        "status": "active",
        "event_time": _instant(row.get("event_time")),
        "expires_at": _instant(row["expires_at"]),
        "recorded_at": recorded,
    }


_OF_VERSIONS = frozenset(
    (
        *("kind", "title", "content", "category", "level", "layer", "importance", "tags", "source"),
        *("client", "status", "event_time", "expires_at", "valid_from", "extra", "recorded_at"),
    )
)


def _ended(row: Mapping[str, Any], line: _Line, recorded: str) -> dict[str, Any]:
    """How the row ceased to be live, if it did: replaced, outlived, or deleted."""
    number, deleted = int(row["rowid"]), row["deleted_at"]
    successor = line.uids.get(_number(row["superseded_by"]) or 0)
    if successor is not None:
        at = _after(recorded, _instant(line.ceased.get(number) or deleted))
        return {
            "status": "superseded",
            "status_at": at,
            "valid_to": at,
            "superseded_by": successor,
        }
    if deleted is None:
        return {}
    at = _after(recorded, _instant(deleted))
    if row["superseded_by"]:
        return {"status": "archived", "status_at": at, "status_reason": "superseded by a memory that is gone"}
    expires = row["expires_at"]
    outlived = expires is not None and expires <= deleted
    return {
        "status": "archived",
        "status_at": at,
        "status_reason": "expired" if outlived else "deleted in mneme",
    }


def _prior(
    prior: Mapping[str, Any],
    row: Mapping[str, Any],
    successor: Mapping[str, Any],
    line: _Line,
    place: str,
    order: int,
) -> Iterator[Found]:
    """A text that the row replaced, where no row of its own says it any more."""
    source, content = _number(prior.get("source_rowid")), prior.get("content")
    if not isinstance(content, str) or not content:
        yield Found(place, None, "A prior version without content.")
        return
    if text_hash(content) in line.contents:
        return
    recorded = _instant(prior.get("created_at")) or successor["recorded_at"]
    at = _after(recorded, _instant(prior.get("merged_at")) or successor["recorded_at"])
    gone = {
        **{name: successor.get(name) for name in ("category", "level", "layer", "importance", "tags")},
        "record": "memory",
        "uid": named_uid(_SOURCE, f"{row['id']}:prior:{order}"),
        "origin": _ORIGIN,
        "kind": successor["kind"],
        "title": prior.get("summary") or None,
        "content": content,
        "source": row["source"],
        "client": prior.get("source_host"),
        "recorded_at": recorded,
    }
    said = {name: value for name, value in gone.items() if name in _OF_VERSIONS}
    yield Found(
        place,
        {
            **gone,
            "status": "superseded",
            "status_at": at,
            "valid_to": at,
            "superseded_by": successor["uid"],
            "extra": {_SOURCE.value: {"prior_version_of": row["rowid"], "source_rowid": source}},
            "changed_at": at,
            "versions": [{**said, "status": "active", "changed_at": recorded}],
        },
    )


def _quarantine(db: apsw.Connection, line: _Line) -> Iterator[Found]:
    for row in foreign_files.rows(db, "memories_quarantine"):
        place, status = f"memories_quarantine {row['qid']}", row["review_status"]
        if _number(row["merged_rowid"]) in line.uids:
            continue  # its memory says so
        recorded = _required(row["created_at"])
        uid = named_uid(_SOURCE, f"quarantine:{row['qid']}:{row['content_hash']}")
        record = _said({**row, "expires_at": None}, uid, recorded)
        named = ("qid", "content_hash", "metadata", "source_platform")
        kept = {name: _plain(name, row[name]) for name in named if row[name] not in _NOTHING}
        record["extra"] = {_SOURCE.value: {"quarantine": kept}}
        asked = [
            number for one in _list(row["supersedes_requested"]) if (number := _number(one)) in line.uids
        ]
        if asked and status == "pending":
            uids = [line.uids[number] for number in asked]
            record["proposal"] = {"replaces": uids, "seen": [line.changed[one] for one in uids]}
        elif asked:
            kept["supersedes_requested"] = asked
        record |= {"status": "proposed", "changed_at": recorded}
        if status != "pending":
            waiting = {name: value for name, value in record.items() if name in _OF_VERSIONS}
            at = _after(recorded, _instant(row["reviewed_at"]))
            reason = row["review_note"] or "rejected in mneme"
            record |= {"status": "rejected", "status_at": at, "status_reason": reason, "changed_at": at}
            record["versions"] = [{**waiting, "changed_at": recorded}]
            yield Found(place, _tombstone(record, at, reason))
        yield Found(place, record)


def _tombstone(record: Mapping[str, Any], at: str, reason: str) -> dict[str, Any]:
    said = fingerprint(Kind.LEARNING, record["title"], record["content"])
    return {
        "record": "tombstone",
        "uid": named_uid(_SOURCE, f"tombstone:{said.hex()}"),
        "origin": _ORIGIN,
        "fingerprint": said.hex(),
        "memory": record["uid"],
        "reason": reason,
        "kind": "rejected",
        "recorded_at": at,
        "changed_at": at,
    }


def _entities(db: apsw.Connection) -> Iterator[Found]:
    for row in foreign_files.rows(db, "entities"):
        at = _required(row["created_at"])
        changed = _instant(row["deleted_at"]) or _instant(row["updated_at"]) or at
        record = {
            "record": "entity",
            "uid": named_uid(_SOURCE, f"entity:{row['type']}:{row['normalized']}"),
            "origin": _ORIGIN,
            "name": row["name"],
            "type": row["type"],
            "aliases": _list(row["aliases"]),
            "status": "active" if row["deleted_at"] is None else "undone",
            "extra": {_SOURCE.value: {"id": row["id"], "mention_count": row["mention_count"]}},
            "recorded_at": at,
            "changed_at": max(changed, at),
        }
        yield Found(f"entities {row['rowid']}", record)


def _is_summary_of_session(row: Mapping[str, Any]) -> bool:
    return row["source"] == "compression" and bool(row["source_id"]) and "compact" in _list(row["tags"])


def _session(row: Mapping[str, Any], at: str) -> dict[str, Any]:
    return {
        "record": "session",
        "uid": named_uid(_SOURCE, f"session:{row['source_id']}"),
        "origin": _ORIGIN,
        "client": row["source_platform"],
        "host_session": row["source_id"],
        "started_at": at,
        "ended_at": at,
        "end_reason": "imported",
        "tasks": [],
        "changed_at": at,
    }


def _left(row: Mapping[str, Any], line: _Line) -> dict[str, Any]:
    """What has no field of its own here, but for what says nothing."""
    kept = {
        name: _plain(name, value)
        for name, value in row.items()
        if name not in _MAPPED and value not in _NOTHING
    }
    number = int(row["rowid"])
    kept |= {"rowid": number, "id": row["id"]}
    if row["superseded_by"] and _number(row["superseded_by"]) not in line.uids:
        kept["superseded_by"] = row["superseded_by"]
    if number in line.mentions:
        kept["mentions"] = line.mentions[number]
    if number in line.reviews:
        kept["quarantine"] = line.reviews[number]
    return kept


def _plain(name: str, value: Any) -> Any:
    """A value as JSON has it: lists and objects that are kept as text are read."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if name in _JSON and isinstance(value, str):
        try:
            return parsed(value)
        except ValueError:
            return value
    return value


def _vector(stored: Any) -> str:
    """The vector in base64, whichever of the two forms it has; empty for junk."""
    numbers: tuple[float, ...] = ()
    if isinstance(stored, bytes) and len(stored) % 4 == 0:
        numbers = struct.unpack(f"<{len(stored) // 4}f", stored)
    elif isinstance(stored, str):
        try:
            given = parsed(stored)
            numbers = tuple(map(float, given)) if isinstance(given, list) else ()
            struct.pack(f"<{len(numbers)}f", *numbers)
        except (ValueError, TypeError, OverflowError):
            return ""
    if not numbers or not all(map(math.isfinite, numbers)) or not any(numbers):
        return ""
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def _list(stored: Any) -> list[Any]:
    try:
        found = parsed(stored) if isinstance(stored, str) else stored
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _number(value: Any) -> int | None:
    text = str(value).strip() if value is not None else ""
    return int(text) if text.isascii() and text.isdigit() else None


def _instant(milliseconds: Any) -> str | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    return clock.to_text(_EPOCH + timedelta(milliseconds=milliseconds))


def _required(milliseconds: Any) -> str:
    instant = _instant(milliseconds)
    if instant is None:
        raise ValueError(f"'{milliseconds}' is no time in milliseconds")
    return instant


def _after(begin: str, at: str | None) -> str:
    """An instant that lies after another."""
    following = clock.to_text(clock.from_text(begin) + clock.MICROSECOND)
    return max(at or following, following)
