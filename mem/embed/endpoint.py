"""Where an embedding service is, and what is known of its models: variables first, then the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from mem import config
from mem.embed.embedder import EmbeddingError
from mem.errors import Usage
from mem.paths import expanded

# How long the vectors of well-known models are, where nobody says it.
OWN = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "bge-m3": 1024,
    "all-minilm": 384,
}
SET_KEY = "Set EMBEDDING_API_KEY, or name a file that holds the key: `mem config set endpoint.key-file FILE`."
SET_DIMENSION = "Set EMBEDDING_DIMENSION, or `mem config set endpoint.dimension NUMBER`."
SET_URL = "Set EMBEDDING_API_BASE_URL, or `mem config set endpoint.url URL`."


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Where an embedding service is, which of its models is meant, and how patient one is with it.

    `dimension` 0 is the model's own; `timeout` in seconds, for one call; `concurrency` is how many calls it
    may get side by side. Never shows the key.
    """

    url: str = "https://api.openai.com/v1"
    model: str = "text-embedding-3-small"
    dimension: int = 0
    timeout: float = 2.5
    concurrency: int = 4
    key: str = field(default="", repr=False)
    key_file: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> EndpointSettings:
        """The `EMBEDDING_*` variables, and what they leave out from the settings `endpoint.*`.

        Raises `EmbeddingError` for a value that makes no sense.
        """

        def found(variable: str, key: str) -> Any:
            given = environment.get(variable, "").strip()
            try:
                return config.find(key).parse(given) if given else config.value(key, environment)
            except Usage as err:
                named = f"{variable}: {err}" if given else str(err)
                raise EmbeddingError(named, hint=err.hint or "See: mem config list") from err

        key_file = config.value("endpoint.key-file", environment)
        return cls(
            url=found("EMBEDDING_API_BASE_URL", "endpoint.url"),
            model=found("EMBEDDING_MODEL", "endpoint.model"),
            dimension=found("EMBEDDING_DIMENSION", "endpoint.dimension"),
            timeout=found("EMBEDDING_TIMEOUT_MS", "endpoint.timeout-ms") / 1000,
            concurrency=config.value("endpoint.concurrency", environment),
            key=environment.get("EMBEDDING_API_KEY", "").strip(),
            key_file=str(expanded(key_file, environment)) if key_file else "",
        )

    def width(self) -> int:
        """The length of a vector; raises `EmbeddingError` where nobody knows it."""
        found = self.dimension or OWN.get(self.model.partition(":")[0])
        if found is None:
            raise EmbeddingError(
                f"How many numbers a vector of {self.model} has is not known.", hint=SET_DIMENSION
            )
        # The derived index packs eight signs into a byte.
        if found % 8:
            raise EmbeddingError(
                f"A vector must have a multiple of 8 numbers, not {found}.", hint=SET_DIMENSION
            )
        return found

    def address(self) -> SplitResult:
        """Where texts are sent; raises `EmbeddingError` for what is no address of a service."""
        try:
            address = urlsplit(self.url.strip())
            usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
        except ValueError:
            usable = False
        if not usable or re.search(r"[\s\x00-\x1f]|[^\x00-\x7f]", self.url.strip()):
            raise EmbeddingError(
                "The address of the embedding service is no http or https URL.", hint=SET_URL
            )
        path = address.path.rstrip("/")
        return address._replace(path=path if path.endswith("/embeddings") else f"{path}/embeddings")
