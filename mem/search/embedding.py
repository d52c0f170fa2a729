"""Vectors for what is written and what is asked: computed before the lock is taken, saved inside it.

Without a model, or when it fails, a text is stored without its vector and counted as pending, and a
question is answered by words alone; the answer says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import apsw

from mem.embed import Embedder, EmbeddingError, Role
from mem.embed.vectors import to_blob
from mem.results import VectorState
from mem.search.vector import Question
from mem.store import embeddings
from mem.store.connect import Store
from mem.store.events import Unit
from mem.truth.fingerprint import embedded_text, text_hash
from mem.values import Mode, NewMemory

LONGEST_QUESTION = 2_000  # characters of a question that are embedded; the model reads at most 512 tokens


@dataclass(frozen=True, slots=True)
class Computed:
    """The vectors of some texts, by text hash, and the model that made them."""

    name: str = ""
    dimensions: int = 0
    mean: bytes | None = None
    pieces: dict[bytes, list[bytes]] = field(default_factory=dict)

    def save(self, unit: Unit) -> None:
        """Keep the vectors, unless the store searches another model's."""
        if not self.pieces:
            return
        model = embeddings.adopt_model(unit.db, self.name, self.dimensions, self.mean, at=unit.at)
        if model is not None:
            for hashed, blobs in self.pieces.items():
                embeddings.save(unit.db, model, hashed, blobs)


class Vectors:
    """What a service needs of an embedder; `embedder` is None where the configuration wants no model."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._store = store

    def of(self, news: Sequence[NewMemory]) -> Computed:
        """The vectors of what is about to be written, in one batch, without those that the store has."""
        texts = {text_hash(text): text for text in map(embedded_text, news)}
        if self.embedder is None or not texts:
            return Computed()
        with self._store.read() as db:
            model = embeddings.active_model(db)
            if model is not None:
                for known in embeddings.known_hashes(db, model, texts):
                    del texts[known]
        try:
            return self._computed(self.embedder, texts) if texts else Computed()
        except EmbeddingError:
            return Computed()

    def question(self, query: str, mode: Mode) -> tuple[Question | None, tuple[str, ...]]:
        """The embedded query, or None with the reasons why the answer is by words alone."""
        if mode is Mode.LEXICAL:
            return None, ()
        if self.embedder is None:
            return None, ("no_model",)
        with self._store.read() as db:
            model = embeddings.active_model(db)
        if model is None:
            return None, ("no_vectors",)
        if model.name != self.embedder.name:
            return None, ("other_model",)
        try:
            vector = self.embedder.embed([query[:LONGEST_QUESTION]], Role.QUERY)[0]
        except EmbeddingError:
            return None, ("embedding_failed",)
        return Question(vector, model), ()

    def state(self, db: apsw.Connection, memory_id: int) -> VectorState:
        """Whether a memory can be found by meaning."""
        if self.embedder is None:
            return VectorState.NONE
        model = embeddings.active_model(db)
        hashed = db.execute("SELECT text_hash FROM memories WHERE id = ?", (memory_id,)).get
        stored = model is not None and bool(embeddings.known_hashes(db, model, [hashed]))
        return VectorState.STORED if stored else VectorState.PENDING

    def _computed(self, embedder: Embedder, texts: dict[bytes, str]) -> Computed:
        split = {hashed: embedder.split(text) for hashed, text in texts.items()}
        rows = iter(embedder.embed([piece for pieces in split.values() for piece in pieces], Role.PASSAGE))
        mean = embedder.mean()
        return Computed(
            name=embedder.name,
            dimensions=embedder.dimensions,
            mean=None if mean is None else to_blob(mean),
            pieces={hashed: [to_blob(next(rows)) for _ in pieces] for hashed, pieces in split.items()},
        )
