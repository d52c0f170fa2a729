"""What a stored memory lies near to, by meaning and by words."""

import apsw

from mem import clock
from mem.embed.vectors import from_blob
from mem.search import lexical, vector
from mem.store import embeddings
from mem.store.filters import Where, where
from mem.values import Filter, Memory, Scope

MOST = 5
LONGEST = 1_000  # characters of the text whose words are looked up
# Texts that share three words of five share some of the rarest; the common ones cost the time.
EFFORT = 2_000
NEAREST = 50


def near(db: apsw.Connection, memory: Memory, *, has_vectors: bool) -> list[tuple[int, float]]:
    """Live memories of the same project near to one, nearest first, with their centred cosine.

    The cosine is 0 where only words agree.
    """
    filter_ = Filter(scope=Scope(memory.project), kinds=(memory.kind,))
    admitted = where(filter_, now=clock.to_text(clock.now()))
    condition = Where(f"{admitted.sql} AND m.project IS ?", (*admitted.values, memory.project))
    found: dict[int, float] = {}
    model = embeddings.active_model(db)
    own = embeddings.first_piece(db, model, memory.id) if model else None
    if model is not None and own is not None:
        asked = vector.Question(from_blob(own, model.dimensions), model)
        leg = vector.search(
            db, asked, filter_, condition, has_vectors=has_vectors, pool=NEAREST, exact_below=0
        )
        found = {near.number: near.centred for near in leg.hits[: MOST + 1]}
    text = memory.content[:LONGEST]
    leg_of_words = lexical.search(db, text, filter_.scope, condition, pool=MOST + 1, effort=EFFORT)
    for number, _ in leg_of_words.hits:
        found.setdefault(number, 0.0)
    found.pop(memory.id, None)
    return sorted(found.items(), key=lambda pair: -pair[1])
