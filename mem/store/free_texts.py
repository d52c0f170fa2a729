"""Every free text that is stored, wherever: present rows of all statuses, their versions, the audit log."""

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

_OF_MEMORY = (
    *("title", "content", "rationale", "alternatives", "tags", "source", "project", "client"),
    *("status_reason", "trust_reason", "proposal", "extra"),
)
_OF_ENTITY = ("name", "aliases", "summary", "project", "extra")
_OF_SESSION = ("client", "host_session", "project", "end_reason", "tasks", "extra")

# What to call a row, its table, the column that numbers it, and its columns of free text.
_TEXTS = (
    ("#{}", "memories", "id", _OF_MEMORY),
    ("a version of #{}", "memories_versions", "id", _OF_MEMORY),
    ("entity {}", "entities", "id", _OF_ENTITY),
    ("a version of entity {}", "entities_versions", "id", _OF_ENTITY),
    ("session {}", "sessions", "id", _OF_SESSION),
    ("a version of session {}", "sessions_versions", "id", _OF_SESSION),
    ("relation {}", "relations", "id", ("type", "extra")),
    ("a version of relation {}", "relations_versions", "id", ("type", "extra")),
    ("setting {}", "settings", "key", ("value", "project")),
    ("a version of setting {}", "settings_versions", "key", ("value", "project")),
    ("rejection {}", "tombstones", "id", ("reason", "project")),
    ("a version of rejection {}", "tombstones_versions", "id", ("reason", "project")),
    ("project {}", "projects", "id", ("name",)),
    ("missed question {}", "missed_questions", "id", ("question", "project")),
    ("event {}", "events", "id", ("client", "session", "detail")),
    ("imported row {}", '"foreign"', "id", ("row",)),
)
_OF_EVENTS = """SELECT e.id, json_extract(t.value, '$.text') FROM events e, json_each(e.texts) t
                WHERE json_extract(t.value, '$.text') <> ''"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text is stored, and what it says."""

    name: str
    text: str


def every(db: apsw.Connection) -> Iterator[Place]:
    """All free texts; those of one row together."""
    for name, table, key, columns in _TEXTS:
        for number, *texts in db.execute(f"SELECT {key}, {', '.join(columns)} FROM {table}"):
            yield Place(name.format(number), "\n".join(text for text in texts if text))
    for number, text in db.execute(_OF_EVENTS):
        yield Place(f"event {number}", text)
