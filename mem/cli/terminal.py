"""An answer on a terminal: wrapped to its width, in columns, with user text shown and never obeyed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from math import ceil
from typing import TYPE_CHECKING, TextIO

from mem import clock
from mem.cli.characters import one_line, visible
from mem.cli.rows import Answer, counts, described, marks, rows, scored
from mem.results import Contradictions, Diagnosis, Memories, Recall, Side, Statistics
from mem.values import Memory

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

LONGEST = 400  # characters of a hit's text; `mem get` shows it in full
WIDEST, NARROWEST = 30, 20  # cells of a column before the last one, at least; and of the last one


def show(
    answer: Answer,
    *,
    in_full: bool,
    terminal: TextIO | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Write the answer to a terminal; `in_full` shows whole memories instead of a line for each.

    Where it is not the terminal of this process, its environment says how wide it is and what it can do.
    """
    from rich.console import Console

    console = Console(
        file=terminal or sys.stdout, markup=False, highlight=False, emoji=False, _environ=environment
    )
    for part in _parts(answer, console.width, in_full=in_full):
        console.print(part)


def _parts(answer: Answer, width: int, *, in_full: bool) -> Iterator[RenderableType]:
    match answer:
        case Recall():
            yield _hits(answer)
        case Contradictions():
            yield _pairs(answer)
        case Memories() if in_full:
            for number, memory in enumerate(answer.memories):
                yield from _whole(memory, first=number == 0)
        case Memories():
            yield _grid(answer, width, cut=True)
        case Statistics():
            yield _bars(answer, width)
        case _:
            yield _grid(answer, width, cut=False)


def _hits(answer: Recall) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for hit in answer.hits:
        title = f"{hit.memory.title}: " if hit.memory.title else ""
        content = one_line(hit.memory.content)
        cut = content if len(content) <= LONGEST else f"{content[:LONGEST]}…"
        text = Text.assemble((visible(title), "bold"), visible(cut), "\n", (_facts(hit.memory), "dim"))
        table.add_row(f"#{hit.memory.id}", scored(hit), text)
    return table


def _pairs(answer: Contradictions) -> Table:
    """Each pair as three lines: why and how close, with the command; the older text; the newer one."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for pair in answer.pairs:
        head = Text.assemble((", ".join(pair.reasons), "bold"), f" {pair.similarity:.2f}  {pair.suggestion}")
        table.add_row("", head)
        for side in (pair.older, pair.newer):
            table.add_row(f"#{side.id}", _side(side))
    return table


def _side(side: Side) -> Text:
    from rich.text import Text

    said = visible(one_line(f"{side.title}: {side.content}" if side.title else side.content))
    day = clock.local_day(side.valid_from or side.event_time or side.recorded_at)
    facts = f"{day} · {side.project or 'global'} · confidence {side.confidence:g} · {side.trust}"
    cut = said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
    return Text.assemble(cut, "\n", (visible(facts), "dim"))


def _facts(memory: Memory) -> str:
    day = clock.local_day(memory.event_time or memory.recorded_at)
    tags = ", ".join(memory.tags)
    status = "" if memory.status == "active" else memory.status
    parts = (memory.kind, memory.category, memory.project or "global", day, status, *marks(memory), tags)
    return visible(one_line(" · ".join(part for part in parts if part)))


def _whole(memory: Memory, *, first: bool) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    if not first:
        yield ""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, value in described(memory):
        table.add_row(name.replace("_", " "), Text(visible(value)))
    yield table
    yield ""
    yield Text(visible(memory.content))


def _bars(answer: Statistics, width: int) -> Table:
    """The counts; those of a group with bars, as long as they are great beside the greatest of the group."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    lines: list[tuple[str, str, str, float]] = []
    for name, value in counts(answer):
        if isinstance(value, Mapping):
            greatest = max(value.values(), default=0) or 1
            for place, (key, count) in enumerate(value.items()):
                lines.append(("" if place else name, visible(key), str(count), count / greatest))
        elif value[:1].isdigit():
            lines.append((name, "", value, 0.0))
        else:
            lines.append((name, visible(value), "", 0.0))
    columns = zip(*(line[:3] for line in lines), strict=True)
    widest = min(WIDEST, max(NARROWEST, width // 3))
    left = width - sum(min(widest, max(map(cell_len, column))) + 2 for column in columns)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, max_width=widest, style="dim")
    table.add_column(no_wrap=True, max_width=widest, overflow="ellipsis")
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True, style="cyan")
    for name, key, told, share in lines:
        table.add_row(name, Text(key), told, _bar(share, max(0, left)))
    return table


def _bar(share: float, longest: int) -> str:
    """A share of the longest bar, in eighths of a cell; never none of what is not nothing."""
    full, eighths = divmod(ceil(8 * longest * share), 8)
    return "█" * full + " ▏▎▍▌▋▊▉"[eighths].strip()


def _grid(answer: Answer, width: int, *, cut: bool) -> Table:
    """Rows in columns; the last one wraps in what is left of the width, or is `cut` to one line."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    lines = [[visible(cell) for cell in row] for row in rows(answer)]
    *short, _ = zip_longest(*lines, fillvalue="") if lines else [()]
    widest = max(WIDEST, 2 * width // 5)
    widths = [min(widest, max(map(cell_len, column))) for column in short]
    left = max(NARROWEST, width - sum(widths) - 2 * len(widths))
    table = Table.grid(padding=(0, 2, 0, 0))
    for wide in widths:
        table.add_column(width=wide, overflow="fold")
    table.add_column(max_width=left, overflow="fold")
    for line in lines:
        cells = [Text(cell) for cell in line]
        if cut:
            cells[-1].truncate(left, overflow="ellipsis")
        if isinstance(answer, Diagnosis):
            cells[0].stylize({"ok": "green", "fixed": "yellow"}.get(line[0], "bold red"))
        table.add_row(*cells)
    return table
