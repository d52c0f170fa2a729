"""Entities: found by id, name or alias; described, renamed, and merged when two turn out to be one."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

import apsw

from mem.errors import NotFound, Refused, Usage
from mem.search.mentions import key
from mem.store import entities
from mem.store.events import Unit
from mem.truth import drafts
from mem.truth.fingerprint import text_hash
from mem.values import Entity, EntityStatus, Scope

DEFAULT_TYPE = "thing"
LONGEST_NAME, LONGEST_TYPE, LONGEST_SUMMARY, MOST_ALIASES = 200, 50, 2_000, 64
LONGEST_TOLD = 60  # characters of a name in a message

_NUMBER = re.compile(r"#?(\d{1,18})", re.ASCII)
_JOINERS = re.compile("[\u200c\u200d]")
_UID = re.compile(r"(?=.*[a-f-])[0-9a-f-]{8,36}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Description:
    """What is said of an entity itself: checked, ready to be written."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()
    summary: str | None = None

    @property
    def text(self) -> str:
        """What is embedded of it."""
        named = f"{self.name} ({self.type})"
        return "\n".join(part for part in (named, ", ".join(self.aliases), self.summary) if part)


def describe(
    name: str, type_: str | None = None, aliases: Sequence[str] = (), summary: str | None = None
) -> Description:
    """Check a name, a type, aliases and a summary; raises `Usage`."""
    checked = _line("name", name, LONGEST_NAME)
    kept = {key(alias): _line("alias", alias, LONGEST_NAME) for alias in aliases}
    kept.pop(key(checked), None)
    if len(kept) > MOST_ALIASES:
        raise Usage(
            f"{len(kept)} aliases are too many; at most {MOST_ALIASES} are kept.",
            hint="Take some away: --remove-alias",
        )
    return Description(
        checked,
        type_name(type_ or DEFAULT_TYPE),
        tuple(kept.values()),
        drafts.text("summary", summary, LONGEST_SUMMARY),
    )


def type_name(type_: str) -> str:
    """A type as it is kept: one line, of one width, in lower case; raises `Usage`."""
    plain = unicodedata.normalize("NFKC", type_).casefold()
    return _line("type", plain, LONGEST_TYPE)


NONE = "-"  # stands for no summary


@dataclass(frozen=True, slots=True)
class Change:
    """What is to change of an entity; None and empty leave it as it is."""

    type: str | None = None
    name: str | None = None
    summary: str | None = None
    aliases: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def apply(self, reference: str, known: Entity | None) -> Description:
        """The description after the change, or that of a new entity of this name; raises `Usage`."""
        before = Description(reference, self.type or DEFAULT_TYPE) if known is None else described(known)
        if known is not None and self == Change():
            raise Usage("entity-set names nothing to change.", hint="See: mem entity-set --help")
        if known is None and self.name is not None:
            raise NotFound(f"There is no entity {_told(reference)} to rename.", hint="See: mem entities")
        names = [*before.aliases, *self.aliases]
        if self.name is not None and known is not None and key(self.name) != known.key:
            names.append(known.name)
        gone = {key(name) for name in self.removed}
        summary = before.summary if self.summary is None else self.summary
        return describe(
            self.name or before.name,
            self.type or before.type,
            [name for name in names if key(name) not in gone],
            None if summary == NONE else summary,
        )


def described(entity: Entity) -> Description:
    """What is said of an entity that is in the store."""
    return Description(entity.name, entity.type, entity.aliases, entity.summary)


def find(
    db: apsw.Connection, reference: str, scope: Scope, *, type_: str | None = None, follow: bool = True
) -> Entity:
    """The entity that a number, a UUID, a prefix of it, a name or an alias stands for.

    One that was merged stands for what it was merged into, if that is to be followed. Raises `NotFound`,
    with the candidates where a name stands for several.
    """
    reference = reference.strip()
    found = _by_id(db, reference)
    if found is None:
        candidates = entities.named(db, _key(reference), scope, type_=_type(type_))
        if not candidates:
            raise NotFound(f"There is no entity {_told(reference)}.", hint=_elsewhere(db, reference))
        found = choose(reference, candidates)
    return survivor(db, found) if follow else found


