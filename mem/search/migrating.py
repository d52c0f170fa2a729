"""From one model to another while recall goes on with the old one, and the switch in one transaction.

The new model's vectors are made beside the old ones, then the index of them beside the old index; what
changes meanwhile is caught up with. Only when no live row lacks anything does the store search the new ones.
Each step is made of short transactions and can be broken off; the next run takes up what is left.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

from mem.embed import Embedder, EmbeddingError
from mem.embed.vectors import normalised, to_blob
from mem.errors import Unavailable
from mem.results import Migrated
from mem.search import backfilling, calibration, index, next_index
from mem.search.backfilling import PER_WRITE, Filled, Tell
from mem.store import backlog, embeddings, obsolete
from mem.store.backlog import Touched
from mem.store.connect import Store
from mem.store.embeddings import Model
from mem.store.events import Unit, next_instant

# How often to catch up with others before the switch is left to the next run.
ATTEMPTS = 20

Item = TypeVar("Item")
Change = Callable[[], AbstractContextManager[Unit]]
"""Begins the transaction of the switch, whose event it is."""


class _Behind(Exception):
    """Others have written since the index was made ready: what they touched, or None for all of it."""

    def __init__(self, touched: Touched | None) -> None:
        super().__init__()
        self.touched = touched


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a migration is asked for: at most `limit` texts, so many requests at a time, whether to prune."""

    limit: int | None = None
    concurrency: int | None = None
    pruning: bool = False
    tell: Tell = lambda done, total: None


def planned(store: Store, embedder: Embedder, wanted: Wanted) -> Migrated:
    """What a migration would do."""
    with store.read() as db:
        active, target = embeddings.active_model(db), embeddings.named(db, embedder.name)
        other = active is None or active.name != embedder.name
        texts = len(backlog.backlog(db, target).texts) if other else 0
        unreadable = len(obsolete.unreadable(db, after=0, most=-1))
        old_form = active is not None and embeddings.index_form(db, active) < index.FORM
        others = obsolete.vectors_but(db, embedder.name)
    whole = wanted.limit is None or texts <= wanted.limit
    pruned, size = others if wanted.pruning and whole else (0, 0)
    return Migrated(
        before=active.name if active else None,
        model=embedder.name,
        choice=embedder.choice,
        dry_run=True,
        switched=whole if other else old_form,
        converted=unreadable,
        waiting=texts if whole or wanted.limit is None else wanted.limit,
        pruned=pruned,
        pruned_bytes=size,
    )


def migrate(store: Store, embedder: Embedder, change: Change, wanted: Wanted) -> Migrated:
    """Make what is missing, switch, and prune; with a limit of texts only if that was all of them.

    Raises `EmbeddingError` for a model with a file that is not what its own list of hashes says.
    """
    converted = _convert(store)
    with store.read() as db:
        active = embeddings.active_model(db)
        current = active is not None and active.name == embedder.name
        due = active is None or not current or embeddings.index_form(db, active) < index.FORM
    filled, switched, indexed = Filled(), False, 0
    if due:
        _require_sound(embedder)
        target = active if active is not None and current else _entered(store, embedder)
        filled, switched, indexed = _moved(store, embedder, target, active, change, wanted)
    pruned, size = _prune(store) if wanted.pruning and (switched or current) else (0, 0)
    return Migrated(
        before=active.name if active else None,
        model=embedder.name,
        choice=embedder.choice,
        switched=switched,
        embedded=filled.embedded,
        indexed=indexed,
        converted=converted,
        failed=backfilling.not_embedded(store, filled),
        waiting=filled.left,
        pruned=pruned,
        pruned_bytes=size,
        limited=wanted.limit is not None,
        stopped=backfilling.why(filled.stopped),
    )


def _require_sound(embedder: Embedder) -> None:
    """Refuse a damaged model: its vectors would have to be made once more."""
    from mem.embed.files import checksums
    from mem.embed.local import OnDiskEmbedder

    if isinstance(embedder, OnDiskEmbedder) and checksums(embedder.directory):
        for problem in embedder.verify():
            raise EmbeddingError(
                f"{embedder.name} is damaged: {problem}.", hint=f"See: mem model verify {embedder.choice}"
            )


def _moved(
    store: Store, embedder: Embedder, target: Model, active: Model | None, change: Change, wanted: Wanted
) -> tuple[Filled, bool, int]:
    """Fill, prepare and switch; gives what was filled, whether it switched, and the pieces it indexed."""
    other = active is None or active.id != target.id
    filled, indexed = Filled(), 0
    among: Touched | None = None
    for attempt in range(ATTEMPTS):
        with store.read() as db:
            seen = backlog.last_event(db)
        if other:
            limit = None if wanted.limit is None else wanted.limit - filled.embedded
            backfilling.fill(
                store,
                embedder,
                target,
                into=filled,
                among=among,
                limit=limit,
                concurrency=wanted.concurrency,
                tell=wanted.tell,
            )
            if filled.stopped is not None or filled.left or _missed(store, active, filled):
                break
            if attempt == 0:
                target = _settled(store, target)
        indexed += _prepare(store, target, among)
        try:
            _switch(store, target, active, change, filled, seen)
        except _Behind as behind:
            among = behind.touched
            continue
        return filled, True, indexed
    return filled, False, indexed


