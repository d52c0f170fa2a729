"""Superseding, archiving and restoring: what holds is found, what does not stays out and says why."""

from pathlib import Path

import pytest
from telling import everything, get, live, rows, tell
from wall_clock import WallClock

from mem.errors import MemError, NotFound, Refused, Usage
from mem.service import Service
from mem.values import Kind, Layer, Status


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


def interval(memory: Service, id_: str) -> tuple[str | None, str | None]:
    found = get(memory, id_)
    return found.valid_from, found.valid_to


# Supersede


def test_a_new_text_replaces_the_old_one_and_both_are_linked(memory: Service, wall: WallClock) -> None:
    old = tell(
        memory, "The API listens on port 80", project="shop", importance=8, tag=["api"], source="README"
    )
    changed = memory.supersede([old], content="The API listens on port 81", reason="new ingress")
    before, after = changed.memories
    assert (changed.action, changed.vector, str(before.id)) == ("superseded", "stored", old)
    assert (before.status, before.status_reason, before.superseded_by) == (
        Status.SUPERSEDED,
        "new ingress",
        after.id,
    )
    assert (after.status, after.superseded_by, after.content) == (
        Status.ACTIVE,
        None,
        "The API listens on port 81",
    )
    assert (after.project, after.importance, after.tags, after.source) == ("shop", 8, ("api",), "README")
    assert [hit.memory.id for hit in memory.recall("API port", project="shop").hits] == [after.id]
    assert live(memory) == {"The API listens on port 81"}
    assert memory.history(str(after.id)).chain == (before.id, after.id)


def test_one_text_replaces_several(memory: Service) -> None:
    olds = [tell(memory, f"Team {name} deploys on its own") for name in ("red", "green", "blue")]
    changed = memory.supersede([*olds, olds[0]], content="All teams deploy through the pipeline")
    *before, after = changed.memories
    assert [str(old.id) for old in before] == olds
    assert {old.superseded_by for old in before} == {after.id}
    assert live(memory) == {"All teams deploy through the pipeline"}


def test_an_existing_memory_replaces_another(memory: Service) -> None:
    old = tell(memory, "The API listens on port 80")
    new = tell(memory, "The API listens on port 81")
    memory.supersede([old], by=new)
    assert str(get(memory, old).superseded_by) == new
    assert live(memory) == {"The API listens on port 81"}


def test_a_new_text_that_is_known_already_replaces_as_that_memory(memory: Service) -> None:
    old = tell(memory, "The API listens on port 80")
    new = tell(memory, "The API listens on port 81")
    memory.supersede([old], content="the api listens on port 81.")
    assert str(get(memory, old).superseded_by) == new
    assert len(everything(memory)) == 2


def test_store_with_supersedes_replaces_in_one_step(memory: Service, home: Path) -> None:
    olds = [tell(memory, "The API listens on port 80"), tell(memory, "The API listens on port 8080")]
    before = len(rows(home, "events"))
    stored = memory.store("The API listens on port 81", supersedes=olds)
    assert (stored.action, [str(old) for old in stored.superseded]) == ("added", olds)
    assert {get(memory, old).superseded_by for old in olds} == {stored.id}
    assert len(rows(home, "events")) == before + 1
    assert stored.warnings == ()


