"""The gate that every text of an import goes through: lengths, secrets, and the names of projects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mem.exchange import fields
from mem.exchange.fields import Malformed
from mem.truth import drafts
from mem.truth.redact import redact
from mem.values import Notice

MOST_KNOWN = 20_000  # tags that need not be looked through again


@dataclass(slots=True)
class Gate:
    """What was found in the texts of a record is in `notices`; `allow` lets the secrets of it stay."""

    notices: list[Notice] = field(default_factory=list)
    redacted: bool = False
    allow: bool = False
    _projects: dict[str, str] = field(default_factory=dict)
    _tags: dict[str, str] = field(default_factory=dict)

    def open(self, *, allow: bool) -> None:
        """Begin with another record."""
        self.notices, self.redacted, self.allow = [], False, allow

    def text(self, record: Mapping[str, Any], name: str, longest: int) -> str | None:
        """A text that may be missing."""
        value = record.get(name)
        return None if value is None else self.plain(value, name, longest)

    def plain(self, value: Any, name: str, longest: int = drafts.LONGEST["content"]) -> str | None:
        """A text as it may be written; None if nothing is left of it."""
        if not isinstance(value, str) or "\0" in value:
            raise Malformed(f"{name} must be text without NUL, not {fields.told(value)}.")
        cleaned = drafts.clean(name, value, longest, allow_secret=self.allow)
        if cleaned.notices:
            self.notices += cleaned.notices
            self.redacted |= any(notice.code == "secret_redacted" for notice in cleaned.notices)
        return cleaned.text

    def tag(self, value: str) -> str:
        """A tag; most come again and again."""
        known = self._tags.get(value)
        if known is None:
            known = self.plain(value, "tag") or ""
            if known == value and len(self._tags) < MOST_KNOWN:
                self._tags[value] = known
        return known

    def without_secrets(self, value: Any) -> Any:
        """Plain JSON without secrets in its texts, however deep they stand."""
        match value:
            case str():
                found = redact(value)
                if found.labels:
                    what = f"extra held a secret ({', '.join(found.labels)}); it was taken out."
                    self.notices.append(Notice("secret_redacted", what))
                return found.text
            case dict():
                return {name: self.without_secrets(item) for name, item in value.items()}
            case list():
                return [self.without_secrets(item) for item in value]
            case _:
                return value

    def project(self, given: str | None) -> str | None:
        """The name of a project."""
        if given is None:
            return None
        if given not in self._projects:
            self._projects[given] = drafts.project_to_write(drafts.project_name(given)) or ""
        return self._projects[given]
