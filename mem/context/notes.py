"""What a store has to say for a prompt: the context block of a session, and the notes that fit a prompt.

One class serves the operation `context` and the hooks alike. It is light to import, since a hook pays for
that before every prompt: what it needs of the model comes from outside.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw

from mem import clock
from mem.caller import Caller
from mem.context import block, prompts
from mem.context.block import Block, Entry, Section
from mem.scope import Root, find_root
from mem.search import floor
from mem.search.recall import Ask, Ranking, rank
from mem.search.text import query_terms
from mem.store import memories, projects, sections, settings, traces
from mem.store.connect import Store
from mem.store.filters import Where, where
from mem.store.settings import GOAL, PROFILE, Settings
from mem.values import Filter, Memory, Mode, Scope

if TYPE_CHECKING:
    from mem.search.embedding import Vectors
    from mem.search.vector import Question

SUMMARIES, DECISIONS, NEWEST, IMPORTANT, RELEVANT = 3, 10, 5, 10, 10
FEWEST_WORDS = 3  # content words of a prompt that is searched for
MOST_NOTES, FEWER_NOTES = 5, 3
LONG_NOTES = 1_200  # characters over which fewer notes go with a prompt
_LOOKED_THROUGH = 20  # hits that are searched for a rare identifier
_STILL_RARE = 5  # memories that may hold an identifier that passes whatever the confidence


class Notes:
    """The notes of one store for one caller; without `vectors` they are found by words alone."""

    def __init__(
        self,
        store: Store,
        caller: Caller,
        vectors: "Vectors | None" = None,
        later: "traces.Later | None" = None,
    ) -> None:
        self.store = store
        self.caller = caller
        self._vectors = vectors
        self._later = later

    def of(self, caller: Caller) -> "Notes":
        """The same notes for another caller."""
        return Notes(self.store, caller, self._vectors, self._later)

    def overview(
        self, scope: Scope, *, budget: int = block.DEFAULT_BUDGET, without: Collection[int] = ()
    ) -> Block:
        """The block of a session that begins: goal, profile, summaries, decisions, the new, the important.

        Each section holds what none above it does.
        """
        with self.store.read() as db:
            here = _live(scope)
            said = settings.read(db, scope.project)
            above = SUMMARIES + DECISIONS + len(without)
            chosen = (
                (Section.SUMMARIES, sections.summaries(db, here, scope.project, above), SUMMARIES),
                (Section.DECISIONS, sections.open_decisions(db, here, above), DECISIONS),
                (Section.NEWEST, sections.newest(db, here, above + NEWEST), NEWEST),
                (Section.IMPORTANT, sections.most_important(db, here, above + NEWEST + IMPORTANT), IMPORTANT),
            )
        entries, shown = list(_settings(said)), set(without)
        for section, found, most in chosen:
            kept = [memory for memory in found if memory.id not in shown][:most]
            shown.update(memory.id for memory in kept)
            entries += _items(section, kept)
        return self._traced(block.compose(entries, budget=budget), scope, Mode.LEXICAL, Ranking())

    def about(
        self,
        query: str,
        scope: Scope,
        *,
        budget: int = block.DEFAULT_BUDGET,
        mode: Mode = Mode.HYBRID,
        timeout: float | None = None,
    ) -> Block:
        """The block for a question: what answers it, with goal, profile, summaries and decisions."""
        asked, degraded = self._question(query, mode, timeout)
        found = Mode.LEXICAL if asked is None else mode
        with self.store.read() as db:
            here = _live(scope)
            ranking = self._rank(db, query, scope, found, asked)
            hits = [hit.id for hit in ranking.hits[:RELEVANT]]
            rows = memories.by_ids(db, hits)
            entries = [
                *_items(Section.RELEVANT, [rows[number] for number in hits]),
                *_settings(settings.read(db, scope.project)),
                *_items(Section.SUMMARIES, sections.summaries(db, here, scope.project, SUMMARIES)),
                *_items(Section.DECISIONS, sections.open_decisions(db, here, DECISIONS)),
            ]
        made = block.compose(entries, budget=budget)
        return self._traced(replace(made, mode=found, degraded=degraded), scope, found, ranking)

    def for_prompt(
        self,
        words: str,
        *,
        shown: Collection[int] = (),
        mode: Mode = Mode.LEXICAL,
        timeout: float | None = None,
    ) -> Block:
        """The few notes that clearly fit what a person typed and are not shown yet; mostly none.

        A question needs a word less. It speaks when the best hit is as good as `floor.HOOK` asks, and then
        gives the hits that would stand alone; of a few words, only those that hold a name in them. An
        identifier that few memories hold passes by itself. Phrases of time do not count.
        """
        count = len(query_terms(words))
        few_words = count < FEWEST_WORDS - prompts.asks(words)
        identifiers = prompts.identifiers(words)
        names = prompts.proper_names(words) if count > 1 else ()
        if few_words and not identifiers and not names:
            return Block()
        asked, degraded = self._question(words, mode, timeout)
        found = Mode.LEXICAL if asked is None else mode
        with self.store.read() as db:
            scope = self.scope(db)
            ranking = self._rank(db, words, scope, found, asked)
            rows = memories.by_ids(db, [hit.id for hit in ranking.hits[:_LOOKED_THROUGH]])
        fitting = _holding(rows, identifiers)
        if ranking.signals.confidence() >= floor.HOOK:
            fitting |= ranking.convincing & _holding(rows, names) if few_words else ranking.convincing
        best = [hit.id for hit in ranking.hits if hit.id in fitting and hit.id in rows][:MOST_NOTES]
        entries = _items(Section.RELEVANT, [rows[number] for number in best if number not in shown])
        made = block.compose(_not_too_long(list(entries)))
        if not made.text:
            return Block()
        return self._traced(replace(made, mode=found, degraded=degraded), scope, found, ranking)

    def still_holds(self, text: str, keys: Iterable[str]) -> bool:
        """Whether every line of a block that was shown would be the same now; `keys` name them."""
        lines = set(text.split("\n"))
        wanted = set(keys)
        with self.store.read() as db:
            set_now = _settings(settings.read(db, self.project(db)))
            rows = sections.still_live(db, _live(Scope(everywhere=True)), _numbers(wanted))
        now = [*set_now, *_items(Section.NEWEST, rows)]
        return wanted <= {entry.key for entry in now if entry.line in lines}

    def hand_out_again(self, keys: Iterable[str]) -> None:
        """Leave the trace of a block that is said once more, which counts what it shows; `keys` name that."""
        numbers = _numbers(keys)
        with self.store.read() as db:
            project = self.project(db)
        trace = traces.Trace(
            operation="context",
            actor=self.caller.actor,
            project=project,
            mode=Mode.LEXICAL,
            degraded=(),
            total=len(numbers),
            shown=tuple((number, 0.0) for number in numbers),
        )
        traces.leave(self.store, trace, self._later)

    def scope(self, db: apsw.Connection) -> Scope:
        """What a call sees that names no project: the current one and what is global."""
        return Scope(self.project(db))

    def project(self, db: apsw.Connection) -> str | None:
        """The project of a call that names none: as environment, configuration or folder have it, in turn."""
        from mem import config

        named = self.caller.project or config.value("project", self.caller.environment)
        if named:
            from mem.truth.drafts import project_name

            return project_name(named)
        root = self.root()
        return projects.name_of(db, root) if root is not None else None

    def root(self) -> Root | None:
        """The repository that the caller works in."""
        return find_root(self.caller.folder)

    def _question(
        self, words: str, mode: Mode, timeout: float | None
    ) -> tuple["Question | None", tuple[str, ...]]:
        if self._vectors is None:
            return None, () if mode is Mode.LEXICAL else ("no_model",)
        return self._vectors.question(words, mode, timeout=timeout)

    def _rank(
        self, db: apsw.Connection, words: str, scope: Scope, mode: Mode, asked: "Question | None"
    ) -> Ranking:
        now = clock.to_text(clock.now())
        ask = Ask(words, Filter(scope=scope), mode)
        return rank(db, ask, asked, now=now, has_vectors=self.store.has_vectors)

    def _traced(self, made: Block, scope: Scope, mode: Mode, ranking: Ranking) -> Block:
        """The block with the trace that it leaves, which also counts what it hands out."""
        if not made.ids:
            return made
        scores = {hit.id: hit.score for hit in ranking.hits}
        trace = traces.Trace(
            operation="context",
            actor=self.caller.actor,
            project=scope.project,
            mode=mode,
            degraded=made.degraded,
            total=len(ranking.hits) or len(made.ids),
            signals=ranking.signals.as_record(),
            shown=tuple((number, scores.get(number, 0.0)) for number in made.ids),
            considered=tuple((hit.id, hit.score) for hit in ranking.hits if hit.id not in made.ids),
        )
        return replace(made, trace_id=traces.leave(self.store, trace, self._later))


def _live(scope: Scope) -> Where:
    return where(Filter(scope=scope), now=clock.to_text(clock.now()))


def _numbers(keys: Iterable[str]) -> list[int]:
    """The memories among the keys of a block's lines."""
    return [int(key[1:]) for key in keys if key[:1] == "#" and key[1:].isdecimal()]


def _items(section: Section, found: Iterable[Memory]) -> Iterator[Entry]:
    return (block.item(section, memory) for memory in found)


def _settings(found: Settings) -> Iterator[Entry]:
    if found.goal:
        yield block.setting(Section.GOAL, GOAL, found.goal)
    for name, value in found.profile.items():
        yield block.setting(Section.PROFILE, PROFILE + name, f"{name}: {value}")


def _holding(rows: Mapping[int, Memory], names: Collection[str]) -> set[int]:
    """The memories that hold a name which few of them hold."""
    found: set[int] = set()
    texts = {
        number: prompts.squeezed(f"{row.title or ''} {row.content} {row.rationale or ''}")
        for number, row in rows.items()
        if names
    }
    for name in names:
        holding = {number for number, text in texts.items() if name in text}
        if len(holding) <= _STILL_RARE:
            found |= holding
    return found


def _not_too_long(entries: list[Entry]) -> list[Entry]:
    long = sum(len(entry.line) for entry in entries) > LONG_NOTES
    return entries[:FEWER_NOTES] if long else entries
