"""The gate for what another format says to be so: it passes as if it were stored now, whatever its date.

Exports of `mem` go by the merge alone: it knows when a content was rejected, and when it was recorded. Other
programs know nothing of rejections. What they say is refused where a store of it would be: rejected and
forgotten content always; archived and superseded content too, but not where the source has a history of its
own, in which what was replaced once may hold again.
"""

from typing import Any

import apsw

from mem.exchange.sources import Format
from mem.results import Action, Refusal
from mem.store import entities, imports, memories, tombstones
from mem.truth import admission
from mem.truth.admission import Identity
from mem.truth.fingerprint import fingerprint
from mem.values import Kind, Status

WITH_HISTORY = frozenset((Format.LOCAL_MEMORY_MCP, Format.MNEME))


def refusal(db: apsw.Connection, record: dict[str, Any], source: Format, *, now: str) -> Refusal | None:
    """Why a memory of another format may not come in; None if it may, or is here already."""
    if record["status"] not in (Status.ACTIVE, Status.PROPOSED):
        return None
    kind = Kind(record["kind"])
    said = fingerprint(kind, record.get("title"), record["content"])
    if imports.says_already(db, record["uid"], said):
        return None
    about = entities.lives_on(db, record["entity"])[0] if "entity" in record else ""
    project = record.get("project")
    for stone in tombstones.binding(db, said, about, project):
        # What the source itself rejected comes with its own times, and binds by these.
        if record["uid"] not in stone.left and imports.written_by(db, stone.id) != record["origin"]:
            return admission.rejected(stone)
    if source in WITH_HISTORY:
        return None
    number = imports.entity_number(db, about) if about else None
    met = memories.same_content(db, said, kind, project, number)
    if not met:
        return None
    verdict = admission.admit(db, Identity(said, kind, project, number, about), now=now)
    return verdict.refusal if verdict.action is Action.REFUSED else None
