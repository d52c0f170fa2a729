"""Many processes that store at once lose nothing: the short form of `tests/stress/parallel_stores.py`."""

import importlib.util
import sys
from pathlib import Path

import pytest


def test_processes_that_store_at_once_lose_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).parent / "stress" / "parallel_stores.py"
    spec = importlib.util.spec_from_file_location("parallel_stores", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    assert module.main(["--processes", "8", "--same", "6"]) == 0, capsys.readouterr().out
    assert "8 exit 0, 8 rows" in capsys.readouterr().out
