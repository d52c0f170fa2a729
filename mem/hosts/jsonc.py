"""JSON as people keep it in settings, read with the place of everything in it and edited by offsets.

Promises: comments (`//`, `/* */`), trailing commas and a byte order mark are read and kept. Edits are offsets
and texts; what they do not name keeps every byte. What is added follows the file in its line ends and its
indentation, or stands in one line where the file is one line.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MARK = "\ufeff"
DEEPEST = 200  # containers inside each other; recursion would end the process somewhere beyond

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING_OR_COMMENT = re.compile(rf'"(?:[^"\\]|\\.)*"|({_COMMENT.pattern})', re.DOTALL)
_LINE_END = re.compile(r"\r\n|\n|\r")
_SCALAR_SIGNS = frozenset('"-0123456789tfn')
_SPACE = " \t\r\n"


class Malformed(ValueError):
    """What stands at a place of the text cannot be there; `line` and `column` count from 1."""

    def __init__(self, text: str, at: int, message: str) -> None:
        super().__init__(message)
        lines = _LINE_END.split(text[:at].removeprefix(MARK))
        self.line = len(lines)
        self.column = len(lines[-1]) + 1


@dataclass(frozen=True, slots=True)
class Value:
    """A value, from its first character to behind its last; `plain` is what it means."""

    start: int
    end: int
    plain: Any
    items: tuple["Item", ...] = ()

    def member(self, key: str) -> "Value | None":
        """The value of a key; of several the last, as every reader of JSON has it."""
        return next((item.value for item in reversed(self.items) if item.key == key), None)


@dataclass(frozen=True, slots=True)
class Item:
    """A member of an object with its key, or an item of an array; `comma` is where the next comma stands."""

    key: str | None
    start: int
    value: Value
    comma: int | None

    @property
    def end(self) -> int:
        return self.value.end


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in the place of start–end."""

    start: int
    end: int
    text: str


def blank(text: str) -> bool:
    """Whether the text holds no document at all: nothing, or comments; raises `Malformed`."""
    return _behind_trivia(text, len(MARK) if text.startswith(MARK) else 0) == len(text)


def nothing(text: str) -> bool:
    """Whether the text says nothing: it is blank, or an empty object."""
    return "".join(text.removeprefix(MARK).split()) in ("", "{}")


def parse(text: str) -> Value:
    """The document with the place of everything in it; raises `Malformed`."""
    root = _value(text, _behind_trivia(text, len(MARK) if text.startswith(MARK) else 0), 0)
    end = _behind_trivia(text, root.end)
    if end < len(text):
        raise Malformed(text, end, "something follows the end of the document")
    return root


def begun(text: str, value: Any) -> Edit:
    """The insertion that adds a document behind a text that holds none, in a line of its own."""
    newline, end = _newline(text), len(text)
    start = newline if _line(text, end).strip(_SPACE) else ""
    return Edit(end, end, f"{start}{_rendered(None, value, (newline, '', '  '))}{newline}")


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; of two at one place, the first comes first."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def appended(
    text: str, root: Value, container: Value, entries: Sequence[tuple[str | None, Any]]
) -> list[Edit]:
    """The insertions that add members (with a key) or items (without) behind the last one of a container."""
    newline, unit = _newline(text), _unit(text, root)
    last = container.items[-1] if container.items else None
    edits = []
    begin = container.start + 1
    if last is not None:
        begin = last.end if last.comma is None else last.comma + 1
        if last.comma is None:
            edits.append(Edit(last.end, last.end, ","))
    at = _last_comment_end(text, begin, container.end - 1)
    if not _in_lines(text, root, container):
        body = ", ".join(_rendered(key, value) for key, value in entries)
        return [*edits, Edit(at, at, f" {body}" if last else body)]
    margin = _margin(text, container.start)
    inner = _margin(text, last.start) if last and _begins_line(text, last.start) else margin + unit
    body = ",".join(newline + _rendered(key, value, (newline, inner, unit)) for key, value in entries)
    if last is None and not _LINE_END.search(text, at, container.end):
        at, body = container.end - 1, body + newline + margin
    return [*edits, Edit(at, at, body)]


def removed(text: str, container: Value, index: int) -> list[Edit]:
    """The deletions that take one item out of a container, with one comma and the space before it.

    Comments stay, all of them: whose they are cannot be known.
    """
    item = container.items[index]
    inside = Edit(container.start + 1, container.end - 1, "")
    behind = item.end if item.comma is None else item.comma + 1
    beside = text[item.end : item.comma or item.end]
    around = text[inside.start : item.start] + beside + text[behind : inside.end]
    if len(container.items) == 1 and not around.strip(_SPACE):
        return [inside]
    comma = container.items[index - 1].comma if index else None
    begin = inside.start if comma is None else comma + 1
    edits = []
    if item.comma is None and comma is not None:
        edits.append(Edit(comma, comma + 1, ""))
    if item.comma is not None and beside.strip(_SPACE):
        edits.append(Edit(item.comma, behind, ""))  # a comment stands before the comma
        behind = item.end
    start = begin + len(text[begin : item.start].rstrip(_SPACE))
    if start == item.start and item.comma is not None:
        behind += len(text[behind:]) - len(text[behind:].lstrip(_SPACE))
    elif _ends_line_comment(text, begin, start) and not _LINE_END.match(text, behind):
        start = item.start  # the line end belongs to the comment
    return [*edits, Edit(start, behind, "")]


