"""`mem` as a process: each command from end to end, what it prints where, and how it ends."""

import contextlib
import json
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from conftest import Ran, process_environment

from mem import __main__, __version__
from mem.caller import Caller
from mem.cli import app, render
from mem.errors import Refused
from mem.operations import Doc, Operation, Panel
from mem.values import Actor, ActorKind

Run = Callable[..., Ran]
OnTerminal = Callable[..., tuple[int, str]]

HOSTILE = "[/red] [bold]x[/bold] list[str] C:\\new \x1b[31mred\x1b[0m \x1b]0;title\x07 :smile:"


@pytest.fixture(autouse=True)
def words_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model: what is tested here does not depend on meaning."""
    monkeypatch.setenv("MEM_MODEL", "none")


def notes_file(folder: Path) -> Path:
    path = folder / "notes.jsonl"
    path.write_text('{"content": "Redis keeps the sessions"}\n\n{"content": "The API listens on 8080"}\n')
    return path


ELSEWHERE = {"hooks"}  # commands with a test file of their own

# Each command, in an order in which all of them work.
STORY: tuple[tuple[tuple[str, ...], str], ...] = (
    (("store", "We use Postgres for billing", "--tag", "db", "--tag", "billing"), r"^added #1\n$"),
    (("store-batch", "notes.jsonl"), r"1\tadded\t#2\t\n2\tadded\t#3\t\n"),
    (("update", "1", "--importance", "8", "--add-tag", "sql"), r"updated\t#1\tactive\tWe use Postgres"),
    (
        ("supersede", "3", "--content", "The API listens on 8081"),
        r"superseded\t#3\tsuperseded\t.*\n.*\t#4\tactive",
    ),
    (("archive", "2", "--reason", "gone"), r"archived\t#2\tarchived\tRedis"),
    (("restore", "2"), r"restored\t#2\tactive\tRedis"),
    (
        ("log", "--memory", "2"),
        r"^6\t.*\trestore\tperson\t#2\t\n5\t.*\tarchive\tperson\t#2\tgone\n2\t.*#2 #3\t\n$",
    ),
    (("undo", "6"), r"^undone\tevent 6\trestore\tby event 7\nundone\t#2\tarchived\tRedis"),
    (("undo", "7", "--reason", "it is back"), r"by event 8\nundone\t#2\tactive\tRedis"),
    (
        ("recall", "postgres billing"),
        r"1\t\d\.\d\d\tlearning\tgeneral\t\t\d{4}-\d\d-\d\d\tdb,billing,sql\tWe use Postgres",
    ),
    (("trace",), r"^trace\t.*\noperation\trecall\n(?s:.*)\nshown\t#1\t\d\.\d\d\tlive\tlexical 1\t\n$"),
    (("why",), r"^$"),
    (("cite", "0192f3a4-5b6c", "Postgres [ #1 ], as in [1]"), r"^Postgres , as in \[1\]\n$"),
    (("claude-memory", "postgres"), r"^$"),
    (("profile", "set", "language", "British English"), r"^set\tlanguage\t\tBritish English\n$"),
    (("goal", "set", "Ship the importer"), r"^set\tgoal\t\tShip the importer\n$"),
    (("get", "1", "2"), r"(?s)id: 1\n.*importance: 8\n.*\n\nWe use Postgres for billing\n\nid: 2\n"),
    (("list", "--sort", "importance", "--limit", "2"), r"1\tlearning\t.*\n\d\tlearning"),
    (("history", "3"), r"(?s)#3\tstore-batch\tperson\t\t.*#3\tsupersede\tperson.*#4"),
    (("session-start",), r"session #1\n"),
    (("session-end", "--summary", "Billing moved to Postgres", "--task", "load test"), r"1"),
    (("sessions",), r"1\t"),
    (("context",), r"We use Postgres"),
    (("worker", "status"), r"^state\tnot_running\n"),
    (("model", "status"), r"^active\tnone yet\nwanted\tnone \(MEM_MODEL\)\n"),
    (("contradictions", "--kind", "learning"), r"^$"),
    (("reflect",), r"^## Most used in the last 7 days\n- #1 \["),
    (("stats",), r"total\t5\n(?s:.*)status superseded\t1\n"),
    (("trust", "2", "disputed"), r"disputed\t#2\tactive\t\[disputed\] Redis"),
    (("review",), r"^$"),
    (("approve", "1"), r"approved\t#1\tactive\tWe use Postgres"),
    (("reject", "4", "--reason", "it never moved"), r"rejected\t#4\trejected\tThe API listens on 8081"),
    (("forget", "2", "--yes"), r"^forgotten\t#2\n$"),
    (("export", "all.jsonl"), r"^exported\t/.*/all\.jsonl\t\d+ bytes\tsha256:[0-9a-f]{64}\nevent\t\d+\n"),
    (("import", "all.jsonl"), r"^event\tidentical\t\d+\n(?s:.*)memory\tidentical\t\d+\n"),
    (("backup", "there.db"), r"^backed up\t/.*/there\.db\t\d+ memories\t\d+ bytes\tsha256:[0-9a-f]{64}\n$"),
    (("verify", "there.db"), r"^same\t/.*/there\.db\tsha256:[0-9a-f]{64}\nevent\t\d+ same\t\n"),
    (("maintain",), r"^$"),
    (("backfill",), r"^$"),
    (
        ("migrate-vectors", "--to", "bundled", "--dry-run"),
        r"^would embed\t\d+\nwould be switched\t\tmultilingual",
    ),
    (("observe", "Ana", "prefers calls to mail", "--type", "person"), r"^added #6\n$"),
    (("entity-set", "billing", "--type", "service"), r"^added\t#2\tservice\tbilling\t"),
    (("relate", "Ana", "maintains", "billing"), r"^added\t#1\tAna\tmaintains\tbilling\t"),
    (("entity", "billing", "--graph"), r"^#2 billing \(service\)\n└── ← maintains #1 Ana \(person\)\n$"),
    (("entities", "calls"), r"^#1\tperson\tAna\t"),
    (("unrelate", "Ana", "maintains", "billing"), r"^ended\t#1\tAna\tmaintains\tbilling\tuntil "),
    (("entity-merge", "billing", "Ana"), r"^merged\t#1\tperson\tAna\tbilling"),
    (("entity-forget", "Ana", "--yes"), r"^forgotten\t#6\n$"),
    (("config", "set", "model.threads", "1"), r"^1\n$"),
    (("compress", "--dry-run"), r"^$"),
    (("extract-entities", "--dry-run"), r"^due\t\d+\n$"),
    (("doctor",), r"ok\tstore\t.*\nok\tpermissions"),
    (("completions", "show", "bash"), r"# bash completion for mem"),
    (("serve",), r"^$"),
)


def test_every_command_works_from_end_to_end(run_mem: Run) -> None:
    notes_file(Path.cwd())
    for arguments, expected in STORY:
        ran = run_mem(*arguments)
        assert (ran.code, ran.err.count("Traceback")) == (0, 0), (arguments, ran)
        assert re.search(expected, ran.out), (arguments, ran.out)
    assert {arguments[0] for arguments, _ in STORY} | ELSEWHERE == set(app.definitions())


def test_every_command_answers_with_one_json_document(run_mem: Run) -> None:
    notes_file(Path.cwd())
    for arguments, _ in STORY:
        if arguments[0] != "serve":
            ran = run_mem(*arguments, "--json")
            assert (ran.code, ran.document()["schema_version"], ran.stderr) == (0, 1, b""), (arguments, ran)


def test_the_version_is_printed_alone(run_mem: Run) -> None:
    assert run_mem("--version") == Ran(0, f"mem {__version__}\n".encode(), b"")


def test_help_goes_to_standard_output(run_mem: Run) -> None:
    for arguments in (["-h"], ["--help"], ["recall", "-h"], ["store", "--help"]):
        ran = run_mem(*arguments)
        assert (ran.code, ran.out.startswith("Usage: mem"), ran.stderr) == (0, True, b"")


def test_no_command_shows_the_help_and_is_a_usage_error(run_mem: Run) -> None:
    bare = run_mem()
    assert (bare.code, "Remember:" in bare.out) == (2, True)
    ran = run_mem("--json")
    assert (ran.code, ran.document()["error"]["code"]) == (2, "usage")


# Positional arguments


@pytest.mark.parametrize(
    "arguments",
    [
        ("archive", "1", "2", "--reason", "x"),
        ("archive", "--reason", "x", "1", "2"),
        ("archive", "1", "--reason=x", "2"),
        ("archive", "--reason", "x", "--", "1", "#2"),
    ],
)
def test_a_list_of_ids_and_an_option_never_swallow_each_other(
    run_mem: Run, arguments: tuple[str, ...]
) -> None:
    for text in ("first", "second", "third"):
        assert run_mem("store", text).code == 0
    assert run_mem(*arguments).code == 0
    found = run_mem("get", "1", "2", "3", "--json").document()["memories"]
    assert [(one["status"], one["status_reason"]) for one in found] == [
        ("archived", "x"),
        ("archived", "x"),
        ("active", None),
    ]


def test_an_option_without_its_value_changes_nothing(run_mem: Run) -> None:
    assert run_mem("store", "first").code == 0
    ran = run_mem("archive", "1", "--reason")
    assert (ran.code, ran.stdout) == (2, b"")
    assert "--reason" in ran.err
    assert "mem archive --help" in ran.err
    assert run_mem("get", "1", "--json").document()["memories"][0]["status"] == "active"


def test_a_second_text_is_refused_and_not_joined(run_mem: Run) -> None:
    ran = run_mem("store", "two", "words")
    assert (ran.code, ran.stdout) == (2, b"")
    assert "'words' is too much" in ran.err
    assert run_mem("list").stdout == b""


def test_a_text_that_begins_with_a_dash_goes_after_two_dashes(run_mem: Run) -> None:
    refused = run_mem("store", "-V prints the version")
    assert (refused.code, "after --" in refused.err) == (2, True)
    assert run_mem("store", "--", "-V prints the version").code == 0
    assert run_mem("get", "1").out.endswith("\n\n-V prints the version\n")


def test_choices_are_taken_in_any_letter_case_and_with_hyphens(run_mem: Run) -> None:
    assert run_mem("store", "x marks it", "--level", "Meta-Knowledge", "--category", "TOOL").code == 0
    found = run_mem("get", "1", "--json").document()["memories"][0]
    assert (found["level"], found["category"]) == ("meta_knowledge", "tool")


def test_names_that_do_not_exist_come_with_the_nearest(run_mem: Run) -> None:
    for arguments, hint in (
        (("recal", "x"), "Did you mean recall?"),
        (("recall", "x", "--limt", "3"), "Did you mean --limit?"),
        (("config", "get", "model.thread"), "Did you mean model.threads?"),
        (("nothing-like-it",), "store-batch"),
    ):
        ran = run_mem(*arguments)
        assert (ran.code, ran.stdout, hint in ran.err) == (2, b"", True), ran
        assert len(ran.err.splitlines()) == 1


# The store that a call is about


def test_another_store_is_named_before_or_after_the_command(run_mem: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    assert run_mem("--db", other, "store", "kept elsewhere").code == 0
    assert run_mem("list").stdout == b""
    assert "kept elsewhere" in run_mem("list", "--db", other).out
    assert "kept elsewhere" in run_mem("list", env={"MEM_DB": str(other)}).out
    assert run_mem("--db", tmp_path / "third.db", "list", "--db", other).out.count("kept elsewhere") == 1
    assert run_mem("list", "--db", "").code == 2


# Standard input


def test_a_dash_reads_the_text_from_standard_input(run_mem: Run) -> None:
    text = "first line\n  second\ttabbed – 数据\n\nlast"
    assert run_mem("store", "-", stdin=b"\xef\xbb\xbf" + text.encode() + b"\n").code == 0
    assert run_mem("get", "1").out.endswith(f"\n\n{text}\n")
    assert run_mem("update", "1", "--content", "-", stdin=b"instead\r\n").code == 0
    assert run_mem("get", "1", "--json").document()["memories"][0]["content"] == "instead"
    for end in (b"", b"\n", b"\r\n"):
        answer = run_mem("recall", "-", "--json", stdin=b"instead\n" + end).document()
        assert (answer["query"], answer["total"]) == ("instead\n" if end else "instead", 1)


def test_a_batch_is_a_json_array_or_one_object_a_line(run_mem: Run, tmp_path: Path) -> None:
    array = tmp_path / "batch.json"
    array.write_text('[\n  {"content": "one", "tag": ["a"]},\n  {"content": "two", "category": "bug"}\n]\n')
    assert run_mem("store-batch", array).code == 0
    assert run_mem("store-batch", "-", stdin=b'{"content": "three"}\n{"content": "four"}').code == 0
    found = run_mem("list", "--json").document()["memories"]
    assert [one["content"] for one in found] == ["four", "three", "two", "one"]


def test_a_batch_with_a_broken_line_names_it_and_writes_nothing(run_mem: Run) -> None:
    for lines, place in (
        (b'{"content": "good"}\n{"content": \n', "Line 2"),
        (b'{"content": "good"}\n\n{"content": "half', "Line 3"),
        (b'[{"content": "good"}', "JSON array"),
        (b'{"content": "caf\xe9"}', "position 16"),
    ):
        ran = run_mem("store-batch", "-", stdin=lines)
        assert (ran.code, ran.stdout, place in ran.err) == (2, b"", True), ran
    assert run_mem("store-batch", "absent.json").code == 2
    assert run_mem("list").stdout == b""


def test_a_batch_that_is_refused_in_part_says_which_and_exits_1(run_mem: Run) -> None:
    ran = run_mem("store-batch", "-", stdin=b'{"content": "good"}\n{"content": "bad", "importance": 11}\n')
    assert ran.code == 1
    assert ran.out.splitlines()[0] == "1\tadded\t#1\t"
    assert re.fullmatch(r"2\trefused\t\timportance must be from 0 to 10, not 11\.", ran.out.splitlines()[1])
    for nothing in (b'{"importance": 1}', b'"text"', b"[3, null]", b'{"content": "x", "colour": 1}'):
        assert run_mem("store-batch", "-", stdin=nothing).code == 4


# What is printed


def test_piped_text_is_byte_for_byte_what_was_stored(run_mem: Run) -> None:
    assert run_mem("store", HOSTILE, "--title", "[/b] \x1b[1m", "--kind", "decision").code == 0
    assert f"\n\n{HOSTILE}\n".encode() in run_mem("get", "1").stdout
    for command in (("list",), ("recall", "red bold smile new"), ("history", "1")):
        assert HOSTILE.encode() in run_mem(*command).stdout, command
    assert run_mem("get", "1", "--json").document()["memories"][0]["content"] == HOSTILE


def test_piped_records_are_one_line_each_and_never_wrapped(run_mem: Run) -> None:
    long = "word " * 400 + "end"
    assert run_mem("store", "-", stdin=f"a\r\nb\tc\u2028d\n\n{long}".encode()).code == 0
    for command in (("list",), ("recall", "word end")):
        line = run_mem(*command, env={"COLUMNS": "40"}).out
        assert line.count("\n") == 1
        assert line.endswith(f"\ta b c d {long}\n")
    history = run_mem("history", "1").out
    assert (history.count("\n"), "content=a\\r\\nb\\tc" in history) == (1, True)


def test_no_locale_changes_the_bytes(run_mem: Run) -> None:
    assert run_mem("store", "Größe 数据 🚀").code == 0
    for env in (
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "POSIX", "LANG": ""},
    ):
        ran = run_mem("list", env=env)
        assert (ran.code, "Größe 数据 🚀".encode() in ran.stdout, ran.stderr) == (0, True, b"")
        refused = run_mem("store", "x", "--category", "größe", env=env)
        assert (refused.code, "größe" in refused.err) == (2, True)


def test_a_terminal_shows_user_text_and_never_obeys_it(run_mem: Run, on_terminal: OnTerminal) -> None:
    assert (
        run_mem(
            "store", HOSTILE, "--tag", "[/x]\x1b[2J", "--source", "\x9b31m \u202e", "--title", "[/t]"
        ).code
        == 0
    )
    for command in (
        ("list",),
        ("get", "1"),
        ("recall", "red bold smile"),
        ("history", "1"),
        ("archive", "1"),
    ):
        code, seen = on_terminal(*command)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", seen)  # colours of our own
        flat = re.sub(r"\s+", " ", plain)
        assert code == 0, (command, seen)
        assert "[/red] [bold]x[/bold] list[str] C:\\new" in flat or "[/red] [bold]x" in flat, (command, flat)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", plain), (command, plain)
        assert "\x1b[31m" not in seen, command
        assert "\x1b[2J" not in seen, command


def test_a_terminal_wraps_to_its_width_and_shows_where_a_hit_comes_from(
    run_mem: Run, on_terminal: OnTerminal
) -> None:
    assert run_mem("store", "palaver " * 30, "--tag", "talk", "--event-time", "2026-05-10").code == 0
    code, seen = on_terminal("recall", "palaver", env={"NO_COLOR": "1"})
    assert code == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", seen).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) >= 4
    assert re.match(r"#1\s+\d\.\d\d\s+palaver palaver", lines[0])
    assert any("learning · general · global · 2026-05-10 · talk" in line for line in lines)


def test_colours_stay_away_where_nobody_wants_them(run_mem: Run, on_terminal: OnTerminal) -> None:
    assert "\x1b[32m" in on_terminal("doctor")[1]
    assert "\x1b[3" not in on_terminal("doctor", env={"NO_COLOR": "1"})[1]
    assert "\x1b" not in on_terminal("doctor", env={"TERM": "dumb"})[1]
    assert b"\x1b" not in run_mem("doctor", env={"FORCE_COLOR": "1"}).stdout


def test_notes_stand_beside_the_data(run_mem: Run) -> None:
    nothing = run_mem("recall", "postgres")
    assert (nothing.code, nothing.stdout) == (0, b"")
    assert "Nothing fits.\n" in nothing.err
    assert run_mem("list").err == "No memory matches.\n"
    for text in ("postgres one", "postgres two", "postgres three"):
        assert run_mem("store", text, "--project", "alpha").code == 0
    elsewhere = run_mem("recall", "postgres")
    assert (elsewhere.stdout, "Other projects hold 3 more; --all-projects" in elsewhere.err) == (b"", True)
    page = run_mem("list", "--all-projects", "--limit", "2")
    assert (page.out.count("\n"), "2 of 3" in page.err) == (2, True)
    assert "words alone" in run_mem("recall", "postgres", "--project", "alpha").err


def test_a_refused_store_prints_why_and_what_to_do(run_mem: Run) -> None:
    assert run_mem("store", "the disk is in bay 4").code == 0
    assert run_mem("archive", "1", "--reason", "sold").code == 0
    ran = run_mem("store", "The disk is in bay 4.")
    assert (ran.code, ran.out.startswith("refused")) == (4, True)
    assert "sold" in ran.err
    assert "mem restore 1" in ran.err
    document = run_mem("store", "The disk is in bay 4.", "--json")
    assert (document.code, document.document()["refusal"]["id"], document.stderr) == (4, 1, b"")


def test_warnings_of_a_store_go_to_standard_error(run_mem: Run) -> None:
    assert run_mem("store", "The API of billing listens on port 8080").code == 0
    ran = run_mem("store", "The API of billing listens on port 8081")
    assert (ran.code, ran.out) == (0, "added #2\n")
    assert "#1" in ran.err


# How it ends


def test_errors_with_json_are_one_document_on_standard_output(run_mem: Run) -> None:
    for arguments, code, name in (
        (("get", "99", "--json"), 3, "not_found"),
        (("recall", "--json"), 2, "usage"),
        (("--json", "recall", "x", "--limit", "0"), 2, "usage"),
        (("recall", "x", "--nonsense", "--json"), 2, "usage"),
        (("nonsense", "--json"), 2, "usage"),
        ((b"n\xffnsense", "--json"), 2, "usage"),
        (("list", "--json", "--db", "/proc/none/memory.db"), 5, "store_unusable"),
    ):
        ran = run_mem(*arguments)
        error = ran.document()["error"]
        assert (ran.code, ran.stderr, error["code"]) == (code, b"", name), ran
        assert error["message"]
        assert set(error) == {"code", "message", "hint"}


def test_a_text_after_two_dashes_is_no_wish_for_json(run_mem: Run) -> None:
    ran = run_mem("get", "--", "--json")
    assert (ran.code, ran.stdout) == (2, b"")


def test_a_closed_pipe_is_silent(run_mem: Run) -> None:
    assert run_mem("store", "word " * 15_000).code == 0
    for arguments in (["get", "1"], ["list", "--json"], ["get", "99", "--json"], ["--help"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "mem", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=process_environment(),
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) in (0, 3)
        process.stderr.close()


def test_an_interrupt_ends_with_130_and_not_a_word(run_mem: Run) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mem", "store", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    assert process.stdin is not None
    process.stdin.write(
        b"x" * 1_000_000
    )  # more than a pipe holds: when it returns, the other side is reading
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert process.stdout is not None
    assert process.stderr is not None
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    process.stdout.close()
    process.stderr.close()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    assert run_mem("list").stdout == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
def test_an_output_that_cannot_be_written_is_an_error(run_mem: Run) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mem", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=process_environment(),
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "mem: Cannot write to standard output: No space left on device."
    ]


def test_a_fault_of_ours_is_one_line_and_a_traceback_on_request(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise LookupError("no such shelf")

    monkeypatch.setattr(app, "run", broken)
    assert __main__._run(["list"], None) == 1
    assert capfd.readouterr() == ("", "mem: unexpected LookupError: no such shelf MEM_DEBUG=1 shows where.\n")
    assert __main__._run(["list", "--json"], None) == 1
    assert json.loads(capfd.readouterr().out)["error"]["code"] == "error"
    monkeypatch.setenv("MEM_DEBUG", "1")
    assert __main__._run(["list"], None) == 1
    assert "Traceback" in capfd.readouterr().err


def test_the_console_script_is_the_same_entry(run_mem: Run) -> None:
    script = shutil.which("mem", path=Path(sys.executable).parent)
    if script is None:  # the tests run from a checkout that is not installed
        script_call = [sys.executable, "-c", "from mem.__main__ import main; main()"]
    else:
        script_call = [script]
    done = subprocess.run(
        [*script_call, "--version"], capture_output=True, env=process_environment(), timeout=60
    )
    assert (done.returncode, done.stdout) == (0, f"mem {__version__}\n".encode())


# Who may call


def sweep(
    ids: Annotated[str, Doc("Which.")],
    *,
    force: Annotated[bool, Doc("Although a rule forbids it.", people=True)] = False,
) -> None:
    """Sweep."""


def operation(*, people: bool) -> Operation:
    return Operation(sweep, "sweep", Panel.SETUP, ("mem sweep",), True, True, True, people, False)


@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.HOOK, ActorKind.CRON])
def test_what_is_for_people_is_refused_to_others(kind: ActorKind) -> None:
    caller = Caller(Actor(kind), Path("/"))
    with pytest.raises(Refused, match="sweep is for people only") as caught:
        app.refuse_agents(operation(people=True), {"ids": "1"}, caller)
    assert caught.value.exit_status == 4
    with pytest.raises(Refused, match="--force is for people only"):
        app.refuse_agents(operation(people=False), {"ids": "1", "force": True}, caller)
    app.refuse_agents(operation(people=False), {"ids": "1"}, caller)


def test_people_may_do_what_is_for_people() -> None:
    given: dict[str, Any] = {"ids": "1", "force": True}
    app.refuse_agents(operation(people=True), given, Caller(Actor(ActorKind.PERSON), Path("/")))


def test_an_agents_shell_is_recognised(run_mem: Run) -> None:
    assert run_mem("store", "by an agent", env={"CLAUDECODE": "1"}).code == 0
    assert run_mem("store", "by a person").code == 0
    actors = [run_mem("history", number).out.split("\t")[3] for number in ("1", "2")]
    assert actors == ["agent", "person"]


def test_printing_survives_a_closed_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    render.prepare()
    render.say("nobody reads this")
    render.finish()


def test_a_store_in_a_folder_that_is_not_there_is_refused_and_no_folder_is_made(
    run_mem: Callable[..., Ran], tmp_path: Path
) -> None:
    missing = tmp_path / "mistyped" / "folder"
    ran = run_mem("list", "--db", str(missing / "memory.db"))
    assert ran.code == 5
    assert f"There is no folder {missing}." in ran.stderr.decode()
    assert not missing.parent.exists()


def test_the_version_is_one_document_too(run_mem: Callable[..., Ran]) -> None:
    assert json.loads(run_mem("--version", "--json").stdout)["text"].startswith("mem ")


def test_an_answer_that_is_cut_off_without_buffering_is_no_success(
    run_mem: Callable[..., Ran], home: Path, tmp_path: Path
) -> None:
    assert run_mem("store", "-", stdin=b"word " * 18_000).code == 0

    def at_most() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    with (tmp_path / "out").open("wb") as out:
        ran = subprocess.run(
            [sys.executable, "-m", "mem", "get", "1"],
            stdout=out,
            stderr=subprocess.PIPE,
            env=process_environment({"PYTHONUNBUFFERED": "1"}),
            preexec_fn=at_most,
        )
    assert ran.returncode == 1
    assert ran.stderr.decode().startswith("mem: Cannot write to standard output")
