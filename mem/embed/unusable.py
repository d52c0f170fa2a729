"""A model that is wanted and cannot be had: it has its name, and says why on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from mem.embed.embedder import EmbeddingError, Role
from mem.embed.pieces import PIECE_TOKENS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class UnusableModel:
    """Stands in for a model that cannot be made: each vector is an `EmbeddingError`. An `Embedder`."""

    loaded = False
    piece_tokens = PIECE_TOKENS

    def __init__(self, choice: str, reason: str, hint: str, *, name: str = "", dimensions: int = 0) -> None:
        self.choice = choice
        self.name = name
        self.dimensions = dimensions
        self.reason = reason
        self.hint = hint

    def ready(self) -> NoReturn:
        """Raise the reason."""
        raise EmbeddingError(self.reason, hint=self.hint)

    def mean(self) -> NDArray[np.float32] | None:
        """Raise the reason: nothing is to be written in the name of this model."""
        self.ready()

    def split(self, text: str) -> list[str]:
        """Raise the reason."""
        self.ready()

    def token_starts(self, text: str) -> Sequence[int]:
        """Raise the reason."""
        self.ready()

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> NDArray[np.float32]:
        """Raise the reason."""
        self.ready()
