"""The export for people: Markdown with the goal, the profile, and each memory as one list item.

Whatever a text holds, it stays in its item: it is on one line, and what Markdown would obey is escaped. It
cannot be imported again; that is what the other formats are for.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from mem import clock
from mem.context.fence import neutral
from mem.store.listing import Listing, listing
from mem.store.selection import Selection
from mem.store.settings import GOAL, PROFILE
from mem.values import Entity, Kind, Memory, Relation, Status, Trust

OPENING = b"# Memories\n\nExported at "
_HEADINGS = {Kind.DECISION: "Decisions", Kind.LEARNING: "Learnings", Kind.SUMMARY: "Summaries"}
# What Markdown could read as more than text; an underscore within a word is none of it.
_OBEYED = re.compile(r"[`*\[\]<]|\\(?=[!-/:-@\[-`{-~])|(?<!\w)_|_(?!\w)|~(?=~)")


def heading(at: str, counts: Mapping[str, int], filters: Mapping[str, Any]) -> bytes:
    """The first lines: when it was written, what it holds, what was asked for."""
    held = ", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing"
    asked = (f"{name.replace('_', '-')}: {_listed(value)}." for name, value in filters.items())
    return OPENING + " ".join((f"{at}: {held}.", *map(text, asked))).encode() + b"\n"


def lines(db: apsw.Connection, selection: Selection, counted: Counter[str], *, at: str) -> Iterator[bytes]:
    """The sections, a few lines at a time; what they hold is counted."""
    found = listing(db, selection)
    for part in _parts(found, counted, at):
        yield part.encode()


def text(said: str) -> str:
    """A text that stays in its place: one line, with what Markdown would obey escaped."""
    return _OBEYED.sub(lambda mark: f"\\{mark.group()}", neutral(said))


def _parts(found: Listing, counted: Counter[str], at: str) -> Iterator[str]:
    section = ""
    for key, value, project in found.said():
        heading_ = "Goal" if key == GOAL else "Profile" if key.startswith(PROFILE) else "Settings"
        if heading_ != section:
            section = heading_
            yield f"\n## {section}\n\n"
        counted["settings"] += 1
        where = f"in {text(project)}" if project else "everywhere"
        name = where if key == GOAL else f"{text(key.removeprefix(PROFILE))}, {where}"
        yield f"- {name}: {text(value)}\n"
    place: tuple[str | None, Kind] | None = None
    for memory in found.notes():
        if place is None or place[0] != memory.project:
            yield f"\n## {f'Project {text(memory.project)}' if memory.project else 'Everywhere'}\n"
            place = None
        if place is None or place[1] != memory.kind:
            yield f"\n### {_HEADINGS[memory.kind]}\n\n"
        place = memory.project, memory.kind
        counted["memories"] += 1
        yield _item(memory)
    yield from _things(found, counted, at)


def _things(found: Listing, counted: Counter[str], at: str) -> Iterator[str]:
    begun = False
    for entity in found.things():
        if not begun:
            yield "\n## People and things\n\n"
            begun = True
        counted["entities"] += 1
        yield _entity(entity)
        for memory in found.observations(entity.id):
            counted["memories"] += 1
            yield f"  {_item(memory, about=False)}"
        for relation, other in found.relations_of(entity.id):
            counted["relations"] += 1
            yield f"  - {text(relation.type)} → {text(other)}{_when(relation, at)}\n"


def _entity(entity: Entity) -> str:
    facts = (entity.type, entity.project or "", *(f"also {alias}" for alias in entity.aliases))
    summary = f": {text(entity.summary)}" if entity.summary else ""
    return f"- **{text(entity.name)}** ({', '.join(text(fact) for fact in facts if fact)}){summary}\n"


def _item(memory: Memory, *, about: bool = True) -> str:
    """One memory as one list item: number, what is to be known of it, then what it says."""
    known = ", ".join(text(fact) for fact in _facts(memory))
    title = memory.title or (memory.entity if about else None)
    said = f"{f'**{text(title)}**: ' if title else ''}{text(memory.content)}"
    for label, more in (("Why", memory.rationale), ("Instead of", memory.alternatives)):
        said += f" *{label}:* {text(more)}" if more else ""
    return f"- #{memory.id} ({known}) {said}\n"


def _facts(memory: Memory) -> Iterator[str]:
    yield clock.local_day(memory.event_time or memory.recorded_at)
    if memory.status is not Status.ACTIVE:
        by = f" by #{memory.superseded_by}" if memory.superseded_by else ""
        yield f"{memory.status}{by}{f': {memory.status_reason}' if memory.status_reason else ''}"
    if memory.trust is not Trust.UNVERIFIED:
        yield memory.trust
    if memory.valid_from or memory.valid_to:
        bounds = (("from", memory.valid_from), ("until", memory.valid_to))
        ends = (f"{name} {clock.local_day(instant)}" for name, instant in bounds if instant)
        yield " ".join(("held" if memory.valid_to else "holds", *ends))
    yield memory.category
    yield f"importance {memory.importance}"
    yield from (f"#{tag}" for tag in memory.tags)
    if memory.source:
        yield memory.source
    yield from (flag.mark for flag in memory.flags)


def _when(relation: Relation, at: str) -> str:
    if relation.valid_to is not None and relation.valid_to <= at:
        return f" (until {clock.local_day(relation.valid_to)})"
    return f" (since {clock.local_day(relation.valid_from)})" if relation.valid_from else ""


def _listed(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
