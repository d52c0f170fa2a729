"""What was archived or superseded stays out when it is told again, says why, and names the way back."""

from pathlib import Path

import pytest
from telling import everything, get, live, rows, tell
from wall_clock import WallClock

from mem.errors import Usage
from mem.results import Stored
from mem.service import Service
from mem.values import Kind, Status


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


def refused(memory: Service, text: str, **fields: object) -> Stored:
    before = everything(memory)
    stored = memory.store(text, **fields)  # type: ignore[arg-type]
    assert (stored.action, everything(memory)) == ("refused", before)
    assert stored.refusal is not None
    assert stored.id == stored.refusal.id
    return stored


def test_an_archived_text_is_refused_with_who_why_when_and_the_way_back(
    memory: Service, wall: WallClock
) -> None:
    id_ = tell(memory, "Deploys go out on Friday")
    memory.archive([id_], reason="wrong day")
    at = get(memory, id_).status_at
    wall.forward(days=30)
    refusal = refused(memory, "deploys go out on FRIDAY!").refusal
    assert refusal is not None
    assert (refusal.code, str(refusal.id), refusal.at) == ("archived", id_, at)
    assert refusal.reason == f"#{id_} was archived on 2026-05-10: wrong day."
    assert refusal.hint == f"Bring it back: mem restore {id_}"
    memory.restore([id_])
    assert memory.store("Deploys go out on Friday").action == "already_known"


def test_a_superseded_text_is_refused_and_the_way_back_leads_over_its_successor(
    memory: Service, wall: WallClock
) -> None:
    first = tell(memory, "The API listens on port 80")
    second = str(
        memory.supersede([first], content="The API listens on port 81", reason="ingress").memories[1].id
    )
    wall.forward(days=30)
    refusal = refused(memory, "The API listens on port 80").refusal
    assert refusal is not None
    assert (refusal.code, str(refusal.id), refusal.at) == ("superseded", first, get(memory, first).status_at)
    assert refusal.reason == f"#{first} said this and was superseded by #{second} on 2026-05-10: ingress."
    assert refusal.hint == f"If it holds again: mem supersede {second} --content '…'"
    back = memory.supersede([second], content="The API listens on port 80").memories[1]
    assert (str(back.id) not in (first, second), back.status) == (True, Status.ACTIVE)
    assert live(memory) == {"The API listens on port 80"}
    assert memory.history(first).chain == (int(first), int(second), back.id)
    assert memory.store("The API listens on port 80").id == back.id
    assert refused(memory, "The API listens on port 81").id == int(second)


def test_the_way_back_is_open_to_store_with_supersedes_too(memory: Service) -> None:
    first = tell(memory, "The API listens on port 80")
    second = str(memory.supersede([first], content="The API listens on port 81").memories[1].id)
    back = memory.store("The API listens on port 80", supersedes=[second])
    assert back.action == "added"
    assert live(memory) == {"The API listens on port 80"}


def test_what_came_back_can_be_changed_archived_and_restored(memory: Service) -> None:
    first = tell(memory, "The API listens on port 80")
    second = str(memory.supersede([first], content="The API listens on port 81").memories[1].id)
    back = str(memory.supersede([second], content="The API listens on port 80").memories[1].id)
    assert memory.update(back, add_tag=["again"]).memories[0].tags == ("again",)
    memory.archive([back])
    assert refused(memory, "The API listens on port 80").id == int(back)
    memory.restore([back])
    assert live(memory) == {"The API listens on port 80"}


def test_a_refusal_names_the_end_of_the_line(memory: Service) -> None:
    first = tell(memory, "The API listens on port 80")
    second = str(memory.supersede([first], content="The API listens on port 81").memories[1].id)
    third = str(memory.supersede([second], content="The API listens on port 82").memories[1].id)
    refusal = refused(memory, "The API listens on port 80").refusal
    assert refusal is not None
    assert f"superseded by #{second}" in refusal.reason
    assert f"mem supersede {third} --content" in refusal.hint
    memory.archive([third])
    refusal = refused(memory, "The API listens on port 80").refusal
    assert refusal is not None
    assert f"mem restore {third}, then mem supersede {third} --content" in refusal.hint


def test_the_newest_judgement_counts_though_an_older_row_was_touched_later(memory: Service) -> None:
    first = tell(memory, "The office is closed")
    memory.supersede([first], ended=True)
    second = tell(memory, "The office is closed")
    memory.archive([second], reason="it never was")
    memory.update(first, add_tag=["office"])
    assert refused(memory, "The office is closed").id == int(second)


def test_another_project_or_kind_may_say_what_is_retired_here(memory: Service) -> None:
    id_ = tell(memory, "Deploys go out on Friday", project="shop")
    memory.archive([id_])
    assert memory.store("Deploys go out on Friday", project="blog").action == "added"
    assert memory.store("Deploys go out on Friday", project="shop", kind=Kind.SUMMARY).action == "added"
    refused(memory, "Deploys go out on Friday", project="shop")


def test_a_refused_text_leaves_no_vector(memory: Service, home: Path) -> None:
    memory.archive([tell(memory, "Deploys go out on Friday")])
    refused(memory, "Deploys go out on FRIDAY")
    assert memory.store("Something else").vector == "stored"
    assert len(rows(home, "embeddings")) == 2


@pytest.mark.parametrize("reason", ["expired", "Undone ", "compressed", "ended"])
def test_nobody_can_retire_a_text_in_the_words_that_let_it_come_back(memory: Service, reason: str) -> None:
    id_ = tell(memory, "Deploys go out on Friday")
    with pytest.raises(Usage, match="is a reason that mem itself gives"):
        memory.archive([id_], reason=reason)
    with pytest.raises(Usage, match="is a reason that mem itself gives"):
        memory.supersede([id_], content="Deploys go out on Monday", reason=reason)
    assert get(memory, id_).status == "active"
