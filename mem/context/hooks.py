"""The hook protocol: a host's event comes in on standard input, its answer goes out, or nothing at all.

Promises to the host, whatever it sends:
- The answer is exactly one JSON document in the host's own form, or not a byte; nothing is ever raised. The
  process around it exits with 0, since another status can cost the user the prompt.
- What goes to the model is at most 9,500 UTF-16 units, fenced as stored notes, and the same from the same
  store: see `block.py`. A session that is resumed or forked gets its last block again byte for byte, unless
  an item of it would not be shown so any more.
- A prompt gets an answer only if something clearly fits that this session was not shown yet. A compaction or
  a clear empties the model's window; what it was shown before counts no more.
- What a session was shown is written down before it is said; who cannot write it down says nothing.
- A compact summary is stored once, whichever event brings it first. Text that came out of `mem` never is.
- A hook that runs because of `mem` itself is silent. Failures go to `hook.log` in the state directory.

    session-start  opens or resumes the session, stores the summary of a compaction, gives the context block
    prompt         gives the notes that fit, mostly none
    pre-compact    tells Claude Code's summariser in one sentence what is worth keeping
    post-compact   stores the summary
    session-end    closes the session
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from mem.caller import Caller
from mem.context import failures, hosts, shown
from mem.context.hosts import Event, Host, Moment, Start
from mem.context.notes import Notes
from mem.context.prompts import typed
from mem.context.shown import Shown
from mem.errors import MemError
from mem.paths import places
from mem.values import Actor, ActorKind, Mode

ACTIVE = "MEM_HOOK_ACTIVE"  # set for whatever a hook of ours starts
PATIENCE_MS = 150  # how long an answer waits for the lock of the store before it does without
DEADLINE_MS = 800  # of the whole answer, where no setting says otherwise
SOURCE = "{client}:compact"
_STEER = (
    "The summary is also kept as a long-term note: decisions with their reasons, corrections by the user, "
    "open tasks and exact names are what later sessions look for."
)

OpenNotes = Callable[[Caller], Notes]


def respond(
    stdin: bytes,
    caller: Caller,
    open_notes: OpenNotes,
    *,
    mode: Mode = Mode.LEXICAL,
    timeout: float | None = None,
) -> bytes:
    """The answer to an event, empty for none; never raises.

    `caller` is the process that the host started; `open_notes` opens the store for who the event says acts.
    `mode` is how a prompt is searched, by words alone unless a model is warm; `timeout` the seconds that the
    vector of a prompt may take.
    """
    event = None if is_ours(caller) else hosts.read(stdin, caller.environment)
    return b"" if event is None else reply(event, caller, open_notes, mode=mode, timeout=timeout)


def reply(
    event: Event,
    caller: Caller,
    open_notes: OpenNotes,
    *,
    mode: Mode = Mode.LEXICAL,
    timeout: float | None = None,
) -> bytes:
    """The answer to an event that was read already; see `respond`."""
    try:
        if event.moment is Moment.PRE_COMPACT:
            text = _STEER if event.host is Host.CLAUDE_CODE else ""
        else:
            text = _Hook(event, open_notes(acting(event, caller)), mode, timeout).text()
        return hosts.envelope(event, text) if text else b""
    except Exception as err:  # failing soft is the contract
        fail(caller, event.name, err)
        return b""


def is_ours(caller: Caller) -> bool:
    """Whether this hook runs because of a hook of ours, as in an agent that `mem` started."""
    return bool(caller.environment.get(ACTIVE)) or caller.environment.get("CLAUDE_CODE_ENTRYPOINT") == "mem"


def acting(event: Event, caller: Caller) -> Caller:
    """Who the event says acts: the host's hook, in its session and project."""
    actor = Actor(ActorKind.HOOK, event.host.value, event.session)
    return replace(caller, actor=actor, folder=event.folder or caller.folder)


def fail(caller: Caller, event: str, error: BaseException) -> None:
    """Write down why there is no answer."""
    try:
        failures.record(places(caller.environment).state, event, error)
    except (RuntimeError, OSError, KeyError):
        return  # there is no home to write to


@dataclass(frozen=True, slots=True)
class _Hook:
    """One event on its way to its answer."""

    event: Event
    notes: Notes
    mode: Mode
    timeout: float | None

    def text(self) -> str:
        """What the model is to read; empty for nothing."""
        match self.event.moment:
            case Moment.SESSION_START:
                return self._session_start()
            case Moment.PROMPT:
                return self._prompt()
            case Moment.POST_COMPACT:
                self._post_compact()
            case Moment.SESSION_END:
                self._session_end()
        return ""

    def _session_start(self) -> str:
        start = self.event.start
        shown.prune(self._state)
        self._open_session()
        own = self._keep_compacted() if start is Start.COMPACT else ()
        before = shown.load(self._file) if start in (Start.RESUME, Start.FORK) else Shown()
        if before.block and self.notes.still_holds(before.block, before.keys):
            self.notes.hand_out_again(before.keys)
            return before.block
        with self.notes.store.read() as db:
            scope = self.notes.scope(db)
        # The model has the summary of its own compaction before it already.
        made = self.notes.overview(scope, without=own)
        keys = tuple(entry.key for entry in made.entries)
        shown.save(self._file, Shown(before.ids, made.text, keys).with_ids(made.ids))
        return made.text

    def _prompt(self) -> str:
        words = typed(self.event.prompt)
        if not words:
            return ""
        before = shown.load(self._file)
        made = self.notes.for_prompt(words, shown=before.ids, mode=self.mode, timeout=self.timeout)
        if made.text:
            shown.save(self._file, before.with_ids(made.ids))
        return made.text

    def _post_compact(self) -> None:
        from mem.context import summaries
        from mem.context.sessions import Sessions

        text = summaries.of_event(self.event.summary)
        if text:
            Sessions(self.notes).keep_summary(text, self._source)

    def _session_end(self) -> None:
        from mem.context.sessions import Sessions
        from mem.errors import NotFound

        try:
            Sessions(self.notes).end(reason=self.event.reason)
        except NotFound:
            return  # it began before there were hooks, so there is nothing to close

    def _open_session(self) -> None:
        """Open the session; a store that is locked for now costs its row, not the context."""
        from mem.context.sessions import Sessions

        try:
            with self.notes.store.read() as db:
                project = self.notes.project(db)
            Sessions(self.notes, wait_ms=PATIENCE_MS).start(project)
        except MemError as err:
            fail(self.notes.caller, self.event.name, err)

    def _keep_compacted(self) -> tuple[int, ...]:
        """Store the summary that the transcript ends with; gives its number, if it is in the store now."""
        from mem.context import summaries
        from mem.context.sessions import Sessions

        text = summaries.of_transcript(self.event.transcript)
        if not text:
            return ()
        try:
            stored = Sessions(self.notes, wait_ms=PATIENCE_MS).keep_summary(text, self._source)
        except MemError as err:
            fail(self.notes.caller, self.event.name, err)
            return ()
        return () if stored.id is None else (stored.id,)

    @property
    def _source(self) -> str:
        return SOURCE.format(client=self.event.host.value)

    @property
    def _state(self) -> Path:
        return places(self.notes.caller.environment).state

    @property
    def _file(self) -> Path:
        return shown.place(self._state, self.notes.store.path, self.event.host.value, self.event.session)
