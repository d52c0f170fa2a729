"""`mem hooks`: hooks go into the settings of hosts and come out again, and nothing else there changes."""

import errno
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran, process_environment

from mem.cli import front_end
from mem.cli.front_end import FrontEnd, HooksAction
from mem.errors import MemError, Usage
from mem.hosts import installation, jsonc, merge, traces
from mem.hosts.descriptions import DESCRIPTIONS, Shape, command
from mem.hosts.files import SettingsUnusable
from mem.hosts.host import Host
from mem.hosts.program import program
from mem.paths import places
from mem.results import HookState, HostHooks

Run = Callable[..., Ran]
each_host = pytest.mark.parametrize("host", list(Host))
MINE = "/opt/other/bin/mem"

# A file as people have it: a byte order mark, Windows line ends, tabs, comments, trailing commas, odd spaces.
FOREIGN = """\ufeff// by hand\r
{\r
\t"zeta" : 1,\t/* after */ "alpha": [1,2 ,3,],\r
\t"autoMemoryEnabled": true, "url": "http://x//y",\r
\t"hooks" : { // mine\r
\t\t"%(first)s": [ %(entry)s /* keep */ ],\r
\t\t"%(second)s": [ ],\r
\t\t// "%(third)s": [],\r
\t},\r
\t"version": 1, // last\r
}\r
\r
"""


def foreign(host: Host) -> bytes:
    """Settings with hooks of somebody else in them, in the form of the host."""
    first, second, third, *_ = DESCRIPTIONS[host].events
    hook: dict[str, Any] = {"command": "lint --hook", "timeout": 3}
    if DESCRIPTIONS[host].shape is not Shape.FLAT:
        hook = {"matcher": "startup", "hooks": [{"type": "command", **hook}]}
    names = {"first": first, "second": second, "third": third, "entry": json.dumps(hook)}
    return (FOREIGN % names).encode()


@pytest.fixture(autouse=True)
def private(home: Path) -> None:
    """Every test has a home of its own."""


def place(host: Host) -> Path:
    return DESCRIPTIONS[host].settings(os.environ)


def given(host: Host, content: bytes) -> Path:
    path = place(host)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def ours(path: Path, host: Host) -> dict[str, dict[str, Any]]:
    """The hooks of ours in a file; one for each event."""
    found = merge.find(path.read_bytes().decode(), DESCRIPTIONS[host].shape)
    assert len({one.event for one in found}) == len(found)
    return {one.event: one.hook for one in found}


def plain(path: Path) -> dict[str, Any]:
    found = jsonc.parse(path.read_bytes().decode()).plain
    assert isinstance(found, dict)
    return found


def state(told: tuple[HostHooks, ...]) -> HookState:
    (one,) = told
    return one.state


@each_host
def test_foreign_hooks_comments_and_a_mark_come_back_byte_for_byte(host: Host) -> None:
    before = foreign(host)
    path = given(host, before)
    assert state(installation.install([host])) is HookState.INSTALLED
    once = path.read_bytes()
    assert set(ours(path, host)) == set(DESCRIPTIONS[host].events)
    assert once.count(b"\n") == once.count(b"\r\n")
    rest = iter(once)
    assert all(byte in rest for byte in before)  # something was added, and nothing else was done
    assert state(installation.install([host])) is HookState.UNCHANGED
    assert path.read_bytes() == once
    assert state(installation.uninstall([host])) is HookState.REMOVED
    assert path.read_bytes() == before
    assert state(installation.uninstall([host])) is HookState.UNCHANGED
    assert path.read_bytes() == before
    assert not (places().state / "hooks.json").exists()


