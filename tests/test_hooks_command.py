"""`mem hooks`: which hosts, which program, what is shown, and what would change."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, process_environment
from hook_settings import each_host, foreign, given, ours, place, plain

from mem.cli import front_end
from mem.cli.front_end import FrontEnd, HooksAction
from mem.errors import MemError, Usage
from mem.hosts import installation
from mem.hosts.descriptions import DESCRIPTIONS, command
from mem.hosts.host import Host
from mem.hosts.program import program
from mem.paths import places
from mem.results import HookState

Run = Callable[..., Ran]
MINE = "/opt/other/bin/mem"


@pytest.fixture(autouse=True)
def private(home: Path) -> None:
    """Every test has a home of its own."""


@each_host
def test_a_dry_run_shows_the_change_and_writes_nothing(host: Host) -> None:
    before = foreign(host)
    path = given(host, before)
    (told,) = installation.install([host], dry_run=True)
    assert path.read_bytes() == before
    assert not places().state.exists()
    installation.install([host])
    assert told.state is HookState.INSTALLED
    assert patched(before.decode(), told.diff) == path.read_bytes().decode()
    once = path.read_bytes()
    (told,) = installation.uninstall([host], dry_run=True)
    assert path.read_bytes() == once
    assert patched(once.decode(), told.diff) == before.decode()
    (told,) = installation.install([host], dry_run=True)
    assert (told.state, told.diff) == (HookState.UNCHANGED, "")


def patched(text: str, diff: str) -> str:
    """The text with a unified diff applied, strictly."""
    lines, result, at = text.splitlines(keepends=True), [], 0
    for line in diff.splitlines(keepends=True)[2:]:
        if found := re.match(r"@@ -(\d+)", line):
            start = int(found[1]) - 1
            result += lines[at:start]
            at = start
        elif line[0] in " -":
            assert lines[at] == line[1:]
            result += [line[1:]] if line[0] == " " else []
            at += 1
        else:
            assert line[0] == "+"
            result.append(line[1:])
    return "".join([*result, *lines[at:]])


def test_a_diff_names_the_file_and_says_where_no_line_ends() -> None:
    path = given(Host.CODEX, b"{}")
    (told,) = installation.install([Host.CODEX], dry_run=True)
    assert told.diff.startswith(f"--- {path}\n+++ {path}\n")
    assert "\n-{}\n\\ No newline at end of file\n" in told.diff
    (told,) = installation.install([Host.GEMINI], dry_run=True)
    assert told.diff.startswith(f"--- /dev/null\n+++ {place(Host.GEMINI)}\n")


@pytest.mark.parametrize(
    ("host", "variable", "path"),
    [
        (Host.CLAUDE_CODE, "CLAUDE_CONFIG_DIR", "settings.json"),
        (Host.CODEX, "CODEX_HOME", "hooks.json"),
        (Host.GEMINI, "GEMINI_CLI_HOME", ".gemini/settings.json"),
    ],
)
def test_the_variables_of_a_host_move_its_settings(
    host: Host, variable: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = place(host)
    assert usual.is_relative_to(tmp_path / "user")
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    installation.install([host])
    assert ours(tmp_path / "elsewhere" / path, host)
    assert not usual.exists()
    monkeypatch.setenv(variable, "")
    assert place(host) == usual


def test_the_hook_starts_this_mem_by_its_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def executable(name: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    python, real = executable("venv/bin/python"), executable("opt/mem-1.2/mem")
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "mem" / "__main__.py")])
    monkeypatch.setenv("PATH", "")
    assert program() == (str(python), "-m", "mem")
    found = executable("usr/bin/mem")
    monkeypatch.setenv("PATH", str(found.parent))
    assert program() == (str(found),)
    beside = executable("venv/bin/mem")
    assert program() == (str(beside),)
    link = tmp_path / "links" / "mem"
    link.parent.mkdir()
    link.symlink_to(real)
    monkeypatch.chdir(link.parent)
    monkeypatch.setattr(sys, "argv", ["./mem"])
    assert program() == (str(link),)
    link.unlink()
    assert program() == (str(beside),)


def test_a_path_that_no_settings_can_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/\udcff/python")
    monkeypatch.setattr(sys, "argv", ["x"])
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MemError, match="not UTF-8"):
        installation.install([Host.CODEX])


def test_without_a_name_it_is_every_host_that_has_its_folder() -> None:
    front = FrontEnd(None)
    with pytest.raises(Usage) as caught:
        front.hooks(HooksAction.INSTALL)
    assert ", ".join(Host) in caught.value.hint
    for host in (Host.CODEX, Host.GEMINI):
        place(host).parent.mkdir()
    told = front.hooks(HooksAction.INSTALL)
    assert [one.host for one in told.hosts] == [Host.CODEX, Host.GEMINI]
    assert not place(Host.CLAUDE_CODE).exists()
    assert not place(Host.CURSOR).exists()


def test_the_hosts_are_those_of_the_command() -> None:
    (definition,) = [one for one in front_end.COMMANDS if one.name == "hooks"]
    assert definition.parameters[1].choices is Host
    assert set(DESCRIPTIONS) == set(Host)
    for host in Host:
        assert definition.bind({"action": "show", "host": host.value}, agent=False)["host"] is host


def test_what_is_shown_is_what_is_there_and_what_would_be() -> None:
    path = place(Host.CODEX)
    (told,) = installation.show([Host.CODEX])
    assert (told.state, told.path) == (HookState.MISSING, str(path))
    assert {hook.event: hook.state for hook in told.hooks} == dict.fromkeys(
        DESCRIPTIONS[Host.CODEX].events, HookState.MISSING
    )
    assert told.diff
    assert not path.parent.exists()
    installation.install([Host.CODEX])
    changed = plain(path)
    del changed["hooks"]["SessionEnd"]
    changed["hooks"]["PreCompact"][0]["hooks"][0]["command"] = f"{MINE} context --hook"
    changed["hooks"]["Stop"] = changed["hooks"]["PostCompact"]
    path.write_text(json.dumps(changed), encoding="utf-8")
    (told,) = installation.show([Host.CODEX])
    assert told.state is HookState.OUTDATED
    states = {hook.event: hook.state for hook in told.hooks}
    assert states == {
        "SessionStart": HookState.INSTALLED,
        "UserPromptSubmit": HookState.INSTALLED,
        "PreCompact": HookState.OUTDATED,
        "PostCompact": HookState.INSTALLED,
        "Stop": HookState.OUTDATED,
        "SessionEnd": HookState.MISSING,
    }
    assert f"{MINE} context --hook" in [hook.command for hook in told.hooks]
    installation.install([Host.CODEX])
    (told,) = installation.show([Host.CODEX])
    assert told.state is HookState.INSTALLED
    assert [hook.timeout for hook in told.hooks] == [10, 5, 10, 10, 3]


def test_the_command_from_end_to_end(run_mem: Run, tmp_path: Path) -> None:
    path = given(Host.CLAUDE_CODE, foreign(Host.CLAUDE_CODE))
    ran = run_mem("hooks", "install", "claude-code", "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"--- {path}\n+++ {path}\n@@")
    assert "\r\n" in ran.out
    assert path.read_bytes() == foreign(Host.CLAUDE_CODE)
    ran = run_mem("hooks", "install")
    assert (ran.code, ran.out) == (0, f"claude-code\tinstalled\t{path}\n")
    assert "claude-code:" in ran.err
    start = ours(path, Host.CLAUDE_CODE)["SessionStart"]
    assert os.access(start["command"], os.X_OK)
    assert Path(start["command"]).is_absolute()
    assert start["args"][-2:] == ["context", "--hook"]
    ran = run_mem("hooks", "install", "--dry-run")
    assert (ran.code, ran.out, ran.err) == (0, "", "Nothing would change.\n")
    ran = run_mem("hooks", "show")
    rows = [line.split("\t") for line in ran.out.splitlines()]
    assert [row[:4] for row in rows] == [
        ["claude-code", event, "installed", str(path)] for event in ours(path, Host.CLAUDE_CODE)
    ]
    assert {row[4] for row in rows} == {command(start)}
    document = run_mem("hooks", "uninstall", "claude-code", "--json").document()
    assert (document["schema_version"], document["action"], document["dry_run"]) == (1, "uninstall", False)
    (told,) = document["hosts"]
    assert (told["host"], told["state"], told["path"]) == ("claude-code", "removed", str(path))
    assert path.read_bytes() == foreign(Host.CLAUDE_CODE)


def test_the_command_fails_in_one_line(run_mem: Run) -> None:
    path = given(Host.GEMINI, b"{,}")
    ran = run_mem("hooks", "install", "gemini")
    assert (ran.code, ran.stdout, len(ran.err.splitlines())) == (1, b"", 1)
    assert f"{path}, line 1, column 2: " in ran.err
    error = run_mem("hooks", "install", "gemini", "--json")
    assert (error.code, error.document()["error"]["code"]) == (1, "settings_unusable")
    for arguments in ([], ["install", "emacs"], ["remove"]):
        assert run_mem("hooks", *arguments).code == 2
    assert "claude-code, codex, cursor, gemini" in run_mem("hooks", "show", "emacs").err


def test_a_hook_in_the_settings_is_a_command_that_answers(run_mem: Run, tmp_path: Path) -> None:
    """What was installed runs, with exit status 0 and one document or nothing."""
    installation.install([Host.GEMINI])
    hook = ours(place(Host.GEMINI), Host.GEMINI)["BeforeAgent"]
    event = {"session_id": "s", "hook_event_name": "BeforeAgent", "prompt": "how do we deploy?", "cwd": "/"}
    done = subprocess.run(
        ["/bin/sh", "-c", hook["command"]],
        input=json.dumps(event).encode(),
        capture_output=True,
        env=process_environment({"MEM_MODEL": "none"}),
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, b"")
