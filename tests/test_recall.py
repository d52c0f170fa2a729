"""Recall: by words and by meaning in many languages, silent where nothing fits, unmoved by odd queries."""

import dataclasses
import itertools
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran

from mem.cli import beside
from mem.errors import Usage
from mem.results import Recall
from mem.search.vector import cosines
from mem.service import Service
from mem.store.connect import select
from mem.values import Category, Fusion, Kind, Mode

KEY = "The deploy key for staging rotates every 90 days"
NOTES = (
    KEY,
    "Anna reviews every change to the billing service",
    "We write commit messages in the imperative",
    "Vite fails with EMFILE when the watcher follows node_modules",
    "The API gateway returns 502 when the upstream pool is empty",
)


def remember(service: Service, texts: tuple[str, ...] = NOTES, **options: Any) -> dict[str, int]:
    """The number of each text."""
    done = service.store_batch([{"content": text, **options} for text in texts])
    assert {outcome.action for outcome in done.outcomes} == {"added"}
    return {text: outcome.id for text, outcome in zip(texts, done.outcomes, strict=True) if outcome.id}


def texts(answer: Recall) -> list[str]:
    return [hit.memory.content for hit in answer.hits]


def order(answer: Recall) -> list[tuple[int, float]]:
    return [(hit.memory.id, hit.score) for hit in answer.hits]


# By meaning


@pytest.mark.parametrize(
    "question",
    [
        "how often do we change credentials?",
        "部署密钥多久轮换一次？",
        "Wie oft wird der Schlüssel gewechselt?",
        "À quelle fréquence change-t-on la clé de déploiement ?",
        "¿Cada cuánto se cambia la clave?",
        "Com que frequência a chave de implantação é trocada?",
        "Как часто меняется ключ развертывания?",
    ],
)
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.VECTOR])
def test_a_question_in_any_language_finds_what_it_means(
    question: str, mode: Mode, real_memory: Service
) -> None:
    remember(real_memory, (KEY,))
    assert texts(real_memory.recall(question, mode=mode)) == [KEY]
    remember(real_memory, NOTES[1:])
    assert KEY in texts(real_memory.recall(question, mode=mode, limit=3))


@pytest.mark.parametrize(
    "question",
    [
        *(
            "best pizza in Naples",
            "那不勒斯最好的披萨",
            "recette de la tarte aux pommes",
            "цена билета в театр",
        ),
        *("how do I bake sourdough bread", "the weather in Lisbon tomorrow", "lyrics of a love song"),
        *(
            "knitting pattern for a scarf",
            "capital of Mongolia",
            "meilleur restaurant à Lyon",
            "今日の天気はどうですか",
        ),
        *("xyzzy plugh", "asdfghjkl", "🦄🦄🦄"),
    ],
)
def test_where_nothing_fits_the_answer_is_empty(question: str, real_memory: Service) -> None:
    for notes in (NOTES[:1], NOTES[1:]):
        remember(real_memory, notes)
        answer = real_memory.recall(question)
        assert (texts(answer), answer.total) == ([], 0)
        assert answer.confidence < 0.1


def test_an_empty_store_has_no_answer_and_no_complaint(real_memory: Service) -> None:
    for mode in Mode:
        answer = real_memory.recall("anything at all", mode=mode)
        assert (answer.hits, answer.total, answer.elsewhere) == ((), 0, 0)


@pytest.mark.parametrize(
    ("last", "question"),
    [
        (
            "The emergency phone number of the hosting provider is on the whiteboard in room 4.",
            "whom do I call when the data centre is down?",
        ),
        (
            "Redis was chosen as the session cache because Memcached loses everything on restart.",
            "which database holds user sessions?",
        ),
    ],
)
def test_a_fact_in_the_last_sentence_of_a_long_memory_is_found_by_meaning(
    last: str, question: str, real_memory: Service
) -> None:
    remember(real_memory)
    filler = (
        "The team met to go through the plan of the quarter. Everybody said what had been done since the "
        "last meeting, and what was still open. The budget was shown on one slide and nobody had questions. "
    )
    text = (filler * 40)[: 5000 - len(last) - 1] + " " + last
    assert len(text) == 5000
    real_memory.store(text.removesuffix(last) + "Nobody had questions.")
    long = real_memory.store(text).id
    answer = real_memory.recall(question, mode=Mode.VECTOR)
    assert answer.hits[0].memory.id == long
    assert real_memory.recall(question).hits[0].memory.id == long
    scores = {hit.memory.id: hit.why["vector"].score for hit in answer.hits}
    assert all(scores[long or 0] > score for number, score in scores.items() if number != long)


