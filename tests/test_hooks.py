"""The hooks: what each host gets for each event of a session, and what none of them ever gets."""

import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_host import (
    BEFORE,
    CLAUDE,
    FACTS,
    OFF_TOPIC,
    QUESTION,
    SUMMARY,
    Host,
    compacted,
    knowing,
    transcript,
)

from mem.caller import Caller
from mem.context import failures, hooks, hosts, shown
from mem.context.fence import OPENING
from mem.service import Service
from mem.store.events import unit_of_work
from mem.store.settings import GOAL, write
from mem.values import Actor, ActorKind, Kind, Layer, Mode


@pytest.fixture
def claude(memory: Service) -> Host:
    """Claude Code, over a store that knows the facts."""
    return knowing(memory)


# Every event of every host: what comes in, what goes out. N stands for the notes.

CURSOR = {
    "conversation_id": "s1",
    "generation_id": "g",
    "cursor_version": "3.20.17",
    "workspace_roots": ["/home/me/app"],
}
SPECIFIC: Callable[[str], dict[str, Any]] = lambda name: {  # noqa: E731
    "hookSpecificOutput": {"hookEventName": name, "additionalContext": "N"}
}
TABLE: list[tuple[str, dict[str, str], dict[str, object], object]] = [
    *(
        (
            "claude-code",
            CLAUDE,
            {**BEFORE, "hook_event_name": "SessionStart", "source": source},
            SPECIFIC("SessionStart"),
        )
        for source in ("startup", "resume", "clear", "compact", "fork", "invented")
    ),
    (
        "claude-code",
        CLAUDE,
        {**BEFORE, "hook_event_name": "UserPromptSubmit", "prompt": QUESTION},
        SPECIFIC("UserPromptSubmit"),
    ),
    ("claude-code", CLAUDE, {**BEFORE, "hook_event_name": "UserPromptSubmit", "prompt": OFF_TOPIC}, None),
    ("claude-code", CLAUDE, {**BEFORE, "hook_event_name": "PreCompact", "trigger": "auto"}, "steer"),
    (
        "claude-code",
        CLAUDE,
        {**BEFORE, "hook_event_name": "PostCompact", "compact_summary": f"<summary>{SUMMARY}</summary>"},
        None,
    ),
    ("claude-code", CLAUDE, {**BEFORE, "hook_event_name": "SessionEnd", "reason": "other"}, None),
    ("claude-code", CLAUDE, {**BEFORE, "hook_event_name": "SubagentStop", "agent_type": ""}, None),
    ("claude-code", CLAUDE, {**BEFORE, "hook_event_name": "Stop", "stop_hook_active": False}, None),
    (
        "codex",
        {},
        {**BEFORE, "hook_event_name": "SessionStart", "source": "startup", "model": "m"},
        SPECIFIC("SessionStart"),
    ),
    (
        "codex",
        CLAUDE,
        {**BEFORE, "hook_event_name": "UserPromptSubmit", "prompt": QUESTION, "model": "m", "turn_id": "1"},
        SPECIFIC("UserPromptSubmit"),
    ),
    ("codex", {}, {**BEFORE, "hook_event_name": "PreCompact", "model": "m", "turn_id": "1"}, None),
    ("codex", {}, {**BEFORE, "hook_event_name": "SessionEnd", "model": "m"}, None),
    (
        "cursor",
        {"CURSOR_VERSION": "3.20.17"},
        {**CURSOR, "hook_event_name": "sessionStart"},
        {"additional_context": "N"},
    ),
    (
        "cursor",
        {},
        {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": QUESTION},
        {"continue": True, "additional_context": "N"},
    ),
    ("cursor", {}, {**CURSOR, "hook_event_name": "preCompact"}, None),
    ("cursor", {}, {**CURSOR, "hook_event_name": "sessionEnd", "reason": "done"}, None),
    (
        "gemini-cli",
        {"GEMINI_SESSION_ID": "s1"},
        {**BEFORE, "hook_event_name": "SessionStart", "source": "startup", "timestamp": "t"},
        SPECIFIC("SessionStart"),
    ),
    (
        "gemini-cli",
        {},
        {**BEFORE, "hook_event_name": "BeforeAgent", "prompt": QUESTION},
        SPECIFIC("BeforeAgent"),
    ),
    ("gemini-cli", {}, {**BEFORE, "hook_event_name": "PreCompress", "trigger": "auto"}, None),
    ("gemini-cli", {"GEMINI_SESSION_ID": "s1"}, {**BEFORE, "hook_event_name": "SessionEnd"}, None),
]


@pytest.mark.parametrize(
    ("client", "environment", "event", "expected"),
    TABLE,
    ids=[
        f"{client}-{event['hook_event_name']}-{number}" for number, (client, _, event, _) in enumerate(TABLE)
    ],
)
def test_each_host_gets_the_answer_that_it_takes(
    claude: Host, client: str, environment: dict[str, str], event: dict[str, object], expected: object
) -> None:
    told = Host(claude.service, environment).raw(event)
    assert hosts._host(event, str(event["hook_event_name"]), environment) == client
    if expected is None:
        assert told == b""
    elif expected == "steer":
        steer = json.loads(told)
        assert isinstance(steer, str) and 0 < len(steer) < 300
    else:
        answer = json.loads(told)
        text = (answer.get("hookSpecificOutput") or answer).get("additionalContext") or answer.get(
            "additional_context"
        )
        assert text.startswith(OPENING) and any(fact in text for fact in FACTS)
        assert json.loads(json.dumps(answer).replace(json.dumps(text), '"N"')) == expected


BAD: list[bytes] = [
    b"",
    b" \n",
    b"[]",
    b"null",
    b"7",
    b'"SessionStart"',
    b'{"cwd":null}',
    b"{",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"hook_event_name":"UserPromptSubmit"}',
    b'{"hook_event_name":"UserPromptSubmit","session_id":7,"prompt":"x"}',
    b'{"hook_event_name":["SessionStart"],"session_id":"s1"}',
    b'{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":{"a":1}}',
    b'{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":"\\ud800\\u0000"}',
    b'{"hook_event_name":"SessionStart","session_id":"' + b"x" * 300 + b'"}',
    b'{"hook_event_name":"SessionEnd","session_id":"never seen"}',
    b'{"hook_event_name":"PostCompact","session_id":"s1","compact_summary":["x"]}',
    b'{"hook_event_name":"UserPromptSubmit","session_id":"s1","agent_id":"a","prompt":"%s"}'
    % QUESTION.encode(),
]


