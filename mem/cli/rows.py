"""What people and pipes read of an answer: rows of columns, a block for a whole memory, notes beside them.

The columns of a row are the contract of piped output: text that may be long comes last.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any, assert_never

from mem import clock
from mem.cli.characters import escaped, one_line
from mem.results import (
    Batch,
    Changed,
    Check,
    Configuration,
    ContextBlock,
    Diagnosis,
    History,
    Hooks,
    Memories,
    Recall,
    Refusal,
    SessionEnded,
    SessionPage,
    SessionStarted,
    Statistics,
    Stored,
    Text,
    WorkerStatus,
)
from mem.values import Memory, Mode, Session

Answer = (
    Stored
    | Batch
    | Changed
    | Recall
    | Memories
    | History
    | ContextBlock
    | SessionStarted
    | SessionEnded
    | SessionPage
    | Statistics
    | Configuration
    | Diagnosis
    | Hooks
    | Text
    | WorkerStatus
)
Row = tuple[str, ...]

WEAK = 0.007  # confidence that texts which have nothing to do with each other still reach

_DEGRADED = {
    "no_model": "no model is configured, so this is a search by words alone",
    "no_vectors": "nothing has a vector yet, so this is a search by words alone",
    "other_model": "the vectors are another model's, so this is a search by words alone",
    "embedding_timeout": "the model did not answer in time, so this is a search by words alone",
    "embedding_failed": "the model could not be used, so this is a search by words alone; see mem doctor",
    "no_vector_extension": "the vector extension did not load; every vector was compared",
}


def rows(answer: Answer) -> Iterator[Row]:
    """The answer as rows of columns; user text stands in them as it is."""
    match answer:
        case Stored():
            yield (answer.action if answer.id is None else f"{answer.action} #{answer.id}",)
        case Batch():
            for number, outcome in enumerate(answer.outcomes, start=1):
                told = _told(outcome.refusal) if outcome.refusal else ""
                yield str(number), outcome.action, _number(outcome.id), told
        case Changed():
            for memory in answer.memories:
                yield answer.action, _number(memory.id), memory.status, _text(memory)
        case Recall():
            for hit in answer.hits:
                yield str(hit.memory.id), f"{hit.score:.2f}", *_summary(hit.memory)
        case Memories():
            for memory in answer.memories:
                yield str(memory.id), *_summary(memory)
        case History():
            for change in answer.changes:
                changed = "; ".join(f"{name}={_value(value)}" for name, value in change.changed.items())
                who = (change.operation, change.actor, change.reason or "")
                yield change.at, _number(change.id), *who, changed
        case ContextBlock():
            yield from ((line,) for line in answer.text.split("\n") if line)
        case SessionStarted():
            yield (f"session #{answer.id}",)
            yield from rows(answer.context)
        case SessionEnded():
            yield (f"ended session #{answer.session.id}",)
            if answer.summary:
                yield from rows(answer.summary)
        case SessionPage():
            yield from map(_session, answer.sessions)
        case Statistics():
            yield from _counts(answer)
        case WorkerStatus():
            yield from _counts(answer)
        case Configuration():
            yield from _settings(answer)
        case Diagnosis():
            for check in answer.checks:
                told = f"{check.detail}; {check.hint}" if check.hint else check.detail
                yield _state(check), check.name, told
        case Hooks():
            yield from _of_hosts(answer)
        case Text():
            yield from ((line,) for line in answer.text.splitlines())
        case _:
            assert_never(answer)


def block(memory: Memory) -> str:
    """A memory in full: its fields, one a line, then an empty line and the content as it is."""
    lines = [f"{name}: {escaped(value)}\n" for name, value in described(memory)]
    return f"{''.join(lines)}\n{memory.content}\n"


def described(memory: Memory) -> Iterator[tuple[str, str]]:
    """The fields of a memory that hold something, but for the content."""
    for entry in fields(memory):
        value = getattr(memory, entry.name)
        if entry.name not in ("content", "extra") and value not in (None, (), ""):
            yield entry.name, _value(value)


def notes(answer: Answer) -> Iterator[str]:
    """What stands beside the data: warnings, refusals, and what the answer leaves out."""
    match answer:
        case Stored():
            yield from (notice.message for notice in answer.warnings)
            if answer.refusal:
                yield f"Refused: {_told(answer.refusal)}"
        case Batch():
            for number, outcome in enumerate(answer.outcomes, start=1):
                yield from (f"Item {number}: {notice.message}" for notice in outcome.warnings)
        case Changed():
            yield from (notice.message for notice in answer.warnings)
        case Recall():
            yield from _beside(answer)
        case ContextBlock():
            yield from (f"Note: {_DEGRADED.get(reason, reason)}." for reason in answer.degraded)
            if not answer.text:
                yield "There is nothing to say."
        case SessionStarted():
            yield from notes(answer.context)
        case SessionEnded() if answer.summary:
            yield from notes(answer.summary)
        case SessionPage() if len(answer.sessions) < answer.total:
            yield f"{len(answer.sessions)} of {answer.total}; --limit and --offset show more."
        case Hooks(dry_run=True):
            if not any(one.diff for one in answer.hosts):
                yield "Nothing would change."
        case Hooks():
            yield from (f"{one.host}: {one.hint}" for one in answer.hosts if one.hint)
        case Memories() if len(answer.memories) < answer.total:
            yield f"{len(answer.memories)} of {answer.total}; --limit and --offset show more."
        case Memories() if not answer.memories:
            yield "No memory matches."
        case _:
            pass


def _session(session: Session) -> Row:
    ended = session.ended_at or "open"
    summaries = " ".join(map(_number, session.summaries))
    facts = (session.client or "", session.project or "", session.started_at, ended, session.end_reason or "")
    return f"#{session.id}", *facts, summaries, "; ".join(map(one_line, session.tasks))


def _beside(answer: Recall) -> Iterator[str]:
    for reason in answer.degraded:
        yield f"Note: {_DEGRADED.get(reason, reason)}."
    if not answer.hits:
        yield "Nothing fits."
    elif answer.confidence < WEAK and answer.mode is not Mode.LEXICAL:
        yield "Nothing fits well; this is what comes nearest."
    elif len(answer.hits) < answer.total:
        yield f"{len(answer.hits)} of {answer.total}; --limit shows more."
    if answer.elsewhere:
        yield f"Other projects hold {answer.elsewhere} more; --all-projects shows them."


def _told(refusal: Refusal) -> str:
    return f"{refusal.reason} {refusal.hint}".strip()


def _number(memory_id: int | None) -> str:
    return "" if memory_id is None else f"#{memory_id}"


def _summary(memory: Memory) -> Row:
    day = clock.local_day(memory.event_time or memory.recorded_at)
    tags = ",".join(memory.tags)
    return memory.kind, memory.category, memory.project or "", day, tags, _text(memory)


def _text(memory: Memory) -> str:
    return one_line(f"{memory.title}: {memory.content}" if memory.title else memory.content)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value)
    return "" if value is None else str(value)


def _counts(answer: Statistics | WorkerStatus) -> Iterator[Row]:
    for entry in fields(answer):
        value = getattr(answer, entry.name)
        if isinstance(value, Mapping):
            name = entry.name.removeprefix("by_")
            yield from ((f"{name} {key}", str(count)) for key, count in value.items())
        elif entry.default is MISSING or value is not None:
            yield entry.name.replace("_", " "), _value(value)


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
