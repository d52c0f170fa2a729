"""Reject: wrong content stays out through every door, says why and what overrides it, until a person does."""

import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Ran
from hook_host import CLAUDE, Host, compacted, transcript
from telling import everything, get, live, records, tell
from test_mcp_server import ask
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import NotFound, Refused, Usage
from mem.results import Refusal
from mem.service import Service
from mem.values import Actor, ActorKind, Kind, Status

WRONG = "Das Büro schließt freitags um 17 Uhr"
REASON = "it never closed at five"
AGENT = Actor(ActorKind.AGENT, "some-host")
SPELLINGS = {
    "as it was": WRONG,
    "another case": WRONG.upper().replace("SS", "ß"),
    "more space": f"  {WRONG.replace(' ', '   ')}\n\t",
    "decomposed": unicodedata.normalize("NFD", WRONG),
    "full width": WRONG.replace("17", "１７"),
    "a final full stop": f"{WRONG}.",
    "final marks": f"{WRONG} !?",
}
each_spelling = pytest.mark.parametrize("said", SPELLINGS.values(), ids=SPELLINGS)


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


@pytest.fixture
def rejected(memory: Service, wall: WallClock) -> str:
    """The id of what was rejected on 10 May; three weeks ago by now."""
    id_ = tell(memory, WRONG)
    memory.reject([id_], reason=REASON)
    wall.forward(days=21)
    return id_


def tells_all(refusal: Refusal | None, id_: str) -> bool:
    """Whether a refusal names id, reason, date and the way out."""
    assert refusal is not None
    assert (refusal.code, str(refusal.id)) == ("rejected", id_)
    assert refusal.reason == f"This was rejected as #{id_} on 2026-05-10: {REASON}."
    assert refusal.hint == f"A person can override that: --force, or: mem restore {id_} --force"
    return (refusal.at or "").startswith("2026-05-10T")


# Every door


def test_a_rejected_memory_is_out_and_says_why(memory: Service) -> None:
    id_ = tell(memory, WRONG)
    changed = memory.reject([id_], reason=REASON)
    assert [(str(one.id), one.status, one.status_reason) for one in changed.memories] == [
        (id_, Status.REJECTED, REASON)
    ]
    assert (live(memory), memory.recall("Büro freitags").total) == (set(), 0)
    assert [str(one.id) for one in memory.list_(status=[Status.REJECTED]).memories] == [id_]
    assert get(memory, id_).content == WRONG


@each_spelling
def test_store_refuses_it_however_it_is_spelled(memory: Service, rejected: str, said: str) -> None:
    before = everything(memory)
    stored = memory.store(said)
    assert (stored.action, tells_all(stored.refusal, rejected)) == ("refused", True)
    assert everything(memory) == before


@each_spelling
def test_a_batch_refuses_it_and_stores_the_rest(memory: Service, rejected: str, said: str) -> None:
    outcomes = memory.store_batch([{"content": "Lunch is at noon"}, {"content": said}]).outcomes
    assert [outcome.action for outcome in outcomes] == ["added", "refused"]
    assert tells_all(outcomes[1].refusal, rejected)


@each_spelling
def test_update_and_supersede_refuse_it(memory: Service, rejected: str, said: str) -> None:
    other = tell(memory, "Das Büro schließt freitags um 15 Uhr")
    before = everything(memory)
    for attempt in (
        lambda: memory.update(other, content=said),
        lambda: memory.supersede([other], content=said),
        lambda: memory.supersede([other], by=rejected),
    ):
        with pytest.raises(Refused, match=rf"#{rejected}") as refusal:
            attempt()
        if "only an active memory" not in str(refusal.value):
            assert f"on 2026-05-10: {REASON}" in str(refusal.value)
            assert "--force" in refusal.value.hint
    stored = memory.store(said, supersedes=[other])
    assert (stored.action, tells_all(stored.refusal, rejected)) == ("refused", True)
    assert everything(memory) == before


def test_a_refused_successor_replaces_nothing(memory: Service, rejected: str, home: Path) -> None:
    other = tell(memory, "Das Büro schließt freitags um 15 Uhr")
    events = len(records(home, "events"))
    assert memory.store(WRONG, supersedes=[other]).superseded == ()
    assert get(memory, other).status is Status.ACTIVE
    assert len(records(home, "events")) == events


