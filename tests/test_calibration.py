"""What the cosines of a model mean: thresholds hold for models whose cosines lie elsewhere."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from conftest import BagOfWords
from numpy.typing import NDArray

from mem.caller import Caller
from mem.embed import Role
from mem.search import calibration, floor, neighbours
from mem.service import Service
from mem.store import embeddings, memories
from mem.store.connect import Store
from mem.store.embeddings import Model
from mem.truth.judging import ABOUT_ONE, SAME_ALL_THE_SAME
from mem.values import Mode

BEGINS, ENDS = (
    ("lan", "mor", "tik", "sel", "bur", "dag", "fen"),
    ("ow", "ire", "ask", "een", "olt", "up", "id"),
)
WORDS = [begin + end for begin, end in product(BEGINS, ENDS)]
CHANCE = random.Random(7)  # noqa: S311
TEXTS = [f"The {' '.join(CHANCE.sample(WORDS, 8))} {number}" for number in range(80)]
NONSENSE = "zwiebelfisch quarkstrudel blubberlutsch"


class High(BagOfWords):
    """The same words, but all texts are near to each other: cosines between 0.7 and 1, as those of e5."""

    name = "high@1"
    choice = "directory:/models/high"
    dimensions = 1024

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> NDArray[np.float32]:
        rows = super().embed(texts, role) + np.float32(0.05)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class Trusted(High):
    """The same, taken for the bundled model."""

    choice = "bundled"


@pytest.fixture
def high(home: Path, person: Caller) -> Iterator[Service]:
    """A service whose model has its cosines elsewhere."""
    store = Store(home / "memory.db")
    yield Service(store, High(), person)
    store.close()


def fill(service: Service, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), 20):
        outcomes = service.store_batch([{"content": text} for text in texts[start : start + 20]]).outcomes
        assert {outcome.action for outcome in outcomes} == {"added"}


def searched(service: Service) -> Model:
    with service._store.read() as db:
        found = embeddings.active_model(db)
    assert found is not None
    return found


def test_a_question_about_nothing_gets_nothing_from_any_model(high: Service, tmp_path: Path) -> None:
    fill(high, TEXTS)
    assert high.recall(NONSENSE).hits == ()
    answer = high.recall(f"what of {TEXTS[7]}?")
    assert (answer.mode, answer.degraded) == (Mode.HYBRID, ())
    assert answer.hits[0].memory.content == TEXTS[7]
    # Read with the thresholds of another model, everything is near.
    trusting = Service(Store(tmp_path / "other.db"), Trusted(), high._caller)
    fill(trusting, TEXTS)
    assert len(trusting.recall(NONSENSE).hits) == 10
    trusting.close()


def test_too_few_memories_leave_nothing_out_and_say_so(high: Service) -> None:
    fill(high, TEXTS[: calibration.LEAST - 1])
    answer = high.recall("the lanow")
    assert (answer.mode, answer.degraded) == (Mode.HYBRID, ("uncalibrated",))
    assert answer.total == calibration.LEAST - 1
    # Whoever did not ask is told something only where the words say so.
    assert high.recall(NONSENSE).confidence < floor.HOOK
    fill(high, TEXTS[calibration.LEAST - 1 : calibration.LEAST])
    assert high.recall("the lanow").degraded == ()


def test_a_calibration_gets_better_with_the_store_and_the_mean_stays(high: Service) -> None:
    fill(high, TEXTS[:20])
    few = searched(high)
    rough = calibration.read(few)
    assert rough is not None
    assert (rough.rough, few.mean) == (True, None)
    fill(high, TEXTS[20:60])
    enough = searched(high)
    found = calibration.read(enough)
    assert found is not None
    assert (found.rough, found.memories) == (False, 60)
    assert enough.mean is not None
    with high._store.read() as db:
        assert not calibration.due(db, enough)
    fill(high, TEXTS[60:])
    with high._store.write() as db:
        again = calibration.renew(db, searched(high), has_vectors=high._store.has_vectors)
    assert again.mean == enough.mean
    known = calibration.read(again)
    assert known is not None
    assert known.memories == len(TEXTS)
    [indexes] = [check for check in high.doctor().checks if check.name == "indexes"]
    assert indexes.ok, indexes.detail


def test_the_same_memories_give_the_same_points_in_any_order(
    high: Service, person: Caller, tmp_path: Path
) -> None:
    other = Service(Store(tmp_path / "other.db"), High(), person)
    found = []
    for service, texts in ((high, TEXTS), (other, TEXTS[::-1])):
        fill(service, texts)
        with service._store.write() as db:
            model = calibration.calibrate(db, searched(service))
        found.append(calibration.read(model))
    other.close()
    assert found[0] is not None
    assert found[0] == found[1]


def test_for_the_bundled_model_nothing_is_measured(memory: Service) -> None:
    fill(memory, TEXTS)
    before = searched(memory)
    with memory._store.write() as db:
        assert calibration.renew(db, before, has_vectors=memory._store.has_vectors) == before
    assert (before.calibration, before.mean) == (None, None)
    assert calibration.common(before, np.float32([0.3])).tolist() == np.float32([0.3]).tolist()
    assert calibration.own(before, 0.3) == 0.3


def test_the_scale_keeps_the_order_and_can_be_read_both_ways(high: Service) -> None:
    fill(high, TEXTS)
    model = searched(high)
    own = np.linspace(-1, 1, 401, dtype=np.float32)
    shared = calibration.common(model, own)
    assert (np.diff(shared) > 0).all()
    assert [shared[0], shared[-1]] == [-1, 1]
    back = [calibration.own(model, float(value)) for value in shared]
    assert np.allclose(back, own, atol=1e-3)
    assert calibration.common(replace(model, choice="bundled"), own) is own


def test_what_is_near_is_near_by_the_same_numbers(high: Service) -> None:
    fill(high, TEXTS)
    said = high.store(TEXTS[7].replace("The", "This")).id
    assert said is not None
    with high._store.read() as db:
        mine = memories.by_ids(db, [said])[said]
        near = dict(neighbours.near(db, mine, has_vectors=high._store.has_vectors))
    twin = next(found.id for found in high.list_(limit=1000).memories if found.content == TEXTS[7])
    assert near.pop(twin) > SAME_ALL_THE_SAME
    assert max(near.values()) < ABOUT_ONE
