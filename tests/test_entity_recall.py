"""A question that names somebody or something brings what is known of it; one that does not is left alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telling import tell

from mem.caller import Caller
from mem.context.notes import Notes
from mem.results import Recall
from mem.search import fuse, mentions
from mem.search.embedding import Vectors
from mem.service import Service
from mem.values import Actor, ActorKind, Fusion, Mode, Scope

NOISE = (
    "The nightly backup of the shop database goes to the storage box",
    "Run make lint before each commit",
    "The customer Brandt wants invoices as PDF by e-mail",
    "Flaky tests are marked with the label quarantine",
    "The bathroom tap drips and needs a new washer",
    "Release notes are generated from the commit messages",
    "Our API returns errors as RFC 7807 problem documents",
    "Rice pudding needs an hour on low heat",
)


def observe(memory: Service, entity: str, content: str, **fields: Any) -> int:
    outcome = memory.observe(entity, content, **fields)
    assert outcome.action == "added"
    assert outcome.id is not None
    return outcome.id


def found(recall: Recall) -> list[int]:
    return [hit.memory.id for hit in recall.hits]


def why(recall: Recall, number: int) -> set[str]:
    return next(set(hit.why) for hit in recall.hits if hit.memory.id == number)


@pytest.fixture
def billing(real_memory: Service) -> Iterator[tuple[Service, int, int]]:
    """A store in which Ana looks after billing; what is known of her shares no word with the question."""
    for text in NOISE:
        tell(real_memory, text)
    own = observe(real_memory, "billing service", "Ana has looked after it since May", type="service")
    hers = observe(real_memory, "Ana", "Desk four, prefers calls to mail", type="person")
    real_memory.relate("Ana", "keeps", "billing service")
    real_memory.entity_set("billing service", alias=["计费服务", "Abrechnungsdienst", "ledgerd"])
    yield real_memory, own, hers


@pytest.mark.parametrize(
    "question",
    [
        "who maintains the billing service",
        "Who maintains the Billing-Service?",
        "who is the billing service's maintainer?",
        "who answers for “billing_service”",
        "who maintains ledgerd",
        "谁负责维护计费服务？",
        "计费服务由谁维护",
        "Wer betreut den Abrechnungsdienst?",
        "Wer ist für die Wartung des Abrechnungsdiensts zuständig?",
    ],
)
@pytest.mark.parametrize("fusion", list(Fusion))
def test_the_maintainer_is_found_through_the_name_alone(
    billing: tuple[Service, int, int], question: str, fusion: Fusion
) -> None:
    memory, own, hers = billing
    recall = memory.recall(question, fusion=fusion)
    assert own in found(recall)[:3]
    assert "entity" in why(recall, own)
    # One step out, what is known of her comes too, though it shares nothing with the question.
    assert "entity" in why(recall, hers)
    assert {hit.why["entity"].score for hit in recall.hits if "entity" in hit.why} == {
        1.0,
        mentions.ONE_STEP_OUT,
    }
    lexical = memory.recall(question, mode=Mode.LEXICAL, fusion=fusion)
    assert {own, hers} <= set(found(lexical))
    assert all("entity" not in hit.why for hit in memory.recall(question, mode=Mode.VECTOR).hits)


def test_a_note_that_names_it_counts_as_what_is_observed_of_it(memory: Service) -> None:
    own = observe(memory, "ledgerd", "runs on Postgres")
    note = int(tell(memory, "The port of ledgerd is 8081"))
    other = observe(memory, "Ana", "is glad that ledgerd works")
    hits = {hit.memory.id: hit for hit in memory.recall("what about ledgerd").hits}
    assert {number for number, hit in hits.items() if "entity" in hit.why} == {own, note}
    assert hits[note].why["entity"].score == 1.0
    assert other in hits


def test_a_neighbour_is_left_out_once_the_relation_has_ended(memory: Service) -> None:
    own = observe(memory, "ledgerd", "runs on Postgres")
    hers = observe(memory, "Ana", "prefers calls")
    memory.relate("Ana", "keeps", "ledgerd")
    assert found(memory.recall("what about ledgerd")) == [own, hers]
    assert found(memory.recall("what about Ana")) == [hers, own]
    memory.unrelate("Ana", "keeps", "ledgerd")
    assert found(memory.recall("what about ledgerd")) == [own]
    assert found(memory.recall("what about Ana")) == [hers]


def test_a_neighbour_counts_for_less_and_not_for_nothing() -> None:
    leg = ((1, 1.0), (2, 0.25))
    weights = {"entity": 1.0, "lexical": 3.0}
    fused = fuse.convex({"entity": leg, "lexical": ((3, 9.0), (1, 4.0))}, weights, even=("entity",))
    assert fused == {1: 0.25, 2: 0.0625, 3: 0.75}


def test_only_what_the_filter_and_the_scope_admit_is_brought(memory: Service) -> None:
    memory.entity_set("Ana", global_=True)
    here = observe(memory, "Ana", "owns the billing", project="shop", importance=8)
    observe(memory, "Ana", "writes posts", project="blog")
    gone = observe(memory, "Ana", "sits at desk 4", project="shop")
    memory.reject([str(gone)], reason="wrong")
    observe(memory, "Bea", "sings", project="blog")
    assert found(memory.recall("Ana", project="shop")) == [here]
    assert found(memory.recall("Ana", project="shop", min_importance=9)) == []
    assert found(memory.recall("Ana", project="shop", kind=["decision"])) == []  # type: ignore[list-item]
    assert found(memory.recall("Bea", project="shop")) == []
    assert len(found(memory.recall("Ana", all_projects=True))) == 2


def test_a_question_that_names_nothing_is_answered_as_if_there_were_no_entities(
    real_memory: Service,
) -> None:
    for text in NOISE:
        tell(real_memory, text)
    questions = ("where do backups go", "who wants invoices", "label of a test that fails sometimes", "xyzzy")
    before = [real_memory.recall(question) for question in questions]
    real_memory.entity_set("ledgerd", alias=["the", "who", "billing service"], summary="invoices and backups")
    real_memory.entity_set("Ana", alias=["I"], type="person")
    real_memory.relate("Ana", "keeps", "ledgerd")
    after = [real_memory.recall(question) for question in questions]
    assert [recall.hits for recall in after] == [recall.hits for recall in before]
    assert [recall.confidence for recall in after] == [recall.confidence for recall in before]


def test_a_name_does_not_make_a_hook_speak(real_memory: Service) -> None:
    for text in NOISE:
        tell(real_memory, text)
    for number in range(20):
        observe(real_memory, "Ana", f"fact {number}: she keeps box {number} in the attic", type="person")
    notes = Notes(
        real_memory._store,
        Caller(Actor(ActorKind.HOOK), Path.cwd()),
        Vectors(real_memory._store, real_memory._vectors.embedder),
    )
    for prompt in ("rename the variable ana in parser.py", "thanks Ana, that is all for today"):
        assert notes.for_prompt(prompt, mode=Mode.HYBRID).text == "", prompt
    assert real_memory.recall("thanks Ana, that is all for today").total >= 20


# Which names a question holds


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("billing service", "does the billing-service's queue grow?"),
        ("Ana", "what does Ana's team do"),
        ("Ana", "Anas Geburtstag"),
        ("Ana", "is it (Ana)?"),
        ("@ana", "ask @ana, please"),
        ("Ana", "ask @ana, please"),
        ("C++", "is C++ allowed?"),
        (".NET", "which .NET version"),
        ("AT&T", "the contract with AT&T."),
        ("O’Brien", "call O'Brien"),
        ("Jean-Luc Picard", "where is jean luc picard?"),
        ("node.js", "upgrade node.js!"),
        ("数据库", "数据库在哪里？"),
        ("K8s集群", "请问k8s集群的负责人是谁"),
        ("billing", "billing由谁维护"),
        ("billing service", "请问billing service由谁维护"),
        ("請求サービス", "請求サービスの担当者は誰ですか"),
        ("결제서비스", "결제서비스는 누가 관리하나요"),
        ("Straße 7", "wer wohnt in der STRASSE 7?"),
        ("IT", "who works in IT?"),
        ("😀", "what is 😀"),
        ("the long name of a ship", "when does The Long Name Of A Ship sail"),
    ],
)
def test_a_name_is_seen_in_a_question(memory: Service, name: str, question: str) -> None:
    id_ = memory.entity_set(name).entity.id
    assert named(memory, question) == [id_]


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("C", "is C++ allowed?"),
        ("art", "where do we start"),
        ("IT", "does it work"),
        ("will", "will it work"),
        ("数", "数据库在哪里"),
        ("ledgerd", ""),
        ("ledgerd", "? ! ' s"),
    ],
)
def test_what_only_looks_like_a_name_is_none(memory: Service, name: str, question: str) -> None:
    memory.entity_set(name)
    assert named(memory, question) == []


def test_a_name_within_a_longer_one_is_not_meant(memory: Service) -> None:
    short = memory.entity_set("billing").entity.id
    long = memory.entity_set("billing service").entity.id
    memory.entity_set("数据")
    base = memory.entity_set("数据库").entity.id
    assert named(memory, "where is the billing service") == [long]
    assert named(memory, "where is billing") == [short]
    assert named(memory, "数据库在哪里") == [base]
    for number in range(9):
        memory.entity_set(f"thing{number}")
    assert len(named(memory, " ".join(f"thing{number}" for number in range(9)))) == mentions.MOST_NAMED


def named(memory: Service, question: str) -> list[int]:
    with memory._store.read() as db:
        return list(mentions.named_in(db, question, Scope()))


@given(st.text(max_size=200))
def test_no_question_whatever_raises_or_takes_long(question: str) -> None:
    assert all(isinstance(name, str) for name in mentions._names_possible(question))


@pytest.mark.parametrize("question", ["据" * 50_000, "a-" * 50_000, "'s " * 50_000, "ab'據s" * 50_000])
def test_a_long_question_is_searched_for_names_as_far_as_it_is_reasonable(
    memory: Service, question: str
) -> None:
    import time

    memory.entity_set("ledgerd")
    began = time.process_time()
    assert named(memory, question) == []
    assert time.process_time() - began < 0.5


def test_of_an_entity_with_many_observations_the_fitting_ones_go_first(memory: Service) -> None:
    items = [observe(memory, "Ana", f"note {number} on topic {number + 1000}") for number in range(260)]
    recall = memory.recall("what did Ana note on topic 1003", limit=100)
    assert found(recall)[0] == items[3]
    assert why(recall, items[3]) >= {"lexical", "entity"}


def test_names_are_those_of_now_and_of_the_scope(memory: Service) -> None:
    observe(memory, "Ana", "prefers calls", project="shop")
    observe(memory, "ledger", "runs", project="shop")
    assert memory.recall("Ana", project="blog").hits == ()
    memory.entity_merge("ledger", "Ana", project="shop")
    assert len(memory.recall("ledger", project="shop").hits) == 2


def test_the_store_that_has_no_entity_is_asked_for_none(memory: Service) -> None:
    tell(memory, "The API listens on port 80")
    recall = memory.recall("which port does the API use")
    assert [set(hit.why) for hit in recall.hits] == [{"lexical", "vector"}]


def test_what_is_known_of_a_named_entity_comes_before_what_only_sounds_alike(real_memory: Service) -> None:
    real_memory.store("The deploy key for staging rotates every 90 days")
    known = real_memory.observe("billing service", "Ana looks after it since May", type="service")
    found = real_memory.recall("who maintains the billing service")
    assert found.hits[0].memory.id == known.id
