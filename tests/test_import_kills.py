"""Imports that are killed leave a sound store, and are completed by the next one.

The short form of `tests/stress/importing.py`.
"""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest


def test_an_import_that_is_killed_is_completed_by_the_next_one(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(__file__).parent / "stress" / "importing.py"
    spec = importlib.util.spec_from_file_location("stress_importing", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    status = module.main(["--seconds", "7", "--records", "700"])
    told = capsys.readouterr().out
    assert status == 0, told
    counted = re.search(r"(\d+) killed, .*; (\d+) imports of \d+ records completed", told)
    assert counted is not None, told
    assert int(counted[1]) > 0, told
    assert int(counted[2]) > 0, told
