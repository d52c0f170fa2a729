"""Imports that are killed leave a sound store, and are completed by the next one.

The short form of `tests/stress/importing.py`.
"""

import re
from collections.abc import Callable
from pathlib import Path


def test_an_import_that_is_killed_is_completed_by_the_next_one(
    home: Path, run_stress: Callable[..., str]
) -> None:
    told = run_stress("importing", "--seconds", "7", "--records", "700")
    counted = re.search(r"(\d+) killed, .*; (\d+) imports of \d+ records completed", told)
    assert counted is not None, told
    assert int(counted[1]) > 0, told
    assert int(counted[2]) > 0, told
