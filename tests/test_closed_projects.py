"""No read that is asked from one project says anything of another, whichever operation it is."""

from pathlib import Path
from typing import Any

import pytest

from mem.caller import Caller
from mem.document import document, encode
from mem.errors import NotFound, Refused
from mem.operations import find_operation, operations
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Kind, SayingAction

WORD = "zanzibar"
# By the id of something its own project is asked; each of these shows one thing that was named so.
BY_ID = {"get", "history", "cite"}
CALLS: dict[str, list[dict[str, Any]]] = {
    "recall": [
        {"query": WORD},
        {"query": f"the {WORD} desk"},
        {"query": WORD, "mode": "lexical", "fusion": "rrf"},
        {"query": WORD, "known_at": "2100-01-01"},
        {"query": WORD, "status": ["rejected", "superseded", "archived", "active"]},
        {"query": "ledger"},
    ],
    "list": [{}, {"status": ["rejected", "superseded", "archived"]}, {"valid_at": "2100-01-01"}],
    "entity": [{"entity": "ledger", "depth": 3}, {"entity": "ledger", "known_at": "2100-01-01"}],
    "entities": [{}, {"query": WORD}, {"query": f"{WORD} desk"}, {"query": "ledger"}],
    "trace": [{}],
    "why": [{}],
    "log": [{}, {"limit": 1000}],
    "contradictions": [{}],
    "review": [{}],
    "stats": [{}],
    "reflect": [{}],
    "claude-memory": [{"query": WORD}],
    "context": [{}, {"query": WORD}],
    "session-start": [{}],
    "sessions": [{}],
    "profile": [{"action": "get"}, {"action": "history", "field": "diet"}],
    "goal": [{"action": "get"}, {"action": "history"}],
    "verify": [{"file": "nothing.jsonl"}],
}


@pytest.fixture
def bank(memory: Service) -> Service:
    """A project `bank` that says the word in all there is, beside an entity that everybody knows."""
    memory.entity_set("ledger", type="service", global_=True)
    memory.observe("ledger", f"is kept in {WORD}", project="bank")
    memory.observe(f"{WORD} desk", f"{WORD} answers the phone", type=f"{WORD} type", project="bank")
    memory.entity_set(f"{WORD} desk", alias=[f"{WORD} line"], summary=f"in {WORD}", project="bank")
    memory.relate("ledger", f"kept_at_{WORD}", f"{WORD} desk", project="bank")
    old = memory.store(f"Ships leave for {WORD} on Monday", project="bank", tag=[WORD], source=WORD)
    memory.supersede([str(old.id)], content=f"Ships leave for {WORD} on Friday", reason=WORD)
    wrong = memory.store(f"{WORD} is closed", title=WORD, kind=Kind.DECISION, project="bank")
    memory.reject([str(wrong.id)], reason=WORD)
    session = memory.session_start(project="bank")
    memory.session_end(str(session.id), summary=f"We sailed to {WORD}", task=[WORD])
    memory.profile(SayingAction.SET, "diet", WORD, project="bank")
    memory.goal(SayingAction.SET, WORD, project="bank")
    assert memory.recall(WORD, project="bank").total > 2
    Path("nothing.jsonl").write_text('{"record":"header","format":"mem-export","version":1,"counts":{}}\n')
    return memory


def test_every_operation_that_reads_is_among_those_that_are_asked() -> None:
    reading = {one.name for one in operations() if not one.writes}
    assert reading - BY_ID <= set(CALLS)


@pytest.mark.parametrize("name", sorted(CALLS))
@pytest.mark.parametrize("actor", [ActorKind.PERSON, ActorKind.AGENT])
def test_nothing_of_another_project_is_said(
    bank: Service, home: Path, fake_embedder: Any, name: str, actor: ActorKind
) -> None:
    for project in ("shop", None):
        folder = home.parent / "work"
        caller = Caller(Actor(actor), folder, project)
        store = Store(home / "memory.db")
        service = Service(store, fake_embedder, caller)
        entry = find_operation(name)
        for arguments in CALLS[name]:
            bound = entry.bind(arguments, agent=actor is ActorKind.AGENT)
            try:
                text = encode(document(getattr(service, entry.method)(**bound))).decode()
            except (NotFound, Refused) as err:
                text = f"{err} {err.hint}"
            asked = [value for value in arguments.values() if isinstance(value, str)]
            for value in asked:
                text = text.replace(value, "")
            assert WORD not in text.casefold(), (project, arguments, text)
        store.close()
