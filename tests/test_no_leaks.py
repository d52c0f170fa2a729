"""No read tells one project of another: each answers as if the other project were not there.

The same store comes about twice, once without the other project; every operation that reads is then asked
from the first project, and both answers must be the same. Only what says how much other projects hold may
differ, and what is of the whole file.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import BagOfWords
from hook_host import Host
from telling import tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.document import document
from mem.errors import NotFound
from mem.exchange.claude_memory import slug
from mem.operations import operations
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Kind, Mode, SayingAction, Sort, Status

HERE, THERE = "api", "xanadu"  # the name of the other project stands in all that belongs to it
ALL = (HERE, None, THERE)

# What of an answer is about all of a file or folder, says how much other projects hold, or was asked. What
# belongs to no project is used by all of them.
WHOLE = {
    *("store_bytes", "wal_bytes", "events", "vectors_stored", "vectors_by_model", "cursor"),
    *("files", "elsewhere", "query", "recalls", "last_recalled_at", "newest"),
}
PASSING = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}|\d{4}-\d\d-\d\dT[\d:.]+Z|/\S*/of-\d")


def plant(memory: Service, person: Caller, project: str | None, name: str) -> None:
    """All that a project, or nobody, may hold; `name` stands in every text of it."""
    inside = memory.of(replace(person, project=project))
    within: dict[str, Any] = {"global_": True} if project is None else {}
    tell(
        inside, f"The cache of {name} is Redis", tag=[name], source=f"docs/{name}.md", importance=9, **within
    )
    old = tell(
        inside, f"The {name} listens on port 80", kind=Kind.DECISION, title=f"Port of {name}", **within
    )
    tell(inside, f"We build {name} with Postgres", kind=Kind.DECISION, rationale=f"{name} is small", **within)
    inside.supersede([old], content=f"The {name} listens on port 81", reason=f"{name} moved")
    inside.archive([tell(inside, f"The old cache of {name} was Memcached", **within)], reason=f"{name} grew")
    tell(inside, f"The demo of {name} is at noon", expires="1d", **within)
    for person_of in ("Ana", "Bo"):
        inside.observe(f"{person_of} of {name}", f"Looks after {name} and its cache", type="person", **within)
    inside.observe(f"{name} service", f"{name} runs on two machines", type=f"{name}-kind", **within)
    inside.entity_set(f"{name} service", alias=[f"{name} svc"], summary=f"What {name} is", **within)
    inside.relate(f"Ana of {name}", f"maintains_{name}", f"{name} service")
    inside.profile(SayingAction.SET, f"field-{name}", f"of {name}", project=project)
    inside.goal(SayingAction.SET, f"Finish {name}", **within)


def visit(memory: Service, person: Caller, project: str | None, name: str) -> None:
    """What an agent's session in a project leaves: questions, a hook's prompts, a summary."""
    actor = Actor(ActorKind.AGENT, f"client-{name}", f"host-{name}")
    agent = memory.of(replace(person, project=project, actor=actor))
    agent.recall("which cache do we use", mode=Mode.LEXICAL)
    agent.recall(f"zeppelin of {name}?" if project == HERE else f"zeppelin{name}", mode=Mode.LEXICAL)
    agent.recall(f"everything{name}", mode=Mode.LEXICAL, all_projects=True)
    agent.context("which cache do we use")
    session = agent.session_start()
    agent.session_end(str(session.id), summary=f"Moved {name} to Redis", task=[f"tell {name}"])
    host = Host(memory, {"CLAUDECODE": "1", "MEM_PROJECT": project or ""})
    host.asks(f"which port does the {name} listen on?", session=f"host-{name}")


def notes(folder: Path, name: str) -> None:
    """Claude's own notes of a project."""
    path = folder / "notes" / slug(name) / "memory" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: about {name}\n---\nThe cache of {name} is Redis.\n")


Stores = tuple[Service, Service]


def built(root: Path, names: Sequence[str | None], patch: pytest.MonkeyPatch) -> Service:
    """A store of these projects, each a little after the one before, seen from the first project."""
    patch.setenv("MEM_HOME", str(root / "home"))
    patch.setenv("MEM_WORKER", "off")
    patch.setenv("MEM_REFLECT_MISS_TEXTS", "on")
    for name in filter(None, names):
        notes(root, name)
    person = Caller(Actor(ActorKind.PERSON), root)
    memory = Service(Store(root / "memory.db"), BagOfWords(), person)
    wall = WallClock(patch, "2026-05-10T08:00:00Z")
    for name in names:
        wall.forward(hours=1)
        plant(memory, person, name, name or "everybody")
        visit(memory, person, name, name or "everybody")
    if THERE in names:
        memory.relate("everybody service", "serves", f"{THERE} service", all_projects=True)
    environment = {"MEM_CLAUDE_MEMORY_DIRS": str(root / "notes"), "MEM_REFLECT_MISS_TEXTS": "on"}
    return memory.of(replace(person, project=HERE, environment=environment))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stores, pytest.MonkeyPatch]]:
    """The store with the other project, and the one without."""
    folder = tmp_path_factory.mktemp("stores")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.chdir(folder)
        both = built(folder / "of-3", ALL, patch), built(folder / "of-2", ALL[:2], patch)
        # Who uses what is global is no secret: let it be used in both, whichever test comes first.
        for memory in both:
            for ask in CASES["recall"]:
                ask(memory)
        yield both, patch


Ask = Callable[[Service], Any]

