"""Notes out of another program's memory, for a question: ranked by their words, and fenced.

Nobody has checked them, neither a person nor `mem`, so what they say stands inside the fence alone. Nothing
of it is stored or counted.
"""

from collections.abc import Sequence
from pathlib import Path

import apsw

from mem import clock
from mem.context.fence import fenced, neutral
from mem.exchange.claude_memory import ClaudeMemory, Reading, Slugs
from mem.results import ForeignNote, ForeignNotes
from mem.search import index, lexical
from mem.store.filters import Where
from mem.values import Scope

LONGEST = 1_200  # characters of a note
LONGEST_SEARCHED = 100_000  # characters of it that are searched
LONGEST_LABEL = 300  # characters of a name, a description, or where it comes from


def search(
    db: apsw.Connection,
    query: str,
    reading: Reading,
    project: Slugs | None,
    *,
    limit: int,
    roots: Sequence[Path],
) -> ForeignNotes:
    """The notes that share words with a question, best first; with a project, those of others are counted."""
    notes = reading.memories
    words = index.build_foreign(
        db, ((f"{note.name} {note.description}", note.text[:LONGEST_SEARCHED], "") for note in notes)
    )
    everything = Where("1", ())
    leg = lexical.search(db, query, Scope(everywhere=True), everything, words=words, pool=max(1, len(notes)))
    ranked = [(notes[number], min(1.0, score / leg.mass)) for number, score in leg.hits]
    found = [pair for pair in ranked if project is None or project.admits(pair[0].project)]
    hits = tuple(_provenance(note, score) for note, score in found[:limit])
    lines = "\n".join(_line(note, hit) for (note, _), hit in zip(found, hits, strict=False))
    return ForeignNotes(
        query=query,
        text=fenced(lines) if lines else "",
        total=len(found),
        elsewhere=len(ranked) - len(found),
        files=len(notes),
        skipped=reading.skipped,
        roots=tuple(map(str, roots)),
        hits=hits,
    )


def _provenance(note: ClaudeMemory, score: float) -> ForeignNote:
    return ForeignNote(
        project=_label(note.project),
        path=neutral(note.path),
        name=_label(note.name),
        description=_label(note.description),
        type=_label(note.type) if note.type else None,
        modified=note.modified,
        session=_label(note.session) if note.session else None,
        score=score,
    )


def _line(note: ClaudeMemory, hit: ForeignNote) -> str:
    facts = ", ".join(filter(None, (clock.local_day(hit.modified), hit.project, hit.type, hit.path)))
    text = note.text if len(note.text) <= LONGEST else f"{note.text[:LONGEST]}…"
    said = ": ".join(part for part in (hit.name, hit.description, neutral(text)) if part)
    return f"- [{facts}] {said}"


def _label(text: str) -> str:
    line = neutral(text)
    return line if len(line) <= LONGEST_LABEL else f"{line[:LONGEST_LABEL]}…"
