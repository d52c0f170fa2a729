"""A record that an import has looked at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mem.records.format import RecordKind
from mem.results import Refusal
from mem.values import Notice


@dataclass(frozen=True, slots=True)
class Checked:
    """A record that may be merged; `key` is what its kind knows it by, `needs` the entities that it names.

    `given` are the fields that a record of another format has: what it leaves out is as the store has it, and
    as the defaults are where that has none; None for a record that says everything. `takes_project` says that
    it got the project of the import. `redacted` says that a secret was taken out; `refusal` why this caller
    may not bring it, `skipped` why it has no place here.
    """

    kind: RecordKind
    key: str
    record: dict[str, Any]
    needs: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    given: tuple[str, ...] | None = None
    takes_project: bool = False
    redacted: bool = False
    refusal: Refusal | None = None
    skipped: str = ""


def events_of(record: Mapping[str, Any]) -> list[str]:
    """The events that wrote a row, as far as it names them."""
    versions = record.get("versions") or ()
    return [event for one in (record, *versions) if (event := one.get("event"))]
