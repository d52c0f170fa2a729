"""Contradictions: labelled pairs in seven languages; which pairs are proposed, and with which command."""

import shlex
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from labelled_pairs import LANGUAGES, Labelled, labelled, measure
from telling import everything, tell

from mem.embed.local import LocalEmbedder
from mem.service import Service
from mem.truth.judging import Judge
from mem.values import Kind, Trust

OLD, NEW = "The staging API listens on port 8443", "The staging API listens on port 9443"


@pytest.fixture(scope="module")
def pairs(real_embedder: LocalEmbedder) -> list[Labelled]:
    return labelled(real_embedder)[1]


def test_the_set_has_25_pairs_of_both_sorts_in_each_of_seven_languages(pairs: list[Labelled]) -> None:
    counted = Counter((pair.language, pair.label) for pair in pairs)
    assert all(
        counted[language, label] >= 25 for language in LANGUAGES for label in ("contradiction", "other")
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_contradictions_are_told_from_repetitions_details_and_other_subjects(
    pairs: list[Labelled], language: str
) -> None:
    judge = Judge()
    chosen = [pair for pair in pairs if pair.language == language]
    found = measure(chosen, "contradiction", lambda pair: pair.contradicts(judge))
    assert (found.precision >= 0.95, found.recall >= 0.9) == (True, True), found


def test_held_out_contradictions_are_found_as_precisely(pairs: list[Labelled]) -> None:
    judge = Judge()
    chosen = [pair for pair in pairs if pair.half == "held-out"]
    found = measure(chosen, "contradiction", lambda pair: pair.contradicts(judge))
    assert (found.precision >= 0.9, found.recall >= 0.8) == (True, True), found


def test_by_words_alone_precision_stays(pairs: list[Labelled]) -> None:
    judge = Judge()
    found = measure(pairs, "contradiction", lambda pair: pair.contradicts(judge, by_words=True))
    assert (found.precision >= 0.9, found.recall >= 0.9) == (True, True), found


@pytest.mark.parametrize(
    ("known", "given", "reason"),
    [
        ("The worker retries failed jobs", "The worker does not retry failed jobs", "negation"),
        ("Feature flags are enabled in production", "Feature flags are disabled in production", "negation"),
        (OLD, NEW, "number"),
        (
            "The payment service stores its data in PostgreSQL",
            "The payment service stores its data in MongoDB",
            "value",
        ),
        ("Deploys go out on Friday", "Deploys go out on Tuesday", "value"),
        ("Tom prefers tabs over spaces", "Tom prefers spaces over tabs", "value"),
        ("允许直接推送到主分支", "禁止直接推送到主分支", "negation"),
        ("エラーの後、サービスは自動で再起動する", "エラーの後、サービスは自動で再起動しない", "negation"),
    ],
)
def test_a_pair_is_proposed_with_its_reason(
    real_memory: Service, known: str, given: str, reason: str
) -> None:
    older, newer = tell(real_memory, known), tell(real_memory, given)
    tell(real_memory, "Julia learns the cello on Wednesdays")
    (pair,) = real_memory.contradictions().pairs
    assert (pair.reasons, pair.older.content, pair.newer.content) == ((reason,), known, given)
    assert pair.suggestion == f"mem supersede {older} --by {newer}"


def test_the_suggested_command_settles_the_pair(run_mem: Callable[..., Any]) -> None:
    for text in (OLD, NEW):
        assert run_mem("store", text, env={"MEM_MODEL": "none"}).code == 0
    found = run_mem("contradictions", "--json").document()
    assert [(pair["older"]["id"], pair["newer"]["id"]) for pair in found["pairs"]] == [(1, 2)]
    program, *arguments = found["pairs"][0]["suggestion"].split()
    assert (program, run_mem(*arguments).code) == ("mem", 0)
    assert run_mem("contradictions", "--json").document()["pairs"] == []


def test_disputing_the_weaker_one_settles_the_pair_too(run_mem: Callable[..., Any]) -> None:
    run_mem("store", OLD, "--confidence", "0.9", env={"MEM_MODEL": "none"})
    run_mem("store", NEW, "--confidence", "0.2", env={"MEM_MODEL": "none"})
    suggestion = run_mem("contradictions", "--json").document()["pairs"][0]["suggestion"]
    program, *arguments = shlex.split(suggestion)
    assert (program, arguments[:3], run_mem(*arguments).code) == ("mem", ["trust", "2", "disputed"], 0)
    assert run_mem("contradictions", "--json").document()["pairs"] == []


def test_finding_contradictions_changes_nothing(memory: Service) -> None:
    tell(memory, OLD)
    tell(memory, NEW)
    before = everything(memory)
    assert memory.contradictions().total == 1
    assert everything(memory) == before
    assert [event.operation for event in memory.log().events] == ["store", "store"]


def test_the_older_by_valid_time_is_the_one_to_be_replaced(memory: Service) -> None:
    later = tell(memory, NEW, valid_from="2026-04-01")
    earlier = tell(memory, OLD, valid_from="2026-03-01")
    assert memory.contradictions().pairs[0].suggestion == f"mem supersede {earlier} --by {later}"


def test_a_verified_memory_is_not_to_be_replaced_by_one_that_is_not(memory: Service) -> None:
    verified, other = tell(memory, OLD), tell(memory, NEW)
    memory.trust([verified], Trust.VERIFIED, reason="looked it up")
    expected = f'mem trust {other} disputed --reason "contradicts #{verified}"'
    assert memory.contradictions().pairs[0].suggestion == expected


def test_a_confident_and_an_unconfident_memory_of_nearly_the_same_text(memory: Service) -> None:
    sure = tell(memory, "The staging deploy key rotates every ninety days", confidence=0.9)
    unsure = tell(memory, "The staging deploy key rotates every ninety days I think", confidence=0.2)
    (pair,) = memory.contradictions().pairs
    assert (pair.reasons, pair.suggestion) == (("confidence",), f"mem supersede {unsure} --by {sure}")
    memory.update(unsure, confidence=0.6)
    assert memory.contradictions().pairs == ()


def test_what_is_settled_is_not_proposed(memory: Service) -> None:
    older, newer = tell(memory, OLD), tell(memory, NEW)
    assert memory.contradictions().total == 1
    memory.trust([older], Trust.DISPUTED, reason="two ports")
    assert memory.contradictions().total == 0
    memory.trust([older], Trust.UNVERIFIED, reason="looked again")
    assert memory.contradictions().total == 1
    memory.archive([newer])
    assert memory.contradictions().total == 0
    memory.restore([newer])
    memory.reject([older], reason="never so")
    assert memory.contradictions().total == 0


def test_pairs_are_of_one_project_and_kind(memory: Service) -> None:
    tell(memory, OLD, project="shop")
    tell(memory, NEW, project="blog")
    tell(memory, NEW, project="shop", kind=Kind.SUMMARY)
    assert memory.contradictions(all_projects=True).total == 0
    tell(memory, "The staging API listens on port 7000", project="shop")
    assert memory.contradictions().total == 0
    assert memory.contradictions(project="shop").total == 1
    assert memory.contradictions(all_projects=True).total == 1
    assert memory.contradictions(project="shop", kind=[Kind.SUMMARY]).total == 0


def test_the_limit_leaves_the_total(memory: Service) -> None:
    for port in range(5):
        tell(memory, f"The staging API listens on port {8000 + port}")
    found = memory.contradictions(limit=3)
    assert (len(found.pairs), found.total, found.examined) == (3, 10, 5)


def test_without_vectors_words_are_compared_and_the_answer_says_so(memory: Service) -> None:
    assert memory.contradictions().degraded == ()
    words = Service(memory._store, None, memory._caller)
    tell(words, OLD)
    tell(words, NEW)
    found = words.contradictions()
    assert (found.degraded, found.total) == (("no_vectors",), 1)
    assert found.pairs[0].similarity == pytest.approx(6 / 8)
    tell(memory, "The staging API listens on port 7000")
    found = memory.contradictions()
    assert (found.degraded, found.total) == (("pending_vectors",), 3)


def test_many_texts_that_are_nearly_one_are_compared_within_seconds(memory: Service) -> None:
    for start in range(0, 400, 200):
        items = [
            {"content": f"The build of server {number} in rack {number % 7} takes {number % 90} minutes"}
            for number in range(start, start + 200)
        ]
        assert {one.action for one in memory.store_batch(items).outcomes} == {"added"}
    began = time.process_time()
    found = memory.contradictions(limit=200)
    assert found.examined == 400
    assert time.process_time() - began < 10


def test_on_the_command_line_each_pair_is_one_line(run_mem: Callable[..., Any]) -> None:
    none = run_mem("contradictions")
    assert (none.code, none.out, none.err) == (0, "", "No contradiction found.\n")
    for text in (OLD, NEW):
        run_mem("store", text, env={"MEM_MODEL": "none"})
    ran = run_mem("contradictions")
    assert ran.out == f"number\t0.75\tmem supersede 1 --by 2\t#1 {OLD}\t#2 {NEW}\n"
    assert "memories were compared by their words; see mem backfill" in ran.err
    assert run_mem("contradictions", "--limit", "201").code == 2


def test_on_a_terminal_a_pair_shows_both_texts(
    run_mem: Callable[..., Any], on_terminal: Callable[..., tuple[int, str]]
) -> None:
    for text in (OLD, NEW):
        run_mem("store", text, env={"MEM_MODEL": "none"})
    code, seen = on_terminal("contradictions", env={"NO_COLOR": "1"})
    assert code == 0
    assert all(part in seen for part in (OLD, NEW, "mem supersede 1 --by 2", "confidence 0.7"))
