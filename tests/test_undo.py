"""Undo takes back any event: the answers and the indexes are what they were, and no past is rewritten."""

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from telling import everything, get, live, records, tell
from wall_clock import WallClock

import mem.service
from mem.caller import Caller
from mem.errors import MemError, NotFound, Refused, Usage
from mem.operations import find_operation, operations
from mem.results import Undone
from mem.search import index
from mem.service import Service
from mem.store import integrity, settings
from mem.store.events import unit_of_work
from mem.store.migrations import VERSIONED
from mem.truth import undo
from mem.truth.drafts import Clearable
from mem.values import Actor, ActorKind, Kind, Layer, Level, Mode, SayingAction, Status, Trust

assert mem.service  # its methods fill the registry

QUESTIONS = ("which port does the API use?", "database postgres", "redis valkey cache", "disk moon deploys")


@dataclass(frozen=True, slots=True)
class World:
    """A store with a little of everything, a person and an agent in a session of its host."""

    person: Service
    agent: Service
    wall: WallClock
    patch: pytest.MonkeyPatch


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


@pytest.fixture
def world(memory: Service, person: Caller, wall: WallClock, monkeypatch: pytest.MonkeyPatch) -> World:
    tell(memory, "The API uses port 80", tag=["api"], importance=6, source="README")  # 1
    tell(memory, "Deploys go out on Friday", project="alpha", kind=Kind.SUMMARY)  # 2
    tell(memory, "We use Postgres", kind=Kind.DECISION, title="Database", rationale="one engine for all")  # 3
    tell(memory, "The old disk has 4 TB")  # 4
    memory.archive(["4"], reason="sold")
    tell(memory, "The cache is Redis", confidence=0.9)  # 5, 6
    memory.supersede(["5"], content="The cache is Valkey", reason="licence")
    tell(memory, "The moon is cheese")  # 7
    memory.reject(["7"], reason="it is rock")
    tell(memory, "A tunnel to staging is open", layer=Layer.WORKING, tag=["tunnel"])  # 8
    wall.forward(days=1)
    agent = memory.of(replace(person, actor=Actor(ActorKind.AGENT, "some-editor", "session-7")))
    agent.session_start()
    return World(memory, agent, wall, monkeypatch)


Act = Callable[[World], Any]


def nothing(_: World) -> None:
    """Nothing has to be there."""


def under_review(world: World, act: Act) -> None:
    """What the agent does then waits for a person."""
    world.patch.setenv("MEM_TRUST_REVIEW", "agents")
    act(world)
    world.patch.delenv("MEM_TRUST_REVIEW")


OPENED_ANEW: tuple[Act, Act] = (lambda w: w.wall.forward(days=2), lambda w: w.person.session_start())


def people(world: World) -> None:
    """Somebody and something, with what is known of them."""
    world.person.observe("Ana", "prefers calls to mail", type="person")
    world.person.observe("billing", "runs on port 8080", type="service")
    world.person.observe("billing-svc", "runs on port 8080", type="service")
    world.person.relate("Ana", "maintains", "billing", weight=0.5, valid_from="2026-01-01")
    world.person.relate("Ana", "maintains", "billing-svc")


def answering(world: World, text: str) -> None:
    """The language model that is set up says this to whatever it is asked."""
    code = f"import sys; sys.stdin.read(); print({text!r})"
    world.patch.setenv("MEM_CHAT_COMMAND", shlex.join((sys.executable, "-c", code)))


def traces(world: World) -> None:
    """Two traces, and a model that sums them up."""
    tell(world.person, "Tried port 80 for the API, and it was taken", level=Level.CONCRETE_TRACE)
    tell(world.person, "Tried port 81 for the API, and it was free", level=Level.CONCRETE_TRACE)
    answering(world, "The API listens on port 81.")


def extracted(world: World) -> Any:
    """What a model finds in all that there is."""
    entity = {"name": "API", "type": "technology", "observations": ["listens on port 80"]}
    answering(world, json.dumps({"notes": [{"note": 1, "entities": [entity]}]}))
    return world.person.extract_entities()