@pytest.mark.parametrize(
    ("old", "new", "valid_to", "closed"),
    [
        # As it is said; else where the successor begins; else when that was recorded.
        ((None, None), None, "2026-04-02T00:00:00Z", (None, "2026-04-02T00:00:00.000000Z")),
        ((None, None), "2026-04-01T00:00:00Z", None, (None, "2026-04-01T00:00:00.000000Z")),
        ((None, None), None, None, (None, "recorded")),
        (
            ("2026-03-01T00:00:00Z", None),
            "2026-04-01T00:00:00Z",
            "2026-04-02T00:00:00Z",
            ("2026-03-01T00:00:00.000000Z", "2026-04-02T00:00:00.000000Z"),
        ),
        # What had ended before is not lengthened, but by a word.
        (
            (None, "2026-03-15T00:00:00Z"),
            "2026-04-01T00:00:00Z",
            None,
            (None, "2026-03-15T00:00:00.000000Z"),
        ),
        (
            (None, "2026-03-15T00:00:00Z"),
            None,
            "2026-04-02T00:00:00Z",
            (None, "2026-04-02T00:00:00.000000Z"),
        ),
        # What is replaced from before its beginning never held.
        (
            ("2026-03-01T00:00:00Z", None),
            "2026-02-01T00:00:00Z",
            None,
            ("2026-03-01T00:00:00.000000Z", "2026-03-01T00:00:00.000000Z"),
        ),
    ],
)
def test_the_old_interval_closes_where_the_new_one_begins(
    memory: Service,
    wall: WallClock,
    old: tuple[str | None, str | None],
    new: str | None,
    valid_to: str | None,
    closed: tuple[str | None, str],
) -> None:
    first = tell(memory, "The API listens on port 80", valid_from=old[0], valid_to=old[1])
    wall.forward(days=1)
    changed = memory.supersede(
        [first], content="The API listens on port 81", valid_from=new, valid_to=valid_to
    )
    expected = tuple(changed.memories[1].recorded_at if edge == "recorded" else edge for edge in closed)
    assert interval(memory, first) == expected
    assert changed.memories[1].valid_to is None


def test_an_existing_successor_closes_the_old_interval_when_it_was_recorded(
    memory: Service, wall: WallClock
) -> None:
    old = tell(memory, "The API listens on port 80")
    wall.forward(days=3)
    new = tell(memory, "The API listens on port 81")
    wall.forward(days=3)
    memory.supersede([old], by=new)
    assert interval(memory, old) == (None, get(memory, new).recorded_at)


def test_an_interval_cannot_be_closed_before_it_began(memory: Service) -> None:
    old = tell(memory, "The API listens on port 80", valid_from="2026-03-01T00:00:00Z")
    for closing in ("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"):
        with pytest.raises(Usage, match=f"#{old} holds since 2026-03-01"):
            memory.supersede([old], ended=True, valid_to=closing)
    assert live(memory) == {"The API listens on port 80"}


def test_a_successor_lives_as_long_as_its_layer_from_now(memory: Service, wall: WallClock) -> None:
    old = tell(memory, "The build is red", layer=Layer.WORKING)
    wall.forward(hours=5)
    new = memory.supersede([old], content="The build is green").memories[1]
    assert (new.expires_at or "") > "2026-05-10T19:00:00"


def test_what_ended_is_out_and_may_be_told_again_later(memory: Service, wall: WallClock) -> None:
    first = tell(memory, "The office is closed")
    changed = memory.supersede([first], ended=True, reason="holidays are over")
    (ended,) = changed.memories
    assert (changed.action, ended.status, ended.status_reason, ended.superseded_by) == (
        "ended",
        Status.SUPERSEDED,
        "ended",
        None,
    )
    assert ended.valid_to == ended.status_at
    assert live(memory) == set()
    assert memory.recall("office").hits == ()
    wall.forward(days=200)
    second = tell(memory, "The office is closed")
    assert second != first
    assert live(memory) == {"The office is closed"}
    assert memory.history(first).changes[-1].reason == "holidays are over"


def test_ended_takes_a_time_of_its_own(memory: Service) -> None:
    old = tell(memory, "The office is closed", valid_from="2026-01-01T00:00:00Z")
    memory.supersede([old], ended=True, valid_to="2026-02-01T00:00:00Z")
    assert interval(memory, old) == ("2026-01-01T00:00:00.000000Z", "2026-02-01T00:00:00.000000Z")


def test_what_was_replaced_by_something_that_ended_may_be_told_again(memory: Service) -> None:
    first = tell(memory, "The API listens on port 80")
    second = memory.supersede([first], content="The API listens on port 81").memories[1]
    memory.supersede([str(second.id)], ended=True)
    tell(memory, "The API listens on port 80")
    assert live(memory) == {"The API listens on port 80"}


