"""The rows and notes of what looks back or aside: traces, hooks, citations, sayings, foreign notes."""

from collections.abc import Iterator

from mem.cli.characters import one_line
from mem.results import Cited, Explanation, ForeignNotes, Sayings, Traced, TracedMemory
from mem.values import Memory, Rule, Said, SayingAction

Row = tuple[str, ...]

_RULES = {
    Rule.FLOOR: "it has nothing to do with the question",
    Rule.FILTER: "the filters do not admit it, or it does not hold now",
    Rule.LIMIT: "more than were asked for",
    Rule.CONFIDENCE: "the best hit was not sure enough",
    Rule.ALONE: "it would not stand without the better ones",
    Rule.NAME: "so few words have to be in it as a name",
    Rule.ALREADY_SHOWN: "this session was shown it already",
    Rule.LENGTH: "the others are long already",
    Rule.BUDGET: "no room",
}


def trace(answer: Traced) -> Iterator[Row]:
    """What was asked when and by whom, one a line, then the memories: number, score, why, state."""
    facts = {
        "trace": answer.trace_id,
        "operation": answer.operation,
        "at": answer.at,
        "client": answer.client,
        "session": answer.session,
        "project": answer.project,
        "mode": ", ".join((answer.mode, *answer.degraded)),
        "total": str(answer.total),
        "confidence": _sureness(answer),
        **{name: _signal(value) for name, value in answer.signals.items()},
    }
    yield from ((name, value) for name, value in facts.items() if value)
    yield from _memories(answer, {})


def explanation(answer: Explanation) -> Iterator[Row]:
    """When it was and how sure, then the memories with their texts."""
    if answer.trace is None:
        return
    told = answer.trace
    what = "at a prompt" if told.operation.endswith("prompt") else "at the beginning of a session"
    where = (f"session {told.session}" if told.session else "", told.project or "global")
    yield "hook", what, told.at, told.client or "", *where
    sureness = _sureness(told)
    if sureness:
        yield "confidence", sureness
    yield from _memories(told, {memory.id: memory for memory in answer.memories})


def sayings(answer: Sayings) -> Iterator[Row]:
    """The value alone where one is asked for; else name, project and value, with who said it in a history."""
    match answer.action:
        case SayingAction.GET if answer.name is not None:
            yield from ((one.value or "",) for one in answer.settings)
        case SayingAction.GET:
            yield from ((one.name, one.project or "", one.value or "") for one in answer.settings)
        case SayingAction.HISTORY:
            yield from map(_said_then, answer.settings)
        case _:
            yield from (
                (answer.action, one.name, one.project or "", one.value or "") for one in answer.settings
            )


def notes(answer: Traced | Explanation | Cited | Sayings | ForeignNotes) -> Iterator[str]:
    """What stands beside them."""
    match answer:
        case Traced() if answer.elsewhere:
            yield f"Other projects hold {answer.elsewhere} more of these; --all-projects shows them."
        case Explanation(trace=None):
            yield "No hook has asked yet. See: mem hooks show"
        case Explanation(trace=Traced() as told):
            if told.total and not told.shown and not told.elsewhere:
                yield "Nothing was shown."
            elif not told.total:
                short = told.confidence is None and told.operation.endswith("prompt")
                why = "it has too few words to be searched for" if short else "nothing was found"
                yield f"Nothing was shown: {why}."
            yield from notes(told)
        case Cited():
            if not answer.trace_found:
                yield "No such trace is kept, so every citation was taken out."
            elif answer.rejected:
                yield f"Not shown, so taken out: {', '.join(answer.rejected)}"
        case Sayings():
            yield from _about_sayings(answer)
        case ForeignNotes():
            yield from _about_foreign(answer)
        case _:
            return


def _memories(answer: Traced, texts: dict[int, Memory]) -> Iterator[Row]:
    for entry in answer.shown:
        ranks = ", ".join(f"{leg} {rank}" for leg, rank in entry.ranks.items())
        yield "shown", *_of(entry), ranks, _text(texts, entry.id)
    for entry in answer.withheld:
        yield "held back", *_of(entry), _RULES[entry.rule or Rule.LIMIT], _text(texts, entry.id)


def _of(entry: TracedMemory) -> Row:
    return f"#{entry.id}", "" if entry.score is None else f"{entry.score:.2f}", entry.state


def _text(texts: dict[int, Memory], number: int) -> str:
    memory = texts.get(number)
    if memory is None:
        return ""
    return one_line(f"{memory.title}: {memory.content}" if memory.title else memory.content)


def _sureness(answer: Traced) -> str:
    if answer.confidence is None:
        return ""
    needed = "" if answer.threshold is None else f" of {answer.threshold:.3f} that it takes"
    return f"{answer.confidence:.3f}{needed}"


def _signal(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)


def _said_then(one: Said) -> Row:
    who = (one.at, one.operation, one.actor, one.client or "")
    return *who, one.name, one.project or "", "(cleared)" if one.value is None else one.value


def _about_sayings(answer: Sayings) -> Iterator[str]:
    if answer.action in (SayingAction.SET, SayingAction.CLEAR) and not answer.changed:
        yield "It says so already." if answer.action == SayingAction.SET else "There is nothing to clear."
    elif not answer.settings:
        yield "Nothing is said."


def _about_foreign(answer: ForeignNotes) -> Iterator[str]:
    if not answer.roots:
        yield "No folder is set: mem config set claude-memory.dirs ~/.claude/projects"
        return
    if not answer.hits:
        yield f"Nothing fits in {answer.files} files."
    elif len(answer.hits) < answer.total:
        yield f"{len(answer.hits)} of {answer.total}; --limit shows more."
    if answer.elsewhere:
        yield f"Other projects hold {answer.elsewhere} more; --all-projects shows them."
    if answer.skipped:
        listed = ", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in answer.skipped.items())
        yield f"Passed over: {listed}."
