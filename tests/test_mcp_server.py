"""`mem serve` as a client meets it: the SDK's own client through a real process, in both protocol eras."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, Implementation, Tool

import mem
from mem.server.instructions import INSTRUCTIONS

ERAS = ("legacy", "2026-07-28")
SERVE = ("-m", "mem", "serve")
FACT = "The deploy key for staging rotates every 90 days"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "by-hand", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}

Call = tuple[str, dict[str, Any]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of the real user's; without the model, which takes a while to load, unless a test asks."""
    places = {"HOME": str(home), "MEM_HOME": str(home), "PYTHONPATH": str(Path(mem.__file__).parents[1])}
    return {"PATH": os.environ["PATH"], "MEM_MODEL": "none", "MEM_WORKER": "off", **places, **more}


def connect(home: Path, era: str, **more: str) -> Client:
    server = StdioServerParameters(
        command=sys.executable, args=list(SERVE), env=environment(home, **more), cwd=home
    )
    return Client(server, mode=era, client_info=Implementation(name="careful-host", version="1"))


def ask(home: Path, era: str, *calls: Call, **more: str) -> list[CallToolResult]:
    """The answers of one server to calls that follow each other."""

    async def conversation() -> list[CallToolResult]:
        async with connect(home, era, **more) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return anyio.run(conversation)


def command(code: str | None) -> tuple[str, ...]:
    """`mem serve`, or some code that changes the inside of `mem` first."""
    return SERVE if code is None else ("-c", f"{code}\nfrom mem.server.stdio import run; run()")


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def lines(messages: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(message) + "\n" for message in (INITIALIZE, INITIALIZED, *messages))