CACHE = "which cache do we use, and who looks after it?"
CASES: dict[str, list[Ask]] = {
    "recall": [
        *(lambda memory, mode=mode: memory.recall(CACHE, mode=mode, limit=100) for mode in Mode),
        lambda memory: memory.recall(f"the {THERE} service, Ana of {THERE}", mode=Mode.LEXICAL),
        lambda memory: memory.recall("who looks after the everybody service?"),
        lambda memory: memory.recall(CACHE, status=list(Status), limit=100),
        lambda memory: memory.recall(CACHE, known_at="2026-05-11", limit=100),
    ],
    "get": [lambda memory: memory.get([str(number) for number in range(1, 10)])],
    "list": [
        lambda memory: memory.list_(limit=1000),
        lambda memory: memory.list_(limit=1000, status=list(Status), sort=Sort.CHANGED),
        lambda memory: memory.list_(limit=1000, known_at="2026-05-10T20:00:00Z"),
        lambda memory: memory.list_(expired=True),
        lambda memory: memory.list_(entity="everybody service"),
        lambda memory: memory.list_(source="docs"),
        lambda memory: memory.list_(client=[f"client-{THERE}"]),
    ],
    "history": [lambda memory: memory.history("2")],
    "trace": [lambda memory: memory.trace()],
    "why": [lambda memory: memory.why()],
    "cite": [lambda memory: memory.cite("0192f3a4-5b6c", "As noted [#1], [#16].")],
    "claude-memory": [lambda memory: memory.claude_memory("cache Redis")],
    "contradictions": [lambda memory: memory.contradictions(limit=200)],
    "log": [
        # What relates somebody whom everybody knows to the other project is an event about the former.
        lambda memory: memory.log(limit=1000, operation=[one.name for one in WRITING if one.name != "relate"])
    ],
    "review": [lambda memory: memory.review_()],
    "stats": [lambda memory: memory.stats()],
    "reflect": [lambda memory: memory.reflect(days=30, stale_days=1, limit=50)],
    "compress": [lambda memory: memory.compress(days=0, dry_run=True)],
    "extract-entities": [lambda memory: memory.extract_entities(limit=10_000, dry_run=True)],
    "entity": [
        lambda memory: memory.entity("everybody service", depth=3),
        lambda memory: memory.entity(f"{HERE} service", depth=3),
        lambda memory: memory.entity("everybody service", depth=3, known_at="2026-06-01"),
    ],
    "entities": [
        lambda memory: memory.entities(limit=1000),
        lambda memory: memory.entities("the service that has a cache"),
        lambda memory: memory.entities(type=f"{THERE}-kind"),
        lambda memory: memory.entities(f"{THERE} svc"),
    ],
    "context": [lambda memory: memory.context(), lambda memory: memory.context(CACHE, budget=20_000)],
    "sessions": [lambda memory: memory.sessions(limit=1000)],
    "profile": [lambda memory: memory.profile(), lambda memory: memory.profile(SayingAction.HISTORY)],
    "goal": [lambda memory: memory.goal(), lambda memory: memory.goal(SayingAction.HISTORY)],
}
WRITING = [entry for entry in operations() if entry.writes]
# What compares a whole store with a file says how many of each kind there are, wherever they belong.
OF_THE_FILE = {"verify"}
READING = [
    entry.name
    for entry in operations()
    if (not entry.writes or entry.name in CASES) and entry.name not in OF_THE_FILE
]


def told(answer: Any) -> Any:
    """An answer without what two stores never share, and without what is of the whole file."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            own = {name: kept(item) for name, item in value.items() if name not in WHOLE}
            if "most_used" in own:
                own["most_used"]["memories"].sort(key=lambda one: one["id"])
            return own
        if isinstance(value, list):
            return [kept(item) for item in value]
        return PASSING.sub("…", value) if isinstance(value, str) else value

    return kept(document(answer))


@pytest.mark.parametrize("name", READING)
def test_a_read_answers_as_if_the_other_project_were_not_there(
    stores: tuple[Stores, pytest.MonkeyPatch], name: str
) -> None:
    (beside, alone), patch = stores
    assert name in CASES, f"{name} reads: give it a case"
    for number, ask in enumerate(CASES[name]):
        answers = []
        for memory in (beside, alone):
            WallClock(patch, f"2026-05-13T{8 + number:02}:00:00Z")
            answers.append(told(ask(memory)))
        assert THERE not in json.dumps(answers[0]).casefold().replace(f"client-{THERE}", "")
        assert answers[0] == answers[1]


def test_what_the_other_project_holds_is_there_to_be_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = built(tmp_path / "of-3", ALL, monkeypatch)
    WallClock(monkeypatch, "2026-05-13T20:00:00Z")
    assert memory.stats(all_projects=True).by_project[THERE] == 7
    for ask in (
        lambda memory: memory.recall(CACHE, all_projects=True, limit=100),
        lambda memory: memory.list_(all_projects=True, limit=1000),
        lambda memory: memory.entities(all_projects=True, limit=1000),
        lambda memory: memory.sessions(all_projects=True),
        lambda memory: memory.reflect(all_projects=True, days=30, limit=50),
        lambda memory: memory.claude_memory("cache Redis", all_projects=True),
        lambda memory: memory.entity("everybody service", all_projects=True),
        lambda memory: memory.context(CACHE, all_projects=True, budget=20_000),
        lambda memory: memory.recall(CACHE, project=THERE),
    ):
        assert THERE in json.dumps(document(ask(memory)))


def test_an_entity_of_another_project_is_not_found_by_its_name(
    stores: tuple[Stores, pytest.MonkeyPatch],
) -> None:
    (beside, _), _ = stores
    for ask in (
        lambda: beside.entity(f"{THERE} service"),
        lambda: beside.list_(entity=f"{THERE} svc"),
        lambda: beside.recall(CACHE, entity=f"Ana of {THERE}"),
    ):
        with pytest.raises(NotFound, match="There is no entity"):
            ask()
