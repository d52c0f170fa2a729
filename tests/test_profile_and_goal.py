"""Profile and goal: said, taken back, remembered with who said it, and shown by context."""

from dataclasses import replace
from pathlib import Path

import pytest
from telling import rows

from mem.caller import Caller
from mem.errors import Usage
from mem.service import Service
from mem.values import Actor, ActorKind, SayingAction

GET, SET, CLEAR, HISTORY = SayingAction


def within(memory: Service, person: Caller, project: str) -> Service:
    """The same store for somebody who works in a project."""
    return memory.of(replace(person, project=project))


def goal(memory: Service, **where: bool) -> list[str | None]:
    return [one.value for one in memory.goal(**where).settings]


def profile(memory: Service, field: str | None = None) -> dict[str, str | None]:
    return {one.name: one.value for one in memory.profile(GET, field).settings}


def test_a_goal_is_set_shown_by_context_and_cleared(memory: Service) -> None:
    assert goal(memory) == [] and memory.context().text == ""
    said = memory.goal(SET, "  Ship the importer by the end of May\n")
    assert (said.changed, said.settings[0].value) == (True, "Ship the importer by the end of May")
    assert goal(memory) == ["Ship the importer by the end of May"]
    assert "Goal:\n- Ship the importer by the end of May" in memory.context().text
    cleared = memory.goal(CLEAR)
    assert (cleared.changed, cleared.settings[0].value) == (True, None)
    assert goal(memory) == [] and memory.context().text == ""


def test_a_goal_belongs_to_the_current_project_and_stands_before_the_global_one(
    memory: Service, person: Caller
) -> None:
    farm, harbour = within(memory, person, "farm"), within(memory, person, "harbour")
    assert farm.goal(SET, "Sell the cows").project == "farm"
    assert memory.goal(SET, "Be kind").project is None
    assert (goal(farm), goal(harbour), goal(memory)) == (["Sell the cows"], ["Be kind"], ["Be kind"])
    assert goal(farm, global_=True) == ["Be kind"]
    assert harbour.goal(project="farm").settings[0].value == "Sell the cows"
    assert harbour.goal(CLEAR).changed is False
    assert harbour.goal(CLEAR, global_=True).changed is True
    assert (goal(farm), goal(harbour)) == (["Sell the cows"], [])
    assert "Sell the cows" in farm.context().text and "Sell the cows" not in harbour.context().text


def test_the_profile_is_global_unless_a_project_is_named(memory: Service, person: Caller) -> None:
    farm = within(memory, person, "farm")
    assert farm.profile(SET, "Language", "British English").project is None
    farm.profile(SET, "editor", "Helix", project="farm")
    farm.profile(SET, "language", "German", project="farm")
    assert profile(farm) == {"editor": "Helix", "language": "German"}
    assert profile(memory) == {"language": "British English"}
    assert profile(farm, "LANGUAGE") == {"language": "German"} and profile(farm, "name") == {}
    assert [one.value for one in farm.profile(global_=True).settings] == ["British English"]
    assert "language: German" in farm.context().text
    farm.profile(CLEAR, "language", project="farm")
    assert profile(farm) == {"editor": "Helix", "language": "British English"}


def test_history_tells_who_said_what_when_also_after_it_was_cleared(memory: Service, person: Caller) -> None:
    agent = memory.of(replace(person, actor=Actor(ActorKind.AGENT, "claude-code", "s1")))
    memory.profile(SET, "name", "Ada")
    agent.profile(SET, "name", "Ada L.")
    memory.profile(CLEAR, "name")
    memory.profile(SET, "nameday", "8 December")
    told = memory.profile(HISTORY, "name").settings
    assert [(one.value, one.actor, one.client) for one in told] == [
        (None, "person", None),
        ("Ada L.", "agent", "claude-code"),
        ("Ada", "person", None),
    ]
    assert [one.at for one in told] == sorted((one.at for one in told), reverse=True)
    assert len(memory.profile(HISTORY).settings) == 4


def test_the_history_of_another_project_stays_there(memory: Service, person: Caller) -> None:
    farm, harbour = within(memory, person, "farm"), within(memory, person, "harbour")
    farm.goal(SET, "Sell the cows")
    farm.profile(SET, "editor", "Helix", project="farm")
    memory.goal(SET, "Be kind")
    assert [one.value for one in harbour.goal(HISTORY).settings] == ["Be kind"]
    assert harbour.profile(HISTORY).settings == ()
    assert {one.value for one in farm.goal(HISTORY).settings} == {"Be kind", "Sell the cows"}
    assert [one.value for one in memory.goal(HISTORY, project="farm").settings] == [
        "Be kind",
        "Sell the cows",
    ]


def test_saying_the_same_again_leaves_no_event(memory: Service, home: Path) -> None:
    memory.goal(SET, "Ship it")
    memory.profile(SET, "name", "Ada")
    before = len(rows(home, "events"))
    assert memory.goal(SET, " Ship it ").changed is False
    assert memory.profile(SET, "NAME", "Ada").changed is False
    assert memory.profile(CLEAR, "language").changed is False
    assert len(rows(home, "events")) == before == 2
    assert memory.goal(CLEAR).changed is True and memory.goal(CLEAR).changed is False
    assert len(rows(home, "events")) == 3
    assert memory.doctor().sound


def test_what_does_not_go_together_is_refused_and_nothing_is_written(memory: Service, home: Path) -> None:
    refused = [
        (lambda: memory.goal(SET), "goal set needs a text"),
        (lambda: memory.goal(SET, "  \n"), "goal set needs a text"),
        (lambda: memory.goal(GET, "Ship it"), "'Ship it' is too much"),
        (lambda: memory.goal(CLEAR, "Ship it"), "goal clear takes no text"),
        (lambda: memory.goal(SET, "x" * 2_001), "goal has 2,001 characters"),
        (lambda: memory.goal(SET, "x", project="farm", global_=True), "not both"),
        (lambda: memory.profile(SET), "profile set needs FIELD"),
        (lambda: memory.profile(CLEAR), "profile clear needs FIELD"),
        (lambda: memory.profile(SET, "name"), "profile set needs a text"),
        (lambda: memory.profile(SET, "name", "x" * 2_001), "name has 2,001 characters"),
        (lambda: memory.profile(SET, "two words", "x"), "'two words' cannot be a field"),
        (lambda: memory.profile(SET, "", "x"), "'' cannot be a field"),
        (lambda: memory.profile(SET, "a.b", "x"), "'a.b' cannot be a field"),
        (lambda: memory.profile(SET, "x" * 51, "x"), "cannot be a field"),
        (lambda: memory.profile(SET, "name", "x", project="a\nb"), "cannot be the name of a project"),
    ]
    for call, message in refused:
        with pytest.raises(Usage, match=message):
            call()
    assert rows(home, "events") == rows(home, "settings") == []
    assert memory.goal(SET, "x" * 2_000).changed and memory.profile(SET, "größe-1_a", "x").changed


def test_a_profile_has_a_hundred_fields_at_most(memory: Service) -> None:
    for number in range(100):
        assert memory.profile(SET, f"field-{number}", "x").changed
    with pytest.raises(Usage, match="has 100 fields"):
        memory.profile(SET, "one-more", "x")
    assert memory.profile(SET, "field-7", "y").changed
    assert memory.profile(CLEAR, "field-8").changed and memory.profile(SET, "one-more", "x").changed
