"""The first pass of an import: the source is read, each record is checked and kept aside.

The store is only asked: nothing is written to it and no lock is held, so a bad record costs nothing but time.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw

from mem.errors import Usage
from mem.exchange.checked import Checked, events_of
from mem.exchange.fields import Malformed
from mem.exchange.lines import NO_UTF_8, TOO_DEEP
from mem.exchange.sources import Format, Found, Reader
from mem.exchange.validation import Checker
from mem.records.format import RecordKind
from mem.results import BadRecord
from mem.store import imports
from mem.store.connect import Store
from mem.store.staging import Staged, Staging
from mem.values import Notice

RANKS = {kind: rank for rank, kind in enumerate(RecordKind)}
MOST_TOLD = 1_000  # bad records, and notices of the source, that are named one by one
TOLD_EVERY = 500  # records
SAMPLES = 5  # vectors by which a model is recognised
HEAD = 64 << 10  # bytes by which a format is recognised


@dataclass(slots=True)
class Plan:
    """What the source holds: how many records of each kind, which are bad, and what to know of it."""

    counts: dict[str, int] = field(default_factory=dict)
    bad: list[BadRecord] = field(default_factory=list)
    malformed: Counter[str] = field(default_factory=Counter)
    notices: list[Notice] = field(default_factory=list)
    without_project: int = 0
    unnamed: list[dict[str, Any]] = field(default_factory=list)  # some vectors of a model that is not named

    def reject(self, place: str, line: int | None, reason: str, kind: str = "") -> None:
        """Note a bad record."""
        self.malformed[kind or "unknown"] += 1
        if len(self.bad) < MOST_TOLD:
            self.bad.append(BadRecord(line, place, kind, reason))

    def note(self, code: str, message: str) -> None:
        """Note something of the source as a whole."""
        if len(self.notices) < MOST_TOLD:
            self.notices.append(Notice(code, message))


def reader_for(path: Path, format_: Format | None) -> Reader:
    """The reader of a source: of the format that is named, else of the first that recognises it."""
    known = _readers()
    if format_ is not None:
        return next(reader for reader in known if reader.format is format_)
    head = b"" if path.is_dir() else _head(path)
    for reader in known:
        with _reading(path):
            if reader.recognises(path, head):
                return reader
    if not head and not path.is_dir():
        raise Usage(f"{path} is empty.", hint="Name a file that holds something.")
    if head.startswith(b"SQLite format 3"):
        way = "Of a store of mem, import an export: mem --db FILE export - | mem import -"
        raise Usage(f"{path} is a SQLite database, but none of mneme.", hint=way)
    tried = ", ".join(reader.format for reader in known)
    raise Usage(f"The format of {path} is not recognised; tried: {tried}.", hint="Name it: --format FORMAT")


def plan(
    store: Store,
    reader: Reader,
    path: Path,
    checker: Checker,
    staging: Staging,
    tell: Callable[[int, int | None], None],
) -> Plan:
    """Read a source to its end, and keep aside what is good of it; `tell` hears how far that is."""
    made = Plan()
    with _reading(path):
        for number, found in enumerate(reader.read(path)):
            if number % TOLD_EVERY == 0:
                tell(number, None)
            _stage(made, checker, staging, found, number)
    with store.read() as db:
        _check_again(db, made, checker, staging)
        _require_ends(db, made, staging)
    return made


def _readers() -> tuple[Reader, ...]:
    """Every reader, those that recognise the least first."""
    from mem.exchange import (
        claude_memory_import,
        export_lines,
        local_memory_mcp,
        memory_server,
        mneme,
        note_lists,
    )

    return (
        export_lines.READER,
        local_memory_mcp.READER,
        mneme.READER,
        claude_memory_import.READER,
        memory_server.READER,
        note_lists.JSONL,
        note_lists.CSV,
        note_lists.MARKDOWN,
    )


def _stage(made: Plan, checker: Checker, staging: Staging, found: Found, number: int) -> None:
    import orjson

    record, place, line = found.record, found.place, found.line
    if record is None:
        if found.problem:
            made.reject(place, line, found.problem)
        for remark in found.notices:
            made.note("source", f"{place}: {remark}")
        return
    kind = str(record.get("record", ""))
    try:
        checked = checker.check(record)
        body = _encoded(checked)
    except (Malformed, orjson.JSONEncodeError, RecursionError) as err:
        made.reject(place, line, _why(err), kind)
        return
    told = [*(Notice("source", text) for text in found.notices), *checked.notices]
    staged = Staged(
        rank=RANKS[checked.kind],
        number=number,
        key=checked.key,
        place=place,
        line=line,
        body=body,
        notices=orjson.dumps([[one.code, one.message] for one in told]) if told else None,
        raw=orjson.dumps(record) if checked.redacted and checker.is_ours else None,
    )
    before = staging.add(staged, checked.needs)
    if before is not None:
        _repeated(made, checker, staging, staged, before, checked.needs)
        return
    made.counts[checked.kind.value] = made.counts.get(checked.kind.value, 0) + 1
    made.without_project += checked.takes_project
    if checked.kind is RecordKind.VECTOR and not checked.record["model"] and len(made.unnamed) < SAMPLES:
        made.unnamed.append(checked.record)


def _why(err: Exception) -> str:
    """What is wrong with a record, in words that its writer knows."""
    if isinstance(err, RecursionError) or "Recursion" in str(err):
        return TOO_DEEP
    return NO_UTF_8 if "surrogates" in str(err) else str(err)


def _repeated(
    made: Plan, checker: Checker, staging: Staging, staged: Staged, before: Staged, needs: Sequence[str]
) -> None:
    """One id twice: the same is no loss, another text of an export is merged, of another format it is bad."""
    if staged.body == before.body:
        made.note("repeated", f"{staged.place} repeats {before.place}.")
    elif checker.is_ours:
        made.note("repeated", f"{staged.place} has the id of {before.place}; the two are merged.")
        staging.add(replace(staged, key=f"{staged.key}\n{staged.number}"), needs)
    else:
        made.reject(staged.place, staged.line, f"It has the id of {before.place}, and says something else.")


def _encoded(checked: Checked) -> bytes:
    import orjson

    refusal = checked.refusal
    told = [refusal.code, refusal.reason, refusal.hint] if refusal else None
    return orjson.dumps([checked.record, checked.given, told, checked.skipped])


def _check_again(db: apsw.Connection, made: Plan, checker: Checker, staging: Staging) -> None:
    """Give back the secrets that a person allowed by an event which came later, or is in the store."""
    import orjson

    for staged in list(staging.doubtful()):
        record: dict[str, Any] = orjson.loads(staged.raw or b"{}")
        events = events_of(record)
        if imports.allowed_secrets(db, events) or not checker.allowing.isdisjoint(events):
            body = _encoded(checker.check(record, allowed=True))
            staging.replace(replace(staged, body=body, notices=None))


def _require_ends(db: apsw.Connection, made: Plan, staging: Staging) -> None:
    """Take out what refers to an entity that is neither in the source nor in the store."""
    gone: dict[int, int] = {}
    missing: dict[str, bool] = {}
    for staged, uid in staging.dangling(RANKS[RecordKind.ENTITY]):
        if uid not in missing:
            missing[uid] = imports.entity_number(db, uid) is None
        if missing[uid] and staged.number not in gone:
            gone[staged.number] = staged.rank
            kind = list(RecordKind)[staged.rank].value
            why = f"It refers to the entity {uid}, which is neither in the file nor in the store."
            made.reject(staged.place, staged.line, why, kind)
            made.counts[kind] -= 1
    for number, rank in gone.items():
        staging.discard(rank, number)


def _head(path: Path) -> bytes:
    with _reading(path), path.open("rb") as stream:
        return stream.read(HEAD)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What keeps a source from being read, in one line."""
    try:
        yield
    except (OSError, apsw.Error, UnicodeError) as err:
        why = err.strerror if isinstance(err, OSError) and err.strerror else err
        raise Usage(f"Cannot read {path}: {why}.", hint="Name a file that can be read.") from err
