"""The export of local-memory-mcp (`studiomeyer-memory-export`), as its tool gives it: whole, or `data` alone.

What becomes what:

- a learning stays one; importance 0-1 becomes 0-10, `memoryType` the level (episodic: concrete_trace,
  semantic: semi_abstract), `ephemeral` the layer short_term, `usageCount` how often it was restated;
  `archived:<reason>` becomes archived with that reason, `verified` the trust;
- a decision stays one: `decision` is its content, `reasoning` its rationale;
- an observation stays one. One that was closed is superseded: by the one observation of its entity that
  begins where it ends, for that format keeps no links, else because the fact ended;
- entities and relations stay what they are; a session stays one, with its tasks, and what sums it up becomes
  a summary; the profile and the goal become settings, as said when the export was made;
- what changed later than a row was written becomes a version: verified, archived, closed, restated;
- all else stands in `extra` under `local-memory-mcp`: `lastUsed`, `memoryType`, what is unknown here or
  out of bounds. Sections of a later format become foreign rows.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mem import clock
from mem.errors import Usage
from mem.exchange import dates
from mem.exchange.json_rows import Row, Step, with_history
from mem.exchange.lines import parsed
from mem.exchange.sources import Format, Found, Reader, kept_uid, named_uid
from mem.records.format import RecordKind
from mem.store.settings import GOAL, PROFILE
from mem.truth.admission import ENDED, require_own_words
from mem.truth.drafts import LONGEST_TAG, MOST_TAGS
from mem.truth.sayings import LONGEST_FIELD
from mem.values import Category, Kind, Layer, Level, Status, Trust

_SOURCE = Format.LOCAL_MEMORY_MCP
_MARK = b"studiomeyer-memory-export"
_ORIGIN = named_uid(_SOURCE, "store")
_VERSION = 1
_ENVELOPE = frozenset(
    ("format", "version", "exportedAt", "source", "schemaVersion", "counts", "profile", "goal")
)
_LEVELS = {"episodic": Level.CONCRETE_TRACE, "semantic": Level.SEMI_ABSTRACT}
_CATEGORIES = frozenset(map(str, Category))
_ARCHIVED = "archived"
_MOST_TASKS = 100


def _recognises(path: Path, head: bytes) -> bool:
    return path.is_file() and _MARK in head and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[", b'"')


def _read(path: Path) -> Iterator[Found]:
    try:
        data = _unwrapped(parsed(path.read_text(encoding="utf-8-sig")))
    except (ValueError, RecursionError) as err:
        yield Found("file", None, f"It is not JSON: {err}.")
        return
    if data is None:
        yield Found("file", None, f"It holds no {_MARK.decode()}.")
    elif data.get("version") != _VERSION:
        yield Found("version", None, f"Version {data.get('version')!r} of that format is not known here.")
    else:
        yield from _Export(data).found()


READER = Reader(_SOURCE, _recognises, _read)


def _unwrapped(document: Any) -> dict[str, Any] | None:
    """The envelope, out of the result of the tool, the text block or the message that carries it."""
    match document:
        case {"format": str(name)} if name.encode() == _MARK:
            return dict(document)
        case {"data": inner} | {"result": inner} | {"structuredContent": inner} | {"content": inner}:
            return _unwrapped(inner)
        case {"type": "text", "text": str(text)}:
            return _unwrapped(parsed(text))
        case [*items]:
            return next((found for item in items if (found := _unwrapped(item))), None)
        case str() if document.lstrip()[:1] in ("{", "["):
            return _unwrapped(parsed(document))
    return None


class _Export:
    """One export: its sections, and what has to be known of all rows before one is read."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self._at = dates.instant(data.get("exportedAt"))
        ids = (str(row.get("id")) for name in ("learnings", "decisions") for row in self._plain(name))
        self._ids = Counter(ids)
        self._begins: dict[tuple[str, str | None], list[str]] = {}
        for row in self._plain("observations"):
            begins = str(row.get("entityId")), dates.instant(row.get("validFrom"))
            self._begins.setdefault(begins, []).append(str(row.get("id")))

    def found(self) -> Iterator[Found]:
        """Every record, section by section, each by date and id."""
        sections = {
            "entities": (self._entity, "createdAt"),
            "sessions": (self._session, "startedAt"),
            "learnings": (self._learning, "date"),
            "decisions": (self._decision, "date"),
            "observations": (self._observation, "createdAt"),
            "relations": (self._relation, "createdAt"),
        }
        for name, (made, by) in sections.items():
            for row in self._rows(name, by):
                if isinstance(row, Found):
                    yield row
                    continue
                try:
                    records = list(made(row))
                except ValueError as err:
                    yield Found(row.place, None, str(err))
                    continue
                for number, record in enumerate(records):
                    yield Found(row.place, record, notices=() if number else tuple(row.notices))
        yield from self._settings()
        yield from self._unknown(sections)

    def _plain(self, section: str) -> list[dict[str, Any]]:
        rows = self._data.get(section)
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def _rows(self, section: str, by: str) -> Iterator[Row | Found]:
        rows = self._data.get(section)
        if rows is None:
            return
        if not isinstance(rows, list):
            yield Found(section, None, "It is no list.")
            return
        for number, row in enumerate(rows):
            if row is None:
                yield Found(f"{section}[{number}]", None, notices=("It is null.",))
            elif not isinstance(row, dict):
                yield Found(f"{section}[{number}]", None, "It is no object.")
        for row in sorted(self._plain(section), key=lambda row: (str(row.get(by)), str(row.get("id")))):
            yield Row(_SOURCE, row, f"{section} {row.get('id')}")

    def _learning(self, row: Row) -> Iterator[dict[str, Any]]:
        importance, category = row.share("importance"), row.given.get("category")
        level = _LEVELS.get(str(row.given.get("memoryType")))
        if category in _CATEGORIES:
            row.taken.add("category")
        record = self._memory(row, Kind.LEARNING, row.required("id")) | {
            "content": row.required("content"),
            "category": str(category) if category in _CATEGORIES else Category.GENERAL.value,
            "level": level and level.value,
            "importance": None if importance is None else math.floor(importance * 10 + 0.5),
        }
        state, archived = str(row.given.get("lifecycleState") or "active"), row.flag("archived")
        if state in ("active", "ephemeral") or state.split(":")[0] == _ARCHIVED:
            row.taken.add("lifecycleState")
        if state == "ephemeral":
            record["layer"] = Layer.SHORT_TERM.value
        used = row.given.get("usageCount")
        if isinstance(used, int) and not isinstance(used, bool) and used >= 0:
            row.taken.add("usageCount")
            record["usage"] = [{"origin": _ORIGIN, "recalls": 0, "restated": used}] if used else []
        at = row.instant("date")
        # An edit counts as a use, and leaves no other date.
        steps = [self._verified(row), Step(row.instant("lastUsed") if used else None, {})]
        row.taken.discard("lastUsed")
        if archived or state.split(":")[0] == _ARCHIVED:
            steps.append(
                Step(row.instant("archivedAt"), _retired(Status.ARCHIVED, _own(state.partition(":")[2])))
            )
        yield with_history({**record, "extra": row.extra()}, at, steps)

    def _decision(self, row: Row) -> Iterator[dict[str, Any]]:
        record = self._memory(row, Kind.DECISION, self._uid_apart(row, "decision")) | {
            "title": row.required("title"),
            "content": row.required("decision"),
            "rationale": row.required("reasoning"),
            "alternatives": row.text("alternatives"),
            "category": Category.DECISION.value,
        }
        at, verified = row.instant("date"), self._verified(row)
        yield with_history({**record, "extra": row.extra()}, at, [verified])

    def _observation(self, row: Row) -> Iterator[dict[str, Any]]:
        entity, given = row.required("entityId"), row.text("sessionId")
        record = self._memory(row, Kind.OBSERVATION, self._uid_apart(row, "observation")) | {
            "content": row.required("content"),
            "entity": kept_uid(_SOURCE, entity),
            "session": kept_uid(_SOURCE, given) if given else None,
            "valid_from": row.instant("validFrom"),
            "project": None,
        }
        at, ended = row.instant("createdAt"), row.instant("validTo")
        steps: list[Step] = []
        if ended is not None:
            begins = record["valid_from"]
            if begins is not None and ended < begins:
                row.taken.discard("validTo")
                row.notices.append(
                    "It ended before it began, and so never held; the times are kept in extra."
                )
                ended = begins
            steps = self._closed(row, ended, begins, at)
        inferred = any("superseded_by" in step.changes for step in steps)
        extra = row.extra(supersededBy="found by its times" if inferred else None)
        yield with_history({**record, "extra": extra}, at, steps)

    def _closed(self, row: Row, ended: str, begins: str | None, at: str | None) -> list[Step]:
        """How an observation ended: by itself, or because another took its place where it ends."""
        closing = {"valid_to": ended}
        if ended > clock.to_text(clock.now()):
            return [Step(at, closing)]
        following = [
            one for one in self._begins.get((row.given["entityId"], ended), ()) if one != row.given["id"]
        ]
        if len(following) == 1 and ended != begins:
            successor = self._uid_of("observation", following[0])
            return [Step(ended, {**closing, **_retired(Status.SUPERSEDED, None), "superseded_by": successor})]
        return [Step(ended, {**closing, **_retired(Status.SUPERSEDED, ENDED)})]

    def _entity(self, row: Row) -> Iterator[dict[str, Any]]:
        type_ = row.required("entityType")
        record = {
            "record": RecordKind.ENTITY.value,
            "uid": kept_uid(_SOURCE, row.required("id")),
            "origin": _ORIGIN,
            "name": row.required("name"),
            "type": type_,
            "project": None,
        }
        at, updated = row.instant("createdAt"), row.instant("updatedAt")
        summary = row.text("summary")
        if summary is None:
            row.taken.discard("updatedAt")
        steps = [Step(updated, {"summary": summary})] if summary else []
        yield with_history({**record, "extra": row.extra()}, at, steps)

    def _relation(self, row: Row) -> Iterator[dict[str, Any]]:
        ends = (kept_uid(_SOURCE, row.required(name)) for name in ("fromEntityId", "toEntityId"))
        record = {
            "record": RecordKind.RELATION.value,
            "uid": kept_uid(_SOURCE, row.required("id")),
            "origin": _ORIGIN,
            **dict(zip(("from", "to"), ends, strict=True)),
            "type": row.required("relationType"),
            "weight": row.share("weight"),
        }
        at = row.instant("createdAt")
        yield with_history({**record, "extra": row.extra()}, at, [])

    def _session(self, row: Row) -> Iterator[dict[str, Any]]:
        given, project = row.required("id"), row.project()
        began, ended = row.instant("startedAt"), row.instant("endedAt")
        tasks, summary = row.texts("tasks", _MOST_TASKS), row.text("summary")
        uid = kept_uid(_SOURCE, given)
        record = {
            "record": RecordKind.SESSION.value,
            "uid": uid,
            "origin": _ORIGIN,
            "project": project,
            "started_at": began or ended,
        }
        closing = {"ended_at": ended, "tasks": tasks}
        yield with_history({**record, "extra": row.extra()}, began or ended, [Step(ended, closing)])
        if summary is not None:
            said = {
                "uid": named_uid(_SOURCE, f"summary of session:{given}"),
                "session": uid,
                "project": project,
            }
            told = {"record": RecordKind.MEMORY.value, "origin": _ORIGIN, "kind": Kind.SUMMARY.value}
            yield with_history({**told, **said, "content": summary}, ended or began, [])

    def _settings(self) -> Iterator[Found]:
        profile = self._data.get("profile")
        fields = profile if isinstance(profile, dict) else {}
        said = {PROFILE + _field(name): (f"profile {name}", value) for name, value in fields.items()}
        for key, (place, value) in {**said, GOAL: ("goal", self._data.get("goal"))}.items():
            if value is None or value == "":
                continue
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            record = {"record": RecordKind.SETTING.value, "key": key, "project": "", "origin": _ORIGIN}
            yield Found(place, {**record, "value": text, "changed_at": self._at})

    def _unknown(self, sections: Iterable[str]) -> Iterator[Found]:
        """What the envelope holds besides, as foreign rows."""
        for name in sorted(self._data.keys() - _ENVELOPE - set(sections)):
            value = self._data[name]
            for number, row in enumerate(value if isinstance(value, list) else [value]):
                kept = row if isinstance(row, dict) else {"value": row}
                foreign = {"record": RecordKind.FOREIGN.value, "source": str(_SOURCE), "table": name}
                yield Found(f"{name}[{number}]", {**foreign, "row": kept})

    def _memory(self, row: Row, kind: Kind, uid: str) -> dict[str, Any]:
        """What learnings, decisions and observations have in common."""
        row.taken.add("id")
        return {
            "record": RecordKind.MEMORY.value,
            "uid": kept_uid(_SOURCE, uid),
            "origin": _ORIGIN,
            "kind": kind.value,
            "project": row.project(),
            "tags": row.texts("tags", MOST_TAGS, LONGEST_TAG),
            "source": row.text("source"),
            "confidence": row.share("confidence"),
            "status": Status.ACTIVE.value,
        }

    def _uid_apart(self, row: Row, kind: str) -> str:
        """The id of a row; that format lets rows of two kinds have the same one."""
        given = row.required("id")
        uid = self._uid_of(kind, given)
        if uid != kept_uid(_SOURCE, given):
            row.notices.append("Another kind of row has its id; it gets one of its own.")
        return uid

    def _uid_of(self, kind: str, given: str) -> str:
        count = self._ids[given]
        taken = count > 1 if kind == "decision" else count > 0
        return named_uid(_SOURCE, f"{kind}:{given}") if taken else kept_uid(_SOURCE, given)

    def _verified(self, row: Row) -> Step:
        if not row.flag("verified"):
            return Step(None, {})
        at = row.instant("verifiedAt")
        return Step(at, {"trust": Trust.VERIFIED.value, "verified_at": at})


def _retired(status: Status, reason: str | None) -> dict[str, Any]:
    return {"status": status.value, "status_reason": reason}


def _own(reason: str) -> str | None:
    """A reason in other words than those by which `mem` marks what nobody judged."""
    reason = reason.strip()
    try:
        require_own_words(reason)
    except Usage:
        return f"{_ARCHIVED}: {reason}"
    return reason or None


def _field(name: str) -> str:
    """The name of a field of the profile, as it can be named here."""
    return re.sub(r"[^\w-]+", "_", name.strip()).strip("_")[:LONGEST_FIELD] or "field"
