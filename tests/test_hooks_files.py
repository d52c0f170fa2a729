"""The hook and MCP settings that ship for each host, and the plugin."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer._click import Context

import mem
from mem.cli import app
from mem.context import hosts as protocol
from mem.hosts.descriptions import DESCRIPTIONS, command
from mem.hosts.host import Host
from mem.paths import shipped

ROOT = shipped("hooks")
PLUGIN = ROOT / "claude-code" / "plugins" / "mem"
JSON = sorted(path for path in ROOT.rglob("*.json"))
HOOKS = {
    Host.CLAUDE_CODE: PLUGIN / "hooks" / "hooks.json",
    Host.CODEX: ROOT / "codex" / "hooks.json",
    Host.CURSOR: ROOT / "cursor" / "hooks.json",
    Host.GEMINI: ROOT / "gemini" / "settings.json",
}
SERVERS = {
    Host.CLAUDE_CODE: PLUGIN / ".mcp.json",
    Host.CODEX: ROOT / "codex" / "config.toml",
    Host.CURSOR: ROOT / "cursor" / "mcp.json",
    Host.GEMINI: ROOT / "gemini" / "settings.json",
}
# The events of each host at the end of 2026, as far as a memory could want them.
CLAUDE = "SessionStart UserPromptSubmit PreCompact PostCompact Stop SubagentStart SubagentStop SessionEnd"
EVENTS = {
    Host.CLAUDE_CODE: CLAUDE,
    Host.CODEX: f"{CLAUDE} Interrupt",
    Host.CURSOR: "sessionStart beforeSubmitPrompt preCompact stop sessionEnd",
    Host.GEMINI: "SessionStart BeforeAgent AfterAgent PreCompress SessionEnd",
}
MILLISECONDS = {Host.GEMINI}
each_host = pytest.mark.parametrize("host", list(Host))


def document(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    assert isinstance(found, dict)
    return found


def hooks(host: Host) -> dict[str, dict[str, Any]]:
    """The one hook of each event in the shipped file."""
    found = {}
    for event, entries in document(HOOKS[host])["hooks"].items():
        (entry,) = entries
        (found[event],) = entry.get("hooks", [entry])
    return found


@pytest.mark.parametrize("path", JSON, ids=[str(path.relative_to(ROOT)) for path in JSON])
def test_every_file_is_json_and_speaks_of_hooks_and_servers_alone(path: Path) -> None:
    assert document(path)
    assert "autoMemory" not in path.read_text(encoding="utf-8")


def test_the_overview_names_every_file() -> None:
    overview = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in [*HOOKS.values(), *SERVERS.values()]:
        assert f"`{path.relative_to(ROOT).as_posix()}`" in overview
    named = re.findall(r"^\| `([^`]+)`", overview, flags=re.MULTILINE)
    assert len(named) == 9
    assert all((ROOT / name).exists() for name in named)


@each_host
def test_the_file_holds_what_the_command_would_install(host: Host) -> None:
    about = DESCRIPTIONS[host]
    expected = {event: [entry] for event, entry in about.entries(("mem",)).items()}
    found = document(HOOKS[host])
    assert found["hooks"] == expected
    assert {name: found[name] for name, _ in about.members} == dict(about.members)


@each_host
def test_only_events_that_the_host_has_and_the_protocol_answers(host: Host) -> None:
    assert set(hooks(host)) <= set(EVENTS[host].split())
    assert len(hooks(host)) >= 4
    moments = []
    for event in hooks(host):
        given = {"session_id": "s", "hook_event_name": event, "source": "startup", "prompt": "a question"}
        read = protocol.read(json.dumps(given).encode(), {})
        assert read is not None
        moments.append(read.moment)
    every = set(protocol.Moment)
    assert set(moments) in (every, every - {protocol.Moment.POST_COMPACT})
    assert len(moments) == len(set(moments))


@each_host
def test_a_hook_is_a_command_in_the_form_of_its_host(host: Host) -> None:
    for event, hook in hooks(host).items():
        assert command(hook) == "mem context --hook"
        if host is Host.CLAUDE_CODE:
            assert (hook["command"], hook["args"]) == ("mem", ["context", "--hook"])
        else:
            assert hook["command"] == "mem context --hook"
            assert "args" not in hook
        assert hook.get("type", "command") == "command", event
    entry = document(HOOKS[host])["hooks"].popitem()[1][0]
    assert ("hooks" in entry) is (host is not Host.CURSOR)


@each_host
def test_timeouts_are_plausible_in_the_unit_of_the_host(host: Host) -> None:
    second = 1_000 if host in MILLISECONDS else 1
    for event, hook in hooks(host).items():
        seconds = hook["timeout"] / second
        most = 5 if event in ("UserPromptSubmit", "beforeSubmitPrompt", "BeforeAgent") else 10
        if (host, event) == (Host.CODEX, "SessionEnd"):
            most = 3
        assert 2 <= seconds <= most, event
        assert isinstance(hook["timeout"], int)


def server(host: Host) -> dict[str, Any]:
    found = document(SERVERS[host])
    servers = found["mcp_servers" if host is Host.CODEX else "mcpServers"]
    assert list(servers) == ["mem"]
    one = servers["mem"]
    assert isinstance(one, dict)
    return one


@each_host
def test_the_server_is_ours(host: Host) -> None:
    assert server(host) == {"command": "mem", "args": ["serve"]}


def parsed(words: list[str]) -> dict[str, Any]:
    """What the command line makes of a command of `mem`; it is only parsed."""
    program, name, *rest = words
    assert program == "mem"
    built = app.built(app.definitions()[name])
    return dict(built.make_context(name, rest, parent=Context(built, info_name="mem")).params)


@each_host
def test_every_command_in_the_files_exists_and_parses(host: Host) -> None:
    for hook in hooks(host).values():
        assert parsed(str(command(hook)).split())["hook"] is True
    assert parsed(["mem", *server(host)["args"]])


@pytest.mark.parametrize("path", [ROOT / "README.md", PLUGIN / "README.md"], ids=["overview", "plugin"])
def test_every_command_in_the_texts_exists_and_parses(path: Path) -> None:
    named = re.findall(r"(?:`|-- )(mem [a-z][^`]*)`", path.read_text(encoding="utf-8"))
    assert "mem context --hook" in named
    assert "mem hooks install claude-code" in named
    for line in named:
        assert parsed(line.split())


def test_the_plugin_has_the_layout_that_claude_code_reads() -> None:
    market = document(ROOT / "claude-code" / ".claude-plugin" / "marketplace.json")
    assert market["name"] == "mem-local"
    assert market["owner"]["name"]
    (listed,) = market["plugins"]
    assert listed["source"].startswith("./")
    assert (ROOT / "claude-code" / listed["source"]).resolve() == PLUGIN.resolve()
    manifest = document(PLUGIN / ".claude-plugin" / "plugin.json")
    assert (manifest["name"], listed["name"]) == ("mem", "mem")
    # A plugin is updated when its version changes.
    assert manifest["version"] == mem.__version__
    assert [path.name for path in (PLUGIN / ".claude-plugin").iterdir()] == ["plugin.json"]
    assert len((PLUGIN / "README.md").read_text(encoding="utf-8").split()) >= 40
    assert set(document(PLUGIN / "hooks" / "hooks.json")) == {"description", "hooks"}
    assert f"mem@{market['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_files_go_into_the_wheel_where_they_are_looked_for() -> None:
    project = Path(mem.__file__).parent.parent / "pyproject.toml"
    targets = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["force-include"]["hooks"] == "mem/data/hooks"
    assert "/hooks" in targets["sdist"]["include"]
    assert shipped("hooks", "README.md").is_file()
