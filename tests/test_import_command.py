"""`mem import` on the command line: what is printed, the exit statuses, and standard input."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import Ran, process_environment

Run = Callable[..., Ran]


def notes(path: Path, *texts: str) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def test_a_file_comes_in_and_again_changes_nothing(run_mem: Run, tmp_path: Path) -> None:
    source = notes(tmp_path / "notes.jsonl", "We use Postgres", "Deploys go out on Friday")
    ran = run_mem("import", source, env={"MEM_MODEL": "none"})
    assert (ran.code, ran.out, ran.err) == (0, "memory\tadded\t2\n", "")
    again = run_mem("import", source, "--json", env={"MEM_MODEL": "none"}).document()
    assert again["counts"] == {"memory": {"identical": 2}}
    assert [one["action"] for one in again["outcomes"]] == ["identical", "identical"]
    assert [one["id"] for one in again["outcomes"]] == [1, 2]
    assert run_mem("recall", "postgres", env={"MEM_MODEL": "none"}).out.startswith("1\t")


def test_it_says_that_texts_wait_for_their_vectors(run_mem: Run, tmp_path: Path) -> None:
    ran = run_mem("import", notes(tmp_path / "notes.jsonl", "We use Postgres"))
    assert ran.err == "1 text cannot be found by meaning yet: mem backfill\n"


def test_a_dry_run_names_every_record(run_mem: Run, tmp_path: Path) -> None:
    source = notes(tmp_path / "notes.jsonl", "We use Postgres", "Deploys go out on Friday")
    ran = run_mem("import", source, "--dry-run")
    rows = [line.split("\t") for line in ran.out.splitlines()]
    assert rows[0] == ["memory", "added", "2"]
    assert [row[:3] for row in rows[1:]] == [["line 1", "added", "memory"], ["line 2", "added", "memory"]]
    assert run_mem("list").out == ""


def test_bad_lines_are_named_and_can_be_skipped(run_mem: Run, tmp_path: Path) -> None:
    source = notes(tmp_path / "notes.jsonl", "We use Postgres")
    with source.open("a") as file:
        file.writelines('{"text": ""}\n' for _ in range(25))
    ran = run_mem("import", source)
    assert ran.code == 1
    rows = ran.out.splitlines()
    assert rows[0] == "memory\tmalformed\t25" or rows[0] == "unknown\tmalformed\t25"
    assert len(rows) == 21
    assert rows[1] == "malformed\tline 2\tIt has no text: content is missing or empty."
    assert "Bad too: lines 22, 23, 24, 25, 26." in ran.err
    assert "25 records are bad, so nothing was written." in ran.err
    assert run_mem("list").out == ""
    kept = run_mem("import", source, "--skip-bad")
    assert kept.code == 1
    assert "25 records are bad and not imported; the others are." in kept.err
    assert run_mem("list").out.startswith("1\t")


def test_standard_input_is_read(run_mem: Run) -> None:
    ran = run_mem("import", "-", stdin=b'{"text": "We use Postgres"}\n', env={"MEM_MODEL": "none"})
    assert (ran.code, ran.out, ran.err) == (0, "memory\tadded\t1\n", "")
    empty = run_mem("import", "-", stdin=b"")
    assert empty.code == 2
    assert "Standard input is empty" in empty.err


def test_a_source_that_holds_nothing_says_so(run_mem: Run) -> None:
    for nothing in (b"# Notes\n", run_mem("export").out.encode()):
        ran = run_mem("import", "-", stdin=nothing)
        assert (ran.code, ran.out, ran.err) == (0, "", "There is no record in it.\n")


def test_what_cannot_be_imported_is_said_in_one_line(run_mem: Run, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    for source, told in (
        (picture, "is not recognised; tried: mem, local-memory-mcp, mneme, claude-memory"),
        (tmp_path / "missing", "No such file"),
    ):
        ran = run_mem("import", source)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        assert told in ran.err
    ran = run_mem("import", notes(tmp_path / "n.jsonl", "x"), "--format", "xml")
    assert ran.code == 2
    assert "Choose one of: mem, local-memory-mcp" in ran.err


def test_the_format_can_be_named_either_way(run_mem: Run, tmp_path: Path) -> None:
    source = tmp_path / "graph"
    source.write_text('{"type":"entity","name":"Ana","entityType":"person","observations":["likes tea"]}\n')
    for name in ("memory-server", "memory_server"):
        ran = run_mem("import", source, "--format", name, "--json")
        assert ran.code == 0, ran
        assert ran.document()["format"] == "memory-server"


def test_an_old_export_does_not_bring_back_what_was_rejected(run_mem: Run, tmp_path: Path) -> None:
    source = notes(tmp_path / "notes.jsonl", "Deploys go out on Friday")
    assert run_mem("store", "Deploys go out on Friday").code == 0
    assert run_mem("reject", "1", "--reason", "wrong day").code == 0
    ran = run_mem("import", source)
    assert ran.code == 4, ran
    assert "line 1\trefused\tmemory" in ran.out
    assert "wrong day" in ran.out
    assert run_mem("list").out == ""


def test_ctrl_c_ends_it_with_130_and_keeps_what_is_written(run_mem: Run, tmp_path: Path) -> None:
    source = notes(tmp_path / "notes.jsonl", *(f"Fact {number} about staging" for number in range(20_000)))
    assert run_mem("store", "We use Postgres", env={"MEM_MODEL": "none"}).code == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "mem", "import", str(source)],
        env=process_environment({"MEM_MODEL": "none"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while count(run_mem) <= 1:
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert out == b""
    assert 1 < count(run_mem) < 20_001
    assert run_mem("doctor", "--audit").code == 0


def count(run_mem: Run) -> int:
    found: dict[str, Any] = run_mem("stats", "--json", env={"MEM_MODEL": "none"}).document()
    return int(found["total"])