# By words

WORDS = (
    ("数据", "配置数据库连接池"),
    ("数据库", "配置数据库连接池"),
    ("Redis", "用Redis做缓存"),
    ("redis", "用Redis做缓存"),
    ("缓存", "用Redis做缓存"),
    ("пул соединений", "Настройка пула соединений"),
    ("認証", "認証トークンを更新"),
    ("トークン", "認証トークンを更新"),
    ("deploy", "All deployments wait for a review"),
    ("deployment", "All deployments wait for a review"),
    ("2.4.1", "The bug came with v2.4.1 of the parser"),
    ("v2.4.1", "The bug came with v2.4.1 of the parser"),
    ("recall memory", "Hooks call recallMemory() before each prompt"),
    ("recallMemory", "Hooks call recallMemory() before each prompt"),
    ("recall_memory", "Hooks call recallMemory() before each prompt"),
    ("café", unicodedata.normalize("NFD", "The standup is in the café at ten")),
    (unicodedata.normalize("NFD", "café"), unicodedata.normalize("NFD", "The standup is in the café at ten")),
    ("cafe", unicodedata.normalize("NFD", "The standup is in the café at ten")),
)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LEXICAL])
@pytest.mark.parametrize(("query", "found"), WORDS)
def test_a_word_finds_its_other_forms_and_spellings(
    query: str, found: str, mode: Mode, real_memory: Service
) -> None:
    remember(real_memory, (*dict.fromkeys(text for _, text in WORDS), *NOTES[1:]))
    answer = real_memory.recall(query, mode=mode)
    assert texts(answer)[0] == found
    if mode is Mode.LEXICAL:
        assert texts(answer) == [found]


@pytest.mark.parametrize(("query", "found"), WORDS)
def test_a_word_finds_them_where_they_are_all_that_there_is(
    query: str, found: str, real_memory: Service
) -> None:
    remember(real_memory, (found,))
    assert texts(real_memory.recall(query)) == [found]


def test_a_version_does_not_find_another(memory: Service) -> None:
    remember(memory, ("The bug came with v2.4.1", "The bug left with v2.4.2", "Build 241 is green"))
    assert texts(memory.recall("2.4.1", mode=Mode.LEXICAL)) == ["The bug came with v2.4.1"]


def test_titles_reasons_alternatives_tags_and_the_category_are_searched_too(memory: Service) -> None:
    number = memory.store(
        "We take the second one",
        kind=Kind.DECISION,
        title="Zebra",
        rationale="Yak",
        alternatives="Wombat",
        tag=["vole"],
        category=Category.ARCHITECTURE,
        project="unicorn",
    ).id
    for word in ("zebra", "yak", "wombat", "vole", "architecture", "unicorn"):
        found = memory.recall(word, mode=Mode.LEXICAL, project="unicorn")
        assert [hit.memory.id for hit in found.hits] == [number], word


# Hostile queries

