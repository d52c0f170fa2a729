"""The hosts that `mem` has hooks for, by name; apart, because the command line reads it on every call."""

from enum import StrEnum


class Host(StrEnum):
    """The hosts, as the command line names them."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    GEMINI = "gemini"

    @classmethod
    def _missing_(cls, value: object) -> "Host | None":
        """Arguments come with underscores."""
        name = value.replace("_", "-") if isinstance(value, str) else value
        return next((host for host in cls if host.value == name), None)