def refusals(memory: Service) -> dict[str, tuple[list[str], dict[str, object], type[MemError], str]]:
    """Every supersede that must change nothing: ids, arguments, the error and a part of its message."""
    one, two = tell(memory, "One"), tell(memory, "Two")
    summary = tell(memory, "A summary", kind=Kind.SUMMARY)
    archived = tell(memory, "Archived")
    memory.archive([archived])
    replaced = tell(memory, "Replaced")
    successor = str(memory.supersede([replaced], content="Its successor").memories[1].id)
    ended = tell(memory, "Ended")
    memory.supersede([ended], ended=True)
    return {
        "itself": ([one], {"by": one}, Refused, "itself"),
        "itself by its own text": ([one], {"content": "one."}, Refused, "itself"),
        "itself among others": ([two, one], {"by": one}, Refused, "itself"),
        "a cycle": ([successor], {"by": replaced}, Refused, "superseded"),
        "a second successor": ([one, replaced], {"by": two}, Refused, f"#{replaced} is superseded by"),
        "a second end": ([one, ended], {"ended": True}, Refused, f"#{ended} is superseded"),
        "another kind": ([one, summary], {"by": two}, Refused, "summary"),
        "an archived memory": ([one, archived], {"content": "New"}, Refused, f"#{archived} is archived"),
        "an archived end": ([one, archived], {"ended": True}, Refused, f"#{archived} is archived"),
        "by an archived memory": ([one], {"by": archived}, Refused, f"#{archived} is archived"),
        "by an archived text": ([one], {"content": "Archived"}, Refused, f"#{archived} was archived"),
        "an unknown id": ([one, "999"], {"content": "New"}, NotFound, "999"),
        "by an unknown id": ([one], {"by": "999"}, NotFound, "999"),
        "no id at all": (["nonsense!"], {"content": "New"}, Usage, "nonsense!"),
        "nothing": ([one], {}, Usage, "none"),
        "two ways": ([one], {"content": "New", "ended": True}, Usage, "content and ended"),
        "a blank text": ([one], {"content": "  "}, Usage, "empty"),
        "no memory": ([], {"content": "New"}, Usage, "no memory"),
    }


def test_a_supersede_that_cannot_be_changes_nothing(memory: Service, home: Path) -> None:
    before_all = refusals(memory)
    assert len(before_all) == 18
    before, count = everything(memory), len(rows(home, "events"))
    for name, (ids, arguments, error, part) in before_all.items():
        with pytest.raises(error) as caught:
            memory.supersede(ids, **arguments)  # type: ignore[arg-type]
        assert part in str(caught.value), name
        assert (everything(memory), len(rows(home, "events"))) == (before, count), name
    assert memory.doctor().sound


def test_store_with_supersedes_is_refused_alike(memory: Service, home: Path) -> None:
    one, summary = tell(memory, "One"), tell(memory, "A summary", kind=Kind.SUMMARY)
    before, count = everything(memory), len(rows(home, "events"))
    for ids, text, error in (
        ([one, summary], "New", Refused),
        ([one], "ONE", Refused),
        ([one, "99"], "New", NotFound),
    ):
        with pytest.raises(error):
            memory.store(text, supersedes=ids)
        assert (everything(memory), len(rows(home, "events"))) == (before, count)


# What a successor leaves out


