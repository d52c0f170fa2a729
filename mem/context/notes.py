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
from mem.search import considered, floor
from mem.search.recall import Ask, Ranked, Ranking, rank
from mem.search.text import query_terms
from mem.store import memories, projects, sections, settings, traces
from mem.store.connect import Store
from mem.store.filters import Where, where
from mem.store.misses import Missed
from mem.store.settings import GOAL, PROFILE, Settings
from mem.values import ActorKind, Filter, Memory, Mode, Rule, Scope

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
        made = block.compose(entries, budget=budget)
        return self._traced(made, self._trace(traces.HOOK_START, made, scope, Mode.LEXICAL))

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
        made = replace(block.compose(entries, budget=budget), mode=found, degraded=degraded)
        rest = [(hit, Rule.BUDGET if hit.id in made.left_out else Rule.LIMIT) for hit in ranking.hits]
        return self._traced(made, self._trace(traces.CONTEXT, made, scope, found, ranking, rest, query))

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
        identifier that few memories hold passes by itself. Phrases of time do not count. Silence leaves a
        trace too.
        """
        count = len(query_terms(words))
        few_words = count < FEWEST_WORDS - prompts.asks(words)
        identifiers = prompts.identifiers(words)
        names = prompts.proper_names(words) if count > 1 else ()
        if few_words and not identifiers and not names:
            self._leave_of_silence(Mode.LEXICAL)
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
        made = replace(block.compose(_not_too_long(list(entries))), mode=found, degraded=degraded)
        unfit = _unfit(ranking, few_words=few_words)
        rest = [
            (hit, _rule(hit.id, fitting, best, shown, made) or unfit)
            for hit in ranking.hits[:_LOOKED_THROUGH]
        ]
        return self._traced(made, self._trace(traces.HOOK_PROMPT, made, scope, found, ranking, rest, words))

    def _leave_of_silence(self, mode: Mode) -> None:
        """Leave the trace of a prompt that is too short to be searched for."""

        def work() -> None:
            with self.store.read() as db:
                scope = self.scope(db)
            traces.leave_of_silence(self.store, self._trace(traces.HOOK_PROMPT, Block(), scope, mode))

        if self._later is None:
            work()
        else:
            self._later(work)

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
            shown=tuple(traces.Shown(number, 0.0) for number in numbers),
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

    def _traced(self, made: Block, trace: traces.Trace) -> Block:
        """The block with its trace, which also counts what it hands out; silence leaves one as well."""
        if not made.text:
            traces.leave_of_silence(self.store, trace, self._later)
            return made
        return replace(made, trace_id=traces.leave(self.store, trace, self._later))

    def _trace(
        self,
        operation: str,
        made: Block,
        scope: Scope,
        mode: Mode,
        ranking: Ranking | None = None,
        rest: Iterable[tuple[Ranked, Rule]] = (),
        asked: str | None = None,
    ) -> traces.Trace:
        """What a block shows, and by which rule the `rest` of what was found is not in it.

        `asked` is what was searched for.
        """
        ids = made.ids
        hits = ranking.hits if ranking else ()
        found = {entry.id: entry for entry in considered.handed_out(hit for hit in hits if hit.id in ids)}
        left = [traces.Withheld(hit.id, round(hit.score, 4), rule) for hit, rule in rest if hit.id not in ids]
        signals = {} if ranking is None else ranking.signals.as_record()
        is_hook = self.caller.actor.kind is ActorKind.HOOK
        if operation == traces.HOOK_PROMPT and ranking is not None:
            signals["threshold"] = floor.HOOK
        return traces.Trace(
            operation=operation if is_hook else traces.CONTEXT,
            actor=self.caller.actor,
            project=scope.project,
            mode=mode,
            degraded=made.degraded,
            missed=_missed(asked, scope) if asked is not None and not hits else None,
            total=len(ids) if ranking is None else len(hits),
            signals=signals,
            shown=tuple(found.get(number) or traces.Shown(number, 0.0) for number in ids),
            withheld=(*left[: considered.MOST_BEYOND], *(considered.below(ranking) if ranking else ())),
        )


def _missed(asked: str, scope: Scope) -> Missed:
    """Of a prompt that found nothing only how long it was: nobody said that its words may be kept."""
    return Missed(scope.project, len(query_terms(asked)), tells=False)


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


def _rule(
    number: int, fitting: Collection[int], best: Collection[int], shown: Collection[int], made: Block
) -> Rule | None:
    """Why a note that fits a prompt is not among those that go with it; None for one that does not fit."""
    if number not in fitting:
        return None
    if number not in best:
        return Rule.LIMIT
    if number in shown:
        return Rule.ALREADY_SHOWN
    return Rule.BUDGET if number in made.left_out else Rule.LENGTH


def _unfit(ranking: Ranking, *, few_words: bool) -> Rule:
    """Why what does not fit a prompt does not."""
    if ranking.signals.confidence() < floor.HOOK:
        return Rule.CONFIDENCE
    return Rule.NAME if few_words else Rule.ALONE


def _not_too_long(entries: list[Entry]) -> list[Entry]:
    long = sum(len(entry.line) for entry in entries) > LONG_NOTES
    return entries[:FEWER_NOTES] if long else entries
