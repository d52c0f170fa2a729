"""Batches: one transaction, one run of the model, and an outcome for each item in order."""

from pathlib import Path

import pytest
from telling import get, live, rows

from mem.errors import Usage
from mem.results import Stored
from mem.search import index
from mem.service import Service
from mem.values import Kind


def actions(outcomes: tuple[Stored, ...]) -> list[str]:
    return [str(outcome.action) for outcome in outcomes]


def test_a_batch_answers_item_by_item_in_order(memory: Service) -> None:
    known = memory.store("Known before")
    batch = memory.store_batch(
        [
            {"content": "First", "importance": 8, "tag": ["a"], "kind": "decision", "title": "One"},
            {"content": "Known before"},
            {"content": "Second", "project": "shop"},
        ]
    )
    assert actions(batch.outcomes) == ["added", "already_known", "added"]
    assert batch.exit_status == 0
    first, again, second = batch.outcomes
    assert again.id == known.id
    assert (get(memory, first.id).kind, get(memory, first.id).importance) == (Kind.DECISION, 8)
    assert get(memory, second.id).project == "shop"
    assert {first.vector, second.vector} == {"stored"}


def test_repeats_inside_a_batch_collapse(memory: Service) -> None:
    batch = memory.store_batch(
        [{"content": "Said twice", "tag": ["a"]}, {"content": "said TWICE.", "tag": ["b"]}]
    )
    assert actions(batch.outcomes) == ["added", "already_known"]
    assert batch.outcomes[0].id == batch.outcomes[1].id
    assert get(memory, batch.outcomes[0].id).tags == ("a", "b")
    assert len(memory.history(str(batch.outcomes[0].id)).changes) == 1


def test_malformed_items_are_refused_one_by_one(memory: Service) -> None:
    archived = memory.store("Judged before")
    memory.archive([str(archived.id)], reason="wrong")
    items: list[object] = [
        {"content": "Good"},
        "not an object",
        None,
        ["content", "Good"],
        {},
        {"content": "   "},
        {"content": "Good", "colour": "red"},
        {"content": "Good", "kind": "idea"},
        {"content": "Good", "importance": 11},
        {"content": "Good", "valid_from": "2026-02-30"},
        {"content": "Replaces what is not there", "supersedes": ["99"]},
        {"content": "Replaces what it cannot", "supersedes": [archived.id]},
        {"content": "Judged before"},
        {"content": "Good too"},
    ]
    batch = memory.store_batch(items)  # type: ignore[arg-type]
    assert actions(batch.outcomes) == ["added", *["refused"] * 12, "added"]
    assert batch.exit_status == 1
    refusals = [outcome.refusal for outcome in batch.outcomes if outcome.refusal]
    assert [refusal.code for refusal in refusals] == [*["usage"] * 9, "not_found", "refused", "archived"]
    assert all(refusal.reason for refusal in refusals)
    assert live(memory) == {"Good", "Good too"}


def test_a_batch_of_refusals_only_exits_4_and_changes_nothing(memory: Service, home: Path) -> None:
    old = memory.store("The API listens on port 80")
    tables = ("memories", "memories_versions", "events", "embeddings", "usage", "projects")
    before = [rows(home, table) for table in tables]
    batch = memory.store_batch([{"content": ""}, {"content": "Fine", "supersedes": [old.id, "7"]}])
    assert (actions(batch.outcomes), batch.exit_status) == (["refused", "refused"], 4)
    assert [rows(home, table) for table in tables] == before


def test_an_item_that_fails_late_leaves_nothing_and_does_not_cost_the_others(memory: Service) -> None:
    old, archived = memory.store("The API listens on port 80"), memory.store("The API is down")
    memory.archive([str(archived.id)])
    batch = memory.store_batch(
        [
            {"content": "The API listens on port 81", "supersedes": [old.id, archived.id]},
            {"content": "The API listens on port 82", "supersedes": [old.id]},
            {"content": "The API listens on port 83", "supersedes": [old.id]},
        ]
    )
    assert actions(batch.outcomes) == ["refused", "added", "refused"]
    assert get(memory, old.id).superseded_by == batch.outcomes[1].id
    assert live(memory) == {"The API listens on port 82"}
    assert memory.doctor().sound


def test_a_batch_is_one_transaction(memory: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.store("Here before")

    def fails(*_: object, **__: object) -> None:
        raise OSError("the power went")

    with monkeypatch.context() as patched:
        patched.setattr(index, "refresh", fails)
        with pytest.raises(Exception, match="the power went"):
            memory.store_batch([{"content": f"Item {number}"} for number in range(3)])
    assert live(memory) == {"Here before"}
    assert memory.recall("item").hits == ()
    assert memory.doctor().sound


def test_a_batch_embeds_each_text_once_and_many_at_a_time(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.store("Item 7")
    embedder = memory._vectors.embedder
    assert embedder is not None
    embed, embedded = embedder.embed, []
    monkeypatch.setattr(embedder, "embed", lambda texts, *rest: embedded.append(texts) or embed(texts, *rest))
    memory.store_batch([{"content": f"Item {number % 30}"} for number in range(60)])
    texts = [text for portion in embedded for text in portion]
    assert sorted(texts) == sorted(f"Item {number}" for number in range(30) if number != 7)
    assert len(embedded) <= 3
    assert memory.stats().vectors_pending == 0


def test_a_batch_holds_500_items_and_no_more(memory: Service) -> None:
    items = [{"content": f"Item {number}"} for number in range(501)]
    with pytest.raises(Usage, match="500"):
        memory.store_batch(items)
    assert memory.list_().total == 0
    assert len(memory.store_batch(items[:500]).outcomes) == 500
    assert memory.list_().total == 500


def test_an_empty_batch_is_refused(memory: Service) -> None:
    with pytest.raises(Usage, match="empty"):
        memory.store_batch([])