def survivor(db: apsw.Connection, entity: Entity, *, table: str = "entities") -> Entity:
    """What an entity lives on in, after however many merges; itself if it was not merged."""
    seen = set[int]()
    # As of a moment between the merges of two stores, each may have been merged into the other.
    while entity.merged_into is not None and entity.id not in seen:
        seen.add(entity.id)
        entity = entities.one(db, entity.merged_into, table=table)
    return entity


def find_or_none(db: apsw.Connection, name: str, scope: Scope, *, type_: str | None) -> Entity | None:
    """The entity of a name, or None where there is none yet; raises `NotFound` for an ambiguous one.

    One of which nobody said yet what it is may be of any type.
    """
    found = _by_id(db, name.strip())
    if found is not None:
        return survivor(db, found)
    wanted = _type(type_)
    candidates = entities.named(db, _key(name), scope, type_=wanted)
    if not candidates and wanted is not None:
        candidates = entities.named(db, _key(name), scope, type_=DEFAULT_TYPE)
    return choose(name, candidates) if candidates else None


def to_observe(name: str, type_: str | None, known: Entity | None) -> Description:
    """The description of what an observation is about: a new entity, or a known one of now that type.

    Raises `Usage` where the known one is something else.
    """
    if known is None:
        return describe(name, type_)
    if type_ is None or type_name(type_) == known.type:
        return described(known)
    if known.type != DEFAULT_TYPE:
        raise Usage(f"Entity {named(known)} is no {type_name(type_)}.", hint="Leave type out.")
    return replace(described(known), type=type_name(type_))


def find_to_set(db: apsw.Connection, name: str, scope: Scope, *, type_: str | None) -> Entity | None:
    """The entity that a description is of: the one of that name and type, else the only one of that name."""
    return find_or_none(db, name, scope, type_=type_) or find_or_none(db, name, scope, type_=None)


def chosen(
    db: apsw.Connection, ids: Sequence[int], type_: str | None, limit: int, offset: int
) -> tuple[int, list[Entity]]:
    """Of ranked entities those of a type: how many, and one page of them in their order."""
    rows = entities.by_ids(db, ids)
    wanted = _type(type_)
    kept = [rows[number] for number in ids if number in rows and wanted in (None, rows[number].type)]
    return len(kept), kept[offset : offset + limit]


def create(unit: Unit, new: Description, project: str | None) -> int:
    """Write an entity that is not there yet; gives its number."""
    return entities.insert(
        unit,
        name=new.name,
        key=key(new.name),
        type_=new.type,
        project=project,
        aliases=new.aliases,
        summary=new.summary,
        text_hash=text_hash(new.text),
    )


def rewrite(unit: Unit, before: Entity, after: Description) -> bool:
    """Change what is said of an entity; whether it changed. Raises `Refused` where the name is taken."""
    if after == described(before):
        return False
    if (key(after.name), after.type) != (before.key, before.type):
        taken = [
            other
            for other in entities.named(unit.db, key(after.name), Scope(before.project), type_=after.type)
            if other.id != before.id and other.key == key(after.name) and other.project == before.project
        ]
        if taken:
            raise Refused(
                f"Entity #{taken[0].id} is the {after.type} {taken[0].name} already.",
                hint=f"If they are one: mem entity-merge {before.id} {taken[0].id}",
            )
    entities.change(unit, before.id, columns(after))
    if after.name != before.name:
        # Its observations are found by its name.
        unit.to_index |= dict.fromkeys(entities.live(unit.db, before.id))
    return True


def columns(said: Description) -> dict[str, object]:
    """What is said of an entity, as the values of its columns."""
    import json

    return {
        "name": said.name,
        "key": key(said.name),
        "type": said.type,
        "aliases": json.dumps(said.aliases, ensure_ascii=False),
        "summary": said.summary,
        "text_hash": text_hash(said.text),
    }


