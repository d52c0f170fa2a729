"""A backup is the whole store or is not there; what is put back comes without what was judged wrong since."""

import gzip
import json
import os
import random
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from conftest import BagOfWords, Ran
from data import make_store
from telling import everything, get, live, records, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import MemError, Refused, StoreTooNew, StoreUnusable, Usage
from mem.operations import find_operation
from mem.results import BackedUp, RestoredBackup
from mem.server import tools
from mem.service import Service
from mem.store import copies, integrity
from mem.store.connect import Store
from mem.values import Actor, ActorKind, ExportFormat, Kind, Status

DATA = Path(make_store.__file__).parent
SECRET = "The vault opens to Quetzalcoatlus-77319052 after midnight"  # noqa: S105


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


def backed_up(memory: Service, file: Path | None = None, keep: int | None = None) -> BackedUp:
    done = memory.backup(None if file is None else str(file), keep=keep)
    assert isinstance(done, BackedUp)
    return done


def put_back(memory: Service, file: Path | str) -> RestoredBackup:
    done = memory.backup(restore=str(file))
    assert isinstance(done, RestoredBackup)
    return done


def full(memory: Service) -> None:
    """Something of every kind, with a history."""
    first = tell(memory, "The API listens on 8080", tag=["api"])
    memory.supersede([first], content="The API listens on 8081")
    memory.archive([tell(memory, "Redis keeps the sessions")], reason="gone")
    memory.reject([tell(memory, "The moon is cheese")], reason="it is not")
    memory.observe("Ana", "prefers calls to mail", type="person")
    memory.entity_set("billing", type="service")
    memory.relate("Ana", "maintains", "billing")
    memory.session_start()
    memory.session_end(summary="Billing moved to Postgres", task=["load test"])


def sound(memory: Service) -> bool:
    return all(check.ok for check in memory.doctor(audit=True).checks)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def content(home: Path) -> dict[str, bytes]:
    """Every file of a home, but for what a connection keeps beside a store."""
    files = [file for file in home.rglob("*") if file.is_file() and not file.name.endswith(("-shm", "-wal"))]
    return {str(file): file.read_bytes() for file in files}


# Backups


def test_a_backup_holds_what_the_store_holds(memory: Service, home: Path) -> None:
    full(memory)
    done = backed_up(memory)
    path = Path(done.path)
    assert path.parent == home / "backups"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert (done.bytes, done.memories) == (path.stat().st_size, len(everything(memory)))
    assert names(path.parent) == [path.name]
    compared = memory.verify(done.path)
    assert (compared.same, compared.digest, compared.exit_status) == (True, done.digest, 0)
    assert {one.kind: one.same for one in compared.kinds}["memory"] == done.memories
    assert names(path.parent) == [path.name]  # looking at it left nothing beside it


def test_a_backup_is_what_the_export_says_it_is(memory: Service, tmp_path: Path) -> None:
    full(memory)
    exported = memory.export(str(tmp_path / "all.jsonl"))
    assert backed_up(memory).digest == exported.digest


def test_writers_go_on_while_backups_are_made(
    memory: Service, home: Path, person: Caller, tmp_path: Path
) -> None:
    tell(memory, "Fact 0")
    told = threading.Event()
    over = threading.Event()

    def write() -> None:
        store = Store(home / "memory.db")
        other = Service(store, None, person)
        number = 0
        while not over.is_set():
            number += 1
            other.store_batch([{"content": f"Fact {number} {part}"} for part in range(5)])
            other.update("1", content=f"Fact 0, told {number} times")
            told.set()
        store.close()

    writer = threading.Thread(target=write)
    writer.start()
    counts = []
    try:
        for number in range(4):
            told.clear()
            assert told.wait(20)
            counts.append(backed_up(memory, tmp_path / f"{number}.db").memories)
    finally:
        over.set()
        writer.join()
    assert counts == sorted(set(counts))  # each a later state
    for number, count in enumerate(counts):
        with copies.opened(tmp_path / f"{number}.db") as db:
            assert integrity.problems(db, thorough=True) == []
            assert integrity.first_broken(db) is None
            assert (count - 1) % 5 == 0  # no batch was cut in two


