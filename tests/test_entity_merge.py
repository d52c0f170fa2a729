"""Two entities turn out to be one: all moves along, nothing is said twice, the past stays as it was."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Ran
from telling import get
from wall_clock import WallClock

from mem.errors import NotFound, Refused
from mem.service import Service
from mem.values import EntityStatus, Mode, Status

Run = Callable[..., Ran]


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-03-01T09:00:00Z")


def observe(memory: Service, entity: str, content: str, **fields: Any) -> int:
    """Observe something new; gives its number."""
    outcome = memory.observe(entity, content, **fields)
    assert outcome.action == "added"
    assert outcome.id is not None
    return outcome.id


def known(memory: Service, entity: str, **fields: Any) -> list[str]:
    return sorted(found.content for found in memory.entity(entity, **fields).observations)


def related(memory: Service, entity: str, **fields: Any) -> list[tuple[str, str, str]]:
    found = memory.entity(entity, **fields).relations
    return sorted((link.direction.value, link.relation.type, link.other.name) for link in found)


def number(memory: Service, entity: str) -> int:
    return memory.entity(entity).entity.id


def test_observations_relations_and_names_move_along(memory: Service) -> None:
    moved = observe(memory, "billing-svc", "runs on Postgres")
    kept = observe(memory, "invoices", "is written in Go")
    memory.entity_set("billing-svc", alias=["计费服务"], summary="Sends invoices")
    observe(memory, "Ana", "sits at desk 4")
    memory.relate("Ana", "maintains", "billing-svc", weight=0.7)
    memory.relate("billing-svc", "calls", "Ana")
    old, new = number(memory, "billing-svc"), number(memory, "invoices")
    uid = memory.entity("billing-svc").entity.uid
    changed = memory.entity_merge("billing-svc", "invoices", reason="one and the same")
    assert (changed.action, changed.entity.id, changed.observations, changed.relations) == (
        "merged",
        new,
        1,
        2,
    )
    assert (changed.entity.aliases, changed.entity.summary) == (("billing-svc", "计费服务"), "Sends invoices")
    for reference in ("invoices", "BILLING_SVC", "计费服务", str(old), f"#{old}", uid, uid[:13]):
        view = memory.entity(reference)
        assert (view.entity.id, {one.id for one in view.observations}) == (new, {moved, kept}), reference
    assert related(memory, "Ana") == [("in", "calls", "invoices"), ("out", "maintains", "invoices")]
    assert get(memory, moved).entity == "invoices"
    assert [hit.entity.id for hit in memory.entities().entities] == [number(memory, "Ana"), new]
    hits = memory.recall("invoices", mode=Mode.LEXICAL).hits
    # Of Ana, one step out, something comes too, after what is of the entity itself.
    assert [hit.memory.entity for hit in hits] == ["invoices", "invoices", "Ana"]
    assert memory.doctor().sound
    assert memory.stats().vectors_pending == 0


def test_a_chain_of_merges_leads_to_the_last(memory: Service) -> None:
    for name in "ABC":
        observe(memory, f"entity {name}", f"says {name}")
    first = number(memory, "entity A")
    memory.entity_merge("entity A", "entity B")
    memory.entity_merge("entity B", "entity C")
    for reference in (str(first), "entity A", "entity B", "entity C"):
        assert known(memory, reference) == ["says A", "says B", "says C"]
    assert memory.observe(str(first), "says more").about == memory.entity("entity C").entity
    memory.relate("entity A", "knows", "entity B")
    assert related(memory, "entity C") == [("itself", "knows", "entity C")]
    assert memory.doctor().sound


def test_an_entity_is_not_merged_into_itself_by_whatever_name(memory: Service) -> None:
    observe(memory, "A", "says A")
    observe(memory, "B", "says B")
    with pytest.raises(Refused, match="into itself"):
        memory.entity_merge("A", "a")
    first = number(memory, "A")
    memory.entity_merge("A", "B")
    with pytest.raises(Refused, match="into itself"):
        memory.entity_merge(str(first), "B")
    with pytest.raises(NotFound):
        memory.entity_merge("nobody", "B")
    assert known(memory, "B") == ["says A", "says B"]


def test_what_both_say_is_said_once(memory: Service, wall: WallClock) -> None:
    mine = observe(memory, "A", "Runs on Postgres", tag=["db"])
    theirs = observe(memory, "B", "runs on postgres.", tag=["storage"])
    seen = wall.forward(days=1)
    memory.entity_merge("A", "B")
    wall.forward(days=1)
    assert [one.id for one in memory.entity("B").observations] == [theirs]
    assert get(memory, theirs).tags == ("storage", "db")
    gone = get(memory, mine)
    assert (gone.status, gone.status_reason, gone.superseded_by, gone.entity) == (
        Status.SUPERSEDED,
        "merged",
        theirs,
        "B",
    )
    # Whatever the day, it is said once; as it was believed before, of each.
    assert [one.id for one in memory.entity("B", valid_at="2026-03-01T10:00:00Z").observations] == [theirs]
    for name, id_ in (("A", mine), ("B", theirs)):
        assert [one.id for one in memory.entity(name, known_at=seen).observations] == [id_]
    assert memory.observe("A", "runs on Postgres").action == "already_known"


def test_the_time_of_what_both_say_is_joined(memory: Service, wall: WallClock) -> None:
    observe(
        memory, "A", "runs on Postgres", valid_from="2026-01-01T00:00:00Z", valid_to="2026-02-01T00:00:00Z"
    )
    kept = observe(memory, "B", "runs on Postgres", valid_from="2026-02-01T00:00:00Z")
    memory.entity_merge("A", "B")
    assert get(memory, kept).valid_from == "2026-01-01T00:00:00.000000Z"
    assert known(memory, "B", valid_at="2026-01-15T00:00:00Z") == ["runs on Postgres"]
    assert known(memory, "B", valid_at="2025-12-31T00:00:00Z") == []


@pytest.mark.parametrize("first", ["A", "B"])
def test_of_two_that_say_the_same_the_one_that_still_holds_stays(
    memory: Service, wall: WallClock, first: str
) -> None:
    second = "B" if first == "A" else "A"
    past = observe(
        memory, first, "is closed", valid_from="2026-01-01T00:00:00Z", valid_to="2026-02-01T00:00:00Z"
    )
    now = observe(memory, second, "is closed", valid_from="2026-02-15T00:00:00Z")
    memory.entity_merge("A", "B")
    assert (get(memory, past).status, get(memory, now).status) == (Status.SUPERSEDED, Status.ACTIVE)
    for day, ids in (("2026-01-15", [past]), ("2026-02-10", []), ("2026-02-20", [now])):
        held = memory.entity("B", valid_at=f"{day}T00:00:00Z").observations
        assert [one.id for one in held] == ids, day
    assert known(memory, "B") == ["is closed"]


def test_what_was_rejected_of_one_is_rejected_of_the_other(memory: Service) -> None:
    memory.reject([str(observe(memory, "A", "is deprecated"))], reason="it is not")
    fallen = observe(memory, "B", "is deprecated")
    memory.reject([str(observe(memory, "B", "is slow"))], reason="measured")
    other = observe(memory, "A", "is slow")
    memory.entity_merge("A", "B")
    assert known(memory, "B") == []
    assert {get(memory, id_).status for id_ in (fallen, other)} == {Status.REJECTED}
    for text in ("Is deprecated.", "is slow"):
        assert memory.observe("B", text).action == "refused"
        assert memory.observe("A", text).action == "refused"
    assert memory.observe("C", "is slow").action == "added"


def test_relations_between_the_two_vanish_and_double_ones_are_one(memory: Service, wall: WallClock) -> None:
    for name in ("A", "B", "C"):
        memory.entity_set(name)
    memory.relate("A", "same_as", "B")
    memory.relate("B", "knows", "A")
    memory.relate("A", "knows", "A")
    memory.relate("A", "calls", "C", valid_from="2026-01-01T00:00:00Z", valid_to="2026-02-15T00:00:00Z")
    memory.relate("B", "calls", "C", weight=0.5, valid_from="2026-02-01T00:00:00Z")
    seen = wall.forward(days=1)
    before = {name: related(memory, name) for name in "ABC"}
    memory.entity_merge("A", "B")
    wall.forward(days=1)
    assert related(memory, "B") == [("itself", "knows", "B"), ("out", "calls", "C")]
    calls = [link.relation for link in memory.entity("C", valid_at="2026-02-10T00:00:00Z").relations]
    assert [(one.weight, one.valid_from, one.valid_to) for one in calls] == [
        (1.0, "2026-01-01T00:00:00.000000Z", None)
    ]
    assert related(memory, "C", valid_at="2026-01-10T00:00:00Z") == [("in", "calls", "B")]
    assert {name: related(memory, name, known_at=seen) for name in "ABC"} == before


def test_before_the_merge_there_were_two(memory: Service, wall: WallClock) -> None:
    observe(memory, "A", "says A")
    observe(memory, "B", "says B")
    first = number(memory, "A")
    seen = wall.forward(days=1)
    memory.entity_merge("A", "B", reason="one and the same")
    after = wall.forward(days=1)
    assert known(memory, "A", known_at=seen) == ["says A"]
    assert known(memory, str(first), known_at=seen) == ["says A"]
    assert known(memory, "B", known_at=seen) == ["says B"]
    assert memory.entity(str(first), known_at=seen).entity.status is EntityStatus.ACTIVE
    for reference in ("A", str(first), "B"):
        assert known(memory, reference, known_at=after) == ["says A", "says B"]


def test_the_narrower_is_merged_into_the_wider_only(memory: Service) -> None:
    observe(memory, "Ana", "owns the shop's billing", project="shop")
    observe(memory, "Ana Souza", "prefers calls", global_=True)
    with pytest.raises(Refused, match="of project shop") as caught:
        memory.entity_merge("Ana Souza", "Ana", project="shop")
    assert "mem entity-merge" in caught.value.hint
    memory.entity_merge("Ana", "Ana Souza", project="shop")
    assert known(memory, "Ana", project="shop") == ["owns the shop's billing", "prefers calls"]
    assert known(memory, "Ana", project="blog") == ["prefers calls"]
    observe(memory, "Bea", "writes", project="blog")
    observe(memory, "Bea", "sells", project="shop")
    ids = [str(hit.entity.id) for hit in memory.entities(query="Bea", all_projects=True).entities]
    with pytest.raises(Refused, match="of project"):
        memory.entity_merge(*ids[:2])


def test_what_was_replaced_still_leads_to_what_replaced_it(memory: Service) -> None:
    old = observe(memory, "A", "sits at desk 4")
    new = observe(memory, "A", "sits at desk 5", supersedes=[str(old)])
    observe(memory, "B", "is on leave")
    memory.entity_merge("A", "B")
    assert memory.history(str(new)).chain == (old, new)
    refused = memory.observe("B", "sits at desk 4")
    assert (refused.action, refused.refusal.id if refused.refusal else None) == ("refused", old)
    later = memory.supersede([str(new)], content="works from home").memories[1]
    assert (later.entity, known(memory, "B")) == ("B", ["is on leave", "works from home"])


def test_a_merge_from_the_command_line(run_mem: Run) -> None:
    assert run_mem("observe", "billing-svc", "runs on Postgres").code == 0
    assert run_mem("observe", "billing service", "is written in Go", "--type", "service").code == 0
    ran = run_mem("entity-merge", "billing-svc", "billing service", "--reason", "the same", "--json")
    found = ran.document()
    assert (ran.code, found["action"], found["observations"], found["entity"]["id"]) == (0, "merged", 1, 2)
    assert run_mem("entity-merge", "1", "2").code == 4
    assert run_mem("entity-merge", "1", "9").code == 3
