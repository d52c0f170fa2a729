"""What every embedding model promises, whether it runs here, in a worker or behind an endpoint.

- A row depends on its text and role alone, never on what else is embedded in the same call.
- Rows are finite, of length one, `dimensions` wide, in the order of the texts.
- `name` is stored with each vector. Whatever changes the vectors changes the name.
- Whatever goes wrong is an `EmbeddingError`; the caller can go on without vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from mem.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Role(StrEnum):
    """What a text is for; some models place questions and stored texts differently."""

    QUERY = "query"
    PASSAGE = "passage"


class EmbeddingError(Unavailable):
    """A vector cannot be had: the model does not load, does not run, or gives unusable numbers."""

    code = "embedding_unavailable"


class EmbeddingTimeout(EmbeddingError):
    """A vector was not there in time; it may well be the next time."""

    code = "embedding_timeout"


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def name(self) -> str:
        """The model's identity, the same on every machine that has the same weights."""

    @property
    def choice(self) -> str:
        """How the model is found again, as `mem.embed.choice` writes it."""

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    def mean(self) -> NDArray[np.float32] | None:
        """The model's centre, to be subtracted in the derived index; None for a model that has none."""

    def split(self, text: str) -> list[str]:
        """The pieces of a text, each short enough that one vector shows all that is in it."""

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> NDArray[np.float32]:
        """One row for each text, of shape (len(texts), dimensions); raises `EmbeddingError`.

        After `timeout` seconds it is an `EmbeddingTimeout`; 0 gives only what is at hand.
        """


@runtime_checkable
class LoadedModel(Embedder, Protocol):
    """A model that runs in this process, after it has been loaded."""

    @property
    def loaded(self) -> bool:
        """Whether the next call finds the model in memory."""

    @property
    def piece_tokens(self) -> int:
        """How many tokens a piece of a long text has at most."""

    def ready(self) -> None:
        """Load the model now; raises `EmbeddingError`."""

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each token of a text begins; raises `EmbeddingError`."""
