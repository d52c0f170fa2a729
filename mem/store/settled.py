"""What a merge derived, once an operation builds on it: from then on it is what somebody found, and history.

A derived state is worked out anew at each merge, from what the rows say. Whoever archives the one memory
that stands for several did so in view of them, so the others stay behind it: they get a version of their own
in the same event, without the mark, which goes into every other store like any change.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mem.store.connect import select

if TYPE_CHECKING:
    from mem.store.events import Unit

SETTLED = "settled"  # the mark in `extra`, and in `store_info` that there are any
_IS_SETTLED = "instr(s.extra, '\"settled\"') AND json_extract(s.extra, '$.settled.at') = s.changed_at"
_UNMARKED = "extra = iif(instr(extra, '\"settled\"'), json_remove(extra, '$.settled'), extra)"

# The derived rows that rest on what the event ?1 has changed, by their table.
_RESTING = {
    "memories": f"""SELECT s.id FROM memories_versions v JOIN memories m ON m.id = v.id
          JOIN memories s ON s.superseded_by = m.id
        WHERE v.replaced_by = ?1 AND {_IS_SETTLED}
          AND (v.status, v.fingerprint, v.project, v.entity_id) IS NOT
              (m.status, m.fingerprint, m.project, m.entity_id)
        UNION SELECT s.id FROM tombstones t JOIN memories s ON s.fingerprint = t.fingerprint
        WHERE t.event_id = ?1 AND {_IS_SETTLED} AND json_extract(s.extra, '$.settled.by') = t.uid""",
    "entities": f"""SELECT s.id FROM entities_versions v JOIN entities n ON n.id = v.id
          JOIN entities s ON s.merged_into = n.id
        WHERE v.replaced_by = ?1 AND {_IS_SETTLED}
          AND (v.status, v.type, v.key, v.project) IS NOT (n.status, n.type, n.key, n.project)""",
    "relations": f"""SELECT s.id FROM relations_versions v JOIN relations r ON r.id = v.id
          JOIN relations s ON s.from_id IN (v.from_id, r.from_id) AND s.to_id IN (v.to_id, r.to_id)
        WHERE v.replaced_by = ?1 AND s.type = r.type AND s.id <> r.id AND {_IS_SETTLED}""",
}


def assigned(values: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """The assignments of an UPDATE that is somebody's own change, which leaves no mark; and their values."""
    own = dict(values)
    if "extra" in own:
        said = json.loads(own["extra"])
        if said.pop(SETTLED, None) is not None:
            own["extra"] = json.dumps(said, ensure_ascii=False)
    sets = ", ".join(f"{name} = ?" for name in own)
    return sets if "extra" in own else f"{sets}, {_UNMARKED}", tuple(own.values())


def keep_what_rests_on(unit: "Unit", event_id: int) -> None:
    """Make real what was derived from rows that an event has changed."""
    if unit.db.execute("SELECT 1 FROM store_info WHERE key = ?", (SETTLED,)).get is None:
        return
    for table, resting in _RESTING.items():
        for (number,) in select(unit.db, resting, (event_id,)):
            unit.db.execute(
                f"UPDATE {table} SET {_UNMARKED}, changed_at = ?, event_id = ? WHERE id = ?",
                (unit.at, event_id, number),
            )
            if table == "memories":
                unit.changed(number)
            elif table == "entities":
                unit.changed_entity(number)
