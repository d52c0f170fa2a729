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
from mem.embed.choice import BUNDLED, NONE, ModelKind
from mem.embed.embedder import LoadedModel
from mem.embed.memo import MemoEmbedder
from mem.embed.vectors import to_blob
from mem.errors import MemError
from mem.service import Service
from mem.store import embeddings
from mem.store.connect import Store
from mem.store.embeddings import Model as Searched
from mem.worker.counts import Count, Counts
from mem.worker.embedder import LONGEST_WAIT, in_process

READS = frozenset(("context", "recall"))
SERVICE = "EMBEDDING_"  # how the variables begin that describe an embedding service
# Seconds by which an answer is due before the caller gives up: it has to be made, and to travel.
TRAVEL = 0.04

log = logging.getLogger(__name__)
Later = list[Callable[[], None]]


class Declined(Exception):
    """The request is for the application in the caller's process."""


class Retired(Exception):
    """The request is for a worker with another model, so this one ends; the next one will have it."""


class Answers:
    """Answers requests from any thread; each has its own connection to the store."""

    def __init__(self, path: Path, counts: Counts, on_loaded: Callable[[str], None]) -> None:
        """Open the store, and load the model if one is wanted; `on_loaded` hears why that failed, or ''."""
        self._counts = counts
        self._zone = os.environ.get("TZ")
        self._store = Store(path, timeout_ms=config.value("store.timeout-ms"))
        with self._store.read():
            pass  # a store that cannot be opened is the end of a worker, not of a call
        self._searched = self._active()
        setting = config.value("model")
        choice = self._searched.choice if self._searched is not None else setting
        # A worker that holds no model may be asked for one later; then it is likely the bundled one.
        self._choice = BUNDLED.text if choice == NONE.text else choice
        self._local = in_process(self._choice, os.environ, config.value("model.threads"), self._searched)
        self._model = MemoEmbedder(self._local, counts.add)
        self._on_loaded = on_loaded
        self._failed = ""
        self._loading: threading.Thread | None = None
        self._guard = threading.Lock()
        if setting != NONE.text:
            self._load()

    @property
    def state(self) -> dict[str, str]:
        """The store, the model and whether it is there."""
        model = "failed" if self._failed else "loaded" if self._is_loaded() else "loading"
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
        impatient = b"--hook" in words and not self._is_loaded()
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
        if not isinstance(self._local, LoadedModel):
            raise Declined("a model behind an endpoint tells no tokens")
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
        if wanted == NONE.text:
            return Service(self._store, None, caller, later=later.append)
        self._follow()
        if self._searched is None and wanted != self._choice:
            raise Declined("another model is wanted")
        if self._choice.startswith(ModelKind.ENDPOINT) and not _same_service(caller.environment):
            raise Declined("another embedding service")
        self._load()
        return Service(self._store, self._model, caller, later=later.append)

    def _active(self) -> Searched | None:
        with self._store.read() as db:
            return embeddings.active_model(db)

    def _follow(self) -> None:
        """Go on if the store still searches the vectors that it searched when the model was chosen."""
        active, before = self._active(), self._searched
        if active is None or before is None:
            # The first vectors were written, by this model or by another one.
            changed = active is not None and (active.choice, active.name) != (
                self._local.choice,
                self._local.name,
            )
        else:
            changed = (active.choice, active.name) != (before.choice, before.name)
        if changed:
            raise Retired
        self._searched = active

    def _is_loaded(self) -> bool:
        return self._local.loaded if isinstance(self._local, LoadedModel) else True

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
        self._follow()
        if model.decode() != self._local.name:
            if self._searched is None:
                raise Retired
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
            if isinstance(self._local, LoadedModel):
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


def _same_service(environment: Mapping[str, str]) -> bool:
    """Whether what a caller says of the embedding service, if anything, is what the worker was told."""
    return all(
        value == os.environ.get(name)
        for name, value in environment.items()
        if name.startswith(SERVICE) and value
    )


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
    except Retired:
        return [b"retired"]
    except EmbeddingTimeout:
        return [b"late"]
    except EmbeddingError as err:
        return [b"failed", str(err).encode("utf-8", "replace")]
    except Exception:
        log.exception("%s failed", kind.decode(errors="replace"))
        return [b"declined"]
