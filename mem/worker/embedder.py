"""Vectors for processes that do not hold the model: they ask the warm worker, and start it if need be."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mem import config, link
from mem.embed import Embedder, EmbeddingError, EmbeddingTimeout, Role
from mem.embed.choice import NONE, ModelKind, make, parse
from mem.embed.embedder import LoadedModel
from mem.errors import MemError
from mem.paths import places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mem.store.embeddings import Model

LONGEST_WAIT = 2.0  # seconds that a call waits for the worker where it names no time itself
PORTION = 16  # texts in one request


def choose_embedder(
    store: Path, environment: Mapping[str, str], active: Model | None = None
) -> Embedder | None:
    """What makes the vectors of a store's callers; None where the configuration wants none.

    The model is the one that the store searches, `active`; before there is one it is that of the setting.
    """
    wanted = config.value("model", environment)
    if wanted == NONE.text:
        return None
    threads = config.value("model.threads", environment)
    choice = active.choice if active is not None else wanted
    remote = choice.partition(":")[0] == ModelKind.ENDPOINT
    if os.name == "posix" and not remote and config.value("worker", environment):
        return WorkerEmbedder(worker_place(store, environment), choice, environment, threads, active)
    from mem.embed.memo import MemoEmbedder

    model = in_process(choice, environment, threads, active)
    # A service's connection is kept by the worker for what it answers; a process of its own makes one.
    return MemoEmbedder(model, longest=LONGEST_WAIT if remote else None)


def in_process(
    choice: str, environment: Mapping[str, str], threads: int, active: Model | None = None
) -> Embedder:
    """The model of a choice in this process; one that cannot be had says why when it is used."""
    from mem.embed.unusable import UnusableModel

    name, dimensions = (active.name, active.dimensions) if active is not None else ("", 0)
    try:
        found = make(parse(choice), environment, threads=threads)
    except MemError as err:
        return UnusableModel(choice, str(err), err.hint, name=name, dimensions=dimensions)
    if found is None:
        raise ValueError("there is no model to make")
    return found


def worker_place(store: Path, environment: Mapping[str, str]) -> link.Place:
    """Where the worker of a store listens."""
    return link.Place(str(store), str(places(environment).runtime))


def worker_counts(store: Path, environment: Mapping[str, str]) -> Mapping[str, int] | None:
    """What the worker of a store has counted, if one runs."""
    if os.name != "posix":
        return None
    from mem.worker import control

    return control.status(worker_place(store, environment)).counts or None


class WorkerEmbedder:
    """A model as the warm worker holds it; `active` is the store's own word on it. Implements `Embedder`.

    Where no connection may be made at all, as in some sandboxes, the model is loaded here.
    """

    def __init__(
        self,
        place: link.Place,
        choice: str,
        environment: Mapping[str, str],
        threads: int,
        active: Model | None = None,
    ) -> None:
        self.choice = choice
        self._place = place
        self._environment = environment
        self._threads = threads
        self._active = active

    @property
    def name(self) -> str:
        return self._active.name if self._active is not None else self._local.name

    @property
    def dimensions(self) -> int:
        return self._active.dimensions if self._active is not None else self._local.dimensions

    def mean(self) -> NDArray[np.float32] | None:
        return self._local.mean()

    def split(self, text: str) -> list[str]:
        """The pieces of a text; a short one is its own without asking."""
        from mem.embed import pieces

        return pieces.split(text, self._token_starts, self._own.piece_tokens)

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> NDArray[np.float32]:
        """One row for each text, within `timeout` seconds or `LONGEST_WAIT`; raises `EmbeddingError`."""
        until = time.monotonic() + (LONGEST_WAIT if timeout is None else timeout)
        blobs: list[bytes] = []
        try:
            for start in range(0, len(texts), PORTION):
                encoded = [_encoded(text) for text in texts[start : start + PORTION]]
                blobs += self._ask(until, b"embed", role.encode(), *encoded)
        except PermissionError:
            return self._local.embed(texts, role, timeout=timeout)
        if not texts:
            return self._local.embed(texts, role)
        from mem.embed.vectors import stacked

        return stacked(blobs, self.dimensions)

    @cached_property
    def _local(self) -> Embedder:
        return in_process(self.choice, self._environment, self._threads, self._active)

    @property
    def _own(self) -> LoadedModel:
        """The same, as one that is loaded: none behind an endpoint is asked of the worker."""
        if not isinstance(self._local, LoadedModel):
            raise EmbeddingError(f"{self.choice} runs in no worker.", hint="Run `mem doctor`.")
        return self._local

    def _token_starts(self, text: str) -> Sequence[int]:
        try:
            [starts] = self._ask(time.monotonic() + LONGEST_WAIT, b"tokens", _encoded(text))
        except PermissionError:
            return self._own.token_starts(text)
        return memoryview(starts).cast("I").tolist()

    def _ask(self, until: float, kind: bytes, *fields: bytes) -> list[bytes]:
        """What the worker gives; raises `EmbeddingError`, `PermissionError` where it cannot be reached."""
        request = [kind, self.name.encode(), b"%r" % until, *fields]
        answer = [b"retired"]
        while answer[0] == b"retired":
            if until - time.monotonic() <= 0:
                raise EmbeddingTimeout("There is no time left for a vector.", hint="Give it more time.")
            try:
                answer = link.exchange(self._place.connect_or_start(until), request, until)
            except PermissionError:
                raise
            except (OSError, ValueError) as err:
                raise self._unanswered(until) from err
            if answer[0] == b"retired":
                time.sleep(link.POLL)  # it ends, and the next one has what is asked for
        match answer:
            case [b"done", *given]:
                return given
            case [b"late", *_]:
                raise EmbeddingTimeout("The model was busy for too long.", hint="Try again.")
            case [b"failed", reason, *_]:
                raise EmbeddingError(reason.decode(), hint="Run `mem doctor`.")
            case _:
                raise EmbeddingError("The worker holds another model, or ends.", hint="Try again.")

    def _unanswered(self, until: float) -> EmbeddingError:
        reason = self._place.away()
        if reason:
            return EmbeddingError(f"The worker stays away for a while: {reason}", hint="Run `mem doctor`.")
        if time.monotonic() + link.POLL >= until:
            return EmbeddingTimeout("The worker did not answer in time.", hint="Try again.")
        return EmbeddingError("The worker cannot be reached.", hint="Set MEM_WORKER=off to do without it.")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
