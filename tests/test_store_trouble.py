"""A store that cannot be used: damaged, locked, full, unwritable, on a network; named, with a way out."""

import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from mem.errors import StoreBusy, StoreUnusable
from mem.service import Service
from mem.store.connect import Store


@contextmanager
def opened(path: Path, *, timeout_ms: int = 10_000) -> Iterator[Store]:
    store = Store(path, timeout_ms=timeout_ms)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def write_lock(path: Path) -> Iterator[apsw.Connection]:
    """Another process's write that takes its time."""
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        other.execute("ROLLBACK")
        other.close()


def test_a_damaged_store_is_named_as_such(memory: Service, home: Path) -> None:
    for number in range(20):
        memory.store(f"Fact number {number} of the damaged store")
    memory.close()
    whole = (home / "memory.db").read_bytes()
    (home / "memory.db").write_bytes(whole[: len(whole) // 3])
    with pytest.raises(StoreUnusable, match="not a sound store"), opened(home / "memory.db") as store:
        Service(store, None, memory._caller).doctor()


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs"])
def test_a_network_file_system_is_refused_before_anything_is_written(
    home: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = home.parent.stat().st_dev
    mounts = (
        "21 28 0:99 / /proc rw - proc proc rw\n"
        f"36 35 {os.major(device)}:{os.minor(device)} / /mnt rw,noatime master:1 - {kind} server:/mnt rw\n"
    )
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: mounts)
    with pytest.raises(StoreUnusable, match=rf"network file system \({kind}\)") as caught:
        Store(home / "memory.db")
    assert "MEM_HOME" in caught.value.hint
    assert not home.exists()


def test_a_lock_that_is_held_for_too_long_is_named_and_nothing_is_written(
    memory: Service, home: Path
) -> None:
    with opened(home / "memory.db", timeout_ms=60) as store:
        writer = Service(store, None, memory._caller)
        with write_lock(home / "memory.db"), pytest.raises(StoreBusy) as caught:
            writer.store("A fact that cannot be written")
        assert (caught.value.code, caught.value.exit_status) == ("store_busy", 5)
        assert str(home / "memory.db") in str(caught.value)
        assert writer.list_().total == 0
        assert writer.store("A fact that can be written").id == 1


def test_a_write_waits_for_the_lock_of_another(memory: Service, home: Path) -> None:
    held = threading.Event()

    def hold() -> None:
        with write_lock(home / "memory.db"):
            held.set()
            time.sleep(0.2)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(10)
    assert memory.store("A fact that waits its turn").id == 1
    holder.join()


@contextmanager
def unprivileged() -> Iterator[None]:
    """Without root's right to write everywhere."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(mine)


def test_a_folder_that_cannot_be_written_is_named_with_a_way_out() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        for path in (folder / "memory.db", folder / "home" / "memory.db"):
            with unprivileged(), pytest.raises(StoreUnusable) as caught:
                Store(path)
            assert str(folder) in str(caught.value)
            assert ("MEM_HOME" in caught.value.hint, caught.value.exit_status) == (True, 5)
        assert list(folder.iterdir()) == []
        folder.chmod(0o700)


def test_a_file_that_cannot_be_written_is_read_and_refuses_writes(person_in_public: Service) -> None:
    with unprivileged():
        assert person_in_public.list_(all_projects=True).memories[0].content == "Readable by all"
        with pytest.raises(StoreUnusable) as caught:
            person_in_public.store("A fact that cannot be written", global_=True)
    assert caught.value.exit_status == 5


@pytest.fixture
def person_in_public(memory: Service) -> Iterator[Service]:
    """A service over a store that others may read, opened by one who may not write it."""
    memory.store("Readable by all")
    memory.close()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "memory.db"
        path.write_bytes(memory._store.path.read_bytes())
        # The journal's shared memory must be there: who may not write cannot make it.
        keeper = apsw.Connection(str(path))
        assert keeper.execute("SELECT count(*) FROM memories").get == 1
        for part in folder.iterdir():
            part.chmod(0o444)
        folder.chmod(0o555)
        with unprivileged():
            store = Store(path)
        yield Service(store, None, memory._caller)
        store.close()
        keeper.close()
        folder.chmod(0o700)


def test_a_full_disk_is_named_and_leaves_the_store_as_it_was(memory: Service, home: Path) -> None:
    memory.store("A fact that fitted")
    with memory._store.read() as db:
        db.pragma("max_page_count", db.pragma("page_count"))
    with pytest.raises(StoreUnusable, match="full") as caught:
        memory.store("A fact too long for the disk: " + "much to say " * 5_000)
    assert (caught.value.exit_status, "Free some space" in caught.value.hint) == (5, True)
    with pytest.raises(StoreUnusable, match="full"):
        memory.store_batch([{"content": f"{number} " + "much to say " * 5_000} for number in range(3)])
    with memory._store.read() as db:
        db.pragma("max_page_count", 1_000_000)
    assert [found.content for found in memory.list_().memories] == ["A fact that fitted"]
    assert memory.store("A fact after there was space again").id == 2
    assert memory.doctor().sound


def test_what_is_no_regular_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "memory.db"
    os.mkfifo(pipe, 0o644)
    with pytest.raises(StoreUnusable, match="no regular file"):
        Store(pipe)
    assert stat.S_IMODE(pipe.stat().st_mode) == 0o644
    assert [entry.name for entry in tmp_path.iterdir()] == ["memory.db"]


def test_a_path_that_is_not_utf_8_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="not UTF-8"):
        Store(tmp_path / "caf\udce9.db")


def test_after_what_need_not_last_a_write_lasts_again(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as store:
        with store.write(lasting=False) as db:
            assert db.pragma("synchronous") == 1
        with store.write() as db:
            assert db.pragma("synchronous") == 2
