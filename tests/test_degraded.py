"""Less than everything at hand: no model, no vectors, no extension, damaged indexes."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import BagOfWords, Ran

from mem.caller import Caller
from mem.embed import EmbeddingError, Role
from mem.results import Check, Recall, VectorState
from mem.search import index, vector
from mem.service import Service, open_service
from mem.store import connect
from mem.store.connect import Store
from mem.values import Mode, Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEY = "The deploy key for staging rotates every ninety days"
QUESTION = "when does the deploy key rotate"


class Failing(BagOfWords):
    """A model that gives no vectors while it is broken."""

    broken = True

    def embed(
        self, texts: Sequence[str], role: Role, *, timeout: float | None = None
    ) -> "NDArray[np.float32]":
        if self.broken:
            raise EmbeddingError("The model does not run.")
        return super().embed(texts, role, timeout=timeout)


class Other(BagOfWords):
    """Another model, whose vectors mean something else."""

    name = "other@1"
    dimensions = 64


@pytest.fixture
def opened(home: Path, person: Caller, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Service]]:
    """Opens the store anew, with an embedder, with the vector extension or without it."""
    library = connect.vector_extension()
    assert library is not None
    stores: list[Store] = []

    def reopen(embedder: BagOfWords | None = None, *, extension: bool = True) -> Service:
        while stores:
            stores.pop().close()
        monkeypatch.setattr(connect, "vector_extension", lambda: library if extension else None)
        stores.append(Store(home / "memory.db"))
        assert stores[0].has_vectors is extension
        return Service(stores[0], embedder, person)

    yield reopen
    while stores:
        stores.pop().close()


@pytest.fixture
def always_by_index(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lets small stores be searched by the vector index too; records the searches."""
    searches: list[int] = []
    original = vector._nearest
    monkeypatch.setattr(
        vector, "search", lambda *given, **options: _search(*given, **{**options, "exact_below": 0})
    )

    def nearest(*arguments: Any) -> list[int]:
        found = original(*arguments)
        searches.append(len(found))
        return found

    monkeypatch.setattr(vector, "_nearest", nearest)
    return searches


_search = vector.search


def ids(answer: Recall) -> list[int]:
    return [hit.memory.id for hit in answer.hits]


def check(service: Service, name: str, *, fix: bool = False) -> Check:
    """One of the things that doctor looks at."""
    report = service.doctor(fix=fix)
    found = next(check for check in report.checks if check.name == name)
    assert report.sound == all(check.ok or check.fixed for check in report.checks)
    assert (report.exit_status == 0) == report.sound
    return found


def damage(service: Service, sql: str) -> None:
    """Break something that no operation breaks."""
    with service._store.write() as db:
        db.execute(sql)
        assert db.changes() > 0


# The model


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.VECTOR])
def test_without_a_model_words_answer_and_the_answer_says_so(
    mode: Mode, opened: Callable[..., Service]
) -> None:
    service = opened(None)
    stored = service.store(KEY)
    assert stored.vector is VectorState.NONE
    answer = service.recall(QUESTION, mode=mode)
    assert (answer.mode, answer.requested_mode, answer.degraded) == (Mode.LEXICAL, mode, ("no_model",))
    assert ids(answer) == [stored.id]
    assert answer.hits[0].why.keys() == {"lexical"}
    assert service.recall("pizza in Naples").hits == ()