@each_host
@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "{ }\n",
        "{\n}",
        "",
        "\ufeff",
        "\r\n",
        '{"hooks":{}}',
        '{"hooks": {"%s": [ ]}}',
        '{"a":1}',
        "{/* c */}",
    ],
)
def test_any_settings_come_back_byte_for_byte(host: Host, content: str) -> None:
    before = content.replace("%s", next(iter(DESCRIPTIONS[host].events))).encode()
    path = given(host, before)
    installation.install([host])
    assert set(ours(path, host)) == set(DESCRIPTIONS[host].events)
    installation.install([host])
    installation.uninstall([host])
    assert path.read_bytes() == before


@each_host
def test_settings_that_were_not_there_are_made_and_taken_away(host: Host) -> None:
    path = place(host)
    assert state(installation.install([host])) is HookState.INSTALLED
    assert set(ours(path, host)) == set(DESCRIPTIONS[host].events)
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_bytes())
    assert "autoMemory" not in path.read_text(encoding="utf-8")
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    installation.uninstall([host])
    assert not path.parent.exists()


def test_a_folder_that_was_there_stays(home: Path) -> None:
    place(Host.CODEX).parent.mkdir()
    installation.install([Host.CODEX])
    installation.uninstall([Host.CODEX])
    assert list(place(Host.CODEX).parent.iterdir()) == []


@each_host
def test_what_others_changed_since_is_kept(host: Host) -> None:
    path = given(host, foreign(host))
    before = plain(path)
    installation.install([host])
    # Another program writes the whole file anew, with a setting and a hook more.
    changed = plain(path)
    event = next(iter(DESCRIPTIONS[host].events))
    changed["theme"] = "dark"
    changed["hooks"][event].append({"command": "later"})
    path.write_text(json.dumps(changed, indent=4), encoding="utf-8")
    installation.uninstall([host])
    before["theme"] = "dark"
    before["hooks"][event].append({"command": "later"})
    assert plain(path) == before
    assert path.read_text(encoding="utf-8") == json.dumps(plain(path), indent=4)


@each_host
def test_a_file_that_we_made_and_others_use_stays_with_what_is_theirs(host: Host) -> None:
    path = place(host)
    installation.install([host])
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("{", '{\n  // theirs\n  "theme": "dark",', 1), encoding="utf-8")
    installation.uninstall([host])
    assert path.read_text(encoding="utf-8") == '{\n  // theirs\n  "theme": "dark"\n}\n'


@each_host
def test_a_file_that_we_made_and_nobody_uses_goes_even_if_it_was_written_anew(host: Host) -> None:
    path = place(host)
    installation.install([host])
    path.write_text(json.dumps(plain(path)), encoding="utf-8")
    installation.uninstall([host])
    assert not path.exists()


@each_host
@pytest.mark.parametrize("trace", ["{no", "[]", '{"PATH": 5}', '{"PATH": {"sha256": "", "stretches": [1]}}'])
def test_without_the_trace_our_hooks_still_go_and_nothing_else_does(host: Host, trace: str) -> None:
    path = given(host, foreign(host))
    before = plain(path)
    installation.install([host])
    (places().state / "hooks.json").write_text(trace.replace("PATH", str(path)))
    installation.uninstall([host])
    second = list(DESCRIPTIONS[host].events)[1]
    assert before["hooks"].pop(second) == []  # who was there first cannot be known any more
    assert plain(path) == before
    text = path.read_bytes().decode()
    for comment in (
        "// by hand\r\n",
        "/* after */",
        "// mine\r\n",
        "/* keep */",
        '[],\r\n\t},\r\n\t"version": 1, // last\r\n',
    ):
        assert comment in text


