"""The hosts: how each names its hook events, and the one JSON document that it takes for an answer.

|                   | Claude Code      | Codex            | Cursor             | Gemini CLI        |
|-------------------|------------------|------------------|--------------------|-------------------|
| known by          | nothing else     | `turn_id`        | CURSOR_VERSION     | GEMINI_SESSION_ID |
| a session begins  | SessionStart     | SessionStart     | sessionStart       | SessionStart      |
| a prompt          | UserPromptSubmit | UserPromptSubmit | beforeSubmitPrompt | BeforeAgent       |
| before compaction | PreCompact       | PreCompact       | preCompact         | PreCompress       |
| after it          | PostCompact      | PostCompact      |                    |                   |
| a session ends    | SessionEnd       | SessionEnd       | sessionEnd         | SessionEnd        |

Cursor takes text for the model as `additional_context`, the others as `hookSpecificOutput.additionalContext`.

Events are untrusted: whatever is not of the expected type counts as absent.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

_LONGEST_NAME = 200  # characters of a session's name


class Host(StrEnum):
    """The hosts, by the name under which their sessions and memories are kept."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    GEMINI = "gemini-cli"


class Moment(StrEnum):
    """What happens in a host, whatever it calls it."""

    SESSION_START = "session-start"
    PROMPT = "prompt"
    PRE_COMPACT = "pre-compact"
    POST_COMPACT = "post-compact"
    SESSION_END = "session-end"


class Start(StrEnum):
    """Why a session begins."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"
    COMPACT = "compact"
    FORK = "fork"


_MOMENTS = {
    "SessionStart": Moment.SESSION_START,
    "sessionStart": Moment.SESSION_START,
    "UserPromptSubmit": Moment.PROMPT,
    "beforeSubmitPrompt": Moment.PROMPT,
    "BeforeAgent": Moment.PROMPT,
    "PreCompact": Moment.PRE_COMPACT,
    "preCompact": Moment.PRE_COMPACT,
    "PreCompress": Moment.PRE_COMPACT,
    "PostCompact": Moment.POST_COMPACT,
    "SessionEnd": Moment.SESSION_END,
    "sessionEnd": Moment.SESSION_END,
}
# Claude Code sends prompts of its own; only these come from somebody who asks.
_TYPED = ("", "user", "sdk")


@dataclass(frozen=True, slots=True)
class Event:
    """One event of one host, as far as it can be believed."""

    host: Host
    moment: Moment
    name: str
    session: str
    folder: Path | None
    start: Start = Start.STARTUP
    prompt: str = ""
    summary: object = None
    transcript: object = None
    reason: str = "other"


def read(stdin: bytes, environment: Mapping[str, str]) -> Event | None:
    """The event that a host wrote; None for one that asks nothing of us, and for what is no event."""
    try:
        given = json.loads(stdin.decode("utf-8-sig", "replace")) if stdin.strip() else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    name = _text(given, "hook_event_name")
    moment = _MOMENTS.get(name)
    session = _text(given, "conversation_id") or _text(given, "session_id")
    # What happens in a subagent is not said by the user; its context is its own.
    if moment is None or not session or len(session) > _LONGEST_NAME or _text(given, "agent_id"):
        return None
    source = _text(given, "source")
    return Event(
        host=_host(given, name, environment),
        moment=moment,
        name=name,
        session=session,
        folder=_folder(given, environment),
        start=Start(source) if source in tuple(Start) else Start.STARTUP,
        prompt=_text(given, "prompt") if moment is not Moment.PROMPT or source in _TYPED else "",
        summary=given.get("compact_summary"),
        transcript=given.get("transcript_path"),
        reason=(_text(given, "reason") or "other")[:_LONGEST_NAME],
    )


def envelope(event: Event, text: str) -> bytes:
    """A text for the model in the form in which the host takes it."""
    match event.host, event.moment:
        case _, Moment.PRE_COMPACT:
            # Plain output goes into the summariser's instructions; a JSON string is plain for the host, and
            # still one JSON document.
            answer: Any = text
        case Host.CURSOR, Moment.PROMPT:
            answer = {"continue": True, "additional_context": text}
        case Host.CURSOR, _:
            answer = {"additional_context": text}
        case _:
            answer = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}}
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def _host(given: Mapping[str, Any], name: str, environment: Mapping[str, str]) -> Host:
    if environment.get("CURSOR_VERSION") or "cursor_version" in given or name[:1].islower():
        return Host.CURSOR
    if environment.get("GEMINI_SESSION_ID") or name in ("BeforeAgent", "PreCompress"):
        return Host.GEMINI
    claude = environment.get("CLAUDECODE") or environment.get("CLAUDE_CODE_SESSION_ID")
    if "model" in given and ("turn_id" in given or not claude):
        return Host.CODEX
    return Host.CLAUDE_CODE


def _folder(given: Mapping[str, Any], environment: Mapping[str, str]) -> Path | None:
    """Where the session belongs: the project's folder as the host knows it, before where it works now."""
    roots = given.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    named = [environment.get(f"{host}_PROJECT_DIR", "") for host in ("CLAUDE", "CURSOR", "GEMINI")]
    for candidate in (*named, _text(given, "cwd"), first):
        if candidate.startswith(("/", "\\")) or candidate[1:3] in (":\\", ":/"):
            return Path(candidate)
    return None


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    return value.replace("\0", "").encode("utf-8", "ignore").decode() if isinstance(value, str) else ""
