"""The reader of mem's own exports: JSON Lines, one line in memory at a time, or one JSON document.

What the header promises is compared with what is there. A file whose lines are all good but whose digest does
not fit was edited or cut between two lines; that is told, and what is there is taken. A line that is cut off
is a bad line. Exports that were written one behind the other are read as one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mem.errors import Usage
from mem.exchange.lines import LONGEST
from mem.exchange.sources import Format, Found, Reader
from mem.records.format import FORMAT, HEADER, VERSION, Header, Tally, encode, read_header

_LARGEST_DOCUMENT = 512 << 20  # bytes; a document of JSON is read at once
_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


def _recognises(path: Path, head: bytes) -> bool:
    start = head[:4096].removeprefix(_BOM).lstrip(_BLANK)
    return start.startswith(b"{") and f'"{FORMAT}"'.encode() in start and b'"format"' in start


def _read(path: Path) -> Iterator[Found]:
    with path.open("rb") as stream:
        first = _object(stream.readline(LONGEST).removeprefix(_BOM))
        is_document = first is None or "records" in first
    yield from _document(path) if is_document else _lines(path)


READER = Reader(Format.MEM, _recognises, _read)


def _lines(path: Path) -> Iterator[Found]:
    header, tally, compared = None, Tally(), True
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST):
            number += 1
            place = f"line {number}"
            if not line.strip(_BLANK):
                continue
            found = _found(line.removeprefix(_BOM) if number == 1 else line, place, number)
            record = found.record
            if record is None or record.get("record") != HEADER:
                if number == 1:
                    problem = "The file does not begin with the header of an export."
                    yield Found(place, None, problem, number)
                tally.add("", line)
                yield found
            elif header is None and number == 1:
                header = read_header(record)
                yield from _greeted(header, place, number)
            else:
                compared = False
                yield from _greeted(read_header(record), place, number)
    if header is not None and compared:
        yield from _compared(header, tally)


def _document(path: Path) -> Iterator[Found]:
    if path.stat().st_size > _LARGEST_DOCUMENT:
        raise Usage(f"{path} is too large for one JSON document.", hint="Export it as JSON Lines.")
    said = _object(path.read_bytes().removeprefix(_BOM))
    records = said.get("records") if said is not None else None
    header = read_header(said) if said is not None else None
    if header is None or not isinstance(records, list):
        yield Found(str(path), None, "It is no export of mem, or it is cut off.")
        return
    yield from _greeted(header, "the header", None)
    tally = Tally()
    for number, record in enumerate(records, start=1):
        place = f"record {number}"
        if not isinstance(record, dict) or not isinstance(record.get("record"), str):
            yield Found(place, None, "It is no record of an export.")
            continue
        tally.add("", encode(record))
        yield Found(place, record)
    yield from _compared(header, tally)


def _found(line: bytes, place: str, number: int) -> Found:
    import orjson

    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as err:
        cut = "" if line.endswith(b"\n") else "It is cut off, or "
        return Found(place, None, f"{cut or 'It is '}no JSON: {err}.", number)
    if not isinstance(record, dict):
        return Found(place, None, "It is no object of JSON.", number)
    return Found(place, record, line=number)


def _object(content: bytes) -> dict[str, Any] | None:
    import orjson

    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _greeted(header: Header | None, place: str, line: int | None) -> Iterator[Found]:
    """What is to be said of a header."""
    if header is None:
        yield Found(place, None, "It is no header of an export.", line)
    elif header.version > VERSION:
        told = (
            f"The export has version {header.version}, this mem knows {VERSION}: what it does not know is "
            "kept and exported again."
        )
        yield Found(place, None, line=line, notices=(told,))


def _compared(header: Header, tally: Tally) -> Iterator[Found]:
    """Whether the file is as it was written."""
    if header.digest == tally.digest:
        return
    named, read = sum(header.counts.values()), sum(tally.counts.values())
    told = "its digest does not fit"
    if named != read:
        told += f", and of {named:,} records that its header names {read:,} are there"
    yield Found("the header", None, notices=(f"The file is not as it was exported: {told}.",))
