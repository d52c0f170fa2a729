"""`list` pages, sorts and filters everything, and no page repeats or drops a memory."""

from dataclasses import replace

import pytest
from telling import tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import NotFound, Usage
from mem.service import Service
from mem.values import Actor, ActorKind, Kind, Layer, Mode, Sort, Status


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


def listed(memory: Service, **options: object) -> list[str]:
    return [str(one.id) for one in memory.list_(**options).memories]  # type: ignore[arg-type]


def harbour(memory: Service, wall: WallClock) -> list[str]:
    """Four memories that each order puts otherwise."""
    ids = []
    for text, fields in (
        ("Boats moor at the berth", {"importance": 3, "confidence": 0.9, "event_time": "2026-01-04"}),
        ("Tides are tabled", {"importance": 9, "confidence": 0.2, "event_time": "2026-01-02"}),
        ("Cranes lift forty tonnes", {"importance": 5, "confidence": 0.5, "event_time": "2026-01-03"}),
        ("Pilots sleep until nine", {"importance": 7, "confidence": 0.7, "event_time": "2026-01-01"}),
    ):
        ids.append(tell(memory, text, **fields))  # type: ignore[arg-type]
        wall.forward(hours=1)
    memory.update(ids[1], add_tag=["tides"])
    for question, times in (("cranes", 3), ("boats", 1)):
        for _ in range(times):
            assert memory.recall(question, mode=Mode.LEXICAL).total == 1
    return ids


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        (Sort.RECORDED, "3210"),
        (Sort.CHANGED, "1320"),
        (Sort.EVENT_TIME, "0213"),
        (Sort.IMPORTANCE, "1320"),
        (Sort.CONFIDENCE, "0321"),
        (Sort.RECALLS, "2031"),
        (Sort.ID, "3210"),
    ],
)
def test_each_order_has_its_reverse(memory: Service, wall: WallClock, sort: Sort, order: str) -> None:
    ids = harbour(memory, wall)
    expected = [ids[int(place)] for place in order]
    assert listed(memory, sort=sort) == expected
    assert listed(memory, sort=sort, reverse=True) == expected[::-1]


def test_every_order_has_a_case() -> None:
    cases = test_each_order_has_its_reverse.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {case[0] for case in cases} == set(Sort)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("sort", list(Sort))
def test_pages_of_equals_neither_repeat_nor_drop_one(
    memory: Service, monkeypatch: pytest.MonkeyPatch, sort: Sort, reverse: bool
) -> None:
    WallClock(monkeypatch, "2026-05-10T08:00:00Z")
    done = memory.store_batch([{"content": f"Berth {number} is free"} for number in range(23)])
    assert {one.action for one in done.outcomes} == {"added"}
    pages = [listed(memory, sort=sort, reverse=reverse, limit=5, offset=offset) for offset in range(0, 30, 5)]
    paged = [one for page in pages for one in page]
    assert paged == listed(memory, sort=sort, reverse=reverse, limit=100)
    assert sorted(map(int, paged)) == list(range(1, 24))
    assert memory.list_(limit=5).total == 23


def test_what_is_observed_of_an_entity_is_listed_and_recalled_by_its_name(memory: Service) -> None:
    first = str(memory.observe("billing service", "It runs on two machines", type="service").id)
    memory.entity_set("billing service", alias=["billing"])
    memory.observe("Ana", "She watches the machines", type="person")
    tell(memory, "Two machines were bought")
    for name in ("billing service", "Billing-Service", "billing", "1"):
        assert listed(memory, entity=name) == [first]
        assert [str(hit.memory.id) for hit in memory.recall("machines", entity=name).hits] == [first]
    assert memory.recall("machines").total == 3
    with pytest.raises(NotFound, match="There is no entity 'Zoe'"):
        memory.list_(entity="Zoe")
    with pytest.raises(NotFound, match="There is no entity 'Zoe'"):
        memory.recall("machines", entity="Zoe")


def test_where_it_comes_from_can_be_asked(memory: Service, person: Caller) -> None:
    agent = memory.of(replace(person, actor=Actor(ActorKind.AGENT, "claude-code", "host-7")))
    session = agent.session_start()
    written = tell(agent, "Boats moor at the berth", source="docs/Harbour.md:12")
    other = tell(memory, "Tides are tabled", source="standup")
    bare = tell(memory, "Cranes lift forty tonnes")
    assert listed(memory, source="harbour.md") == [written]
    assert listed(memory, source="%") == []
    assert listed(memory, client=["claude-code"]) == [written]
    assert listed(memory, client=["claude-code", "codex"]) == [written]
    assert listed(memory, client=["claude"]) == []
    for reference in (str(session.id), session.uid, session.uid[:13], "host-7"):
        assert listed(memory, session=reference) == [written]
    assert listed(memory) == [bare, other, written]
    with pytest.raises(NotFound, match="There is no session 'host-8'"):
        memory.list_(session="host-8")


def test_what_has_expired_can_be_listed(memory: Service, wall: WallClock) -> None:
    passing = tell(memory, "Berth 1 is taken", layer=Layer.WORKING)
    tell(memory, "Berth 2 is taken")
    memory.archive([tell(memory, "Berth 3 is taken")])
    assert listed(memory, expired=True) == []
    wall.forward(days=1)
    assert passing not in listed(memory)
    assert listed(memory, expired=True) == [passing]
    assert memory.list_(expired=True, project="elsewhere").total == 1
    with pytest.raises(Usage, match="expired goes with no status, valid-at or known-at"):
        memory.list_(expired=True, status=[Status.ARCHIVED])
    with pytest.raises(Usage, match="expired goes with no status, valid-at or known-at"):
        memory.list_(expired=True, known_at="2026-05-10")


def test_filters_hold_together_and_for_earlier_days(memory: Service, wall: WallClock) -> None:
    old = memory.observe("Ana", "She drinks tea", type="person", source="standup")
    memory.observe("Ana", "She sails", source="letter")
    wall.forward(days=10)
    memory.supersede([str(old.id)], content="She drinks coffee")
    kinds = [Kind.OBSERVATION]
    assert [one.content for one in memory.list_(entity="Ana", kind=kinds, source="standup").memories] == [
        "She drinks coffee"
    ]
    then = memory.list_(entity="Ana", kind=kinds, source="standup", known_at="2026-05-11")
    assert [one.content for one in then.memories] == ["She drinks tea"]
    assert memory.list_(entity="Ana", kind=[Kind.LEARNING]).total == 0
