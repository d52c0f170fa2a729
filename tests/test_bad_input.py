"""Bad input ends with one clear line and the right exit status, and leaves the store as it was."""

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Ran, process_environment

from mem.caller import Caller
from mem.service import Service
from mem.store.connect import Store
from mem.values import Category, Fusion, Kind, Level, Memory, Mode, Status

Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def words_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model: what is tested here is told before one is needed."""
    monkeypatch.setenv("MEM_MODEL", "none")


@pytest.fixture
def store(home: Path, person: Caller) -> Iterator[Callable[[], tuple[Memory, ...]]]:
    """A store with a few memories; the call gives all that is in it."""
    opened = Store(home / "memory.db")
    service = Service(opened, None, person)
    service.store("The deploy key rotates every 90 days", tag=["deploy"])
    service.store("We use Postgres", kind=Kind.DECISION, title="Database")
    service.archive(["2"], reason="moved")
    yield lambda: service.list_(all_projects=True, status=tuple(Status), limit=1000).memories
    opened.close()


def check(ran: Ran, code: int, *told: str) -> None:
    """One line on standard error with these words; nothing else; never a word of SQL or Python."""
    assert (ran.code, ran.stdout) == (code, b""), ran
    lines = ran.err.split("\n")
    assert (len(lines), lines[-1]) == (2, ""), ran.err
    assert lines[0].startswith("mem: ")
    for words in told:
        assert words in lines[0]
    for inner in ("Traceback", "unexpected", "SELECT", "fts5", "syntax error", "apsw", 'File "', "MATCH"):
        assert inner not in lines[0]


LISTED = {
    "category": ", ".join(Category),
    "kind": ", ".join(Kind),
    "level": ", ".join(Level),
    "status": ", ".join(Status),
}

USAGE: dict[str, tuple[tuple[str | bytes, ...], tuple[str, ...]]] = {
    "empty text": (("store", ""), ("content is empty",)),
    "blank text": (("store", " \t\n\u3000 "), ("content is empty",)),
    "blank tag": (("store", "x", "--tag", " "), ("tag",)),
    "long title": (("store", "x", "--title", "t" * 501), ("title", "501")),
    "broken UTF-8 text": (("store", b"caf\xe9 au lait"), ("content", "not UTF-8", "position 3")),
    "broken UTF-8 tag": (("store", "x", "--tag", b"\xff"), ("tag", "not UTF-8")),
    "broken UTF-8 query": (("recall", b"a\xc3"), ("query", "position 1")),
    "unknown category": (("store", "x", "--category", "foo"), ("foo", LISTED["category"])),
    "unknown kind": (("store", "x", "--kind", "fact"), ("fact", LISTED["kind"])),
    "unknown level": (("store", "x", "--level", "high"), ("high", LISTED["level"])),
    "unknown status": (("list", "--status", "dead"), ("dead", LISTED["status"])),
    "unknown mode": (("recall", "x", "--mode", "magic"), ("hybrid, lexical, vector",)),
    "importance 11": (("store", "x", "--importance", "11"), ("importance", "0 to 10", "11")),
    "importance -1": (("store", "x", "--importance", "-1"), ("0 to 10",)),
    "importance 1.5": (("update", "1", "--importance", "1.5"), ("whole number",)),
    "importance words": (("store", "x", "--importance", "high"), ("whole number", "high")),
    "confidence 1.1": (("store", "x", "--confidence", "1.1"), ("confidence", "0 to 1")),
    "confidence nan": (("store", "x", "--confidence", "nan"), ("a number",)),
    "confidence inf": (("update", "1", "--confidence", "inf"), ("a number",)),
    "limit 0": (("recall", "x", "--limit", "0"), ("limit", "1 to 100")),
    "limit -1": (("list", "--limit", "-1"), ("limit", "1 to 1,000")),
    "limit 1e9": (("recall", "x", "--limit", "1e9"), ("1 to 100", "1e9")),
    "limit of many digits": (("list", "--limit", "9" * 5000), ("limit",)),
    "30 February": (("store", "x", "--event-time", "2026-02-30"), ("event-time", "2026-02-30")),
    "no such date": (("recall", "x", "--since", "last Tuesdy"), ("since",)),
    "no such clock": (("get", "1", "--known-at", "2026-13-01"), ("known-at",)),
    "month 13": (("store", "x", "--valid-from", "2026-13-01T00:00:00Z"), ("valid-from",)),
    "year 0": (("list", "--until", "0000-01-01"), ("until",)),
    "interval backwards": (
        ("store", "x", "--valid-from", "2026-05-02", "--valid-to", "2026-05-01"),
        ("valid-to", "valid-from"),
    ),
    "window backwards": (("list", "--since", "2026-05-02", "--until", "2026-05-01"), ("until", "since")),
    "expiry in the past": (("store", "x", "--expires", "2020-01-01"), ("expires",)),
    "expiry of words": (("store", "x", "--expires", "soon"), ("soon",)),
    "no id": (("get", "not-an-id!"), ("not-an-id!", "not an id")),
    "short prefix": (("get", "abc"), ("abc",)),
    "project and global": (("store", "x", "--project", "a", "--global"), ("not both",)),
    "project of two lines": (("store", "x", "--project", "a\nb"), ("project",)),
    "update of nothing": (("update", "1"), ("nothing to change",)),
    "supersede by nothing": (("supersede", "1"), ()),
    "empty query": (("recall", ""), ("query is empty",)),
    "blank query": (("recall", " \n "), ("query is empty",)),
    "unknown setting": (("config", "get", "modle"), ("modle", "Did you mean model")),
    "setting out of bounds": (("config", "set", "model.threads", "0"), ("1 to 64",)),
    "batch file that is missing": (("store-batch", "no/such/file"), ("no/such/file",)),
    "batch file that is a folder": (("store-batch", "."), ("Cannot read",)),
    "long unknown word": (("store", "x", "--category", "y" * 10_000), ("yyy…",)),
}


@pytest.mark.parametrize("name", USAGE)
def test_a_wrong_call_is_told_in_one_line_and_changes_nothing(
    run_mem: Run, store: Callable[[], tuple[Memory, ...]], name: str
) -> None:
    arguments, told = USAGE[name]
    before = store()
    check(run_mem(*arguments), 2, *told)
    assert store() == before
    assert len(before) == 2


STDIN: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "nothing": (b"", ("content is empty",)),
    "a byte order mark alone": (b"\xef\xbb\xbf\n", ("content is empty",)),
    "NUL": (b"a\x00b", ("content", "NUL", "position 1")),
    "broken UTF-8": (b"\xef\xbb\xbfok \xff\xfe", ("UTF-8", "position 6")),
    "half a character": ("数".encode()[:2], ("UTF-8", "position 0")),
    "an encoded surrogate": (b"a\xed\xa0\x80", ("UTF-8", "position 1")),
    "UTF-16": ("text".encode("utf-16"), ("UTF-8",)),
    "a text over the limit": (b"x" * 100_001, ("100,001", "100,000")),
}


@pytest.mark.parametrize("name", STDIN)
@pytest.mark.parametrize("arguments", [("store", "-"), ("update", "1", "--content", "-")])
def test_wrong_standard_input_is_told_in_one_line_and_changes_nothing(
    run_mem: Run, store: Callable[[], tuple[Memory, ...]], name: str, arguments: tuple[str, ...]
) -> None:
    before = store()
    given, told = STDIN[name]
    check(run_mem(*arguments, stdin=given), 2, *told)
    assert store() == before


def test_a_closed_standard_input_is_told(run_mem: Run, store: Callable[[], tuple[Memory, ...]]) -> None:
    before = store()
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" -m mem store - <&-', sys.executable],
        capture_output=True,
        env=process_environment(),
        timeout=60,
    )
    check(Ran(done.returncode, done.stdout, done.stderr), 2, "Standard input is closed")
    assert store() == before


@pytest.mark.parametrize("reference", ["99", "#99", "0", "9" * 18, "deadbeef-0000", "01234567a"])
def test_an_id_that_nothing_has_exits_3(
    run_mem: Run, store: Callable[[], tuple[Memory, ...]], reference: str
) -> None:
    before = store()
    for command in (("get", reference), ("archive", "1", reference), ("supersede", reference, "--ended")):
        check(run_mem(*command), 3, reference)
    assert store() == before


def test_a_prefix_of_two_ids_is_refused_with_both(
    run_mem: Run, store: Callable[[], tuple[Memory, ...]]
) -> None:
    first, second = store()
    shared = next(n for n in range(36, 0, -1) if first.uid[:n] == second.uid[:n])
    assert shared >= 8  # made within one second
    check(run_mem("get", first.uid[:shared]), 3, "#1", "#2")
    assert run_mem("get", first.uid[:-1]).code == 0


# Places


def test_a_place_that_cannot_be_written_exits_5(run_mem: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for env in (
        {"MEM_HOME": str(tmp_path / "file" / "home")},
        {"MEM_DB": str(tmp_path / "file" / "memory.db")},
    ):
        for command in (("store", "x"), ("list",)):
            check(run_mem(*command, env=env), 5, "file")
    check(run_mem("list", env={"MEM_DB": str(tmp_path)}), 5, str(tmp_path))
    check(run_mem("list", "--db", "/proc/none/memory.db"), 5, "/proc/none")
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.parametrize(
    "content", [b"no database at all\n" * 500, b"SQLite format 3\x00" + b"\xff" * 8176, b"short"]
)
def test_a_file_that_is_no_store_exits_5_and_stays_as_it_is(
    run_mem: Run, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(content)
    for command in (("store", "x"), ("list",), ("recall", "x")):
        check(run_mem(*command, "--db", path), 5, str(path))
    assert path.read_bytes() == content


def test_a_damaged_store_exits_5(run_mem: Run) -> None:
    path = Path.cwd() / "damaged.db"
    assert run_mem("store", "x", "--db", path).code == 0
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xa5" * (len(whole) - 8192))
    check(run_mem("list", "--db", path), 5, str(path))
    check(run_mem("store", "y", "--db", path), 5, str(path))


def test_a_store_of_a_newer_mem_exits_5_and_stays_as_it_is(run_mem: Run) -> None:
    path = Path.cwd() / "newer.db"
    assert run_mem("store", "x", "--db", path).code == 0
    content = bytearray(path.read_bytes())
    content[60:64] = (999).to_bytes(4, "big")  # where a database keeps the number of its schema
    path.write_bytes(content)
    for command in (("store", "y"), ("list",)):
        check(run_mem(*command, "--db", path), 5, "999", "Upgrade")
    assert path.read_bytes() == bytes(content)


def test_a_lock_that_is_held_too_long_exits_5(
    run_mem: Run, store: Callable[[], tuple[Memory, ...]], home: Path
) -> None:
    before = store()
    holder = Store(home / "memory.db")
    with holder.write():
        for command in (("store", "x"), ("update", "1", "--importance", "9"), ("archive", "1")):
            check(run_mem(*command, env={"MEM_STORE_TIMEOUT_MS": "200"}), 5, "lock", "memory.db")
        assert run_mem("list").code == 0
        assert run_mem("recall", "deploy key").code == 0
    holder.close()
    assert store() == before
    assert run_mem("store", "x").code == 0


def test_a_disk_without_room_exits_5_and_loses_nothing(
    run_mem: Run, store: Callable[[], tuple[Memory, ...]]
) -> None:
    before = store()

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    done = subprocess.run(
        [sys.executable, "-m", "mem", "store", "-"],
        input=b"word " * 15_000,
        capture_output=True,
        env=process_environment(),
        preexec_fn=small,
        timeout=60,
    )
    check(Ran(done.returncode, done.stdout, done.stderr), 5, "memory.db")
    assert store() == before
    assert run_mem("store", "-", stdin=b"word " * 15_000).code == 0
    assert run_mem("doctor").code == 0


def test_a_configuration_that_is_wrong_is_named(run_mem: Run, home: Path) -> None:
    home.mkdir()
    for text, told in (
        ("model = \n", "not valid TOML"),
        ("modle = 1\n", "Did you mean model"),
        ("\xff", "UTF-8"),
    ):
        (home / "config.toml").write_bytes(text.encode("latin-1"))
        check(run_mem("list"), 2, str(home / "config.toml"), told)
    (home / "config.toml").unlink()
    check(run_mem("list", env={"MEM_STORE_TIMEOUT_MS": "soon"}), 2, "MEM_STORE_TIMEOUT_MS")


# Queries that are no words of SQL

QUERIES = (
    '"',
    "'",
    "don't",
    "AND",
    "OR NOT",
    "NEAR(",
    "(",
    "*",
    "C++",
    "a:b",
    "^x",
    "{x}: y",
    "--",
    "%",
    "_",
    "foo-bar",
    "deploy AND (key",
    '"deploy key',
    "content:deploy*",
    "deploy NOT",
    "😀🎉👍🏽",
    "…!?。、《》",
    "\u200b\u200d\ufeff",
    "x" * 20_000,
)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:12])
def test_a_query_may_be_anything(run_mem: Run, store: Callable[[], tuple[Memory, ...]], query: str) -> None:
    before = store()
    ran = run_mem("recall", "--json", query)
    assert (ran.code, ran.stderr, ran.document()["query"]) == (0, b"", query), ran
    assert store() == before


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("fusion", list(Fusion))
def test_a_query_may_be_anything_in_every_mode(memory: Service, mode: Mode, fusion: Fusion) -> None:
    for text in ("The deploy key rotates", "C++ builds need foo-bar", "content: 数据 %_"):
        memory.store(text)
    for query in QUERIES:
        for status in ((), (Status.ACTIVE, Status.ARCHIVED)):
            found = memory.recall(query, mode=mode, fusion=fusion, status=status)
            assert (found.query, found.mode) == (query, mode)


@pytest.mark.parametrize(
    "query", ["word " * 40_000, "".join(f"w{n} " for n in range(40_000)), "x" * 100_000, "数" * 40_000]
)
def test_a_query_may_be_long(run_mem: Run, store: Callable[[], tuple[Memory, ...]], query: str) -> None:
    ran = run_mem("recall", "-", stdin=query.encode())
    assert (ran.code, "Traceback" in ran.err) == (0, False)
    assert all(len(line) < 500 for line in ran.err.splitlines())
