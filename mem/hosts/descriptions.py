"""The hosts that `mem` has hooks for: where each keeps its settings, and the shape of a hook in them.

|             | settings                                      | a hook                | timeouts     |
|-------------|-----------------------------------------------|-----------------------|--------------|
| claude-code | settings.json in CLAUDE_CONFIG_DIR, ~/.claude | in a group, exec form | seconds      |
| codex       | hooks.json in CODEX_HOME, ~/.codex            | in a group, one line  | seconds      |
| cursor      | hooks.json in ~/.cursor                       | in the event's list   | seconds      |
| gemini      | settings.json in GEMINI_CLI_HOME, ~, .gemini/ | in a group, one line  | milliseconds |

The files in `hooks/` hold the same entries, with `mem` instead of a path; a test compares them.
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, assert_never

from mem.hosts.host import Host
from mem.paths import expanded

ARGUMENTS = ("context", "--hook")
# `mem` by whatever path, or a module of that name, with our arguments somewhere behind it.
_OURS = re.compile(r"""(?:^|[\s/\\"'])mem(?:\.exe)?["']?\s+context\s+(?:.*\s)?--hook(?:\s|$)""", re.DOTALL)


class Shape(StrEnum):
    """How a host writes a command hook."""

    EXEC = "exec"  # in a group: the program, and its arguments apart, so that no shell is needed
    SHELL = "shell"  # in a group: one line for a shell
    FLAT = "flat"  # one line for a shell, in the list of the event itself


@dataclass(frozen=True, slots=True)
class Description:
    """What there is to know of a host's hooks.

    `places` are variables that may name a folder, with the path from there to the settings; the first that
    is set counts. `events` are the host's names with the seconds that each hook may take, `second` is one
    second in the host's unit. `members` must stand at the top of the file beside the hooks; `after` is
    what is left to do once they are in.
    """

    places: tuple[tuple[str, str], ...]
    file: str
    shape: Shape
    events: Mapping[str, int]
    second: int = 1
    members: tuple[tuple[str, Any], ...] = ()
    after: str = "Where it runs already, start it anew."

    def folder(self, environment: Mapping[str, str]) -> Path:
        """Where the host keeps its settings for a user of that environment."""
        for variable, path in self.places:
            if environment.get(variable):
                return expanded(environment[variable], environment) / path
        return expanded(f"~/{self.places[-1][1]}", environment)

    def settings(self, environment: Mapping[str, str]) -> Path:
        """The file that holds the hooks of that user."""
        return self.folder(environment) / self.file

    def entries(self, program: Sequence[str]) -> dict[str, Any]:
        """What belongs into the list of each event, so that the host runs this program."""
        return {event: self._entry(program, seconds * self.second) for event, seconds in self.events.items()}

    def _entry(self, program: Sequence[str], timeout: int) -> dict[str, Any]:
        words = [*program, *ARGUMENTS]
        match self.shape:
            case Shape.EXEC:
                hook = {"type": "command", "command": words[0], "args": words[1:], "timeout": timeout}
                return {"hooks": [hook]}
            case Shape.SHELL:
                return {"hooks": [{"type": "command", "command": _line(words), "timeout": timeout}]}
            case Shape.FLAT:
                return {"command": _line(words), "timeout": timeout}
            case _:
                assert_never(self.shape)


def command(hook: Any) -> str | None:
    """The command of a hook of ours in words, whatever the path and the options; None for any other value."""
    if not isinstance(hook, dict) or not isinstance(hook.get("command"), str):
        return None
    given = hook.get("args")
    arguments = [word for word in given if isinstance(word, str)] if isinstance(given, list) else []
    line = " ".join([hook["command"], *arguments])
    return line if _OURS.search(line) else None


def _line(words: Sequence[str]) -> str:
    """The words as a shell reads them."""
    if os.name == "nt":
        import subprocess

        return subprocess.list2cmdline(words)
    return shlex.join(words)


# The prompt waits for its hook; the others run where a little more time does not hurt.
DESCRIPTIONS: Mapping[Host, Description] = {
    Host.CLAUDE_CODE: Description(
        places=(("CLAUDE_CONFIG_DIR", ""), ("HOME", ".claude")),
        file="settings.json",
        shape=Shape.EXEC,
        events={
            "SessionStart": 10,
            "UserPromptSubmit": 5,
            "PreCompact": 10,
            "PostCompact": 10,
            "SessionEnd": 10,  # without one here, all hooks of this event share a second and a half
        },
    ),
    Host.CODEX: Description(
        places=(("CODEX_HOME", ""), ("HOME", ".codex")),
        file="hooks.json",
        shape=Shape.SHELL,
        events={
            "SessionStart": 10,
            "UserPromptSubmit": 5,
            "PreCompact": 10,
            "PostCompact": 10,
            "SessionEnd": 3,  # the most that Codex grants this event
        },
        after="Codex runs new hooks only once you trust them: type /hooks there.",
    ),
    Host.CURSOR: Description(
        places=(("HOME", ".cursor"),),
        file="hooks.json",
        shape=Shape.FLAT,
        events={"sessionStart": 10, "beforeSubmitPrompt": 5, "preCompact": 10, "sessionEnd": 10},
        members=(("version", 1),),
    ),
    Host.GEMINI: Description(
        places=(("GEMINI_CLI_HOME", ".gemini"), ("HOME", ".gemini")),
        file="settings.json",
        shape=Shape.SHELL,
        events={"SessionStart": 10, "BeforeAgent": 5, "PreCompress": 10, "SessionEnd": 10},
        second=1_000,
    ),
}
