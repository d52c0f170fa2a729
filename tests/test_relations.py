"""Relations: entered, weighed anew and closed, never erased; as of both clocks, and each seen once."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import BagOfWords, Ran
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from telling import records, rows
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import MemError, NotFound, Refused, Usage
from mem.search import entities as entity_search
from mem.search import index
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind

Run = Callable[..., Ran]


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-03-01T09:00:00Z")


@pytest.fixture
def office(memory: Service, wall: WallClock) -> Service:
    """A few people and things, known since 1 March."""
    for name, type_ in (("Ana", "person"), ("Bruno", "person"), ("API", "service"), ("shop", "service")):
        memory.entity_set(name, type=type_)
    return memory


def links(memory: Service, entity: str, **moment: Any) -> set[tuple[str, str, str]]:
    """What an entity is related to: direction, type and name."""
    found = memory.entity(entity, **moment).relations
    return {(link.direction.value, link.relation.type, link.other.name) for link in found}


def test_a_relation_is_seen_from_both_of_its_ends(office: Service) -> None:
    related = office.relate("Ana", "maintains", "API", valid_from="2026-02-01T00:00:00Z")
    assert (related.action, related.relation.weight, related.subject.name, related.object.name) == (
        "added",
        1.0,
        "Ana",
        "API",
    )
    assert links(office, "Ana") == {("out", "maintains", "API")}
    assert links(office, "API") == {("in", "maintains", "Ana")}
    assert [hit.relations for hit in office.entities().entities] == [1, 1, 0, 0]


@pytest.mark.parametrize("spelled", ["works at", "Works-At", "WORKS_AT", "  works   at "])
def test_the_type_of_a_relation_in_many_spellings(office: Service, spelled: str) -> None:
    office.relate("Ana", "works_at", "shop")
    assert office.relate("Ana", spelled, "shop").action == "known"
    assert links(office, "Ana") == {("out", "works_at", "shop")}


@pytest.mark.parametrize("type_", ["", "  ", "a" * 51, "two\x00", "-"])
def test_a_relation_of_no_type_is_refused(office: Service, type_: str) -> None:
    with pytest.raises(Usage, match="cannot be the type"):
        office.relate("Ana", type_, "shop")
    assert links(office, "Ana") == set()


def test_a_relation_is_weighed_anew_and_not_entered_twice(office: Service, home: Path) -> None:
    first = office.relate("Ana", "knows", "Bruno")
    again = office.relate("Ana", "knows", "Bruno", weight=0.5)
    assert (again.action, again.relation.id, again.relation.weight) == ("updated", first.relation.id, 0.5)
    before = len(rows(home, "events"))
    assert office.relate("ana", "knows", "bruno", weight=0.5).action == "known"
    assert office.relate("Ana", "knows", "Bruno").relation.weight == 0.5
    assert len(rows(home, "events")) == before
    assert office.relate("Bruno", "knows", "Ana").action == "added"
    assert links(office, "Ana") == {("out", "knows", "Bruno"), ("in", "knows", "Bruno")}


def test_a_relation_to_itself_is_seen_once(office: Service) -> None:
    office.relate("API", "calls", "API")
    assert links(office, "API") == {("itself", "calls", "API")}
    assert office.entities(query="API").entities[0].relations == 1


def test_who_is_not_there_cannot_be_related(office: Service, home: Path) -> None:
    before = len(rows(home, "events"))
    for subject, object_ in (("nobody", "Ana"), ("Ana", "nobody"), ("99", "Ana")):
        with pytest.raises(NotFound):
            office.relate(subject, "knows", object_)
    with pytest.raises(NotFound, match="no relation knows to Bruno"):
        office.unrelate("Ana", "knows", "Bruno")
    assert (len(rows(home, "events")), rows(home, "relations")) == (before, [])


# Both clocks

MARCH, APRIL = "2026-03-15T12:00:00Z", "2026-04-15T12:00:00Z"
BEFORE, AFTER = "2026-05-10T07:59:00Z", "2026-05-10T08:01:00Z"
# On 1 March we learn that Ana maintains the API; on 10 May, that it is Bruno since 1 April.
MAINTAINERS: list[tuple[dict[str, str], str | None]] = [
    ({"valid_at": MARCH, "known_at": BEFORE}, "Ana"),
    ({"valid_at": APRIL, "known_at": BEFORE}, "Ana"),
    ({"valid_at": MARCH, "known_at": AFTER}, "Ana"),
    ({"valid_at": APRIL, "known_at": AFTER}, "Bruno"),
    ({"valid_at": MARCH}, "Ana"),
    ({"valid_at": APRIL}, "Bruno"),
    ({"known_at": BEFORE}, "Ana"),
    ({"known_at": AFTER}, "Bruno"),
    ({}, "Bruno"),
    ({"valid_at": "2026-02-15T12:00:00Z"}, None),
    ({"known_at": "2026-03-01T09:00:01Z", "valid_at": APRIL}, None),
    # Intervals are half-open, to the microsecond.
    ({"valid_at": "2026-03-31T23:59:59.999999Z"}, "Ana"),
    ({"valid_at": "2026-04-01T00:00:00Z"}, "Bruno"),
    ({"valid_at": "2026-03-01T00:00:00Z"}, "Ana"),
    ({"valid_at": "2026-02-28T23:59:59.999999Z"}, None),
]


def test_the_maintainer_changed_before_we_knew(office: Service, wall: WallClock) -> None:
    wall.set("2026-03-01T12:00:00Z")
    office.relate("Ana", "maintains", "API", valid_from="2026-03-01T00:00:00Z")
    wall.set("2026-05-10T08:00:00Z")
    ended = office.unrelate("Ana", "maintains", "API", valid_to="2026-04-01T00:00:00Z")
    assert (ended.action, ended.relation.valid_to) == ("ended", "2026-04-01T00:00:00.000000Z")
    office.relate("Bruno", "maintains", "API", valid_from="2026-04-01T00:00:00Z")
    wall.set("2026-05-20T08:00:00Z")
    for moment, name in MAINTAINERS:
        expected = {("in", "maintains", name)} if name else set()
        assert links(office, "API", **moment) == expected, moment
        for other in ("Ana", "Bruno"):
            own = {("out", "maintains", "API")} if other == name else set()
            assert links(office, other, **moment) == own, moment


def test_what_is_entered_late_held_before_it_was_known(office: Service, wall: WallClock) -> None:
    wall.set("2026-05-10T08:00:00Z")
    office.relate("Ana", "lives_in", "shop", valid_from="2025-01-01", valid_to="2025-12-31")
    wall.set("2026-05-20T08:00:00Z")
    assert links(office, "Ana") == set()
    assert links(office, "Ana", valid_at="2025-06-01") == {("out", "lives_in", "shop")}
    assert links(office, "Ana", valid_at="2025-06-01", known_at=BEFORE) == set()
    # A date alone as the end: to the end of that day.
    assert links(office, "Ana", valid_at="2025-12-31") == {("out", "lives_in", "shop")}
    assert links(office, "Ana", valid_at="2026-01-01") == set()


def test_a_relation_that_has_ended_begins_anew_and_the_gap_stays(office: Service, wall: WallClock) -> None:
    first = office.relate("Ana", "works_at", "shop", valid_from="2026-01-01T00:00:00Z").relation
    wall.set("2026-04-01T00:00:00Z")
    office.unrelate("Ana", "works_at", "shop")
    wall.set("2026-06-01T00:00:00Z")
    again = office.relate("Ana", "works_at", "shop")
    assert (again.action, again.relation.id != first.id) == ("added", True)
    wall.set("2026-07-01T00:00:00Z")
    held = [
        bool(links(office, "Ana", valid_at=f"2026-0{month}-15T00:00:00Z")) for month in (1, 3, 4, 5, 6, 7)
    ]
    assert held == [True, True, False, False, True, True]
    with pytest.raises(Refused, match="already"):
        office.relate("Ana", "works_at", "shop", valid_from="2026-02-01T00:00:00Z", valid_to="2026-08-01")
    assert office.unrelate("Ana", "works_at", "shop").action == "ended"
    with pytest.raises(Refused, match="has ended on"):
        office.unrelate("Ana", "works_at", "shop")


def test_an_interval_is_changed_only_where_it_is_clear_which(office: Service, wall: WallClock) -> None:
    office.relate(
        "Ana", "works_at", "shop", valid_from="2025-01-01T00:00:00Z", valid_to="2025-06-01T00:00:00Z"
    )
    with pytest.raises(Refused, match="holds from 2025-01-01"):
        office.relate("Ana", "works_at", "shop", valid_from="2025-03-01T00:00:00Z")
    changed = office.relate(
        "Ana", "works_at", "shop", valid_from="2025-01-01T00:00:00Z", valid_to="2025-07-01T00:00:00Z"
    )
    assert (changed.action, changed.relation.valid_to) == ("updated", "2025-07-01T00:00:00.000000Z")
    # Where the one ends the next may begin.
    assert office.relate("Ana", "works_at", "shop", valid_from="2025-07-01T00:00:00Z").action == "added"
    with pytest.raises(Usage, match="not after"):
        office.relate("Ana", "works_at", "API", valid_from="2026-02-01", valid_to="2026-01-01")


def test_a_relation_cannot_end_before_it_began(office: Service, wall: WallClock) -> None:
    office.relate("Ana", "works_at", "shop", valid_from="2026-02-01T00:00:00Z")
    with pytest.raises(Usage, match="it cannot end at 2026-01-01"):
        office.unrelate("Ana", "works_at", "shop", valid_to="2026-01-01T00:00:00Z")
    assert links(office, "Ana") == {("out", "works_at", "shop")}


def test_what_holds_now_is_ended_though_it_is_planned_again(office: Service, wall: WallClock) -> None:
    office.relate(
        "Ana", "works_at", "shop", valid_from="2026-01-01T00:00:00Z", valid_to="2026-12-01T00:00:00Z"
    )
    office.relate("Ana", "works_at", "shop", valid_from="2027-01-01T00:00:00Z")
    office.unrelate("Ana", "works_at", "shop")
    assert links(office, "Ana") == set()
    assert links(office, "Ana", valid_at="2027-02-01T00:00:00Z") == {("out", "works_at", "shop")}


# What is around


def test_the_neighbourhood_follows_relations_both_ways_and_ends_in_cycles(office: Service) -> None:
    office.relate("Ana", "maintains", "API")
    office.relate("API", "calls", "shop")
    office.relate("shop", "employs", "Ana")
    office.relate("Bruno", "knows", "shop")
    office.relate("API", "calls", "API")
    for depth, names, edges in ((1, {"Ana", "API", "shop"}, 2), (2, {"Ana", "API", "shop", "Bruno"}, 5)):
        view = office.entity("Ana", depth=depth)
        assert ({node.name for node in view.nodes}, len(view.edges)) == (names, edges), depth
        assert len({edge.id for edge in view.edges}) == edges
        assert links(office, "Ana", depth=depth) == {("out", "maintains", "API"), ("in", "employs", "shop")}
    assert office.entity("Ana", depth=3).edges == office.entity("Ana", depth=2).edges


def test_what_another_project_relates_is_not_seen(office: Service) -> None:
    office.entity_set("ledger", type="service", project="bank")
    office.relate("Ana", "maintains", "ledger", project="bank")
    assert links(office, "Ana", project="bank") == {("out", "maintains", "ledger")}
    assert links(office, "Ana", project="shop") == links(office, "Ana") == set()
    assert [hit.relations for hit in office.entities(query="Ana").entities][:1] == [0]
    assert links(office, "Ana", all_projects=True) == {("out", "maintains", "ledger")}
    view = office.entity("Ana", depth=3, project="shop")
    assert (len(view.nodes), view.edges) == (1, ())


# Whatever happens

NAMES = ["Ana", "Bruno", "API", "shop"]
NAME = st.sampled_from(NAMES)
TYPE = st.sampled_from(["knows", "calls"])
DAY = st.none() | st.integers(1, 28).map(lambda day: f"2026-02-{day:02}T00:00:00Z")
CALL = st.one_of(
    st.tuples(st.just("observe"), NAME, st.sampled_from(["likes tea", "likes milk", "is here"])),
    st.tuples(st.just("relate"), NAME, TYPE, NAME, DAY, DAY),
    st.tuples(st.just("unrelate"), NAME, TYPE, NAME, DAY),
    st.tuples(st.just("merge"), NAME, NAME),
    st.tuples(st.just("rename"), NAME, st.sampled_from(["Ana", "Carla", "API v2"])),
    st.tuples(st.just("reject"), st.integers(1, 6)),
    st.tuples(st.just("supersede"), st.integers(1, 6), st.sampled_from(["likes tea", "is gone"])),
)


def _do(memory: Service, name: str, *given: Any) -> None:
    match name:
        case "observe":
            memory.observe(*given)
        case "relate":
            subject, type_, object_, since, until = given
            memory.relate(subject, type_, object_, valid_from=since, valid_to=until)
        case "unrelate":
            memory.unrelate(*given[:3], valid_to=given[3])
        case "merge":
            memory.entity_merge(*given)
        case "rename":
            memory.entity_set(given[0], name=given[1])
        case "reject":
            memory.reject([str(given[0])], reason="wrong")
        case _:
            memory.supersede([str(given[0])], content=given[1])


def _check_graph(home: Path, memory: Service) -> None:
    entities = {row["id"]: row for row in records(home, "entities")}
    live = {number for number, row in entities.items() if row["status"] == "active"}
    relations = [row for row in records(home, "relations") if row["status"] == "active"]
    assert all({row["from_id"], row["to_id"]} <= live for row in relations)
    for one in relations:
        for other in relations:
            same = all(one[name] == other[name] for name in ("from_id", "to_id", "type"))
            if same and one["id"] < other["id"]:
                begins, ends = (one["valid_from"] or "", one["valid_to"] or "~")
                assert (other["valid_to"] or "~") <= begins or ends <= (other["valid_from"] or "")
    for row in records(home, "memories"):
        assert row["entity_id"] is None or row["status"] != "active" or row["entity_id"] in live
    with memory._store.read() as db:
        assert entity_search.problems(db) == []
        assert index.problems(db, has_vectors=memory._store.has_vectors) == []


def _seen(memory: Service, known_at: str) -> list[Any]:
    """All that was known then of each entity, whenever it held."""
    found: list[Any] = []
    for name in NAMES:
        try:
            view = memory.entity(name, known_at=known_at, depth=2)
        except NotFound as err:
            found.append(str(err))
        else:
            # The status shows what was rejected since; the rest never changes.
            said = {(one.id, one.content, one.valid_from, one.valid_to) for one in view.observations}
            found.append((view.entity, said, view.relations, view.edges))
    return found


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CALL, min_size=3, max_size=14), st.integers(1, 12))
def test_whatever_is_done_the_graph_stays_whole_and_the_past_as_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch, calls: list[tuple[Any, ...]], place: int
) -> None:
    with monkeypatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        wall = WallClock(patched, "2026-03-01T09:00:00Z")
        store = Store(Path(folder) / "memory.db")
        memory = Service(store, BagOfWords(), Caller(Actor(ActorKind.PERSON), Path(folder)))
        for name in NAMES:
            memory.entity_set(name)
        then, answer = "", []
        for number, call in enumerate(calls):
            wall.forward(hours=1)
            with suppress(MemError):
                _do(memory, *call)
            _check_graph(Path(folder), memory)
            if number == min(place, len(calls) - 2):
                then = wall.forward(hours=1)
                answer = _seen(memory, then)
        wall.forward(days=1)
        assert _seen(memory, then) == answer
        store.close()


# The command line


def test_relations_from_the_command_line(run_mem: Run) -> None:
    for name in ("Ana", "API"):
        assert run_mem("entity-set", name, "--summary", "x").code == 0
    ran = run_mem("relate", "Ana", "maintains", "API", "--valid-from", "2026-05-01", "--weight", "0.5")
    assert (ran.code, ran.out) == (0, "added\t#1\tAna\tmaintains\tAPI\tsince 2026-05-01 weight 0.5\n")
    found = run_mem("entity", "API", "--json").document()
    assert [(one["direction"], one["other"]["name"]) for one in found["relations"]] == [("in", "Ana")]
    ran = run_mem("relate", "Ana", "maintains", "API", "--weight", "1.5")
    assert (ran.code, "1.5" in ran.err) == (2, True)
    assert run_mem("unrelate", "Ana", "maintains", "API", "--valid-to", "2026-05-31").code == 0
    assert run_mem("unrelate", "Ana", "maintains", "API").code == 4
    assert run_mem("unrelate", "Ana", "knows", "API").code == 3