# Each writing operation in the forms that it takes: what has to be there, and the call.
CASES: dict[str, list[tuple[Act, Act]]] = {
    "store": [
        (nothing, lambda w: w.person.store("A new port of call", tag=["x"])),
        (nothing, lambda w: w.person.store("A new place", project="beta")),
        (nothing, lambda w: w.person.store("The API uses port 81", supersedes=["1"])),
        (nothing, lambda w: w.person.store("the api uses port 80.", tag=["again"])),
        (nothing, lambda w: w.person.store("A tunnel to staging is open", tag=["again"])),
        (nothing, lambda w: w.person.store("The moon is cheese!", force=True)),
        (nothing, lambda w: w.person.store("The old disk has 4 TB", force=True)),
        (nothing, lambda w: w.person.store("The cache is Redis", supersedes=["6"])),
        (nothing, lambda w: under_review(w, lambda v: v.agent.store("The agent thinks so"))),
    ],
    "store-batch": [
        (
            nothing,
            lambda w: w.person.store_batch(
                [
                    {"content": "One"},
                    {"content": "One and a half", "supersedes": ["9"]},
                    {"content": "The API uses port 80", "tag": ["batch"]},
                    {"content": "The cache is Redis"},
                    {"content": ""},
                    {"content": "Two", "project": "alpha"},
                ]
            ),
        ),
    ],
    "update": [
        (nothing, lambda w: w.person.update("1", content="The API uses port 8080", reason="a slip")),
        (nothing, lambda w: w.person.update("1", project="beta", importance=9, add_tag=["b"])),
        (nothing, lambda w: w.person.update("2", global_=True, clear=[Clearable.SOURCE], tag=["z"])),
        (
            nothing,
            lambda w: w.person.update("3", title="Store", valid_from="2026-01-01", expires="2027-01-01"),
        ),
        (nothing, lambda w: w.person.update("4", content="The old disk has 8 TB")),
        (nothing, lambda w: w.person.update("1", content="The moon is cheese", force=True)),
    ],
    "supersede": [
        (nothing, lambda w: w.person.supersede(["1"], content="The API uses port 81", reason="ingress")),
        (
            nothing,
            lambda w: w.person.supersede(["1", "6"], content="Port and cache", valid_from="2026-04-01"),
        ),
        (nothing, lambda w: w.person.supersede(["1"], by="6", valid_to="2026-05-01")),
        (nothing, lambda w: w.person.supersede(["6"], content="The cache is Redis")),
        (nothing, lambda w: w.person.supersede(["1", "3"], ended=True)),
    ],
    "archive": [(nothing, lambda w: w.person.archive(["1", "2", "3"], reason="shut down"))],
    "restore": [
        (nothing, lambda w: w.person.restore(["4"])),
        (nothing, lambda w: w.person.restore(["4", "7"], force=True)),
        (lambda w: w.person.archive(["8"]), lambda w: w.person.restore(["8"])),
    ],
    "reject": [
        (nothing, lambda w: w.person.reject(["1", "4"], reason="never")),
        (
            lambda w: w.person.store("The cache is Valkey", kind=Kind.SUMMARY, project="alpha"),
            lambda w: w.person.reject(["6"], reason="in every kind and project"),
        ),
        # The tombstone was there before, lifted.
        (lambda w: w.person.restore(["7"], force=True), lambda w: w.person.reject(["7"], reason="is rock")),
    ],
    "trust": [
        (nothing, lambda w: w.person.trust(["1", "2"], Trust.VERIFIED, reason="seen it")),
        (
            lambda w: w.person.trust(["1"], Trust.VERIFIED),
            lambda w: w.person.trust(["1"], Trust.DISPUTED, reason="changed"),
        ),
    ],
    "observe": [
        (nothing, lambda w: w.person.observe("Ana", "prefers calls to mail", type="person")),
        (people, lambda w: w.person.observe("Ana", "is on leave in May", tag=["leave"])),
        (people, lambda w: w.person.observe("Ana", "prefers calls to mail", tag=["again"])),
        (people, lambda w: w.person.observe("Ana", "prefers mail", supersedes=["9"])),
        (people, lambda w: under_review(w, lambda v: v.agent.observe("Ana", "knows Rust"))),
    ],
    "entity-set": [
        (nothing, lambda w: w.person.entity_set("Ana", type="person", summary="Looks after billing")),
        (people, lambda w: w.person.entity_set("Ana", name="Ana Souza", alias=["A. S."], summary="x")),
    ],
    "entity-merge": [
        (people, lambda w: w.person.entity_merge("billing-svc", "billing", reason="one and the same")),
        (
            lambda w: (people(w), w.person.reject(["11"], reason="it is 8081")),
            lambda w: w.person.entity_merge("billing-svc", "billing"),
        ),
    ],
    "relate": [
        (people, lambda w: w.person.relate("billing", "uses", "Ana")),
        (people, lambda w: w.person.relate("Ana", "maintains", "billing", weight=0.9)),
    ],
    "unrelate": [(people, lambda w: w.person.unrelate("Ana", "maintains", "billing", reason="left"))],
    "profile": [
        (nothing, lambda w: w.person.profile(SayingAction.SET, "language", "British English")),
        (
            lambda w: w.person.profile(SayingAction.SET, "language", "British English"),
            lambda w: w.person.profile(SayingAction.CLEAR, "language"),
        ),
    ],
    "goal": [
        (nothing, lambda w: w.person.goal(SayingAction.SET, "Ship it")),
        (
            lambda w: w.person.goal(SayingAction.SET, "Ship it"),
            lambda w: w.person.goal(SayingAction.SET, "Ship it in May"),
        ),
    ],
    "session-start": [
        # A session that was opened has taken place; one that was taken up again, or given up, is as before.
        (lambda w: w.agent.session_end(task=["tell Ana"]), lambda w: w.agent.session_start()),
        OPENED_ANEW,
    ],
    "session-end": [
        (nothing, lambda w: w.agent.session_end(summary="The API moved", task=["load test"])),
        (nothing, lambda w: w.agent.session_end()),
    ],
    "approve": [
        (
            lambda w: under_review(w, lambda v: v.agent.store("The agent thinks so")),
            lambda w: w.person.approve(["9"]),
        ),
        (
            lambda w: under_review(w, lambda v: v.agent.supersede(["1"], content="The API uses port 81")),
            lambda w: w.person.approve(["9"], content="The API uses port 82"),
        ),
        (
            lambda w: under_review(w, lambda v: v.agent.update("1", content="The API uses port 8080")),
            lambda w: w.person.approve(["9"]),
        ),
        (
            lambda w: (traces(w), under_review(w, lambda v: v.agent.compress(days=0))),
            lambda w: w.person.approve(["11"]),
        ),
        (extracted, lambda w: w.person.approve(["9"])),
    ],
    "compress": [(traces, lambda w: w.person.compress(days=0))],
    "extract-entities": [(nothing, extracted)],
    "undo": [
        (lambda w: w.person.update("1", content="The API uses port 8080"), lambda w: w.person.undo("12")),
        (lambda w: w.person.reject(["1"], reason="never"), lambda w: w.person.undo("12")),
        (lambda w: w.person.store("A new port of call"), lambda w: w.person.undo("12")),
    ],
}
FLAT = [(name, *case) for name, cases in CASES.items() for case in cases]


