"""Vectors for many texts that have none: the model works in threads of its own while what it made is written.

No transaction is open while the model works, and none writes more than `PER_WRITE` vectors, unless one text
has more. What was written stays, however the work ends; the next run takes up what is left.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from mem.embed import Embedder, EmbeddingError, Role
from mem.embed.vectors import to_blob
from mem.errors import Unavailable
from mem.results import Backfilled, NotEmbedded
from mem.search import calibration, index
from mem.store import backlog, embeddings
from mem.store.backlog import ENTITIES, Backlog, Parts, Row, Touched
from mem.store.connect import Store
from mem.store.embeddings import Model
from mem.store.events import next_instant
from mem.truth.entities import Description
from mem.truth.fingerprint import joined_text

PORTION = 16  # texts, or pieces of one text, that the model gets together
PORTION_CHARACTERS = 10_000
PER_WRITE = 200  # vectors in one transaction
SOONER = 2.0  # seconds after which what was made is written, however little it is
READ_TOGETHER = 64  # texts that are read from the store at once
PROBE = "Is the model there?"

Tell = Callable[[int, int], None]
"""Hears how many of how many texts are done."""


class Failure(NamedTuple):
    """A text that the model could do nothing with, by a row that has it, and why."""

    row: Row
    reason: str


@dataclass(slots=True)
class Filled:
    """What came of it: texts with new vectors, and those that failed, by the hash of the text.

    `stopped` is why the model itself could not go on; `left` texts were not reached. `first` and `last` are
    what lacked vectors before and afterwards.
    """

    embedded: int = 0
    failed: dict[bytes, Failure] = field(default_factory=dict)
    stopped: EmbeddingError | None = None
    left: int = 0
    first: Backlog | None = None
    last: Backlog | None = None

    @property
    def tried(self) -> int:
        """How many texts the model was given."""
        return self.embedded + len(self.failed)


class Text(NamedTuple):
    """A text to be embedded, the hash by which its vectors are found, and a row that has it."""

    row: Row
    text_hash: bytes
    text: str


class Made(NamedTuple):
    """The vectors of a text's pieces, or why there are none."""

    text: Text
    vectors: tuple[bytes, ...]
    reason: str = ""


def fill(
    store: Store,
    embedder: Embedder,
    model: Model | None = None,
    *,
    into: Filled | None = None,
    among: Touched | None = None,
    limit: int | None = None,
    concurrency: int | None = None,
    tell: Tell = lambda done, total: None,
) -> Filled:
    """Make the vectors of all that lacks them, or of some rows: for the model that is searched, or another.

    At most `limit` texts. Goes on counting `into` what came of an earlier call. Raises `Unavailable` when the
    store searches another model's vectors than the embedder's.
    """
    filled = into or Filled()
    writer = _Writer(store, embedder, model, filled)
    at_work = _Model(embedder)
    began, before = filled.tried, -1
    while True:
        with store.read() as db:
            found = backlog.backlog(db, model or embeddings.active_model(db), among)
        filled.first = filled.first or found
        filled.last = found
        waiting = [row for text_hash, row in found.texts.items() if text_hash not in filled.failed]
        tried = filled.tried - began
        room = len(waiting) if limit is None else min(len(waiting), limit - tried)
        # What others wrote meanwhile is found by looking again, until nothing comes of it.
        if room <= 0 or at_work.down is not None or tried == before:
            filled.left, filled.stopped = len(waiting), at_work.down
            return filled
        before = tried
        _round(store, waiting[:room], at_work, writer, _threads(embedder, concurrency), tell)


def _threads(embedder: Embedder, concurrency: int | None) -> int:
    """How many portions are with the model at a time; one more than it works on keeps a local one busy."""
    return max(2, concurrency or getattr(embedder, "concurrency", 1))


