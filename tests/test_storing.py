"""Storing: what is kept, what the answer says, and how long it lives."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from telling import get, rows, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import Usage
from mem.results import Stored
from mem.service import Service
from mem.values import Actor, ActorKind, Category, Kind, Layer, Level, Memory, Mode, Status, Trust


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


@pytest.fixture
def bystander(memory: Service, home: Path) -> apsw.Connection:
    """A connection that notices every write of another: by `PRAGMA data_version`."""
    db = apsw.Connection(str(home / "memory.db"))
    yield db
    db.close()


def warned(stored: Stored) -> dict[str, tuple[int, ...]]:
    return {notice.code: notice.ids for notice in stored.warnings}


def contents(memory: Service, **filters: object) -> set[str]:
    return {found.content for found in memory.list_(**filters).memories}  # type: ignore[arg-type]


# What is kept


def test_every_field_comes_back_as_it_was_given(memory: Service, wall: WallClock) -> None:
    caller = Caller(Actor(ActorKind.AGENT, "some-editor", "session-7"), Path.cwd())
    stored = memory.of(caller).store(
        "We use Postgres [bold] C:\\new\n\tand nothing else",
        kind=Kind.DECISION,
        title="Database",
        rationale="one engine for all",
        alternatives="MySQL: nobody knows it",
        category=Category.ARCHITECTURE,
        level=Level.CONCRETE_TRACE,
        layer=Layer.PERMANENT,
        importance=9,
        confidence=0.25,
        project="shop",
        tag=["db", "数据"],
        source="docs/adr/7.md",
        event_time="2026-05-01T10:00:00+02:00",
        valid_from="2026-05-02T00:00:00Z",
        valid_to="2027-01-01T00:00:00.000001Z",
    )
    assert (stored.action, stored.vector, stored.warnings, stored.exit_status) == ("added", "stored", (), 0)
    found = get(memory, stored.id)
    assert found == Memory(
        id=stored.id or 0,
        uid=stored.uid or "",
        kind=Kind.DECISION,
        title="Database",
        content="We use Postgres [bold] C:\\new\n\tand nothing else",
        category=Category.ARCHITECTURE,
        level=Level.CONCRETE_TRACE,
        layer=Layer.PERMANENT,
        project="shop",
        tags=("db", "数据"),
        importance=9,
        confidence=0.25,
        source="docs/adr/7.md",
        entity=None,
        rationale="one engine for all",
        alternatives="MySQL: nobody knows it",
        status=Status.ACTIVE,
        status_reason=None,
        status_at=None,
        trust=Trust.UNVERIFIED,
        verified_at=None,
        verified_by=None,
        event_time="2026-05-01T08:00:00.000000Z",
        valid_from="2026-05-02T00:00:00.000000Z",
        valid_to="2027-01-01T00:00:00.000001Z",
        recorded_at=found.recorded_at,
        changed_at=found.recorded_at,
        expires_at=None,
        superseded_by=None,
        client="some-editor",
        session=found.session,
        extra={},
    )
    assert found.recorded_at.startswith("2026-05-10T08:00:00.")


def test_what_is_not_said_has_its_default(memory: Service) -> None:
    found = get(memory, tell(memory, "Only a text"))
    assert (found.kind, found.category, found.level, found.layer) == (
        Kind.LEARNING,
        Category.GENERAL,
        Level.SEMI_ABSTRACT,
        Layer.LONG_TERM,
    )
    assert (found.importance, found.confidence, found.project, found.tags) == (5, 0.7, None, ())
    assert (found.event_time, found.valid_from, found.valid_to, found.expires_at) == (None, None, None, None)


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_can_be_stored_and_found(memory: Service, kind: Kind) -> None:
    stored = memory.store(f"The text of one {kind}", kind=kind)
    assert get(memory, stored.id).kind is kind
    assert [hit.memory.id for hit in memory.recall("text", kind=[kind]).hits] == [stored.id]


def test_tags_are_kept_once_in_order_without_odd_spaces(memory: Service) -> None:
    stored = memory.store("A fact with tags", tag=["b", " two  words ", "a", "b"])
    assert get(memory, stored.id).tags == ("b", "two words", "a")


@pytest.mark.parametrize(
    "values",
    [
        {"content": ""},
        {"content": " \n\t\u3000"},
        {"content": "x" * 100_001},
        {"title": "t" * 501},
        {"tag": ["fine", "  "]},
        {"tag": ["t" * 101]},
        {"tag": [f"tag{number}" for number in range(65)]},
        {"valid_from": "2026-05-02", "valid_to": "2026-05-01"},
        {"valid_from": "2026-02-30"},
        {"event_time": "yesterday-ish"},
        {"expires": "2020-01-01"},
        {"expires": "0h"},
        {"expires": "soon"},
        {"expires": "7d", "layer": Layer.PERMANENT},
        {"project": "two\nlines"},
        {"project": "shop", "global_": True},
    ],
)
def test_a_value_that_cannot_be_is_refused_and_nothing_is_written(
    memory: Service, bystander: apsw.Connection, values: dict[str, object]
) -> None:
    before = bystander.pragma("data_version")
    with pytest.raises(Usage):
        memory.store(**{"content": "A good text", **values})  # type: ignore[arg-type]
    assert bystander.pragma("data_version") == before
    assert memory.list_(all_projects=True).total == 0


def test_the_longest_text_is_kept_whole(memory: Service) -> None:
    text = "word " * 19_999 + "final"
    assert len(text) == 100_000
    assert get(memory, tell(memory, text)).content == text


# What the answer says


def test_a_known_text_is_not_stored_twice(memory: Service, home: Path) -> None:
    first = memory.store("The API listens on port 8443", tag=["api"], importance=8)
    again = memory.store("  the API   listens on port 8443! ", importance=2)
    assert rows(home, "usage") == [(first.id, 1, 0, None, 1, "{}")]
    assert (again.action, again.id, again.uid) == ("already_known", first.id, first.uid)
    assert (again.vector, again.warnings, again.exit_status) == ("stored", (), 0)
    assert memory.list_().total == 1
    found = get(memory, first.id)
    assert (found.content, found.importance) == ("The API listens on port 8443", 8)


def test_the_tags_of_a_known_text_are_merged(memory: Service) -> None:
    first = memory.store("The API listens on port 8443", tag=["api", "net"])
    again = memory.store("The API listens on port 8443", tag=["net", "tls"])
    assert again.action == "already_known"
    assert get(memory, first.id).tags == ("api", "net", "tls")
    assert [found.id for found in memory.list_(tag=["api", "tls"]).memories] == [first.id]


@pytest.mark.parametrize(
    ("known", "given"),
    [
        ("Call tool -V first", "Call tool -v first"),
        ("Set DB_URL before the start", "Set db_url before the start"),
        ("Das Maß zählt", "Das Mass zählt"),
        ("The file is Makefile", "The file is MAKEFILE"),
    ],
)
def test_texts_that_count_as_one_but_differ_are_both_shown(memory: Service, known: str, given: str) -> None:
    first = memory.store(known)
    again = memory.store(given)
    assert (again.action, warned(again)) == ("already_known", {"text_differs": (first.id,)})
    assert known in again.warnings[0].message
    assert given in again.warnings[0].message


def test_a_difference_that_nobody_sees_or_means_is_no_warning(memory: Service) -> None:
    memory.store("The Caf\u00e9 opens at nine")
    again = memory.store("the cafe\u0301  opens at nine.")
    assert (again.action, again.warnings) == ("already_known", ())


def test_a_decision_whose_title_differs_in_case_is_shown_with_both(memory: Service) -> None:
    first = memory.store("Yes", kind=Kind.DECISION, title="Use -V everywhere")
    again = memory.store("Yes", kind=Kind.DECISION, title="Use -v everywhere")
    assert (again.action, warned(again)) == ("already_known", {"text_differs": (first.id,)})


def test_a_near_duplicate_is_named_and_stored_all_the_same(memory: Service) -> None:
    first = memory.store("The staging deploy key rotates every ninety days on a Monday")
    near = memory.store("The staging deploy key rotates every ninety days on a Monday morning")
    assert (near.action, warned(near)) == ("added", {"near_duplicate": (first.id,)})
    assert memory.list_().total == 2


@pytest.mark.parametrize(
    ("known", "given"),
    [
        ("The staging API listens on port 8443", "The staging API listens on port 9443"),
        ("The staging image is built on release 2.4.1", "The staging image is built on release 2.4.2"),
        ("The staging service runs on Postgres today", "The staging service runs on MySQL today"),
        ("The staging service restarts on errors", "The staging service never restarts on errors"),
        ("Der Dienst startet nach Fehlern neu", "Der Dienst startet nach Fehlern nicht neu"),
        ("Le service de test redémarre seul", "Le service de test ne redémarre pas seul"),
        ("O serviço de teste reinicia sozinho", "O serviço de teste não reinicia sozinho"),
        ("测试服务会在出错后重新启动", "测试服务不会在出错后重新启动"),
        ("テストサービスは再起動する必要がある", "テストサービスは再起動する必要がない"),
    ],
)
def test_a_near_text_with_another_number_name_or_negation_may_contradict(
    memory: Service, known: str, given: str
) -> None:
    first = memory.store(known)
    other = memory.store(given)
    assert (other.action, warned(other)) == ("added", {"possible_contradiction": (first.id,)})
    assert f"mem supersede {first.id} --by {other.id}" in other.warnings[0].message
    assert memory.list_().total == 2


def test_one_text_in_two_projects_has_one_vector(memory: Service, home: Path) -> None:
    tell(memory, "The API listens on port 8443", project="shop")
    tell(memory, "The API listens on port 8443", project="blog")
    assert len(rows(home, "embeddings")) == 1
    assert memory.stats(all_projects=True).vectors_stored == 2
    for project in ("shop", "blog"):
        assert len(memory.recall("API port", project=project, mode=Mode.VECTOR).hits) == 1


def test_what_a_memory_is_near_to_stays_within_its_kind_and_project(memory: Service) -> None:
    text = "The staging deploy key rotates every ninety days on a Monday"
    memory.store(text, kind=Kind.SUMMARY)
    memory.store(text, project="shop")
    memory.store("Die Katze schläft")
    assert memory.store(text + " morning").warnings == ()


def test_near_duplicates_are_named_without_a_model(memory: Service, home: Path) -> None:
    words = Service(memory._store, None, memory._caller)
    first = words.store("The staging deploy key rotates every ninety days on a Monday")
    near = words.store("The staging deploy key rotates every ninety days on a Monday morning")
    assert (first.vector, near.vector) == ("none", "none")
    assert warned(near) == {"near_duplicate": (first.id,)}


def test_a_refusal_is_an_answer_that_changes_nothing(memory: Service, bystander: apsw.Connection) -> None:
    first = memory.store("Deploys go out on Friday")
    memory.archive([str(first.id)], reason="wrong day")
    before = bystander.pragma("data_version")
    refused = memory.store("deploys go out on friday", tag=["new"])
    assert (refused.action, refused.exit_status, refused.vector) == ("refused", 4, "none")
    assert bystander.pragma("data_version") == before
    assert memory.list_(status=[Status.ARCHIVED]).memories[0].tags == ()


# Global, or in a project


def test_a_project_sees_its_own_and_what_is_global(memory: Service) -> None:
    memory.store("Known everywhere")
    memory.store("Known in the shop", project="shop")
    memory.store("Known in the blog", project="blog")
    assert contents(memory) == {"Known everywhere"}
    assert contents(memory, project="shop") == {"Known everywhere", "Known in the shop"}
    assert contents(memory, all_projects=True) == {
        "Known everywhere",
        "Known in the shop",
        "Known in the blog",
    }
    recalled = {hit.memory.content for hit in memory.recall("known", project="blog").hits}
    assert recalled == {"Known everywhere", "Known in the blog"}


def test_writes_go_to_the_current_project_unless_global(memory: Service, person: Caller) -> None:
    inside = memory.of(replace(person, project="shop"))
    assert get(memory, tell(inside, "Of the shop")).project == "shop"
    assert get(memory, tell(inside, "Of the blog", project="blog")).project == "blog"
    assert get(memory, tell(inside, "Of nobody", global_=True)).project is None
    batch = inside.store_batch([{"content": "Of the shop too"}, {"content": "Nobody's", "global": True}])
    assert [get(memory, outcome.id).project for outcome in batch.outcomes] == ["shop", None]


# Layers and expiry


@pytest.mark.parametrize(
    ("layer", "hours"), [(Layer.WORKING, 6), (Layer.SHORT_TERM, 7 * 24), (Layer.LONG_TERM, None)]
)
def test_a_memory_lives_as_long_as_its_layer(
    memory: Service, wall: WallClock, layer: Layer, hours: int | None
) -> None:
    stored = memory.store("The cat sits on the mat", layer=layer)
    wall.forward(hours=(hours or 100_000) - 0.1)
    assert found_by_all(memory) == (True, True)
    wall.forward(hours=0.2)
    assert found_by_all(memory) == ((False, False) if hours else (True, True))
    assert get(memory, stored.id).status is Status.ACTIVE


def found_by_all(memory: Service) -> tuple[bool, bool]:
    """Whether list finds the cat, and whether recall finds it in every way."""
    recalls = [
        memory.recall("cat on the mat"),
        memory.recall("cat on the mat", status=[Status.ACTIVE]),
        memory.recall("cat on the mat", mode=Mode.LEXICAL),
        memory.recall("cat on the mat", mode=Mode.VECTOR),
        memory.recall("cat on the mat", valid_at="2026-05-10T09:00:00Z"),
    ]
    found = {len(recall.hits) for recall in recalls}
    assert len(found) == 1
    lists = {memory.list_().total, memory.list_(status=[Status.ACTIVE]).total}
    assert len(lists) == 1
    return bool(lists.pop()), bool(found.pop())


@pytest.mark.parametrize(
    ("expires", "lives_until"),
    [
        ("90m", "2026-05-10T09:30:00"),
        ("36h", "2026-05-11T20:00:00"),
        ("7d", "2026-05-17T08:00:00"),
        ("2 weeks", "2026-05-24T08:00:00"),
        ("1 DAY", "2026-05-11T08:00:00"),
        ("2026-05-10T12:00:00+02:00", "2026-05-10T10:00:00"),
    ],
)
def test_expires_takes_spans_and_times(
    memory: Service, wall: WallClock, expires: str, lives_until: str
) -> None:
    found = get(memory, tell(memory, "Gone in a while", expires=expires, layer=Layer.WORKING))
    assert (found.expires_at or "").startswith(lives_until)


def test_expires_takes_a_day_to_its_local_end(
    memory: Service, wall: WallClock, eastern: Callable[[], None]
) -> None:
    found = get(memory, tell(memory, "Gone after the 12th", expires="2026-05-12"))
    assert found.expires_at == "2026-05-12T21:00:00.000000Z"


@pytest.fixture
def eastern(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine three hours east of Greenwich."""
    import time

    monkeypatch.setenv("TZ", "XXX-3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_an_expired_text_that_is_said_again_lives_again(memory: Service, wall: WallClock) -> None:
    first = memory.store("The cat sits on the mat", layer=Layer.WORKING, tag=["cat"])
    wall.forward(hours=7)
    again = memory.store("The cat sits on the mat", layer=Layer.SHORT_TERM, tag=["mat"])
    assert (again.action, again.id, again.vector) == ("revived", first.id, "stored")
    found = get(memory, again.id)
    assert (found.status, found.layer, found.tags) == (Status.ACTIVE, Layer.SHORT_TERM, ("cat", "mat"))
    assert found_by_all(memory) == (True, True)
    wall.forward(days=6)
    assert found_by_all(memory) == (True, True)
    wall.forward(days=2)
    assert found_by_all(memory) == (False, False)
