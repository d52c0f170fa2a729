"""Vectors as numbers, as bytes in the store, and as the sign bits of the derived index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mem.embed.embedder import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def to_blob(vector: NDArray[np.float32]) -> bytes:
    """The vector as little-endian Float32, four bytes a number, on every platform."""
    return vector.astype("<f4").tobytes()


def from_blob(blob: bytes, dimensions: int) -> NDArray[np.float32]:
    """The vector that `to_blob` wrote; raises `EmbeddingError` when the length is another."""
    import numpy as np

    if len(blob) != 4 * dimensions:
        raise EmbeddingError(
            f"A stored vector has {len(blob)} bytes; {dimensions} dimensions need {4 * dimensions}.",
            hint="Run `mem doctor`.",
        )
    return np.frombuffer(blob, dtype="<f4").astype(np.float32)


def stacked(blobs: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    """Stored vectors as the rows of one matrix, shape (len(blobs), dimensions)."""
    import numpy as np

    return np.stack([from_blob(blob, dimensions) for blob in blobs])


def normalised(rows: Sequence[NDArray[np.float32]], dimensions: int) -> NDArray[np.float32]:
    """The rows as one matrix, each of length one; raises `EmbeddingError` for what has no direction.

    Refused are rows of another length than `dimensions`, with NaN or infinite numbers, or all zero:
    a cosine with them is undefined, and one of them in the index would be found for every question.
    """
    import numpy as np

    for row in rows:
        if row.shape != (dimensions,):
            raise EmbeddingError(f"The model gave a vector of shape {row.shape}, not ({dimensions},).")
    matrix = np.array(rows, dtype=np.float64).reshape(len(rows), dimensions)
    if not np.isfinite(matrix).all():
        raise EmbeddingError("The model gave a vector with numbers that are not finite.")
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise EmbeddingError("The model gave a vector of zeros.")
    unit: NDArray[np.float32] = (matrix / lengths).astype(np.float32)
    return unit


def centre(vectors: NDArray[np.float32], mean: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """The rows less the model's mean, each of length one again; a row equal to the mean becomes zero.

    Without a mean the rows come back as they are.
    """
    import numpy as np

    if mean is None:
        return vectors
    moved = vectors - mean
    lengths = np.linalg.norm(moved, axis=-1, keepdims=True)
    centred: NDArray[np.float32] = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 0)
    return centred


def sign_bits(vectors: NDArray[np.float32]) -> list[bytes]:
    """One bit per number, set where it is positive, for `vec_bit()`.

    The first number is the lowest bit of the first byte, as in sqlite-vec's `vec_quantize_binary`, so
    that either side may make the bits. The number of dimensions must be a multiple of eight.
    """
    import numpy as np

    return [row.tobytes() for row in np.packbits(vectors > 0, axis=1, bitorder="little")]
