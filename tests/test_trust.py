"""Trust: people vouch, anybody may doubt, and what is doubted is shown with that mark."""

from pathlib import Path
from typing import Any

import pytest
from conftest import Ran
from hook_host import CLAUDE, Host
from telling import get, tell

from mem.caller import Caller
from mem.errors import NotFound, Refused
from mem.server import tools
from mem.service import Service
from mem.values import Actor, ActorKind, Kind, Trust

QUIET = {"MEM_MODEL": "none"}


@pytest.fixture
def agent(memory: Service) -> Service:
    """The same memory for an agent."""
    return memory.of(Caller(Actor(ActorKind.AGENT, "claude-code"), Path.cwd()))


def trust(memory: Service, id_: str) -> tuple[str, str | None, str | None, bool]:
    found = get(memory, id_)
    return found.trust, found.trust_reason, found.verified_by, found.verified_at is not None


def test_a_person_verifies_and_takes_it_back(memory: Service) -> None:
    one = tell(memory, "The API listens on port 80")
    assert trust(memory, one) == ("unverified", None, None, False)
    changed = memory.trust([one], Trust.VERIFIED, reason="saw the config")
    assert (changed.action, [found.trust for found in changed.memories]) == ("verified", ["verified"])
    assert trust(memory, one) == ("verified", "saw the config", "person", True)
    memory.trust([one], Trust.UNVERIFIED)
    assert trust(memory, one) == ("unverified", None, None, False)


def test_several_are_judged_together_or_not_at_all(memory: Service) -> None:
    ids = [tell(memory, f"Team {name} deploys on its own") for name in ("red", "green")]
    with pytest.raises(NotFound):
        memory.trust([*ids, "99"], Trust.DISPUTED)
    assert [trust(memory, id_)[0] for id_ in ids] == ["unverified", "unverified"]
    memory.trust(ids, Trust.DISPUTED, reason="they do not")
    assert [trust(memory, id_)[:2] for id_ in ids] == [("disputed", "they do not")] * 2


def test_the_same_state_again_changes_nothing(memory: Service) -> None:
    one = tell(memory, "The API listens on port 80")
    memory.trust([one], Trust.DISPUTED, reason="it moved")
    before = len(memory.history(one).changes)
    memory.trust([one], Trust.DISPUTED, reason="it moved")
    memory.trust([one], Trust.DISPUTED)
    assert (len(memory.history(one).changes), trust(memory, one)[1]) == (before, "it moved")
    memory.trust([one], Trust.DISPUTED, reason="it moved twice")
    assert (len(memory.history(one).changes), trust(memory, one)[1]) == (before + 1, "it moved twice")


def test_an_agent_may_doubt_and_take_its_doubt_back(memory: Service, agent: Service) -> None:
    one = tell(memory, "The API listens on port 80")
    agent.trust([one], Trust.DISPUTED, reason="the log says 81")
    assert trust(memory, one)[:2] == ("disputed", "the log says 81")
    agent.trust([one], Trust.UNVERIFIED)
    assert trust(memory, one)[0] == "unverified"


def test_an_agent_neither_verifies_nor_takes_it_away(memory: Service, agent: Service) -> None:
    one = tell(memory, "The API listens on port 80")
    with pytest.raises(Refused, match="Only people verify; this call comes from agent"):
        agent.trust([one], Trust.VERIFIED)
    memory.trust([one], Trust.VERIFIED)
    with pytest.raises(Refused, match="only people take that away"):
        agent.trust([one], Trust.UNVERIFIED)
    agent.trust([one], Trust.DISPUTED)
    with pytest.raises(Refused, match="only people take that away"):
        agent.trust([one], Trust.UNVERIFIED)  # nor in two steps
    assert trust(memory, one)[::2] == ("disputed", "person")


def test_what_an_agent_makes_another_statement_is_no_longer_verified(memory: Service, agent: Service) -> None:
    one = tell(memory, "The API listens on port 80")
    memory.trust([one], Trust.VERIFIED)
    agent.update(one, importance=9, add_tag=["api"])
    assert trust(memory, one)[0] == "verified"
    agent.update(one, content="The API listens on port 81")
    assert trust(memory, one)[::2] == ("unverified", None)
    memory.trust([one], Trust.VERIFIED)
    memory.update(one, content="The API listens on port 82")
    assert trust(memory, one)[0] == "verified"


