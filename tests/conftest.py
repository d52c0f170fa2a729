"""What the tests share: a home of their own, a service on a real store, and `mem` as a real process."""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import mem
from mem.caller import Caller
from mem.embed import Role
from mem.embed.local import LocalEmbedder
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SOURCE = Path(mem.__file__).parent.parent

# The processes that tests start read compiled modules, from a folder that goes with this run: where writing
# them beside the source is switched off, each process would compile all of `mem` again.
if "PYTHONPYCACHEPREFIX" not in os.environ:
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="mem-tests-compiled-")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

# What the shell of a developer or an agent may set, and what decides how a terminal is written to.
_FOREIGN = re.compile(
    r"(MEM|CLAUDE|CURSOR|GEMINI|CODEX|XDG|PYTEST|TYPER)_|(CLAUDECODE|NO_COLOR|FORCE_COLOR|PY_COLORS|COLUMNS|"
    r"TERMINAL_WIDTH|GITHUB_ACTIONS|BASH_COMPLETION_USER_DIR|ZDOTDIR|PYTHON(UNBUFFERED|IOENCODING|UTF8))$"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private `MEM_HOME`, in an environment that says nothing else; the working folder is no repository."""
    for name in filter(_FOREIGN.match, list(os.environ)):
        monkeypatch.delenv(name)
    for name in ("user", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("MEM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEM_WORKER", "off")  # a test that wants one asks for it, and ends it
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


@dataclass(frozen=True, slots=True)
class Ran:
    """How a process ended, and every byte that it wrote."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()

    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        import json

        found = json.loads(self.stdout)
        assert isinstance(found, dict)
        return found


def process_environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of a `mem` that is started as a process, from the same source as the tests import."""
    return {**os.environ, "PYTHONPATH": str(SOURCE), **(extra or {})}


@pytest.fixture
def run_mem(home: Path) -> Callable[..., Ran]:
    """`mem` with these arguments, as a real process in the private home."""

    def run(
        *arguments: str | bytes | Path, stdin: bytes | None = None, env: dict[str, str] | None = None
    ) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "mem", *arguments],
            input=b"" if stdin is None else stdin,
            capture_output=True,
            env=process_environment(env),
            timeout=120,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def on_terminal(home: Path) -> Callable[..., tuple[int, str]]:
    """`mem` on a terminal of 80 columns: its exit status, and all that appears there."""
    import fcntl
    import pty
    import struct
    import termios

    def run(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-m", "mem", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=process_environment({"TERM": "xterm-256color", **(env or {})}),
            start_new_session=True,
        )
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:
            pass  # how Linux reports that the other side is gone
        finally:
            os.close(ours)
        return process.wait(timeout=60), seen.decode().replace("\r\n", "\n")

    return run


class BagOfWords:
    """A tiny embedder: words hashed into a few dimensions, so that texts with shared words lie close."""

    name = "bag-of-words@1"
    choice = "bundled"
    dimensions = 256
    loaded = True

    def ready(self) -> None:
        """It always is."""

    def mean(self) -> None:
        """It has no centre."""

    def split(self, text: str) -> list[str]:
        """One piece."""
        return [text]

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> NDArray[np.float32]:
        """Counts of hashed words, of length one."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()) or [text]:
                row[zlib.crc32(word.encode()) % self.dimensions] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def fake_embedder() -> BagOfWords:
    """An embedder that costs nothing; it knows words, not meaning."""
    return BagOfWords()


@pytest.fixture
def person(home: Path) -> Caller:
    """A person at a shell, in a folder that is no repository."""
    return Caller(Actor(ActorKind.PERSON), Path.cwd())


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store that has just been made; a copy of it is ready sooner than another one."""
    path = tmp_path_factory.mktemp("empty") / "memory.db"
    Store(path).close()
    return path


@pytest.fixture
def new_store(home: Path, empty_store: Path) -> Iterator[Store]:
    """A store of its own, with nothing in it."""
    home.mkdir(mode=0o700, exist_ok=True)
    shutil.copyfile(empty_store, home / "memory.db")
    (home / "memory.db").chmod(0o600)
    store = Store(home / "memory.db")
    yield store
    store.close()


@pytest.fixture
def memory(new_store: Store, fake_embedder: BagOfWords, person: Caller) -> Service:
    """A service over a real store, with the fake embedder, for a person outside any project."""
    return Service(new_store, fake_embedder, person)


@pytest.fixture(scope="session")
def real_embedder() -> LocalEmbedder:
    """The bundled model, loaded once."""
    return LocalEmbedder()


@pytest.fixture
def real_memory(new_store: Store, real_embedder: LocalEmbedder, person: Caller) -> Service:
    """A service over a real store, with the bundled model, for a person outside any project."""
    return Service(new_store, real_embedder, person)


@pytest.fixture
def run_stress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A script of `tests/stress` with these arguments, which has to end with 0: what it printed."""

    def run(name: str, *arguments: str) -> str:
        path = Path(__file__).parent / "stress" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"stress_{name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        monkeypatch.setattr(os, "environ", os.environ.copy())
        status = module.main(list(arguments))
        told = capsys.readouterr().out
        assert status == 0, told
        return told

    return run
