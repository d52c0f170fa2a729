"""Stores that go on by themselves, as on several machines, and exchange exports of each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from mem.caller import Caller
from mem.errors import MemError
from mem.exchange.exporting import digest
from mem.search import entities, index
from mem.service import Service
from mem.store import integrity
from mem.store.connect import Store
from mem.values import Kind, SayingAction, Status, Trust

TEXTS = ("Deploys go out on Monday", "Deploys go out on Friday", "Ana owns the billing service", "部署在周一")
NAMES = ("Ana", "Bo", "Cy")
PROJECTS = ("shop", "docs", None)


@dataclass(slots=True)
class Machine:
    """One store, with the memory over it."""

    memory: Service
    store: Store
    folder: Path
    exported: int = field(default=0)

    @classmethod
    def at(cls, folder: Path, person: Caller) -> Machine:
        """A machine with an empty store in a folder of its own."""
        folder.mkdir(parents=True)
        store = Store(folder / "memory.db")
        return cls(Service(store, None, person), store, folder)

    def export(self) -> Path:
        """A new export of everything."""
        self.exported += 1
        file = self.folder / f"export-{self.exported}.jsonl"
        self.memory.export(str(file))
        return file

    def take(self, *files: Path) -> list[dict[str, dict[str, int]]]:
        """Import files, one after the other; gives what became of their records, each time in sound state."""
        counts = []
        for file in files:
            answer = self.memory.import_(str(file))
            assert answer.malformed == 0, answer.bad
            counts.append({kind: dict(said) for kind, said in answer.counts.items()})
            self.require_sound()
        return counts

    def require_sound(self) -> None:
        """Indexes in step, an audit log that fits, a file that SQLite finds whole."""
        with self.store.write() as db:
            found = [
                *index.problems(db, has_vectors=self.store.has_vectors),
                *entities.problems(db),
                *integrity.problems(db),
            ]
            broken = integrity.first_broken(db)
        assert found == []
        assert broken is None

    @property
    def digest(self) -> str:
        """What an export of everything would hold."""
        with self.store.read() as db:
            return digest(db)


def act(machine: Machine, chance: Random) -> None:
    """Let one thing happen in a store; what a rule refuses does not happen."""
    happening = chance.choice(_HAPPENINGS)
    known = machine.memory.list_(all_projects=True, status=list(Status), limit=1000).memories
    try:
        happening(machine.memory, chance, str(chance.choice(known).id) if known else "1")
    except MemError:
        return


def _somewhere(chance: Random) -> dict[str, object]:
    project = chance.choice(PROJECTS)
    return {"project": project} if project else {"global_": True}


def _undo(memory: Service, chance: Random, _: str) -> None:
    events = memory.log(limit=30, all_projects=True).events
    if events:
        memory.undo(str(chance.choice(events).id))


def _merge_entities(memory: Service, chance: Random, _: str) -> None:
    found = memory.entities(all_projects=True).entities
    if len(found) > 1:
        one, other = chance.sample(found, 2)
        memory.entity_merge(str(one.entity.id), str(other.entity.id))


def _forget_entity(memory: Service, chance: Random, _: str) -> None:
    found = memory.entities(all_projects=True).entities
    if found:
        memory.entity_forget(str(chance.choice(found).entity.id))


Happening = Callable[[Service, Random, str], object]
_STORE: Happening = lambda memory, chance, _: memory.store(  # noqa: E731
    chance.choice(TEXTS), tag=[chance.choice("abc")], **_somewhere(chance)
)
_OBSERVE: Happening = lambda memory, chance, _: memory.observe(  # noqa: E731
    chance.choice(NAMES), chance.choice(TEXTS), **_somewhere(chance)
)
_HAPPENINGS: tuple[Happening, ...] = (
    *(_STORE,) * 6,
    *(_OBSERVE,) * 3,
    *(_undo,) * 2,
    lambda memory, chance, _: memory.store(
        chance.choice(TEXTS), kind=Kind.DECISION, title="T", **_somewhere(chance)
    ),
    lambda memory, chance, id_: memory.update(id_, content=chance.choice(TEXTS)),
    lambda memory, chance, id_: memory.update(id_, importance=chance.randrange(11)),
    lambda memory, chance, id_: memory.archive([id_], reason=chance.choice(("old", "done"))),
    lambda memory, chance, id_: memory.restore([id_]),
    lambda memory, chance, id_: memory.restore([id_], force=True),
    lambda memory, chance, id_: memory.reject([id_], reason="wrong"),
    lambda memory, chance, id_: memory.supersede([id_], content=chance.choice(TEXTS)),
    lambda memory, chance, id_: memory.supersede([id_], by=str(chance.randrange(1, 6))),
    lambda memory, chance, id_: memory.supersede([id_], ended=True),
    lambda memory, chance, id_: memory.trust([id_], Trust.DISPUTED, reason="hm"),
    lambda memory, chance, id_: memory.forget([id_]),
    lambda memory, chance, _: memory.entity_set(
        chance.choice(NAMES), summary=chance.choice(TEXTS), project="shop"
    ),
    lambda memory, chance, _: memory.entity_set(
        chance.choice(NAMES), name=chance.choice((*NAMES, "Di")), project="shop"
    ),
    lambda memory, chance, _: memory.relate(
        chance.choice(NAMES), "knows", chance.choice(NAMES), project="shop"
    ),
    lambda memory, chance, _: memory.unrelate(
        chance.choice(NAMES), "knows", chance.choice(NAMES), project="shop"
    ),
    _merge_entities,
    _forget_entity,
    lambda memory, chance, _: memory.goal(SayingAction.SET, chance.choice(TEXTS), project="shop"),
    lambda memory, chance, _: memory.goal(SayingAction.CLEAR, project="shop"),
    lambda memory, chance, _: memory.profile(SayingAction.SET, "name", chance.choice(NAMES)),
)
