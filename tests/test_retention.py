"""Retention: promotion, expiry, decay and the cold pool."""

from datetime import timedelta
from typing import Any

import pytest
from telling import get, live, tell
from wall_clock import WallClock

from mem.errors import Usage
from mem.results import Promotion
from mem.service import Service
from mem.truth.retention import decay, earned_layer
from mem.values import Kind, Layer, Status

START = "2026-05-10T08:00:00Z"


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, START)


def recall(memory: Service, query: str, times: int) -> None:
    for _ in range(times):
        assert memory.recall(query).hits


# Promotion


@pytest.mark.parametrize(
    ("layer", "importance", "recalls", "earned"),
    [
        (Layer.WORKING, 6, 2, Layer.WORKING),
        (Layer.WORKING, 6, 3, Layer.SHORT_TERM),
        (Layer.WORKING, 7, 0, Layer.SHORT_TERM),
        (Layer.WORKING, 0, 8, Layer.LONG_TERM),
        (Layer.WORKING, 8, 0, Layer.LONG_TERM),
        (Layer.SHORT_TERM, 7, 7, Layer.SHORT_TERM),
        (Layer.SHORT_TERM, 0, 8, Layer.LONG_TERM),
        (Layer.SHORT_TERM, 8, 0, Layer.LONG_TERM),
        (Layer.LONG_TERM, 10, 99, Layer.LONG_TERM),
        (Layer.PERMANENT, 10, 99, Layer.PERMANENT),
    ],
)
def test_a_layer_is_earned_by_use_or_importance(
    layer: Layer, importance: int, recalls: int, earned: Layer
) -> None:
    assert earned_layer(layer, importance, recalls) is earned
    assert earned_layer(earned, importance, recalls) is earned  # so a second run finds nothing