def commented(text: str, item: Item) -> bool:
    """Whether a comment stands in an item, but for those inside the items of its own."""
    inner = (edge for child in item.value.items for edge in (child.start, child.end))
    edges = [item.start, *inner, item.end]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    return any(found[1] for start, end in gaps for found in _STRING_OR_COMMENT.finditer(text, start, end))


def _behind_trivia(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    end = found.end() if found else at
    if text.startswith("/*", end):
        raise Malformed(text, end, "a comment has no end")
    return end


def _value(text: str, at: int, depth: int) -> Value:
    sign = text[at : at + 1]
    if sign in ("{", "["):
        if depth > DEEPEST:
            raise Malformed(text, at, f"more than {DEEPEST} containers lie inside each other")
        return _container(text, at, depth)
    if sign not in _SCALAR_SIGNS:
        raise Malformed(text, at, "a value is missing")
    try:
        plain, end = _SCALARS.raw_decode(text, at)
    except json.JSONDecodeError as err:
        raise Malformed(text, err.pos, f"this is not JSON ({err.msg})") from err
    except ValueError as err:
        raise Malformed(text, at, "this is not a JSON number") from err
    return Value(at, end, plain)


def _container(text: str, start: int, depth: int) -> Value:
    closing = "}" if text[start] == "{" else "]"
    items: list[Item] = []
    at = _behind_trivia(text, start + 1)
    while text[at : at + 1] != closing:
        begin, key = at, None
        if closing == "}":
            key, at = _key(text, at)
        value = _value(text, at, depth + 1)
        at = _behind_trivia(text, value.end)
        comma = at if text[at : at + 1] == "," else None
        if comma is not None:
            at = _behind_trivia(text, at + 1)
        elif text[at : at + 1] != closing:
            raise Malformed(text, at, f"a comma or {closing} is missing")
        items.append(Item(key, begin, value, comma))
    plain: Any = [item.value.plain for item in items]
    if closing == "}":
        plain = {item.key: item.value.plain for item in items}
    return Value(start, at + 1, plain, tuple(items))


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        raise Malformed(text, at, "a key in double quotes, or }, is missing")
    key = _value(text, at, 0)
    colon = _behind_trivia(text, key.end)
    if text[colon : colon + 1] != ":":
        raise Malformed(text, colon, "a colon is missing")
    return str(key.plain), _behind_trivia(text, colon + 1)


def _refused(name: str) -> None:
    raise ValueError(name)


def _whole(digits: str) -> int | float:
    """An integer, or a float where Python would refuse to read so many digits."""
    return int(digits) if len(digits) < 4_000 else float(digits)


_SCALARS = json.JSONDecoder(parse_constant=_refused, parse_int=_whole)


def _rendered(key: str | None, value: Any, lines: tuple[str, str, str] | None = None) -> str:
    """A member or an item; with a line end, a margin and a unit of indentation, over several lines."""
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if lines is None:
        return name + json.dumps(value, ensure_ascii=False)
    newline, margin, unit = lines
    whole = json.dumps(value, ensure_ascii=False, indent=unit)
    return margin + name + whole.replace("\n", newline + margin)


def _newline(text: str) -> str:
    found = _LINE_END.search(text)
    return found.group() if found else "\n"


def _unit(text: str, root: Value) -> str:
    """What one level of indentation is in this file."""
    if root.items and _begins_line(text, root.items[0].start):
        return _margin(text, root.items[0].start).removeprefix(_margin(text, root.start))
    return "  "


def _in_lines(text: str, root: Value, container: Value) -> bool:
    """Whether a container is, or if it is empty should be, written over several lines."""
    if _LINE_END.search(text, container.start, container.end):
        return True
    return not container.items and (container is root or bool(_LINE_END.search(text, root.start, root.end)))


def _line(text: str, at: int) -> str:
    """What stands before an offset in its line."""
    return _LINE_END.split(text[:at].removeprefix(MARK))[-1]


def _margin(text: str, at: int) -> str:
    line = _line(text, at)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _begins_line(text: str, at: int) -> bool:
    return at > 0 and not _line(text, at).strip(" \t")


def _last_comment_end(text: str, begin: int, end: int) -> int:
    """Behind the last comment in a gap between two values; its beginning if there is none."""
    return max((found.end() for found in _COMMENT.finditer(text, begin, end)), default=begin)


def _ends_line_comment(text: str, begin: int, at: int) -> bool:
    """Whether a `//` comment in the gap that starts at `begin` ends exactly here."""
    found = [one for one in _COMMENT.finditer(text, begin, at) if one.end() == at]
    return bool(found) and found[-1].group().startswith("//")
