"""`mem log --follow`: the newest events, oldest first, then each one as it is written.

With `--json` it is one document a line. Ctrl-C ends it, and so does a reader that closes the pipe.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mem.cli import app, render
from mem.cli.app import Session
from mem.errors import Usage
from mem.operations import Operation
from mem.results import Event, Log

POLL = 0.5  # seconds between two looks
MOST = 1000  # events that one look takes at a time
_NOT_FOLLOWED = ("offset", "until")


def run(
    operation: Operation, given: Mapping[str, Any], place: Path | None, session: Session, *, as_json: bool
) -> int:
    """Print events until somebody ends it."""
    for name in _NOT_FOLLOWED:
        if name in given:
            raise Usage(f"log --follow takes no --{name}.", hint="Leave it out: it begins with the newest.")
    operation.bind(given, agent=not session.caller.is_person)
    if session.service is None:
        from mem.service import open_service

        session = replace(session, service=open_service(place, caller=session.caller))

    def look(**more: str) -> Log:
        found: Log = app.answer(operation, {**given, **more}, place, session)
        return found

    page = look()
    _show(session, page.events, as_json=as_json)
    newest = page.newest
    while True:
        render.wait(POLL)
        events, newest = _later(look, newest)
        _show(session, events, as_json=as_json)


def _later(look: Callable[..., Log], newest: int) -> tuple[list[Event], int]:
    """The events after the newest one that was looked at, newest first, and which is that by now."""
    since = {"after": str(newest)} if newest else {}
    page = look(**since, limit=str(MOST))
    events, reached = list(page.events), page.newest
    offset = 0
    while len(page.events) == MOST:
        offset += MOST
        page = look(**since, limit=str(MOST), offset=str(offset))
        # What was written in the meantime has moved the pages on: the first of this one may be known.
        events += [event for event in page.events if event.id < events[-1].id]
    return events, reached


def _show(session: Session, events: Iterable[Event], *, as_json: bool) -> None:
    oldest_first = tuple(events)[::-1]
    if as_json:
        for event in oldest_first:
            session.show(event, in_full=False, as_json=True)
    elif oldest_first:
        session.show(Log(len(oldest_first), oldest_first), in_full=False, as_json=False)