@pytest.mark.parametrize("stdin", BAD, ids=range(len(BAD)))
def test_what_is_no_event_gets_not_a_byte(claude: Host, stdin: bytes) -> None:
    assert claude.asks(QUESTION, "another")
    assert claude.raw(stdin) == b""


def test_an_event_may_begin_with_a_byte_order_mark(claude: Host) -> None:
    event = {**BEFORE, "hook_event_name": "UserPromptSubmit", "prompt": QUESTION}
    assert claude.raw(b"\xef\xbb\xbf" + json.dumps(event).encode())


# A session from start to end


def test_a_replayed_session_gets_what_fits_and_nothing_twice(real_memory: Service, tmp_path: Path) -> None:
    for fact in FACTS:
        real_memory.store(fact)
    host = Host(real_memory, CLAUDE, Mode.HYBRID)
    wanted = {
        "on which day do we deploy the ferry service?": FACTS[1],
        OFF_TOPIC: None,
        "how often is the password of the staging database changed?": FACTS[2],
        "translate the phrase good evening into Finnish": None,
        "for how long are the tide tables cached?": FACTS[4],
    }
    for number in range(12):  # newer ones, so that the first block does not hold the answers already
        real_memory.store(f"Buoy {number} was painted green")
    begun = host.says("SessionStart", source="startup")
    assert "Buoy 11" in begun and not any(fact in begun for fact in wanted.values() if fact)
    for prompt, fact in wanted.items():
        told = host.asks(prompt)
        told_facts = [known for known in FACTS if known in told]
        assert told_facts == ([fact] if fact else []), prompt
        assert host.asks(prompt) == ""
    path = transcript(tmp_path, {"type": "user", "message": {"content": "hello"}}, compacted())
    after = host.says("SessionStart", source="compact", transcript_path=path)
    assert "Buoy 11" in after and "load test" not in after
    host.says(
        "PostCompact",
        trigger="auto",
        compact_summary=f"<analysis>hm</analysis><summary>\n{SUMMARY}\n</summary>",
    )
    host.says("SessionEnd", reason="other")
    [session] = real_memory.sessions().sessions
    assert (session.client, session.host_session, session.end_reason) == ("claude-code", "s1", "other")
    real_memory.store("Stored in between", importance=9)
    assert host.says("SessionStart", source="resume") == after
    kept = real_memory.list_(kind=[Kind.SUMMARY])
    assert [one.content for one in kept.memories] == [SUMMARY]
    hits = real_memory.recall("what did we do with the tide tables?").hits
    assert kept.memories[0].id in [hit.memory.id for hit in hits]


