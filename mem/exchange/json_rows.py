"""Rows of another program's JSON: their fields are taken one by one, and what is left is kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mem.exchange import dates
from mem.exchange.sources import Format
from mem.records.format import VERSION_FIELDS, RecordKind
from mem.truth.drafts import LONGEST_PROJECT


@dataclass(slots=True)
class Row:
    """One record of the source: what was taken of it is not kept in `extra`."""

    source: Format
    given: dict[str, Any]
    place: str
    notices: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def text(self, name: str) -> str | None:
        """A text that holds something."""
        value = self.given.get(name)
        if not isinstance(value, str) or not value.strip():
            return None
        self.taken.add(name)
        return value

    def required(self, name: str) -> str:
        """A text without which there is no record; raises `ValueError`."""
        value = self.text(name)
        if value is None:
            raise ValueError(f"{name} is missing.")
        return value

    def instant(self, name: str) -> str | None:
        """A time, of any form that can be read."""
        value = self.given.get(name)
        found = dates.instant(value)
        if found is not None:
            self.taken.add(name)
        elif value not in (None, ""):
            self.notices.append(f"{name} {value!r} is no time that can be read; it is kept in extra.")
        return found

    def share(self, name: str) -> float | None:
        """A number from 0 to 1."""
        value = self.given.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.notices.append(f"{name} {value!r} does not lie in 0 to 1; it is kept in extra.")
            return None
        self.taken.add(name)
        return float(value)

    def flag(self, name: str) -> bool:
        """Whether a flag is set; anything but 0 sets it."""
        self.taken.add(name)
        return bool(self.given.get(name))

    def texts(self, name: str, most: int, longest: int | None = None) -> list[str]:
        """The texts of a list, as many as are kept; the whole list stays in `extra` where some are not."""
        value = self.given.get(name)
        items = value if isinstance(value, list) else []
        good = [
            one for one in items if isinstance(one, str) and one.strip() and len(one) <= (longest or len(one))
        ]
        if len(good[:most]) == len(items) and value is not None:
            self.taken.add(name)
        elif value is not None:
            self.notices.append(f"Not all of {name} can be taken; the list is kept in extra.")
        return good[:most]

    def project(self) -> str | None:
        """The project, on one line."""
        given = self.text("project")
        name = " ".join(given.split()) if given else ""
        if given and name == given and len(name) <= LONGEST_PROJECT and name.isprintable():
            return name
        self.taken.discard("project")
        if not given or not name.isprintable():
            return None
        self.notices.append(f"The project {given[:80]!r} is kept in extra as it was.")
        return name[:LONGEST_PROJECT].strip()

    def extra(self, **more: Any) -> dict[str, Any]:
        """What has no field of its own."""
        left = {
            name: value for name, value in self.given.items() if name not in self.taken and value is not None
        }
        kept = {**left, **{name: value for name, value in more.items() if value is not None}}
        return {self.source.value: kept} if kept else {}


@dataclass(frozen=True, slots=True)
class Step:
    """What became of a row at an instant after it was written."""

    at: str | None
    changes: Mapping[str, Any]

    def changed(self, at: str | None) -> dict[str, Any]:
        """What the row says from then on, with when its status changed."""
        return {**self.changes, "status_at": at} if at and "status" in self.changes else dict(self.changes)


def with_history(record: dict[str, Any], at: str | None, steps: Iterable[Step]) -> dict[str, Any]:
    """A record that began at an instant, with a version for each later step; without an instant, all at once.

    A step of no known time belongs to the beginning.
    """
    record = {name: value for name, value in record.items() if value is not None or name == "project"}
    kind = RecordKind(record["record"])
    early = [step for step in steps if step.at is None or at is None or step.at <= at]
    late = sorted((step for step in steps if step not in early), key=lambda step: step.at or "")
    for step in early:
        record |= step.changed(at)
    if at is None:
        return record
    record |= {"changed_at": at} | ({"recorded_at": at} if "recorded_at" in VERSION_FIELDS[kind] else {})
    versions = []
    for step in late:
        versions.append({name: record[name] for name in VERSION_FIELDS[kind] if name in record})
        record |= {**step.changed(step.at), "changed_at": step.at}
    return record | ({"versions": versions} if versions else {})