def pipe(
    home: Path, *messages: dict[str, Any], code: str | None = None, **more: str
) -> tuple[dict[int, Any], str]:
    """Write messages to a server and close its input; its answers by id, and its standard error."""
    done = subprocess.run(
        [sys.executable, *command(code)],
        input=lines(messages),
        env=environment(home, **more),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {answer["id"]: answer for answer in answers}, done.stderr


@contextmanager
def running(
    home: Path, *messages: dict[str, Any], code: str | None = None, **more: str
) -> Iterator[subprocess.Popen[str]]:
    """A server that has answered `initialize` and been sent some more."""
    process = subprocess.Popen(
        [sys.executable, *command(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home, **more),
        cwd=home,
        text=True,
    )
    with process:
        try:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(lines(messages))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == 0
            yield process
        finally:
            process.kill()


def next_answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def error(result: CallToolResult) -> dict[str, str]:
    assert result.is_error
    assert isinstance(result.structured_content, dict)
    found: dict[str, str] = result.structured_content["error"]
    return found


def text(result: CallToolResult) -> str:
    [block] = result.content
    assert block.type == "text"
    return block.text


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_are_listed_with_all_four_annotations(home: Path, era: str) -> None:
    async def conversation() -> tuple[str, list[Tool]]:
        async with connect(home, era) as client:
            return client.protocol_version, (await client.list_tools()).tools

    version, tools = anyio.run(conversation)
    assert version == ("2025-11-25" if era == "legacy" else era)
    assert {"store", "store-batch", "supersede", "recall", "get"} <= {tool.name for tool in tools}
    for tool in tools:
        assert tool.annotations is not None
        hints = tool.annotations
        assert None not in (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint)
        assert hints.open_world_hint is False
        assert len((tool.description or "").encode()) <= 2048


@pytest.mark.parametrize("era", ("legacy", "auto"))
def test_the_client_is_told_how_to_keep_the_memory(home: Path, era: str) -> None:
    async def conversation() -> str | None:
        async with connect(home, era) as client:
            return client.instructions

    assert anyio.run(conversation) == INSTRUCTIONS
    assert len(INSTRUCTIONS.encode()) <= 2048


@pytest.mark.parametrize("era", ERAS)
def test_a_fact_stored_over_mcp_is_recalled_by_its_meaning(home: Path, era: str) -> None:
    stored, found, nothing = ask(
        home,
        era,
        ("store", {"content": FACT, "importance": 7}),
        ("recall", {"query": "Wie oft wird der Schlüssel gewechselt?"}),
        ("recall", {"query": "best pizza in Naples"}),
        MEM_MODEL="bundled",
    )
    assert stored.structured_content["action"] == "added"
    assert stored.structured_content["vector"] == "stored"
    assert [hit["content"] for hit in found.structured_content["hits"]] == [FACT]
    assert not nothing.is_error
    assert nothing.structured_content["hits"] == []
    assert json.loads(text(found)) == found.structured_content
    assert f'"content":"{FACT}"' in text(found)


@pytest.mark.parametrize("era", ERAS)
def test_a_bad_argument_gets_an_error_that_says_what_to_do(home: Path, era: str) -> None:
    bound, choice, missing, none, unknown, counted = ask(
        home,
        era,
        ("store", {"content": FACT, "importance": 11}),
        ("store", {"content": FACT, "kind": "rumour"}),
        ("store", {}),
        ("get", {"ids": []}),
        ("store", {"content": FACT, "importanse": 7}),
        ("list", {}),
    )
    assert text(bound) == "importance must be from 0 to 10, not 11."
    assert "learning, decision, observation, summary" in text(choice)
    assert text(missing).startswith("store needs content. content: The text to remember")
    assert text(none).startswith("get needs ids. ids: Memories: number, UUID")
    assert "'importanse'" in text(unknown) and "Did you mean importance?" in text(unknown)
    assert {error(result)["code"] for result in (bound, choice, missing, none, unknown)} == {"usage"}
    assert counted.structured_content["total"] == 0


def test_what_is_for_people_and_shells_is_no_tool(home: Path) -> None:
    names = ("doctor", "config", "forget", "no-such-tool")
    for name, result in zip(names, ask(home, "legacy", *((name, {}) for name in names)), strict=True):
        assert error(result)["message"] == f"There is no tool '{name}'."
        assert "recall" in error(result)["hint"] and "doctor" not in error(result)["hint"]


def test_a_list_may_come_as_json_text_and_an_id_as_a_number(home: Path) -> None:
    stored, batch, got = ask(
        home,
        "legacy",
        ("store", {"content": FACT, "tag": '["deploy", "keys"]'}),
        ("store-batch", {"items": '[{"content": "one"}, {"content": "two"}]'}),
        ("get", {"ids": [1]}),
    )
    assert stored.structured_content["id"] == 1
    assert len(batch.structured_content["outcomes"]) == 2
    assert got.structured_content["memories"][0]["tags"] == ["deploy", "keys"]


def test_a_refused_store_is_an_answer_and_no_error(home: Path) -> None:
    _, archived, again = ask(
        home,
        "legacy",
        ("store", {"content": FACT}),
        ("archive", {"ids": ["1"], "reason": "the staging system is gone"}),
        ("store", {"content": FACT}),
    )
    assert archived.structured_content["action"] == "archived"
    assert not again.is_error
    assert again.structured_content["action"] == "refused"
    assert again.structured_content["refusal"]["reason"]


@pytest.mark.parametrize("era", ERAS)
def test_a_memory_keeps_the_client_that_stored_it(home: Path, era: str) -> None:
    _, got = ask(home, era, ("store", {"content": FACT}), ("get", {"ids": ["1"]}))
    assert got.structured_content["memories"][0]["client"] == "careful-host"


def test_the_project_is_the_one_that_the_client_works_in(home: Path, tmp_path: Path) -> None:
    git = tmp_path / "harbour" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    _, got = ask(
        home,
        "legacy",
        ("store", {"content": FACT}),
        ("get", {"ids": ["1"]}),
        CLAUDE_PROJECT_DIR=str(git.parent),
    )
    assert got.structured_content["memories"][0]["project"] == "harbour"


def test_calls_side_by_side_are_all_answered(home: Path) -> None:
    actions: list[str] = []

    async def store(client: Client, number: int) -> None:
        content = f"Berth {number} is kept for the pilot boat"
        result = await client.call_tool("store", {"content": content})
        actions.append(result.structured_content["action"])

    async def conversation() -> None:
        async with connect(home, "legacy", MEM_MODEL="bundled") as client, anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(store, client, number)

    anyio.run(conversation)
    assert actions == ["added"] * 12


def test_a_broken_store_is_a_readable_error_until_it_is_mended(home: Path) -> None:
    database = home / "memory.db"
    database.write_bytes(b"this is no database" * 1000)

    async def conversation() -> tuple[CallToolResult, CallToolResult]:
        async with connect(home, "legacy") as client:
            broken = await client.call_tool("stats", {})
            database.unlink()
            return broken, await client.call_tool("stats", {})

    broken, mended = anyio.run(conversation)
    assert error(broken)["code"] == "store_unusable"
    assert str(database) in error(broken)["message"] and error(broken)["hint"]
    assert not mended.is_error


def test_an_unforeseen_failure_tells_the_client_nothing_of_the_inside(home: Path) -> None:
    code = """
import mem.service
def stats(self, **arguments):
    raise RuntimeError("the inside")
mem.service.Service.stats = stats
"""
    answers, log = pipe(home, call(1, "stats"), call(2, "list"), code=code)
    result = answers[1]["result"]
    assert result["isError"]
    assert "the inside" not in json.dumps(result) and "Traceback" not in json.dumps(result)
    assert len(result["content"][0]["text"].splitlines()) == 1
    assert "RuntimeError: the inside" in log
    assert answers[2]["result"]["isError"] is False


def test_printing_inside_a_tool_cannot_corrupt_the_protocol(home: Path) -> None:
    code = """
import os, subprocess, mem.service
quiet = mem.service.Service.stats
def stats(self, **arguments):
    print("noise from python", flush=True)
    os.write(1, b"noise from below\\n")
    subprocess.run(["echo", "noise from a child"])
    return quiet(self, **arguments)
mem.service.Service.stats = stats
"""
    answers, log = pipe(home, call(1, "stats"), code=code)
    assert answers[1]["result"]["structuredContent"]["total"] == 0
    assert log.count("noise from") == 3


def test_what_was_asked_before_the_end_of_input_is_answered(home: Path) -> None:
    answers, log = pipe(home, call(1, "stats"), call(2, "list"))
    assert log == ""
    assert {number: "result" in answer for number, answer in answers.items()} == {0: True, 1: True, 2: True}


def test_half_a_character_is_refused_and_not_passed_over(home: Path) -> None:
    answers, _ = pipe(home, call(1, "store", content="half a smile: \ud83d"), call(2, "list"))
    assert "half a character" in answers[1]["error"]["message"]
    assert answers[2]["result"]["structuredContent"]["total"] == 0


OPENINGS = {
    "legacy": (INITIALIZE, INITIALIZED),
    "2026-07-28": (
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "tools/list",
            "params": {
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "by-hand", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            },
        },
    ),
}


def answers_to(home: Path, era: str, *raw: str) -> list[tuple[Any, int | None]]:
    """Each answer to some lines, as its id and its error's code, but for the first one's of the era."""
    opening = [json.dumps(message) for message in OPENINGS[era]]
    done = subprocess.run(
        [sys.executable, *SERVE],
        input="".join(f"{line}\n" for line in (*opening, *raw)),
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [("result" in answer) for answer in answers if answer["id"] == 0] == [True]
    rest = [answer for answer in answers if answer["id"] != 0]
    return [(answer["id"], answer.get("error", {}).get("code")) for answer in rest]


@pytest.mark.parametrize("era", ERAS)
def test_whatever_may_be_a_request_is_answered_once(home: Path, era: str) -> None:
    expected = {
        '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":5}': (9, -32602),
        '{"jsonrpc":"2.0","id":"ten","method":"tools/call","params":[]}': ("ten", -32602),
        '{"jsonrpc":"2.0","id":22,"method":5}': (22, -32600),
        '{"jsonrpc":"2.0","id":23}': (23, -32600),
        '{"id":24,"method":"tools/list"}': (24, -32600),
        '{"jsonrpc":"2.0","id":25,"method":5,"params":5}': (25, -32600),
        '{"jsonrpc":"2.0","id":26,"method":"tools/call","params":{"name":"\\ud83d"}}': (26, -32600),
        '{"jsonrpc":"2.0","id":true,"method":5}': (None, -32600),
        '{"jsonrpc":"2.0","id":"\\ud83d","method":"tools/list"}': (None, -32600),
        "{}": (None, -32600),
        "[]": (None, -32600),
        "null": (None, -32600),
        "5": (None, -32600),
        "this is not JSON": (None, -32700),
        "[" * 100_000: (None, -32700),
        # This one the SDK answers itself.
        '{"jsonrpc":"2.0","id":31,"method":"tools/call","params":{}}': (31, -32602),
    }
    told = answers_to(home, era, *expected)
    assert sorted(told, key=repr) == sorted(expected.values(), key=repr)


@pytest.mark.parametrize("era", ERAS)
def test_what_wants_no_answer_gets_none(home: Path, era: str) -> None:
    silent = (
        "",
        " ",
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"\\ud83d"}}',
        '{"jsonrpc":"2.0","id":3,"result":5}',
        '{"jsonrpc":"2.0","id":3,"error":5}',
        '{"jsonrpc":"2.0","id":3,"result":5,"error":5}',
    )
    assert answers_to(home, era, *silent, "{}") == [(None, -32600)]