def lost(memory: Service, old: str, new: str) -> str:
    id_ = tell(memory, old)
    changed = memory.supersede([id_], content=new)
    memory.archive([str(changed.memories[1].id)])
    dropped = [notice for notice in changed.warnings if notice.code == "dropped"]
    assert all(notice.ids == (int(id_),) for notice in dropped)
    return dropped[0].message if dropped else ""


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("The docs are at https://docs.example.org/api.", "The docs moved", "https://docs.example.org/api"),
        ("Logs lie in /var/log/mem/ now", "Logs are rotated now", "/var/log/mem"),
        ("Settings lie in ~/.config/mem", "Settings lie elsewhere", "~/.config/mem"),
        ("Look into src/store/connect.py first", "Look into the store first", "src/store/connect.py"),
        ("The tool lies in C:\\new\\bin", "The tool was moved", "C:\\new\\bin"),
        ("We run version v2.4.1 of it", "We run a new version of it", "v2.4.1"),
        ("We run v2.4 of it", "We run v2.4.1 of it", "v2.4"),
        ("Call recallMemory() first", "Call the search first", "recallMemory"),
        ("Set MEM_DB_PATH first", "Set the path first", "MEM_DB_PATH"),
        ("Deploys are done by Grace", "Deploys are done by someone else", "Grace"),
        ("Das Haus steht in München", "Das Haus steht woanders", "München"),
        ("我们用Redis做缓存", "我们不用缓存", "Redis"),
    ],
)
def test_what_a_successor_no_longer_names_is_reported(
    memory: Service, old: str, new: str, named: str
) -> None:
    assert f"named {named};" in lost(memory, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The docs are at https://docs.example.org/api.", "See https://docs.example.org/api for the docs"),
        ("Logs lie in /var/log/mem.", "The folder /var/log/mem holds the logs"),
        ("Deploys are done by Grace", "It is grace who deploys"),
        ("我们用Redis做缓存", "缓存现在由Redis集群提供"),
        ("Nothing of note here", "All is well"),
    ],
)
def test_what_a_successor_still_names_is_not_reported(memory: Service, old: str, new: str) -> None:
    assert lost(memory, old, new) == ""


def test_a_store_that_supersedes_reports_what_it_drops(memory: Service) -> None:
    old = tell(memory, "The docs are at https://docs.example.org")
    stored = memory.store("The docs moved", supersedes=[old])
    assert [notice.code for notice in stored.warnings] == ["dropped"]


# Archive and restore


def test_an_archived_memory_is_out_and_comes_back(memory: Service) -> None:
    id_ = tell(memory, "The API listens on port 80")
    archived = memory.archive([id_], reason="the service was shut down")
    assert (archived.action, archived.memories[0].status) == ("archived", Status.ARCHIVED)
    assert archived.memories[0].status_reason == "the service was shut down"
    assert live(memory) == set()
    assert memory.recall("API port").hits == ()
    assert [hit.memory.status for hit in memory.recall("API port", status=[Status.ARCHIVED]).hits] == [
        Status.ARCHIVED
    ]
    restored = memory.restore([id_], reason="it is back")
    assert (restored.action, restored.memories[0].status, restored.vector) == (
        "restored",
        Status.ACTIVE,
        "stored",
    )
    assert [str(hit.memory.id) for hit in memory.recall("API port").hits] == [id_]
    reasons = [change.reason for change in memory.history(id_).changes]
    assert reasons == [None, "the service was shut down", "it is back"]


def test_archive_and_restore_are_all_or_nothing(memory: Service) -> None:
    one, two = tell(memory, "One"), tell(memory, "Two")
    memory.supersede([two], ended=True)
    before = everything(memory)
    with pytest.raises(Refused, match=f"#{two} is superseded"):
        memory.archive([one, two])
    with pytest.raises(NotFound):
        memory.archive([one, "999"])
    with pytest.raises(Refused, match=f"#{two} is superseded"):
        memory.restore([one, two])
    assert everything(memory) == before


def test_a_memory_whose_text_lives_on_under_another_id_is_not_restored(memory: Service) -> None:
    first = tell(memory, "The API listens on port 80")
    memory.archive([first])
    other = tell(memory, "The API listens on port 82")
    memory.update(other, content="The API listens on port 81")
    memory.update(first, content="The API listens on port 81.")
    with pytest.raises(Refused, match=f"#{other} says this already"):
        memory.restore([first])
    assert live(memory) == {"The API listens on port 81"}


def test_a_memory_restored_after_its_time_gets_a_new_one(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The build is red", layer=Layer.WORKING)
    memory.archive([id_])
    wall.forward(days=2)
    memory.restore([id_])
    assert live(memory) == {"The build is red"}
    wall.forward(hours=7)
    assert live(memory) == set()