@each_spelling
def test_summaries_of_sessions_and_hooks_are_refused(
    memory: Service, rejected: str, said: str, tmp_path: Path
) -> None:
    host = Host(memory, CLAUDE)
    path = transcript(tmp_path, compacted(said))
    host.says("SessionStart", source="compact", transcript_path=path)
    host.says("PostCompact", compact_summary=f"<summary>{said}</summary>")
    assert memory.list_(kind=[Kind.SUMMARY], all_projects=True, status=list(Status)).total == 0
    memory.session_start()
    ended = memory.session_end(summary=said)
    assert ended.summary is not None
    assert tells_all(ended.summary.refusal, rejected)
    assert (ended.exit_status, ended.session.ended_at is not None) == (4, True)
    assert live(memory) == set()


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_an_agent_over_mcp_is_refused_and_cannot_force_it(
    memory: Service, home: Path, era: str, run_mem: Callable[..., Ran]
) -> None:
    id_ = tell(memory, WRONG)
    memory.reject([id_], reason=REASON)
    other = tell(memory, "Lunch is at noon")
    stored, batch, updated, superseded, forced, restored, forgotten, undone = ask(
        home,
        era,
        ("store", {"content": f"{WRONG.upper()}."}),
        ("store-batch", {"items": [{"content": WRONG}, {"content": WRONG, "force": True}]}),
        ("update", {"id": other, "content": WRONG}),
        ("supersede", {"ids": [other], "content": WRONG}),
        ("store", {"content": WRONG, "force": True}),
        ("restore", {"ids": [id_]}),
        ("forget", {"ids": [id_]}),
        ("undo", {"event": "2"}),
    )
    document = stored.structured_content
    assert (stored.is_error, document["action"], document["refusal"]["code"]) == (
        False,
        "refused",
        "rejected",
    )
    assert [one["action"] for one in batch.structured_content["outcomes"]] == ["refused", "refused"]
    for answer in (updated, superseded, restored):
        assert (answer.is_error, answer.structured_content["error"]["code"]) == (True, "refused")
    assert "no argument 'force'" in forced.structured_content["error"]["message"]
    for answer in (forgotten, undone):
        assert "There is no tool" in answer.structured_content["error"]["message"]
    assert live(memory) == {"Lunch is at noon"}


def test_undo_does_not_bring_it_back(memory: Service, rejected: str, home: Path) -> None:
    other = tell(memory, "Das Büro schließt nie", project="shop")
    events = memory.log(all_projects=True).events
    [stored] = [event for event in events if event.operation == "store" and event.id == 1]
    with pytest.raises(Refused):
        memory.undo(str(stored.id))
    assert get(memory, rejected).status is Status.REJECTED
    # What said the same before it was changed would say it again.
    memory.update(other, content="Das Büro schließt freitags")
    memory.reject([tell(memory, "Das Büro schließt nie", project="shop")], reason=REASON)
    changed = next(event for event in memory.log(all_projects=True).events if event.operation == "update")
    with pytest.raises(Refused, match="rejected"):
        memory.undo(str(changed.id))
    assert get(memory, other).content == "Das Büro schließt freitags"


def test_undo_of_the_rejection_itself_takes_it_back(memory: Service, rejected: str) -> None:
    event = next(event for event in memory.log(all_projects=True).events if event.operation == "reject")
    memory.undo(str(event.id))
    assert live(memory) == {WRONG}
    assert memory.store(WRONG).action == "already_known"


def test_restore_of_an_archived_memory_that_was_rejected_since_is_refused(memory: Service) -> None:
    archived = tell(memory, WRONG, kind=Kind.SUMMARY)
    memory.archive([archived])
    memory.reject([tell(memory, WRONG)], reason=REASON)
    with pytest.raises(Refused, match=REASON):
        memory.restore([archived])
    assert live(memory) == set()


# Where it binds


def test_it_binds_in_its_project_whatever_the_kind(memory: Service) -> None:
    memory.reject([tell(memory, WRONG, project="shop")], reason=REASON)
    assert memory.store(WRONG, project="shop", kind=Kind.SUMMARY).action == "refused"
    assert memory.store(WRONG, project="blog").action == "added"
    assert memory.store(WRONG).action == "added"
    moved = tell(memory, f"{WRONG}, sagt man", project="blog")
    with pytest.raises(Refused, match=REASON):
        memory.update(moved, content=WRONG, project="shop")


def test_a_global_one_binds_everywhere(memory: Service, rejected: str) -> None:
    assert memory.store(WRONG, project="shop").action == "refused"
    assert memory.store(WRONG, project="blog", kind=Kind.SUMMARY).action == "refused"


