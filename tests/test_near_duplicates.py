"""Near-duplicates: calibrated on labelled pairs with the bundled model; what a store says of them."""

from collections import Counter

import pytest
from labelled_pairs import Labelled, labelled, measure
from telling import tell

from mem.embed.local import LocalEmbedder
from mem.service import Service
from mem.truth.judging import Judge
from mem.values import Kind


@pytest.fixture(scope="module")
def pairs(real_embedder: LocalEmbedder) -> list[Labelled]:
    return labelled(real_embedder)[0]


def test_the_set_has_120_pairs_in_four_languages_and_all_labels(pairs: list[Labelled]) -> None:
    languages = Counter(pair.language for pair in pairs)
    assert len(pairs) >= 120
    assert sum(count >= 25 for count in languages.values()) >= 4
    assert {pair.label for pair in pairs} == {"duplicate", "related", "contradiction", "unrelated"}


@pytest.mark.parametrize("half", ["development", "held-out"])
def test_near_duplicates_are_told_from_what_is_only_related(pairs: list[Labelled], half: str) -> None:
    judge = Judge()
    found = measure([pair for pair in pairs if pair.half == half], "duplicate", lambda p: p.repeats(judge))
    assert (found.precision >= 0.9, found.recall >= 0.9) == (True, True), found


def test_by_words_alone_near_duplicates_are_found_less_often_but_as_rightly(pairs: list[Labelled]) -> None:
    judge = Judge()
    found = measure(pairs, "duplicate", lambda pair: pair.repeats(judge, by_words=True))
    assert (found.precision >= 0.9, found.recall >= 0.6) == (True, True), found


def test_what_contradicts_is_never_called_a_near_duplicate(pairs: list[Labelled]) -> None:
    judge = Judge()
    assert [pair.texts for pair in pairs if pair.label == "contradiction" and pair.repeats(judge)] == []


@pytest.mark.parametrize(
    ("known", "given", "expected"),
    [
        ("The quota is 1,000 requests per hour", "The quota is 1000 requests per hour!?", {"near_duplicate"}),
        ("Der Schlüssel gilt neunzig Tage lang", "Der Schlüssel gilt 90 Tage lang", {"near_duplicate"}),
        ("Do not deploy on Fridays", "Never deploy on Fridays", {"near_duplicate"}),
        ("Pushes to main are not allowed", "Pushes to main are forbidden", {"near_duplicate"}),
        ("The worker retries failed jobs", "The worker retries failed jobs 3 times", {"near_duplicate"}),
        (
            "The worker retries failed jobs",
            "The worker does not retry failed jobs",
            {"possible_contradiction"},
        ),
        ("日志保留30天", "日志保留90天", {"possible_contradiction"}),
        ("Julia learns the cello", "The API listens on port 8443", set()),
    ],
)
def test_a_store_says_what_the_new_text_is_to_a_known_one(
    real_memory: Service, known: str, given: str, expected: set[str]
) -> None:
    tell(real_memory, known)
    assert {notice.code for notice in real_memory.store(given).warnings} == expected


def test_a_possible_contradiction_names_what_differs(real_memory: Service) -> None:
    first = tell(real_memory, "The staging API listens on port 8443")
    stored = real_memory.store("The staging API listens on port 9443")
    assert [notice.ids for notice in stored.warnings] == [(int(first),)]
    assert f"They differ in number; if the new one replaces it: mem supersede {first} --by {stored.id}" in (
        stored.warnings[0].message
    )


def test_a_memory_of_another_kind_is_no_near_duplicate(real_memory: Service) -> None:
    tell(real_memory, "The worker retries failed jobs", kind=Kind.SUMMARY)
    assert real_memory.store("The worker retries jobs that failed").warnings == ()
