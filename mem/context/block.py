"""The context block: stored notes for a prompt, within a budget, the same from the same store.

Promises:
- Only whole items. What finds no room is left out; its number is named if that still fits.
- Never over the budget, nor over `MOST_UNITS` UTF-16 units, which is what hosts take inline.
- Sections in a fixed order. Within one, items stand by importance, record time and UUID, but for those that
  answer a query: these stand as `recall` ranks them, whose ties are broken by the same fields.
- Dates are absolute. Neither decay, usage nor the clock changes a byte, but for what is valid now.
- One line per item, made by `item` alone: `- #id [date, project, source] text`; see `fence.neutral`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from mem import clock
from mem.context.fence import fenced, neutral
from mem.search.unspaced import segments
from mem.values import Kind, Memory, Mode, Trust

DEFAULT_BUDGET = 1_500  # tokens
MOST_UNITS = 9_500  # UTF-16 units; a host cuts at 10,000
CHARACTERS_PER_TOKEN = 4  # of spaced scripts; each character of the others counts as one token


class Section(StrEnum):
    """The sections of a block, in the order in which they stand."""

    GOAL = "goal"
    PROFILE = "profile"
    SUMMARIES = "summaries"
    DECISIONS = "decisions"
    RELEVANT = "relevant"
    NEWEST = "newest"
    IMPORTANT = "important"


_HEADINGS = {
    Section.GOAL: "Goal",
    Section.PROFILE: "Profile",
    Section.SUMMARIES: "Summaries of earlier sessions",
    Section.DECISIONS: "Open decisions",
    Section.RELEVANT: "Relevant",
    Section.NEWEST: "Newest",
    Section.IMPORTANT: "Important",
}
# What answers the question is given room first; long summaries and many decisions leave some to the rest.
_FILLED = (Section.GOAL, Section.PROFILE, Section.RELEVANT, *Section)
_SHARES = {Section.SUMMARIES: 1 / 3, Section.DECISIONS: 1 / 3}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a block. `key` says what it shows: `#12`, `goal`, or a field of the profile."""

    section: Section
    key: str
    line: str
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A finished block: its text without a last line end, empty if there is nothing to say."""

    text: str = ""
    entries: tuple[Entry, ...] = ()
    left_out: tuple[int, ...] = ()
    mode: Mode | None = None
    degraded: tuple[str, ...] = ()
    trace_id: str | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The numbers of the memories that are shown."""
        return tuple(entry.memory.id for entry in self.entries if entry.memory is not None)


def item(section: Section, memory: Memory) -> Entry:
    """The line of a memory, the same wherever it stands."""
    day = clock.local_day(memory.event_time or memory.recorded_at)
    disputed = "disputed" if memory.trust is Trust.DISPUTED else None
    facts = (day, memory.project or "global", memory.source, disputed, *(flag.mark for flag in memory.flags))
    about = memory.title or memory.entity
    said = f"{about}: {memory.content}" if about else memory.content
    why = f" (why: {memory.rationale})" if memory.kind is Kind.DECISION and memory.rationale else ""
    listed = ", ".join(neutral(fact) for fact in facts if fact)
    return Entry(section, f"#{memory.id}", f"- #{memory.id} [{listed}] {neutral(said + why)}", memory)


def setting(section: Section, key: str, text: str) -> Entry:
    """The line of the goal or of a field of the profile."""
    return Entry(section, key, f"- {neutral(text)}")


def compose(entries: Iterable[Entry], *, budget: int = DEFAULT_BUDGET) -> Block:
    """The entries that fit, each memory once; in a section they stand in the order given."""
    wanted: dict[str, Entry] = {}
    for entry in entries:
        wanted.setdefault(entry.key, entry)
    chosen: dict[str, Entry] = {}
    for share in (_SHARES, {}):  # the second time for what its share alone kept out
        for section in dict.fromkeys(_FILLED):
            _fill(chosen, [one for one in wanted.values() if one.section is section], share, budget)
    shown = _in_order(entry for entry in wanted.values() if entry.key in chosen)
    missing = tuple(one.memory.id for key, one in wanted.items() if key not in chosen and one.memory)
    if not shown:
        return Block(left_out=missing)
    body, note = _body(shown), _left_out(missing)
    with_note = fenced(f"{body}\n{note}")
    text = with_note if note and _within(with_note, budget) else fenced(body)
    return Block(text, tuple(shown), missing)


def _fill(
    chosen: dict[str, Entry], section: Sequence[Entry], shares: Mapping[Section, float], budget: int
) -> None:
    """Choose what fits of one section, in the order given."""
    for entry in section:
        mine = [one for one in section if one.key in chosen or one is entry]
        within_share = tokens(_body(mine)) <= ceil(budget * shares.get(entry.section, 1))
        if entry.key not in chosen and within_share and _fits([*chosen.values(), entry], budget):
            chosen[entry.key] = entry


def tokens(text: str) -> int:
    """The length of a text in tokens, estimated: four characters each, in unspaced scripts one."""
    spaced = unspaced = 0
    for segment, is_run in segments(text):
        if is_run:
            unspaced += len(segment)
        else:
            spaced += len(segment)
    return ceil(spaced / CHARACTERS_PER_TOKEN) + unspaced


def units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _in_order(entries: Iterable[Entry]) -> list[Entry]:
    order = list(Section)
    return sorted(entries, key=lambda entry: order.index(entry.section))


def _body(entries: Sequence[Entry]) -> str:
    return "\n".join(_lines(entries))


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    heading = None
    for entry in entries:
        if entry.section is not heading:
            heading = entry.section
            yield f"{_HEADINGS[heading]}:"
        yield entry.line


def _fits(entries: Sequence[Entry], budget: int) -> bool:
    return _within(fenced(_body(_in_order(entries))), budget)


def _within(text: str, budget: int) -> bool:
    return tokens(text) <= budget and units(text) <= MOST_UNITS


def _left_out(missing: Sequence[int]) -> str:
    if not missing:
        return ""
    return f"Left out for lack of room, in full with mem get: {', '.join(map(str, missing))}"
