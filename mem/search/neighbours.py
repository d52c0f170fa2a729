"""What a stored memory lies near to, by meaning and by words."""

import apsw

from mem import clock
from mem.embed.vectors import from_blob
from mem.search import lexical, vector
from mem.store import embeddings
from mem.store.filters import where
from mem.values import Filter, Memory, Scope

MOST = 5
LONGEST = 1_000  # characters of the text whose words are looked up


def near(db: apsw.Connection, memory: Memory, *, has_vectors: bool) -> list[tuple[int, float]]:
    """Live memories near to one, nearest first, with their centred cosine; 0 if only words agree."""
    filter_ = Filter(scope=Scope(memory.project), kinds=(memory.kind,))
    condition = where(filter_, now=clock.to_text(clock.now()))
    found: dict[int, float] = {}
    model = embeddings.active_model(db)
    own = embeddings.first_piece(db, model, memory.id) if model else None
    if model is not None and own is not None:
        asked = vector.Question(from_blob(own, model.dimensions), model)
        leg = vector.search(db, asked, filter_, condition, has_vectors=has_vectors)
        found = {near.number: near.centred for near in leg.hits[: MOST + 1]}
    for number, _ in lexical.search(
        db, memory.content[:LONGEST], filter_.scope, condition, pool=MOST + 1
    ).hits:
        found.setdefault(number, 0.0)
    found.pop(memory.id, None)
    return sorted(found.items(), key=lambda pair: -pair[1])