def each(cases: list[tuple[str, Act, Act]]) -> pytest.MarkDecorator:
    names = [f"{name}-{number}" for number, (name, *_) in enumerate(cases)]
    return pytest.mark.parametrize(("before", "act"), [case[1:] for case in cases], ids=names)


def test_every_writing_operation_has_a_case() -> None:
    without = {*undo.NEVER_UNDONE, "doctor", "backup", "export"}
    undoable = {one.name for one in operations() if one.writes} - without
    assert set(CASES) == undoable


def test_every_table_with_versions_says_what_becomes_of_a_row_that_an_event_made() -> None:
    assert set(undo._ENDED) == set(VERSIONED)


def present(memory: Service) -> dict[str, Any]:
    """The present tables and the indexes, without when and by which event a row was written."""
    dumped: dict[str, Any] = {}
    with memory._store.read() as db:
        for table in VERSIONED:
            cursor = db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")  # noqa: S608
            rows = [dict(zip((c[0] for c in cursor.get_description()), row, strict=True)) for row in cursor]
            dumped[table] = [
                {name: value for name, value in row.items() if name not in ("changed_at", "event_id")}
                for row in rows
            ]
        dumped["names"] = db.execute("SELECT key, entity_id FROM entity_names ORDER BY 1, 2").fetchall()
        dumped["words of entities"] = db.execute(
            "SELECT term, doc, col, offset FROM entities_postings ORDER BY 1, 2, 3, 4"
        ).fetchall()
        dumped["words"] = db.execute(
            "SELECT term, doc, col, offset FROM memories_postings ORDER BY 1, 2, 3, 4"
        ).fetchall()
        dumped["lengths"] = db.execute(
            "SELECT id, project, length FROM memories_lengths ORDER BY 1"
        ).fetchall()
        if db.execute("SELECT count(*) FROM indexed_pieces").get:
            dumped["pieces"] = db.execute(
                """SELECT p.owner, p.owner_id, p.embedding_id, p.project, v.project, v.kind, v.bits
                   FROM indexed_pieces p LEFT JOIN vector_index v ON v.rowid = p.id ORDER BY 1, 2, 3"""
            ).fetchall()
            assert all(bits for *_, bits in dumped["pieces"])
        centroids = db.execute("SELECT project, pieces, total FROM centroids WHERE pieces ORDER BY 1")
        dumped["centroids"] = [
            (project, pieces, np.frombuffer(total).round(9).tolist()) for project, pieces, total in centroids
        ]
    return dumped


