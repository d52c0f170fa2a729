"""The thin client finds store, worker and settings where everything else does, or does not try."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem import client, link
from mem.paths import places, store_path
from mem.worker.embedder import worker_place

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there is no worker on Windows")

PATHS = st.sampled_from(
    [
        "",
        "/var/a",
        "/var//a/./b/",
        "/var/a/../b",
        "~/x",
        "~",
        "~nobody/x",
        "x/y",
        "../x",
        "//var/a",
        "/usr",
        "/ü ö",
    ]
)
NAMES = (
    *("MEM_HOME", "MEM_DB", "TMPDIR"),
    *("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"),
)
ENVIRONMENTS = st.fixed_dictionaries(
    {"HOME": st.sampled_from(["/home/somebody", "/root/", "/home/a b", "relative", ""])},
    optional=dict.fromkeys(NAMES, PATHS),
)


def places_of(environment: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Store, socket and configuration as the client sees them; None where it leaves them to others."""
    found = client.paths(environment)
    if found is None:
        return None
    place = link.Place(found[0], found[1])
    return place.store, place.socket, os.path.realpath(found[2])


def expected(environment: Mapping[str, str]) -> tuple[str, str, str]:
    place = worker_place(store_path(environment), environment)
    return place.store, place.socket, os.path.realpath(places(environment).configuration)


@given(ENVIRONMENTS)
def test_the_client_agrees_with_the_application_or_leaves_it_to_that(environment: dict[str, str]) -> None:
    assert places_of(environment) in (None, expected(environment))


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"MEM_HOME": "/var/mem"},
        {"MEM_HOME": "~/mem", "MEM_DB": "/var/other.db"},
        {"MEM_DB": "~/notes.db"},
        {"XDG_DATA_HOME": "/var/data", "XDG_CONFIG_HOME": "/var/config"},
        {"XDG_DATA_HOME": "relative", "XDG_RUNTIME_DIR": "/nowhere"},
        {"TMPDIR": "/usr"},
        {"TMPDIR": "/nowhere"},
    ],
)
def test_the_usual_environments_are_not_left_to_others(environment: dict[str, str]) -> None:
    whole = {"HOME": "/home/somebody", **environment}
    assert places_of(whole) == expected(whole)


def test_a_runtime_folder_of_our_own_is_used_and_one_of_others_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    found = client.paths(environment)
    if sys.platform == "linux":
        assert found is not None and found[1] == str(tmp_path / "mem")
    ours = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: ours + 1)
    found = client.paths(environment)
    assert found is not None and found[1] != str(tmp_path / "mem")
    assert places_of(environment) == expected(environment)


def test_two_spellings_of_one_store_have_one_worker(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    one, other = (link.Place(str(tmp_path / name / "memory.db"), "/run/x") for name in ("real", "link"))
    assert one.socket == other.socket
    assert one.socket != link.Place(str(tmp_path / "other.db"), "/run/x").socket


def test_a_long_runtime_folder_gets_a_short_address_of_its_own() -> None:
    long = "/var/" + "x" * 120
    place = link.Place("/var/memory.db", long)
    assert len(place.socket) <= link.LONGEST_ADDRESS
    assert place.socket == link.Place("/var/memory.db", long).socket
    assert place.folder != link.Place("/var/memory.db", long + "y").folder


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--json", "recall", "port"],
        ["recall", "port", "--json", "--db", "/var/other.db"],
        ["recall", "port", "--json", "--db=/var/other.db"],
        ["recall", "-", "--json"],
        ["recall", "--json", "--", "-"],
        ["recall", "port", "--json", "--help"],
        ["recall", "port", "--json", "-h"],
        ["recall", "port", "--json", "--deadline-ms", "soon"],
        ["recall", "port", "--json", "--deadline-ms", "49"],
        ["recall", "port", "--json", "--deadline-ms"],
        ["recall", "-x", "--json"],
        ["store", "port", "--json"],
        ["context-free", "--json"],
    ],
)
def test_what_has_to_be_understood_goes_to_the_application(arguments: list[str]) -> None:
    assert client._taken(arguments) is None


def test_what_the_client_takes_it_hands_on_with_its_deadline() -> None:
    assert client._taken(["recall", "port", "--json", "--tag", "x"]) == (False, 0.0)
    assert client._taken(["recall", "--", "-x"]) == (False, 0.0)
    assert client._taken(["recall", "--json", "--deadline-ms=500", "--", "--db"]) == (False, 0.5)
    assert client._taken(["context", "--hook", "--deadline-ms", "300"]) == (True, 0.3)


@pytest.mark.parametrize(
    ("settings", "taken"),
    [
        ("", True),
        ('"worker.idle-minutes" = 30\n', True),
        ("[worker]\nidle-minutes = 30\n", True),
        ('# worker = false\nmodel = "none"\n', True),
        ("worker = false\n", False),
        ('"worker"=true\n', False),
    ],
)
def test_a_setting_that_may_switch_the_worker_off_is_left_to_the_application(
    home: Path, monkeypatch: pytest.MonkeyPatch, settings: str, taken: bool
) -> None:
    monkeypatch.delenv("MEM_WORKER")
    home.mkdir()
    (home / "config.toml").write_text(settings)
    assert (client._place() is not None) is taken


def test_the_deadline_of_hooks_comes_from_the_settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEM_WORKER")

    def deadline() -> float:
        found = client._place()
        assert found is not None
        return found[1]

    assert deadline() == client.HOOK_DEADLINE == 0.8
    home.mkdir()
    (home / "config.toml").write_text('"hook.deadline-ms" = 300 # quick\n')
    assert deadline() == 0.3
    monkeypatch.setenv("MEM_HOOK_DEADLINE_MS", "450")
    assert deadline() == 0.45


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=20))
def test_frames_come_back_as_they_were(fields: list[bytes]) -> None:
    import socket
    import time

    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(link.packed(fields))
        assert link.received(theirs, time.monotonic() + 5, 1 << 20) == fields


@pytest.mark.parametrize("frame", [b"\0\0\0\2xx", b"\0\0\0\5\0\0\0\2x", b"\xff\0\0\0", b"\0\0\0\6\0\0\0\0xx"])
def test_what_is_no_frame_is_refused(frame: bytes) -> None:
    import socket
    import time

    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(frame)
        with pytest.raises(ValueError, match="no frame"):
            link.received(theirs, time.monotonic() + 5, 1 << 20)