def test_what_says_the_same_falls_with_it(memory: Service) -> None:
    ids = [
        tell(memory, WRONG),
        tell(memory, WRONG, kind=Kind.SUMMARY),
        tell(memory, WRONG, project="shop"),
    ]
    other = tell(memory, "Lunch is at noon")
    changed = memory.reject([ids[0]], reason=REASON)
    assert [str(one.id) for one in changed.memories] == ids
    assert {one.status for one in changed.memories} == {Status.REJECTED}
    assert get(memory, other).status is Status.ACTIVE


def test_in_a_project_only_what_it_holds_falls(memory: Service) -> None:
    here, there = tell(memory, WRONG, project="shop"), tell(memory, WRONG)
    memory.reject([here], reason=REASON)
    assert get(memory, there).status is Status.ACTIVE


def test_a_title_makes_another_decision(memory: Service) -> None:
    memory.reject([tell(memory, "We use Postgres", kind=Kind.DECISION, title="Database")], reason=REASON)
    assert memory.store("We use Postgres", kind=Kind.DECISION, title="Queue").action == "added"
    assert memory.store("we use postgres", kind=Kind.DECISION, title="DATABASE").action == "refused"


# A person overrides it


def test_a_person_forces_it_in_and_the_log_says_so(memory: Service, rejected: str, home: Path) -> None:
    stored = memory.store(WRONG, force=True)
    assert (stored.action, str(stored.id)) == ("revived", rejected)
    assert live(memory) == {WRONG}
    event = records(home, "events")[-1]
    assert (event["operation"], json.loads(event["detail"])["forced"]) == ("store", True)
    assert memory.log(all_projects=True).events[0].detail["forced"] is True
    assert memory.history(rejected).changes[-1].operation == "store"
    assert memory.store(WRONG).action == "already_known"
    [stone] = records(home, "tombstones")
    assert stone["lifted_at"] is not None


def test_a_forced_text_can_be_rejected_again(memory: Service, rejected: str, home: Path) -> None:
    memory.store(WRONG, force=True)
    memory.reject([rejected], reason="really not")
    stored = memory.store(WRONG)
    assert stored.refusal is not None
    assert stored.refusal.reason.endswith(": really not.")
    [stone] = records(home, "tombstones")
    assert stone["lifted_at"] is None


def test_update_supersede_and_batch_can_be_forced_too(memory: Service) -> None:
    for number, force in enumerate(
        (
            lambda other, said: memory.update(other, content=said, force=True),
            lambda other, said: memory.supersede([other], content=said, force=True),
            lambda other, said: memory.store_batch([{"content": said, "force": True}]),
        )
    ):
        said = f"{WRONG} in Haus {number}"
        gone = tell(memory, said)
        memory.reject([gone], reason=REASON)
        other = tell(memory, f"Haus {number} hat kein Büro")
        force(other, said)
        assert said in live(memory), number
        assert memory.store(said).action == "already_known"


def test_a_person_restores_what_was_rejected(memory: Service, rejected: str, home: Path) -> None:
    with pytest.raises(Refused, match="is rejected") as refusal:
        memory.restore([rejected])
    assert refusal.value.hint == f"A person can override that: mem restore {rejected} --force"
    memory.restore([rejected], force=True)
    assert live(memory) == {WRONG}
    assert json.loads(records(home, "events")[-1]["detail"])["forced"] is True
    assert memory.store(WRONG).action == "already_known"


@pytest.mark.parametrize("arguments", [("store", WRONG, "--force"), ("restore", "1", "--force")])
def test_agents_cannot(run_mem: Callable[..., Ran], arguments: tuple[str, ...]) -> None:
    assert run_mem("store", WRONG, env={"MEM_MODEL": "none"}).code == 0
    assert run_mem("reject", "1", "--reason", REASON).code == 0
    for env in ({"CLAUDECODE": "1"}, {"MEM_ACTOR": "agent"}, {"CLAUDECODE": "1", "MEM_ACTOR": "person"}):
        ran = run_mem(*arguments, env=env)
        assert (ran.code, "--force is for people only" in ran.err) == (4, True)
    refused = run_mem("store", WRONG, "--json")
    assert (refused.code, refused.document()["refusal"]["id"]) == (4, 1)
    assert run_mem(*arguments).code == 0
    assert run_mem("list", "--json").document()["total"] == 1


def test_an_item_of_an_agents_batch_cannot_force_it(memory: Service, rejected: str, person: Caller) -> None:
    agent = memory.of(replace(person, actor=AGENT))
    [outcome] = agent.store_batch([{"content": WRONG, "force": True}]).outcomes
    assert outcome.action == "refused"
    assert live(memory) == set()


