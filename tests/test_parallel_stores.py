"""Many processes that store at once lose nothing: the short form of `tests/stress/parallel_stores.py`."""

from collections.abc import Callable


def test_processes_that_store_at_once_lose_nothing(run_stress: Callable[..., str]) -> None:
    assert "8 exit 0, 8 rows" in run_stress("parallel_stores", "--processes", "8", "--same", "6")
