"""Text becomes vectors here: the `Embedder` seam, the bundled model, pieces of long texts, vector blobs."""

from mem.embed.embedder import Embedder, EmbeddingError, EmbeddingTimeout, Role

__all__ = ["Embedder", "EmbeddingError", "EmbeddingTimeout", "Role"]
