"""What people and pipes read of an answer: rows of columns, a block for a whole memory, notes beside them.

The columns of a row are the contract of piped output: text that may be long comes last.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any, assert_never

from mem import clock
from mem.cli import arriving, carrying, condensing, keeping, looking_back, models, reflecting, vectors
from mem.cli.characters import escaped, one_line
from mem.results import (
    BackedUp,
    Backfilled,
    Batch,
    Change,
    Changed,
    Check,
    Cited,
    Compressed,
    Configuration,
    ContextBlock,
    Contradiction,
    Contradictions,
    Diagnosis,
    EntityChanged,
    EntityPage,
    EntityView,
    Event,
    Explanation,
    Exported,
    Extracted,
    ForeignNotes,
    Forgotten,
    History,
    Hit,
    Hooks,
    Imported,
    KnownModels,
    Log,
    Maintained,
    Memories,
    Migrated,
    ModelCalibration,
    ModelFiles,
    ModelStatus,
    ModelUsed,
    Recall,
    Reflection,
    Refusal,
    Related,
    RestoredBackup,
    ReviewQueue,
    Sayings,
    SessionEnded,
    SessionPage,
    SessionStarted,
    Side,
    Statistics,
    Stored,
    Subject,
    Text,
    Traced,
    Undone,
    Verified,
    Waiting,
    WorkerStatus,
)
from mem.values import Entity, Memory, Relation, Session, Trust

Answer = (
    Stored
    | BackedUp
    | RestoredBackup
    | Verified
    | Batch
    | Changed
    | Forgotten
    | Recall
    | Memories
    | History
    | EntityView
    | EntityPage
    | EntityChanged
    | Related
    | Traced
    | Explanation
    | Cited
    | ForeignNotes
    | Sayings
    | ContextBlock
    | SessionStarted
    | SessionEnded
    | SessionPage
    | ReviewQueue
    | Contradictions
    | Log
    | Event
    | Undone
    | Reflection
    | Statistics
    | Configuration
    | KnownModels
    | ModelUsed
    | ModelFiles
    | ModelStatus
    | ModelCalibration
    | Diagnosis
    | Maintained
    | Exported
    | Imported
    | Backfilled
    | Migrated
    | Compressed
    | Extracted
    | Hooks
    | Text
    | WorkerStatus
)
Row = tuple[str, ...]

_APART = frozenset(("content", "extra", "flags"))  # fields that a memory in full does not just list


def rows(answer: Answer) -> Iterator[Row]:
    """The answer as rows of columns; user text stands in them as it is."""
    match answer:
        case Stored():
            yield (answer.action if answer.id is None else f"{answer.action} #{answer.id}",)
        case Batch():
            for number, outcome in enumerate(answer.outcomes, start=1):
                told = explained(outcome.refusal) if outcome.refusal else ""
                yield str(number), outcome.action, _number(outcome.id), told
        case Changed():
            for memory in answer.memories:
                yield answer.action, _number(memory.id), memory.status, _text(memory)
        case Forgotten():
            yield from (("forgotten", f"#{number}") for number in answer.ids)
            yield from (("rewritten", file) for file in answer.rewritten)
            yield from (("deleted", file) for file in answer.deleted)
            yield from (("still in", file) for file in answer.listed)
        case Recall():
            for hit in answer.hits:
                yield str(hit.memory.id), scored(hit), *_summary(hit.memory)
        case Memories():
            for memory in answer.memories:
                yield str(memory.id), *_summary(memory)
        case History():
            for change in answer.changes:
                who = (change.operation, change.actor, change.reason or "")
                yield change.at, _number(change.id), *who, f"event {change.event}", _changes(change)
        case EntityView():
            yield from _entity(answer)
        case EntityPage():
            for one in answer.entities:
                known = f"{one.observations} observations", f"{one.relations} relations"
                yield *_named(one.entity), one.entity.project or "", *known, _description(one.entity)
        case EntityChanged():
            yield answer.action, *_named(answer.entity), _description(answer.entity)
        case Related():
            ends = answer.subject.name, answer.relation.type, answer.object.name
            yield answer.action, _number(answer.relation.id), *ends, _interval(answer.relation)
        case Traced():
            yield from looking_back.trace(answer)
        case Explanation():
            yield from looking_back.explanation(answer)
        case Sayings():
            yield from looking_back.sayings(answer)
        case ContextBlock() | ForeignNotes():
            yield from ((line,) for line in answer.text.split("\n") if line)
        case Cited():
            yield from ((line,) for line in answer.text.split("\n"))
        case SessionStarted():
            yield (f"session #{answer.id}",)
            yield from rows(answer.context)
        case SessionEnded():
            yield (f"ended session #{answer.session.id}",)
            if answer.summary:
                yield from rows(answer.summary)
        case SessionPage():
            yield from map(_session, answer.sessions)
        case Log():
            yield from map(_event, answer.events)
        case Event():
            yield _event(answer)
        case Undone():
            yield "undone", f"event {answer.event}", answer.operation, f"by event {answer.by}"
            for memory in answer.memories:
                yield "undone", _number(memory.id), memory.status, _text(memory)
        case ReviewQueue():
            yield from map(_waiting, answer.proposals)
        case Contradictions():
            yield from map(_contradiction, answer.pairs)
        case Reflection():
            yield from reflecting.lines(answer)
        case Statistics():
            yield from _counts(answer)
        case WorkerStatus():
            yield from _counts(answer)
        case KnownModels() | ModelUsed() | ModelFiles() | ModelStatus() | ModelCalibration():
            yield from models.rows(answer)
        case Configuration():
            yield from _settings(answer)
        case Diagnosis():
            for check in answer.checks:
                told = f"{check.detail}; {check.hint}" if check.hint else check.detail
                yield _state(check), check.name, told
        case Exported():
            yield from carrying.rows(answer)
        case Imported():
            yield from arriving.rows(answer)
        case Backfilled() | Migrated():
            yield from vectors.rows(answer)
        case Maintained():
            yield from of_upkeep(answer)
        case Compressed() | Extracted():
            yield from condensing.rows(answer)
        case BackedUp() | RestoredBackup() | Verified():
            yield from keeping.rows(answer)
        case Hooks():
            yield from _of_hosts(answer)
        case Text():
            yield from ((line,) for line in answer.text.splitlines())
        case _:
            assert_never(answer)


def scored(hit: Hit) -> str:
    """The score of a hit; what was not found but surfaced has none, and says so."""
    return "surfaced" if hit.surfaced else f"{hit.score:.2f}"


def block(memory: Memory) -> str:
    """A memory in full: its fields, one a line, then an empty line and the content as it is."""
    lines = [f"{name}: {escaped(value)}\n" for name, value in described(memory)]
    return f"{''.join(lines)}\n{memory.content}\n"


def shown(memory: Memory, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those of some fields of a memory that hold something."""
    for name in names:
        value = getattr(memory, name)
        if value not in (None, (), ""):
            yield name, _value(value)


