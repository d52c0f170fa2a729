"""What `reflect` says, as lines of Markdown: a heading for each section that holds something, then its items.

User text stands in an item, on its line, cut to `LONGEST`; it can be neither a heading nor a fence.
"""

from collections.abc import Iterable, Iterator, Mapping

from mem import clock
from mem.cli.characters import one_line
from mem.results import (
    BlindSpots,
    Contradiction,
    HotEntity,
    MissedQuestion,
    Queue,
    Reflection,
    Side,
    UsedMemory,
)
from mem.values import Memory

LONGEST = 160  # characters of a text
NOTHING = "Nothing stands out."

Row = tuple[str]


def lines(answer: Reflection) -> Iterator[Row]:
    """The sections that hold something, with an empty line between; else the one line that nothing does."""
    written = False
    for heading, items, more in _sections(answer):
        if not items:
            continue
        if written:
            yield ("",)
        yield (f"## {heading}",)
        yield from ((f"- {item}",) for item in items)
        if more:
            yield (f"- … and {more} more",)
        written = True
    if not written:
        yield (NOTHING,)


Section = tuple[str, list[str], int]  # its heading, its items, and how many are left out


def _sections(answer: Reflection) -> Iterator[Section]:
    late = f"in the last {answer.days} days" if answer.days > 1 else "in the last day"
    used, hot, open_, pairs = (
        answer.most_used,
        answer.hot_entities,
        answer.open_decisions,
        answer.contradictions,
    )
    yield _section(f"Most used {late}", used.total, map(_used, used.memories))
    yield _section(f"Hot {late}", hot.total, map(_hot, hot.entities))
    yield _section("Open decisions", open_.total, map(_item, open_.memories))
    yield _section("Contradictions to settle", pairs.total, map(_conflict, pairs.pairs))
    yield "Waiting for review", list(_waiting(answer.review)), 0
    yield f"Asked in vain {late}", list(_blind(answer.blind_spots)), 0
    yield _section("Valuable, not seen for 30 days", answer.cold.total, map(_item, answer.cold.memories))
    stale = f"Never recalled, older than {answer.stale_days} days"
    yield _section(stale, answer.stale.total, map(_item, answer.stale.memories))


def _section(heading: str, total: int, items: Iterable[str]) -> Section:
    listed = list(items)
    return heading, listed, total - len(listed)


def _item(memory: Memory | Side) -> str:
    day = clock.local_day(memory.event_time or memory.recorded_at)
    entity = memory.entity if isinstance(memory, Memory) else None
    about = ", ".join(_said(part) for part in (day, memory.project or "global", entity) if part)
    text = f"{memory.title}: {memory.content}" if memory.title else memory.content
    return f"#{memory.id} [{about}] {_said(text)}"


def _waiting(queue: Queue) -> Iterator[str]:
    if queue.total:
        more = " …" if len(queue.ids) < queue.total else ""
        yield f"{queue.total}: {' '.join(f'#{number}' for number in queue.ids)}{more}"


def _used(one: UsedMemory) -> str:
    return f"{_item(one.memory)} ({_times(one.recalls)}, last on {clock.local_day(one.last_recalled_at)})"


def _hot(one: HotEntity) -> str:
    known = "1 observation" if one.observations == 1 else f"{one.observations} observations"
    return f"#{one.entity.id} {_said(one.entity.name)} ({_said(one.entity.type)}): {known}"


def _conflict(pair: Contradiction) -> str:
    why = ", ".join(pair.reasons)
    return f"{_item(pair.older)} / {_item(pair.newer)} ({why}): {pair.suggestion}"


def _blind(spots: BlindSpots) -> Iterator[str]:
    if not spots.total:
        return
    yield f"{_times(spots.total)}: {_counted(spots.by_operation)}"
    yield f"by day: {_counted(spots.by_day)}"
    yield f"by number of words: {_counted(spots.by_terms)}"
    yield from map(_question, spots.questions)


def _question(one: MissedQuestion) -> str:
    return f"“{_said(one.question)}” ({_times(one.asked)}, last on {clock.local_day(one.last_at)})"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{_said(name)} × {count}" for name, count in counts.items())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _said(text: str) -> str:
    """User text on one line, not too long, and no fence of code."""
    line = " ".join(one_line(text).split()).replace("```", "'''").replace("~~~", "'''")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
