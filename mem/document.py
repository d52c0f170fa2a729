"""The one JSON document that an answer is, on the command line and over MCP alike.

Contract: `schema_version` is 1 and comes first; later versions of `mem` only add fields. A memory has the
same fields wherever it appears; a hit has those of its memory with `score`, `why` and `surfaced` beside
them, an item of a context block those of its memory with `section`, one that `reflect` names as much used
those of its memory with `recalls` and `last_recalled_at`.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from io import RawIOBase
from typing import Any, BinaryIO

from mem.errors import MemError, Usage
from mem.results import ContextItem, Hit, Stored, Streamed, UsedMemory

SCHEMA_VERSION = 1


def document(result: Any) -> dict[str, Any]:
    """The answer of an operation as plain JSON values; raises `Usage` for a stream, which has none."""
    if isinstance(result, Streamed):
        raise Usage("An export to - has no JSON answer beside it.", hint="Name a file: mem export FILE")
    return {"schema_version": SCHEMA_VERSION, **_plain(result)}


def error_document(error: MemError) -> dict[str, Any]:
    """A failure without a result, as plain JSON values."""
    from mem.truth.redact import redact  # an error may quote what was given

    message, hint = (_text(redact(told).text) for told in (str(error), error.hint))
    return {
        "schema_version": SCHEMA_VERSION,
        "error": {"code": error.code, "message": message, "hint": hint},
    }


def encode(plain: Mapping[str, Any], *, indent: bool = False) -> bytes:
    """UTF-8 JSON with a line end."""
    import orjson

    options = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    return orjson.dumps(plain, option=options)


def _plain(value: Any) -> Any:
    match value:
        case Hit():
            extra = {"score": round(value.score, 4), "why": _plain(value.why), "surfaced": value.surfaced}
            return {**_plain(value.memory), **extra}
        case UsedMemory():
            return {
                **_plain(value.memory),
                "recalls": value.recalls,
                "last_recalled_at": value.last_recalled_at,
            }
        case ContextItem():
            return {**_plain(value.memory), "section": value.section}
        case Stored() if value.refusal is None:
            return {name: item for name, item in _fields(value).items() if name != "refusal"}
        case _ if is_dataclass(value):
            return _fields(value)
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case tuple() | list():
            return [_plain(item) for item in value]
        case float():
            return round(value, 6)
        case str() if not value.isascii():
            return _text(value)
        case _:
            return value


def _text(text: str) -> str:
    """What is no UTF-8 (a path, an argument that a message quotes) as escapes: JSON cannot hold it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _fields(value: Any) -> dict[str, Any]:
    return {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value)}


def write_all(out: BinaryIO | RawIOBase, data: bytes) -> int:
    """Write every byte, where one call may take less than it is given; gives how many there were."""
    left = memoryview(data)
    while left:
        left = left[out.write(left) or 0 :]
    return len(data)
