"""The store as a file: who may read it, how it comes about, what opening does, which files are refused."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from conftest import process_environment

from mem import __version__
from mem.errors import StoreTooNew, StoreUnusable
from mem.paths import places
from mem.service import Service, open_service
from mem.store import connect, migrations
from mem.store.connect import Store


@contextmanager
def opened(path: Path, **options: int) -> Iterator[Store]:
    store = Store(path, **options)
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


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files(folder: Path) -> dict[str, bytes]:
    """Every file with its bytes, but the shared memory, in which readers leave their marks."""
    return {part.name: part.read_bytes() for part in folder.iterdir() if not part.name.endswith("-shm")}


def is_whole(path: Path) -> bool:
    """Whether the store opens, takes a memory and gives it back, and SQLite finds nothing wrong with it."""
    service = open_service(path)
    try:
        stored = service.store("A fact after the crash")
        found = service.get([str(stored.id)]).memories[0]
        checks = {check.name: check.ok for check in service.doctor().checks}
        return found.content == "A fact after the crash" and checks["store"] and checks["audit log"]
    finally:
        service.close()


@pytest.fixture
def words_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private home without an embedding model."""
    monkeypatch.setenv("MEM_MODEL", "none")
    return home


# Who may read it, and where it lies


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_a_new_store_is_private_under_any_umask(home: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with opened(home / "deeper" / "memory.db") as store, store.write() as db:
            db.execute("INSERT INTO store_info (key, value) VALUES ('written', 'yes')")
            made = {part.name: mode(part) for part in (home / "deeper").iterdir()}
        after = os.umask(umask)
    finally:
        os.umask(before)
    assert made == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert (mode(home / "deeper"), mode(home)) == (0o700, 0o700)
    assert after == umask


def test_mem_home_moves_everything_and_mem_db_the_store_alone(
    words_only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_service().close()
    assert [part.name for part in words_only.iterdir()] == ["memory.db"]
    monkeypatch.setenv("MEM_DB", str(tmp_path / "elsewhere" / "team.db"))
    open_service().close()
    assert [part.name for part in (tmp_path / "elsewhere").iterdir()] == ["team.db"]
    assert places().configuration == words_only / "config.toml"


def test_a_store_named_by_the_call_wins_over_mem_db(
    words_only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_DB", str(tmp_path / "variable.db"))
    open_service(tmp_path / "named.db").close()
    assert (tmp_path / "named.db").exists()
    assert not (tmp_path / "variable.db").exists()


# How it comes about

_DIES = """
import os, signal, sys
from pathlib import Path
from mem.store import connect, migrations

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

publish = connect._publish
match sys.argv[1]:
    case "in the migration":
        migrations.keep_versions = die
    case "before it has its name":
        connect._publish = die
    case "with its name":
        connect._publish = lambda *paths: (publish(*paths), die())
connect.Store(Path(sys.argv[2]))
"""


def dies_while_creating(path: Path, moment: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _DIES, moment, str(path)], env=process_environment(), timeout=60
    )
    assert ended.returncode == -9


@pytest.mark.parametrize("moment", ["in the migration", "before it has its name"])
def test_a_creation_that_dies_leaves_no_store_and_the_next_one_succeeds(
    words_only: Path, moment: str
) -> None:
    dies_while_creating(words_only / "memory.db", moment)
    assert not (words_only / "memory.db").exists()
    assert is_whole(words_only / "memory.db")


def test_a_creation_that_dies_after_naming_the_store_leaves_a_whole_one(words_only: Path) -> None:
    dies_while_creating(words_only / "memory.db", "with its name")
    assert (words_only / "memory.db").exists()
    with write_lock(words_only / "memory.db"), opened(words_only / "memory.db", timeout_ms=50) as store:
        assert store.has_vectors
    assert is_whole(words_only / "memory.db")


def test_a_store_is_made_where_hard_links_are_not(words_only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", unsupported)
    open_service().close()
    assert [part.name for part in words_only.iterdir()] == ["memory.db"]
    assert is_whole(words_only / "memory.db")


def test_who_is_second_keeps_the_store_of_who_was_first(
    words_only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = connect._publish

    def write_first(path: Path) -> None:
        first = open_service(path)
        first.store("Written while the second was still at work")
        first.close()

    def beaten(temporary: Path, path: Path) -> None:
        monkeypatch.setattr(connect, "_publish", publish)
        other = threading.Thread(target=write_first, args=(path,))
        other.start()
        other.join()
        publish(temporary, path)

    monkeypatch.setattr(connect, "_publish", beaten)
    second = open_service()
    assert [found.content for found in second.list_().memories] == [
        "Written while the second was still at work"
    ]
    second.close()
    assert [part.name for part in words_only.iterdir()] == ["memory.db"]


def test_an_empty_file_becomes_a_private_store(words_only: Path) -> None:
    words_only.mkdir()
    path = words_only / "memory.db"
    path.touch(mode=0o644)
    assert is_whole(path)
    assert mode(path) == 0o600


def test_a_header_that_a_dead_process_left_in_an_empty_file_becomes_a_store(words_only: Path) -> None:
    words_only.mkdir()
    begun = apsw.Connection(str(words_only / "memory.db"))
    begun.pragma("page_size", connect.PAGE_SIZE)
    begun.pragma("journal_mode", "wal")
    begun.close()
    assert (words_only / "memory.db").stat().st_size > 0
    assert is_whole(words_only / "memory.db")


# What opening does


def test_opening_and_reading_a_current_store_needs_no_lock_and_changes_no_byte(
    memory: Service, home: Path
) -> None:
    known = memory.store("The API listens on port 8443")
    memory.close()
    before = files(home)
    with write_lock(home / "memory.db"), opened(home / "memory.db", timeout_ms=50) as store:
        reader = Service(store, None, memory._caller)
        assert reader.get([str(known.id)]).memories[0].content == "The API listens on port 8443"
        assert reader.list_().total == 1
        assert reader.list_(known_at="2030-01-01").total == 1
        assert reader.history(str(known.id)).changes[0].operation == "store"
        assert reader.recall("API port").hits[0].memory.id == known.id
    assert before == files(home)


def test_opening_a_current_store_runs_no_statement_that_writes(
    memory: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.store("The API listens on port 8443")
    memory.close()
    ran: list[str] = []

    def listen(db: apsw.Connection) -> None:
        def note(_: apsw.Cursor, sql: str, __: object) -> bool:
            ran.append(sql.split()[0].upper())
            return True

        db.exec_trace = note

    monkeypatch.setattr(apsw, "connection_hooks", [listen])
    with opened(home / "memory.db"):
        assert set(ran) == {"PRAGMA"}


def test_every_thread_has_a_connection_with_the_same_promises(home: Path) -> None:
    wanted = {
        "journal_mode": "wal",
        "page_size": 8192,
        "foreign_keys": 1,
        "synchronous": 2,
        "secure_delete": 1,
        "busy_timeout": 10_000,
    }
    seen: list[dict[str, object]] = []
    with opened(home / "memory.db") as store:

        def look() -> None:
            with store.read() as db:
                seen.append({name: db.pragma(name) for name in wanted})

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        look()
    assert seen == [wanted, wanted]


def test_a_read_sees_one_state_of_the_store_whatever_others_write(memory: Service, home: Path) -> None:
    memory.store("The first fact")
    count = "SELECT count(*) FROM memories"
    with opened(home / "memory.db") as store, store.read() as db:
        assert db.execute(count).get == 1
        memory.store("The second fact")
        assert db.execute(count).get == 1
    assert memory.list_().total == 2


# Which files are refused


def test_a_store_of_a_newer_mem_stops_with_both_versions_named(memory: Service, home: Path) -> None:
    memory.store("A fact")
    memory.close()
    newer = apsw.Connection(str(home / "memory.db"))
    newer.execute(f"PRAGMA user_version = {migrations.CURRENT + 3}")
    newer.execute("INSERT INTO migrations VALUES ('to_come', '2999-01-01T00:00:00.000000Z', '97.5.3')")
    newer.close()
    before = files(home)
    with pytest.raises(StoreTooNew) as caught:
        Store(home / "memory.db")
    assert "97.5.3" in str(caught.value)
    assert __version__ in str(caught.value)
    assert "Upgrade" in caught.value.hint
    assert (caught.value.exit_status, files(home)) == (5, before)


def foreign_table(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE contacts (name TEXT)")
    other.execute("INSERT INTO contacts VALUES ('Ada')")
    other.commit()
    other.close()


def foreign_mark(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("PRAGMA application_id = 252006673")
    other.commit()
    other.close()


def text_file(path: Path) -> None:
    path.write_text("Dear diary,\n" * 400)


def short_text(path: Path) -> None:
    path.write_text("x")


@pytest.mark.parametrize("make", [foreign_table, foreign_mark, text_file, short_text])
def test_another_programs_file_is_refused_and_stays_as_it_is(home: Path, make: object) -> None:
    home.mkdir()
    path = home / "memory.db"
    assert callable(make)
    make(path)
    path.chmod(0o644)
    before = files(home)
    with pytest.raises(StoreUnusable) as caught:
        Store(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint
    assert (caught.value.exit_status, files(home), mode(path)) == (5, before, 0o644)
