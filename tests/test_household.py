"""A household over a year, told by operations alone: what held when, and what was known of it when."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from telling import everything, records
from wall_clock import WallClock

from mem.service import Service
from mem.values import Kind, Mode, Status

TOLD = json.loads((Path(__file__).parent / "data" / "household.json").read_text(encoding="utf-8"))
MOMENTS = ("valid_at", "known_at")


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2025-01-01T10:00:00Z")


@pytest.fixture
def household(memory: Service, wall: WallClock) -> Iterator[Service]:
    """The household at the end of the year, and five days into the next."""
    labels: dict[str, str] = {}
    for day, *step in TOLD["steps"]:
        if wall.instant.date().isoformat() < day:
            wall.set(f"{day}T10:00:00Z")
        take(memory, labels, step)
    wall.set("2026-01-05T10:00:00Z")
    yield memory


def take(memory: Service, labels: dict[str, str], step: list[Any]) -> None:
    """One step of what is told, which must do what it says."""
    match step:
        case ["entity", name, fields]:
            assert memory.entity_set(name, **fields).action == "added"
        case ["observe", name, text, {"label": label, **fields}]:
            fields["supersedes"] = [labels[old] for old in fields.get("supersedes", ())]
            outcome = memory.observe(name, text, **fields)
            assert (outcome.action, outcome.created) == ("added", False), step
            labels[label] = str(outcome.id)
        case ["supersede", old, text, {"label": label, **fields}]:
            labels[label] = str(memory.supersede([labels[old]], content=text, **fields).memories[-1].id)
        case ["relate", subject, relation, object_, fields]:
            assert memory.relate(subject, relation, object_, **fields).action in {"added", "updated"}, step
        case ["unrelate", subject, relation, object_, fields]:
            assert memory.unrelate(subject, relation, object_, **fields).action == "ended"
        case ["reject", label, fields]:
            assert memory.reject([labels[label]], **fields).action == "rejected"
        case ["archive", label, fields]:
            assert memory.archive([labels[label]], **fields).action == "archived"
        case ["end", label, fields]:
            assert memory.supersede([labels[label]], ended=True, **fields).action == "ended"
        case ["update", label, fields]:
            assert memory.update(labels[label], **fields).action == "updated"
        case ["merge", name, into, fields]:
            assert memory.entity_merge(name, into, **fields).action == "merged"
        case ["rename", name, new, fields]:
            assert memory.entity_set(name, name=new, **fields).action == "updated"
        case _:
            raise AssertionError(f"nobody knows how to {step}")


def test_it_is_a_household_of_some_size(household: Service) -> None:
    tally = {name: 0 for name in ("entity", "observed", "relate", "corrected")}
    kinds = {"observe": "observed", "supersede": "observed", "entity": "entity", "relate": "relate"}
    for _, what, *_ in TOLD["steps"]:
        if what in kinds:
            tally[kinds[what]] += 1
        if what not in {"observe", "entity", "relate"}:
            tally["corrected"] += 1
    assert tally["entity"] >= 25
    assert tally["observed"] >= 120
    assert tally["relate"] >= 60
    assert tally["corrected"] >= 20
    assert {one.kind.value for one in everything(household)} == {"observation"}
    assert household.doctor().sound


def answers(memory: Service, question: dict[str, Any]) -> None:
    """Check one question: by opening the entity, and by recall."""
    moment = {name: question[name] for name in MOMENTS if name in question}
    view = memory.entity(question["entity"], **moment)
    said = {one.content for one in view.observations}
    others = {link.other.name for link in view.relations}
    about = question["about"]
    assert set(question["holds"]) <= said, about
    assert not set(question["gone"]) & said, about
    assert set(question.get("related", ())) <= others, about
    assert not set(question.get("unrelated", ())) & others, about
    for text in question["holds"]:
        hits = memory.recall(f"{view.entity.name} {text}", mode=Mode.LEXICAL, **moment).hits
        assert text in {hit.memory.content for hit in hits}, about
    for text in question["gone"]:
        hits = memory.recall(f"{view.entity.name} {text}", mode=Mode.LEXICAL, limit=100, **moment).hits
        assert not any(hit.memory.content == text and hit.memory.entity == view.entity.name for hit in hits)


def test_each_question_about_then_and_now_is_answered_rightly(household: Service) -> None:
    assert len(TOLD["questions"]) >= 35
    for question in TOLD["questions"]:
        answers(household, question)


def test_what_was_known_stays_known_after_merges_and_rejections(household: Service, wall: WallClock) -> None:
    dated = [
        {"known_at": "2026-01-05T11:00:00Z", **question}
        for question in TOLD["questions"]
        if "known_at" in question or "valid_at" in question
    ]
    wall.set("2026-02-01T10:00:00Z")
    household.entity_merge("Oma Helga", "Marta Brandt", reason="a slip")
    household.entity_merge("FritzBox", "NAS", reason="another")
    household.entity_set("the car", name="der Passat", type="vehicle")
    for memory in everything(household):
        if memory.status is Status.ACTIVE:
            household.reject([str(memory.id)], reason="all wrong")
    assert household.list_(limit=1000).total == 0
    assert household.doctor().sound
    wall.set("2026-03-01T10:00:00Z")
    for question in dated:
        answers(household, question)
    # What was rejected of one that lives on in another does not come back through either.
    for name in ("Oma Helga", "Marta Brandt"):
        assert household.observe(name, "bakes for every birthday").action == "refused"


def test_a_merge_is_undone_and_the_household_is_as_it_was(household: Service, home: Path) -> None:
    def seen() -> list[Any]:
        return [
            (hit.entity.name, hit.entity.aliases, hit.observations, hit.relations)
            for hit in household.entities(limit=1000).entities
        ]

    before = seen()
    household.entity_merge("FritzBox", "NAS", reason="a slip")
    assert seen() != before
    household.undo(str(records(home, "events")[-1]["id"]), reason="they are two")
    assert seen() == before
    for question in TOLD["questions"]:
        answers(household, question)
    assert household.doctor().sound


def test_looking_back_names_what_was_planted(household: Service, wall: WallClock) -> None:
    before = household.reflect(limit=50)
    pairs = {(pair.older.id, pair.newer.id) for pair in household.contradictions(limit=200).pairs}
    decided = household.store("We heat with wood", kind=Kind.DECISION, title="Heating")
    cold = household.store("The gas valve is behind the boiler", importance=9)
    used = household.store("Zirbenholz lies under the stairs")
    wall.set("2026-03-01T10:00:00Z")
    household.observe("NAS", "the copies run at 3 o'clock")
    older = household.observe("NAS", "the copies are kept for 30 days")
    newer = household.observe("NAS", "the copies are kept for 90 days")
    for _ in range(2):
        assert household.recall("Zirbenholz", mode=Mode.LEXICAL).total == 1
    assert household.recall("zeppelin", mode=Mode.LEXICAL).total == 0
    found = household.reflect(days=7, stale_days=30, limit=50)
    assert [(one.memory.id, one.recalls) for one in found.most_used.memories] == [(used.id, 2)]
    live = {one.id for one in household.list_(limit=1000).memories if one.recorded_at < "2026-01-30"}
    assert found.stale.total == len(live - {used.id})
    assert {decided.id, cold.id} <= live
    assert [(one.entity.name, one.observations) for one in found.hot_entities.entities] == [("NAS", 3)]
    assert {one.id for one in found.open_decisions.memories} == {
        *(one.id for one in before.open_decisions.memories),
        decided.id,
    }
    waiting = {(pair.older.id, pair.newer.id) for pair in household.contradictions(limit=200).pairs}
    assert waiting == pairs | {(older.id, newer.id)}
    assert found.contradictions.total == len(waiting)
    assert cold.id in {one.id for one in found.cold.memories}
    assert found.blind_spots.total == before.blind_spots.total + 1
    counted = household.stats()
    assert (counted.entities, counted.dead) == (
        len(household.entities(limit=1000).entities),
        found.stale.total,
    )
