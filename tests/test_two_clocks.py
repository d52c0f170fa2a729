"""When a fact held, and when we believed it: neither clock's answers are ever rewritten."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from telling import everything, get, live, tell
from wall_clock import WallClock

from mem import clock
from mem.caller import Caller
from mem.embed import Embedder
from mem.errors import MemError, NotFound
from mem.service import Service
from mem.store.connect import Store
from mem.truth.drafts import Clearable
from mem.values import Actor, ActorKind, Fusion, Kind, Layer, Memory, Mode, Status

MARCH, APRIL = "2026-03-15T12:00:00Z", "2026-04-15T12:00:00Z"
BEFORE, AFTER = "2026-05-10T07:59:00Z", "2026-05-10T08:01:00Z"


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-03-01T09:00:00Z")


@pytest.fixture
def eastern(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine three hours east of Greenwich."""
    import time

    with monkeypatch.context() as patched:
        patched.setenv("TZ", "XXX-3")
        time.tzset()
        yield
    time.tzset()


def answers(memory: Service, ids: list[str], **moment: Any) -> set[str]:
    """What holds at a moment: the same by list, by get, and by recall in every mode."""
    listed = {found.content for found in memory.list_(**moment).memories}
    got = set()
    for id_ in ids:
        try:
            got.add(memory.get([id_], **moment).memories[0].content)
        except NotFound:
            continue
    assert got == listed
    for mode in Mode:
        recalled = memory.recall("which port does the API use", mode=mode, **moment)
        assert {hit.memory.content for hit in recalled.hits} == listed, mode
    return listed


# On 1 March we learn that the port is 80; on 10 May, that it is 81 since 1 April.
PORTS: list[tuple[dict[str, str], int | None]] = [
    ({"valid_at": MARCH, "known_at": BEFORE}, 80),
    ({"valid_at": APRIL, "known_at": BEFORE}, 80),
    ({"valid_at": MARCH, "known_at": AFTER}, 80),
    ({"valid_at": APRIL, "known_at": AFTER}, 81),
    ({"valid_at": MARCH}, 80),
    ({"valid_at": APRIL}, 81),
    ({"known_at": BEFORE}, 80),
    ({"known_at": AFTER}, 81),
    ({}, 81),
    ({"valid_at": "2026-02-15T12:00:00Z"}, None),
    ({"known_at": "2026-02-15T12:00:00Z"}, None),
    ({"valid_at": APRIL, "known_at": "2026-02-15T12:00:00Z"}, None),
    # Intervals are half-open, to the microsecond.
    ({"valid_at": "2026-03-31T23:59:59.999999Z"}, 80),
    ({"valid_at": "2026-04-01T00:00:00Z"}, 81),
    ({"valid_at": "2026-03-01T00:00:00Z"}, 80),
    ({"valid_at": "2026-02-28T23:59:59.999999Z"}, None),
]


@pytest.mark.parametrize("kind", list(Kind))
def test_the_port_changed_before_we_knew(memory: Service, wall: WallClock, kind: Kind) -> None:
    title = "Port of the API" if kind is Kind.DECISION else None
    first = tell(memory, "The API uses port 80", kind=kind, title=title, valid_from="2026-03-01T00:00:00Z")
    wall.set("2026-05-10T08:00:00Z")
    changed = memory.supersede([first], content="The API uses port 81", valid_from="2026-04-01T00:00:00Z")
    wall.set("2026-05-20T08:00:00Z")
    second = str(changed.memories[1].id)
    for moment, port in PORTS:
        expected = {f"The API uses port {port}"} if port else set()
        # Without a clock, get shows what is asked for, whatever holds.
        ids = [first, second] if moment else [second]
        assert answers(memory, ids, **moment) == expected, moment


def test_both_clocks_meet_in_store_with_supersedes(memory: Service, wall: WallClock) -> None:
    first = tell(memory, "The API uses port 80", valid_from="2026-03-01T00:00:00Z")
    wall.set("2026-05-10T08:00:00Z")
    second = tell(memory, "The API uses port 81", supersedes=[first], valid_from="2026-04-01T00:00:00Z")
    seen = [
        answers(memory, [first, second], valid_at=valid_at, known_at=known_at)
        for known_at in (BEFORE, AFTER)
        for valid_at in (MARCH, APRIL)
    ]
    assert seen == [{f"The API uses port {port}"} for port in (80, 80, 80, 81)]


