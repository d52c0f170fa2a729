"""A model that few processes hold at once: each waits for one of the places before it loads its own copy."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from mem.embed.embedder import Embedder, EmbeddingError, Role
from mem.embed.slots import model_slot
from mem.paths import private_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SharedEmbedder:
    """An `Embedder` that takes a place in `directory` when it first loads the model, and keeps it.

    Where no place is free within `wait` seconds, the call fails with `EmbeddingError`; the next one tries
    again.
    """

    def __init__(self, model: Embedder, directory: Path, *, wait: float) -> None:
        self._model = model
        self._directory = directory
        self._wait = wait
        self._place = ExitStack()
        self._has_place = False
        self._taking = threading.Lock()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    @property
    def loaded(self) -> bool:
        return self._model.loaded

    def ready(self) -> None:
        """Load the model now, in a place of its own; raises `EmbeddingError`."""
        with self._taking:
            if not self._has_place:
                self._take_place()
        self._model.ready()

    def mean(self) -> NDArray[np.float32] | None:
        return self._model.mean()

    def split(self, text: str) -> list[str]:
        self.ready()
        return self._model.split(text)

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        self.ready()
        return self._model.embed(texts, role)

    def _take_place(self) -> None:
        slot = model_slot(private_folder(self._directory), self._wait)
        if not self._place.enter_context(slot):
            self._place.close()
            raise EmbeddingError(
                f"Other processes hold the embedding model; none ended within {self._wait:g} seconds.",
                hint="Try again, or go on: words are searched without it.",
            )
        self._has_place = True