# What else can be rejected, and what becomes of the rest


@pytest.mark.parametrize("status", ["archived", "superseded", "proposed"])
def test_whatever_the_status_it_can_be_rejected(
    memory: Service, status: str, person: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    if status == "proposed":
        monkeypatch.setenv("MEM_TRUST_REVIEW", "agents")
        id_ = str(memory.of(replace(person, actor=AGENT)).store(WRONG).id)
    else:
        id_ = tell(memory, WRONG)
    if status == "archived":
        memory.archive([id_])
    if status == "superseded":
        memory.supersede([id_], content="Das Büro schließt freitags um 15 Uhr")
    assert get(memory, id_).status == status
    memory.reject([id_], reason=REASON)
    assert get(memory, id_).status is Status.REJECTED
    stored = memory.store(WRONG)
    assert stored.refusal is not None
    assert stored.refusal.code == "rejected"


def test_a_superseded_memory_that_was_rejected_is_superseded_again_when_it_is_restored(
    memory: Service,
) -> None:
    old = tell(memory, WRONG)
    new = str(memory.supersede([old], content="Das Büro schließt freitags um 15 Uhr").memories[1].id)
    memory.reject([old], reason=REASON)
    assert str(get(memory, old).superseded_by) == new
    memory.restore([old], force=True)
    assert (get(memory, old).status, str(get(memory, old).superseded_by)) == (Status.SUPERSEDED, new)
    assert live(memory) == {"Das Büro schließt freitags um 15 Uhr"}
    refusal = memory.store(WRONG).refusal
    assert refusal is not None
    assert refusal.code == "superseded"


def test_a_rejected_successor_frees_what_it_had_replaced(memory: Service) -> None:
    first = tell(memory, "Das Büro schließt freitags um 15 Uhr")
    second = str(memory.supersede([first], content=WRONG).memories[1].id)
    changed = memory.reject([second], reason=REASON)
    assert [(notice.code, notice.ids) for notice in changed.warnings] == [("replaced_nothing", (int(first),))]
    assert get(memory, first).status is Status.SUPERSEDED
    again = memory.store("Das Büro schließt freitags um 15 Uhr")
    assert again.action == "added"
    assert memory.store(WRONG).action == "refused"


def test_along_a_line_of_successors_each_is_judged_alone(memory: Service) -> None:
    first = tell(memory, "Das Büro schließt um 15 Uhr")
    second = str(memory.supersede([first], content=WRONG).memories[1].id)
    third = str(memory.supersede([second], content="Das Büro schließt um 18 Uhr").memories[1].id)
    memory.reject([second], reason=REASON)
    assert get(memory, third).status is Status.ACTIVE
    assert memory.history(third).chain == (int(first), int(second), int(third))
    refusal = memory.store("Das Büro schließt um 15 Uhr").refusal
    assert refusal is not None
    assert f"mem supersede {third}" in refusal.hint
    with pytest.raises(Refused, match=REASON):
        memory.supersede([third], content=WRONG)


def test_rejecting_twice_changes_nothing(memory: Service, rejected: str, home: Path) -> None:
    before = everything(memory), records(home, "tombstones"), len(records(home, "events"))
    memory.reject([rejected, rejected], reason="said again")
    assert (everything(memory), records(home, "tombstones"), len(records(home, "events"))) == before


def test_two_with_the_same_text_have_one_rejection(memory: Service, home: Path) -> None:
    ids = [tell(memory, WRONG), tell(memory, WRONG, kind=Kind.SUMMARY)]
    memory.reject(ids, reason=REASON)
    assert len(records(home, "tombstones")) == 1
    assert {get(memory, id_).status for id_ in ids} == {Status.REJECTED}


def test_all_are_rejected_or_none(memory: Service, home: Path) -> None:
    id_ = tell(memory, WRONG)
    with pytest.raises(NotFound):
        memory.reject([id_, "99"], reason=REASON)
    assert (live(memory), records(home, "tombstones")) == ({WRONG}, [])


@pytest.mark.parametrize("reason", ["expired", "undone", "Ended "])
def test_the_reason_is_the_persons_own(memory: Service, reason: str) -> None:
    with pytest.raises(Usage, match="mem itself gives"):
        memory.reject([tell(memory, WRONG)], reason=reason)


def test_a_reason_is_needed(run_mem: Callable[..., Ran]) -> None:
    assert run_mem("store", WRONG, env={"MEM_MODEL": "none"}).code == 0
    assert run_mem("reject", "1").code == 2
    assert run_mem("list", "--json").document()["total"] == 1
