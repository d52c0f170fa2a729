"""Hooks go into the settings of hosts and come out again, and nothing else there changes."""

import errno
import json
import os
import re
import shlex
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hook_settings import each_host, foreign, given, ours, place, plain, state

from mem.hosts import files, installation, traces
from mem.hosts.descriptions import DESCRIPTIONS, Shape, command
from mem.hosts.files import SettingsUnusable
from mem.hosts.host import Host
from mem.paths import places
from mem.results import HookState


@pytest.fixture(autouse=True)
def private(home: Path) -> None:
    """Every test has a home of its own."""


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
        "// comment",
        "\ufeff/* a */ // b\r\n",
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


@each_host
@pytest.mark.parametrize(
    ("kind", "linked"),
    [("fifo", False), ("fifo", True), ("socket", False), ("socket", True), ("device", True)],
)
def test_what_is_no_regular_file_is_refused_and_stays(
    host: Host, kind: str, linked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(host).parent.mkdir(parents=True)
    special = Path(os.devnull) if kind == "device" else tmp_path / "special"
    target = special if linked else place(host)
    if linked:
        place(host).symlink_to(target)
    match kind:
        case "fifo":
            os.mkfifo(target)
        case "socket":
            monkeypatch.chdir(target.parent)  # the name of a socket may not be long
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(target.name)
    # Opened, a pipe would wait for ever, and the device be read as an empty file.
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was opened"))
    monkeypatch.setattr(files, "write", lambda target, content: pytest.fail(f"{target} was written"))
    before = target.lstat()
    for call in (installation.install, installation.uninstall, installation.show):
        with pytest.raises(SettingsUnusable, match=f"{place(host)}: it is not a regular file"):
            call([host])
    assert place(host).is_symlink() is linked
    assert (target.lstat().st_mode, target.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert not places().state.exists()


def test_a_link_to_a_pipe_without_a_name_is_refused() -> None:
    reader, writer = os.pipe()
    try:
        place(Host.CURSOR).parent.mkdir()
        place(Host.CURSOR).symlink_to(f"/dev/fd/{reader}")
        with pytest.raises(SettingsUnusable, match="it is not a regular file"):
            installation.install([Host.CURSOR])
    finally:
        os.close(reader)
        os.close(writer)


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
