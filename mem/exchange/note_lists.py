"""Plain lists of notes: JSON objects, one a line or in an array; CSV with a header; a Markdown list.

What `mem store` takes is taken by its name, what goes by another common name is known too, and what is left
stands in the note's extra. A note without an id is known by its text, so that a list can be imported again.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mem import clock
from mem.clock import Edge
from mem.errors import Usage
from mem.exchange.lines import numbered, parsed
from mem.exchange.markdown import OPENING
from mem.exchange.sources import Format, Found, Reader, kept_uid, named_uid
from mem.truth.fingerprint import folded
from mem.values import Category, Kind, Layer, Level

# Other names of a note's fields, in lower case; the first that is there counts.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "content": ("content", "text", "note", "memory", "body", "fact"),
    "title": ("title", "name", "subject"),
    "kind": ("kind",),
    "rationale": ("rationale", "reasoning", "why"),
    "alternatives": ("alternatives",),
    "category": ("category",),
    "level": ("level", "memory_level"),
    "layer": ("layer", "memory_type"),
    "importance": ("importance",),
    "confidence": ("confidence",),
    "project": ("project",),
    "tags": ("tags", "tag", "labels"),
    "source": ("source",),
    "event_time": ("event_time",),
    "valid_from": ("valid_from",),
    "valid_to": ("valid_to",),
    "expires_at": ("expires_at", "expires"),
    "recorded_at": ("recorded_at", "created_at", "created", "date", "timestamp"),
    "uid": ("uid", "uuid", "id"),
}
_CHOICES = {"kind": Kind, "category": Category, "level": Level, "layer": Layer}
_INSTANTS = {
    "event_time": Edge.FIRST,
    "valid_from": Edge.FIRST,
    "valid_to": Edge.NEXT,
    "expires_at": Edge.NEXT,
    "recorded_at": Edge.FIRST,
}
_NUMBERS = {"importance": 10, "confidence": 1}
_LARGEST_ARRAY = 256 << 20  # bytes of a JSON document, which is read at once


def _is_jsonl(path: Path, head: bytes) -> bool:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return text[:1] in (b"{", b"[", b'"') and path.suffix not in (".md", ".csv")


def _is_csv(path: Path, head: bytes) -> bool:
    first = head.lstrip(b"\xef\xbb\xbf").split(b"\n")[0].decode("utf-8", "replace")
    columns = {column.strip().strip('"').casefold() for column in re.split(r"[,;\t]", first)}
    return path.suffix in (".csv", ".tsv", "") and bool(columns & set(_NAMES["content"]))


def _is_markdown(path: Path, head: bytes) -> bool:
    text = head.decode("utf-8", "replace")
    return path.suffix in (".md", ".markdown") or bool(re.match(r"\s*([-*+]|\d+[.)]) \S|\s*#{1,6} \S", text))


def _read_jsonl(path: Path) -> Iterator[Found]:
    lines = numbered(path)
    for number, line in lines:
        if line.startswith("["):
            yield from _array(path)
            return
        yield _parsed(Format.JSONL, line, number)


def _array(path: Path) -> Iterator[Found]:
    if path.stat().st_size > _LARGEST_ARRAY:
        raise Usage(f"{path} is too large for one JSON array.", hint="Write one object a line.")
    try:
        items = parsed(path.read_text(encoding="utf-8-sig"))
    except ValueError as err:
        yield Found(str(path), None, f"It is no JSON: {err}.")
        return
    for number, item in enumerate(items, start=1):
        yield _note(Format.JSONL, item, f"item {number}")


def _parsed(source: Format, line: str, number: int) -> Found:
    try:
        item = parsed(line)
    except ValueError as err:
        return Found(f"line {number}", None, f"It is no JSON: {err}.", number)
    return _note(source, item, f"line {number}", number)


def _read_csv(path: Path) -> Iterator[Found]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        sample = stream.read(4096)
        stream.seek(0)
        separator = max(",;\t", key=sample.split("\n")[0].count)
        rows = csv.reader(stream, delimiter=separator, strict=True)  # else an open quote takes all the rest
        last = 0
        try:
            header = [column.strip().casefold() for column in next(rows, [])]
            if twice := [name for name, count in Counter(header).items() if name and count > 1]:
                yield Found("line 1", None, f"The header names {twice[0]} twice.", 1)
                return
            last = rows.line_num
            for row in rows:
                place, line, last = f"line {last + 1}", last + 1, rows.line_num
                if not any(cell.strip() for cell in row):
                    continue
                if len(row) > len(header):
                    yield Found(place, None, f"It has {len(row)} fields, the header {len(header)}.", line)
                    continue
                item = {name: cell for name, cell in zip(header, row, strict=False) if cell.strip()}
                yield _note(Format.CSV, item, place, line)
        except csv.Error as err:
            told = f"It is no CSV: {err}; nothing is read from here on."
            yield Found(f"line {last + 1}", None, told, last + 1)


_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>.*)")
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<text>.*?)[ \t#]*")
_FENCE = re.compile(r"[ \t]*(```|~~~)")


def _read_markdown(path: Path) -> Iterator[Found]:
    """Each item of a list is a note, with what is indented below it; without any item, each paragraph.

    Not mem's own export for people: its items say more than their texts, and some are rejected ones.
    """
    with path.open("rb") as stream:
        if stream.read(len(OPENING)) == OPENING:
            raise Usage(
                f"{path} is an export of mem for people, which cannot be imported.",
                hint="Export as JSON Lines: mem export FILE",
            )
    has_items = next(_items(_raw(path)), None) is not None
    split = _items if has_items else _paragraphs
    for number, heading, text in split(_raw(path)):
        item = {"content": text} | ({"title": heading} if heading else {})
        yield _note(Format.MARKDOWN, item, f"line {number}", number)


_Block = tuple[int, str, str]  # its line, the heading that it stands under, its text


def _items(lines: Iterable[tuple[int, str]]) -> Iterator[_Block]:
    heading, started, indent, text, fenced = "", 0, 0, list[str](), False
    for number, line in lines:
        fenced ^= bool(_FENCE.match(line))
        item, title = (None, None) if fenced else (_ITEM.fullmatch(line), _HEADING.fullmatch(line))
        begins = item is not None and (not text or len(item["indent"]) <= indent)
        belongs = bool(text) and (not line.strip() or line[:1] in " \t" or item is not None)
        if text and (begins or not belongs):
            yield started, heading, "\n".join(text).strip()
            text = []
        if title is not None:
            heading = title["text"]
        elif item is not None and begins:
            started, indent, text = number, len(item["indent"]), [item["text"]]
        elif text:
            text.append(line.strip() if item is None else f"- {item['text']}")
    if text:
        yield started, heading, "\n".join(text).strip()


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[_Block]:
    heading, started, text, fenced = "", 0, list[str](), False
    for number, line in lines:
        fenced ^= bool(_FENCE.match(line))
        title = None if fenced else _HEADING.fullmatch(line)
        if text and not fenced and (title is not None or not line.strip()):
            yield started, heading, "\n".join(text)
            text = []
        if title is not None:
            heading = title["text"]
        elif line.strip() or text:
            started = number if not text else started
            text.append(line)
    if text:
        yield started, heading, "\n".join(text)


def _raw(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as stream:
        for number, line in enumerate(stream, start=1):
            yield number, line.rstrip("\r\n")


def _note(source: Format, item: Any, place: str, line: int | None = None) -> Found:
    if isinstance(item, str):
        item = {"content": item}
    if not isinstance(item, dict):
        return Found(place, None, "It is neither an object nor a text.", line)
    given = {str(name).casefold(): (name, value) for name, value in item.items()}
    record: dict[str, Any] = {"record": "memory"}
    left = dict(item)
    for name, names in _NAMES.items():
        known = next((given[one] for one in names if one in given), None)
        if known is not None and known[1] is not None:
            record[name] = known[1]
            del left[known[0]]
    content = record.get("content")
    if not isinstance(content, str) or not content.strip():
        return Found(place, None, "It has no text: content is missing or empty.", line)
    try:
        notices = _convert(record, left)
    except (Usage, ValueError) as err:
        return Found(place, None, str(err), line)
    record["uid"] = _uid(source, record)
    record["origin"] = named_uid(source, "store")
    record.setdefault("source", str(source))
    if "recorded_at" in record:
        record["changed_at"] = record["recorded_at"]
    if left:
        record["extra"] = {str(source): left}
    return Found(place, record, line=line, notices=notices)


def _convert(record: dict[str, Any], left: dict[str, Any]) -> tuple[str, ...]:
    """Give the fields of a note their types; what no field takes stays beside it, and is told of."""
    notices = []
    for name, choices in _CHOICES.items():
        if name in record:
            value = str(record[name]).strip().casefold().replace("-", "_")
            if value in tuple(choices):
                record[name] = value
            else:
                left[name] = record.pop(name)
                notices.append(f"{name} '{left[name]}' is unknown here; it is kept in extra")
    for name, edge in _INSTANTS.items():
        if name in record:
            record[name] = clock.parse(str(record[name]), edge, name=name)
    for name, most in _NUMBERS.items():
        if name in record:
            number = _number(record[name])
            if number is None or not 0 <= number <= most:
                raise ValueError(f"{name} must be a number from 0 to {most}, not '{record[name]}'.")
            record[name] = round(number) if name == "importance" else number
    if "tags" in record and isinstance(record["tags"], str):
        record["tags"] = [tag for tag in map(str.strip, re.split(r"[,;|]", record["tags"])) if tag]
    return tuple(notices)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _uid(source: Format, record: Mapping[str, Any]) -> str:
    if "uid" in record:
        return kept_uid(source, str(record["uid"]))
    said = (record.get("project") or "", record.get("kind", Kind.LEARNING), folded(record["content"]))
    return named_uid(source, "\n".join(said))


JSONL = Reader(Format.JSONL, _is_jsonl, _read_jsonl)
CSV = Reader(Format.CSV, _is_csv, _read_csv)
MARKDOWN = Reader(Format.MARKDOWN, _is_markdown, _read_markdown)