def without_what_was_added(dump: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The dump without the rows that were not there before: these have to be ended, whatever they were."""
    kept = dict(dump)
    held = {(row["key"], row["project"]) for row in before["settings"]}
    added = [row for row in dump["settings"] if (row["key"], row["project"]) not in held]
    assert [row["value"] for row in added if row["value"] is not None] == []
    kept["settings"] = [row for row in dump["settings"] if row not in added]
    for table in ("memories", "tombstones", "sessions", "entities", "relations"):
        known = {row["id"] for row in before[table]}
        for row in dump[table]:
            if row["id"] in known:
                continue
            if table == "memories":
                assert (row["status"], row["status_reason"]) == ("archived", "undone")
                assert row["superseded_by"] is None
            if table in ("entities", "relations"):
                assert row["status"] == "undone"
            if table == "tombstones":
                assert row["lifted_at"] is not None
        kept[table] = [row for row in dump[table] if row["id"] in known]
    return kept


def answers(memory: Service) -> list[Any]:
    """What every read answers for now, but for when a row was changed."""
    given: list[Any] = []
    for question in QUESTIONS:
        found = memory.recall(question, all_projects=True, limit=100)
        given.append((found.total, [(hit.memory.id, round(hit.score, 6)) for hit in found.hits]))
    for status in ([], list(Status)):
        found_rows = memory.list_(all_projects=True, status=status, limit=1000).memories
        given.append([replace(one, changed_at="") for one in found_rows if one.status_reason != "undone"])
    return given


def believed(memory: Service, home: Path) -> dict[str, Any]:
    """What was believed at each instant at which anything was written."""
    told: dict[str, Any] = {}
    for event in records(home, "events"):
        at = event["at"]
        told[at] = memory.list_(all_projects=True, status=list(Status), limit=1000, known_at=at).memories
    for at in list(told)[9::2]:
        hits = memory.recall(QUESTIONS[0], all_projects=True, known_at=at).hits
        told[f"recalled {at}"] = [(hit.memory, round(hit.score, 6)) for hit in hits]
    return told


def newest(home: Path) -> str:
    return str(records(home, "events")[-1]["id"])


@each(FLAT)
def test_undo_restores_what_every_read_answers_and_the_indexes(
    world: World, home: Path, before: Act, act: Act
) -> None:
    memory = world.person
    before(world)
    state, said, events = present(memory), answers(memory), len(records(home, "events"))
    act(world)
    assert len(records(home, "events")) == events + 1  # one operation, one event
    done, past = present(memory), believed(memory, home)
    assert done != state
    undone = memory.undo(newest(home), reason="the wrong one")
    assert undone.event == events + 1
    assert without_what_was_added(present(memory), state) == state
    assert answers(memory) == said
    now = believed(memory, home)
    assert {at: now[at] for at in past} == past
    with memory._store.read() as db:
        assert integrity.first_broken(db) is None
    with memory._store.write() as db:
        assert index.problems(db, has_vectors=True) == []
    # And done again.
    memory.undo(newest(home))
    assert present(memory) == done
    # And undone once more, though it was done by an undo.
    memory.undo(newest(home))
    assert without_what_was_added(present(memory), state) == state


# Who is in no session of a host opens another one each time.
@each([case for case in FLAT if case[1:] != OPENED_ANEW])
def test_the_same_once_more_leaves_no_event(world: World, home: Path, before: Act, act: Act) -> None:
    before(world)
    act(world)
    event = records(home, "events")[-1]
    try:
        act(world)
    except MemError as err:
        assert err.exit_status == 4
    assert records(home, "events")[-1] == event


# What is refused


def refused(memory: Service, event: str, *words: str) -> None:
    """Undo is refused, says why, and has changed nothing."""
    state = present(memory)
    with pytest.raises(Refused) as caught:
        memory.undo(event)
    told = f"{caught.value} {caught.value.hint}"
    assert all(word in told for word in words), told
    assert present(memory) == state


def test_what_has_changed_since_is_not_undone_and_the_later_events_are_named(memory: Service) -> None:
    tell(memory, "One")
    tell(memory, "Two")
    memory.update("1", importance=6)
    memory.archive(["1", "2"])
    refused(memory, "3", "#1 has changed since, by event 4 (archive)", "mem undo 4")
    refused(memory, "1", "event 3 (update) and event 4 (archive)", "mem undo 4")
    refused(memory, "2", "#2", "event 4 (archive)")
    memory.undo("4")
    refused(memory, "1", "by event 3 (update).", "mem undo 3")
    memory.undo("3")
    memory.undo("1")
    assert live(memory) == {"Two"}


def test_a_row_that_is_again_as_the_event_left_it_counts_as_unchanged(memory: Service) -> None:
    tell(memory, "One", tag=["a"])
    memory.update("1", importance=6)
    memory.update("1", add_tag=["b"])
    memory.update("1", remove_tag=["b"])
    memory.undo("2")
    assert (get(memory, 1).importance, get(memory, 1).tags) == (5, ("a",))


def test_a_batch_is_undone_whole_or_not_at_all(memory: Service) -> None:
    memory.store_batch([{"content": "One"}, {"content": "Two"}, {"content": "Three"}])
    memory.update("2", importance=6)
    refused(memory, "1", "#2", "event 2 (update)")
    assert live(memory) == {"One", "Two", "Three"}
    memory.undo("2")
    assert len(memory.undo("1").memories) == 3
    assert live(memory) == set()


def test_what_another_memory_was_superseded_by_since_is_not_taken_away(memory: Service) -> None:
    tell(memory, "The port is 81", valid_from="2026-04-01")
    tell(memory, "The port is 80")
    memory.supersede(["2"], by="1")
    assert get(memory, 1).changed_at == get(memory, 1).recorded_at
    refused(memory, "1", "#2 has changed since", "event 3 (supersede)", "mem undo 3")
    memory.undo("3")
    memory.undo("1")
    assert live(memory) == {"The port is 80"}


def test_an_event_is_undone_once(memory: Service) -> None:
    tell(memory, "One")
    memory.archive(["1"])
    undone = memory.undo("2")
    assert (undone.event, undone.operation, undone.by) == (2, "archive", 3)
    refused(memory, "2", "was undone already, by event 3", "mem undo 3")
    memory.undo("3")
    refused(memory, "3", "was undone already, by event 4")
    assert memory.undo("2").by == 5  # the archiving was in force again
    refused(memory, "2", "by event 5")


def test_what_an_undo_would_bring_back_passes_the_gate(memory: Service) -> None:
    tell(memory, "The moon is cheese")
    memory.archive(["1"])
    tell(memory, "The moon is cheese", kind=Kind.SUMMARY)
    memory.reject(["2"], reason="it is rock")
    refused(memory, "2", "#1 would say again what is kept out", "it is rock", "mem restore 2 --force")
    memory.undo("4")
    memory.undo("2")
    assert [found.kind for found in memory.list_().memories] == ["summary", "learning"]


def test_an_update_that_took_rejected_words_away_does_not_bring_them_back(memory: Service) -> None:
    tell(memory, "The moon is cheese")
    memory.update("1", content="The moon is rock")
    tell(memory, "The moon is cheese")
    memory.reject(["2"], reason="no")
    refused(memory, "2", "would say again", "no")
    memory.restore(["2"], force=True)
    refused(memory, "2", "#2 says by now what #1 would say again", "mem archive 2")


def test_undoing_the_rejection_itself_lifts_it(memory: Service) -> None:
    tell(memory, "The moon is cheese")
    tell(memory, "The moon is cheese", kind=Kind.SUMMARY, project="alpha")
    memory.reject(["1"], reason="it is rock")
    assert memory.store("the moon is cheese").action == "refused"
    memory.undo("3")
    assert [found.status for found in everything(memory)] == ["active", "active"]
    assert memory.store("the moon is cheese").action == "already_known"
    tell(memory, "The moon is cheese", kind=Kind.DECISION)
    refused(memory, "4", "#3 says what would be rejected again", "mem reject 3")


def test_an_undo_never_makes_a_circle_of_successors(memory: Service) -> None:
    tell(memory, "A", valid_from="2026-01-01")
    tell(memory, "B", valid_from="2026-02-01")
    memory.supersede(["1"], by="2", valid_to="2026-03-01")
    memory.undo("3")
    memory.supersede(["2"], by="1", valid_to="2026-03-01")
    refused(memory, "4", "would be its own successor")


def test_what_cannot_be_undone_says_so(memory: Service, home: Path, wall: WallClock) -> None:
    tell(memory, "One", layer=Layer.WORKING)
    wall.forward(days=1)
    memory.maintain()
    refused(memory, "2", "Event 2 (maintain) cannot be undone", "import, maintain, backfill")
    tell(memory, "Two")
    memory.archive(["2"])
    memory.forget(["2"])
    refused(memory, "4", "was forgotten since")
    refused(memory, "5", "Event 5 (forget) cannot be undone")
    memory.session_start()
    refused(memory, "6", "left nothing that could be undone")


def test_an_event_of_another_store_is_not_undone(memory: Service, home: Path) -> None:
    tell(memory, "One")
    memory.archive(["1"])
    db = apsw.Connection(str(home / "memory.db"))  # as an import will leave it
    db.execute("INSERT INTO origins VALUES (2, 'elsewhere'); UPDATE events SET origin_id = 2 WHERE id = 2")
    db.close()
    refused(memory, "2", "came from another store")


def test_a_wrong_event_is_told_as_such(memory: Service) -> None:
    tell(memory, "One")
    uid = memory.log().events[0].uid
    for wrong in ("", "one", "1.0", "-1"):
        with pytest.raises(Usage):
            memory.undo(wrong)
    for missing in ("0", "2", "#99", "12345678901234567890", "00000000-0000"):
        with pytest.raises(NotFound, match="There is no event"):
            memory.undo(missing)
    for _ in range(2):
        tell(memory, f"Two {_}")
    with pytest.raises(NotFound, match="more than one event"):
        memory.undo(uid[:8])
    assert memory.undo(uid.upper()).event == 1
    assert memory.undo("#2").event == 2


def test_undo_is_for_people(memory: Service, person: Caller) -> None:
    from mem.server import tools

    entry = find_operation("undo")
    assert entry.people
    assert "undo" not in tools.offered()
    assert "log" in tools.offered()


# What it writes


def test_an_undo_is_an_event_with_its_reason_and_what_it_undoes(memory: Service) -> None:
    tell(memory, "One")
    memory.archive(["1"], reason="wrong")
    undone = memory.undo("2", reason="the other one was meant")
    assert isinstance(undone, Undone)
    log = memory.log().events
    assert (log[0].operation, log[0].reason, log[0].undoes) == ("undo", "the other one was meant", 2)
    assert log[0].detail == {"undoes": log[1].uid}
    assert (log[1].undone_by, log[2].undone_by) == (3, None)
    assert get(memory, 1).status_reason is None
    assert [change.operation for change in memory.history("1").changes] == ["store", "archive", "undo"]


def test_a_store_that_was_undone_may_be_stored_again_under_its_id(memory: Service) -> None:
    tell(memory, "One")
    memory.undo("1")
    assert get(memory, 1).status_reason == "undone"
    again = memory.store("one.")
    assert (again.action, again.id) == ("revived", 1)


def test_a_text_that_comes_back_without_its_vector_gets_one(memory: Service, person: Caller) -> None:
    without = Service(memory._store, None, person)
    tell(without, "The API uses port 80")
    without.update("1", content="Something else")
    assert memory.undo("2").vector == "stored"
    assert memory.recall("which port does the API use?", mode=Mode.VECTOR).hits[0].memory.id == 1


def test_the_project_that_a_memory_went_to_stays(memory: Service, home: Path) -> None:
    tell(memory, "One", project="alpha")
    memory.update("1", project="beta")
    memory.undo("2")
    assert get(memory, 1).project == "alpha"
    assert [row["name"] for row in records(home, "projects")] == ["alpha", "beta"]


def test_a_setting_is_undone_and_one_that_was_made_is_empty(memory: Service, person: Caller) -> None:
    def write(project: str | None, value: str | None) -> None:
        with unit_of_work(memory._store, "goal", person.actor) as unit:
            settings.write(unit, settings.GOAL, project, value)

    def goal() -> str | None:
        with memory._store.read() as db:
            return settings.read(db, None).goal

    write(None, "Ship it")
    write(None, "Ship it on Monday")
    refused(memory, "1", "the setting goal has changed since", "event 2 (goal)")
    memory.undo("2")
    assert goal() == "Ship it"
    memory.undo("1")
    assert goal() is None
    memory.undo("4")
    assert goal() == "Ship it"
