"""Updating in place: the version is kept, the index follows, and no door is left open; and what an id is."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from telling import everything, get, rows, tell
from wall_clock import WallClock

from mem.embed import EmbeddingError
from mem.errors import MemError, NotFound, Refused, Usage
from mem.service import Service
from mem.truth.drafts import Clearable
from mem.values import Kind, Layer, Mode


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


def test_an_update_changes_what_it_names_and_keeps_the_version(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The API listens on prot 80", importance=4, tag=["api"], source="README")
    between = wall.forward(hours=1)
    wall.forward(hours=1)
    changed = memory.update(id_, content="The API listens on port 80", importance=8, reason="a slip")
    found = changed.memories[0]
    assert (changed.action, changed.vector) == ("updated", "stored")
    assert (found.content, found.importance, found.tags, found.source) == (
        "The API listens on port 80",
        8,
        ("api",),
        "README",
    )
    before = memory.get([id_], known_at=between).memories[0]
    assert (before.content, before.importance) == ("The API listens on prot 80", 4)
    assert memory.history(id_).changes[-1].changed == {
        "content": "The API listens on port 80",
        "importance": 8,
    }


@pytest.mark.parametrize("retire", ["live", "archived", "superseded"])
def test_an_update_refuses_content_that_is_known_elsewhere(memory: Service, retire: str) -> None:
    known = tell(memory, "The API listens on port 80")
    if retire == "archived":
        memory.archive([known])
    if retire == "superseded":
        memory.supersede([known], content="The API listens on port 81")
    other = tell(memory, "The API listens on port 82")
    before = everything(memory)
    with pytest.raises(Refused, match=f"#{known} "):
        memory.update(other, content="the API listens on port 80")
    assert everything(memory) == before


def test_a_move_to_a_project_that_knows_the_text_is_refused(memory: Service) -> None:
    known = tell(memory, "The API listens on port 80", project="shop")
    other = tell(memory, "The API listens on port 80", project="blog")
    with pytest.raises(Refused, match=f"#{known} says this already"):
        memory.update(other, project="shop")
    with pytest.raises(Usage):
        memory.update(other, project="shop", global_=True)
    assert memory.update(other, global_=True).memories[0].project is None
    assert [found.id for found in memory.list_().memories] == [int(other)]
    assert [str(hit.memory.id) for hit in memory.recall("API port").hits] == [other]


def test_a_moved_memory_is_found_where_it_is_now(memory: Service) -> None:
    id_ = tell(memory, "The API listens on port 80")
    memory.update(id_, project="shop")
    for mode in Mode:
        assert memory.recall("API port", mode=mode).hits == ()
        assert len(memory.recall("API port", mode=mode, project="shop").hits) == 1


class Failing:
    """An embedder that knows its name and nothing else."""

    choice = "bundled"
    dimensions = 256
    loaded = False

    def __init__(self, name: str) -> None:
        self.name = name

    def ready(self) -> None:
        raise EmbeddingError("the model is gone")

    def mean(self) -> None:
        """It has no centre."""

    def split(self, text: str) -> list[str]:
        return [text]

    def embed(self, texts: Sequence[str], role: object, *, timeout: float | None = None) -> None:
        raise EmbeddingError("the model is gone")


def test_an_update_that_cannot_be_embedded_leaves_no_old_vector(memory: Service) -> None:
    id_ = tell(memory, "Penguins waddle across the ice")
    tell(memory, "Penguins cannot fly anywhere")
    assert {str(hit.memory.id) for hit in memory.recall("penguins", mode=Mode.VECTOR).hits} == {id_, "2"}
    embedder = memory._vectors.embedder
    assert embedder is not None
    broken = Service(memory._store, Failing(embedder.name), memory._caller)  # type: ignore[arg-type]
    changed = broken.update(id_, content="Lorries queue at the border")
    assert changed.vector == "pending"
    for mode in (Mode.VECTOR, Mode.HYBRID):
        assert [str(hit.memory.id) for hit in memory.recall("penguins", mode=mode).hits] == ["2"]
    assert [str(hit.memory.id) for hit in memory.recall("lorries").hits] == [id_]
    assert (memory.stats().vectors_stored, memory.stats().vectors_pending) == (1, 1)
    assert memory.doctor().sound


def test_a_text_stored_while_the_model_is_away_is_counted_as_pending(memory: Service) -> None:
    tell(memory, "Penguins waddle across the ice")
    broken = Service(memory._store, Failing("bag-of-words@1"), memory._caller)  # type: ignore[arg-type]
    assert broken.store("Lorries queue at the border").vector == "pending"
    assert broken.recall("lorries").degraded == ("embedding_failed",)
    assert (memory.stats().vectors_stored, memory.stats().vectors_pending) == (1, 1)


def test_tags_are_replaced_added_removed_and_cleared(memory: Service) -> None:
    id_ = tell(memory, "A fact with tags", tag=["a", "b"])
    assert memory.update(id_, add_tag=["c", "a"]).memories[0].tags == ("a", "b", "c")
    assert memory.update(id_, remove_tag=["b", "never there"]).memories[0].tags == ("a", "c")
    assert memory.update(id_, tag=["x", "y"]).memories[0].tags == ("x", "y")
    assert memory.update(id_, add_tag=["z"], remove_tag=[" x "]).memories[0].tags == ("y", "z")
    assert memory.update(id_, clear=[Clearable.TAGS]).memories[0].tags == ()
    assert memory.list_(tag=["y"]).total == 0


def test_every_field_that_may_be_empty_can_be_cleared(memory: Service) -> None:
    id_ = tell(
        memory,
        "Use Postgres",
        kind=Kind.DECISION,
        title="Database",
        rationale="one engine",
        alternatives="MySQL",
        tag=["db"],
        source="ADR 7",
        event_time="2026-05-01",
        valid_from="2026-05-01",
        valid_to="2999-05-01",
        expires="2999-01-01",
    )
    found = memory.update(id_, clear=list(Clearable)).memories[0]
    assert (found.title, found.rationale, found.alternatives, found.source, found.tags) == (
        None,
        None,
        None,
        None,
        (),
    )
    assert (found.event_time, found.valid_from, found.valid_to, found.expires_at) == (None, None, None, None)
    assert memory.store("Use Postgres", kind=Kind.DECISION).id == found.id


def test_a_new_layer_brings_its_own_end(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "The build is red")
    assert (memory.update(id_, layer=Layer.WORKING).memories[0].expires_at or "").startswith(
        "2026-05-10T14:00"
    )
    assert memory.update(id_, expires="2d").memories[0].expires_at is not None
    assert memory.update(id_, layer=Layer.PERMANENT).memories[0].expires_at is None
    with pytest.raises(Usage, match="permanent"):
        memory.update(id_, expires="2d")


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"content": " "},
        {"source": "x", "clear": [Clearable.SOURCE]},
        {"valid_from": "2026-06-01", "valid_to": "2026-05-01"},
        {"valid_to": "2026-02-01T00:00:00Z"},
        {"add_tag": [""]},
    ],
)
def test_an_update_that_cannot_be_is_refused(memory: Service, home: Path, values: dict[str, object]) -> None:
    id_ = tell(memory, "The API listens on port 80", valid_from="2026-03-01T00:00:00Z")
    before, count = everything(memory), len(rows(home, "events"))
    with pytest.raises(Usage):
        memory.update(id_, **values)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        memory.update("99", content="New")
    assert (everything(memory), len(rows(home, "events"))) == (before, count)


# Ids


def test_a_memory_is_named_by_number_uuid_or_a_prefix_of_it(memory: Service, wall: WallClock) -> None:
    first, second = tell(memory, "One"), tell(memory, "Two")
    uid = get(memory, first).uid
    for reference in (first, f"#{first}", f" {first} ", uid, uid.upper(), uid[:20]):
        assert [found.content for found in memory.get([reference]).memories] == ["One"], reference
    with pytest.raises(NotFound, match="more than one") as caught:
        memory.get([uid[:9]])
    assert uid in caught.value.hint
    assert get(memory, second).uid in caught.value.hint
    for reference in ("0", "-1", "3", "99999999999999999", uid[:-1] + "x", uid[:7], "", "1 2", "１"):
        with pytest.raises(MemError) as error:
            memory.get([reference])
        assert error.value.exit_status in (2, 3)


def test_a_number_is_never_used_again(memory: Service) -> None:
    first = tell(memory, "One")
    memory.archive([first])
    with pytest.raises(Refused):
        memory.store("Two", supersedes=[first])
    assert int(tell(memory, "Three")) > int(first)
