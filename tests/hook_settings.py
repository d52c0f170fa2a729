"""Settings of hosts for tests: files as people have them, and what of ours stands in them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mem.hosts import jsonc, merge
from mem.hosts.descriptions import DESCRIPTIONS, Shape
from mem.hosts.host import Host
from mem.results import HookState, HostHooks

each_host = pytest.mark.parametrize("host", list(Host))

# A file as people have it: a byte order mark, Windows line ends, tabs, comments, trailing commas, odd spaces.
FOREIGN = """\ufeff// by hand\r
{\r
\t"zeta" : 1,\t/* after */ "alpha": [1,2 ,3,],\r
\t"autoMemoryEnabled": true, "url": "http://x//y",\r
\t"hooks" : { // mine\r
\t\t"%(first)s": [ %(entry)s /* keep */ ],\r
\t\t"%(second)s": [ ],\r
\t\t// "%(third)s": [],\r
\t},\r
\t"version": 1, // last\r
}\r
\r
"""


def foreign(host: Host) -> bytes:
    """Settings with hooks of somebody else in them, in the form of the host."""
    first, second, third, *_ = DESCRIPTIONS[host].events
    hook: dict[str, Any] = {"command": "lint --hook", "timeout": 3}
    if DESCRIPTIONS[host].shape is not Shape.FLAT:
        hook = {"matcher": "startup", "hooks": [{"type": "command", **hook}]}
    names = {"first": first, "second": second, "third": third, "entry": json.dumps(hook)}
    return (FOREIGN % names).encode()


def place(host: Host) -> Path:
    return DESCRIPTIONS[host].settings(os.environ)


def given(host: Host, content: bytes) -> Path:
    path = place(host)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def ours(path: Path, host: Host) -> dict[str, dict[str, Any]]:
    """The hooks of ours in a file; one for each event."""
    found = merge.find(path.read_bytes().decode(), DESCRIPTIONS[host].shape)
    assert len({one.event for one in found}) == len(found)
    return {one.event: one.hook for one in found}


def plain(path: Path) -> dict[str, Any]:
    found = jsonc.parse(path.read_bytes().decode()).plain
    assert isinstance(found, dict)
    return found


def state(told: tuple[HostHooks, ...]) -> HookState:
    (one,) = told
    return one.state