def test_a_session_belongs_to_the_host_and_the_project_of_its_event(claude: Host, tmp_path: Path) -> None:
    for name in ("farm", "harbour"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "farm" / "barn").mkdir()
    claude.says("SessionStart", "a", cwd=str(tmp_path / "farm" / "barn"))
    claude.environment["CLAUDE_PROJECT_DIR"] = str(tmp_path / "harbour")
    claude.says("SessionStart", "b", cwd=str(tmp_path / "farm"))
    found = claude.service.sessions(all_projects=True).sessions
    assert [(one.host_session, one.project, one.client) for one in found] == [
        ("b", "harbour", "claude-code"),
        ("a", "farm", "claude-code"),
    ]


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_resumed_session_gets_its_last_block_again_whatever_came_since(claude: Host, source: str) -> None:
    begun = claude.says("SessionStart", source="startup")
    claude.service.store("Something new and important", importance=10)
    assert claude.says("SessionStart", source=source) == begun
    assert claude.says("SessionStart", source="startup") != begun


def change(memory: Service, how: str, number: str) -> None:
    match how:
        case "archive":
            memory.archive([number])
        case "supersede":
            memory.supersede([number], content="The harbour office opens at eight")
        case "end":
            memory.supersede([number], ended=True)
        case "update":
            memory.update(number, content="The harbour office opens at six")
        case "move":
            memory.update(number, project="harbour")


@pytest.mark.parametrize("how", ["archive", "supersede", "end", "update", "move"])
def test_a_corrected_note_does_not_come_back_with_a_resumed_session(memory: Service, how: str) -> None:
    number = memory.store(FACTS[0]).id
    host = Host(memory, CLAUDE)
    begun = host.says("SessionStart", source="startup")
    assert f"{FACTS[0]}\n" in begun
    change(memory, how, str(number))
    again = host.says("SessionStart", source="resume")
    assert again != begun and f"{FACTS[0]}\n" not in again


def test_a_changed_goal_makes_a_new_block_for_a_resumed_session(claude: Host) -> None:
    def aim(goal: str) -> None:
        with unit_of_work(claude.service._store, "goal", Actor(ActorKind.PERSON)) as unit:
            write(unit, GOAL, None, goal)

    aim("Ship the harbour map")
    begun = claude.says("SessionStart", source="startup")
    assert claude.says("SessionStart", source="resume") == begun
    aim("Ship the tide tables")
    again = claude.says("SessionStart", source="resume")
    assert "tide tables\n" in again and "harbour map" not in again


def test_a_restated_note_leaves_the_block_as_it_was(memory: Service) -> None:
    memory.store(FACTS[0])
    host = Host(memory, CLAUDE)
    begun = host.says("SessionStart", source="startup")
    assert memory.store(FACTS[0], tag=["more"]).action == "already_known"
    assert host.says("SessionStart", source="resume") == begun


