"""Models whose files are on disk, in this process; the bundled one among them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mem.embed import pieces
from mem.embed.embedder import EmbeddingError, Role
from mem.embed.engine import Engine
from mem.embed.files import MEAN, checksums, verify_files
from mem.embed.forms import Form
from mem.embed.patience import within
from mem.paths import bundled_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 384
# Names the weights when SHA256SUMS cannot be read: vectors made then must not look like another model's.
_BUNDLED_REVISION = "710155c5"

# One session per process, however many services are open; a failure is kept too, so that it is told at once.
_engines: dict[Form, Engine | EmbeddingError] = {}
_loading = threading.Lock()


class OnDiskEmbedder:
    """A model on disk, loaded when first used, never from the network.

    `threads` runs go side by side, one text in each. All embedders of one form in a process share one
    session, with the threads of the first. With a `name` to it, it implements `Embedder`.
    """

    concurrency = 1  # calls that are worth making side by side: none, as each uses all its threads

    def __init__(self, form: Form, threads: int) -> None:
        self.form = form
        self._threads = threads

    @property
    def directory(self) -> Path:
        """Where its files lie."""
        return self.form.directory

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self.form.dimensions

    @property
    def piece_tokens(self) -> int:
        """How many tokens a piece of a long text has at most."""
        return self.form.piece_tokens

    @property
    def loaded(self) -> bool:
        """Whether the next call finds the model in memory."""
        return isinstance(_engines.get(self.form), Engine)

    def ready(self) -> None:
        """Load the model now; raises `EmbeddingError`, at once if it failed before in this process."""
        self._engine()

    def verify(self) -> list[str]:
        """What is wrong with its files, one line each."""
        return verify_files(self.directory, self.form.needed)

    def mean(self) -> NDArray[np.float32] | None:
        """Nothing: the centre of a model that is not the bundled one comes from the store's own vectors."""
        return None

    def split(self, text: str) -> list[str]:
        """The pieces of a text, at most `piece_tokens` each; a short text needs no loaded model."""
        return pieces.split(text, self.token_starts, self.piece_tokens)

    def token_starts(self, text: str) -> list[int]:
        """Where each token of a text begins; raises `EmbeddingError`."""
        return self._engine().token_starts(text)

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> NDArray[np.float32]:
        """One row of length one for each text, in order; raises `EmbeddingError`.

        The role's prefix is put before each text. Of a text beyond 256 tokens only the beginning counts:
        `split` it first. What is late is computed to the end all the same, and thrown away.
        """
        return within(timeout, lambda: self._rows(texts, role))

    def _rows(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        from mem.embed.vectors import normalised

        prompts = [self.form.prompt(text, role) for text in texts]
        return normalised(self._engine().rows(prompts, role) if prompts else [], self.dimensions)

    def _engine(self) -> Engine:
        with _loading:
            if self.form not in _engines:
                _engines[self.form] = self._load()
            found = _engines[self.form]
        if isinstance(found, EmbeddingError):
            # A fresh exception: raising the kept one again would lengthen its traceback each time.
            raise EmbeddingError(str(found), hint=found.hint)
        return found

    def _load(self) -> Engine | EmbeddingError:
        try:
            return Engine(self.form, self._threads)
        except EmbeddingError as err:
            return err.with_traceback(None)


class LocalEmbedder(OnDiskEmbedder):
    """The bundled multilingual-e5-small. Implements `Embedder`."""

    choice = "bundled"

    def __init__(self, directory: Path | None = None, *, threads: int = 2) -> None:
        super().__init__(Form((directory or bundled_model()).absolute(), DIMENSIONS), threads)

    @cached_property
    def name(self) -> str:
        """The model's name and the first eight digits of its weights' SHA-256."""
        revision = checksums(self.directory).get("model.onnx", _BUNDLED_REVISION)
        return f"multilingual-e5-small@{revision[:8]}"

    def mean(self) -> NDArray[np.float32] | None:
        """The model's centre; None where none was shipped; raises `EmbeddingError` if it is damaged."""
        return self._mean

    @cached_property
    def _mean(self) -> NDArray[np.float32] | None:
        from mem.embed.vectors import from_blob

        path = self.directory / MEAN
        if not path.exists() and MEAN not in checksums(self.directory):
            return None
        try:
            return from_blob(path.read_bytes(), DIMENSIONS)
        except OSError as err:
            raise EmbeddingError(f"{path} cannot be read: {err.strerror}.", hint="Run `mem doctor`.") from err