@each_host
def test_an_upgrade_with_another_path_replaces_what_is_there(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = foreign(host)
    path = given(host, before)
    monkeypatch.setattr(installation, "program", lambda: ("/old/bin/mem",))
    installation.install([host])
    monkeypatch.setattr(installation, "program", lambda: ("/new place/it's/mem",))
    assert state(installation.show([host])) is HookState.OUTDATED
    assert state(installation.install([host])) is HookState.INSTALLED
    text = path.read_bytes().decode()
    assert "/old/bin" not in text
    for hook in ours(path, host).values():
        words = [hook["command"], *hook["args"]] if "args" in hook else shlex.split(hook["command"])
        assert words == ["/new place/it's/mem", "context", "--hook"]
    installation.uninstall([host])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "is_ours"),
    [
        ("mem context --hook", True),
        ("/usr/local/bin/mem context --hook", True),
        ("'/my place/mem' context --hook", True),
        (r"C:\Tools\mem.exe context --hook", True),
        (r'"C:\My Tools\mem.exe" context --hook', True),
        ("/usr/bin/python3 -m mem context --hook", True),
        ("MEM_PROJECT=x mem context --budget 500 --hook", True),
        ("mem context --hook --deadline-ms 300", True),
        ("mem context", False),
        ("mem recall --hook", False),
        ("mem context --hooks", False),
        ("mymem context --hook", False),
        ("mem.py context --hook", False),
        ("other context --hook", False),
        ("", False),
    ],
)
def test_our_hooks_are_known_by_their_command(line: str, is_ours: bool) -> None:
    assert (command({"command": line, "timeout": 1}) is not None) is is_ours
    assert command({"type": "prompt", "prompt": line}) is None
    assert command(line) is None


@each_host
def test_hooks_that_only_look_like_ours_stay(host: Host) -> None:
    hooks = [
        {"command": "mymem context --hook"},
        {"command": "mem", "args": ["context"]},
        {"command": 5},
        "mem",
    ]
    entries: list[Any] = (
        hooks if DESCRIPTIONS[host].shape is Shape.FLAT else [{"hooks": hooks}, {"hooks": {}}, 7]
    )
    event = next(iter(DESCRIPTIONS[host].events))
    before = json.dumps({"version": 1, "hooks": {event: entries}}).encode()
    path = given(host, before)
    installation.uninstall([host])
    assert path.read_bytes() == before
    installation.install([host])
    assert plain(path)["hooks"][event][:-1] == entries


def test_a_hook_of_ours_in_a_group_of_somebody_else_stays_there_while_it_is_right() -> None:
    host = Host.GEMINI
    path = place(host)
    installation.install([host])
    changed = plain(path)
    group = changed["hooks"]["BeforeAgent"][0]
    group["matcher"] = "*"
    group["hooks"].insert(0, {"type": "command", "command": "lint"})
    path.write_text(json.dumps(changed), encoding="utf-8")
    assert state(installation.install([host])) is HookState.UNCHANGED
    installation.uninstall([host])
    assert plain(path) == {
        "hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "lint"}], "matcher": "*"}]}
    }


@each_host
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{\n  "a": 1,\n  "b" 2\n}', "line 3, column 7: a colon is missing"),
        (b'{"a": 1', "line 1, column 8"),
        (b"[1]", "line 1, column 1: the settings are not an object"),
        (b'\xef\xbb\xbf{"hooks": []}', 'line 1, column 11: "hooks" is not an object'),
        (b'{"hooks": {\n"%s": {}}}', "is not an array"),
        (b'{"a": "\xff"}', "is not UTF-8 (byte 7)"),
        (b"# yaml: no", "line 1, column 1"),
    ],
)
def test_what_cannot_be_understood_is_refused_and_nothing_is_written(
    host: Host, content: bytes, told: str
) -> None:
    before = content.replace(b"%s", list(DESCRIPTIONS[host].events)[-1].encode())
    others = [one for one in Host if one is not host]
    path = given(host, before)
    with pytest.raises(SettingsUnusable, match=re.escape(told)) as caught:
        installation.install([*others, host])
    assert str(path) in str(caught.value)
    assert "Nothing was written." in caught.value.hint
    assert (caught.value.code, caught.value.exit_status) == ("settings_unusable", 1)
    assert path.read_bytes() == before
    assert not any(place(one).exists() for one in others)
    assert not places().state.exists()