def test_after_a_compaction_what_was_shown_before_may_be_shown_again(claude: Host) -> None:
    assert FACTS[0] in claude.asks(QUESTION)
    for number in range(9):
        claude.service.store(f"Buoy {number} was painted green")
    assert FACTS[0] not in claude.says("SessionStart", source="compact")
    assert FACTS[0] in claude.asks(QUESTION)


def test_an_empty_store_has_nothing_to_say(memory: Service) -> None:
    host = Host(memory, CLAUDE)
    assert host.says("SessionStart", source="startup") == ""
    assert host.asks(QUESTION) == ""


def test_each_event_is_written_down_as_the_hook_s(claude: Host) -> None:
    claude.says("SessionStart", source="startup")
    claude.says("PostCompact", compact_summary=f"<summary>{SUMMARY}</summary>")
    [kept] = claude.service.list_(kind=[Kind.SUMMARY]).memories
    [change] = claude.service.history(str(kept.id)).changes
    assert (change.actor, kept.client, kept.source) == ("hook", "claude-code", "claude-code:compact")
    assert (kept.layer, kept.session) == (Layer.LONG_TERM, claude.service.sessions().sessions[0].uid)


# What is kept of a session


def test_what_a_session_was_shown_is_kept_private_and_for_a_month(claude: Host, home: Path) -> None:
    for session in ("a", "b"):
        claude.asks(QUESTION, session)
    kept = sorted((home / "state" / "sessions").iterdir())
    assert len(kept) == 2
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in kept)
    assert stat.S_IMODE(kept[0].parent.stat().st_mode) == 0o700
    month = time.time() - 31 * 24 * 3600
    os.utime(kept[0], (month, month))
    claude.says("SessionStart", "c", source="startup")
    assert not kept[0].exists() and kept[1].exists()


def test_the_state_of_a_session_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "sessions" / "x.json"
    shown.save(file, shown.Shown().with_ids(tuple(range(5000))))
    assert shown.load(file).ids == tuple(range(4000, 5000))
    file.write_bytes(b"[" * 10_000_000)
    assert shown.load(file) == shown.Shown()


def test_who_cannot_write_down_what_it_says_says_nothing(claude: Host, home: Path) -> None:
    home.joinpath("state").write_text("in the way")
    assert claude.asks(QUESTION) == ""
    assert claude.says("SessionStart", source="startup") == ""


def test_failures_are_logged_without_the_text_of_prompts(claude: Host, home: Path) -> None:
    class Broken:
        def __call__(self, caller: Caller) -> Any:
            raise OSError("the disk is on fire")

    event = {**BEFORE, "hook_event_name": "UserPromptSubmit", "prompt": QUESTION}
    caller = Caller(Actor(ActorKind.PERSON), Path.cwd(), environment=claude.environment)
    assert hooks.respond(json.dumps(event).encode(), caller, Broken()) == b""
    log = home / "state" / "hook.log"
    assert log.read_text().endswith(" UserPromptSubmit OSError: the disk is on fire\n")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_the_log_stays_small_and_keeps_what_is_newest(tmp_path: Path) -> None:
    for number in range(1200):
        failures.record(tmp_path, "SessionStart", ValueError(f"{number} " + "x" * 400))
    log = tmp_path / "hook.log"
    assert log.stat().st_size <= 256 * 1024
    assert all(" SessionStart ValueError: " in line for line in log.read_text().splitlines())
    assert " 1199 x" in log.read_text() and " 0 x" not in log.read_text()


@pytest.mark.parametrize("variable", [{"MEM_HOOK_ACTIVE": "1"}, {"CLAUDE_CODE_ENTRYPOINT": "mem"}])
def test_a_hook_within_a_hook_is_silent(claude: Host, variable: dict[str, str]) -> None:
    claude.environment |= variable
    assert claude.asks(QUESTION) == ""
    assert claude.says("SessionStart", source="startup") == ""
    assert claude.service.sessions().total == 0
