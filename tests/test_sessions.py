"""Sessions: each belongs to its client, ends with a summary that is found, and never loses what it had."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest
from conftest import Ran

from mem import clock
from mem.caller import Caller
from mem.errors import NotFound, Refused, Usage
from mem.results import Action
from mem.service import Service
from mem.store.connect import select
from mem.values import Actor, ActorKind, Kind


def agent(memory: Service, client: str, session: str | None = None, project: str | None = None) -> Service:
    """The same store for an agent of a client, in a session of the host."""
    return memory.of(Caller(Actor(ActorKind.AGENT, client, session), Path.cwd(), project))


def at(distance: timedelta) -> AbstractContextManager[object]:
    """Another time, that far from now."""
    moment: datetime = clock.now() + distance
    return mock.patch.object(clock, "now", return_value=moment)


def test_starting_a_session_answers_with_its_id_and_the_context(memory: Service) -> None:
    memory.store("The harbour office opens at seven", project="harbour")
    started = agent(memory, "codex").session_start(project="harbour")
    assert (started.id, started.client, started.project) == (1, "codex", "harbour")
    assert "opens at seven" in started.context.text
    [listed] = memory.sessions(project="harbour").sessions
    assert (listed.uid, listed.client, listed.ended_at) == (started.uid, "codex", None)


def test_the_host_s_session_is_opened_once(memory: Service) -> None:
    claude = agent(memory, "claude-code", "abc")
    assert claude.session_start().id == claude.session_start().id
    assert agent(memory, "claude-code", "def").session_start().id != claude.session_start().id
    assert agent(memory, "codex", "abc").session_start().id not in (1, 2)


def test_the_summary_of_a_session_is_a_memory_that_recall_finds(real_memory: Service) -> None:
    codex = agent(real_memory, "codex", project="harbour")
    started = codex.session_start()
    ended = codex.session_end(str(started.id), summary="Moved the tide tables from Redis to Postgres")
    assert ended.summary and ended.summary.action is Action.ADDED
    assert ended.session.summaries == (ended.summary.id,)
    hits = real_memory.recall("where do the tide tables live now?", project="harbour").hits
    assert [(hit.memory.id, hit.memory.kind) for hit in hits] == [(ended.summary.id, Kind.SUMMARY)]
    assert (hits[0].memory.session, hits[0].memory.project) == (started.uid, "harbour")
    assert "tide tables" in codex.session_start().context.text


def test_tasks_that_are_left_stay_with_the_session(memory: Service) -> None:
    started = memory.session_start()
    memory.session_end(str(started.id), task=["load test", "tell Ana", "load test", " "])
    assert memory.sessions().sessions[0].tasks == ("load test", "tell Ana")


def test_ending_twice_adds_and_takes_nothing_away(memory: Service) -> None:
    started = memory.session_start()
    first = memory.session_end(str(started.id), summary="Moved the cache", task=["load test"]).session
    again = memory.session_end(str(started.id)).session
    assert again == first
    more = memory.session_end(str(started.id), summary="Tested it too", task=["tell Ana"]).session
    assert (more.ended_at, more.end_reason) == (first.ended_at, first.end_reason)
    assert more.tasks == ("load test", "tell Ana")
    assert len(more.summaries) == 2


@pytest.mark.parametrize("reference", ["7", "#7", "01890000-aaaa", "no-such-session"])
def test_an_unknown_session_cannot_be_ended(memory: Service, reference: str) -> None:
    assert memory.session_start().id == 1
    with pytest.raises(NotFound):
        memory.session_end(reference)


def test_a_session_of_another_client_cannot_be_ended(memory: Service) -> None:
    theirs = agent(memory, "codex").session_start()
    for other in (memory, agent(memory, "cursor")):
        with pytest.raises(Refused):
            other.session_end(str(theirs.id), summary="Not mine")
    assert memory.sessions().sessions[0].ended_at is None
    assert memory.list_().total == 0


def test_without_an_id_it_is_the_session_of_the_host_or_the_only_open_one(memory: Service) -> None:
    first, second = agent(memory, "claude-code", "abc"), agent(memory, "claude-code", "def")
    one, two = first.session_start(), second.session_start()
    assert second.session_end().session.id == two.id
    assert first.session_end().session.id == one.id
    codex = agent(memory, "codex")
    only = codex.session_start()
    assert codex.session_end().session.id == only.id
    with pytest.raises(NotFound):
        codex.session_end()


def test_two_windows_of_one_client_do_not_end_each_other(memory: Service) -> None:
    codex = agent(memory, "codex")
    codex.session_start()
    codex.session_start()
    with pytest.raises(Usage, match="several open sessions: 2, 1"):
        codex.session_end()
    with pytest.raises(NotFound):
        agent(memory, "codex", "a-new-window").session_end()
    assert all(session.ended_at is None for session in memory.sessions().sessions)


@pytest.mark.parametrize("of", ["number", "uid", "prefix", "host"])
def test_a_session_goes_by_number_uuid_prefix_and_the_host_s_name(memory: Service, of: str) -> None:
    claude = agent(memory, "claude-code", "5f0c2e1a-host")
    started = claude.session_start()
    names = {
        "number": f"#{started.id}",
        "uid": started.uid.upper(),
        "prefix": started.uid[:13],
        "host": "5f0c2e1a-host",
    }
    assert claude.session_end(names[of]).session.id == started.id


def test_a_session_without_a_sign_of_life_for_a_day_closes_itself(memory: Service) -> None:
    with at(timedelta(days=-2)):
        silent = agent(memory, "codex", "silent").session_start()
        active = agent(memory, "codex", "active").session_start()
        busy = agent(memory, "codex", "busy").session_start()
    with at(timedelta(hours=-3)):
        agent(memory, "codex", "active").store("Still at it")
        agent(memory, "codex", "busy").recall("still at it")
    new = agent(memory, "codex", "new").session_start()
    reasons = {session.id: session.end_reason for session in memory.sessions().sessions}
    assert reasons == {silent.id: "abandoned", active.id: None, busy.id: None, new.id: None}


def test_the_end_of_an_abandoned_session_still_counts(memory: Service) -> None:
    codex = agent(memory, "codex", "slow")
    with at(timedelta(days=-2)):
        started = codex.session_start()
    memory.session_start()
    assert codex.sessions().sessions[-1].end_reason == "abandoned"
    ended = codex.session_end(str(started.id), summary="It took two days").session
    assert (ended.end_reason, len(ended.summaries)) == ("ended", 1)


def test_a_session_that_the_host_resumes_is_open_again_and_keeps_its_tasks(memory: Service) -> None:
    claude = agent(memory, "claude-code", "abc")
    started = claude.session_start()
    claude.session_end(task=["load test"])
    assert claude.session_start().id == started.id
    [session] = memory.sessions().sessions
    assert (session.ended_at, session.end_reason, session.tasks) == (None, None, ("load test",))


def test_what_an_agent_stores_belongs_to_its_open_session(memory: Service) -> None:
    claude = agent(memory, "claude-code", "abc")
    before = claude.store("Stored before")
    started = claude.session_start()
    during = claude.store("Stored during")
    claude.session_end()
    after = claude.store("Stored after")
    found = {one.id: one.session for one in memory.list_().memories}
    assert found == {before.id: None, during.id: started.uid, after.id: None}


def test_a_refused_summary_does_not_keep_the_session_open(memory: Service) -> None:
    started = memory.session_start()
    first = memory.session_end(str(started.id), summary="All is well").summary
    assert first and first.id
    memory.archive([str(first.id)])
    again = memory.session_start()
    ended = memory.session_end(str(again.id), summary="All is well")
    assert ended.summary and ended.summary.action is Action.REFUSED
    assert (ended.exit_status, ended.session.ended_at is None) == (4, False)


def test_each_change_of_a_session_leaves_a_version_and_an_event(memory: Service) -> None:
    claude = agent(memory, "claude-code", "abc")
    claude.session_start()
    claude.session_end(task=["load test"])
    claude.session_end(task=["load test"])  # says nothing new
    claude.session_start()
    with memory._store.read() as db:
        events = select(db, "SELECT operation, client, session FROM events ORDER BY id")
        versions = select(db, "SELECT ended_at IS NULL, replaced_by FROM sessions_versions ORDER BY 2")
    operations = ["session-start", "session-end", "session-start"]
    assert events == [(name, "claude-code", "abc") for name in operations]
    assert versions == [(1, 2), (0, 3)]


def test_sessions_are_listed_newest_first_for_the_project_and_page_by_page(memory: Service) -> None:
    for project in ("farm", "harbour", "farm"):
        memory.session_start(project=project)
    assert [session.id for session in memory.sessions(project="farm").sessions] == [3, 1]
    page = memory.sessions(all_projects=True, limit=1, offset=1)
    assert (page.total, [session.id for session in page.sessions]) == (3, [2])


def test_too_long_a_task_is_refused_whole(memory: Service) -> None:
    started = memory.session_start()
    with pytest.raises(Usage):
        memory.session_end(str(started.id), summary="Done", task=["x" * 2001])
    with pytest.raises(Usage):
        memory.session_end(str(started.id), summary=" ")
    assert memory.sessions().sessions[0].ended_at is None


def test_the_commands_from_end_to_end(run_mem: Callable[..., Ran]) -> None:
    env = {"MEM_MODEL": "none", "MEM_CLIENT": "shell"}
    run_mem("store", "The harbour office opens at seven", env=env)
    started = run_mem("session-start", env=env)
    assert started.code == 0
    assert started.out.startswith("session #1\n<mem-notes") and "opens at seven" in started.out
    assert run_mem("session-end", "1", env={**env, "MEM_CLIENT": "other"}).code == 4
    assert run_mem("session-end", "9", env=env).code == 3
    ended = run_mem("session-end", "--summary", "-", "--task", "load test", stdin=b"Moved it\n", env=env)
    assert (ended.code, ended.out) == (0, "ended session #1\nadded #2\n")
    document = run_mem("sessions", "--json", env=env).document()
    [session] = document["sessions"]
    assert (session["client"], session["tasks"], session["summaries"]) == ("shell", ["load test"], [2])
    assert run_mem("sessions", env=env).out.split("\t")[:3] == ["#1", "shell", ""]


def test_a_person_s_sessions_are_their_own(memory: Service) -> None:
    started = memory.session_start()
    other = memory.of(replace(memory._caller, actor=Actor(ActorKind.AGENT, "codex")))
    with pytest.raises(Refused):
        other.session_end(str(started.id))
    assert memory.session_end(str(started.id)).session.end_reason == "ended"
