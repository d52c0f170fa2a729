"""A host that calls the hook, for the tests of hooks: its events, and what it makes of the answers."""

import json
import os
from pathlib import Path

from mem.caller import Caller
from mem.context import hooks
from mem.context.block import units
from mem.context.fence import CLOSING, OPENING
from mem.service import Service
from mem.values import Actor, ActorKind, Mode

FACTS = (
    "The harbour office opens at seven in the morning",
    "Deploys of the ferry service go out on Tuesday",
    "The staging database password rotates every 90 days",
    "Anna reviews everything that touches billing",
    "Tide tables are cached in Redis for six hours",
    "parse_tide_row drops rows without a station id",
    "We chose Postgres over MySQL because of row level security",
)
QUESTION = "at what time in the morning does the harbour office open?"
OFF_TOPIC = "write a short poem about the colour of autumn leaves"
SUMMARY = "We moved the tide tables from Redis to Postgres and left the load test for later."
CLAUDE = {"CLAUDECODE": "1"}
BEFORE = {"session_id": "s1", "transcript_path": None, "cwd": "/home/me/app"}


class Host:
    """A host that calls the hook in process, with events of its own form."""

    def __init__(self, service: Service, environment: dict[str, str], mode: Mode = Mode.LEXICAL) -> None:
        home = {name: os.environ[name] for name in ("MEM_HOME", "HOME")}
        self.service = service
        self.environment = {**home, **environment}
        self.mode = mode

    def raw(self, event: object) -> bytes:
        """The bytes for an event, whatever it is."""
        stdin = event if isinstance(event, bytes) else json.dumps(event).encode()
        caller = Caller(Actor(ActorKind.PERSON), Path.cwd(), environment=self.environment)
        return hooks.respond(stdin, caller, self.service.notes.of, mode=self.mode)

    def says(self, name: str, session: str = "s1", **fields: object) -> str:
        """The text for the model; empty where not a byte came."""
        told = self.raw({"hook_event_name": name, "session_id": session, "cwd": str(Path.cwd()), **fields})
        if not told:
            return ""
        answer = json.loads(told)
        assert list(answer) == ["hookSpecificOutput"]
        assert list(answer["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
        assert answer["hookSpecificOutput"]["hookEventName"] == name
        text = answer["hookSpecificOutput"]["additionalContext"]
        assert text.startswith(OPENING) and text.endswith(CLOSING) and units(text) <= 9500
        return str(text)

    def asks(self, prompt: str, session: str = "s1", **fields: object) -> str:
        """The text for a prompt."""
        return self.says("UserPromptSubmit", session, prompt=prompt, **fields)


def knowing(memory: Service) -> Host:
    """Claude Code, over a store that knows the facts."""
    assert all(memory.store(fact).id for fact in FACTS)
    return Host(memory, CLAUDE)


def compacted(text: str = SUMMARY, **fields: object) -> dict[str, object]:
    """A transcript line with a compact summary, as Claude Code writes it."""
    said = (
        "This session is being continued from a previous conversation that ran out of context. "
        f"Summary:\n{text}\n\nIf you need specific details from before, read the full transcript at: /x.jsonl"
    )
    message = {"role": "user", "content": said}
    return {"type": "user", "isCompactSummary": True, "message": message, **fields}


def transcript(folder: Path, *lines: object) -> str:
    """A transcript with these lines."""
    path = folder / "transcript.jsonl"
    written = (line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in lines)
    path.write_text("".join(f"{line}\n" for line in written))
    return str(path)