def test_a_model_of_none_in_the_environment_is_no_model(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM_MODEL", "none")
    service = open_service()
    try:
        service.store(KEY)
        assert service.recall(QUESTION).degraded == ("no_model",)
        assert next(check for check in service.doctor().checks if check.name == "model").ok
    finally:
        service.close()


def test_asking_for_words_alone_is_not_a_loss(opened: Callable[..., Service]) -> None:
    for service in (opened(None), opened(BagOfWords()), opened(Failing())):
        service.store(KEY)
        answer = service.recall(QUESTION, mode=Mode.LEXICAL)
        assert (answer.mode, answer.requested_mode, answer.degraded) == (Mode.LEXICAL, Mode.LEXICAL, ())
        assert answer.total == 1


def test_a_model_that_fails_costs_the_vector_and_not_the_text(opened: Callable[..., Service]) -> None:
    model = Failing()
    service = opened(model)
    model.broken = False
    kept = service.store("The office closes at six")
    assert kept.vector is VectorState.STORED
    model.broken = True
    stored = service.store(KEY)
    batch = service.store_batch([{"content": f"Fact number {number}"} for number in range(3)])
    assert {stored.vector, *(outcome.vector for outcome in batch.outcomes)} == {VectorState.PENDING}
    answer = service.recall(QUESTION)
    assert (answer.mode, answer.degraded, ids(answer)) == (Mode.LEXICAL, ("embedding_failed",), [stored.id])
    counted = service.stats()
    assert (counted.vectors_stored, counted.vectors_pending) == (1, 4)
    model.broken = False
    assert service.recall(QUESTION).degraded == ()


def test_a_store_without_any_vector_is_searched_by_words_where_time_is_short(
    opened: Callable[..., Service],
) -> None:
    stored = opened(None).store(KEY)
    service = opened(BagOfWords())
    answer = service.recall(QUESTION, mode=Mode.VECTOR, deadline_ms=5_000)
    assert (answer.mode, answer.degraded, ids(answer)) == (Mode.LEXICAL, ("no_vectors",), [stored.id])


def test_the_first_question_gives_the_first_texts_their_vectors(opened: Callable[..., Service]) -> None:
    stored = opened(None).store(KEY)
    service = opened(BagOfWords())
    answer = service.recall(QUESTION, mode=Mode.VECTOR)
    assert (answer.mode, answer.degraded, ids(answer)) == (Mode.VECTOR, (), [stored.id])
    assert service.stats().vectors_pending == 0


def test_another_model_s_vectors_are_neither_compared_nor_mixed(opened: Callable[..., Service]) -> None:
    first = opened(BagOfWords()).store(KEY)
    service = opened(Other())
    answer = service.recall(QUESTION)
    assert (answer.mode, answer.degraded, ids(answer)) == (Mode.LEXICAL, ("other_model",), [first.id])
    second = service.store("The deploy key of production rotates yearly")
    assert second.vector is VectorState.PENDING
    service = opened(BagOfWords())
    answer = service.recall(QUESTION, mode=Mode.VECTOR)
    assert (answer.degraded, ids(answer)) == ((), [first.id])
    assert check(service, "indexes").ok


def test_an_update_that_cannot_embed_leaves_no_old_vector(opened: Callable[..., Service]) -> None:
    model = Failing()
    service = opened(model)
    model.broken = False
    number = str(service.store("The office closes at six").id)
    assert service.recall("office closes", mode=Mode.VECTOR).total == 1
    model.broken = True
    changed = service.update(number, content=KEY)
    assert changed.vector is VectorState.PENDING
    model.broken = False
    assert service.recall("office closes", mode=Mode.VECTOR).total == 0
    assert service.recall("The office closes at six").total == 0
    assert ids(service.recall(QUESTION)) == [int(number)]
    assert check(service, "indexes").ok
    assert service.update(number, content=f"{KEY} now").vector is VectorState.STORED
    assert service.recall(QUESTION, mode=Mode.VECTOR).total == 1


@pytest.mark.parametrize("project", ["other", None])
def test_a_memory_that_waits_is_found_by_meaning_once_its_text_has_a_vector(
    project: str | None, opened: Callable[..., Service]
) -> None:
    model = Failing()
    service = opened(model)
    waiting = service.store(KEY, project="mine")
    assert waiting.vector is VectorState.PENDING
    model.broken = False
    assert service.store(KEY, project=project or "mine").vector is VectorState.STORED
    assert ids(service.recall(QUESTION, mode=Mode.VECTOR, project="mine")) == [waiting.id]
    assert check(service, "indexes").ok
    assert service.stats().vectors_pending == 0


# The extension


def fill(service: Service, count: int = 150) -> None:
    """Memories of which the first fit best, in even steps, and a rest that all fits alike."""
    fillers = (
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "mu",
        "nu",
    )
    texts = [f"{QUESTION} {' '.join(fillers[:size])}" for size in range(12)]
    texts += [f"unlike the others number {number} deploy" for number in range(count - 12)]
    for start in range(0, count, 100):
        done = service.store_batch([{"content": text} for text in texts[start : start + 100]])
        assert {outcome.action for outcome in done.outcomes} == {"added"}


def answers(service: Service, limit: int = 12) -> list[list[tuple[int, float, Any]]]:
    """The same questions to every service: ids, scores and reasons."""
    questions = (QUESTION, f"{QUESTION} alpha", "deploy key alpha beta gamma")
    found = [
        service.recall(question, mode=mode, limit=limit, status=status)
        for question in questions
        for mode in (Mode.HYBRID, Mode.VECTOR)
        for status in ((), [Status.ACTIVE])
    ]
    assert all(answer.hits for answer in found)
    return [[(hit.memory.id, round(hit.score, 6), hit.why) for hit in answer.hits] for answer in found]


def test_without_the_extension_the_answer_is_exact_equal_and_named(
    opened: Callable[..., Service], always_by_index: list[int]
) -> None:
    service = opened(BagOfWords())
    fill(service)
    always_by_index.clear()
    indexed = answers(service)
    assert len(always_by_index) >= 12
    assert service.recall(QUESTION).degraded == ()
    always_by_index.clear()
    service = opened(BagOfWords(), extension=False)
    assert answers(service) == indexed
    assert always_by_index == []
    answer = service.recall(QUESTION)
    assert (answer.mode, answer.degraded) == (Mode.HYBRID, ("no_vector_extension",))
    assert service.recall(QUESTION, mode=Mode.LEXICAL).degraded == ()


def test_a_file_that_is_no_extension_is_like_none(
    tmp_path: Path, home: Path, person: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "vec0.so"
    broken.write_bytes(b"no library")
    monkeypatch.setattr(connect, "vector_extension", lambda: broken)
    store = Store(home / "memory.db")
    service = Service(store, BagOfWords(), person)
    stored = service.store(KEY)
    answer = service.recall(QUESTION)
    assert (ids(answer), answer.degraded) == ([stored.id], ("no_vector_extension",))
    store.close()


def test_after_a_write_without_the_extension_every_answer_is_exact_until_doctor_rebuilds_the_index(
    opened: Callable[..., Service], always_by_index: list[int]
) -> None:
    fill(opened(BagOfWords()))
    service = opened(BagOfWords(), extension=False)
    newest = service.store(f"{QUESTION} exactly").id
    gone = str(service.list_(limit=1, offset=5).memories[0].id)
    service.archive([gone])
    always_by_index.clear()
    service = opened(BagOfWords())
    before = answers(service)
    assert always_by_index == []
    assert newest in ids(service.recall(QUESTION, mode=Mode.VECTOR))
    found = check(service, "indexes")
    assert not found.ok and "stale" in found.detail and found.hint == "mem doctor --fix"
    mended = check(service, "indexes", fix=True)
    assert mended.fixed and "over 150 memories" in mended.detail
    assert check(service, "indexes").ok
    always_by_index.clear()
    assert answers(service) == before
    assert len(always_by_index) >= 12


def test_an_index_that_is_made_after_writes_without_the_extension_lacks_nothing(
    opened: Callable[..., Service], always_by_index: list[int]
) -> None:
    first = opened(BagOfWords(), extension=False).store(KEY).id
    service = opened(BagOfWords())
    second = service.store(f"{KEY} at noon").id
    assert sorted(ids(service.recall(QUESTION, mode=Mode.VECTOR))) == [first, second]
    service.doctor(fix=True)
    assert check(service, "indexes").ok
    always_by_index.clear()
    assert sorted(ids(service.recall(QUESTION, mode=Mode.VECTOR))) == [first, second]
    assert set(always_by_index) == {2}


def test_a_rebuild_without_the_extension_leaves_no_index_that_points_astray(
    opened: Callable[..., Service], always_by_index: list[int]
) -> None:
    service = opened(BagOfWords())
    fill(service, 40)
    service.archive([str(memory.id) for memory in service.list_(limit=10, offset=18).memories])
    service = opened(BagOfWords(), extension=False)
    damage(service, "DELETE FROM memories_lengths WHERE id IN (SELECT id FROM memories_lengths LIMIT 1)")
    assert check(service, "indexes", fix=True).fixed
    service = opened(BagOfWords())
    service.store("Written after the rebuild")
    expected = answers(opened(BagOfWords(), extension=False))
    assert answers(opened(BagOfWords())) == expected
    service = opened(BagOfWords())
    service.doctor(fix=True)
    assert answers(service) == expected


# Damage

DAMAGES = {
    "a word entry is gone": ("DELETE FROM memories_fts WHERE rowid = 3", "word index (fts)"),
    "a word entry too many": (
        "INSERT INTO memories_fts (rowid, title, content, context) VALUES (999, '', 'ghost', '')",
        "word index (fts)",
    ),
    "a length is gone": ("DELETE FROM memories_lengths WHERE id = 3", "word index (lengths)"),
    "a length in another project": ("UPDATE memories_lengths SET project = 7 WHERE id = 3", "word index"),
    "a vector entry is gone": ("DELETE FROM vector_index WHERE rowid = 3", "vector index: 1 pieces missing"),
    "a piece is gone": ("DELETE FROM indexed_pieces WHERE id = 3", "vectors: 1 pieces not listed"),
    "a piece in another project": ("UPDATE indexed_pieces SET project = 7 WHERE id = 3", "vectors"),
    "a wrong count": ("UPDATE centroids SET pieces = pieces + 1", "centroids"),
    "counts that only add up": (
        "INSERT INTO centroids SELECT 7, -1, total FROM centroids UNION SELECT 8, 1, total FROM centroids",
        "centroids",
    ),
    "no counts": ("DELETE FROM centroids", "centroids"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_doctor_finds_and_mends_a_damaged_index(name: str, opened: Callable[..., Service]) -> None:
    sql, told = DAMAGES[name]
    service = opened(BagOfWords())
    fill(service, 30)
    before = answers(service)
    assert check(service, "indexes").ok
    damage(service, sql)
    found = check(service, "indexes")
    assert not found.ok and told in found.detail
    assert found.hint == "mem doctor --fix"
    again = check(service, "indexes")
    assert again == found  # looking mends nothing
    assert check(service, "indexes", fix=True).fixed
    assert check(service, "indexes").ok
    assert answers(service) == before


def test_doctor_finds_a_damaged_word_index_by_fts5_s_own_check(opened: Callable[..., Service]) -> None:
    service = opened(BagOfWords())
    fill(service, 30)
    before = answers(service)
    damage(service, "UPDATE memories_fts_data SET block = zeroblob(length(block)) WHERE id > 10")
    service = opened(BagOfWords())
    found = check(service, "indexes")
    assert not found.ok and "FTS5 reports" in found.detail
    assert check(service, "indexes", fix=True).fixed
    assert answers(service) == before


def test_a_sound_store_is_called_sound_with_and_without_extension_and_model(
    opened: Callable[..., Service],
) -> None:
    fill(opened(BagOfWords()), 30)
    assert check(opened(BagOfWords()), "indexes").ok
    assert check(opened(None), "indexes").ok
    service = opened(BagOfWords(), extension=False)
    assert check(service, "indexes").ok
    assert not check(service, "vector extension").ok


def test_doctor_on_the_command_line_ends_with_1_until_it_has_mended(
    opened: Callable[..., Service], run_mem: Callable[..., Ran]
) -> None:
    service = opened(None)
    fill(service, 30)
    damage(service, "DELETE FROM memories_fts WHERE rowid = 3")
    service.close()
    statuses = [
        run_mem("doctor", *options, env={"MEM_MODEL": "none"}).code for options in ((), ("--fix",), ())
    ]
    assert statuses == [1, 0, 0]


def test_the_state_of_the_index_is_one_of_three(opened: Callable[..., Service]) -> None:
    states: list[str] = []
    for embedder, extension in ((None, True), (BagOfWords(), True), (None, False), (BagOfWords(), False)):
        service = opened(embedder, extension=extension)
        service.store(f"Fact number {len(states)}")
        with service._store.read() as db:
            states.append(index.state(db))
    assert states == [index.ABSENT, index.CURRENT, index.STALE, index.STALE]
