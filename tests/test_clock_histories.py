"""Over random histories: what was believed is answered as it was then, to the byte, whatever came later.

Left out of the comparison is only the id of the trace, which is new for each question. What a memory says
there is of that time too: its status, its successor, its interval and its trust.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import BagOfWords
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from telling import everything
from wall_clock import WallClock

from mem import clock
from mem.caller import Caller
from mem.document import document, encode
from mem.errors import MemError
from mem.search import index
from mem.service import Service
from mem.store.connect import Store
from mem.truth.drafts import Clearable
from mem.values import Actor, ActorKind, Fusion, Layer, Memory, Mode, Status, Trust

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS = ("The API uses port 80", "The API uses port 81", "The worker uses port 90", "Cats sleep all day")
# The histories begin in March: some of these are past and some still to come when they are said.
DAYS = tuple(f"2026-{day}T00:00:00.000000Z" for day in ("01-10", "02-10", "03-01", "03-09", "04-20", "08-01"))
ASKED: tuple[dict[str, str], ...] = (
    {},
    {"valid_at": "2026-02-20T00:00:00Z"},
    {"valid_at": "2026-05-01T00:00:00Z"},
)
WAYS = (
    (Mode.HYBRID, Fusion.CONVEX),
    (Mode.HYBRID, Fusion.RRF),
    (Mode.LEXICAL, Fusion.CONVEX),
    (Mode.VECTOR, Fusion.CONVEX),
)


class Centred(BagOfWords):
    """Its model has a mean, so that scores are taken around the mean of what is searched."""

    name = "centred@1"

    def mean(self) -> NDArray[np.float32]:  # type: ignore[override]
        import numpy as np

        return np.linspace(-0.05, 0.05, self.dimensions, dtype=np.float32)


@dataclass(frozen=True)
class Step:
    """One thing that may happen to a store; `at` says how far the clock moves before, in hours."""

    name: str
    place: int
    text: str
    valid_from: str | None
    valid_to: str | None
    hours: float


steps = st.builds(
    Step,
    st.sampled_from(
        (
            "store",
            "restate",
            "reword",
            "weigh",
            "correct",
            "move",
            "replace",
            "replace several",
            "replace by",
            "end",
            "archive",
            "restore",
            "reject",
            "force",
            "judge",
            "undo",
        )
    ),
    st.integers(0, 6),
    st.sampled_from(TEXTS),
    st.none() | st.sampled_from(DAYS),
    st.none() | st.sampled_from(DAYS),
    # Set back, its record times follow each other by a microsecond.
    st.sampled_from((0.0, 1.0, 240.0, -5.0)),
)


def take(memory: Service, step: Step, number: int) -> None:
    """Take a step; one that a rule refuses changes nothing, which is as good."""
    present = everything(memory)
    active = [found for found in present if found.status is Status.ACTIVE]
    # Mostly one of those that most rules admit.
    few = active if active and step.place and step.name != "restore" else present
    id_, other = (str(few[place % len(few)].id) for place in (step.place, step.place + 1))
    fresh = f"{step.text} by rule {number}"
    since: dict[str, Any] = {"valid_from": step.valid_from} if step.valid_from else {}
    until: dict[str, Any] = {"valid_to": step.valid_to} if step.valid_to else {}
    try:
        match step.name:
            case "store":
                memory.store(fresh, tag=["t"], layer=list(Layer)[number % 4], **since, **until)
            case "restate":
                memory.store(step.text, tag=[f"t{number}"], **since, **until)
            case "force":
                memory.store(step.text, force=True, **since)
            case "reword":
                memory.update(id_, content=fresh)
            case "weigh":
                memory.update(id_, importance=number % 10, clear=[Clearable.VALID_FROM])
            case "correct":
                memory.update(id_, reason="it was otherwise", **since, **until)
            case "move":
                memory.update(id_, project="shop")
            case "replace":
                memory.supersede([id_], content=fresh, **since, **until)
            case "replace several":
                memory.supersede([id_, other], content=step.text, **since)
            case "replace by":
                memory.supersede([id_], by=other, **until)
            case "end":
                memory.supersede([id_], ended=True, **until)
            case "archive":
                memory.archive([id_], reason="not needed")
            case "restore":
                memory.restore([id_], force=step.place % 2 == 0)
            case "reject":
                memory.reject([id_], reason="never so")
            case "judge":
                memory.trust([id_], list(Trust)[number % 3], reason="looked at")
            case "undo":
                events = memory.log(limit=1 + step.place, all_projects=True).events
                memory.undo(str(events[-1].id))
            case _:
                raise AssertionError(step.name)
    except MemError:
        pass


def believed(memory: Service, known_at: str) -> list[bytes]:
    """The documents of everything that can be asked about what was believed at a moment."""
    answers: list[Any] = [memory.list_(known_at=known_at, status=list(Status), all_projects=True, limit=1000)]
    for place, moment in enumerate(ASKED):
        clocks: dict[str, Any] = {"known_at": known_at, **moment}
        listed = memory.list_(limit=1000, all_projects=True, **clocks)
        answers += [listed, memory.list_(project="shop", sort="importance", **clocks)]
        if listed.memories:
            answers.append(memory.get([found.uid for found in listed.memories], **clocks))
        answers += [
            memory.recall(
                "which port does the API use", mode=mode, fusion=fusion, all_projects=True, **clocks
            )
            for mode, fusion in WAYS[place::2]
        ]
    return [encode({**document(answer), "trace_id": ""}) for answer in answers]


def held(found: Memory, valid_at: str, known_at: str) -> bool:
    """Whether a memory was believed to hold: the rule in plain words, beside the one in SQL."""
    if found.status is Status.PROPOSED:
        return False
    if found.status is Status.ACTIVE and found.expires_at is not None and found.expires_at <= known_at:
        return False
    begun = found.valid_from is None or found.valid_from <= valid_at
    return begun and (found.valid_to is None or found.valid_to > valid_at)


def check_rows(memory: Service, known_at: str, present: Sequence[Memory]) -> None:
    """What is answered about a moment are the rows that were the present then, each memory once."""
    for valid_at in (known_at, *DAYS):
        answer = memory.list_(known_at=known_at, valid_at=valid_at, all_projects=True, limit=1000).memories
        expected = [found for found in present if held(found, valid_at, known_at)]
        assert sorted(answer, key=lambda found: found.id) == sorted(expected, key=lambda found: found.id)


def last_change(present: Sequence[Memory]) -> str:
    return max(found.changed_at for found in present)


def just_before(instant: str) -> str:
    return clock.to_text(clock.from_text(instant) - clock.MICROSECOND)


@settings(
    max_examples=8,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(steps, min_size=4, max_size=10))
def test_whatever_happens_later_earlier_answers_stay_to_the_byte(home: Path, taken: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        wall = WallClock(patched, "2026-03-01T09:00:00Z")
        store = Store(Path(folder) / "memory.db")
        memory = Service(store, Centred(), Caller(Actor(ActorKind.PERSON), Path(folder)))
        memory.store(TEXTS[0], valid_from=DAYS[1])
        answered: dict[str, tuple[list[bytes], list[Memory]]] = {}
        for number, step in enumerate(taken):
            present = everything(memory)
            instant = last_change(present)
            if instant not in answered:  # later on, what has expired is no longer listed
                answered[instant] = believed(memory, instant), present
            check_rows(memory, instant, answered[instant][1])
            wall.forward(hours=step.hours)
            take(memory, step, number)
            assert believed(memory, instant) == answered[instant][0], step
        # To the last microsecond before each change, what was there before it is believed.
        instants = [*answered, last_change(everything(memory))]
        for instant, following in pairwise(instants):
            before, present = answered[instant]
            assert believed(memory, instant) == before
            check_rows(memory, instant, present)
            if following > instant:
                check_rows(memory, just_before(following), present)
        with store.write() as db:
            assert index.problems(db, has_vectors=store.has_vectors) == []
        store.close()
