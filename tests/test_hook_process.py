"""The hook as a process: always 0, always in time, one document or not a byte."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from conftest import Ran, process_environment
from hook_host import BEFORE, CLAUDE, FACTS, QUESTION

from mem.caller import Caller
from mem.service import Service
from mem.values import Actor, ActorKind


def event(name: str = "UserPromptSubmit", **fields: object) -> bytes:
    return json.dumps({**BEFORE, "hook_event_name": name, "prompt": QUESTION, **fields}).encode()


@pytest.fixture
def known(run_mem: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    """A store that has an answer; no model, and no worker."""
    monkeypatch.setenv("MEM_MODEL", "none")
    assert (
        run_mem("store-batch", "-", stdin=json.dumps([{"content": fact} for fact in FACTS]).encode()).code
        == 0
    )
    return home


def timed(run_mem: Callable[..., Ran], *arguments: str, **more: Any) -> Ran:
    """A hook as a process; it is always in time, with 0, and without a word of its own."""
    started = time.monotonic()
    ran = run_mem("context", "--hook", *arguments, **more)
    assert time.monotonic() - started < 2.5
    assert (ran.code, ran.stderr) == (0, b"")
    return ran


def test_the_hook_as_a_process(run_mem: Callable[..., Ran], known: Path) -> None:
    answer = timed(run_mem, stdin=event()).document()
    assert FACTS[0] in answer["hookSpecificOutput"]["additionalContext"]
    assert timed(run_mem, stdin=event()).stdout == b""


@pytest.mark.parametrize(
    "stdin",
    [b"", b"[]", b'{"cwd":null}', event(prompt="harbour office morning " * 250_000)],
    ids=["empty", "list", "no event", "5 MB"],
)
def test_bad_input_costs_the_host_nothing(run_mem: Callable[..., Ran], known: Path, stdin: bytes) -> None:
    assert timed(run_mem, stdin=stdin).stdout == b""


@pytest.mark.parametrize("argument", ["--bogus", "--budget=no", "--deadline-ms=soon", "--json"])
def test_a_mistake_in_the_command_line_costs_the_host_nothing(
    run_mem: Callable[..., Ran], known: Path, argument: str
) -> None:
    timed(run_mem, argument, stdin=event())


@pytest.mark.parametrize("name", ["UserPromptSubmit", "SessionStart", "PostCompact", "SessionEnd"])
def test_a_store_that_is_none_costs_the_host_nothing(
    run_mem: Callable[..., Ran], known: Path, name: str
) -> None:
    (known / "memory.db").write_bytes(b"This is not a database." * 1000)
    for rest in ("-wal", "-shm"):
        (known / f"memory.db{rest}").unlink(missing_ok=True)
    assert timed(run_mem, stdin=event(name, compact_summary="x")).stdout == b""


@pytest.mark.parametrize("name", ["UserPromptSubmit", "SessionStart"])
def test_a_store_that_nobody_may_read_now_is_given_up_in_time(
    run_mem: Callable[..., Ran], known: Path, name: str
) -> None:
    other = apsw.Connection(str(known / "memory.db"))
    for statement in (
        "PRAGMA locking_mode = EXCLUSIVE",
        "BEGIN IMMEDIATE",
        "UPDATE store_info SET value = value",
    ):
        other.execute(statement).fetchall()
    try:
        assert timed(run_mem, stdin=event(name)).stdout == b""
    finally:
        other.close()
    assert "no answer within the deadline" in (known / "state" / "hook.log").read_text()


def test_a_store_that_is_only_written_to_still_answers(run_mem: Callable[..., Ran], known: Path) -> None:
    other = apsw.Connection(str(known / "memory.db"))
    other.execute("BEGIN IMMEDIATE")
    try:
        assert timed(run_mem, stdin=event()).stdout
        assert timed(run_mem, stdin=event("SessionStart", session_id="s2")).stdout
    finally:
        other.close()


def test_a_home_that_cannot_be_written_costs_the_host_nothing(
    run_mem: Callable[..., Ran], home: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    for name in ("UserPromptSubmit", "SessionStart", "PostCompact", "SessionEnd"):
        env = {"MEM_HOME": str(tmp_path / "file" / "home"), "MEM_MODEL": "none"}
        assert timed(run_mem, stdin=event(name, compact_summary="x"), env=env).stdout == b""


def test_without_a_home_or_a_folder_the_hook_still_ends_well(home: Path, tmp_path: Path) -> None:
    environment = process_environment({"MEM_MODEL": "none", "XDG_RUNTIME_DIR": str(tmp_path)})
    del environment["HOME"]
    gone = tmp_path / "gone"
    gone.mkdir()

    def leave() -> None:
        os.chdir(gone)
        gone.rmdir()

    done = subprocess.run(
        [sys.executable, "-m", "mem", "context", "--hook"],
        input=event("SessionEnd"),
        capture_output=True,
        env=environment,
        preexec_fn=leave,
        timeout=20,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_input_that_never_ends_is_given_up_in_time(known: Path) -> None:
    started = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "mem", "context", "--hook"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment({"MEM_HOOK_DEADLINE_MS": "400"}),
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(event()[:-1])
        process.stdin.flush()
        assert (process.stdout.read(), process.stderr.read(), process.wait(10)) == (b"", b"", 0)
    assert 0.3 < time.monotonic() - started < 1.5


def test_the_end_of_a_session_does_not_wait_for_the_store(run_mem: Callable[..., Ran], known: Path) -> None:
    assert timed(run_mem, stdin=event("SessionStart")).stdout
    other = apsw.Connection(str(known / "memory.db"))
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    timed(run_mem, stdin=event("SessionEnd", reason="logout"))
    assert time.monotonic() - started < 1.4
    other.close()
    for _ in range(100):
        [session] = run_mem("sessions", "--json").document()["sessions"]
        if session["ended_at"]:
            break
        time.sleep(0.1)
    assert session["end_reason"] == "logout"


def test_a_hook_does_without_what_takes_long_to_import(known: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "mem", "context", "--hook"],
        input=event(),
        capture_output=True,
        env=process_environment(),
        timeout=20,
    )
    assert FACTS[0].encode() in done.stdout
    imported = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert {"apsw", "mem.context.hooks"} <= imported
    heavy = {"typer", "rich", "numpy", "orjson", "mcp", "fastembed", "mem.service", "mem.results", "hashlib"}
    assert not heavy & imported


def test_the_option_is_known_to_the_help(run_mem: Callable[..., Ran]) -> None:
    assert "--hook" in run_mem("context", "--help").out


def test_the_application_gives_the_hook_s_answer_too(
    memory: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    from mem.cli import app

    assert all(memory.store(fact).id for fact in FACTS)
    environment = {**os.environ, **CLAUDE}
    caller = Caller(Actor(ActorKind.AGENT), Path.cwd(), environment=environment, stdin=event())
    told: list[str] = []
    session = app.Session(caller, memory, lambda answer, **_: told.append(answer.text))
    assert app.run(["context", "--hook"], session) == 0
    [text] = told
    assert FACTS[0] in json.loads(text)["hookSpecificOutput"]["additionalContext"]
    assert app.run(["context", "--hook"], session) == 0
    assert len(told) == 1


def test_the_deadline_is_a_setting(run_mem: Callable[..., Ran]) -> None:
    run_mem("config", "set", "hook.deadline-ms", "500")
    assert run_mem("config", "get", "hook.deadline-ms").out == "500\n"
