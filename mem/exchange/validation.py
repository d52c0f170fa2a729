"""One record of a source → a whole one that may be merged, or what is wrong with it.

What comes out has every field that a row must have. Two may be missing where a source has no dates:
`recorded_at`, and `changed_at`, without which the merge compares what is said with what is here. Texts have
gone through the same gates as everything that is stored: lengths, secrets, and, for other formats, the level.
A secret stays where an event of a person says that it may; `allowing` are the events of that kind.

A record of another format that does not name its `project` gets the one of the import; one with null there
belongs to none. What only people may do is refused to everyone else: to lift a rejection, and to forget.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any

from mem import clock
from mem.clock import Edge
from mem.errors import Usage
from mem.exchange import fields, plain_records
from mem.exchange.checked import Checked, events_of
from mem.exchange.fields import Malformed
from mem.exchange.gate import Gate
from mem.exchange.sources import Format, named_uid
from mem.records.format import HOME_OPERATIONS, RecordKind, foreign_digest, gathered, kind_of
from mem.results import Refusal
from mem.store.settings import GOAL, PROFILE
from mem.store.tombstones import Grave
from mem.truth import drafts, sayings
from mem.truth import entities as graph
from mem.truth.instructions import addresses_agent
from mem.truth.levels import gated
from mem.truth.relations import relation_type
from mem.values import (
    Category,
    EntityStatus,
    Flag,
    Kind,
    Layer,
    Level,
    NewMemory,
    Notice,
    SayingAction,
    Status,
    Trust,
)

LONGEST_TASK, MOST_TASKS = 2_000, 100
DEFAULT_IMPORTANCE, DEFAULT_CONFIDENCE, WEIGHTS = 5, 0.7, (0, 1)
MOST_COUNTED = 2**53
AHEAD = timedelta(hours=24)  # what is recorded later than that was recorded by a wrong clock
_TRUSTS = tuple(map(str, Trust))
_UNTRUSTED = frozenset(("trust_reason", "verified_at", "verified_by"))
_ENTITY_STATUSES, _GRAVES = tuple(map(str, EntityStatus)), tuple(map(str, Grave))
_CHOICES = (
    ("kind", tuple(map(str, Kind)), "learning"),
    ("category", tuple(map(str, Category)), "general"),
    ("level", tuple(map(str, Level)), "semi_abstract"),
    ("layer", tuple(map(str, Layer)), "long_term"),
    ("status", tuple(map(str, Status)), "active"),
)
_PLAN = frozenset(("replaces", "seen", "in_place", "valid_to", "reason"))
OPEN_KINDS = (RecordKind.ENTITY, RecordKind.SESSION, RecordKind.MEMORY, RecordKind.RELATION)
_TEXTS = frozenset((*drafts.LONGEST, "tags"))
_OPTIONAL_TEXTS = ("title", "rationale", "alternatives", "source")
_Said = dict[str, Any]


@dataclass(slots=True)
class Checker:
    """Checks the records of one source, read at the instant `at`."""

    source: Format
    at: str
    is_person: bool
    project: str | None = None
    allowing: set[str] = field(default_factory=set)
    _until: str = ""
    _gate: Gate = field(default_factory=Gate)
    _kinds: dict[RecordKind, Callable[[_Said], Checked]] = field(default_factory=dict)
    _rare: dict[str, Callable[[_Said, str], Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kinds = {
            RecordKind.MEMORY: self._memory,
            RecordKind.EVENT: self._event,
            RecordKind.ENTITY: self._entity,
            RecordKind.SESSION: self._session,
            RecordKind.SETTING: self._setting,
            RecordKind.TOMBSTONE: self._tombstone,
            RecordKind.RELATION: self._relation,
            RecordKind.MODEL: self._model,
            RecordKind.VECTOR: self._vector,
            RecordKind.FOREIGN: self._foreign,
        }
        self._until = clock.to_text(clock.from_text(self.at) + AHEAD)
        self._rare = {
            **dict.fromkeys(("entity", "session", "superseded_by"), fields.uid),
            "client": fields.label,
            "status_at": partial(fields.instant, until=self._until),
            "event_time": fields.instant,
            "expires_at": partial(fields.instant, edge=Edge.NEXT),
            "proposal": _proposal,
        }

    @property
    def is_ours(self) -> bool:
        """Whether the source is an export of `mem`."""
        return self.source is Format.MEM

    def check(self, given: Mapping[str, Any], *, allowed: bool = False) -> Checked:
        """The record as it may be merged; its secrets stay if they are `allowed`. Raises `Malformed`."""
        if not isinstance(given.get("record"), str):
            raise Malformed("It does not say what kind of record it is.")
        fields.require_shape(given)
        record = gathered(given)
        kind = kind_of(record)
        if kind is None:
            raise AssertionError("a record of an unknown kind became no foreign row")
        self._gate.open(allow=allowed or self._is_allowed(record))
        try:
            checked = self._kinds[kind](record)
        except Usage as err:
            raise Malformed(f"{err} {err.hint}".rstrip()) from None
        if self._gate.notices:
            checked = replace(checked, notices=tuple(self._gate.notices), redacted=self._gate.redacted)
        return checked if self.is_ours else self._partial(checked, record)

    def _partial(self, checked: Checked, record: _Said) -> Checked:
        """The same with what the source really said of a row that it knows only the present of."""
        if record.get("versions") or checked.kind not in OPEN_KINDS:
            return checked
        given = set(record)
        if given & _TEXTS:
            given.add("flags")
        took = "project" not in record and checked.record.get("project") is not None
        return replace(checked, given=tuple(sorted(given)), takes_project=took)

    # Kinds

    def _memory(self, record: _Said) -> Checked:
        whole = self._identified(record)
        whole |= self._versioned(record, self._said_of_memory)
        if whole["kind"] == Kind.OBSERVATION and "entity" not in whole:
            raise Malformed("An observation has to name its entity.")
        if usage := record.get("usage"):
            whole["usage"] = self._usage(usage)
        if "entity" not in whole and "versions" not in whole:
            return Checked(RecordKind.MEMORY, whole["uid"], whole)
        about = [version.get("entity") for version in (whole, *whole.get("versions", ()))]
        return Checked(RecordKind.MEMORY, whole["uid"], whole, tuple(dict.fromkeys(filter(None, about))))

    def _said_of_memory(self, record: _Said) -> _Said:
        said = self._texts(record)
        for name, known, default in _CHOICES:
            said[name] = fields.choice(record, name, known, default)
        said["importance"] = fields.whole(record, "importance", 0, 10, DEFAULT_IMPORTANCE)
        said["confidence"] = fields.number(record, "confidence", 0, 1, DEFAULT_CONFIDENCE)
        said["project"] = self._project(record)
        said["status_reason"] = self._gate.text(record, "status_reason", drafts.LONGEST_REASON)
        said |= self._trust(record)
        if "valid_from" in record or "valid_to" in record:
            said["valid_from"], said["valid_to"] = fields.interval(record)
        said["compressed_from"] = fields.texts(record, "compressed_from")
        # Most of these are missing from most records, so the question is asked here.
        for name, check in self._rare.items():
            if record.get(name) is not None:
                said[name] = check(record, name)
        return said if self.is_ours else self._gated(said)

    def _entity(self, record: _Said) -> Checked:
        whole = self._identified(record)
        whole |= self._versioned(record, self._said_of_entity)
        return Checked(RecordKind.ENTITY, whole["uid"], whole)

    def _said_of_entity(self, record: _Said) -> _Said:
        name = fields.label(record, "name", graph.LONGEST_NAME, required=True)
        type_ = fields.label(record, "type", graph.LONGEST_TYPE)
        told = graph.describe(self._gate.plain(name, "name") or "", type_, fields.texts(record, "aliases"))
        return {
            "name": told.name,
            "type": told.type,
            "aliases": list(told.aliases),
            "project": self._project(record),
            "summary": self._gate.text(record, "summary", graph.LONGEST_SUMMARY),
            "status": fields.choice(record, "status", _ENTITY_STATUSES, "active"),
            "merged_into": fields.uid(record, "merged_into"),
        }

    def _session(self, record: _Said) -> Checked:
        whole = self._identified(record)
        whole |= self._versioned(record, self._said_of_session)
        return Checked(RecordKind.SESSION, whole["uid"], whole)

    def _said_of_session(self, record: _Said) -> _Said:
        tasks = fields.texts(record, "tasks")
        if len(tasks) > MOST_TASKS:
            raise Malformed(f"{len(tasks)} tasks are too many; at most {MOST_TASKS} are kept.")
        kept = (self._gate.plain(task, "task", LONGEST_TASK) for task in tasks)
        return {
            "client": fields.label(record, "client"),
            "host_session": fields.label(record, "host_session"),
            "project": self._project(record),
            "started_at": fields.instant(record, "started_at", until=self._until) or self.at,
            "ended_at": fields.instant(record, "ended_at", Edge.NEXT, until=self._until),
            "end_reason": self._gate.text(record, "end_reason", drafts.LONGEST_REASON),
            "tasks": [task for task in kept if task],
        }

    def _setting(self, record: _Said) -> Checked:
        name = fields.label(record, "key", required=True) or ""
        if name != GOAL:
            if not name.startswith(PROFILE):
                raise Malformed(f"The key of a setting is {GOAL} or begins with {PROFILE}, not '{name}'.")
            name = sayings.profile_key(name.removeprefix(PROFILE), SayingAction.SET)
        project = self._gate.project(fields.label(record, "project") or None) or ""
        whole = {"record": "setting", "key": name, "project": project, "origin": self._origin(record)}
        whole |= self._versioned(
            record, lambda version: {"value": self._gate.text(version, "value", sayings.LONGEST)}
        )
        return Checked(RecordKind.SETTING, f"{name}\n{project}", whole)

    def _tombstone(self, record: _Said) -> Checked:
        whole = self._identified(record)
        whole["entity"] = fields.uid(record, "entity") if record.get("entity") else ""
        whole["fingerprint"] = fields.digest(record, "fingerprint")
        whole["project"] = self._gate.project(fields.label(record, "project") or None) or ""
        whole |= self._versioned(record, self._said_of_tombstone)
        place = "\n".join((whole["entity"], whole["fingerprint"], whole["project"]))
        checked = Checked(RecordKind.TOMBSTONE, place, whole)
        if self.is_person or ("lifted_at" not in whole and whole["kind"] == Grave.REJECTED):
            return checked
        what = "forgets content" if whole["kind"] == Grave.FORGOTTEN else "lifts a rejection"
        hint = "Ask the person whose memory this is to import the file."
        return replace(checked, refusal=Refusal("people_only", f"It {what}, which only people do.", hint))

    def _said_of_tombstone(self, record: _Said) -> _Said:
        return {
            "memory": fields.uid(record, "memory"),
            "reason": self._gate.text(record, "reason", drafts.LONGEST_REASON),
            "kind": fields.choice(record, "kind", _GRAVES, "rejected"),
            "lifted_at": fields.instant(record, "lifted_at", until=self._until),
        }

    def _relation(self, record: _Said) -> Checked:
        whole = self._identified(record)
        whole |= self._versioned(record, self._said_of_relation)
        versions = (whole, *whole.get("versions", ()))
        needs = {end: None for version in versions for end in (version["from"], version["to"])}
        return Checked(RecordKind.RELATION, whole["uid"], whole, tuple(needs))

    def _said_of_relation(self, record: _Said) -> _Said:
        begins, ends = fields.interval(record)
        return {
            "from": fields.uid(record, "from", required=True),
            "to": fields.uid(record, "to", required=True),
            "type": relation_type(fields.label(record, "type", required=True) or ""),
            "weight": fields.number(record, "weight", *WEIGHTS, 1.0),
            "valid_from": begins,
            "valid_to": ends,
            "status": fields.choice(record, "status", _ENTITY_STATUSES, "active"),
        }

    def _event(self, record: _Said) -> Checked:
        whole = plain_records.event(record, until=self._until)
        checked = Checked(RecordKind.EVENT, whole["uid"], whole)
        if whole["operation"] in HOME_OPERATIONS:
            return replace(checked, skipped=f"Events of {whole['operation']} stay where they happened.")
        if plain_records.allows_secrets(whole):
            self.allowing.add(whole["uid"])
        return checked

    def _model(self, record: _Said) -> Checked:
        whole = plain_records.model(record)
        return Checked(RecordKind.MODEL, whole["name"], whole)

    def _vector(self, record: _Said) -> Checked:
        whole = plain_records.vector(record)
        return Checked(RecordKind.VECTOR, f"{whole['model']}\n{whole['text_hash']}", whole)

    def _foreign(self, record: _Said) -> Checked:
        whole = plain_records.foreign(record)
        whole["row"] = self._gate.without_secrets(whole["row"])
        place = (whole["source"], whole["table"], foreign_digest(whole["row"]).hex())
        return Checked(RecordKind.FOREIGN, "\n".join(place), whole)

    # What they share

    def _identified(self, record: _Said) -> _Said:
        found = {"record": record["record"], "uid": fields.uid(record, "uid", required=True)}
        return found | {"origin": self._origin(record)}

    def _origin(self, record: _Said) -> str:
        """The store that a row comes from: another format counts as one, the same on every machine."""
        return fields.uid(record, "origin", required=self.is_ours) or named_uid(self.source, "store")

    def _versioned(self, record: _Said, said: Callable[[_Said], _Said]) -> _Said:
        """What a row says, and what it said before, each with its time and its event."""
        present = self._version(record, said)
        given = record.get("versions")
        if not given:
            return present
        if not isinstance(given, list) or not all(isinstance(version, dict) for version in given):
            raise Malformed("versions must be a list of objects.")
        if present.get("changed_at") is None:
            raise Malformed("It has versions, but no changed_at that says which is the last.")
        versions = [self._version(version, said) for version in given]
        if any(version.get("changed_at") is None for version in versions):
            raise Malformed("A version has no changed_at.")
        return present | {"versions": versions}

    def _version(self, record: _Said, said: Callable[[_Said], _Said]) -> _Said:
        version = {name: value for name, value in said(record).items() if value is not None}
        for name in ("recorded_at", "changed_at"):
            at = fields.instant(record, name, until=self._until)
            if at is not None:
                version[name] = at
        if self.is_ours and "changed_at" not in version:
            raise Malformed("changed_at is missing.")
        extra = fields.mapping(record, "extra")
        version["extra"] = extra if self.is_ours or not extra else self._gate.without_secrets(extra)
        if event := fields.uid(record, "event"):
            version["event"] = event
        return version

    def _texts(self, record: _Said) -> _Said:
        said: _Said = {"content": self._gate.text(record, "content", drafts.LONGEST["content"])}
        if said["content"] is None:
            raise Malformed("content is empty.")
        for name in _OPTIONAL_TEXTS:
            if record.get(name) is not None:
                said[name] = self._gate.text(record, name, drafts.LONGEST[name])
        texts = list(said.values())
        tags = fields.texts(record, "tags")
        said["tags"] = list(drafts.tags(map(self._gate.tag, tags))) if tags else []
        flags = fields.texts(record, "flags")
        if unknown := set(flags) - set(Flag):
            raise Malformed(f"flags holds {fields.told(min(unknown))}, which this mem does not know.")
        # A mark that this store would set is set here too; none is taken away.
        if not flags and addresses_agent("\n".join([*map(str, texts), *said["tags"]])):
            flags = [Flag.INSTRUCTION.value]
        return said | {"flags": flags}

    def _trust(self, record: _Said) -> _Said:
        if _UNTRUSTED.isdisjoint(record) and record.get("trust") == Trust.UNVERIFIED.value:
            return {"trust": Trust.UNVERIFIED.value}
        said = {
            "trust": fields.choice(record, "trust", _TRUSTS, "unverified"),
            "trust_reason": self._gate.text(record, "trust_reason", drafts.LONGEST_REASON),
            "verified_at": fields.instant(record, "verified_at", until=self._until),
            "verified_by": fields.label(record, "verified_by"),
        }
        if self.is_person or said["trust"] != Trust.VERIFIED:
            return said
        self._gate.notices.append(
            Notice("unverified", "Only people verify; what was verified is unverified here.")
        )
        return {"trust": Trust.UNVERIFIED.value, "trust_reason": said["trust_reason"]}

    def _gated(self, said: _Said) -> _Said:
        """The level that the text of another format has earned, as for everything that is stored."""
        if said["level"] != Level.META_KNOWLEDGE:
            return said
        new = gated(NewMemory(said["content"], title=said.get("title"), level=Level.META_KNOWLEDGE))
        self._gate.notices += new.notices
        return said | {"level": new.level.value}

    def _project(self, record: _Said) -> str | None:
        if "project" not in record and not self.is_ours:
            return self.project
        return self._gate.project(fields.label(record, "project"))

    def _usage(self, given: Any) -> list[_Said]:
        if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
            raise Malformed("usage must be a list of objects.")
        counted = (
            {
                "origin": fields.uid(entry, "origin", required=True),
                "recalls": fields.whole(entry, "recalls", 0, MOST_COUNTED, 0),
                "last_recalled_at": fields.instant(entry, "last_recalled_at", until=self._until),
                "restated": fields.whole(entry, "restated", 0, MOST_COUNTED, 0),
                "extra": fields.mapping(entry, "extra") or None,
            }
            for entry in given
        )
        kept = ({name: value for name, value in one.items() if value is not None} for one in counted)
        return [one for one in kept if any(one[name] for name in one if name != "origin")]

    def _is_allowed(self, record: _Said) -> bool:
        """Whether a person allowed the secrets of a row, in any of its versions."""
        return bool(self.allowing) and not self.allowing.isdisjoint(events_of(record))


def _proposal(record: _Said, name: str) -> _Said | None:
    """What the approval of a proposed memory does to others."""
    plan = fields.mapping(record, name)
    if plan.keys() - _PLAN:
        raise Malformed(
            f"proposal holds {fields.told(min(plan.keys() - _PLAN))}, which this mem does not know."
        )
    for listed in ("replaces", "seen"):
        fields.texts(plan, listed)
    for told in ("valid_to", "reason"):
        fields.label(plan, told, drafts.LONGEST_REASON)
    return plan or None
