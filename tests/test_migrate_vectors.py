"""From one model to another: recall works all the while, nothing is lost or doubled, and the old can go."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from conftest import BagOfWords, Ran
from telling import records, rows, tell

from mem.caller import Caller
from mem.embed import EmbeddingError, Role, choice
from mem.errors import Usage
from mem.paths import bundled_model
from mem.results import Migrated
from mem.search import backfilling, index, migrating, next_index
from mem.service import Service
from mem.store import connect
from mem.store.connect import Store
from mem.values import Mode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Run = Callable[..., Ran]


class Other(BagOfWords):
    """Another model: fewer dimensions, not a multiple of eight, with a hook for what happens meanwhile."""

    name = "other@1"
    dimensions = 100

    def __init__(self) -> None:
        self.meanwhile: Callable[[], object] = lambda: None
        self.bad: set[str] = set()

    def embed(
        self, texts: Sequence[str], role: Role, *, timeout: float | None = None
    ) -> "NDArray[np.float32]":
        self.meanwhile()
        if self.bad & set(texts):
            raise EmbeddingError("Nothing can be made of it.")
        return super().embed(texts, role)


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch, memory: Service) -> Other:
    """What `--to other` stands for; `--to bundled` is the model of `memory`."""
    found = Other()

    def make(wanted: choice.ModelChoice, *_: object, **__: object) -> BagOfWords:
        return found if wanted.kind is choice.ModelKind.DIRECTORY else BagOfWords()

    monkeypatch.setattr(choice, "make", make)
    monkeypatch.setattr(choice, "known", lambda wanted: wanted)
    return found


@pytest.fixture
def later(memory: Service, other: Other) -> Service:
    """The same store for who has the other model."""
    return Service(memory._store, other, memory._caller)


def go(memory: Service, **options: Any) -> Migrated:
    return memory.migrate_vectors(to="directory:/other", **options)


def fact(number: int) -> str:
    """A text with two words of its own, so that no other one has all its words in the same places."""
    return f"Fact {number} of the ledger, page p{7 * number + 3}"


def facts(memory: Service, count: int) -> None:
    memory.store_batch([{"content": fact(number)} for number in range(count)])


def sound(memory: Service) -> bool:
    diagnosis = memory.doctor()
    assert diagnosis.sound, [check.detail for check in diagnosis.checks if not check.ok]
    return True


def events(home: Path) -> list[dict[str, Any]]:
    return [event for event in records(home, "events") if event["operation"] == "migrate-vectors"]


def by_meaning(memory: Service, query: str) -> list[str]:
    found = memory.recall(query, mode=Mode.VECTOR)
    assert found.degraded == ()
    return [hit.memory.content for hit in found.hits]


# What it does


def test_the_store_goes_over_and_is_as_if_it_had_been_made_with_the_new_model(
    memory: Service, other: Other, later: Service, home: Path, person: Caller
) -> None:
    def told(to: Service) -> None:
        facts(to, 30)
        to.observe("Ana", "prefers calls to mail", type="person", project="shop")
        to.archive(["3"])
        to.update("4", content="Another text")

    told(memory)
    moved = go(memory)
    assert (moved.before, moved.model, moved.switched, moved.exit_status) == (
        "bag-of-words@1",
        "other@1",
        True,
        0,
    )
    assert moved.embedded == 33  # with the entity and the text from before the update
    assert later.stats().vectors_pending == 0
    assert by_meaning(later, fact(7))[0] == fact(7)
    assert sound(later)
    apart = Service(Store(home.parent / "apart" / "memory.db"), other, person)
    told(apart)
    apart.close()

    def held(at: Path) -> list[object]:
        new = max(row["id"] for row in records(at, "models"))
        return [
            sorted((row["owner_id"], row["project"]) for row in records(at, "indexed_pieces")),
            [(row["project"], row["pieces"]) for row in records(at, "centroids")],
            sorted(
                (row["text_hash"], row["piece"], row["vector"])
                for row in records(at, "embeddings")
                if row["model_id"] == new
            ),
        ]

    there = held(home.parent / "apart")
    here = held(home)
    assert here[0] == there[0]
    assert here[1] == there[1]
    assert set(there[2]) <= set(here[2])  # type: ignore[call-overload]


def test_recall_works_with_the_old_model_until_the_switch(
    memory: Service, other: Other, later: Service
) -> None:
    facts(memory, 60)
    found: list[list[str]] = []
    other.meanwhile = lambda: found.append(by_meaning(memory, fact(7))[:1])
    go(memory)
    other.meanwhile = lambda: None
    assert found
    assert all(first == [fact(7)] for first in found)
    assert memory.recall(fact(7), mode=Mode.VECTOR).degraded == ("other_model",)
    assert by_meaning(later, fact(7))[0] == fact(7)


def test_what_changes_meanwhile_is_caught_up_with(
    memory: Service, other: Other, later: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts(memory, 40)
    prepare, done = migrating._prepare, list[int]()

    def prepared(*arguments: Any) -> int:
        count = prepare(*arguments)
        if len(done) < 2:
            done.append(1)
            tell(memory, f"Written at the last moment {len(done)}")
            memory.update(str(len(done)), content=f"Changed at the last moment {len(done)}")
            memory.archive([str(10 + len(done))])
            memory.reject([str(20 + len(done))], reason="wrong")
            memory.observe(f"Ana {len(done)}", "was here", type="person")
        return count

    monkeypatch.setattr(migrating, "_prepare", prepared)
    moved = go(memory)
    assert (len(done), moved.switched) == (2, True)
    assert later.stats().vectors_pending == 0
    assert by_meaning(later, "changed at the last moment 2")[0] == "Changed at the last moment 2"
    assert sound(later)
    assert len(events(home)) == 1


def test_what_is_forgotten_meanwhile_leaves_nothing(
    memory: Service, other: Other, later: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts(memory, 10)
    prepare, done = migrating._prepare, list[int]()

    def prepared(*arguments: Any) -> int:
        count = prepare(*arguments)
        if not done:
            done.append(1)
            memory.forget(["3"])
        return count

    monkeypatch.setattr(migrating, "_prepare", prepared)
    assert go(memory).switched
    assert sound(later)
    assert len(records(home, "indexed_pieces")) == 9
    assert len(records(home, "embeddings")) == 18


def test_a_second_run_finds_nothing_to_do(memory: Service, other: Other, home: Path) -> None:
    facts(memory, 3)
    assert go(memory).switched
    again = go(memory)
    assert (again.before, again.switched, again.embedded, again.indexed, again.exit_status) == (
        "other@1",
        False,
        0,
        0,
        0,
    )
    assert len(events(home)) == 1
    assert events(home)[0]["subjects"] == "[]"


def test_it_goes_there_and_back_again(memory: Service, other: Other, later: Service) -> None:
    facts(memory, 12)
    for turn in range(2):
        assert go(memory).switched
        assert sound(later)
        tell(later, f"Told to the other model {turn}")
        back = memory.migrate_vectors(to="bundled")
        assert (back.switched, back.embedded) == (True, 1)
        assert by_meaning(memory, fact(7))[0] == fact(7)
        assert sound(memory)
        tell(memory, f"Told to the first model {turn}")


def test_an_empty_store_begins_with_the_model(
    memory: Service, other: Other, later: Service, home: Path
) -> None:
    moved = go(memory)
    assert (moved.before, moved.switched, moved.embedded) == (None, True, 0)
    tell(later, "The first text")
    assert by_meaning(later, "the first text") == ["The first text"]
    assert sound(later)


def test_a_dry_run_tells_what_the_run_then_does(memory: Service, other: Other, home: Path) -> None:
    facts(memory, 5)
    before = [rows(home, table) for table in ("models", "embeddings", "events", "store_info")]
    told = go(memory, dry_run=True, prune=True)
    assert [rows(home, table) for table in ("models", "embeddings", "events", "store_info")] == before
    assert (told.waiting, told.switched, told.pruned) == (5, True, 5)
    moved = go(memory, prune=True)
    assert (moved.embedded, moved.switched, moved.pruned, moved.pruned_bytes) == (
        told.waiting,
        told.switched,
        told.pruned,
        told.pruned_bytes,
    )


def test_a_limit_does_a_part_and_the_store_keeps_to_the_old_model(
    memory: Service, other: Other, later: Service
) -> None:
    facts(memory, 40)
    first = go(memory, limit=30)
    assert (first.embedded, first.waiting, first.switched, first.exit_status) == (30, 10, False, 0)
    assert by_meaning(memory, fact(7))[0] == fact(7)
    assert sound(memory)
    second = go(memory, limit=30)
    assert (second.embedded, second.waiting, second.switched) == (10, 0, True)
    assert sound(later)


def test_old_vectors_go_when_they_are_pruned_and_the_space_with_the_vacuum(
    memory: Service, other: Other, later: Service, home: Path
) -> None:
    facts(memory, 100)
    kept = go(memory)
    assert (kept.pruned, later.stats().vectors_by_model) == (0, {"bag-of-words@1": 100, "other@1": 100})
    pruned = go(memory, prune=True)
    assert (pruned.switched, pruned.pruned, pruned.pruned_bytes) == (False, 100, 100 * 4 * 256)
    assert later.stats().vectors_by_model == {"other@1": 100}
    assert sound(later)
    assert later.maintain().freed is None  # and what was in the log is in the file
    expected = later.maintain(dry_run=True, vacuum=True).freed
    size = (home / "memory.db").stat().st_size
    freed = later.maintain(vacuum=True).freed
    assert expected is not None
    assert freed is not None
    assert freed >= 0.8 * 100 * 4 * 256
    assert (home / "memory.db").stat().st_size <= size - freed + 8192
    assert by_meaning(later, fact(7))[0] == fact(7)


def test_nothing_is_pruned_while_the_old_vectors_are_searched(memory: Service, other: Other) -> None:
    facts(memory, 20)
    moved = go(memory, limit=10, prune=True)
    assert (moved.switched, moved.pruned) == (False, 0)
    assert by_meaning(memory, fact(7))[0] == fact(7)


# What goes wrong


def test_a_text_that_the_new_model_fails_on_holds_the_switch_up(
    memory: Service, other: Other, later: Service
) -> None:
    facts(memory, 20)
    other.bad = {fact(7)}
    moved = go(memory)
    assert (moved.switched, moved.embedded, moved.exit_status) == (False, 19, 1)
    assert [(one.id, one.reason) for one in moved.failed] == [(8, "Nothing can be made of it.")]
    assert by_meaning(memory, fact(7))[0] == fact(7)
    assert sound(memory)
    other.bad.clear()
    assert go(memory).switched
    assert sound(later)


def test_one_that_the_old_model_has_no_vector_of_either_does_not(
    memory: Service, other: Other, later: Service, person: Caller
) -> None:
    facts(memory, 3)
    tell(Service(memory._store, None, person), "Nobody can embed this")
    other.bad = {"Nobody can embed this"}
    moved = go(memory)
    assert (moved.switched, len(moved.failed), moved.exit_status) == (True, 1, 1)
    assert later.stats().vectors_pending == 1


@pytest.mark.parametrize("place", ["filling", "adding", "removing nothing yet", "switching"])
def test_an_interrupt_leaves_the_old_model_at_work_and_the_next_run_goes_on(
    memory: Service, other: Other, later: Service, home: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(migrating, "PER_WRITE", 50)
    monkeypatch.setattr(backfilling, "PER_WRITE", 50)
    facts(memory, 150)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        match place:
            case "filling":
                patch.setattr(
                    memory, "progress", lambda what, done, total: interrupt() if done > 49 else None
                )
            case "adding":
                add, added = next_index.add, list[int]()

                def once(*arguments: Any, **options: Any) -> None:
                    interrupt() if added else added.append(1)
                    add(*arguments, **options)

                patch.setattr(next_index, "add", once)
            case "switching":
                patch.setattr(migrating.embeddings, "activate", interrupt)
            case _:
                patch.setattr(next_index, "beyond", interrupt)
        with pytest.raises(KeyboardInterrupt):
            go(memory)
    assert by_meaning(memory, fact(7))[0] == fact(7)
    assert sound(memory)
    memory.archive(["9"])
    kept = sum(row["model_id"] == 2 for row in records(home, "embeddings"))
    assert kept >= 50
    moved = go(memory)
    assert (moved.switched, moved.embedded) == (True, 150 - kept)
    assert sound(later)
    assert len(records(home, "embeddings")) == 300
    assert not [row for row in records(home, "store_info") if row["key"] == "next_index"]


def test_vectors_that_are_json_text_become_float32_and_damaged_ones_are_made_anew(
    memory: Service, home: Path, other: Other
) -> None:
    facts(memory, 4)
    memory.archive(["1", "2", "3"])
    db = apsw.Connection(str(home / "memory.db"))  # as another program's import left it
    for number, vector in db.execute("SELECT id, vector FROM embeddings ORDER BY id").fetchall()[:3]:
        import numpy as np

        text = json.dumps(np.frombuffer(vector, "<f4").tolist()).encode()
        db.execute(
            "UPDATE embeddings SET vector = ? WHERE id = ?", (text if number < 3 else b"[1, 2", number)
        )
    db.close()
    assert memory.migrate_vectors(to="bundled", dry_run=True).converted == 3
    moved = memory.migrate_vectors(to="bundled")
    assert (moved.converted, moved.switched) == (3, False)
    assert {len(row["vector"]) for row in records(home, "embeddings")} == {1024}
    assert len(records(home, "embeddings")) == 3
    assert memory.backfill().embedded == 1
    assert memory.migrate_vectors(to="bundled").converted == 0
    memory.restore(["1", "2", "3"])
    assert len(by_meaning(memory, fact(0))) == 4
    assert sound(memory)


def test_an_index_of_an_older_form_is_made_anew(
    memory: Service, other: Other, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts(memory, 10)
    monkeypatch.setattr(index, "FORM", 2)
    assert memory.migrate_vectors(to="bundled", dry_run=True).switched
    moved = memory.migrate_vectors(to="bundled")
    assert (moved.switched, moved.embedded, moved.indexed) == (True, 0, 10)
    assert [row["index_form"] for row in records(home, "models")] == [2]
    assert by_meaning(memory, fact(7))[0] == fact(7)
    assert sound(memory)
    assert memory.migrate_vectors(to="bundled").indexed == 0


def test_without_the_extension_it_goes_over_too(
    memory: Service, other: Other, later: Service, home: Path, person: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts(memory, 10)
    with monkeypatch.context() as patch:
        patch.setattr(connect, "vector_extension", lambda: None)
        store = Store(home / "memory.db")
        bare = Service(store, other, person)
        assert not store.has_vectors
        assert go(bare).switched
        assert bare.recall(fact(7), mode=Mode.VECTOR).hits[0].memory.content == fact(7)
        store.close()
    assert later.doctor(fix=True).sound
    assert by_meaning(later, fact(7))[0] == fact(7)
    assert sound(later)


def test_none_is_no_model_to_go_over_to(memory: Service) -> None:
    with pytest.raises(Usage, match="none makes no vectors"):
        memory.migrate_vectors(to="none")


# On the command line


def test_a_model_whose_files_are_not_what_it_says_of_them_is_refused(
    memory: Service, tmp_path: Path, home: Path
) -> None:
    tell(memory, "The API listens on port 8081")
    folder = tmp_path / "damaged"
    folder.mkdir()
    for file in bundled_model().iterdir():
        (folder / file.name).symlink_to(file)
    (folder / "tokenizer_config.json").unlink()
    (folder / "tokenizer_config.json").write_text("{}")
    with pytest.raises(EmbeddingError, match=r"tokenizer_config\.json is damaged") as caught:
        memory.migrate_vectors(to=f"directory:{folder}")
    assert "mem model verify" in caught.value.hint
    assert [row["active"] for row in records(home, "models")] == [1]


def test_from_the_bundled_model_to_a_folder_and_what_the_setting_says(
    run_mem: Run, tmp_path: Path, home: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for file in bundled_model().iterdir():
        (folder / file.name).symlink_to(file)
    assert run_mem("store", "The parcel stands at the harbour", env={"MEM_MODEL": "none"}).code == 0
    assert run_mem("backfill").out == "embedded\t1\nskipped\t0\nfailed\t0\n"
    moved = run_mem("migrate-vectors", "--to", folder, "--prune")
    assert (moved.code, [line.split("\t")[0] for line in moved.out.splitlines()]) == (
        0,
        ["embedded", "indexed", "switched", "pruned"],
    )
    assert f"mem config set model directory:{folder}" in moved.err
    found = run_mem("recall", "where is the package?", "--mode", "vector", "--json").document()
    assert (found["mode"], len(found["hits"])) == ("vector", 1)
    freed = run_mem("maintain", "--vacuum")
    assert (freed.code, freed.out.split("\t")[0]) == (0, "freed")


def test_killed_at_any_moment_nothing_is_missing_or_doubled(run_stress: Callable[..., str]) -> None:
    """The short form of `tests/stress/vectors.py`."""
    told = run_stress("vectors", "--seconds", "5", "--memories", "100")
    counted = re.match(r"(\d+) backfills and (\d+) migrations killed", told)
    assert counted is not None, told
    assert int(counted[1]) + int(counted[2]) > 0, told