PUNCTUATION = "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum())
HOSTILE = {
    **{
        query: query
        for query in (
            *(
                '"',
                "'",
                "don't",
                "AND",
                "OR NOT",
                "NEAR(",
                "(",
                ")",
                "*",
                "C++",
                "a:b",
                "^x",
                "{x}: y",
                "--",
                "%",
            ),
            *(
                "_",
                "foo-bar",
                '""',
                '"a',
                "a*",
                "title:x",
                "NOT",
                "a AND",
                'NEAR("a" "b", 3)',
                "{a b}:c",
                "+a",
            ),
            *(
                "; DROP TABLE memories;",
                "' OR 1=1 --",
                "/* x */",
                "\\",
                "\\x00",
                "?1",
                ":name",
                "@x",
                "$x",
                "[/red]",
            ),
            *(
                "\x1b[31mred\x1b[0m",
                "a\0b",
                "\0",
                "￾",
                "‮abc",
                "a\u0301" * 50,
                "\u200b",
                "́",
                "🦄🦄🦄",
            ),
            *("?!…。！？", "。", "ﬁ", "İstanbul", "ß", "ſ", "1" * 400, "-" * 400, "𝕯𝖊𝖕𝖑𝖔𝖞"),
        )
    },
    "all punctuation": PUNCTUATION * 20,
    "only emoji": "🦄🔥👩‍👩‍👧‍👦🇩🇪" * 500,
    "forty thousand words": " ".join(f"word{number}" for number in range(40_000)),
    "forty thousand times one word": "deploy " * 40_000,
    "100 kB without a space": "x" * 100_000,
    "100 kB of letters and digits": "a1" * 50_000,
    "100 kB of joints": "a-" * 50_000,
    "100 kB of dots": "1." * 50_000,
    "100 kB of Chinese": "数据库连接" * 20_000,
    "100 kB of marks": "a" + "\u0301" * 100_000,
    "100 kB of quotes": '"' * 100_000,
    "100 kB of brackets": "(" * 100_000,
    "100 kB of dates": "last week yesterday " * 5_000,
    "100 kB of numbers": "12345 " * 20_000,
}
SQL_WORDS = ("sqlite", "syntax", "fts5", "no such column", "match", "traceback")


def asked(service: Service, query: str, mode: Mode) -> Recall | None:
    """The answer, or None where the query counts as empty."""
    try:
        return service.recall(query, mode=mode, limit=100)
    except Usage as refused:
        assert not any(word in str(refused).casefold() for word in SQL_WORDS)
        return None


@pytest.mark.parametrize("name", HOSTILE)
def test_no_query_raises_or_takes_long(name: str, memory: Service) -> None:
    numbers = remember(memory)
    for mode in Mode:
        started = time.thread_time()
        answer = asked(memory, HOSTILE[name], mode)
        assert time.thread_time() - started < 1
        assert answer is None or {hit.memory.id for hit in answer.hits} <= set(numbers.values())
    assert memory.stats().total == len(NOTES)


@pytest.mark.parametrize(
    "name", [name for name in HOSTILE if len(HOSTILE[name]) > 1000 or len(HOSTILE[name]) < 4]
)
def test_the_model_takes_them_too(name: str, real_memory: Service) -> None:
    remember(real_memory, NOTES[:3])
    started = time.monotonic()
    answer = asked(real_memory, HOSTILE[name], Mode.HYBRID)
    assert time.monotonic() - started < 8
    assert answer is None or answer.degraded == ()


def test_half_a_character_is_no_harm(real_memory: Service) -> None:
    remember(real_memory)
    for mode in Mode:
        assert asked(real_memory, "\ud800", mode) is not None
        found = asked(real_memory, "staging \udcff\ud83e", mode)
        assert found is not None and texts(found)[0] == KEY


def test_a_word_in_hostile_company_is_still_found(memory: Service) -> None:
    numbers = remember(memory)
    for query in (
        'staging"',
        "staging*",
        "(staging",
        "^staging",
        "-staging",
        "title:staging",
        "staging AND",
        "{staging}",
    ):
        assert memory.recall(query, mode=Mode.LEXICAL).hits[0].memory.id == numbers[KEY], query


@pytest.mark.parametrize("query", ["", " ", "\n\t "])
def test_a_blank_query_is_refused_with_a_way_out(query: str, memory: Service) -> None:
    with pytest.raises(Usage, match="The query is empty") as refused:
        memory.recall(query)
    assert "mem recall" in refused.value.hint


def test_hostile_queries_on_the_command_line_end_with_0_and_a_plain_answer(
    run_mem: Callable[..., Ran],
) -> None:
    env = {"MEM_MODEL": "none"}
    assert run_mem("store", KEY, env=env).code == 0
    for name in ("OR NOT", "--", "100 kB without a space"):
        ran = run_mem("recall", "--json", "--", HOSTILE[name], env=env)
        assert (ran.code, ran.err, ran.document()["hits"]) == (0, "", [])


# The answer


