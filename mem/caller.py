"""Who asks, and from where: read from the environment once at the edge, handed to the service as a value."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mem.values import Actor, ActorKind

# What the hosts set in the shells that their agents use.
AGENT_VARIABLES = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "GEMINI_CLI")


@dataclass(frozen=True, slots=True)
class Caller:
    """The actor of a call, its folder, its environment, and the project that this names.

    A deadline counts from `began`, an instant of `time.monotonic`, or else from where the call comes in.
    `stdin` is what was read of the caller's standard input before; None while it can still be read. After
    `waits_until`, such an instant too, only vectors that are at hand are used; None: as the embedder has it.
    """

    actor: Actor
    folder: Path
    project: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    began: float | None = None
    stdin: bytes | None = field(default=None, repr=False)
    waits_until: float | None = None

    @property
    def is_person(self) -> bool:
        return self.actor.kind is ActorKind.PERSON

    def as_agent(self, client: str | None) -> "Caller":
        """The same caller as an MCP client's agent."""
        # The standard input of a server is its protocol.
        return replace(self, actor=Actor(ActorKind.AGENT, client, self.actor.session), stdin=b"")


def current_caller(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Caller:
    """The caller that a process's environment describes."""
    variables = os.environ if environment is None else environment
    return Caller(
        actor=Actor(
            _kind(variables),
            client="claude-code" if variables.get("CLAUDECODE") else variables.get("MEM_CLIENT") or None,
            session=variables.get("CLAUDE_CODE_SESSION_ID") or None,
        ),
        folder=folder or _folder(),
        project=variables.get("MEM_PROJECT") or None,
        environment=variables,
    )


def _kind(variables: Mapping[str, str]) -> ActorKind:
    named = variables.get("MEM_ACTOR", "").casefold()
    if named in tuple(ActorKind) and named != ActorKind.PERSON:
        return ActorKind(named)
    return ActorKind.AGENT if any(variables.get(name) for name in AGENT_VARIABLES) else ActorKind.PERSON


def _folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        # The folder is gone. Another one, even the home, may lie in a repository that this call has nothing
        # to do with.
        return Path("/")
