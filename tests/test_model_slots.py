"""Two processes hold the model; a third waits, and gets a place as soon as one of them is gone."""

import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import mem
from mem.embed import EmbeddingError
from mem.embed.slots import model_slot

HOLD = """
import sys
from pathlib import Path
from mem.embed.slots import model_slot
with model_slot(Path(sys.argv[1]), float(sys.argv[2])) as free:
    print(free, flush=True)
    sys.stdin.read()
"""


class Holder:
    """A process that asks for a place and keeps it until it is told to stop or killed."""

    def __init__(self, directory: Path, timeout: float = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-c", HOLD, str(directory), str(timeout)],
            cwd=Path(mem.__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def got_a_place(self) -> bool:
        assert self.process.stdout is not None
        return {"True": True, "False": False}[self.process.stdout.readline().strip()]

    def stop(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def two_holders(tmp_path: Path) -> Iterator[list[Holder]]:
    holders = [Holder(tmp_path / "run") for _ in range(2)]
    assert [holder.got_a_place() for holder in holders] == [True, True]
    yield holders
    for holder in holders:
        holder.kill()


@pytest.mark.usefixtures("two_holders")
def test_a_third_process_gets_no_place(tmp_path: Path) -> None:
    third = Holder(tmp_path / "run")
    assert not third.got_a_place()
    third.stop()


def test_a_place_is_free_again_when_its_holder_ends(two_holders: list[Holder], tmp_path: Path) -> None:
    two_holders[0].stop()
    third = Holder(tmp_path / "run")
    assert third.got_a_place()
    third.stop()


def test_a_killed_process_leaves_its_place(two_holders: list[Holder], tmp_path: Path) -> None:
    two_holders[1].kill()
    third = Holder(tmp_path / "run")
    assert third.got_a_place()
    third.stop()


def test_a_waiting_process_gets_the_place_that_comes_free(two_holders: list[Holder], tmp_path: Path) -> None:
    third = Holder(tmp_path / "run", timeout=20)
    time.sleep(0.2)
    two_holders[0].kill()
    assert third.got_a_place()
    third.stop()


def test_a_place_is_given_back_at_the_end_of_the_block(tmp_path: Path) -> None:
    for _ in range(3):
        with model_slot(tmp_path, 0) as first, model_slot(tmp_path, 0) as second:
            assert first and second
            began = time.monotonic()
            with model_slot(tmp_path, 0.1) as third:
                assert not third
            assert 0.1 <= time.monotonic() - began < 2


def test_an_error_in_the_block_is_passed_on_and_gives_the_place_back(tmp_path: Path) -> None:
    for _ in range(3):
        with pytest.raises(OSError, match="the disk is full"), model_slot(tmp_path, 0) as free:
            assert free
            raise OSError("the disk is full")


def test_only_the_user_can_open_the_locks(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "run"
    with model_slot(directory, 0), model_slot(directory, 0):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    assert modes == {"model-0.lock": 0o600, "model-1.lock": 0o600}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EmbeddingError, match="file/run"), model_slot(tmp_path / "file" / "run", 0):
        pass


def test_a_platform_without_file_locks_always_has_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (
        model_slot(tmp_path, 0) as first,
        model_slot(tmp_path, 0) as second,
        model_slot(tmp_path, 0) as third,
    ):
        assert first and second and third
    assert list(tmp_path.iterdir()) == []
