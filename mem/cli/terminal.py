"""An answer on a terminal: wrapped to its width, in columns, with user text shown and never obeyed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mem import clock
from mem.cli.characters import one_line, visible
from mem.cli.rows import Answer, described, rows
from mem.results import Diagnosis, Memories, Recall
from mem.values import Memory

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

LONGEST = 400  # characters of a hit's text; `mem get` shows it in full


def show(answer: Answer, *, in_full: bool) -> None:
    """Write the answer to the terminal; `in_full` shows whole memories instead of a line for each."""
    import sys

    from rich.console import Console

    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    for part in _parts(answer, in_full=in_full):
        console.print(part)


def _parts(answer: Answer, *, in_full: bool) -> Iterator[RenderableType]:
    match answer:
        case Recall():
            yield _hits(answer)
        case Memories() if in_full:
            for number, memory in enumerate(answer.memories):
                yield from _whole(memory, first=number == 0)
        case Memories():
            yield _grid(answer, no_wrap=True)
        case _:
            yield _grid(answer, no_wrap=False)


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
        table.add_row(f"#{hit.memory.id}", f"{hit.score:.2f}", text)
    return table


def _facts(memory: Memory) -> str:
    day = clock.local_day(memory.event_time or memory.recorded_at)
    tags = " ".join(f"#{tag}" for tag in memory.tags)
    status = "" if memory.status == "active" else memory.status
    parts = (memory.kind, memory.category, memory.project or "global", day, status, tags)
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


def _grid(answer: Answer, *, no_wrap: bool) -> Table:
    """Rows in columns; the last column takes what is left of the width."""
    from rich.table import Table
    from rich.text import Text

    lines = list(rows(answer))
    width = max((len(line) for line in lines), default=1)
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(width - 1):
        table.add_column(overflow="fold", no_wrap=no_wrap)
    table.add_column(overflow="ellipsis" if no_wrap else "fold", no_wrap=no_wrap, ratio=1)
    for line in lines:
        cells = [Text(visible(cell)) for cell in line]
        if isinstance(answer, Diagnosis):
            cells[0].stylize({"ok": "green", "fixed": "yellow"}.get(line[0], "bold red"))
        table.add_row(*cells)
    return table
