"""What keeps memories true holds for people and things too: review, rejection, undo, forgetting."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import BagOfWords, Ran
from telling import get, records, rows
from wall_clock import WallClock

from mem.caller import Caller
from mem.embed import Role
from mem.embed.vectors import to_blob
from mem.errors import NeedsReview, NotFound
from mem.service import Service
from mem.values import Actor, ActorKind, Kind, Mode, SayingAction

WORD = "quetzalcoatlus"


@pytest.fixture
def agent(memory: Service, person: Caller, home: Path) -> Service:
    """An agent whose texts wait for a person."""
    environment = {"MEM_HOME": str(home), "MEM_TRUST_REVIEW": "agents"}
    actor = Actor(ActorKind.AGENT, "claude-code", "s1")
    return memory.of(replace(person, actor=actor, environment=environment))


def known(memory: Service, name: str) -> list[str]:
    return sorted(found.content for found in memory.entity(name).observations)


def test_what_an_agent_observes_waits_for_a_person(memory: Service, agent: Service) -> None:
    memory.observe("Ana", "prefers calls to mail", type="person")
    waiting = agent.observe("Ana", "is on leave in May")
    assert waiting.action == "proposed"
    assert known(memory, "Ana") == ["prefers calls to mail"]
    assert memory.recall("when is Ana on leave").total == 1
    memory.approve([str(waiting.id)])
    assert known(memory, "Ana") == ["is on leave in May", "prefers calls to mail"]


def test_an_agent_under_review_changes_no_entity_and_no_relation(memory: Service, agent: Service) -> None:
    memory.observe("Ana", "prefers calls to mail", type="person")
    memory.entity_set("billing", type="service")
    for change in (
        lambda: agent.entity_set("Ana", summary="Looks after billing"),
        lambda: agent.relate("Ana", "maintains", "billing"),
        lambda: agent.entity_merge("Ana", "billing"),
        lambda: agent.goal(SayingAction.SET, "Ship it"),
    ):
        with pytest.raises(NeedsReview):
            change()
    assert memory.entity("Ana").relations == ()
    assert memory.entity("Ana").entity.summary is None


def test_an_observation_that_was_rejected_stays_out_of_its_entity_alone(memory: Service) -> None:
    wrong = memory.observe("Ana", "lives in Porto", type="person")
    memory.reject([str(wrong.id)], reason="she moved long ago")
    refused = memory.observe("ana", "Lives in PORTO.")
    assert (refused.action, refused.refusal and refused.refusal.code) == ("refused", "rejected")
    assert memory.observe("Ben", "lives in Porto", type="person").action == "added"
    assert memory.observe("Ana", "lives in Porto", force=True).action == "revived"
    assert known(memory, "Ana") == ["lives in Porto"]


def test_undoing_an_observation_ends_the_entity_that_was_made_for_it(memory: Service, home: Path) -> None:
    made = memory.observe("Ana", "prefers calls to mail", type="person")
    memory.undo(str(records(home, "events")[-1]["id"]))
    assert get(memory, made.id).status_reason == "undone"
    with pytest.raises(NotFound):
        memory.entity("Ana")
    assert memory.observe("Ana", "is on leave in May", type="person").created
    assert memory.doctor().sound


def test_undoing_a_merge_gives_both_entities_back(memory: Service, home: Path) -> None:
    memory.observe("billing", "runs on port 8080", type="service")
    memory.observe("billing-svc", "sends invoices", type="service")
    memory.observe("Ana", "prefers calls to mail", type="person")
    memory.relate("Ana", "maintains", "billing-svc")
    before = memory.entities()
    memory.entity_merge("billing-svc", "billing")
    assert known(memory, "billing-svc") == ["runs on port 8080", "sends invoices"]
    memory.undo(str(records(home, "events")[-1]["id"]))
    assert known(memory, "billing-svc") == ["sends invoices"]
    assert known(memory, "billing") == ["runs on port 8080"]
    after = memory.entities()
    assert [(hit.entity.name, hit.observations, hit.relations) for hit in after.entities] == [
        (hit.entity.name, hit.observations, hit.relations) for hit in before.entities
    ]
    assert memory.doctor().sound


def test_the_port_story_holds_for_an_observation(memory: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    wall = WallClock(monkeypatch, "2026-03-01T09:00:00Z")
    first = memory.observe("API", "listens on port 80", type="service", valid_from="2026-03-01")
    wall.set("2026-05-10T08:00:00Z")
    memory.supersede([str(first.id)], content="listens on port 81", valid_from="2026-04-01")
    for valid_at, known_at, port in (
        ("2026-03-15", "2026-05-01", 80),
        ("2026-04-20", "2026-05-01", 80),
        ("2026-03-15", "2026-06-01", 80),
        ("2026-04-20", "2026-06-01", 81),
    ):
        found = memory.entity("API", valid_at=valid_at, known_at=known_at).observations
        assert [one.content for one in found] == [f"listens on port {port}"], (valid_at, known_at)


def test_contradictions_are_of_one_entity_and_can_be_asked_of_one(memory: Service) -> None:
    for name in ("API", "metrics"):
        memory.observe(name, "listens on port 8080", type="service")
    assert memory.contradictions().total == 0
    newer = memory.observe("API", "listens on port 9090")
    memory.observe("metrics", "is run by Ana")
    assert [pair.newer.id for pair in memory.contradictions().pairs] == [newer.id]
    assert [pair.newer.id for pair in memory.contradictions(entity="api").pairs] == [newer.id]
    assert memory.contradictions(entity="metrics").total == 0


def test_nothing_is_left_of_an_entity_that_was_forgotten(
    memory: Service, home: Path, fake_embedder: BagOfWords
) -> None:
    memory.observe("Ana", "prefers calls to mail", type="person")
    memory.observe(WORD, f"{WORD} keeps the vault", type="person")
    memory.entity_set(WORD, summary=f"{WORD} of the night shift", alias=[f"{WORD}-2"])
    memory.observe(f"{WORD} old", f"{WORD} has a limp", type="person")
    memory.entity_merge(f"{WORD} old", WORD)
    memory.relate(WORD, "knows", "Ana")
    memory.unrelate(WORD, "knows", "Ana")
    memory.recall(f"what does {WORD} keep")
    vector = to_blob(fake_embedder.embed([f"{WORD} keeps the vault"], Role.PASSAGE)[0])
    assert any(vector in file.read_bytes() for file in home.rglob("memory.db*"))
    gone = memory.entity_forget(WORD)
    assert (gone.exit_status, len(gone.ids), gone.remains) == (0, 2, ())
    for file in (file for file in home.rglob("*") if file.is_file()):
        held = file.read_bytes()
        assert WORD.encode() not in held.lower() and vector not in held, file
    assert [row["name"] for row in records(home, "entities")] == ["Ana"]
    for table in ("relations", "relations_versions", "entities_versions"):
        assert rows(home, table) == [], table
    assert [key for key, *_ in rows(home, "entity_names")] == ["ana"]
    assert memory.doctor(audit=True).sound
    assert memory.entity("Ana").relations == ()


def test_forgetting_an_entity_is_for_people_and_asks(run_mem: Callable[..., Ran]) -> None:
    assert run_mem("observe", "Ana", "prefers calls to mail", env={"MEM_MODEL": "none"}).code == 0
    refused = run_mem("entity-forget", "Ana", "--yes", env={"CLAUDECODE": "1"})
    assert (refused.code, "for people only" in refused.err) == (4, True)
    asked = run_mem("entity-forget", "Ana")
    assert (asked.code, "--yes" in asked.err) == (2, True)
    done = run_mem("entity-forget", "Ana", "--yes", env={"MEM_MODEL": "none"})
    assert (done.code, done.out) == (0, "forgotten\t#1\n")


def test_reflect_and_stats_name_what_was_planted(
    memory: Service, agent: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = WallClock(monkeypatch, "2026-01-10T09:00:00Z")
    stale = memory.store("The old mill has a cracked wheel")
    cold = memory.store("Sirens at the plant mean gas", importance=9)
    used = memory.store("Backups run at night on the blue disk")
    open_ = memory.store("We chose Postgres", kind=Kind.DECISION, title="Database")
    memory.recall("sirens gas", mode=Mode.LEXICAL)
    wall.set("2026-05-10T09:00:00Z")
    for _ in range(3):
        memory.recall("backups blue disk", mode=Mode.LEXICAL)
    assert memory.recall("zeppelin hangar", mode=Mode.LEXICAL).total == 0
    memory.observe("Ana", "prefers calls to mail", type="person")
    older = memory.store("The API listens on port 8080")
    newer = memory.store("The API listens on port 9090")
    waiting = agent.store("The agent thinks that it rains")
    found = memory.reflect(stale_days=30)
    assert [(one.memory.id, one.recalls) for one in found.most_used.memories] == [(used.id, 3)]
    assert {one.id for one in found.stale.memories} == {stale.id, open_.id}
    assert [one.id for one in found.cold.memories] == [cold.id]
    assert [one.id for one in found.open_decisions.memories] == [open_.id]
    assert [(one.entity.name, one.observations) for one in found.hot_entities.entities] == [("Ana", 1)]
    assert [(pair.older.id, pair.newer.id, pair.reasons) for pair in found.contradictions.pairs] == [
        (older.id, newer.id, ("number",))
    ]
    assert (found.review.total, found.review.ids) == (1, (waiting.id,))
    assert found.blind_spots.total == 1
    counted = memory.stats()
    assert (counted.dead, counted.by_status["proposed"], counted.entities) == (2, 1, 1)
    assert counted.recent_recalls == 4
