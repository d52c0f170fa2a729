"""Profile and goal: what is said of the user, with who said it when; clearing keeps what was said.

A field of the profile is said for everywhere unless a project is named, the goal in the current project. What
is said in a project stands before what is said everywhere.
"""

import re
import unicodedata
from collections.abc import Collection

import apsw

from mem.errors import Usage
from mem.store import settings
from mem.store.events import Unit
from mem.store.settings import GOAL, PROFILE
from mem.truth.drafts import Clean, clean
from mem.values import Said, SayingAction

LONGEST = 2_000  # characters of a goal, and of a field of the profile
LONGEST_FIELD, MOST_FIELDS = 50, 100
_FIELD = re.compile(rf"[\w-]{{1,{LONGEST_FIELD}}}")


def profile_key(field: str | None, action: SayingAction) -> str:
    """The key of a field of the profile, or what all of them begin with; raises `Usage`."""
    if field is None:
        if action in (SayingAction.SET, SayingAction.CLEAR):
            raise Usage(f"profile {action} needs FIELD.", hint=f"As in: mem profile {action} language")
        return PROFILE
    name = unicodedata.normalize("NFKC", field).strip().casefold()
    if not _FIELD.fullmatch(name):
        raise Usage(
            f"'{field[:80]}' cannot be a field of the profile.",
            hint=f"Take letters, digits, - and _, at most {LONGEST_FIELD}.",
        )
    return PROFILE + name


def checked(operation: str, action: SayingAction, name: str, value: str | None) -> Clean:
    """What is to be said, without secrets; raises `Usage` where action and text do not go together."""
    if action is not SayingAction.SET:
        if value is not None:
            raise Usage(
                f"{operation} {action} takes no text; '{value[:80]}' is too much.",
                hint=f"To set it: mem {operation} set",
            )
        return Clean(None)
    said = clean(name, value, LONGEST)
    if said.text is None:
        raise Usage(f"{operation} set needs a text.", hint=f"To take it back: mem {operation} clear")
    return said


def say(unit: Unit, key: str, project: str | None, value: str | None) -> bool:
    """Say something, or take it back (None); False where it holds already. Raises `Usage` for too many."""
    if value is not None and key.startswith(PROFILE):
        fields = {one.name for one in settings.said(unit.db, PROFILE, [project]) if one.value is not None}
        if len(fields | {key.removeprefix(PROFILE)}) > MOST_FIELDS:
            raise Usage(
                f"The profile has {len(fields)} fields; at most {MOST_FIELDS} are kept.",
                hint="Clear one that is not needed: mem profile clear",
            )
    changed = settings.write(unit, key, project, value)
    if changed and project is not None:
        unit.detail["project"] = project  # so that the log of another project does not tell of it
    return changed


def holding(db: apsw.Connection, key: str, projects: Collection[str | None]) -> list[Said]:
    """What holds of what these projects say: of each name one, that of the project before the global one."""
    found: dict[str, Said] = {}
    for one in sorted(_of(settings.said(db, key, projects), key), key=lambda one: one.project is not None):
        if one.value is not None:
            found[one.name] = one
    return [found[name] for name in sorted(found)]


def history(db: apsw.Connection, key: str, projects: Collection[str | None]) -> list[Said]:
    """All that these projects ever said, newest first."""
    return _of(settings.history(db, key, projects), key)


def _of(found: list[Said], key: str) -> list[Said]:
    """Those of one key: it is also the beginning of others."""
    return [one for one in found if key in (PROFILE, GOAL, PROFILE + one.name)]