def test_what_is_recalled_is_promoted_and_lives_longer(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The heron nests in the reeds", layer=Layer.WORKING)
    wall.forward(hours=5)
    recall(memory, "heron reeds", 3)
    assert memory.maintain().promoted == (Promotion(int(id_), Layer.WORKING, Layer.SHORT_TERM),)
    found = get(memory, id_)
    assert (found.layer, (found.expires_at or "")[:13]) == (Layer.SHORT_TERM, "2026-05-17T13")
    wall.forward(days=6)
    recall(memory, "heron reeds", 5)
    assert memory.maintain().promoted == (Promotion(int(id_), Layer.SHORT_TERM, Layer.LONG_TERM),)
    assert (get(memory, id_).layer, get(memory, id_).expires_at) == (Layer.LONG_TERM, None)
    wall.forward(days=900)
    assert memory.recall("heron reeds").hits


def test_what_matters_is_promoted_without_being_recalled(memory: Service) -> None:
    seven = tell(memory, "The sluice is opened by hand", layer=Layer.WORKING, importance=7)
    eight = tell(memory, "The dyke is walked every night", layer=Layer.WORKING, importance=8)
    assert memory.maintain().promoted == (
        Promotion(int(seven), Layer.WORKING, Layer.SHORT_TERM),
        Promotion(int(eight), Layer.WORKING, Layer.LONG_TERM),
    )


def test_an_expiry_that_somebody_chose_outlives_a_promotion(memory: Service, wall: WallClock) -> None:
    chosen = tell(memory, "The guest leaves tomorrow", layer=Layer.WORKING, expires="1d", importance=8)
    own = tell(memory, "The guest likes tea", layer=Layer.WORKING, importance=8)
    assert memory.update(own, layer=Layer.SHORT_TERM).memories
    expires_at = get(memory, chosen).expires_at
    assert len(memory.maintain().promoted) == 2
    assert (get(memory, chosen).layer, get(memory, chosen).expires_at) == (Layer.LONG_TERM, expires_at)
    assert (get(memory, own).layer, get(memory, own).expires_at) == (Layer.LONG_TERM, None)
    wall.forward(days=2)
    assert memory.maintain().expired == (int(chosen),)


# Expiry


def test_an_expired_memory_is_archived_with_its_reason_and_a_permanent_one_never(
    memory: Service, wall: WallClock
) -> None:
    gone = tell(memory, "The kettle is on", layer=Layer.WORKING)
    week = tell(memory, "The kettle is lent out", layer=Layer.SHORT_TERM)
    kept = tell(memory, "The kettle is copper", layer=Layer.PERMANENT)
    wall.forward(hours=7)
    assert memory.maintain().expired == (int(gone),)
    assert (get(memory, gone).status, get(memory, gone).status_reason) == (Status.ARCHIVED, "expired")
    wall.forward(days=4000)
    assert memory.maintain().expired == (int(week),)
    assert live(memory) == {get(memory, kept).content}


def test_what_has_expired_is_archived_and_not_promoted(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The lamp is lit", layer=Layer.WORKING, importance=9)
    recall(memory, "lamp lit", 9)
    wall.forward(hours=6)
    done = memory.maintain()
    assert (done.expired, done.promoted) == ((int(id_),), ())


def expired_id(memory: Service, wall: WallClock) -> str:
    id_ = tell(memory, "The ferry is late today", layer=Layer.WORKING, kind=Kind.SUMMARY, importance=9)
    assert memory.recall("ferry late").hits and memory.context().items
    wall.forward(hours=6)
    return id_


@pytest.mark.parametrize("maintained", [False, True])
def test_no_read_returns_what_has_expired_whether_or_not_upkeep_ran(
    memory: Service, wall: WallClock, maintained: bool
) -> None:
    id_ = expired_id(memory, wall)
    if maintained:
        assert memory.maintain().expired == (int(id_),)
    now = wall.forward()
    assert memory.recall("ferry late", surface=3).hits == ()
    assert memory.list_().memories == ()
    assert (memory.context().items, memory.context("ferry late").items) == ((), ())
    assert memory.session_start().context.items == ()
    for clocks in ({"valid_at": now}, {"known_at": now}, {"valid_at": now, "known_at": now}):
        # What was archived since is shown with its status to who asks what was believed.
        assert all(hit.memory.status != "active" for hit in memory.recall("ferry late", **clocks).hits)
        assert all(found.status != "active" for found in memory.list_(**clocks).memories)
    earlier = {"known_at": START}
    assert memory.recall("ferry late", **earlier).hits == ()
    assert memory.list_(known_at="2026-05-10T09:00:00Z").memories[0].id == int(id_)
    counted = memory.stats()
    assert (counted.by_kind, counted.by_status) == ({}, {"archived" if maintained else "expired": 1})


def test_get_tells_that_a_memory_has_expired(memory: Service, wall: WallClock) -> None:
    id_ = expired_id(memory, wall)
    (told,) = memory.get([id_]).warnings
    assert (told.code, told.ids) == ("expired", (int(id_),))
    assert f"mem restore {id_}" in told.message
    assert memory.restore([id_]).memories[0].status == "active"
    assert memory.get([id_]).warnings == ()


@pytest.mark.parametrize("maintained", [False, True])
def test_restating_revives_and_restoring_renews(memory: Service, wall: WallClock, maintained: bool) -> None:
    id_ = expired_id(memory, wall)
    if maintained:
        assert memory.maintain().expired == (int(id_),)
    assert memory.restore([id_]).memories[0].id == int(id_)
    assert (get(memory, id_).expires_at or "")[:13] == "2026-05-10T20"
    assert memory.recall("ferry late").hits
    wall.forward(hours=6)
    if maintained:
        assert memory.maintain().expired == (int(id_),)
    again = memory.store("the ferry is late today.", kind=Kind.SUMMARY, layer=Layer.SHORT_TERM)
    assert (again.action, again.id) == ("revived", int(id_))
    assert memory.recall("ferry late").hits
    assert (get(memory, id_).expires_at or "")[:10] == "2026-05-17"


def test_another_layer_brings_its_own_lifetime(memory: Service, wall: WallClock) -> None:
    id_ = expired_id(memory, wall)
    assert (memory.update(id_, layer=Layer.SHORT_TERM).memories[0].expires_at or "")[:10] == "2026-05-17"
    assert memory.recall("ferry late").hits
    assert memory.update(id_, layer=Layer.LONG_TERM).memories[0].expires_at is None


def test_a_superseded_memory_is_left_to_its_successor(memory: Service, wall: WallClock) -> None:
    old = tell(memory, "The toll is two marks", layer=Layer.WORKING)
    assert memory.supersede([old], content="The toll is three marks", valid_from="2026-05-10T09:00:00Z")
    wall.forward(hours=7)
    assert int(old) not in memory.maintain().expired
    again = memory.store("The toll is two marks")
    assert (again.action, again.refusal and again.refusal.code) == ("refused", "superseded")


# Decay and the cold pool


def test_decay_is_a_power_law_that_importance_slows_and_use_lifts() -> None:
    assert decay(5, 0, timedelta()) == 1
    assert decay(0, 0, timedelta(days=1)) == pytest.approx(2**-0.7)
    assert decay(10, 0, timedelta(days=1)) == pytest.approx(2**-0.35)
    assert decay(8, 1, timedelta(days=30)) == pytest.approx(1.3 * 31 ** (-0.7 / 1.8))
    assert (
        decay(8, 10, timedelta(days=99))
        == decay(8, 99, timedelta(days=99))
        == pytest.approx(4 * 100 ** (-0.7 / 1.8))
    )
    assert decay(8, 10, timedelta(days=2)) == 1
    assert decay(8, 0, -timedelta(days=2)) == 1  # a clock that was set back


def cold_ones(memory: Service, wall: WallClock, count: int = 5) -> list[str]:
    """Important memories that were recalled in spring, and by nobody since."""
    ids = [tell(memory, f"Gate number {n} has a hidden key", importance=8) for n in range(count)]
    recall(memory, "gate hidden key", 2)
    wall.forward(days=31)
    return ids


def surfaced(memory: Service, query: str = "weather", **options: Any) -> list[int]:
    answer = memory.recall(query, **options)
    assert all(hit.surfaced == (hit.why == {}) for hit in answer.hits)
    return [hit.memory.id for hit in answer.hits if hit.surfaced]


def test_what_nobody_recalled_for_long_is_surfaced_on_request_only(memory: Service, wall: WallClock) -> None:
    ids = list(map(int, cold_ones(memory, wall)))
    plain = memory.recall("weather")
    assert (plain.hits, plain.total) == ((), 0)
    answer = memory.recall("weather", surface=2)
    assert [(hit.memory.id, hit.surfaced, hit.why) for hit in answer.hits] == [
        (number, True, {}) for number in ids[:2]
    ]
    assert (answer.total, answer.confidence) == (plain.total, plain.confidence)
    # They were handed out, so the next ones follow.
    assert surfaced(memory, surface=3) == ids[2:]
    assert surfaced(memory, surface=3) == []


def test_a_hit_is_not_surfaced_too_and_stands_before_what_is(memory: Service, wall: WallClock) -> None:
    ids = list(map(int, cold_ones(memory, wall)))
    answer = memory.recall("gate number 3 hidden key", limit=1, surface=3)
    assert [hit.surfaced for hit in answer.hits] == [False]  # the others are hits beyond the limit
    tell(memory, "Storks fly over the weir")
    answer = memory.recall("storks weir", surface=1)
    assert [hit.surfaced for hit in answer.hits] == [False, True]
    assert answer.hits[1].memory.id in ids


def test_only_the_important_the_live_and_what_is_in_scope_is_surfaced(
    memory: Service, wall: WallClock
) -> None:
    cold = cold_ones(memory, wall, 1)
    for number, options in enumerate(
        ({"importance": 7}, {"project": "elsewhere"}, {"valid_to": "2026-07-01"}, {"expires": "10d"})
    ):
        tell(memory, f"Bridge number {number} creaks", **{"importance": 10, **options})
    archived = tell(memory, "Bridge number 9 creaks", importance=10)
    recall(memory, "bridge creaks", 2)
    memory.recall("bridge creaks", all_projects=True, limit=50)
    memory.archive([archived])
    fresh = tell(memory, "Tower number 10 leans", importance=10)
    recall(memory, "tower leans", 1)
    wall.forward(days=29)
    assert surfaced(memory, surface=3) == list(map(int, cold))
    wall.forward(days=2)
    assert surfaced(memory, surface=3) == [int(fresh)]
    assert surfaced(memory, surface=3, all_projects=True, kind=[Kind.DECISION]) == []
    assert len(surfaced(memory, surface=3, project="elsewhere")) == 1


def test_what_has_decayed_too_far_stays_down(memory: Service, wall: WallClock) -> None:
    never = tell(memory, "Vault number 1 is empty", importance=9)
    once = tell(memory, "Cellar number 2 is damp", importance=9)
    recall(memory, "cellar damp", 1)
    wall.forward(days=31)
    assert surfaced(memory, surface=3) == [int(once)]
    assert decay(9, 0, timedelta(days=31)) < 0.3 < decay(9, 1, timedelta(days=31))
    assert get(memory, never).status == "active"


def test_surfacing_goes_with_no_other_moment(memory: Service) -> None:
    for options in ({"known_at": "2026-05-01"}, {"valid_at": "2026-05-01"}, {"status": [Status.ARCHIVED]}):
        with pytest.raises(Usage, match="surface"):
            memory.recall("weather", surface=1, **options)


def test_a_surfaced_memory_is_labelled(
    memory: Service, wall: WallClock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mem.cli import render, terminal

    cold_ones(memory, wall, 1)
    answer = memory.recall("weather", surface=1)
    assert render.piped(answer).startswith("1\tsurfaced\tlearning\t")
    assert list(render.beside(answer)) == ["Nothing fits."]
    terminal.show(answer, in_full=False)
    assert "surfaced" in capsys.readouterr().out
    assert '"surfaced":true' in render.piped(answer, as_json=True)
