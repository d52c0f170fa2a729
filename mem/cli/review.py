"""The conversation of `mem review`: what waits is shown one at a time, and each is decided by one key.

It decides nothing itself: every key is an operation of the service, as scripts call it. Nothing is decided by
what was typed before it was shown, and no key but its own accepts.
"""

import shlex
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mem import clock
from mem.cli import inputs, render
from mem.cli.characters import visible
from mem.cli.rows import marks, shown
from mem.errors import MemError
from mem.results import ReviewQueue, Waiting
from mem.values import Memory

Call = Callable[[str, Mapping[str, Any]], Any]

LONGEST = 4_000  # characters of a text that are shown
NOT_WANTED = "not wanted in review"
_KEYS = "[a]ccept  [e]dit  [r]eject  [s]kip  [q]uit  [?] "
_HELP = """a  accept: it is live, and replaces what it was meant to replace
e  edit its text in your editor (VISUAL, EDITOR), and accept that
r  reject: the text is refused from now on; asks why
s  skip: it waits on
q  quit: the rest waits on"""
_COMPARED = (
    *("title", "content", "rationale", "alternatives", "category", "level", "layer", "importance"),
    *("confidence", "project", "tags", "source", "event_time", "valid_from", "valid_to", "expires_at"),
)


def run(call: Call, environment: Mapping[str, str], wanted: Mapping[str, Any]) -> int:
    """Go through the queue, the oldest first; gives the exit status.

    `call` runs an operation with its arguments; `wanted` are those of `review`.
    """
    narrowed = {name: value for name, value in wanted.items() if name == "project"}
    passed, left = int(wanted.get("offset", 0)), int(wanted.get("limit", 1 << 30))
    done: Counter[str] = Counter()
    with _ending_in_order():
        while left > 0:
            queue: ReviewQueue = call("review", {**narrowed, "limit": 1, "offset": passed})
            if not queue.proposals:
                break
            [one] = queue.proposals
            render.say(f"\n{_view(one, queue.total - passed)}\n")
            outcome = _decide(call, environment, one)
            if outcome is None:
                break
            done[outcome] += 1
            left -= 1
            passed += outcome == "skipped"
        waiting = call("review", {**narrowed, "limit": 1}).total
    told = [f"{count} {outcome}" for outcome, count in done.items()]
    told.append(f"{waiting} {'waits' if waiting == 1 else 'wait'}" if waiting else "nothing waits for review")
    summary = "; ".join(told)
    render.say(f"{summary[0].upper()}{summary[1:]}.")
    return 0


def _decide(call: Call, environment: Mapping[str, str], one: Waiting) -> str | None:
    """What became of one; None to end here. What is refused is told, and asked again."""
    number = str(one.memory.id)
    while True:
        render.prompt(_KEYS)
        key = inputs.key()
        render.note(key if key.isprintable() else "")
        try:
            match key.casefold():
                case "a":
                    return _told(call("approve", {"ids": [number]}), "approved")
                case "e":
                    text = _edited(one.memory.content, environment)
                    if text is None:
                        render.note("The text is as it was; nothing was changed.")
                        continue
                    return _told(call("approve", {"ids": [number], "content": text}), "approved")
                case "r":
                    render.prompt("Why? ")
                    reason = inputs.line().strip() or NOT_WANTED
                    return _told(call("reject", {"ids": [number], "reason": reason}), "rejected")
                case "s":
                    return "skipped"
                case "q" | "":
                    return None
                case _:
                    render.say(_HELP)
        except MemError as err:
            render.note(f"{err} {err.hint}".rstrip())


def _told(answer: Any, outcome: str) -> str:
    render.show(answer)
    return outcome


def _view(one: Waiting, waiting: int) -> str:
    """A proposal in full: what it says, who wrote it, what it would replace, what speaks against it."""
    return "\n".join(visible(line) for line in _lines(one, waiting))


def _lines(one: Waiting, waiting: int) -> Iterator[str]:
    memory = one.memory
    facts = (memory.kind, memory.category, memory.project or "global", f"importance {memory.importance}")
    yield f"#{memory.id} · {' · '.join(facts)} ({waiting} left)"
    client = f"{memory.client} ({one.writer})" if memory.client else one.writer
    session = f" in session {one.session}" if one.session else ""
    yield f"Proposed by {client}{session} on {clock.local_day(memory.recorded_at)}"
    yield from (f"About {about}, who or which is made with it" for about in (one.about,) if about)
    yield from (f"! {mark}" for mark in marks(memory))
    yield from (f"! {one.obstacle}" for _ in (1,) if one.obstacle)
    yield from _text(memory)
    yield from (
        f"{name}: {value}" for name, value in shown(memory, ("rationale", "alternatives", "source", "tags"))
    )
    for old in one.replaces:
        if one.in_place:
            yield f"Changes #{old.id}:"
            yield from _differences(old, memory)
        else:
            yield f"{'Sums up' if one.sums_up else 'Replaces'} #{old.id}:"
            yield from _text(old)
    yield from (notice.message for notice in one.near)


def _text(memory: Memory) -> Iterator[str]:
    if memory.title:
        yield f"  {memory.title}"
    content = memory.content
    yield from (f"  {line}" for line in content[:LONGEST].split("\n"))
    if len(content) > LONGEST:
        yield f"  … {len(content) - LONGEST:,} more characters: mem get {memory.id}"


def _differences(old: Memory, new: Memory) -> Iterator[str]:
    before, after = dict(shown(old, _COMPARED)), dict(shown(new, _COMPARED))
    for name in _COMPARED:
        if before.get(name) != after.get(name):
            yield f"  {name.replace('_', ' ')}: {before.get(name, '')[:LONGEST]}"
            yield f"  {'':{len(name)}}→ {after.get(name, '')[:LONGEST]}"


def _edited(text: str, environment: Mapping[str, str]) -> str | None:
    """The text as a person leaves it in the editor; None if it is as it was, or empty."""
    editor = environment.get("VISUAL") or environment.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="mem-") as folder:
        file = Path(folder) / "memory.md"
        file.write_text(f"{text}\n", encoding="utf-8")
        try:
            ended = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode  # noqa: S603
            found = file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as err:
            raise MemError(
                f"The editor '{editor}' did not work: {err}.", hint="Set VISUAL or EDITOR to one that does."
            ) from err
    if ended:
        raise MemError(f"The editor '{editor}' ended with {ended}; nothing was changed.")
    return None if found in ("", text.strip()) else found


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let a signal that ends the process give the terminal back first."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