def test_trust_filters_what_is_recalled_and_listed(memory: Service) -> None:
    texts = {state: f"Rule {state} about the harbour office" for state in Trust}
    ids = {state: tell(memory, text) for state, text in texts.items()}
    memory.trust([ids[Trust.VERIFIED]], Trust.VERIFIED)
    memory.trust([ids[Trust.DISPUTED]], Trust.DISPUTED)
    for state in Trust:
        assert [one.content for one in memory.list_(trust=[state]).memories] == [texts[state]]
        assert [hit.memory.content for hit in memory.recall("harbour office", trust=[state]).hits] == [
            texts[state]
        ]
    both = memory.list_(trust=[Trust.VERIFIED, Trust.DISPUTED])
    assert both.total == 2


def test_what_is_disputed_stands_behind_what_is_as_good(memory: Service) -> None:
    first = tell(memory, "The harbour office opens at seven", project="a")
    second = tell(memory, "The harbour office opens at seven", project="b")
    for doubted, other in ((first, second), (second, first)):
        memory.trust([doubted], Trust.DISPUTED)
        hits = memory.recall("harbour office", all_projects=True).hits
        assert [str(hit.memory.id) for hit in hits] == [other, doubted]
        memory.trust([doubted], Trust.UNVERIFIED)


def test_the_mark_of_doubt_stands_wherever_it_is_shown(memory: Service, run_mem: Any) -> None:
    one = tell(memory, "The harbour office opens at seven in the morning")
    for arguments in (["list"], ["recall", "harbour office"], ["get", one], ["context"]):
        assert "disputed" not in run_mem(*arguments, env=QUIET).out
    memory.trust([one], Trust.DISPUTED)
    for arguments in (["list"], ["recall", "harbour office"], ["get", one], ["context"]):
        ran: Ran = run_mem(*arguments, env=QUIET)
        assert (ran.code, "disputed" in ran.out) == (0, True), ran
    told = Host(memory, CLAUDE).asks("when does the harbour office open in the morning?")
    assert "disputed" in told


def test_a_verified_decision_is_no_longer_open(memory: Service) -> None:
    one = tell(memory, "One engine for all", kind=Kind.DECISION, title="Database", importance=8)
    assert memory.context().items[0].section == "decisions"
    memory.trust([one], Trust.VERIFIED)
    assert "decisions" not in {item.section for item in memory.context().items}


def test_the_last_word_of_the_command_is_the_state(run_mem: Any) -> None:
    for text in ("first", "second", "third"):
        assert run_mem("store", text, env=QUIET).code == 0
    ran = run_mem("trust", "1", "#2", "disputed", "--reason", "who says so?", env=QUIET)
    assert ran.out == "disputed\t#1\tactive\t[disputed] first\ndisputed\t#2\tactive\t[disputed] second\n"
    assert run_mem("trust", "3", "--reason", "seen", "Verified", env=QUIET).code == 0
    found = run_mem("get", "1", "2", "3", "--json", env=QUIET).document()["memories"]
    assert [one["trust"] for one in found] == ["disputed", "disputed", "verified"]


@pytest.mark.parametrize("arguments", [("1",), ("verified",), ("1", "2"), ("1", "trusted"), ()])
def test_what_is_no_state_is_a_usage_error(run_mem: Any, arguments: tuple[str, ...]) -> None:
    assert run_mem("store", "first", env=QUIET).code == 0
    ran = run_mem("trust", *arguments, env=QUIET)
    assert (ran.code, ran.stdout, len(ran.err.splitlines())) == (2, b"", 1), ran


@pytest.mark.parametrize(
    ("environment", "state", "code"),
    [
        ({}, "verified", 0),
        ({"CLAUDECODE": "1"}, "verified", 4),
        ({"CLAUDECODE": "1", "MEM_ACTOR": "person"}, "verified", 4),
        ({"CURSOR_AGENT": "1"}, "verified", 4),
        ({"MEM_ACTOR": "agent"}, "verified", 4),
        ({"MEM_ACTOR": "cron"}, "verified", 4),
        ({"MEM_ACTOR": "hook"}, "verified", 4),
        ({"CLAUDECODE": "1"}, "disputed", 0),
    ],
)
def test_only_people_verify_on_the_command_line(
    run_mem: Any, environment: dict[str, str], state: str, code: int
) -> None:
    assert run_mem("store", "first", env=QUIET).code == 0
    assert run_mem("trust", "1", state, env=QUIET | environment).code == code
    [found] = run_mem("get", "1", "--json", env=QUIET).document()["memories"]
    assert found["trust"] == ("unverified" if code else state)


def test_verified_is_no_choice_over_mcp() -> None:
    schema = tools.input_schema(tools.find_tool("trust"))
    assert schema["properties"]["state"]["enum"] == ["unverified", "disputed"]
    assert schema["required"] == ["ids", "state"]
    assert schema["properties"]["ids"]["type"] == "array"
