"""Vectors that an import brings: taken over where they are of the model that the store searches.

Vectors of another model, of a text that nobody says here, or that are none (of another length, all zero, not
finite) are passed over, and the text waits for `mem backfill`. Nothing is embedded here, but for a few texts
of a source that does not name its model: it is the same where their vectors all but agree.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import apsw

from mem.embed import Embedder, EmbeddingError, Role
from mem.embed.vectors import from_blob, to_blob
from mem.exchange.merging import MergeAction, Outcome
from mem.search import index
from mem.store import embeddings, imports
from mem.store.embeddings import Model
from mem.store.events import Unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Cosine of two vectors of one text by one model, whose weights may be rounded otherwise. With the bundled one
# it is 0.986 and more between a file of mneme and here, 0.967 and less to the same text as a question.
SAME_MODEL = 0.98
CLOSE = 1e-3  # by which the length of a vector may differ from one and stay as it is


class Adoption:
    """The vectors of one import; `embedder` is what this store would make them with."""

    def __init__(self, embedder: Embedder | None, *, has_vectors: bool) -> None:
        self._embedder = embedder
        self._has_vectors = has_vectors
        self._offered: dict[str, dict[str, Any]] = {}
        self._saved: list[bytes] = []
        self._recognised = False

    def recognise(self, records: Sequence[dict[str, Any]]) -> None:
        """Find out whether vectors of a model without a name are our own model's; outside any transaction."""
        if self._embedder is None or not records:
            return
        dimensions = self._embedder.dimensions
        given = [(one["text"], vector_of(one["pieces"][0], dimensions)) for one in records]
        compared = [(text, blob) for text, blob in given if blob is not None]
        if not compared:
            return
        try:
            own = list(self._embedder.embed([text for text, _ in compared], Role.PASSAGE))
        except EmbeddingError:
            return
        cosines = [
            float(from_blob(blob, dimensions) @ row) for (_, blob), row in zip(compared, own, strict=True)
        ]
        self._recognised = min(cosines) >= SAME_MODEL

    def take(self, unit: Unit, record: dict[str, Any]) -> Outcome:
        """Take over the vectors of one text, or the model of those that follow."""
        if record["record"] == "model":
            self._offered[record["name"]] = record
            return self._take_model(unit.db, record)
        hashed = bytes.fromhex(record["text_hash"])
        model = self._model_for(unit, record["model"])
        if model is None:
            return _skipped("They are of another model than the store searches.")
        if not (imports.has_text(unit.db, hashed) or imports.had_text(unit.db, hashed)):
            return _skipped("Nothing in the store says their text.")
        if embeddings.known_hashes(unit.db, model, [hashed]):
            return Outcome(MergeAction.IDENTICAL)
        if not record["model"] and self._embedder and len(self._embedder.split(record["text"])) > 1:
            return _skipped("One vector of so long a text hides what is in it.")
        pieces = [vector_of(piece, model.dimensions) for piece in record["pieces"]]
        whole = [piece for piece in pieces if piece is not None]
        if len(whole) < len(pieces):
            return _skipped("They are no vectors: of another length, all zero, or not finite.")
        embeddings.keep(unit.db, model, hashed, whole)
        self._saved.append(hashed)
        return Outcome(MergeAction.ADDED)

    def settle(self, unit: Unit) -> None:
        """Index the memories that waited for what was taken over."""
        if self._saved:
            index.add_pieces(unit.db, self._saved, has_vectors=self._has_vectors)
            self._saved = []

    def _take_model(self, db: apsw.Connection, record: dict[str, Any]) -> Outcome:
        active = embeddings.active_model(db)
        if active is not None and (active.name, active.dimensions) == (record["name"], record["dimensions"]):
            return Outcome(MergeAction.IDENTICAL)
        if active is None and self._is_own(record["name"], record["dimensions"]):
            return Outcome(MergeAction.ADDED)
        return _skipped("The store searches, or would search, vectors of another model.")

    def _model_for(self, unit: Unit, name: str) -> Model | None:
        """The model that vectors belong to, if it is the one that the store searches or is to search."""
        active = embeddings.active_model(unit.db)
        if not name:
            return self._own(unit, active) if self._recognised else None
        if active is not None:
            return active if active.name == name else None
        offered = self._offered.get(name)
        if offered is None or not self._is_own(name, offered["dimensions"]):
            return None
        mean = _decoded(offered.get("mean")) if offered.get("mean") else None
        choice = offered.get("choice") or "bundled"
        return embeddings.adopt_model(unit.db, name, offered["dimensions"], mean, at=unit.at, choice=choice)

    def _own(self, unit: Unit, active: Model | None) -> Model | None:
        own = self._embedder
        if own is None or (active is not None and active.name != own.name):
            return None
        mean = own.mean()
        centre = None if mean is None else to_blob(mean)
        return active or embeddings.adopt_model(
            unit.db, own.name, own.dimensions, centre, at=unit.at, choice=own.choice
        )

    def _is_own(self, name: str, dimensions: int) -> bool:
        own = self._embedder
        return own is not None and own.name == name and own.dimensions == dimensions


def vector_of(given: Any, dimensions: int) -> bytes | None:
    """A vector as the store keeps it, from base64, a list of numbers, or the JSON text of one; else None."""
    import numpy as np

    numbers = _numbers(given)
    if numbers is None or numbers.shape != (dimensions,) or not np.isfinite(numbers).all():
        return None
    length = float(np.linalg.norm(numbers.astype(np.float64)))
    if not length:
        return None
    return to_blob(numbers if abs(length - 1) <= CLOSE else (numbers / length).astype(np.float32))


def _numbers(given: Any) -> "NDArray[np.float32] | None":
    import numpy as np
    import orjson

    try:
        if isinstance(given, str) and given.lstrip().startswith("["):
            given = orjson.loads(given)
        if isinstance(given, str):
            return np.frombuffer(_decoded(given) or b"", dtype="<f4").astype(np.float32)
        if isinstance(given, Sequence):
            with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused for that
                return np.array(given, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        return None
    return None


def _decoded(given: Any) -> bytes | None:
    try:
        return base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None


def _skipped(reason: str) -> Outcome:
    return Outcome(MergeAction.SKIPPED, reason=reason)