def test_a_copy_that_lacks_a_row_is_no_backup(
    memory: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full(memory)
    original = copies.tidy

    def losing(file: Path, **options: int) -> None:
        db = apsw.Connection(str(file))
        db.execute("DELETE FROM usage; DELETE FROM embeddings WHERE id = (SELECT min(id) FROM embeddings)")
        db.close()
        original(file, **options)

    monkeypatch.setattr(copies, "tidy", losing)
    with pytest.raises(StoreUnusable, match="rows in embeddings instead of"):
        backed_up(memory)
    assert names(home / "backups") == []


def test_only_so_many_of_its_own_backups_are_kept(
    memory: Service, home: Path, person: Caller, wall: WallClock, tmp_path: Path
) -> None:
    other = Service(Store(tmp_path / "memory.db"), None, person)
    foreign = Path(backed_up(other).path)
    given = home / "backups" / "memory-mine.db"
    backed_up(memory, given)
    made = []
    for _ in range(3):
        wall.forward(hours=1)
        made.append(backed_up(memory).path)
    wall.set("2026-05-10T07:00:00Z")  # a clock that was put back must not cost the newest
    newest = backed_up(memory, keep=2)
    assert list(newest.removed) == made[:2]
    kept = sorted(Path(path).name for path in (newest.path, made[2], str(given), str(foreign)))
    assert names(home / "backups") == kept
    other.close()


def test_what_stands_in_the_way_is_named_and_left(
    memory: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(memory, "Lunch is at noon")
    there, link, folder = tmp_path / "there.db", tmp_path / "link.db", tmp_path / "folder"
    there.write_text("mine")
    link.symlink_to(tmp_path / "nowhere")
    folder.mkdir()
    for target, told in (
        (there, "exists, and is not overwritten"),
        (link, "exists, and is not overwritten"),
        (folder, "is a folder"),
        (tmp_path / "no" / "such.db", "There is no folder"),
        (there / "file.db", "There is no folder"),
    ):
        with pytest.raises(Usage, match=told) as caught:
            backed_up(memory, target)
        assert str(target if "folder" not in told else target.parent)[: len(str(tmp_path))] in str(
            caught.value
        )
        assert caught.value.hint
    with pytest.raises(MemError, match="cannot be written"):
        backed_up(memory, Path("/proc/mem-backup.db"))
    with pytest.raises(Usage, match="keep is for"):
        backed_up(memory, tmp_path / "new.db", keep=1)
    with pytest.raises(Usage, match="not written to standard output"):
        backed_up(memory, Path("-"))
    monkeypatch.setattr(copies, "file_system", lambda folder: "nfs4")
    with pytest.raises(Usage, match="network file system"):
        backed_up(memory, tmp_path / "new.db")
    assert (there.read_text(), names(tmp_path)) == (
        "mine",
        ["folder", "home", "link.db", "there.db", "user", "work"],
    )


def test_a_full_disk_leaves_no_part_of_a_backup(
    memory: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(memory, "Lunch is at noon")
    original = copies._fill

    def filled(file: Path, source: apsw.Connection) -> None:
        original(file, source)
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(copies, "_fill", filled)
    with pytest.raises(MemError, match=r"disk .* is full") as caught:
        backed_up(memory, tmp_path / "new.db")
    assert (caught.value.exit_status, names(tmp_path)) == (1, ["home", "user", "work"])


def test_what_a_killed_process_left_is_cleared_away(memory: Service, home: Path) -> None:
    first = Path(backed_up(memory).path)
    dead = home / "backups" / f"{first.name}.999999999.new"
    living = home / "backups" / f"{first.name}.{os.getppid()}.new"
    others = home / "backups" / "notes.999999999.new"
    for file in (dead, living, others):
        file.write_text("half a backup")
    second = Path(backed_up(memory).path)
    assert names(home / "backups") == sorted((first.name, second.name, living.name, others.name))


# Restoring one


def test_the_old_state_comes_back_and_the_new_one_is_kept(memory: Service, home: Path) -> None:
    full(memory)
    before, entities = everything(memory), memory.entities().entities
    backup = backed_up(memory)
    memory.update("1", importance=9)
    memory.archive([tell(memory, "Told after the backup")])
    memory.observe("Ben", "came later")
    after, last = everything(memory), max(memory_.id for memory_ in everything(memory))

    done = put_back(memory, backup.path)

    assert everything(memory) == before
    assert memory.entities().entities == entities
    assert (done.memories, done.rejected, done.forgotten, done.warnings) == (len(before), (), 0, ())
    assert sound(memory)
    assert names(home) == ["backups", "memory.db", *_beside(home), Path(done.kept).name]
    kept = Service(Store(Path(done.kept)), None, memory._caller)
    assert everything(kept) == after
    kept.close()
    assert int(tell(memory, "Told after that")) == last + 1  # no number is given twice


def _beside(home: Path) -> list[str]:
    return [name for name in ("memory.db-shm", "memory.db-wal") if (home / name).exists()]


def test_who_has_the_store_open_goes_on_with_the_restored_one(
    memory: Service, home: Path, person: Caller, fake_embedder: BagOfWords
) -> None:
    tell(memory, "The API listens on 8080")
    backup = backed_up(memory)
    other = Service(Store(home / "memory.db"), fake_embedder, person)
    told = tell(other, "Told after the backup")
    assert other.recall("API listens").hits[0].memory.id == 1
    with other._store.read() as db:
        assert db.execute("SELECT count(*) FROM memories").get == 2
        done = threading.Thread(target=put_back, args=(memory, backup.path))
        done.start()
        done.join()
        assert db.execute("SELECT count(*) FROM memories").get == 2  # one snapshot to its end
    assert live(other) == {"The API listens on 8080"}
    assert other.recall("API listens").hits[0].memory.id == 1
    assert other.recall("told backup").total == 0
    assert int(tell(other, "Told by the other")) > int(told)
    assert sound(memory)
    other.close()


def test_what_was_rejected_since_stays_out(memory: Service, home: Path) -> None:
    wrong, elsewhere = tell(memory, "The moon is cheese"), tell(memory, "The moon is cheese", project="shop")
    changed = tell(memory, "The port is 80")
    archived = tell(memory, "The sun is cold")
    memory.archive([archived])
    lifted = tell(memory, "Mars is red")
    memory.reject([lifted], reason="is it?")
    backup = backed_up(memory)
    memory.reject([wrong], reason="it is not")
    memory.reject([archived], reason="it burns")
    memory.update(changed, content="The port is 81")
    memory.reject([tell(memory, "The port is 80")], reason="it moved")
    memory.restore([lifted], force=True)

    done = put_back(memory, backup.path)

    assert set(done.rejected) == {int(wrong), int(elsewhere), int(changed), int(archived)}
    assert live(memory) == set()
    assert [get(memory, id_).status for id_ in (wrong, archived, changed)] == [Status.REJECTED] * 3
    assert get(memory, wrong).status_reason == "it is not"
    assert get(memory, changed).status_reason == "it moved"
    for text in ("the moon is cheese!", "The sun is cold", "The port is 80"):
        assert memory.store(text).action == "refused", text
    assert memory.recall("moon cheese", project="shop").total == 0
    assert get(memory, lifted).status is Status.REJECTED
    memory.restore([lifted], force=True)
    assert "Mars is red" in live(memory)
    assert sound(memory)


def test_what_a_person_let_in_beside_a_rejection_stays(memory: Service) -> None:
    wrong = tell(memory, "The moon is cheese")
    memory.reject([wrong], reason="it is not")
    memory.restore([wrong], force=True)
    backup = backed_up(memory)
    done = put_back(memory, backup.path)
    assert (done.rejected, live(memory)) == ((), {"The moon is cheese"})


def test_what_was_forgotten_since_is_erased_again(memory: Service, home: Path, tmp_path: Path) -> None:
    id_, other = tell(memory, SECRET, rationale="as Quetzalcoatlus said"), tell(memory, "Lunch is at noon")
    memory.observe("Quetzalcoatlus", "flies at night", type="animal")
    memory.archive([id_, other], reason="Quetzalcoatlus-77319052")
    backup = backed_up(memory, tmp_path / "outside.db")
    memory.forget([id_])
    memory.entity_forget("Quetzalcoatlus")

    done = put_back(memory, backup.path)

    assert done.forgotten == 3
    assert [notice.code for notice in done.warnings] == ["still_in_backup"]
    assert [found.content for found in everything(memory)] == ["Lunch is at noon"]
    assert memory.entities().entities == ()
    memory.close()
    for file, said in content(home).items():
        assert b"uetzalcoatlus" not in said, file
    again = Service(Store(home / "memory.db"), None, memory._caller)
    assert again.store(SECRET).action == "refused"
    assert sound(again)
    again.close()


def test_the_unused_parts_of_restored_pages_hold_nothing_either(
    memory: Service, home: Path, tmp_path: Path
) -> None:
    by_words = Service(Store(home / "memory.db"), None, memory._caller)
    chance = random.Random(2)  # noqa: S311

    def text(secret: bool) -> str:
        said = f"Quetzalcoatlus-{chance.random()}" if secret else "padding"
        words = ("".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(chance.choice((1, 9, 90))))
        return " ".join(f"{word} {said}" for word in words)

    secret = [chance.random() < 0.5 for _ in range(150)]
    by_words.store_batch([{"content": text(one)} for one in secret])
    backup = backed_up(by_words, tmp_path / "outside.db")
    by_words.forget([str(number) for number, one in enumerate(secret, start=1) if one])
    assert put_back(by_words, backup.path).forgotten == sum(secret)
    by_words.close()
    memory.close()
    assert [file for file, said in content(home).items() if b"uetzalcoatlus" in said] == []


def test_what_was_forgotten_before_an_earlier_restore_stays_out(memory: Service, tmp_path: Path) -> None:
    first = backed_up(memory, tmp_path / "first.db")
    id_ = tell(memory, SECRET)
    memory.entity_set("Quetzalcoatlus", type="animal")
    second = backed_up(memory, tmp_path / "second.db")
    memory.forget([id_])
    memory.entity_forget("Quetzalcoatlus")
    put_back(memory, first.path)
    done = put_back(memory, second.path)
    assert (done.forgotten, everything(memory)) == (2, [])
    assert memory.entities().entities == ()


def test_a_forgotten_text_that_was_forced_in_again_may_come_back(memory: Service, tmp_path: Path) -> None:
    memory.forget([tell(memory, SECRET)])
    again = memory.store(SECRET, force=True)
    backup = backed_up(memory, tmp_path / "outside.db")
    memory.archive([str(again.id)])
    put_back(memory, backup.path)
    assert live(memory) == {SECRET}


def test_no_event_gets_a_number_that_another_has(memory: Service, home: Path, tmp_path: Path) -> None:
    tell(memory, "Before the backup")
    id_ = tell(memory, SECRET)
    backup = backed_up(memory)
    tell(memory, "After the backup")
    memory.forget([id_])  # writes an event into the backup, too
    exports = [tmp_path / "old.jsonl", tmp_path / "new.jsonl", tmp_path / "newest.jsonl"]
    memory.export(str(exports[0]))
    put_back(memory, backup.path)
    tell(memory, "After the restore")
    memory.export(str(exports[1]))
    put_back(memory, backup.path)
    tell(memory, "After the second restore")
    memory.export(str(exports[2]))
    numbered: dict[tuple[str, int], set[str]] = {}
    for export in exports:
        for line in export.read_text().splitlines():
            record = json.loads(line)
            if record["record"] == "event":
                numbered.setdefault((record["origin"], record["sequence"]), set()).add(record["uid"])
    assert len(numbered) > 5
    assert [uids for uids in numbered.values() if len(uids) > 1] == []
    assert sound(memory)


def test_what_was_done_before_the_backup_can_still_be_undone(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "Lunch is at noon")
    memory.update(id_, content="Lunch is at one")
    backup = backed_up(memory)
    memory.update(id_, content="Lunch is at two")
    ended = wall.forward(hours=1)
    put_back(memory, backup.path)
    memory.undo("2")
    assert get(memory, id_).content == "Lunch is at noon"
    assert memory.history(id_).changes[-1].at > ended
    [restored] = [event for event in memory.log().events if event.operation == "restore-backup"]
    with pytest.raises(Refused, match="cannot be undone"):
        memory.undo(str(restored.id))


def test_record_times_go_on_where_the_clock_was_put_back(memory: Service, wall: WallClock) -> None:
    id_ = tell(memory, "Lunch is at noon")
    backup = backed_up(memory)
    wall.forward(days=2)
    memory.update(id_, content="Lunch is at two")
    last = get(memory, id_).changed_at
    wall.set("2026-05-01T08:00:00Z")
    put_back(memory, backup.path)
    memory.update(id_, content="Lunch is at one")
    assert get(memory, id_).changed_at > last


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_a_backup_of_an_older_mem_is_brought_up_to_date(
    memory: Service, home: Path, tmp_path: Path, version: str
) -> None:
    older = tmp_path / "older.db"
    older.write_bytes(gzip.decompress((DATA / f"store-{version}.db.gz").read_bytes()))
    before = older.read_bytes()
    tell(memory, "Told in the store of today")
    compared = memory.verify(str(older))
    assert (compared.same, compared.exit_status) == (False, 1)
    done = put_back(memory, older)
    assert done.memories == len(records(home, "memories")) > 10
    assert (memory.verify(str(older)).digest, sound(memory)) == (compared.digest, True)
    assert (older.read_bytes(), names(tmp_path)) == (before, ["home", "older.db", "user", "work"])


def _newer(file: Path) -> None:
    db = apsw.Connection(str(file))
    db.pragma("user_version", 9999)
    db.close()


def _damaged(file: Path) -> None:
    said = bytearray(file.read_bytes())
    for start in range(5 * 8192, len(said), 3 * 8192):
        said[start : start + 4000] = b"\xff" * 4000
    file.write_bytes(said)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: 10 * 8192])


def _foreign(file: Path) -> None:
    file.unlink()
    db = apsw.Connection(str(file))
    db.execute("CREATE TABLE notes (note)")
    db.close()


def _text(file: Path) -> None:
    file.write_text("no database at all, " * 100)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _nothing(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize(
    ("spoil", "error", "told"),
    [
        (_newer, StoreTooNew, "was written by mem"),
        (_damaged, StoreUnusable, "is not a sound store|cannot be read"),
        (_cut, StoreUnusable, "is not a sound store|cannot be read"),
        (_foreign, Usage, "is no store of mem"),
        (_text, Usage, "is no store of mem"),
        (_folder, Usage, "is a folder"),
        (_nothing, Usage, "does not exist"),
    ],
)
def test_what_is_no_sound_backup_is_refused_and_nothing_touched(
    memory: Service,
    home: Path,
    tmp_path: Path,
    spoil: Callable[[Path], None],
    error: type[MemError],
    told: str,
) -> None:
    full(memory)
    file = tmp_path / "backup.db"
    backed_up(memory, file)
    spoil(file)
    before, beside = content(home), names(tmp_path)
    with pytest.raises(error, match=told) as caught:
        put_back(memory, file)
    assert str(file) in str(caught.value)
    assert (content(home), names(tmp_path)) == (before, beside)


def test_the_store_itself_is_no_backup_of_it(memory: Service, home: Path, tmp_path: Path) -> None:
    tell(memory, "Lunch is at noon")
    linked = tmp_path / "linked.db"
    linked.symlink_to(home / "memory.db")
    for file in (home / "memory.db", linked):
        with pytest.raises(Usage, match="is the store itself"):
            put_back(memory, file)
    assert live(memory) == {"Lunch is at noon"}


def test_a_full_disk_leaves_the_old_state(memory: Service, home: Path, tmp_path: Path) -> None:
    memory.store_batch([{"content": f"Fact {number}: {'much to say ' * 4_000}"} for number in range(10)])
    backup = backed_up(memory, tmp_path / "large.db")
    small = Service(Store(tmp_path / "small.db"), None, memory._caller)
    tell(small, "A fact that fitted")
    with small._store.read() as db:
        db.pragma("max_page_count", db.pragma("page_count"))
    with pytest.raises(StoreUnusable, match="full"):
        put_back(small, backup.path)
    assert live(small) == {"A fact that fitted"}
    aside = [name for name in names(tmp_path) if "before-restore" in name]
    assert (len(aside), [name for name in names(tmp_path) if name.endswith(".new")]) == (1, [])
    small.close()


def test_writers_wait_for_a_restore_and_write_into_the_restored_store(
    memory: Service, home: Path, person: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(memory, "Lunch is at noon")
    backup = backed_up(memory)
    original, written = copies.check, threading.Event()

    def write() -> None:
        store = Store(home / "memory.db")
        tell(Service(store, None, person), "Told meanwhile")
        store.close()
        written.set()

    writer = threading.Thread(target=write)

    def check(file: Path, counted: dict[str, int] | None = None) -> None:
        if file.name.endswith(".new") and "restoring" in file.name:
            writer.start()
            assert not written.wait(0.3)
        original(file, counted)

    monkeypatch.setattr(copies, "check", check)
    put_back(memory, backup.path)
    writer.join()
    assert live(memory) == {"Lunch is at noon", "Told meanwhile"}
    assert sound(memory)


def test_a_damaged_store_is_kept_as_it_is_and_replaced(
    memory: Service, home: Path, fake_embedder: BagOfWords, person: Caller
) -> None:
    memory.store_batch([{"content": f"Fact {number} about the staging cluster"} for number in range(40)])
    backup = backed_up(memory)
    memory.close()
    with damaging(home / "memory.db"):
        damaged = Service(Store(home / "memory.db"), fake_embedder, person)
        with pytest.raises(StoreUnusable, match="not a sound store"):
            damaged.doctor()
        done = put_back(damaged, backup.path)
        assert "damaged" in {notice.code for notice in done.warnings}
        assert (len(live(damaged)), sound(damaged)) == (40, True)
        assert Path(done.kept).is_file()
        damaged.close()


@contextmanager
def damaging(file: Path) -> Iterator[None]:
    """Overwrite pages of the word index, without which a store still opens."""
    db = apsw.Connection(str(file))
    pages = [row[0] for row in db.execute("SELECT rootpage FROM sqlite_schema WHERE name LIKE 'memories_%'")]
    db.close()
    said = bytearray(file.read_bytes())
    for page in filter(None, pages):
        said[(page - 1) * 8192 + 100 : page * 8192] = b"\xee" * (8192 - 100)
    file.write_bytes(said)
    yield


# Who may


def test_only_people_restore_a_backup(memory: Service) -> None:
    backup = backed_up(memory)
    agent = memory.of(Caller(Actor(ActorKind.AGENT), Path.cwd()))
    assert isinstance(agent.backup(), BackedUp)
    with pytest.raises(Refused, match="people only"):
        put_back(agent, backup.path)
    assert "restore" not in tools.input_schema(find_operation("backup"))["properties"]


def test_on_the_command_line(run_mem: Callable[..., Ran], home: Path) -> None:
    quiet = {"MEM_MODEL": "none"}
    assert run_mem("store", "Lunch is at noon", env=quiet).code == 0
    made = run_mem("backup", "mine.db", env=quiet)
    assert (made.code, made.out.split("\t")[:3]) == (
        0,
        ["backed up", str(Path.cwd() / "mine.db"), "1 memories"],
    )
    run_mem("store", "Dinner is at eight", env=quiet)
    compared = run_mem("verify", "mine.db", env=quiet)
    assert (compared.code, compared.out.split("\t")[0]) == (1, "different")
    assert "memory\t1 same, 1 only in the store\t#2\n" in compared.out
    unsure = run_mem("backup", "--restore", "mine.db", env=quiet)
    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    done = run_mem("backup", "--restore", "mine.db", "--yes", env=quiet)
    assert (done.code, done.out.splitlines()[0]) == (0, f"restored\t{Path.cwd() / 'mine.db'}\t1 memories")
    again = run_mem("backup", "--keep", "1", "--json", env=quiet).document()
    assert (again["memories"], again["warnings"]) == (1, [])


def test_doctor_tells_how_old_the_newest_backup_is(memory: Service, wall: WallClock, tmp_path: Path) -> None:
    def told() -> str:
        return next(check.detail for check in memory.doctor().checks if check.name == "backups")

    backed_up(memory, tmp_path / "mine.db")  # one with a name of its own may be anywhere by now
    assert "there is none" in told()
    backed_up(memory)
    wall.forward(hours=5)
    newest = backed_up(memory)
    assert told() == f"the newest of 2 is less than an hour old: {newest.path}"
    wall.forward(hours=5)
    assert "is 5 hours old" in told()
    wall.forward(days=3)
    assert "is 3 days old" in told()


def test_killed_restores_leave_the_old_store_or_the_new_one(
    home: Path, run_stress: Callable[..., str]
) -> None:
    """The short form of `tests/stress/restore.py`."""
    told = run_stress("restore", "--kills", "4", "--seconds", "20", "--memories", "50")
    counted = re.search(r"(\d+) restores killed", told)
    assert counted is not None, told
    assert int(counted[1]) > 0, told


# Comparing


def test_a_comparison_names_what_differs(memory: Service, tmp_path: Path) -> None:
    full(memory)
    export = tmp_path / "all.jsonl"
    memory.export(str(export))
    assert memory.verify(str(export)).same
    tell(memory, "Told after the export")
    memory.update("2", importance=9)
    compared = memory.verify(str(export))
    of_memories = {one.kind: one for one in compared.kinds}["memory"]
    assert (of_memories.only_in_file, of_memories.only_in_store, of_memories.different) == (0, 1, 1)
    assert set(of_memories.examples) == {"#2", f"#{max(found.id for found in everything(memory))}"}
    assert compared.exit_status == 1


def test_an_export_as_one_document_and_one_of_a_part_compare_as_well(memory: Service, tmp_path: Path) -> None:
    full(memory)
    tell(memory, "Only in the shop", project="shop")
    document, part = tmp_path / "all.json", tmp_path / "shop.jsonl"
    memory.export(str(document), format=ExportFormat.JSON)
    memory.export(str(part), project="shop")
    assert memory.verify(str(document)).same
    assert memory.verify(str(part)).same
    tell(memory, "Not in the shop")
    assert memory.verify(str(part)).same
    tell(memory, "In the shop too", project="shop")
    assert not memory.verify(str(part)).same


def test_an_export_that_was_edited_or_cut_is_named_as_such(memory: Service, tmp_path: Path) -> None:
    full(memory)
    export = tmp_path / "all.jsonl"
    memory.export(str(export))
    whole = export.read_bytes()
    export.write_bytes(whole.replace(b"8081", b"8082"))
    edited = memory.verify(str(export))
    assert ([notice.code for notice in edited.warnings], edited.same) == (["digest_differs"], False)
    export.write_bytes(whole.replace(b'"digest":"sha256:', b'"digest":"sha256:0', 1))
    assert not memory.verify(str(export)).same
    export.write_bytes(whole[:-40])
    cut = memory.verify(str(export))
    assert {notice.code for notice in cut.warnings} == {"malformed", "digest_differs"}
    assert not cut.same


def test_an_export_whose_header_or_records_were_bent_is_told_of(memory: Service, tmp_path: Path) -> None:
    full(memory)
    export, document = tmp_path / "all.jsonl", tmp_path / "all.json"
    memory.export(str(export))
    memory.export(str(document), format=ExportFormat.JSON)
    whole = export.read_text()
    for bent in ('{"kind":["bogus"]}', '{"kind":7}', '{"project":["shop"]}', '{"valid_at":7}'):
        export.write_text(whole.replace('"counts"', f'"filters":{bent},"counts"', 1))
        with pytest.raises(Usage, match="by its filter"):
            memory.verify(str(export))
    said = json.loads(document.read_text())
    odd = [7, {}, {"record": "foreign"}, {"record": ["memory"]}]
    for listed in (None, 7, {}, odd, [*said["records"], *odd]):
        document.write_text(json.dumps(said | {"records": listed}))
        compared = memory.verify(str(document))
        assert "malformed" in {notice.code for notice in compared.warnings}, listed
        assert not compared.same


def test_a_file_that_is_neither_is_refused(memory: Service, tmp_path: Path) -> None:
    for said in ("", "notes\n", '{"a": 1}\n', "[1, 2]\n"):
        file = tmp_path / "notes.txt"
        file.write_text(said)
        with pytest.raises(Usage, match="neither a backup nor an export"):
            memory.verify(str(file))
    with pytest.raises(Usage, match="is no file"):
        memory.verify(str(tmp_path / "nowhere"))


def test_a_file_that_may_not_be_read_is_told_of(
    memory: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.jsonl"
    memory.export(str(file))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(Path, "open", refuse)  # root may read anything
    with pytest.raises(Usage, match=r"all\.jsonl cannot be read: Permission denied"):
        memory.verify(str(file))


def test_a_limit_to_the_size_of_files_is_told_in_words(memory: Service, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    tell(memory, SECRET)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(MemError, match="the system does not let it be written whole"):
            backed_up(memory, tmp_path / "big.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.glob("big.db*"))


# What forget does about them


def test_forgetting_rewrites_backups_and_names_exports(memory: Service, home: Path, tmp_path: Path) -> None:
    id_ = tell(memory, SECRET)
    tell(memory, "Lunch is at noon")
    backup, export = backed_up(memory), home / "all.jsonl"
    memory.export(str(export))
    put_back(memory, backup.path)
    done = memory.forget([id_])
    aside = [name for name in names(home) if "before-restore" in name]
    assert sorted(map(os.path.basename, done.rewritten)) == sorted([*aside, Path(backup.path).name])
    assert (done.listed, done.deleted) == ((str(export),), ())
    held = [file for file, said in content(home).items() if SECRET.encode() in said]
    assert held == [str(export)]


def test_forgetting_deletes_backups_and_exports_on_request(memory: Service, home: Path) -> None:
    without = backed_up(memory)
    id_ = tell(memory, SECRET)
    backup, export = backed_up(memory), home / "all.jsonl"
    memory.export(str(export))
    own = Path(backed_up(memory, home / "other.db").path)  # may be a store that somebody uses
    notes = home / "notes.txt"
    notes.write_text(SECRET)
    done = memory.forget([id_], backups=True)
    assert sorted(done.deleted) == sorted([backup.path, str(export)])
    assert (done.listed, done.rewritten) == ((str(notes),), (str(own),))
    assert names(home / "backups") == [Path(without.path).name]
    assert SECRET.encode() not in own.read_bytes()


def test_an_export_with_a_text_too_short_to_look_for_is_found_by_its_record(
    memory: Service, home: Path
) -> None:
    id_, other = tell(memory, "Whales sing"), tell(memory, "Ants march")
    memory.observe("Quetzal", "Flies high")
    lines, document = home / "all.jsonl", home / "all.json"
    memory.export(str(lines))
    memory.export(str(document), format=ExportFormat.JSON)
    done = memory.forget([id_])
    assert sorted(done.listed) == sorted([str(document), str(lines)])
    assert sorted(memory.entity_forget("Quetzal").listed) == sorted([str(document), str(lines)])
    later = home / "later.jsonl"  # mentions it in its log alone
    memory.export(str(later))
    again = memory.forget([done.uids[0]])
    assert sorted(again.listed) == sorted([str(document), str(lines)])
    done = memory.forget([other], backups=True)
    assert sorted(done.deleted) == sorted([str(document), str(lines), str(later)])


def test_a_backup_that_was_rewritten_counts_as_one_of_the_store(
    memory: Service, home: Path, wall: WallClock
) -> None:
    id_, other = tell(memory, SECRET), tell(memory, "Lunch is at noon")
    backed_up(memory)
    memory.forget([id_])
    memory.forget([other])
    wall.forward(days=1)
    newest = backed_up(memory, keep=1)
    assert names(home / "backups") == [Path(newest.path).name]
    assert memory.store(SECRET, kind=Kind.SUMMARY).action == "refused"
    assert len(records(home, "origins")) == 1
