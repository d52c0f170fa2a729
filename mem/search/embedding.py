"""Vectors for what is written and what is asked: computed before the lock is taken, saved inside it.

Without a model, or when it fails, a text is stored without its vector and counted as pending, and a
question is answered by words alone; the answer says so.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import apsw

from mem.embed import Embedder, EmbeddingError, EmbeddingTimeout, Role
from mem.embed.vectors import to_blob
from mem.results import VectorState
from mem.search import calibration, index
from mem.search.vector import Question
from mem.store import embeddings
from mem.store.connect import Store
from mem.store.embeddings import Model
from mem.store.events import Unit
from mem.truth.fingerprint import embedded_text, text_hash
from mem.values import Mode, NewMemory

PORTION = 16  # pieces that are asked for together, unless one text has more
LONGEST_QUESTION = 2_000  # characters of a question that are embedded; the model reads at most 512 tokens


@dataclass(frozen=True, slots=True)
class Computed:
    """The vectors of some texts, by text hash, and the model that made them."""

    name: str = ""
    dimensions: int = 0
    mean: bytes | None = None
    pieces: dict[bytes, list[bytes]] = field(default_factory=dict)
    has_vectors: bool = False
    choice: str = "bundled"

    def save(self, unit: Unit) -> None:
        """Keep the vectors, unless the store searches another model's; index what waited for them."""
        if not self.pieces:
            return
        model = embeddings.adopt_model(
            unit.db, self.name, self.dimensions, self.mean, at=unit.at, choice=self.choice
        )
        if model is not None:
            for hashed, blobs in self.pieces.items():
                embeddings.save(unit.db, model, hashed, blobs)
            # The unit brings its own memories in step at its end; others with the same text it does not know.
            waiting = index.without_pieces(unit.db, self.pieces)
            others = [number for number in waiting if number not in unit.memory_ids]
            index.refresh(unit.db, others, has_vectors=self.has_vectors)
            calibration.keep_up(unit.db, model, has_vectors=self.has_vectors)


Follow = Callable[[Model], Embedder | None]
"""Gives the embedder of the model that a store searches now."""


class Vectors:
    """What a service needs of an embedder; `embedder` is None where the configuration wants no model.

    Another process may let the store search another model's vectors: `follow` finds the embedder of that.
    """

    def __init__(self, store: Store, embedder: Embedder | None, follow: Follow | None = None) -> None:
        self.embedder = embedder
        self.follow = follow
        self._store = store
        self._followed: Model | None = None

    def of(self, news: Sequence[NewMemory]) -> Computed:
        """The vectors of what is about to be written, in one batch, without those that the store has."""
        return self.of_texts(map(embedded_text, news))

    def of_texts(self, wanted: Iterable[str]) -> Computed:
        """The vectors of texts, in one batch, without those that the store has."""
        texts = {text_hash(text): text for text in wanted}
        if self.embedder is None or not texts:
            return Computed()
        with self._store.read() as db:
            model = embeddings.active_model(db)
            if model is not None:
                for known in embeddings.known_hashes(db, model, texts):
                    del texts[known]
        embedder = self._current(self.embedder, model)
        try:
            return self._computed(embedder, texts) if texts and embedder else Computed()
        except EmbeddingError:
            return Computed()

    def question(
        self, query: str, mode: Mode, *, timeout: float | None = None
    ) -> tuple[Question | None, tuple[str, ...]]:
        """The embedded query, or None with the reasons why the answer is by words alone.

        The vector may take `timeout` seconds; without one, what the embedder takes.
        """
        if mode is Mode.LEXICAL:
            return None, ()
        if self.embedder is None:
            return None, ("no_model",)
        with self._store.read() as db:
            model = embeddings.active_model(db)
        if model is None:
            return None, ("no_vectors",)
        embedder = self._current(self.embedder, model)
        if embedder is None:
            return None, ("no_model",)
        if model.name != embedder.name:
            return None, ("other_model",)
        try:
            vector = embedder.embed([query[:LONGEST_QUESTION]], Role.QUERY, timeout=timeout)[0]
        except EmbeddingTimeout as err:
            return None, (err.code,)
        except EmbeddingError:
            return None, ("embedding_failed",)
        return Question(vector, model), () if calibration.comparable(model) else ("uncalibrated",)

    def state(self, db: apsw.Connection, memory_id: int) -> VectorState:
        """Whether a memory can be found by meaning."""
        if self.embedder is None:
            return VectorState.NONE
        model = embeddings.active_model(db)
        hashed = db.execute("SELECT text_hash FROM memories WHERE id = ?", (memory_id,)).get
        stored = model is not None and bool(embeddings.known_hashes(db, model, [hashed]))
        return VectorState.STORED if stored else VectorState.PENDING

    def _current(self, embedder: Embedder, model: Model | None) -> Embedder | None:
        """The embedder, after the store has gone over to another model that of this one."""
        if model is None or self.follow is None or model.name == embedder.name or model == self._followed:
            return embedder
        self._followed = model
        followed = self.follow(model)
        self.embedder = followed or embedder
        return followed

    def _computed(self, embedder: Embedder, texts: dict[bytes, str]) -> Computed:
        mean = embedder.mean()
        found = Computed(
            name=embedder.name,
            dimensions=embedder.dimensions,
            mean=None if mean is None else to_blob(mean),
            has_vectors=self._store.has_vectors,
            choice=embedder.choice,
        )
        # Of a large batch, what came before the model failed or fell silent is kept.
        with suppress(EmbeddingError):
            for portion in _portions(embedder, texts):
                pieces = [piece for _, several in portion for piece in several]
                rows = iter(embedder.embed(pieces, Role.PASSAGE))
                for hashed, several in portion:
                    found.pieces[hashed] = [to_blob(next(rows)) for _ in several]
        return found


def _portions(embedder: Embedder, texts: dict[bytes, str]) -> Iterator[list[tuple[bytes, list[str]]]]:
    """The texts, each with its pieces, as many together as are asked for at a time."""
    portion: list[tuple[bytes, list[str]]] = []
    for hashed, text in texts.items():
        portion.append((hashed, embedder.split(text)))
        if sum(len(pieces) for _, pieces in portion) >= PORTION:
            yield portion
            portion = []
    if portion:
        yield portion