def _round(
    store: Store, rows: Sequence[Row], model: "_Model", writer: "_Writer", threads: int, tell: Tell
) -> None:
    """Embed the texts of some rows, in their order, as far as the model goes."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="mem-backfill")
    running: deque[Future[list[Made]]] = deque()
    done = writer.seen
    try:
        for portion in _portions(store, rows):
            running.append(pool.submit(model.made, portion))
            while len(running) > 2 * threads:
                writer.take(running.popleft().result())
                tell(writer.seen, done + len(rows))
            if model.down is not None:
                break
        while running:
            writer.take(running.popleft().result())
            tell(writer.seen, done + len(rows))
    finally:
        model.stopped = True
        pool.shutdown(cancel_futures=True)
        # After Ctrl-C too: what the model has made is worth the moment that writing it takes.
        for future in running:
            if future.done() and not future.cancelled():
                writer.take(future.result())
        writer.write()
        model.stopped = False


def _portions(store: Store, rows: Sequence[Row]) -> Iterator[list[Text]]:
    """The texts of rows, as many together as the model gets at a time."""
    portion: list[Text] = []
    for start in range(0, len(rows), READ_TOGETHER):
        with store.read() as db:
            found = backlog.parts(db, rows[start : start + READ_TOGETHER])
        for parts in found:
            portion.append(Text(parts.row, parts.text_hash, said(parts)))
            if len(portion) >= PORTION or sum(len(one.text) for one in portion) > PORTION_CHARACTERS:
                yield portion
                portion = []
    if portion:
        yield portion


def said(parts: Parts) -> str:
    """What is embedded of a row."""
    if parts.row.table == ENTITIES:
        import json

        name, type_, aliases, summary = parts.columns
        return Description(name or "", type_ or "", tuple(json.loads(aliases or "[]")), summary).text
    return joined_text(*parts.columns)


class _Model:
    """The embedder, from several threads: a text that fails is tried alone, so that it costs no other.

    `down` is why the model can do nothing at all any more.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.down: EmbeddingError | None = None
        self.stopped = False
        self._embedder = embedder
        # A service that is busy or slow may have more time than one that somebody waits for.
        self._patience: float | None = getattr(embedder, "patience", None)
        self._guard = threading.Lock()

    def made(self, texts: Sequence[Text]) -> list[Made]:
        """The vectors of each text that there was time for."""
        try:
            return self._together(texts)
        except EmbeddingError:
            return [made for text in texts if (made := self._alone(text)) is not None]

    def _alone(self, text: Text) -> Made | None:
        if self.down is not None or self.stopped:
            return None
        try:
            return next(iter(self._together([text])), None)
        except EmbeddingError as err:
            return Made(text, (), str(err)) if self._answers() else None

    def _together(self, texts: Sequence[Text]) -> list[Made]:
        if self.down is not None:
            return []
        several = [(text, self._embedder.split(text.text)) for text in texts]
        pieces = [piece for _, split in several for piece in split]
        blobs: list[bytes] = []
        for start in range(0, len(pieces), PORTION):
            if self.stopped:
                return []
            rows = self._embedder.embed(pieces[start : start + PORTION], Role.PASSAGE, timeout=self._patience)
            blobs += [to_blob(row) for row in rows]
        each = iter(blobs)
        return [Made(text, tuple(next(each) for _ in split)) for text, split in several]

    def _answers(self) -> bool:
        """Whether it was the text that failed, and not the model."""
        with self._guard:
            if self.down is None:
                try:
                    self._embedder.embed([PROBE], Role.PASSAGE)
                except EmbeddingError as err:
                    self.down = err
            return self.down is None