@each_host
def test_a_link_stays_a_link_and_the_file_behind_it_keeps_its_mode(host: Host, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "settings"
    target.parent.mkdir()
    target.write_bytes(foreign(host))
    target.chmod(0o640)
    place(host).parent.mkdir()
    place(host).symlink_to(os.path.relpath(target, place(host).parent))
    for change, done in ((installation.install, True), (installation.uninstall, False)):
        change([host])
        assert place(host).is_symlink()
        assert place(host).resolve() == target
        assert (target.read_bytes() != foreign(host)) is done
        assert target.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in target.parent.iterdir()] == ["settings"]


def test_a_link_to_nothing_gets_its_file_and_loses_it_again(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    place(Host.CURSOR).parent.mkdir()
    place(Host.CURSOR).symlink_to(target)
    installation.install([Host.CURSOR])
    assert set(ours(target, Host.CURSOR)) == set(DESCRIPTIONS[Host.CURSOR].events)
    installation.uninstall([Host.CURSOR])
    assert place(Host.CURSOR).is_symlink()
    assert not target.exists()


def test_settings_that_cannot_be_read_are_told_in_one_line(tmp_path: Path) -> None:
    place(Host.CURSOR).parent.mkdir()
    place(Host.CURSOR).symlink_to(place(Host.CURSOR))
    (tmp_path / "user" / ".codex").write_text("a file where the folder should be")
    place(Host.GEMINI).mkdir(parents=True)
    for host in (Host.CURSOR, Host.CODEX, Host.GEMINI):
        for call in (installation.install, installation.uninstall, installation.show):
            with pytest.raises(SettingsUnusable, match=f"Cannot read {place(host)}"):
                call([host])


def test_a_full_disk_leaves_the_settings_and_the_trace_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    path = given(Host.CODEX, b"{ }")
    monkeypatch.setattr(installation, "program", lambda: ("/old/mem",))
    installation.install([Host.CODEX])
    once, trace = path.read_bytes(), traces.load(path)
    monkeypatch.setattr(installation, "program", lambda: ("/new/mem",))

    real = tempfile.mkstemp

    def make(prefix: str, dir: Path) -> tuple[int, str]:
        if dir == path.parent:  # the trace still fits, the settings do not
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(prefix=prefix, dir=dir)

    monkeypatch.setattr(tempfile, "mkstemp", make)
    with pytest.raises(SettingsUnusable, match="No space left"):
        installation.install([Host.CODEX])
    assert path.read_bytes() == once
    assert trace is not None
    assert traces.load(path) == trace


@each_host
def test_a_change_in_the_same_moment_is_not_overwritten(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    path = given(host, b'{"a": 1}')
    save = traces.save

    def saved(target: Path, one: traces.Installation | None) -> None:
        path.write_bytes(b'{"a": 2}')
        save(target, one)

    monkeypatch.setattr(traces, "save", saved)
    with pytest.raises(SettingsUnusable, match="changed just now"):
        installation.install([host])
    assert path.read_bytes() == b'{"a": 2}'
    assert traces.load(path) is None


@each_host
def test_no_reader_ever_sees_half_a_file(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    path = given(host, foreign(host))
    seen = []
    replace = Path.replace

    def replaced(self: Path, target: Path) -> Path:
        seen.append((target, target.exists() and target.read_bytes(), self.read_bytes()))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replaced)
    installation.install([host])
    (written,) = [one for one in seen if one[0] == path]
    assert written == (path, foreign(host), path.read_bytes())


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


def test_claudes_own_memory_is_left_on_and_left_off() -> None:
    for setting in (
        "",
        '"autoMemoryEnabled": true',
        '"autoMemoryEnabled": false, "autoMemoryDirectory": "/x"',
    ):
        path = given(Host.CLAUDE_CODE, f"{{{setting}}}".encode())
        before = plain(path)
        installation.install([Host.CLAUDE_CODE])
        after = plain(path)
        assert after.pop("hooks")
        assert after == before
        installation.uninstall([Host.CLAUDE_CODE])


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