@pytest.mark.parametrize("fusion", list(Fusion))
@pytest.mark.parametrize("mode", list(Mode))
def test_scores_lie_between_0_and_1_and_fall_and_say_where_they_come_from(
    mode: Mode, fusion: Fusion, real_memory: Service
) -> None:
    remember(real_memory)
    answer = real_memory.recall(
        "when does the deploy key for staging rotate", mode=mode, fusion=fusion, limit=100
    )
    assert (answer.mode, answer.requested_mode, answer.degraded) == (mode, mode, ())
    assert texts(answer)[0] == KEY
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert scores[0] == pytest.approx(1)
    legs = {Mode.LEXICAL: {"lexical"}, Mode.VECTOR: {"vector"}, Mode.HYBRID: {"lexical", "vector"}}[mode]
    assert answer.hits[0].why.keys() == legs
    for name in legs:
        own = {hit.why[name].rank: hit.why[name].score for hit in answer.hits if name in hit.why}
        ranked = [own[rank] for rank in sorted(own)]
        assert ranked == sorted(ranked, reverse=True)
        assert answer.hits[0].why[name].rank == 1
    assert answer.total == len(answer.hits)
    assert answer.query == "when does the deploy key for staging rotate"
    assert 0 <= answer.confidence <= 1


def test_total_counts_all_that_fits_whatever_the_limit(memory: Service) -> None:
    remember(memory, tuple(f"The deploy of service number {number} is green" for number in range(30)))
    for limit in (1, 10, 30, 100):
        answer = memory.recall("deploy service green", limit=limit)
        assert (len(answer.hits), answer.total) == (min(limit, 30), 30)
    assert len(memory.recall("deploy service green").hits) == 10


def test_a_longer_list_begins_with_the_shorter(memory: Service) -> None:
    remember(memory, tuple(f"The deploy of service number {number} is green" for number in range(30)))
    whole = order(memory.recall("deploy service number 7", limit=30))
    for limit in (1, 5, 29):
        assert order(memory.recall("deploy service number 7", limit=limit)) == whole[:limit]


def test_reciprocal_ranks_order_by_both_legs(real_memory: Service) -> None:
    remember(real_memory)
    answer = real_memory.recall("deploy key, and the API gateway", fusion=Fusion.RRF, limit=100)
    best = sum(1 / 61 for _ in ("lexical", "vector"))
    for hit in answer.hits:
        assert hit.score == pytest.approx(sum(1 / (60 + leg.rank) for leg in hit.why.values()) / best)
    assert set(texts(answer)[:2]) == {KEY, NOTES[4]}


def test_the_same_question_has_the_same_answer_however_often_it_was_asked(memory: Service) -> None:
    remember(memory, tuple(f"The deploy of service number {number} is green" for number in range(30)))
    first = order(memory.recall("deploy service green", limit=7))
    for _ in range(50):
        assert order(memory.recall("deploy service green", limit=7)) == first
    with memory._store.read() as db:
        counted = {number: recalls for number, recalls in select(db, "SELECT memory_id, recalls FROM usage")}
    # They were counted all the while, and only those that were handed out.
    assert counted == {number: 51 for number, _ in first}
    assert order(memory.recall("deploy service green", limit=30))[:7] == first


# Every order of the same four words: alike in both legs.
ALIKE = tuple(" ".join(words) for words in itertools.permutations(("alpha", "beta", "gamma", "delta")))


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("count", [3, 5, 7, 24])
def test_equals_are_ordered_by_importance_then_newest_first(mode: Mode, count: int, memory: Service) -> None:
    stored = [
        (place % 3, outcome.id)
        for place, text in enumerate(ALIKE[:count])
        for outcome in [memory.store(text, importance=place % 3)]
    ]
    answer = memory.recall("alpha beta gamma delta", mode=mode, limit=100)
    assert len({hit.score for hit in answer.hits}) == 1
    assert [(hit.memory.importance, hit.memory.id) for hit in answer.hits] == sorted(stored, reverse=True)


@pytest.mark.parametrize("dimensions", [384, 250])
@pytest.mark.parametrize("centred", [True, False])
def test_equal_vectors_have_equal_cosines_wherever_they_stand(dimensions: int, centred: bool) -> None:
    import numpy as np

    chance = np.random.default_rng(7)
    row, question = (chance.standard_normal(dimensions).astype(np.float32) for _ in range(2))
    mean = chance.standard_normal(dimensions).astype(np.float32) / 100 if centred else None
    for count in range(1, 40):
        rows = np.tile(row / np.linalg.norm(row), (count, 1))
        assert len(set(cosines(rows, question / np.linalg.norm(question), mean).tolist())) == 1