def described(memory: Memory) -> Iterator[tuple[str, str]]:
    """The fields of a memory that hold something, but for the content."""
    yield from shown(memory, [one.name for one in fields(memory) if one.name not in _APART])
    if memory.flags:
        yield "flags", ", ".join(flag.mark for flag in memory.flags)


def _entity(answer: EntityView) -> Iterator[Row]:
    yield "entity", *_named(answer.entity), answer.entity.project or "", _description(answer.entity)
    for memory in answer.observations:
        day = clock.local_day(memory.event_time or memory.recorded_at)
        yield "observation", _number(memory.id), day, _text(memory)
    for link in answer.relations:
        ends = link.direction, link.relation.type, *_named(link.other)
        yield "relation", *ends, _interval(link.relation)


def _named(entity: Entity) -> Row:
    return _number(entity.id), entity.type, entity.name


def _description(entity: Entity) -> str:
    parts = (", ".join(entity.aliases), one_line(entity.summary or ""))
    return "; ".join(part for part in parts if part)


def _interval(relation: Relation) -> str:
    """When it held, as days; the weight where it is not 1."""
    since = f"since {clock.local_day(relation.valid_from)}" if relation.valid_from else ""
    until = f"until {clock.local_day(relation.valid_to)}" if relation.valid_to else ""
    weight = f"weight {relation.weight:g}" if relation.weight != 1 else ""
    return " ".join(part for part in (since, until, weight) if part)


def _session(session: Session) -> Row:
    ended = session.ended_at or "open"
    summaries = " ".join(map(_number, session.summaries))
    facts = (session.client or "", session.project or "", session.started_at, ended, session.end_reason or "")
    return f"#{session.id}", *facts, summaries, "; ".join(map(one_line, session.tasks))


def _changes(change: Change) -> str:
    """What a version changed, with the values that it replaced."""
    told = []
    for name, value in change.changed.items():
        was = f" (was {_value(change.before[name])})" if change.before.get(name) not in (None, []) else ""
        told.append(f"{name}={_value(value)}{was}")
    return "; ".join(told)