BUSY = """
import time, mem.service
mem.service.Service.stats = lambda self, **arguments: time.sleep(60)
"""


@pytest.mark.parametrize("busy", (False, True))
def test_the_process_ends_within_two_seconds_of_the_end_of_input(home: Path, busy: bool) -> None:
    messages = [call(1, "stats")] if busy else []
    with running(home, *messages, call(2, "list"), code=BUSY) as process:
        assert next_answer(process)["id"] == 2
        assert process.stdin is not None
        began = time.monotonic()
        process.stdin.close()
        assert process.wait(timeout=10) == 0
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_a_signal_ends_the_server_even_while_a_tool_runs(home: Path, number: signal.Signals) -> None:
    with running(home, call(1, "stats"), call(2, "list"), code=BUSY) as process:
        assert next_answer(process)["id"] == 2
        process.send_signal(number)
        assert process.wait(timeout=2) == 128 + number
        assert process.stderr is not None and process.stderr.read() == ""


def test_the_store_is_closed_when_the_server_ends(home: Path) -> None:
    answers, _ = pipe(home, call(1, "store", content=FACT))
    assert answers[1]["result"]["structuredContent"]["action"] == "added"
    assert sorted(file.name for file in home.glob("memory.db*")) == ["memory.db"]


def test_a_model_that_does_not_load_holds_up_neither_the_handshake_nor_other_calls(home: Path) -> None:
    code = """
import time, mem.embed.local
mem.embed.local.LocalEmbedder.ready = lambda self: time.sleep(60)
mem.embed.local.LocalEmbedder.embed = lambda self, *texts: time.sleep(60)
"""
    messages = call(1, "store", content=FACT), call(2, "list")
    with running(home, *messages, code=code, MEM_MODEL="bundled") as process:
        assert next_answer(process)["id"] == 2
