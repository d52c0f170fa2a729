"""One definition, two front ends: each tool is its operation, and answers with the same document."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult, Implementation, Tool

import mem
from mem.caller import current_caller
from mem.cli import front_end
from mem.document import document, encode
from mem.operations import Doc, Operation, Panel, Parameter, operations
from mem.server import tools
from mem.server.calls import Calls
from mem.server.protocol import build
from mem.service import open_service
from mem.values import Layer

Call = tuple[str, dict[str, Any]]

ALL = list(operations())
OFFERED = [entry for entry in ALL if not (entry.people or entry.command_line_only)]

# One call of every tool, each on what the calls before it left.
CONVERSATION: list[Call] = [
    ("store", {"content": "The API listens on port 80", "kind": "decision", "title": "Port", "tag": ["api"]}),
    ("store", {"content": "the api listens on port 80.", "kind": "decision", "title": "port"}),
    ("store-batch", {"items": [{"content": "One berth is free"}, {"content": "x", "importance": 99}]}),
    ("update", {"id": "2", "importance": 8, "add_tag": ["berth"]}),
    ("supersede", {"ids": ["1"], "content": "The API listens on port 81", "valid_from": "2026-04-01"}),
    ("contradictions", {"all_projects": True}),
    ("archive", {"ids": ["2"], "reason": "taken"}),
    ("store", {"content": "One berth is free"}),
    ("restore", {"ids": ["2"]}),
    ("reject", {"ids": ["2"], "reason": "it was wrong"}),
    ("trust", {"ids": ["1", "3"], "state": "disputed", "reason": "who knows"}),
    ("recall", {"query": "which port does the API use?", "limit": 3}),
    ("trace", {}),
    ("why", {}),
    ("cite", {"trace": "0192f3a4-5b6c", "text": "The port is 81 [ #3 ], as in [1]"}),
    ("claude-memory", {"query": "port"}),
    ("profile", {"action": "set", "field": "language", "value": "British English"}),
    ("goal", {"action": "set", "text": "Ship the importer"}),
    ("get", {"ids": ["1", "3"]}),
    ("list", {"kind": ["decision"], "status": ["superseded"]}),
    ("history", {"id": "1"}),
    ("stats", {}),
    ("log", {"memory": ["1"], "operation": ["store"]}),
    ("maintain", {"dry_run": True}),
    ("export", {"file": "all.jsonl", "vectors": True}),
    ("import", {"source": "all.jsonl", "dry_run": True}),
    ("import", {"source": "all.jsonl"}),
    ("export", {"file": "all.jsonl", "format": "markdown", "kind": ["decision"]}),
    ("backup", {"keep": 3}),
    ("verify", {"file": "nothing.jsonl"}),
    ("backfill", {"dry_run": True}),
    ("migrate-vectors", {"to": "bundled", "dry_run": True}),
    ("reflect", {"days": 30, "limit": 3}),
    ("session-start", {}),
    ("context", {"query": "which port does the API use?", "budget": 300}),
    ("session-end", {"id": "1", "summary": "The API moved to port 81", "task": ["tell Ana"]}),
    ("sessions", {}),
    ("observe", {"entity": "Ana", "content": "prefers calls to mail", "type": "person", "tag": ["habit"]}),
    ("observe", {"entity": "ana", "content": "Prefers calls to mail."}),
    (
        "entity-set",
        {"entity": "billing", "type": "service", "alias": ["计费服务"], "summary": "Sends invoices"},
    ),
    ("relate", {"subject": "Ana", "relation": "maintains", "object": "billing", "valid_from": "2026-05-01"}),
    ("entity", {"entity": "计费服务", "depth": 2}),
    ("entities", {"query": "who prefers calls", "type": "person"}),
    ("unrelate", {"subject": "Ana", "relation": "maintains", "object": "billing"}),
    ("entity-merge", {"entity": "billing", "into": "Ana", "reason": "a slip"}),
    ("compress", {"days": 0, "dry_run": True}),
    ("extract-entities", {"limit": 2, "dry_run": True}),
]
# What differs between two stores that went through the same.
PASSING = re.compile(
    r'"\d{4}-\d\d-\d\dT[\d:.]+Z"|"[0-9a-f]{8}-[0-9a-f-]{27}"|"(?:store|wal)_bytes":\d+|"score":[\d.]+'
    r'|"[^"]*/backups/[^"]+"|"sha256:[0-9a-f]{64}"|"bytes":\d+'
)


@pytest.fixture(autouse=True)
def without_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("MEM_DB", "MEM_PROJECT", "MEM_ACTOR", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEM_MODEL", "none")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nothing.jsonl").write_text(
        '{"record":"header","format":"mem-export","version":1,"counts":{}}\n'
    )
    yield


def listed() -> dict[str, Tool]:
    async def conversation() -> list[Tool]:
        async with Client(build(Calls(None))) as client:
            return (await client.list_tools()).tools

    return {tool.name: tool for tool in anyio.run(conversation)}


def schema(entry: Operation) -> dict[str, Any]:
    return listed()[entry.name].input_schema


def for_agents(entry: Operation) -> list[Parameter]:
    return [parameter for parameter in entry.parameters if not parameter.doc.people]


def test_the_tools_are_the_operations_that_an_agent_may_call() -> None:
    assert list(listed()) == [entry.name for entry in OFFERED]
    assert "doctor" in {entry.name for entry in ALL} - set(listed())
    assert not {command.name for command in front_end.COMMANDS} & set(listed())


@pytest.mark.parametrize("entry", OFFERED, ids=lambda entry: entry.name)
def test_a_tool_says_of_itself_what_its_operation_says(entry: Operation) -> None:
    tool = listed()[entry.name]
    assert tool.description == entry.description
    assert tool.title
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is not entry.writes
    assert tool.annotations.destructive_hint is entry.destructive
    assert tool.annotations.idempotent_hint is entry.idempotent
    assert tool.annotations.open_world_hint is False


@pytest.mark.parametrize("entry", OFFERED, ids=lambda entry: entry.name)
def test_a_tool_takes_the_parameters_of_its_operation(entry: Operation) -> None:
    found = schema(entry)
    assert found["type"] == "object"
    assert found["additionalProperties"] is False
    assert list(found["properties"]) == [parameter.argument for parameter in for_agents(entry)]
    assert found["required"] == [parameter.argument for parameter in for_agents(entry) if parameter.required]
    for parameter in for_agents(entry):
        assert parameter.option == "--" + parameter.argument.replace("_", "-")
        described = found["properties"][parameter.argument]
        assert described["description"] == parameter.doc.text
        assert described.get("default") == plain(parameter.default)
        value = described["items"] if parameter.repeated else described
        assert (described["type"] == "array") is parameter.repeated
        assert value["type"] == parameter.shape
        assert value.get("minimum") == parameter.doc.minimum
        assert value.get("maximum") == parameter.doc.maximum
        offered = [choice for choice in parameter.choices or () if choice not in parameter.doc.reserved]
        assert value.get("enum") == (offered or None)


def plain(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else default


@pytest.mark.parametrize("entry", OFFERED, ids=lambda entry: entry.name)
def test_the_schema_is_json_schema_and_the_defaults_keep_to_it(entry: Operation) -> None:
    from jsonschema import Draft202012Validator

    found = json.loads(json.dumps(schema(entry)))
    Draft202012Validator.check_schema(found)
    for described in found["properties"].values():
        if "default" in described:
            Draft202012Validator(described).validate(described["default"])


def test_an_object_of_a_batch_takes_what_store_takes() -> None:
    by_name = {entry.name: entry for entry in OFFERED}
    items = schema(by_name["store-batch"])["properties"]["items"]
    alone = schema(by_name["store"])
    for described in alone["properties"].values():
        del described["description"]
    assert items["items"] == alone


def force(
    self: object,
    id: Annotated[str, Doc("The memory.")],
    *,
    layer: Annotated[Layer, Doc("How long.")] = Layer.WORKING,
    ratio: Annotated[float | None, Doc("How much.", minimum=0, maximum=1)] = None,
    force: Annotated[bool, Doc("Whatever the rules say.", people=True)] = False,
) -> None:
    """Force it."""


FORCE = Operation(force, "force", Panel.SETUP, (), True, True, False, False, False)


def test_a_parameter_for_people_is_not_in_the_schema() -> None:
    assert tools.input_schema(FORCE) == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The memory."},
            "layer": {
                "type": "string",
                "enum": ["working", "short_term", "long_term", "permanent"],
                "description": "How long.",
                "default": "working",
            },
            "ratio": {"type": "number", "minimum": 0, "maximum": 1, "description": "How much."},
        },
        "required": ["id"],
        "additionalProperties": False,
    }


def test_a_parameter_for_people_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find_tool", lambda name: FORCE)

    async def conversation() -> CallToolResult:
        async with Client(build(Calls(None))) as client:
            return await client.call_tool("force", {"id": "1", "force": True})

    refused = anyio.run(conversation)
    assert refused.is_error
    assert refused.structured_content["error"]["message"] == "force has no argument 'force'."


def test_every_tool_answers_with_the_document_of_the_service(tmp_path: Path) -> None:
    over_mcp = answers_over_mcp(tmp_path / "mcp.db", CONVERSATION)
    by_service = answers_of_the_service(tmp_path / "service.db", tmp_path)
    assert {name for name, _ in CONVERSATION} == {entry.name for entry in OFFERED}
    assert len(over_mcp) == len(CONVERSATION)
    for (name, _), there, here in zip(CONVERSATION, over_mcp, by_service, strict=True):
        assert PASSING.sub("…", there) == PASSING.sub("…", here), name


def test_the_command_line_prints_the_document_that_mcp_gives(tmp_path: Path) -> None:
    db = tmp_path / "shared.db"
    answers_over_mcp(db, CONVERSATION)
    reads: list[Call] = [("get", {"ids": ["1", "3"]}), ("history", {"id": "1"}), ("list", {}), ("stats", {})]
    for (name, arguments), over_mcp in zip(reads, answers_over_mcp(db, reads), strict=True):
        ids = arguments.get("ids", [arguments[key] for key in arguments])
        done = subprocess.run(
            [sys.executable, "-m", "mem", name, *ids, "--json"],
            env={**os.environ, "MEM_DB": str(db), "PYTHONPATH": str(Path(mem.__file__).parents[1])},
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )
        assert json.loads(done.stdout) == json.loads(over_mcp), name


def answers_over_mcp(db: Path, conversation: list[Call]) -> list[str]:
    """The structured answers, after a look that each is its text block as well."""

    async def talk() -> list[str]:
        calls = Calls(db)
        client = Client(build(calls), client_info=Implementation(name="parity", version="1"))
        found = []
        async with client:
            for name, arguments in conversation:
                result = await client.call_tool(name, arguments)
                [block] = result.content
                assert block.type == "text" and not result.is_error, block
                assert json.loads(block.text) == result.structured_content
                found.append(encode(result.structured_content).decode())
        calls.close()
        return found

    return anyio.run(talk)


def answers_of_the_service(db: Path, folder: Path) -> list[str]:
    alone = {"MEM_MODEL": "none", "MEM_HOME": os.environ["MEM_HOME"]}
    service = open_service(db, caller=current_caller(alone, folder).as_agent("parity"))
    by_name = {entry.name: entry for entry in OFFERED}
    found = []
    for name, arguments in CONVERSATION:
        method = getattr(service, by_name[name].method)
        found.append(encode(document(method(**by_name[name].bind(arguments, agent=True)))).decode())
    return found
