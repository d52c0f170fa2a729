"""Traces tell what was weighed and why something was not shown, without a word and without other projects."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hook_host import CLAUDE, FACTS, OFF_TOPIC, QUESTION, Host, knowing
from telling import get, records, rows, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import NotFound, Usage
from mem.results import Explanation, Place, Traced
from mem.search import floor
from mem.service import Service
from mem.store import traces
from mem.values import Actor, ActorKind, Mode, Rule

BOATS = [f"Boats moor at berth number {number} of the harbour" for number in range(12)]


def within(memory: Service, person: Caller, project: str) -> Service:
    """The same store for somebody who works in a project."""
    return memory.of(replace(person, project=project))


def rules(told: Traced) -> dict[int, Rule | None]:
    return {entry.id: entry.rule for entry in told.withheld}


def why(memory: Service) -> Traced:
    found = memory.why().trace
    assert found is not None
    return found


# What a recall weighed


def test_a_trace_tells_what_was_shown_with_scores_and_ranks_and_what_was_not_by_which_rule(
    memory: Service,
) -> None:
    for boat in BOATS:
        tell(memory, boat)
    unrelated = tell(memory, "The finance department moved to another floor")
    found = memory.recall("boats moor in the harbour", limit=4, mode=Mode.LEXICAL)
    assert len(found.hits) == 4 and found.total == 12
    told = memory.trace(found.trace_id)
    assert [(one.id, one.score) for one in told.shown] == [
        (hit.memory.id, round(hit.score, 4)) for hit in found.hits
    ]
    assert [one.ranks for one in told.shown] == [{"lexical": rank} for rank in (1, 2, 3, 4)]
    assert all((one.state, one.rule) == ("live", None) for one in told.shown)
    assert list(rules(told).values()) == [Rule.LIMIT] * 8
    assert int(unrelated) not in {one.id for one in (*told.shown, *told.withheld)}
    assert (told.operation, told.mode, told.total, told.project) == ("recall", Mode.LEXICAL, 12, None)
    assert told.confidence == pytest.approx(found.confidence, abs=1e-4) and told.threshold is None
    assert {"coverage", "known", "agree"} <= set(told.signals)


def test_both_legs_tell_their_ranks(memory: Service) -> None:
    tell(memory, "The harbour office opens at seven")
    found = memory.recall("when does the harbour office open")
    assert found.mode is Mode.HYBRID
    assert dict(memory.trace(found.trace_id).shown[0].ranks) == {"lexical": 1, "vector": 1}


def test_what_the_filter_does_not_admit_is_told_as_such(memory: Service) -> None:
    low = tell(memory, "The harbour office opens at seven", importance=3)
    ended = tell(memory, "The harbour office opens at eight", valid_to="2026-01-01")
    high = tell(memory, "The harbour office closes at nine", importance=8)
    found = memory.recall("harbour office", min_importance=5, mode=Mode.LEXICAL)
    assert [str(hit.memory.id) for hit in found.hits] == [high]
    assert rules(memory.trace(found.trace_id)) == {int(low): Rule.FILTER, int(ended): Rule.FILTER}


def test_what_is_plainly_unrelated_is_told_as_below_the_floor(real_memory: Service) -> None:
    office = tell(real_memory, "The harbour office opens at seven in the morning on weekdays")
    other = tell(real_memory, "Bananas ripen faster in a paper bag")
    found = real_memory.recall("at what time in the morning does the harbour office open on weekdays?")
    assert [str(hit.memory.id) for hit in found.hits] == [office]
    assert rules(real_memory.trace(found.trace_id)) == {int(other): Rule.FLOOR}


def test_a_trace_says_what_has_become_of_the_memories(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = WallClock(monkeypatch, "2026-05-10T08:00:00Z")
    archived, ending, expiring, live, rejected = (
        tell(memory, f"Boats moor at berth {number}", **more)
        for number, more in enumerate(({}, {"valid_to": "2026-06-01"}, {"expires": "7d"}, {}, {}))
    )
    found = memory.recall("where do boats moor")
    assert len(found.hits) == 5
    memory.archive([archived])
    memory.reject([rejected], reason="never")
    wall.forward(days=60)
    states = {str(one.id): one.state for one in memory.trace(found.trace_id).shown}
    assert states == {
        archived: "archived",
        ending: "ended",
        expiring: "expired",
        live: "live",
        rejected: "rejected",
    }


def test_a_trace_is_found_by_its_beginning_and_the_newest_without(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = WallClock(monkeypatch, "2026-05-10T08:00:00Z")
    tell(memory, "The harbour office opens at seven")
    first = memory.recall("harbour office").trace_id
    wall.forward(hours=1)
    second = memory.context("harbour office").trace_id
    assert first and second
    assert memory.trace(first[:8]).trace_id == first
    assert memory.trace(f" {first.upper()} ").trace_id == first
    assert (memory.trace().trace_id, memory.trace().operation) == (second, "context")


def test_bad_ids_of_traces_say_what_to_do(memory: Service) -> None:
    with pytest.raises(NotFound, match="no trace yet"):
        memory.trace()
    with pytest.raises(NotFound, match="There is no trace 0192f3a4"):
        memory.trace("0192f3a4")
    for wrong in ("1", "#7", "abc", "zzzzzzzz", "%" * 8):
        with pytest.raises(Usage, match="is not the id of a trace"):
            memory.trace(wrong)


def test_a_beginning_that_several_traces_share_lists_them(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    WallClock(monkeypatch, "2026-05-10T08:00:00Z")
    ids = [memory.recall(word).trace_id for word in ("harbour", "office")]
    assert ids[0] and ids[1]
    with pytest.raises(NotFound, match="more than one trace") as caught:
        memory.trace(ids[0][:8])
    assert ids[0] in caught.value.hint and ids[1] in caught.value.hint


def test_a_trace_holds_no_word_of_the_question_or_of_the_memories(memory: Service, home: Path) -> None:
    host = knowing(memory)
    assert host.asks(QUESTION) and not host.asks(OFF_TOPIC) and not host.asks("ok")
    host.says("SessionStart", "s2", source="startup")
    assert memory.recall(QUESTION).hits and memory.context(QUESTION).text
    told = " ".join(str(row) for row in rows(home, "recall_traces")).casefold()
    assert len(rows(home, "recall_traces")) == 6
    for text in (*FACTS, QUESTION, OFF_TOPIC):
        assert not [word for word in text.casefold().strip("?").split() if len(word) > 4 and word in told]


# What a trace may tell


def test_a_trace_tells_nothing_of_other_projects(memory: Service, person: Caller) -> None:
    farm, harbour = within(memory, person, "farm"), within(memory, person, "harbour")
    ours = tell(harbour, "Boats of the harbour moor at berth one")
    theirs = tell(farm, "Boats of the farm moor at the pond")
    both = tell(memory, "Boats moor at the quay")
    found = harbour.recall("where do boats moor", all_projects=True)
    assert {str(hit.memory.id) for hit in found.hits} == {ours, theirs, both}
    told = harbour.trace(found.trace_id)
    assert ({str(one.id) for one in told.shown}, told.elsewhere) == ({ours, both}, 1)
    told = memory.trace(found.trace_id)
    assert ({str(one.id) for one in told.shown}, told.elsewhere) == ({both}, 2)
    told = harbour.trace(found.trace_id, all_projects=True)
    assert ({str(one.id) for one in told.shown}, told.elsewhere) == ({ours, theirs, both}, 0)


def test_the_newest_trace_is_that_of_the_session_or_else_of_the_project(
    memory: Service, person: Caller
) -> None:
    farm, harbour = within(memory, person, "farm"), within(memory, person, "harbour")
    session = memory.of(replace(person, actor=Actor(ActorKind.AGENT, "claude-code", "s1")))
    traced = [one.recall("boats").trace_id for one in (farm, session, harbour)]
    assert farm.trace().trace_id == traced[0]
    assert session.trace().trace_id == traced[1]
    assert harbour.trace().trace_id == traced[2]


# What a hook showed


def test_why_explains_what_a_prompt_got(memory: Service) -> None:
    host = knowing(memory)
    assert FACTS[0] in host.asks(QUESTION)
    found = memory.why()
    told = why(memory)
    assert (told.operation, told.client, told.session) == ("hook-prompt", "claude-code", "s1")
    assert [one.id for one in told.shown] == [1] and told.shown[0].score > 0.9
    assert told.confidence and told.threshold == floor.HOOK <= told.confidence
    assert {memory.id: memory.content for memory in found.memories}[1] == FACTS[0]


def test_why_tells_that_a_note_was_shown_in_the_session_already(memory: Service) -> None:
    host = knowing(memory)
    assert host.asks(QUESTION) and host.asks(QUESTION) == ""
    told = why(memory)
    assert (told.shown, rules(told)[1]) == ((), Rule.ALREADY_SHOWN)


def test_why_tells_that_the_best_hit_was_not_sure_enough(memory: Service) -> None:
    host = knowing(memory)
    assert host.asks("write a long poem about billing in the style of some romantic poet") == ""
    told = why(memory)
    assert told.shown == () and set(rules(told).values()) == {Rule.CONFIDENCE}
    assert told.confidence is not None and told.threshold is not None and told.confidence < told.threshold


def test_why_tells_of_a_prompt_that_nothing_was_found_for_or_that_was_too_short(memory: Service) -> None:
    host = knowing(memory)
    for prompt, confident in (("zebra xylophone quagga vuvuzela", True), ("ok", False)):
        assert host.asks(prompt, session=prompt[:2]) == ""
        told = why(memory)
        assert (told.session, told.total, told.shown, told.withheld) == (prompt[:2], 0, (), ())
        assert (told.confidence is not None) is confident


def test_what_would_not_stand_alone_or_is_too_much_is_told_by_its_rule(memory: Service) -> None:
    for number in range(8):
        tell(memory, f"The harbour office opens at seven, says note {number}")
    tell(memory, "The office of the mayor is elsewhere")
    host = Host(memory, CLAUDE)
    assert host.asks("when does the harbour office open at seven?")
    told = why(memory)
    assert len(told.shown) == 5
    assert set(rules(told).values()) == {Rule.LIMIT, Rule.ALONE}
    assert rules(told)[9] is Rule.ALONE


def test_long_notes_that_are_left_out_are_told_by_their_rule(memory: Service) -> None:
    for number in range(5):
        tell(memory, f"The harbour office opens at seven. {f'Note {number} goes on. ' * 30}")
    host = Host(memory, CLAUDE)
    assert host.asks("when does the harbour office open?").count("\n- #") == 3
    assert list(rules(why(memory)).values()) == [Rule.LENGTH, Rule.LENGTH]


def test_why_is_about_the_session_then_the_project_then_anything(memory: Service, person: Caller) -> None:
    assert memory.why() == Explanation(None, None)
    host = knowing(memory)
    assert host.asks(QUESTION, session="s1")
    assert host.asks("when do deploys of the ferry service go out?", session="s2")
    for session, place, shown in (("s1", Place.SESSION, 1), ("s3", Place.PROJECT, 2)):
        caller = replace(person, actor=Actor(ActorKind.AGENT, "claude-code", session))
        found = memory.of(caller).why()
        assert found.trace and (found.place, found.trace.shown[0].id) == (place, shown)
    elsewhere = within(memory, person, "farm").why()
    assert elsewhere.place is Place.ANYWHERE


def test_why_tells_no_text_of_another_project_nor_of_what_was_rejected(
    memory: Service, person: Caller
) -> None:
    farm = within(memory, person, "farm")
    theirs = tell(farm, "The harbour office opens at seven in the morning")
    hook = Host(farm, {**CLAUDE, "MEM_PROJECT": "farm"})
    told = hook.service.of(replace(person, project="farm", actor=Actor(ActorKind.HOOK, "claude-code", "s1")))
    assert told.notes.for_prompt(QUESTION).ids == (int(theirs),)
    found = memory.why()
    assert found.trace and (found.trace.shown, found.trace.elsewhere, found.memories) == ((), 1, ())
    farm.reject([theirs], reason="it is eight")
    found = farm.why()
    assert found.trace and (found.trace.shown[0].state, found.memories) == ("rejected", ())


def test_why_explains_the_beginning_of_a_session(memory: Service) -> None:
    host = knowing(memory)
    assert host.says("SessionStart", "s9", source="startup")
    told = why(memory)
    assert (told.operation, told.session, told.confidence) == ("hook-start", "s9", None)
    assert len(told.shown) == 5


# When it is written


def test_the_trace_of_a_silence_waits_until_after_the_answer(memory: Service, home: Path) -> None:
    knowing(memory)
    later: list[Callable[[], None]] = []
    hook = Caller(Actor(ActorKind.HOOK, "claude-code", "s1"), Path.cwd())
    service = memory.of(hook, later=later.append)
    for prompt in (OFF_TOPIC, "ok"):
        assert service.notes.for_prompt(prompt).text == ""
    assert rows(home, "recall_traces") == [] and len(later) == 2
    for work in later:
        work()
    assert [row["operation"] for row in records(home, "recall_traces")] == ["hook-prompt"] * 2
    # What a citation rests on does not wait.
    assert service.notes.for_prompt(QUESTION).trace_id == why(memory).trace_id


def test_silence_counts_no_memory_as_used(memory: Service, home: Path) -> None:
    host = knowing(memory)
    assert host.asks(OFF_TOPIC) == ""
    assert len(rows(home, "recall_traces")) == 1 and rows(home, "usage") == []


def test_a_locked_store_costs_a_trace_and_not_the_answer(memory: Service, home: Path) -> None:
    import apsw

    tell(memory, "The harbour office opens at seven")
    other = apsw.Connection(str(home / "memory.db"))
    other.execute("BEGIN IMMEDIATE")
    try:
        found = memory.recall("harbour office")
        assert (len(found.hits), found.trace_id) == (1, None)
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert memory.recall("harbour office").trace_id


def test_no_more_than_a_few_dozen_of_what_was_held_back_are_kept(memory: Service) -> None:
    for number in range(80):
        tell(memory, f"Boats moor at berth {number}")
    found = memory.recall("boats moor", limit=5, mode=Mode.LEXICAL)
    assert found.total == 80
    assert len(memory.trace(found.trace_id).withheld) <= traces.MOST_WITHHELD
    assert get(memory, 1).content