def test_of_more_equals_than_a_leg_holds_the_newest_are_taken(memory: Service) -> None:
    words = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    several = tuple(" ".join(chosen) for chosen in itertools.permutations(words))[:300]
    numbers = list(remember(memory, several).values())
    for mode in Mode:
        answer = memory.recall(" ".join(words), mode=mode, limit=100)
        assert [hit.memory.id for hit in answer.hits] == numbers[:-101:-1]


@pytest.mark.parametrize("mode", list(Mode))
def test_importance_confidence_and_age_do_not_overrule_what_fits_better(mode: Mode, memory: Service) -> None:
    better = memory.store("The deploy key of staging rotates", importance=0, confidence=0.0).id
    for number in range(12):
        memory.store(f"The deploy of service number {number}", importance=10, confidence=1.0)
    assert memory.recall("deploy key staging rotates", mode=mode).hits[0].memory.id == better


def test_a_hard_window_filters_and_is_named(memory: Service) -> None:
    inside = memory.store("deploy in June", event_time="2024-06-10").id
    memory.store("deploy in July", event_time="2024-07-10")
    answer = memory.recall("deploy last week", since="2024-06-01", until="2024-06-30")
    assert [hit.memory.id for hit in answer.hits] == [inside]
    assert answer.window is not None and answer.window.hard and answer.window.phrase is None
    with pytest.raises(Usage, match="until '2024-05-01' is not after since '2024-06-01'"):
        memory.recall("deploy", since="2024-06-01", until="2024-05-01")


def test_a_phrase_of_time_lifts_and_filters_nothing(memory: Service) -> None:
    for number in range(8):
        memory.store(f"deploy number {number}", event_time="2020-01-10")
    lifted = memory.store("deploy of the other kind", event_time="2024-06-10").id
    plain = memory.recall("deploy", limit=100)
    answer = memory.recall("deploy in June 2024", limit=100)
    assert answer.window is not None and not answer.window.hard
    assert answer.window.phrase and "June 2024" in answer.window.phrase
    assert answer.hits[0].memory.id == lifted
    assert plain.total == answer.total == 9
    assert all(0 <= hit.score <= 1 for hit in answer.hits)


def test_elsewhere_counts_the_hits_of_projects_and_nothing_else(memory: Service) -> None:
    remember(memory, tuple(f"deploy number {number} of the global kind" for number in range(5)))
    remember(
        memory, tuple(f"deploy number {number} of the project kind" for number in range(3)), project="api"
    )
    answer = memory.recall("deploy kind")
    assert (answer.total, answer.elsewhere) == (5, 3)
    assert memory.recall("zebra").elsewhere == 0


def test_the_answer_of_the_command_line_has_the_same_order_and_fields(
    tmp_path: Path, run_mem: Callable[..., Ran]
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("".join(f'{{"content": "deploy number {number}"}}\n' for number in range(5)))
    env = {"MEM_MODEL": "none"}
    assert run_mem("store-batch", str(notes), env=env).code == 0
    document = run_mem("recall", "deploy", "--limit", "3", "--json", env=env).document()
    assert document["schema_version"] == 1
    assert [hit["content"] for hit in document["hits"]] == [f"deploy number {number}" for number in (4, 3, 2)]
    assert (document["total"], document["mode"], document["requested_mode"]) == (5, "lexical", "hybrid")
    assert document["degraded"] == ["no_model"]
    assert document["hits"][0]["why"]["lexical"]["rank"] == 1


def test_a_person_is_told_when_the_nearest_is_not_near(real_memory: Service) -> None:
    real_memory.store(KEY)
    found = real_memory.recall("how often do we change credentials?")
    weak = "Nothing fits well; this is what comes nearest."
    assert found.total == 1
    assert list(beside.notes(found)) == [], "the README shows this answer without the note"
    unsure = dataclasses.replace(found, confidence=0.006)
    assert list(beside.notes(unsure)) == [weak]
    assert list(beside.notes(dataclasses.replace(unsure, mode=Mode.LEXICAL))) == []