def with_names_of(said: Description, other: Entity) -> Description:
    """The description with the name and aliases of another entity as aliases."""
    return replace(
        describe(said.name, said.type, (*said.aliases, other.name, *other.aliases)),
        summary=said.summary or other.summary,
    )


def named(entity: Entity) -> str:
    """An entity in a message: its number, name and type."""
    return f"#{entity.id} {entity.name} ({entity.type})"


def require_live(entity: Entity) -> None:
    """Refuse to write about an entity that should never have been."""
    if entity.status is not EntityStatus.ACTIVE:
        raise Refused(f"Entity {named(entity)} is {entity.status}.", hint="See: mem entities")


def require_here(entity: Entity, project: str | None) -> None:
    """Refuse to observe from a project what belongs to another, which would not be seen there."""
    if entity.project not in (None, project):
        raise Refused(
            f"Entity {named(entity)} belongs to project {entity.project}.",
            hint=f"Observe it there: --project {entity.project}",
        )


def _by_id(db: apsw.Connection, reference: str) -> Entity | None:
    if number := _NUMBER.fullmatch(reference):
        found = entities.by_ids(db, [int(number[1])])
        if not found:
            raise NotFound(f"There is no entity {reference}.", hint="See: mem entities")
        return found[int(number[1])]
    if not _UID.fullmatch(reference.casefold()):
        return None
    matching = entities.of_uid(db, reference.casefold())
    if len(matching) > 1:
        raise _ambiguous(reference, matching)
    return matching[0] if matching else None


def choose(reference: str, candidates: Sequence[Entity]) -> Entity:
    """The one candidate: of several the one whose own name it is, and the project's before a global one.

    Raises `NotFound`, with the candidates, where several are left.
    """
    own = [entity for entity in candidates if entity.key == key(reference)] or list(candidates)
    types = {entity.type for entity in own}
    if len(own) > 1 and len(types) == 1:
        nearer = [entity for entity in own if entity.project is not None]
        own = nearer if len(nearer) == 1 else own
    if len(own) > 1:
        raise _ambiguous(reference, own)
    return own[0]


def _ambiguous(reference: str, candidates: Sequence[Entity]) -> NotFound:
    listed = "; ".join(named(entity) for entity in candidates[:5])
    return NotFound(
        f"{_told(reference)} stands for {len(candidates)} entities.", hint=f"Name one by its id: {listed}."
    )


def one_name(reference: str) -> str:
    """What somebody called an entity, in a message: on one line, and not too long."""
    line = " ".join(reference.split())
    return line if len(line) <= LONGEST_TOLD else line[:LONGEST_TOLD] + "…"


def _told(reference: str) -> str:
    return f"'{one_name(reference)}'"


def _elsewhere(db: apsw.Connection, reference: str) -> str:
    held = entities.named(db, _key(reference), Scope(everywhere=True))
    if held:
        return "Another project has one of that name; --project or --all-projects shows it."
    return "See: mem entities"


def _key(name: str) -> str:
    found = key(name)
    if not found:
        raise Usage(f"{_told(name)} is no name of an entity.", hint="Give an id, a name or an alias.")
    return found


def _type(type_: str | None) -> str | None:
    return None if type_ is None else type_name(type_)


def _line(what: str, value: str, longest: int) -> str:
    """A name as it is kept: one line, not blank; raises `Usage`."""
    kept = " ".join(value.split())
    if len(kept) > longest:
        raise Usage(f"The {what} {_told(kept)} has {len(kept):,} characters; at most {longest} are kept.")
    # Some scripts and many emoji cannot be written without joiners, which show nothing by themselves.
    if not key(kept) or not _JOINERS.sub("", kept).isprintable():
        raise Usage(
            f"{_told(kept)} cannot be the {what} of an entity.",
            hint="Take one line of characters that can be seen.",
        )
    if what != "type" and _NUMBER.fullmatch(key(kept)):
        raise Usage(
            f"{_told(kept)} cannot be the {what} of an entity: a number always means an id.",
            hint="Add a word to it.",
        )
    return kept
