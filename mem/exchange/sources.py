"""Where an import comes from: one reader per format, each giving records in the shape of mem's own export.

A reader opens its source read-only and yields `Found`, in any order: what is good as a record of the export
format (see `mem.records.format`), what is not with the reason. A record needs only what its kind cannot do
without; the import fills in the rest. An id that is no UUID becomes `named_uid` of its format, so that the
same source gives the same ids again, on every machine.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

_NAMESPACE = "7f1d5b1e-6b1c-5d0e-9b53-0d6c656d6f72"


class Format(StrEnum):
    """The formats that can be imported."""

    MEM = "mem"
    LOCAL_MEMORY_MCP = "local-memory-mcp"
    MNEME = "mneme"
    CLAUDE_MEMORY = "claude-memory"
    MEMORY_SERVER = "memory-server"
    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Found:
    """One record of a source, or why it cannot be one; `place` is what a person finds it by.

    `line` is its line, where the source has lines. `notices` say what did not fit as it was; with neither a
    record nor a problem they are remarks on the source. A record that leaves `project` out gets that of the
    import, one with None there belongs to none; what else it leaves out stays as the store has it.
    """

    place: str
    record: dict[str, Any] | None
    problem: str = ""
    line: int | None = None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """How a format is recognised, by the path and the first bytes of it, and read."""

    format: Format
    recognises: Callable[[Path, bytes], bool]
    read: Callable[[Path], Iterator[Found]]


def named_uid(source: Format, name: str) -> str:
    """The UUID of something that another format calls by a name of its own: UUIDv5 of format and name."""
    import hashlib  # not above: the service knows the formats, and a hook pays for every import
    import uuid

    # As `uuid.uuid5`, which takes no lone surrogates; a record that holds any is refused later, by its line.
    named = f"{source}:{name}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha1(uuid.UUID(_NAMESPACE).bytes + named, usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest[:16], version=5))


def kept_uid(source: Format, given: str) -> str:
    """A UUID as it is, in lower case; anything else by `named_uid`."""
    import uuid

    try:
        return str(uuid.UUID(given)) if len(given) == 36 else named_uid(source, given)
    except ValueError:
        return named_uid(source, given)
