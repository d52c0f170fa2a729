"""What the worker gives for each request; `mem.link` lists them.

It runs the read side of the service: the same commands, parsed and rendered by the same application, for the
caller that the request describes. Whatever is not its to answer it declines: another time zone, another
setting, anything that goes wrong. Then the application says so itself, in the caller's process.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from mem import config
from mem.caller import Caller, current_caller
from mem.cli import app, render
from mem.embed import EmbeddingError, EmbeddingTimeout, Role
from mem.embed.local import LocalEmbedder
from mem.embed.memo import MemoEmbedder
from mem.embed.vectors import to_blob
from mem.errors import MemError
from mem.service import Service
from mem.store.connect import Store
from mem.worker.counts import Count, Counts
from mem.worker.embedder import LONGEST_WAIT

READS = frozenset(("context", "recall"))
# Seconds by which an answer is due before the caller gives up: it has to be made, and to travel.
TRAVEL = 0.04

log = logging.getLogger(__name__)
Later = list[Callable[[], None]]


class Declined(Exception):
    """The request is for the application in the caller's process."""


class Answers:
    """Answers requests from any thread; each has its own connection to the store."""

    def __init__(self, path: Path, counts: Counts, on_loaded: Callable[[str], None]) -> None:
        """Open the store, and load the model if one is wanted; `on_loaded` hears why that failed, or ''."""
        self._counts = counts
        self._zone = os.environ.get("TZ")
        self._store = Store(path, timeout_ms=config.value("store.timeout-ms"))
        with self._store.read():
            pass  # a store that cannot be opened is the end of a worker, not of a call
        self._local = LocalEmbedder(threads=config.value("model.threads"))
        self._model = MemoEmbedder(self._local, counts.add)
        self._on_loaded = on_loaded
        self._failed = ""
        self._loading: threading.Thread | None = None
        self._guard = threading.Lock()
        if config.value("model") != "none":
            self._load()

    @property
    def state(self) -> dict[str, str]:
        """The store, the model and whether it is there."""
        model = "failed" if self._failed else "loaded" if self._local.loaded else "loading"
        return {
            "store": str(self._store.path),
            "model": self._local.name,
            "model_state": model if self._loading else "not wanted",
        }

    def close(self) -> None:
        """Close the store; nothing may be asked any more."""
        self._store.close()

    def run(self, fields: Sequence[bytes], later: Later) -> list[bytes]:
        """The exit status, output and error output of a command line; raises `Declined`."""
        environment, terminal, folder, began, _, event, *words = fields
        due = float(began) - TRAVEL
        # A hook never waits for a model that is not there yet.
        impatient = b"--hook" in words and not self._local.loaded
        variables = dict(
            line.partition("=")[::2] for line in environment.decode("utf-8", "surrogateescape").split("\0")
        )
        caller = replace(
            current_caller(variables, Path(os.fsdecode(folder))),
            began=due,
            waits_until=0.0 if impatient else due + LONGEST_WAIT,
            stdin=event,
        )
        arguments = [word.decode("utf-8", "surrogateescape") for word in words]
        return self._printed(
            arguments, self._service(caller, later), caller, terminal=terminal == b"terminal"
        )

    def embed(self, fields: Sequence[bytes]) -> list[bytes]:
        """A vector for each text; raises `EmbeddingError`, `Declined`."""
        model, until, role, *texts = fields
        rows = self._wanted(model).embed(
            [text.decode() for text in texts], Role(role.decode()), timeout=_left(until)
        )
        return [to_blob(row) for row in rows]

    def tokens(self, fields: Sequence[bytes]) -> list[bytes]:
        """Where the tokens of a text begin; raises `EmbeddingError`, `Declined`."""
        model, _, text = fields
        self._wanted(model)
        return [memoryview(_numbers(self._local.token_starts(text.decode()))).cast("B").tobytes()]

    def _service(self, caller: Caller, later: Later) -> Service:
        """The service for a caller, with the model that its settings want."""
        if caller.environment.get("TZ") != self._zone:
            raise Declined("another time zone")
        try:
            if not config.value("worker", caller.environment):
                raise Declined("no worker is wanted")
            wanted = config.value("model", caller.environment)
        except MemError as err:
            raise Declined(str(err)) from err
        if wanted != "none":
            self._load()
        embedder = None if wanted == "none" else self._model
        return Service(self._store, embedder, caller, later=later.append)

    def _printed(
        self, arguments: list[str], service: Service, caller: Caller, *, terminal: bool
    ) -> list[bytes]:
        if not arguments or arguments[0] not in READS:
            raise Declined("not a read")
        printed: list[tuple[str, str]] = []

        def show(answer: Any, *, in_full: bool, as_json: bool) -> None:
            if terminal and not as_json:
                output = _on_terminal(answer, caller.environment, in_full=in_full)
            else:
                output = render.piped(answer, in_full=in_full, as_json=as_json)
            errors = "".join(f"{line}\n" for line in render.beside(answer, as_json=as_json))
            printed.append((output, errors))

        try:
            status = app.run(arguments, app.Session(caller, service, show))
        except MemError as err:
            raise Declined(str(err)) from err
        output, errors = map("".join, zip(*printed, strict=True)) if printed else ("", "")
        return [
            str(status).encode(),
            output.encode("utf-8", "surrogateescape"),
            errors.encode("utf-8", "backslashreplace"),
        ]

    def _wanted(self, model: bytes) -> MemoEmbedder:
        if model.decode() != self._local.name:
            raise Declined("another model")
        self._load()
        return self._model

    def _load(self) -> None:
        """Begin to load the model, once; who needs it before it is there waits for it."""
        with self._guard:
            if self._loading is None:
                self._loading = threading.Thread(target=self._ready, name="load", daemon=True)
                self._loading.start()

    def _ready(self) -> None:
        try:
            self._local.ready()
        except EmbeddingError as err:
            self._failed = str(err)
            self._counts.add(Count.FAILURES)
        self._on_loaded(self._failed)


class _Screen(StringIO):
    """The terminal of the caller, as far as it matters here."""

    def isatty(self) -> bool:
        return True


def _on_terminal(answer: Any, environment: Mapping[str, str], *, in_full: bool) -> str:
    from mem.cli import terminal

    screen = _Screen()
    terminal.show(answer, in_full=in_full, terminal=screen, environment=environment)
    return screen.getvalue()


def _numbers(starts: Sequence[int]) -> Any:
    from array import array

    return array("I", starts)


def _left(until: bytes) -> float:
    return max(float(until) - time.monotonic() - TRAVEL, 0.0)


def answered(answers: Answers, kind: bytes, fields: Sequence[bytes], later: Later) -> list[bytes]:
    """The whole answer to a request, whatever becomes of it."""
    try:
        match kind:
            case b"run":
                return [b"done", *answers.run(fields, later)]
            case b"embed":
                return [b"done", *answers.embed(fields)]
            case b"tokens":
                return [b"done", *answers.tokens(fields)]
            case _:
                return [b"declined"]
    except Declined:
        return [b"declined"]
    except EmbeddingTimeout:
        return [b"late"]
    except EmbeddingError as err:
        return [b"failed", str(err).encode("utf-8", "replace")]
    except Exception:
        log.exception("%s failed", kind.decode(errors="replace"))
        return [b"declined"]
