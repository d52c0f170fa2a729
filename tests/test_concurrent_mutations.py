"""Processes that change the same memories, and are killed, lose nothing.

The first test is the short form of `tests/stress/mutations.py`.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mem.caller import Caller
from mem.embed import Embedder
from mem.service import Service
from mem.store.connect import Store


def test_processes_that_change_the_same_memories_and_are_killed_lose_nothing(
    home: Path, run_stress: Callable[..., str]
) -> None:
    told = run_stress("mutations", "--seconds", "7")
    counted = re.search(r"(\d+) killed: \d+ operations \(\d+ by command\), (\d+) acknowledged", told)
    assert counted is not None, told
    assert int(counted[1]) > 2, told
    assert int(counted[2]) > 20, told


@pytest.mark.parametrize(("told", "changed"), [(50, 21), (50, 37), (34, 60)])
def test_what_others_merged_in_the_word_index_is_no_corruption(
    memory: Service, home: Path, person: Caller, fake_embedder: Embedder, told: int, changed: int
) -> None:
    for number in range(told):
        memory.store(f"Fact {number} about the staging cluster")
    store = Store(home / "memory.db")
    other = Service(store, fake_embedder, person)
    for number in range(changed):
        other.update(str(number % 20 + 1), content=f"Another text {number}")
    store.close()
    diagnosis = memory.doctor()
    assert diagnosis.sound, [check.detail for check in diagnosis.checks if not check.ok]