def _subject(one: Subject) -> str:
    """A number alone is a memory's."""
    number = _number(one.id) or one.uid
    return number if one.kind == "memory" else f"{one.kind}:{number}"


def _event(event: Event) -> Row:
    who = ", ".join(filter(None, (event.actor, event.client, event.session)))
    subjects = " ".join(map(_subject, event.subjects))
    told = [event.reason] if event.reason else []
    told += [f"undoes event {event.undoes}"] if event.undoes else []
    told += [f"undone by event {event.undone_by}"] if event.undone_by else []
    return str(event.id), event.at, event.operation, who, subjects, "; ".join(told)


def _contradiction(pair: Contradiction) -> Row:
    sides = (f"#{side.id} {_said(side)}" for side in (pair.older, pair.newer))
    return ",".join(pair.reasons), f"{pair.similarity:.2f}", pair.suggestion, *sides


def explained(refusal: Refusal) -> str:
    """A refusal as one text: why, and the way out."""
    return f"{refusal.reason} {refusal.hint}".strip()


def _number(memory_id: int | None) -> str:
    return "" if memory_id is None else f"#{memory_id}"


def _summary(memory: Memory) -> Row:
    day = clock.local_day(memory.event_time or memory.recorded_at)
    tags = ",".join(memory.tags)
    return memory.kind, memory.category, memory.project or "", day, tags, _text(memory)


def _said(one: Memory | Side) -> str:
    return one_line(f"{one.title}: {one.content}" if one.title else one.content)


def _text(memory: Memory) -> str:
    marked = "".join(f"[{mark}] " for mark in marks(memory))
    return marked + _said(memory)


def marks(memory: Memory) -> Iterator[str]:
    """What a reader must know of a memory before believing it."""
    if memory.trust is Trust.DISPUTED:
        yield "disputed"
    yield from (flag.mark for flag in memory.flags)


def _waiting(one: Waiting) -> Row:
    memory = one.memory
    day = clock.local_day(memory.recorded_at)
    replaces = ",".join(f"#{old.id}" for old in one.replaces)
    does = "changes" if one.in_place else "sums up" if one.sums_up else "replaces"
    effect = f"{does} {replaces}" if replaces else f"about {one.about}" if one.about else "new"
    return f"#{memory.id}", memory.client or one.writer, memory.project or "", day, effect, _text(memory)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}={_value(item)}" for name, item in value.items())
    return "" if value is None else str(value)


def _counts(answer: Statistics | WorkerStatus) -> Iterator[Row]:
    for name, value in counts(answer):
        if isinstance(value, Mapping):
            yield from ((f"{name} {key}", str(count)) for key, count in value.items())
        else:
            yield name, value


def counts(answer: Statistics | WorkerStatus) -> Iterator[tuple[str, str | Mapping[str, int]]]:
    """What was counted, by name: a number as text, or a group of them."""
    for entry in fields(answer):
        value = getattr(answer, entry.name)
        name = entry.name.removeprefix("by_").replace("_", " ")
        if isinstance(value, Mapping):
            yield name, value
        elif entry.default is MISSING or value is not None:
            yield name, _value(value)


def of_upkeep(answer: Maintained) -> Iterator[Row]:
    """What an upkeep did, a row for each memory and session."""
    for moved in answer.promoted:
        yield "promoted", _number(moved.id), moved.before, moved.after
    yield from (("expired", _number(number)) for number in answer.expired)
    yield from (("session closed", _number(number)) for number in answer.sessions)
    if answer.traces:
        yield "traces pruned", str(answer.traces), f"{answer.trace_bytes} bytes"
    if answer.freed is not None:
        yield "freed", f"{answer.freed} bytes"


def _of_hosts(answer: Hooks) -> Iterator[Row]:
    for one in answer.hosts:
        if answer.dry_run:
            yield from ((line,) for line in one.diff.split("\n")[:-1])
        elif answer.action == "show":
            yield from ((one.host, hook.event, hook.state, one.path, hook.command) for hook in one.hooks)
        else:
            yield one.host, one.state, one.path


def _settings(answer: Configuration) -> Iterator[Row]:
    match answer.settings:
        case ():
            yield (answer.path,)
        case (only,):
            yield (_value(only.value),)
        case several:
            for setting in several:
                yield setting.key, _value(setting.value), setting.origin, setting.description


def _state(check: Check) -> str:
    return "ok" if check.ok else "fixed" if check.fixed else "FAILED"