class _Writer:
    """Writes vectors as they come, in short transactions, and counts them."""

    def __init__(self, store: Store, embedder: Embedder, model: Model | None, filled: Filled) -> None:
        self.filled = filled
        self._store = store
        self._embedder = embedder
        self._model = model
        self._waiting: list[Made] = []
        self._written = time.monotonic()

    @property
    def seen(self) -> int:
        """How many texts were dealt with."""
        return self.filled.tried + len(self._waiting)

    def take(self, made: Sequence[Made]) -> None:
        """Take what the model made; written as soon as it is enough."""
        for one in made:
            if one.reason:
                self.filled.failed[one.text.text_hash] = Failure(one.text.row, one.reason)
            else:
                self._waiting.append(one)
        enough = sum(len(one.vectors) for one in self._waiting) >= PER_WRITE
        if enough or time.monotonic() - self._written > SOONER:
            self.write()

    def write(self) -> None:
        """Write all that waits."""
        while self._waiting:
            together = self._next()
            with self._store.write(lasting=False) as db:
                # Vectors can be made again, so no write waits for the disk; the event at the end does.
                model = self._model or embeddings.adopt_model(
                    db,
                    self._embedder.name,
                    self._embedder.dimensions,
                    _mean(self._embedder),
                    at=next_instant(db),
                    choice=getattr(self._embedder, "choice", "bundled"),
                )
                if model is None:
                    raise Unavailable(
                        "The store searches another model's vectors by now.",
                        hint="Run `mem migrate-vectors`.",
                    )
                saved = [
                    one.text.text_hash
                    for one in together
                    if backlog.save(db, model, one.text.row, one.text.text_hash, one.vectors)
                ]
                if self._model is None:
                    index.add_pieces(db, saved, has_vectors=self._store.has_vectors)
                    calibration.keep_up(db, model, has_vectors=self._store.has_vectors)
            del self._waiting[: len(together)]
            self.filled.embedded += len(saved)
        self._written = time.monotonic()

    def _next(self) -> list[Made]:
        """As many texts as one transaction may write, at least one."""
        count = vectors = 0
        for one in self._waiting:
            vectors += len(one.vectors)
            if count and vectors > PER_WRITE:
                break
            count += 1
        return self._waiting[:count]


def _mean(embedder: Embedder) -> bytes | None:
    mean = embedder.mean()
    return None if mean is None else to_blob(mean)


def not_embedded(store: Store, filled: Filled) -> tuple[NotEmbedded, ...]:
    """The texts that failed, as people know them."""
    with store.read() as db:
        numbers = backlog.numbers(db, [failure.row for failure in filled.failed.values()])
    return tuple(
        NotEmbedded(
            "entity" if failure.row.table == ENTITIES else "memory", numbers[failure.row], failure.reason
        )
        for failure in filled.failed.values()
    )


def waiting(store: Store, embedder: Embedder, limit: int | None) -> Backfilled:
    """What a backfill would do."""
    with store.read() as db:
        found = backlog.backlog(db, embeddings.active_model(db))
    count = len(found.texts) if limit is None else min(len(found.texts), limit)
    return Backfilled(embedder.name, dry_run=True, waiting=count, skipped=_skipped(found, found))


def backfill(
    store: Store, embedder: Embedder, *, limit: int | None, concurrency: int | None, tell: Tell
) -> Backfilled:
    """Make what is missing for the model that is searched, and say what became of it."""
    filled = fill(store, embedder, limit=limit, concurrency=concurrency, tell=tell)
    return Backfilled(
        model=embedder.name,
        embedded=filled.embedded,
        skipped=_skipped(filled.first, filled.last),
        failed=not_embedded(store, filled),
        waiting=filled.left,
        stopped=why(filled.stopped),
    )


def why(stopped: EmbeddingError | None) -> str | None:
    """Why a model could not go on, with the way out."""
    return None if stopped is None else f"{stopped} {stopped.hint}".rstrip()


def _skipped(before: Backlog | None, after: Backlog | None) -> dict[str, int]:
    """The rows that needed no vector of their own: they had one, or share a text with another one."""
    if before is None or after is None:
        return {}
    shared = (before.rows - after.rows) - (len(before.texts) - len(after.texts))
    return {"there": before.there, "shared": max(shared, 0)}
