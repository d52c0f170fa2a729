"""Hooks put into the settings of hosts, taken out, and shown.

Promises: what is not ours stays as it is, to the byte. Installing twice is installing once; uninstalling
gives back the bytes from before, or what others have made of them since, without our hooks. All settings are
read and understood before the first is written. Only hooks are written: no other setting of a host is
touched, its own memory least of all.
"""

import difflib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mem.errors import MemError
from mem.hosts import files, jsonc, merge, traces
from mem.hosts.descriptions import DESCRIPTIONS, Description, command
from mem.hosts.files import Settings
from mem.hosts.host import Host
from mem.hosts.merge import Trace
from mem.hosts.program import program
from mem.hosts.traces import Installation
from mem.results import Hook, HookState, HostHooks


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of one host's settings: `bare` without our hooks, `text` in the end; None is no file."""

    host: Host
    settings: Settings
    bare: str | None
    text: str | None
    known: Installation | None
    trace: Trace | None = None

    @property
    def changes(self) -> bool:
        return self.text != self.settings.text

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty if there is none."""
        if not self.changes:
            return ""
        before, after = self.settings.text, self.text
        names = ["/dev/null" if text is None else str(self.settings.path) for text in (before, after)]
        lines = difflib.unified_diff(_lines(before), _lines(after), names[0], names[1])
        marked = (
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )
        return "".join(marked)


def present() -> tuple[Host, ...]:
    """The hosts whose folder exists."""
    return tuple(host for host, one in DESCRIPTIONS.items() if one.folder(os.environ).is_dir())


def install(hosts: Sequence[Host], *, dry_run: bool = False) -> tuple[HostHooks, ...]:
    """Put our hooks into the settings of hosts, in the place of older ones; raises `MemError`."""
    words = program()
    plans = [_plan_install(host, words) for host in hosts]
    for plan in plans:
        if plan.trace is not None and not dry_run:
            _put_in(plan, plan.trace)
    return tuple(
        _told(
            plan,
            HookState.INSTALLED if plan.changes else HookState.UNCHANGED,
            _compared(plan.host, plan.text, words),
            DESCRIPTIONS[plan.host].after if plan.changes else "",
        )
        for plan in plans
    )


def uninstall(hosts: Sequence[Host], *, dry_run: bool = False) -> tuple[HostHooks, ...]:
    """Take our hooks out of the settings of hosts; raises `MemError`."""
    plans = [_plan_uninstall(host) for host in hosts]
    for plan in plans:
        if not dry_run:
            _take_out(plan)
    return tuple(_told(plan, HookState.REMOVED if plan.changes else HookState.UNCHANGED) for plan in plans)


def show(hosts: Sequence[Host]) -> tuple[HostHooks, ...]:
    """Our hooks in the settings of hosts; the diff is what `install` would change; raises `MemError`."""
    words = program()
    told = []
    for host in hosts:
        plan = _plan_install(host, words)
        hooks = _compared(host, plan.settings.text, words)
        there = any(hook.state is not HookState.MISSING for hook in hooks)
        state = HookState.OUTDATED if there else HookState.MISSING
        told.append(_told(plan, state if plan.changes else HookState.INSTALLED, hooks))
    return tuple(told)


def _plan_install(host: Host, words: Sequence[str]) -> Plan:
    about = DESCRIPTIONS[host]
    settings = files.read(about.settings(os.environ))
    known = traces.load(settings.target)
    entries = about.entries(words)
    try:
        bare = _bare(about, settings, known)
        if merge.complete(settings.text or "", about, entries):
            return Plan(host, settings, bare, settings.text, known)
        text, trace = merge.put_in(bare or "", about, entries)
    except jsonc.Malformed as err:
        raise files.malformed(settings.path, err) from err
    return Plan(host, settings, bare, text, known, trace)


def _plan_uninstall(host: Host) -> Plan:
    about = DESCRIPTIONS[host]
    settings = files.read(about.settings(os.environ))
    known = traces.load(settings.target)
    try:
        bare = _bare(about, settings, known)
    except jsonc.Malformed as err:
        raise files.malformed(settings.path, err) from err
    return Plan(host, settings, bare, bare, known)


def _bare(about: Description, settings: Settings, known: Installation | None) -> str | None:
    """The text from before the last installation, or if it has changed since, that without our hooks."""
    text = settings.text
    if text is None:
        return None
    if known is not None and known.sha256 == traces.fingerprint(text):
        return None if known.made_file else known.trace.undone(text)
    left = merge.take_out(text, about.shape, known.trace.members if known else None)
    return None if known is not None and known.made_file and jsonc.nothing(left) else left


def _put_in(plan: Plan, trace: Trace) -> None:
    """Write the text that the trace belongs to; the trace first, so that no text is ever without one."""
    target, known = plan.settings.target, plan.known
    installation = Installation(
        sha256=traces.fingerprint(plan.text or ""),
        trace=trace,
        made_file=plan.bare is None,
        made_folder=not target.parent.exists() or (known is not None and known.made_folder),
    )
    traces.save(target, installation)
    try:
        files.replace(plan.settings, plan.text)
    except MemError:
        traces.save(target, known)
        raise


def _take_out(plan: Plan) -> None:
    target = plan.settings.target
    if plan.changes:
        files.replace(plan.settings, plan.text)
    if plan.text is None and plan.known is not None and plan.known.made_folder:
        with suppress(OSError):  # gone, or no longer ours alone
            target.parent.rmdir()
    traces.save(target, None)


def _told(plan: Plan, state: HookState, hooks: tuple[Hook, ...] = (), hint: str = "") -> HostHooks:
    return HostHooks(plan.host, str(plan.settings.path), state, hooks, plan.diff, hint)


def _compared(host: Host, text: str | None, words: Sequence[str]) -> tuple[Hook, ...]:
    """Our hooks in a text, each as it should be or not, and those that are missing."""
    about = DESCRIPTIONS[host]
    wanted = {event: merge.hook_of(entry) for event, entry in about.entries(words).items()}
    found = merge.find(text or "", about.shape)
    hooks = [
        _hook(
            one.event,
            one.hook,
            HookState.INSTALLED if wanted.get(one.event) == one.hook else HookState.OUTDATED,
        )
        for one in found
    ]
    there = {one.event for one in found}
    missing = [_hook(event, hook, HookState.MISSING) for event, hook in wanted.items() if event not in there]
    return (*hooks, *missing)


def _hook(event: str, hook: dict[str, Any], state: HookState) -> Hook:
    return Hook(event, state, command(hook) or "", hook.get("timeout"))


def _lines(text: str | None) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text or "")
