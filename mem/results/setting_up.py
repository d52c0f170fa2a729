"""The worker, settings, checks and hooks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class WorkerState(StrEnum):
    """Whether there is a warm worker."""

    RUNNING = "running"
    NOT_RUNNING = "not_running"
    NOT_ANSWERING = "not_answering"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The warm worker of a store: its process, its model, what it counted; `away` is why none is started."""

    state: WorkerState
    store: str
    pid: int | None = None
    version: str | None = None
    model: str | None = None
    model_state: str | None = None
    uptime_seconds: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    away: str | None = None

    @property
    def exit_status(self) -> int:
        return 1 if self.state is WorkerState.NOT_ANSWERING else 0


@dataclass(frozen=True, slots=True)
class Setting:
    """A configuration key with its value in force and where that came from."""

    key: str
    value: Any
    origin: str
    description: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings asked for, and the file that holds them."""

    path: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that `doctor` looked at."""

    name: str
    ok: bool
    detail: str
    hint: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `doctor` found. Not sound: exit status 1."""

    sound: bool
    checks: tuple[Check, ...]

    @property
    def exit_status(self) -> int:
        return 0 if self.sound else 1


class HookState(StrEnum):
    """What became of hooks in a host's settings, or how they are there."""

    INSTALLED = "installed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    OUTDATED = "outdated"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook that a host runs, or should run, at an event; the timeout is in the host's unit."""

    event: str
    state: HookState
    command: str
    timeout: int | None


@dataclass(frozen=True, slots=True)
class HostHooks:
    """The hooks in the settings of one host, and the change of that file as a unified diff."""

    host: str
    path: str
    state: HookState
    hooks: tuple[Hook, ...] = ()
    diff: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of several hosts: after a change, as they would be after it (`dry_run`), or as they are."""

    action: str
    dry_run: bool
    hosts: tuple[HostHooks, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text that is the whole answer, such as a completion script."""

    text: str