def test_a_corrected_slip_is_still_what_we_believed(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API uses port 8O")
    wall.set("2026-05-10T08:00:00Z")
    corrected = memory.update(id_, content="The API uses port 80").memories[0]
    wall.set("2026-05-20T08:00:00Z")
    assert answers(memory, [id_], known_at=BEFORE) == {"The API uses port 8O"}
    assert answers(memory, [id_], known_at=AFTER) == {"The API uses port 80"}
    assert answers(memory, [id_], valid_at=MARCH) == {"The API uses port 80"}
    # A version ends exactly where the next begins.
    assert answers(memory, [id_], known_at=corrected.changed_at) == {"The API uses port 80"}
    just_before = clock.to_text(clock.from_text(corrected.changed_at) - clock.MICROSECOND)
    assert answers(memory, [id_], known_at=just_before) == {"The API uses port 8O"}
    assert answers(memory, [id_], known_at=BEFORE, valid_at=AFTER) == {"The API uses port 8O"}


def test_what_is_archived_now_was_believed_then_and_is_marked(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API uses port 80")
    wall.set("2026-05-10T08:00:00Z")
    memory.archive([id_], reason="shut down")
    assert live(memory) == set()
    assert [found.status for found in memory.list_(known_at=BEFORE).memories] == [Status.ACTIVE]
    assert [found.status for found in memory.list_(known_at=AFTER).memories] == [Status.ARCHIVED]
    assert [hit.memory.status for hit in memory.recall("API port", valid_at=MARCH).hits] == [Status.ARCHIVED]
    assert memory.list_(known_at=AFTER, status=[Status.ACTIVE]).total == 0


def test_a_moved_memory_was_believed_where_it_was(memory: Service, wall: WallClock) -> None:
    tell(memory, "The API uses port 80", project="shop")
    wall.set("2026-05-10T08:00:00Z")
    memory.update("1", project="blog")
    for project, moment, total in (
        ("shop", BEFORE, 1),
        ("shop", AFTER, 0),
        ("blog", BEFORE, 0),
        ("blog", AFTER, 1),
    ):
        assert memory.list_(project=project, known_at=moment).total == total
        assert len(memory.recall("API port", project=project, known_at=moment).hits) == total


def test_what_had_expired_by_then_is_not_believed(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API uses port 80", layer=Layer.WORKING)
    wall.set("2026-05-10T08:00:00Z")
    assert answers(memory, [id_], known_at="2026-03-01T14:00:00Z") == {"The API uses port 80"}
    assert answers(memory, [id_], known_at="2026-03-01T16:00:00Z") == set()


def test_known_at_alone_asks_what_was_believed_to_hold_then(memory: Service, wall: WallClock) -> None:
    first = tell(memory, "The API uses port 80", valid_to="2026-03-10T00:00:00Z")
    second = tell(memory, "The API uses port 81", valid_from="2026-03-10T00:00:00Z")
    wall.set("2026-05-10T08:00:00Z")
    ids = [first, second]
    assert answers(memory, ids, known_at="2026-03-02T00:00:00Z") == {"The API uses port 80"}
    assert answers(memory, ids, known_at="2026-03-12T00:00:00Z") == {"The API uses port 81"}
    believed_to_come = answers(memory, ids, known_at="2026-03-02T00:00:00Z", valid_at=APRIL)
    assert believed_to_come == {"The API uses port 81"}


def test_without_a_clock_what_has_ended_or_not_begun_stays_out(memory: Service, wall: WallClock) -> None:
    tell(memory, "The API uses port 80", valid_to="2026-03-10T00:00:00Z")
    tell(memory, "The API uses port 81", valid_from="2026-03-10T00:00:00Z", valid_to="2026-03-20T00:00:00Z")
    tell(memory, "The API uses port 82", valid_from="2026-03-20T00:00:00Z")
    for day, port in (("2026-03-09", 80), ("2026-03-11", 81), ("2026-03-21", 82)):
        wall.set(f"{day}T12:00:00Z")
        expected = {f"The API uses port {port}"}
        assert live(memory) == expected
        for mode in Mode:
            assert {hit.memory.content for hit in memory.recall("API port", mode=mode).hits} == expected
    assert {found.status for found in everything(memory)} == {Status.ACTIVE}


def test_a_day_is_a_local_day(memory: Service, wall: WallClock, eastern: None) -> None:
    first = tell(memory, "The API uses port 80", valid_to="2026-03-31")
    second = tell(memory, "The API uses port 81", valid_from="2026-04-01")
    assert get(memory, first).valid_to == get(memory, second).valid_from == "2026-03-31T21:00:00.000000Z"
    assert answers(memory, [first, second], valid_at="2026-03-31") == {"The API uses port 80"}
    assert answers(memory, [first, second], valid_at="2026-04-01") == {"The API uses port 81"}
    assert answers(memory, [first, second], valid_at="2026-03-31T23:59:59+03:00") == {"The API uses port 80"}
    # Known at a day means at its last instant.
    assert answers(memory, [first, second], known_at="2026-02-28") == set()
    assert answers(memory, [first, second], known_at="2026-03-01") == {"The API uses port 80"}


# Whatever happens later, an earlier answer stays

TEXTS = ["The API uses port 80", "The API uses port 81", "The worker uses port 90", "Cats sleep all day"]
steps = st.tuples(
    st.sampled_from(
        ["store", "reword", "weigh", "move", "replace", "replace by", "end", "archive", "restore", "restate"]
    ),
    st.integers(0, 5),
    st.sampled_from(TEXTS),
)


def take(memory: Service, step: tuple[str, int, str], number: int) -> None:
    """Take one step; one that a rule refuses changes nothing, which is as good."""
    name, place, text = step
    ids = [str(found.id) for found in everything(memory)]
    id_ = ids[place % len(ids)] if ids else "1"
    fresh = f"{text} by rule {number}"
    try:
        match name:
            case "store":
                memory.store(fresh, valid_from="2026-02-01T00:00:00Z", tag=["t"])
            case "restate":
                memory.store(text, tag=[f"t{number}"])
            case "reword":
                memory.update(id_, content=fresh)
            case "weigh":
                memory.update(id_, importance=number % 10, clear=[Clearable.VALID_FROM])
            case "move":
                memory.update(id_, project="shop")
            case "replace":
                memory.supersede([id_], content=fresh, valid_from="2026-02-15T00:00:00Z")
            case "replace by":
                memory.supersede([id_], by=ids[-1] if ids else "1")
            case "end":
                memory.supersede([id_], ended=True)
            case "archive":
                memory.archive([id_])
            case "restore":
                memory.restore([id_])
    except MemError:
        pass


def believed(memory: Service, known_at: str) -> list[Any]:
    """All that the store answers about what was believed at a moment."""
    seen: list[Any] = []
    for moment in ({}, {"valid_at": "2026-02-10T00:00:00Z"}, {"valid_at": "2026-02-20T00:00:00Z"}):
        clocks: dict[str, Any] = {"known_at": known_at, "all_projects": True, **moment}
        listed = memory.list_(limit=1000, **clocks)
        seen.append(listed)
        seen.append([one(memory, found, known_at, **moment) for found in listed.memories])
        for mode, fusion in (
            (Mode.HYBRID, Fusion.CONVEX),
            (Mode.LEXICAL, Fusion.RRF),
            (Mode.VECTOR, Fusion.CONVEX),
        ):
            recalled = memory.recall("API port", mode=mode, fusion=fusion, **clocks)
            seen.append([(hit.memory, round(hit.score, 9)) for hit in recalled.hits])
            seen.append(round(recalled.confidence, 9))
    return seen


def one(memory: Service, found: Memory, known_at: str, **moment: Any) -> Memory:
    return memory.get([found.uid], known_at=known_at, **moment).memories[0]


@settings(
    max_examples=8,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(steps, min_size=2, max_size=9))
def test_later_operations_never_change_an_earlier_answer(
    home: Path, fake_embedder: Embedder, taken: list[tuple[str, int, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        wall = WallClock(patched, "2026-03-01T09:00:00Z")
        store = Store(Path(folder) / "memory.db")
        memory = Service(store, fake_embedder, Caller(Actor(ActorKind.PERSON), Path(folder)))
        answered = {}
        for number, step in enumerate([("store", 0, TEXTS[0]), *taken]):
            take(memory, step, number)
            moment = wall.forward(hours=1)
            wall.forward(hours=1)
            answered[moment] = believed(memory, moment)
        for moment, before in answered.items():
            assert believed(memory, moment) == before
        assert memory.doctor().sound
        store.close()


def test_what_is_replaced_from_a_later_day_holds_until_then(memory: Service, wall: WallClock) -> None:
    def now() -> tuple[set[str], set[str]]:
        recalled = memory.recall("which port does the API use").hits
        return {found.content for found in memory.list_().memories}, {hit.memory.content for hit in recalled}

    old = tell(memory, "The API listens on port 80")
    memory.supersede([old], content="The API listens on port 81", valid_from="2026-03-11T00:00:00Z")
    new = get(memory, old).superseded_by
    assert now() == ({"The API listens on port 80"}, {"The API listens on port 80"})
    with pytest.raises(MemError, match=f"superseded by #{new} already"):
        memory.supersede([old], content="The API listens on port 82")
    wall.forward(days=20)
    assert now() == ({"The API listens on port 81"}, {"The API listens on port 81"})
    told = memory.store("The API listens on port 80")
    assert (told.action, told.refusal and told.refusal.code) == ("refused", "superseded")


@pytest.mark.parametrize("argument", ["valid_at", "known_at", "since", "until"])
def test_an_empty_time_is_refused_and_not_taken_for_none(memory: Service, argument: str) -> None:
    with pytest.raises(MemError, match="'' is not a date or time"):
        memory.list_(**{argument: ""})  # type: ignore[arg-type]


def test_an_empty_interval_is_refused_and_nothing_is_stored(memory: Service) -> None:
    with pytest.raises(MemError, match="valid-from '' is not a date or time"):
        memory.store("The API listens on port 80", valid_from="")
    assert memory.list_().total == 0
