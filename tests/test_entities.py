"""People and things: found under each of their names, observed like every memory, known as of both clocks."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest
from conftest import BagOfWords, Ran
from hypothesis import given
from hypothesis import strategies as st
from telling import everything, get, live, rows, tell
from wall_clock import WallClock

from mem.cli import beside
from mem.embed import Role
from mem.errors import MemError, NotFound, Refused, Usage
from mem.results import Observed
from mem.search import index, neighbourhood
from mem.search.mentions import key
from mem.service import Service
from mem.values import Kind, Mode, Status

Run = Callable[..., Ran]


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-03-01T09:00:00Z")


def observe(memory: Service, entity: str, content: str, **fields: Any) -> Observed:
    """Observe something new."""
    outcome = memory.observe(entity, content, **fields)
    assert outcome.action == "added"
    return outcome


def known(memory: Service, entity: str, **fields: Any) -> set[str]:
    """What is observed about an entity."""
    return {found.content for found in memory.entity(entity, **fields).observations}


def names(memory: Service, **fields: Any) -> list[str]:
    return [hit.entity.name for hit in memory.entities(**fields).entities]


# Observing


def test_an_entity_is_made_by_what_is_first_observed_about_it(memory: Service) -> None:
    first = observe(memory, "billing service", "runs on Postgres", type="Service")
    assert first.created
    assert first.about is not None
    assert (first.about.name, first.about.type, first.vector) == ("billing service", "service", "stored")
    second = observe(memory, "billing service", "is written in Go")
    assert (second.created, second.about) == (False, first.about)
    found = get(memory, second.id)
    assert (found.kind, found.entity, found.entity_id) == (
        Kind.OBSERVATION,
        "billing service",
        first.about.id,
    )
    assert known(memory, "billing service") == {"runs on Postgres", "is written in Go"}
    assert names(memory) == ["billing service"]


def test_what_nobody_said_the_type_of_is_of_the_type_that_is_said_later(memory: Service) -> None:
    first = observe(memory, "Ana", "prefers calls to mail")
    second = observe(memory, "Ana", "sits at desk 4", type="person")
    assert first.about is not None
    assert second.about is not None
    assert (first.about.type, second.about.id, second.about.type) == ("thing", first.about.id, "person")
    third = observe(memory, "Ana", "is a chat bot of the help desk", type="service")
    assert third.created
    with pytest.raises(Usage, match="is no place"):
        memory.observe(str(first.about.id), "is quiet", type="place")


def test_a_known_text_is_recognised_within_its_entity_only(memory: Service) -> None:
    first = observe(memory, "Ana", "Prefers calls to mail", tag=["habit"])
    again = memory.observe("ana", "prefers calls to mail.", tag=["phone"])
    assert (again.action, again.id, get(memory, first.id).tags) == (
        "already_known",
        first.id,
        ("habit", "phone"),
    )
    other = observe(memory, "Bruno", "Prefers calls to mail")
    assert (other.id != first.id, other.warnings) == (True, ())
    tell(memory, "Prefers calls to mail")
    assert len(everything(memory)) == 3


def test_a_refused_observation_leaves_no_entity_behind(memory: Service, home: Path) -> None:
    memory.reject([tell(memory, "Ana left the company")], reason="she is on leave")
    events = len(rows(home, "events"))
    refused = memory.observe("Ana", "ana left the company.", type="person")
    assert (refused.action, refused.exit_status, refused.about, refused.created) == (
        "refused",
        4,
        None,
        False,
    )
    assert refused.refusal is not None
    assert "she is on leave" in refused.refusal.reason
    assert names(memory) == []
    assert len(rows(home, "events")) == events
    # What is known stays as it was, too.
    observe(memory, "Ana", "is on leave")
    memory.observe("Ana", "Ana left the company", type="person")
    assert memory.entity("Ana").entity.type == "thing"


@pytest.mark.parametrize(
    "fields",
    [
        {"project": "p" * 201},
        {"supersedes": ["99"]},
        {"valid_from": "2026-05-01", "valid_to": "2026-04-01"},
        {"type": "  "},
        {"expires": "yesterday"},
    ],
)
def test_an_observation_that_cannot_be_leaves_nothing(memory: Service, fields: dict[str, Any]) -> None:
    with pytest.raises(MemError):
        memory.observe("Ana", "is on leave", **fields)
    assert (names(memory), everything(memory)) == ([], [])


def test_a_rejection_binds_the_entity_that_it_was_said_of(memory: Service) -> None:
    wrong = observe(memory, "Ana", "maintains billing")
    memory.reject([str(wrong.id)], reason="Bruno does")
    assert memory.observe("Ana", "Maintains billing.").action == "refused"
    assert known(memory, "Ana") == set()
    observe(memory, "Bruno", "maintains billing")
    tell(memory, "maintains billing")
    memory.restore([str(wrong.id)], force=True)
    assert known(memory, "Ana") == {"maintains billing"}


def test_an_observation_is_superseded_within_its_entity_only(memory: Service) -> None:
    old = observe(memory, "Ana", "sits at desk 4", type="person")
    other = observe(memory, "Ana", "sits in rack 7", type="service")
    with pytest.raises(Refused, match="cannot be superseded"):
        memory.supersede([str(old.id)], by=str(other.id))
    learning = tell(memory, "Ana sits at desk 5")
    with pytest.raises(Refused, match="cannot be superseded"):
        memory.supersede([str(old.id)], by=learning)
    ana = str(old.about.id) if old.about else ""
    new = observe(memory, ana, "sits at desk 5", supersedes=[str(old.id)])
    assert (new.superseded, get(memory, old.id).superseded_by) == ((old.id,), new.id)
    after = memory.supersede([str(new.id)], content="works from home").memories[1]
    assert (after.kind, after.entity_id) == (Kind.OBSERVATION, old.about.id if old.about else None)
    assert known(memory, ana) == {"works from home"}
    with pytest.raises(Refused):
        memory.observe("Bruno", "sits at desk 6", supersedes=[str(after.id)])
    assert names(memory, query="Bruno") == []


def test_an_observation_is_updated_archived_and_restored_about_its_entity(memory: Service) -> None:
    id_ = str(observe(memory, "Ana", "sits at dekc 4").id)
    memory.update(id_, content="sits at desk 4", importance=8)
    assert (get(memory, id_).entity, known(memory, "Ana")) == ("Ana", {"sits at desk 4"})
    memory.archive([id_], reason="moved")
    assert known(memory, "Ana") == set()
    assert memory.observe("Ana", "sits at desk 4").action == "refused"
    memory.restore([id_])
    assert known(memory, "Ana") == {"sits at desk 4"}


def test_a_global_entity_is_observed_from_a_project_for_that_project(memory: Service) -> None:
    observe(memory, "Ana", "prefers calls", global_=True, type="person")
    observe(memory, "Ana", "owns the shop's billing", project="shop")
    observe(memory, "Ana", "writes the blog's posts", project="blog")
    assert known(memory, "Ana", project="shop") == {"prefers calls", "owns the shop's billing"}
    assert known(memory, "Ana", project="blog") == {"prefers calls", "writes the blog's posts"}
    assert known(memory, "Ana") == {"prefers calls"}
    assert len(known(memory, "Ana", all_projects=True)) == 3
    assert [hit.observations for hit in memory.entities(project="shop").entities] == [2]


def test_another_projects_entity_is_neither_found_nor_observed(memory: Service) -> None:
    there = observe(memory, "Ana", "owns the shop's billing", project="shop")
    assert there.about is not None
    with pytest.raises(NotFound, match="no entity 'Ana'"):
        memory.entity("Ana", project="blog")
    with pytest.raises(Refused, match="belongs to project shop"):
        memory.observe(str(there.about.id), "writes", project="blog")
    with pytest.raises(Refused, match="belongs to project shop"):
        memory.observe(str(there.about.id), "writes", global_=True)
    assert names(memory, project="blog", query="billing") == []
    here = observe(memory, "Ana", "writes the blog's posts", project="blog")
    assert here.created
    assert known(memory, "Ana", project="blog") == {"writes the blog's posts"}
    with pytest.raises(NotFound, match="2 entities"):
        memory.entity("Ana", all_projects=True)
    # By its number it is shown with what its own project knows.
    assert known(memory, str(there.about.id), project="blog") == {"owns the shop's billing"}


# Names


@pytest.mark.parametrize(
    "spelled",
    [
        "billing service",
        "Billing Service",
        "billing-service",
        "billing_service",
        "BILLING__SERVICE",
        "  billing \t service ",
        "ｂｉｌｌｉｎｇ service",
        "@billing-service",
        "#billing-service",
        "billing\u2010service",
        "billing\u200b service",
    ],
)
def test_one_name_in_many_spellings(memory: Service, spelled: str) -> None:
    observe(memory, "billing service", "runs on Postgres")
    assert known(memory, spelled) == {"runs on Postgres"}
    observe(memory, spelled, "is written in Go")
    assert names(memory) == ["billing service"]


@pytest.mark.parametrize(("name", "other"), [("C", "C++"), ("C#", "C"), (".NET", "NET"), ("A/B", "AB")])
def test_names_that_differ_in_a_mark_are_different(memory: Service, name: str, other: str) -> None:
    observe(memory, name, "is a language")
    observe(memory, other, "is another one")
    assert len(names(memory)) == 2
    assert known(memory, name) == {"is a language"}


def test_composed_and_decomposed_letters_are_one(memory: Service) -> None:
    observe(memory, unicodedata.normalize("NFD", "Jörg Straße"), "lives in Köln")
    assert known(memory, unicodedata.normalize("NFC", "JÖRG STRASSE")) == {"lives in Köln"}


@given(st.text(max_size=40))
def test_a_key_is_its_own_key(name: str) -> None:
    assert key(key(name)) == key(name)


def test_aliases_find_an_entity_until_they_are_taken_away(memory: Service) -> None:
    observe(memory, "billing service", "runs on Postgres")
    changed = memory.entity_set("billing service", alias=["billing-svc", "计费服务", "Billing Service"])
    assert (changed.action, changed.entity.aliases) == ("updated", ("billing-svc", "计费服务"))
    assert known(memory, "BILLING SVC") == known(memory, "计费服务") == {"runs on Postgres"}
    assert memory.entity_set("billing service", alias=["billing svc"]).entity.aliases == (
        "billing svc",
        "计费服务",
    )
    memory.entity_set("计费服务", remove_alias=["billing_svc"])
    with pytest.raises(NotFound):
        memory.entity("billing-svc")
    assert memory.entity_set("计费服务", type="thing").action == "known"


def test_an_ambiguous_name_lists_the_candidates_and_a_type_settles_it(memory: Service) -> None:
    person = observe(memory, "Jordan", "likes tea", type="person").about
    place = observe(memory, "Jordan", "lies east of the river", type="place").about
    assert person is not None
    assert place is not None
    with pytest.raises(NotFound, match="2 entities") as caught:
        memory.entity("jordan")
    assert f"#{person.id} Jordan (person); #{place.id} Jordan (place)" in caught.value.hint
    with pytest.raises(NotFound, match="2 entities"):
        memory.observe("Jordan", "is far away")
    assert known(memory, "Jordan", type="Person") == {"likes tea"}
    observe(memory, "Jordan", "is far away", type="PLACE")
    assert known(memory, "Jordan", type="place") == {"lies east of the river", "is far away"}
    assert names(memory, type="Place") == ["Jordan"]


def test_an_own_name_goes_before_an_alias_and_the_project_before_what_is_global(memory: Service) -> None:
    memory.entity_set("payments team", alias=["billing"], type="team")
    observe(memory, "billing", "sends invoices", type="team")
    assert known(memory, "billing") == {"sends invoices"}
    observe(memory, "Ana", "is known everywhere", global_=True)
    memory.entity_set("Ana", alias=["boss"], global_=True)
    memory.entity_set("Bea", alias=["boss"], project="shop")
    assert memory.entity("boss", project="shop").entity.name == "Bea"
    assert memory.entity("boss").entity.name == "Ana"


def test_a_renamed_entity_is_found_by_both_names_and_its_observations_too(memory: Service) -> None:
    id_ = observe(memory, "Ana Silva", "prefers calls").id
    changed = memory.entity_set("Ana Silva", name="Ana Souza")
    assert (changed.entity.name, changed.entity.aliases) == ("Ana Souza", ("Ana Silva",))
    assert known(memory, "ana silva") == known(memory, "ana souza") == {"prefers calls"}
    assert get(memory, id_).entity == "Ana Souza"
    assert [hit.memory.id for hit in memory.recall("souza", mode=Mode.LEXICAL).hits] == [id_]
    # A slip in the spelling leaves no alias.
    assert memory.entity_set("Ana Souza", name="ANA SOUZA").entity.aliases == ("Ana Silva",)
    assert memory.doctor().sound


def test_a_name_that_is_taken_is_refused_with_the_way_to_merge(memory: Service) -> None:
    first = observe(memory, "billing service", "runs on Postgres").about
    second = observe(memory, "billing-svc", "is written in Go").about
    assert first is not None
    assert second is not None
    with pytest.raises(Refused, match="already") as caught:
        memory.entity_set("billing-svc", name="Billing_Service")
    assert caught.value.hint.endswith(f"mem entity-merge {second.id} {first.id}")
    observe(memory, "Jordan", "likes tea", type="person")
    observe(memory, "Jordan", "lies east", type="place")
    with pytest.raises(Refused, match="already"):
        memory.entity_set(str(memory.entity("Jordan", type="place").entity.id), type="person")
    assert sorted(names(memory)) == ["Jordan", "Jordan", "billing service", "billing-svc"]


def test_what_is_not_there_cannot_be_renamed(memory: Service) -> None:
    with pytest.raises(NotFound, match="to rename"):
        memory.entity_set("nobody", name="somebody")
    assert names(memory) == []


@pytest.mark.parametrize(
    "name",
    ["", "   ", "12", "#12", "１２", "-", "@", "two\x1b[1m", "mirrored \u202e name", "a" * 201, "nul\x00"],
)
def test_a_name_that_could_not_be_read_or_asked_for_is_refused(memory: Service, name: str) -> None:
    for call in (
        lambda: memory.observe(name, "is odd"),
        lambda: memory.entity_set(name, summary="is odd"),
        lambda: memory.entity_set("Ana", alias=[name]),
    ):
        with pytest.raises((Usage, NotFound)) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 200
    assert names(memory) == []


@pytest.mark.parametrize(
    "name",
    [
        "[bold]<b>*Ana*</b>[/bold]",
        '"; DROP TABLE entities; --',
        "👨\u200d👩\u200d👧",
        "می\u200cخواهم",
        "😀",
        "deadbeef",
        "C++",
        "O'Brien & Söhne (Köln)",
        "العربية",
        "a" * 200,
    ],
)
def test_an_odd_name_is_kept_as_it_is_and_found_again(memory: Service, name: str) -> None:
    id_ = observe(memory, name, "is odd").id
    view = memory.entity(name)
    assert (view.entity.name, [one.id for one in view.observations]) == (name, [id_])
    assert memory.entities(query=name).entities[0].entity.name == name
    assert memory.doctor().sound


def test_line_breaks_in_a_name_are_spaces(memory: Service) -> None:
    assert observe(memory, "billing\n service", "runs on Postgres").about is not None
    assert names(memory) == ["billing service"]


def test_an_id_goes_before_a_name_that_looks_like_one(memory: Service) -> None:
    first = observe(memory, "Ana", "prefers calls").about
    assert first is not None
    prefix = first.uid[:13]
    memory.entity_set("decoy", alias=["deadbeef"])
    assert memory.entity(first.uid.upper()).entity.id == first.id
    assert memory.entity(f"#{first.id}").entity.id == first.id
    assert memory.entity("deadbeef").entity.name == "decoy"
    observe(memory, prefix, "is observed of whom the id means")
    assert len(known(memory, "Ana")) == 2
    for unknown in ("99", "#99", "nobody"):
        with pytest.raises(NotFound, match="There is no entity"):
            memory.entity(unknown)


# Both clocks

MARCH, APRIL = "2026-03-15T12:00:00Z", "2026-04-15T12:00:00Z"
BEFORE, AFTER = "2026-05-10T07:59:00Z", "2026-05-10T08:01:00Z"
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
    ({"valid_at": "2026-03-31T23:59:59.999999Z"}, 80),
    ({"valid_at": "2026-04-01T00:00:00Z"}, 81),
    ({"valid_at": "2026-03-01T00:00:00Z"}, 80),
    ({"valid_at": "2026-02-28T23:59:59.999999Z"}, None),
]


def test_the_port_of_a_service_changed_before_we_knew(memory: Service, wall: WallClock) -> None:
    first = observe(memory, "API", "uses port 80", valid_from="2026-03-01T00:00:00Z", type="service")
    wall.set("2026-05-10T08:00:00Z")
    second = observe(
        memory, "API", "uses port 81", valid_from="2026-04-01T00:00:00Z", supersedes=[str(first.id)]
    )
    assert second.superseded == (first.id,)
    wall.set("2026-05-20T08:00:00Z")
    for moment, port in PORTS:
        expected = {f"uses port {port}"} if port else set()
        assert known(memory, "API", **moment) == expected, moment
        recalled = memory.recall("which port does the API use", **moment).hits
        assert {hit.memory.content for hit in recalled} == expected, moment
    with pytest.raises(NotFound, match="not known at that moment"):
        memory.entity("API", known_at="2026-02-15T12:00:00Z")


def test_an_entity_is_seen_under_the_name_that_it_had(memory: Service, wall: WallClock) -> None:
    id_ = observe(memory, "Ana Silva", "prefers calls", type="person").id
    memory.entity_set("Ana Silva", summary="on call")
    wall.set("2026-05-10T08:00:00Z")
    memory.entity_set("Ana Silva", name="Ana Souza", type="manager", summary="leads the team")
    wall.set("2026-05-20T08:00:00Z")
    for reference in ("Ana Silva", "Ana Souza", "1"):
        then = memory.entity(reference, known_at=BEFORE)
        assert (then.entity.name, then.entity.type, then.entity.summary) == ("Ana Silva", "person", "on call")
        assert [(one.id, one.entity) for one in then.observations] == [(id_, "Ana Silva")]
        assert memory.entity(reference, known_at=AFTER).entity.name == "Ana Souza"
    # Memories name it as it was called then, and are found by that.
    assert [one.entity for one in memory.list_(known_at=BEFORE).memories] == ["Ana Silva"]
    assert [one.entity for one in memory.get([str(id_)], known_at=AFTER).memories] == ["Ana Souza"]
    assert [hit.memory.entity for hit in memory.recall("silva", known_at=BEFORE).hits] == ["Ana Silva"]
    assert memory.recall("souza", known_at=BEFORE).hits == ()


def test_a_name_that_has_changed_hands_is_its_owners_of_then(memory: Service, wall: WallClock) -> None:
    observe(memory, "gateway", "the old one in Frankfurt")
    wall.set("2026-05-10T08:00:00Z")
    memory.entity_set("gateway", name="old gateway")
    memory.entity_set("old gateway", remove_alias=["gateway"])
    observe(memory, "gateway", "the new one in Paris")
    wall.set("2026-05-20T08:00:00Z")
    assert known(memory, "gateway") == {"the new one in Paris"}
    assert known(memory, "gateway", known_at=BEFORE) == {"the old one in Frankfurt"}
    assert known(memory, "gateway", known_at=AFTER) == {"the new one in Paris"}


def test_an_earlier_answer_is_never_rewritten(memory: Service, wall: WallClock) -> None:
    id_ = observe(memory, "Ana", "sits at desk 4", type="person").id
    observe(memory, "Ana", "prefers calls")
    memory.relate("Ana", "knows", observe(memory, "Bruno", "cooks", type="person").about.name)  # type: ignore[union-attr]
    seen = wall.forward(days=1)
    answer = memory.entity("Ana", known_at=seen)
    assert (len(answer.observations), len(answer.relations)) == (2, 1)
    wall.forward(days=1)
    for change in (
        lambda: memory.supersede([str(id_)], content="sits at desk 5"),
        lambda: memory.entity_set("Ana", name="Ana Souza", alias=["boss"], summary="leads"),
        lambda: memory.unrelate("Ana", "knows", "Bruno", valid_to="2026-03-01T10:00:00Z"),
        lambda: memory.entity_merge("Bruno", "Ana"),
        lambda: memory.reject([str(id_ + 1)], reason="wrong"),  # type: ignore[operator]
    ):
        change()
        wall.forward(days=1)
        now = memory.entity("Ana", known_at=seen)
        assert {(one.id, one.content) for one in now.observations} >= {
            (one.id, one.content) for one in answer.observations
        }
        assert (now.entity, now.relations, now.nodes) == (answer.entity, answer.relations, answer.nodes)


# Searching and listing


def test_entities_are_listed_by_name_a_page_at_a_time(memory: Service) -> None:
    for name, type_ in (("Zoe", "person"), ("ana", "person"), ("API", "service")):
        memory.entity_set(name, type=type_)
    assert names(memory) == ["ana", "API", "Zoe"]
    assert names(memory, type="person") == ["ana", "Zoe"]
    page = memory.entities(limit=1, offset=1)
    assert (page.total, [hit.entity.name for hit in page.entities]) == (3, ["API"])


def test_entities_are_found_by_what_is_known_of_them(real_memory: Service) -> None:
    observe(real_memory, "Ana", "pays the invoices of the harbour office", type="person")
    observe(real_memory, "Bruno", "repairs bicycles", type="person")
    real_memory.entity_set("Kiel", type="place", summary="A port on the Baltic Sea", alias=["基尔"])
    for query, name, leg in (
        ("bruno", "Bruno", "names"),
        ("基尔在哪里", "Kiel", "names"),
        ("Baltic", "Kiel", "lexical"),
        ("who settles the bills?", "Ana", "vector"),
        ("Stadt am Meer", "Kiel", "vector"),
        ("bicycles", "Bruno", "observed"),
    ):
        best = real_memory.entities(query=query).entities[0]
        assert (best.entity.name, leg in best.why) == (name, True), (query, best)


def test_no_entity_fits_a_question_that_nothing_is_near_to(memory: Service) -> None:
    observe(memory, "Ana", "pays the invoices of the harbour office", type="person")
    assert memory.entities(query="xyzzy plugh").entities == ()
    assert memory.entities(query="harbour").total == 1


def test_entities_that_came_without_the_model_get_their_vectors_later(
    memory: Service, home: Path, fake_embedder: Any
) -> None:
    bare = Service(memory._store, None, memory._caller)
    observe(bare, "Ana", "prefers calls")
    assert _check(memory, "vectors").startswith("0 memories and entities have theirs, 2 wait")
    memory.recall("calls")
    assert _check(memory, "vectors").startswith("2 memories and entities have theirs, 0 wait")


class Interrupted(BagOfWords):
    """An embedder during whose work somebody else writes, once."""

    def __init__(self, write: Callable[[], object]) -> None:
        self._waiting = [write]

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> Any:
        if self._waiting:
            self._waiting.pop()()
        return super().embed(texts, role, timeout=timeout)


def test_an_entity_that_another_makes_meanwhile_is_the_same(memory: Service) -> None:
    late = Service(
        memory._store,
        Interrupted(lambda: observe(memory, "Ana", "prefers calls", type="person")),
        memory._caller,
    )
    outcome = observe(late, "ana", "sits at desk 4")
    assert (outcome.created, names(memory)) == (False, ["Ana"])
    assert known(memory, "Ana") == {"prefers calls", "sits at desk 4"}
    late = Service(
        memory._store,
        Interrupted(lambda: memory.entity_set("Ana", name="Ana Souza", alias=["boss"])),
        memory._caller,
    )
    assert late.entity_set("Ana", summary="leads the team").entity.aliases == ("boss", "Ana")


def test_what_is_not_shown_of_an_entity_is_counted(memory: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbourhood, "MOST_OBSERVATIONS", 2)
    for number in range(3):
        observe(memory, "Ana", f"fact {number}")
    view = memory.entity("Ana")
    assert ({one.content for one in view.observations}, view.total) == ({"fact 1", "fact 2"}, 3)
    assert list(beside.notes(view)) == ["2 of 3 observations; mem list --entity shows all."]


def test_relating_or_describing_a_hub_does_not_index_its_observations_anew(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("hub", "fact 1"), ("hub", "fact 2"), ("spoke", "turns")):
        observe(memory, name, text)
    indexed: list[int] = []
    refresh = index.refresh

    def watched(db: apsw.Connection, ids: Iterable[int], **fields: Any) -> None:
        indexed.extend(ids)
        refresh(db, ids, **fields)

    monkeypatch.setattr(index, "refresh", watched)
    memory.relate("spoke", "part_of", "hub")
    memory.entity_set("hub", summary="the middle", alias=["centre"])
    assert indexed == []
    memory.entity_set("hub", name="nave")
    assert indexed == [1, 2]
    assert len(memory.history("1").changes) == 1


# The index


def test_doctor_finds_and_mends_an_index_of_entities_that_is_not_in_step(memory: Service, home: Path) -> None:
    observe(memory, "Ana", "prefers calls")
    memory.entity_set("Ana", alias=["boss"])
    for damage in (
        "DELETE FROM entity_names WHERE key = 'boss'",
        "UPDATE entity_names SET key = 'chief' WHERE key = 'boss'",
        "DELETE FROM entities_fts WHERE rowid = 1",
        "INSERT INTO entities_lengths VALUES (99, 0, 1)",
    ):
        db = apsw.Connection(str(home / "memory.db"))
        db.execute(damage)
        db.close()
        assert not memory.doctor().sound, damage
        assert memory.doctor(fix=True).sound
        assert memory.doctor().sound
        assert known(memory, "boss") == {"prefers calls"}
        assert memory.entities(query="boss").total == 1


# The command line


def test_a_missing_and_an_ambiguous_name_end_with_status_3(run_mem: Run) -> None:
    ran = run_mem("entity", "nobody")
    assert (ran.code, ran.stdout, ran.err) == (
        3,
        b"",
        "mem: There is no entity 'nobody'. See: mem entities\n",
    )
    for type_ in ("person", "place"):
        assert run_mem("observe", "Jordan", f"is a {type_}", "--type", type_).code == 0
    ran = run_mem("observe", "Jordan", "is far away", "--json")
    assert (ran.code, ran.document()["error"]["code"]) == (3, "not_found")
    assert run_mem("entity", "Jordan", "--type", "place").out.count("is a place") == 1
    assert run_mem("observe", "12", "x").code == 3
    assert run_mem("observe", "\u202e", "x").code == 2


def test_a_live_text_is_said_once_in_every_list(memory: Service) -> None:
    observe(memory, "Ana", "prefers calls")
    assert live(memory) == {"prefers calls"}
    assert [one.status for one in everything(memory)] == [Status.ACTIVE]


def _check(memory: Service, name: str) -> str:
    return next(check.detail for check in memory.doctor().checks if check.name == name)