def _convert(store: Store) -> int:
    """Make Float32 of vectors that are stored as JSON text; those that cannot be read go."""
    converted = last = 0
    while True:
        with store.read() as db:
            found = obsolete.unreadable(db, after=last, most=PER_WRITE)
        if not found:
            return converted
        last = found[-1].id
        read = [(one, _read(one)) for one in found]
        with store.write() as db:
            if any(vector is None for _, vector in read):
                index.discard_next(db, has_vectors=store.has_vectors)
            hashes = [
                one.text_hash
                for one, vector in read
                if vector != one.stored and obsolete.put_right(db, one, vector)
            ]
            index.add_pieces(db, hashes, has_vectors=store.has_vectors)
        converted += len(hashes)


def _prune(store: Store) -> tuple[int, int]:
    """Delete the vectors of every model that is not searched; gives how many, and their bytes."""
    count = size = 0
    while True:
        with store.write() as db:
            index.discard_next(db, has_vectors=store.has_vectors)
            pruned, freed = obsolete.prune(db, most=PER_WRITE)
        count, size = count + pruned, size + freed
        if pruned < PER_WRITE:
            return count, size


def _entered(store: Store, embedder: Embedder) -> Model:
    with store.read() as db:
        known = embeddings.named(db, embedder.name)
    if known is not None:
        return known
    mean = embedder.mean()
    blob = None if mean is None else to_blob(mean)
    name, dimensions, choice = embedder.name, embedder.dimensions, embedder.choice
    with store.write() as db:
        return embeddings.entered(db, name, dimensions, blob, at=next_instant(db), choice=choice)


def _missed(store: Store, active: Model | None, filled: Filled) -> bool:
    """Whether a text that the old model has vectors of failed with the new one: it would be found no more."""
    if not filled.failed or active is None:
        return False
    with store.read() as db:
        return bool(embeddings.known_hashes(db, active, filled.failed))


def _settled(store: Store, target: Model) -> Model:
    """The target with its mean and its thresholds, which come from its vectors here if it brings none."""
    with store.write() as db:
        return calibration.calibrate(db, calibration.settle_mean(db, target))


def _prepare(store: Store, target: Model, among: Touched | None) -> int:
    """Bring the index beside in step with the rows, all of them or some; gives how many pieces were added."""
    has_vectors = store.has_vectors
    memories = among.memories if among else None
    with store.write() as db:
        next_index.begin(db, target, has_vectors=has_vectors)
    with store.read() as db:
        lacking, beyond = next_index.lacking(db, target, memories), next_index.beyond(db, target, memories)
    # What is forgotten meanwhile takes all of it away: the switch sees that, and it is begun anew.
    for numbers in _portions(beyond):
        with store.write(lasting=False) as db:
            if next_index.is_prepared(db, target, has_vectors=has_vectors):
                next_index.remove(db, numbers, has_vectors=has_vectors)
    for pieces in _portions(lacking):
        with store.write(lasting=False) as db:
            if next_index.is_prepared(db, target, has_vectors=has_vectors):
                next_index.add(db, target, pieces, has_vectors=has_vectors)
    return len(lacking)


def _switch(
    store: Store, target: Model, active: Model | None, change: Change, filled: Filled, seen: int
) -> None:
    """Search the new vectors from now on; raises `_Behind` if anything that changed after an event lacks."""
    with change() as unit:
        db, has_vectors = unit.db, store.has_vectors
        searched = embeddings.active_model(db)
        if (searched and searched.id) != (active and active.id):
            raise Unavailable("The store has gone over to another model meanwhile.", hint="Run it again.")
        if not next_index.is_prepared(db, target, has_vectors=has_vectors):
            raise _Behind(None)
        touched = backlog.touched(db, seen)
        other = active is None or active.id != target.id
        if touched.anything and (
            next_index.lacking(db, target, touched.memories)
            or next_index.beyond(db, target, touched.memories)
            or (other and backlog.lacks_live(db, target, filled.failed, touched))
        ):
            raise _Behind(touched)
        next_index.take_over(db, target, has_vectors=has_vectors)
        before = active.name if active else None
        unit.detail |= {"from": before, "to": target.name, "embedded": filled.embedded, "form": index.FORM}
        _ = unit.event_id  # begins the event, though no row that has versions changes


def _read(one: obsolete.Unreadable) -> bytes | None:
    """The vector as Float32; as it is where it is no text after all, None where nothing can be made of it."""
    import numpy as np

    try:
        numbers = json.loads(one.stored)
        return to_blob(normalised([np.array(numbers, np.float32)], one.dimensions)[0])
    except (ValueError, TypeError, EmbeddingError):
        return one.stored if len(one.stored) == 4 * one.dimensions else None


def _portions(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), PER_WRITE):
        yield items[start : start + PER_WRITE]
