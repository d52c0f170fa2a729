"""The audit log: one operation, one event; a chain that shows every change to it; a history that explains."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from telling import everything, get, records, rows, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.errors import MemError
from mem.service import Service
from mem.store.events import event_hash
from mem.store.integrity import broken_link, first_broken
from mem.truth.drafts import Clearable
from mem.values import Actor, ActorKind, Status


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


def events(home: Path) -> list[dict[str, Any]]:
    return records(home, "events")


def test_each_operation_leaves_one_event_with_who_and_what(
    memory: Service, home: Path, person: Caller
) -> None:
    agent = memory.of(replace(person, actor=Actor(ActorKind.AGENT, "some-editor", "session-7")))
    tell(memory, "One")
    agent.store_batch([{"content": "Two"}, {"content": "Three"}, {"content": "One"}])
    agent.update("1", importance=9)
    memory.supersede(["1", "2"], content="One and two", reason="they belong together")
    memory.archive(["3", "4"])
    memory.restore(["4", "3"])
    memory.store("three", tag=["again"])
    memory.supersede(["3"], ended=True)
    memory.store("Five", supersedes=["4"])
    uids = {str(found.id): found.uid for found in everything(memory)}
    assert [
        (event["operation"], event["actor"], event["client"], event["session"]) for event in events(home)
    ] == [
        ("store", "person", None, None),
        ("store-batch", "agent", "some-editor", "session-7"),
        ("update", "agent", "some-editor", "session-7"),
        ("supersede", "person", None, None),
        ("archive", "person", None, None),
        ("restore", "person", None, None),
        ("store", "person", None, None),
        ("supersede", "person", None, None),
        ("store", "person", None, None),
    ]
    subjects = [event["subjects"] for event in events(home)]
    touched = ("1", "23", "1", "124", "34", "34", "3", "3", "45")
    assert subjects == ["[" + ",".join(f'"{uids[id_]}"' for id_ in ids) + "]" for ids in touched]
    assert [event["sequence"] for event in events(home)] == list(range(1, 10))


def test_what_changes_nothing_leaves_no_event_and_no_version(memory: Service, home: Path) -> None:
    tell(memory, "The API uses port 80", importance=7, tag=["a", "b"], source="README", title="Port")
    tell(memory, "Archived before")
    memory.archive(["2"])
    tell(memory, "Ended before")
    memory.supersede(["3"], ended=True)
    before = events(home), rows(home, "memories"), rows(home, "memories_versions")
    unchanging: list[Callable[[], Any]] = [
        lambda: memory.store("the api uses port 80!", tag=["b"]),
        lambda: memory.store_batch([{"content": "The API uses port 80"}, {"content": ""}]),
        lambda: memory.store("Archived before"),
        lambda: memory.update("1", importance=7, content=" The API uses port 80 ", add_tag=["a"]),
        lambda: memory.update("1", remove_tag=["never there"], clear=[Clearable.EXPIRES]),
        lambda: memory.update("1", global_=True),
        lambda: memory.archive(["2"], reason="once more"),
        lambda: memory.restore(["1"]),
        lambda: memory.recall("API port"),
        lambda: memory.get(["1", "2"], known_at="2030-01-01"),
        lambda: memory.list_(status=list(Status)),
        lambda: memory.history("1"),
        lambda: memory.stats(),
        lambda: memory.doctor(),
    ]
    for number, call in enumerate(unchanging):
        call()
        assert (events(home), rows(home, "memories"), rows(home, "memories_versions")) == before, number
    refused: list[Callable[[], Any]] = [
        lambda: memory.update("1", content="Archived before"),
        lambda: memory.archive(["1", "3"]),
        lambda: memory.restore(["2", "3"]),
        lambda: memory.supersede(["1", "3"], content="New"),
        lambda: memory.store("New", supersedes=["1", "3"]),
    ]
    for number, call in enumerate(refused):
        with pytest.raises(MemError):
            call()
        assert (events(home), rows(home, "memories"), rows(home, "memories_versions")) == before, number


def test_record_times_increase_though_the_clock_goes_backwards(
    memory: Service, home: Path, wall: WallClock
) -> None:
    tell(memory, "One")
    for instant in ("2026-05-10T07:00:00Z", "1999-01-01T00:00:00Z", "2026-05-10T08:00:00Z"):
        wall.set(instant)
        memory.update("1", add_tag=[instant])
    wall.set("2026-05-11T08:00:00Z")
    memory.archive(["1"])
    times = [event["at"] for event in events(home)]
    assert times == sorted(set(times))
    assert len(times) == 5
    assert times[-1].startswith("2026-05-11T08:00:00")
    changes = [change.at for change in memory.history("1").changes]
    assert changes == times
    known = [len(memory.get(["1"], known_at=time).memories[0].tags) for time in times]
    assert known == [0, 1, 2, 3, 3]


def test_two_events_in_one_instant_are_a_microsecond_apart(
    memory: Service, home: Path, wall: WallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mem import clock

    monkeypatch.setattr(clock, "now", lambda: wall.instant)
    tell(memory, "One")
    tell(memory, "Two")
    assert [event["at"] for event in events(home)] == [
        "2026-05-10T08:00:00.000000Z",
        "2026-05-10T08:00:00.000001Z",
    ]


# The chain


def audit(memory: Service) -> tuple[bool, str]:
    check = next(check for check in memory.doctor().checks if check.name == "audit log")
    return check.ok, check.detail


@pytest.fixture
def audited(memory: Service, person: Caller) -> Service:
    """Four events: the second with every column filled."""
    tell(memory, "The API uses port 80")
    agent = memory.of(replace(person, actor=Actor(ActorKind.AGENT, "some-editor", "session-7")))
    agent.supersede(["1"], content="The API uses port 81", reason="new ingress")
    memory.archive(["2"], reason="shut down")
    memory.restore(["2"])
    assert audit(memory) == (True, "the chain of events is whole")
    return memory


def damage(home: Path, sql: str, *values: object) -> None:
    """Change the log behind the back of `mem`."""
    db = apsw.Connection(str(home / "memory.db"))
    db.execute(sql, values)
    assert db.changes() == 1
    db.close()


def other(value: Any, place: int) -> Any:
    """The same value but for one byte."""
    if isinstance(value, int):
        return value + 100
    if isinstance(value, bytes):
        return value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]
    swapped = "B" if value[place] != "B" else "C"
    return value[:place] + swapped + value[place + 1 :]


COLUMNS = ("uid", "sequence", "at", "operation", "actor", "client", "session", "subjects", "detail", "texts")


@pytest.mark.parametrize("column", [*COLUMNS, "previous", "hash"])
def test_doctor_names_the_event_of_which_a_byte_was_changed(
    audited: Service, home: Path, column: str
) -> None:
    value = events(home)[1][column]
    places = range(len(value)) if isinstance(value, str) else (0, 31) if isinstance(value, bytes) else (0,)
    assert len(places) > 0
    # Out of its sequence it leaves a gap behind: the event after it has lost its predecessor.
    found = 3 if column == "sequence" else 2
    change = f"UPDATE events SET {column} = ? WHERE id = 2"  # noqa: S608
    for place in places:
        damage(home, change, other(value, place))
        with audited._store.read() as db:
            assert broken_link(db) == found, (value, place)
    assert audit(audited) == (False, f"the chain breaks at event {found}")
    damage(home, change, value)
    assert audit(audited)[0]


@pytest.mark.parametrize(
    "texts",
    [
        '{"reason": "what?"}',
        '{"reason":{"text":"x"}}',
        "[]",
        "null",
        "{",
        "{}",
        '{"reason":{"digest":"d","salt":"zz","text":"t"}}',
    ],
)
def test_a_log_that_is_no_longer_readable_is_a_finding_not_a_crash(
    audited: Service, home: Path, texts: str
) -> None:
    damage(home, "UPDATE events SET texts = ? WHERE id = 2", texts)
    assert audit(audited) == (False, "the chain breaks at event 2")


@pytest.mark.parametrize("column", ["subjects", "detail", "texts"])
def test_another_spelling_of_the_same_json_is_a_change_too(audited: Service, home: Path, column: str) -> None:
    damage(home, f"UPDATE events SET {column} = {column} || ' ' WHERE id = 2")  # noqa: S608
    assert audit(audited) == (False, "the chain breaks at event 2")


def test_a_removed_event_is_missed_by_the_one_after_it(audited: Service, home: Path) -> None:
    damage(home, "DELETE FROM events WHERE id = 3")
    assert audit(audited) == (False, "the chain breaks at event 4")


def test_an_inserted_event_is_found(audited: Service, home: Path) -> None:
    damage(
        home,
        """INSERT INTO events (uid, origin_id, sequence, at, operation, actor, previous, hash)
           SELECT 'made-up', 1, 5, '2999-01-01T00:00:00.000000Z', 'store', 'person', hash, zeroblob(32)
           FROM events WHERE id = 4""",
    )
    assert audit(audited) == (False, "the chain breaks at event 5")


# The thorough look: which event does not fit, and why


def audited_event(memory: Service) -> tuple[int, str] | None:
    """What `mem doctor --audit` says of the log: the first event that does not fit, and why."""
    with memory._store.read() as db:
        broken = first_broken(db)
    if broken is None:
        return None
    return broken.event, broken.why


WHY = {
    "uid": "what it says does not fit its hash",
    "subjects": "its subjects, detail or texts cannot be read",
    "detail": "its subjects, detail or texts cannot be read",
    "texts": "its subjects, detail or texts cannot be read",
}


@pytest.mark.parametrize("column", [*COLUMNS, "previous", "hash", "origin_id"])
@pytest.mark.parametrize("event", [1, 2, 4])
def test_the_audit_locates_the_event_of_which_a_column_was_changed(
    audited: Service, home: Path, column: str, event: int
) -> None:
    value = events(home)[event - 1][column]
    changed = "x" if value is None else other(value, 0)
    assert changed != value
    damage(home, f"UPDATE events SET {column} = ? WHERE id = ?", changed, event)  # noqa: S608
    found = audited_event(audited)
    assert found == (event, WHY.get(column, "what it says does not fit its hash"))
    check = next(check for check in audited.doctor(audit=True).checks if check.name == "audit log")
    assert (check.ok, check.detail) == (False, f"the chain breaks at event {event}: {found[1]}")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("subjects", "[]"), "what it says does not fit its hash"),
        (("detail", '{"forced":true}'), "what it says does not fit its hash"),
        (("texts", "{}"), "what it says does not fit its hash"),
        (("detail", "{ }"), "its subjects, detail or texts are not written as they were"),
        (("texts", None), "its reason is not the one that was given"),
    ],
)
def test_the_audit_says_what_of_an_event_is_not_as_it_was(
    audited: Service, home: Path, change: tuple[str, str | None], why: str
) -> None:
    column, value = change
    value = value or events(home)[1]["texts"].replace("new ingress", "old ingress")
    damage(home, f"UPDATE events SET {column} = ? WHERE id = 2", value)  # noqa: S608
    assert audited_event(audited) == (2, why)


@pytest.mark.parametrize(
    ("removed", "found", "why"),
    [
        ((1,), 2, "what was number 1 of the chain is missing before it"),
        ((2,), 3, "what was number 2 of the chain is missing before it"),
        ((2, 3), 4, "what was number 2 to 3 of the chain is missing before it"),
        ((4,), 4, "it is missing, though it wrote 2 in memories; the log ends at event 3"),
        ((3, 4), 3, "it is missing, though it wrote 2 in memories; the log ends at event 2"),
    ],
)
def test_the_audit_misses_what_was_taken_out_and_a_tail_that_was_cut_off(
    audited: Service, home: Path, removed: tuple[int, ...], found: int, why: str
) -> None:
    for event in removed:
        damage(home, "DELETE FROM events WHERE id = ?", event)
    assert audited_event(audited) == (found, why)


def test_the_audit_misses_a_tail_to_which_nothing_refers_any_more(audited: Service, home: Path) -> None:
    audited.session_start()  # event 5
    damage(home, "DELETE FROM sessions")
    damage(home, "DELETE FROM events WHERE id = 5")
    assert audited_event(audited) == (5, "it is missing: the log ends at event 4, though 5 were numbered")


@pytest.mark.parametrize(("event", "other_event"), [(1, 2), (2, 3), (3, 4), (1, 4)])
def test_the_audit_finds_events_that_were_swapped(
    audited: Service, home: Path, event: int, other_event: int
) -> None:
    for old, new in ((event, 999), (other_event, event), (999, other_event)):
        damage(home, "UPDATE events SET id = ? WHERE id = ?", new, old)
    found = audited_event(audited)
    assert found is not None
    assert found[0] in (event, other_event)
    assert "of the chain when it was written" in found[1]


def test_the_audit_finds_sequences_that_were_swapped(audited: Service, home: Path) -> None:
    for old, new in ((2, 999), (3, 2), (999, 3)):
        damage(home, "UPDATE events SET sequence = ? WHERE sequence = ?", new, old)
    assert audited_event(audited) == (3, "what it says does not fit its hash")


@pytest.mark.parametrize("event", [1, 2, 3, 4])
def test_the_audit_finds_an_event_that_was_given_another_number(
    audited: Service, home: Path, event: int
) -> None:
    damage(home, "UPDATE events SET id = 100 WHERE id = ?", event)
    found = audited_event(audited)
    assert found is not None
    assert found[0] in (event, 100)


@pytest.mark.parametrize(("sequence", "found"), [(5, 5), (0, 5), (99, 5)])
def test_the_audit_finds_an_event_that_was_put_in(
    audited: Service, home: Path, sequence: int, found: int
) -> None:
    damage(
        home,
        """INSERT INTO events (uid, origin_id, sequence, at, operation, actor, previous, hash)
           SELECT 'made-up', 1, ?, '2026-05-11T01:00:00.000000Z', 'store', 'person', hash, zeroblob(32)
           FROM events WHERE id = 4""",
        sequence,
    )
    assert audited_event(audited) == (found, "what it says does not fit its hash")


def test_the_audit_finds_an_event_whose_hash_was_made_anew(audited: Service, home: Path) -> None:
    damage(home, "UPDATE events SET operation = 'restore' WHERE id = 2")
    with audited._store.read() as db:
        forged = event_hash(db, 2)
    damage(home, "UPDATE events SET hash = ? WHERE id = 2", forged)
    assert audited_event(audited) == (3, "it does not follow event 2, though its place in the chain says so")
    assert audit(audited) == (False, "the chain breaks at event 3")


@pytest.mark.parametrize("column", ["event_id", "replaced_by"])
def test_the_audit_finds_a_version_whose_event_is_not_there(
    audited: Service, home: Path, column: str
) -> None:
    change = f"UPDATE memories_versions SET {column} = 77 WHERE id = 1"  # noqa: S608
    damage(home, change)
    event, why = audited_event(audited) or (0, "")
    assert event == 77
    assert why.startswith("it is missing, though it")
    assert why.endswith("1 in memories; the log ends at event 4")


def test_the_audit_of_a_sound_log_tells_the_newest_hash_for_a_note(audited: Service, home: Path) -> None:
    check = next(check for check in audited.doctor(audit=True).checks if check.name == "audit log")
    digest = events(home)[-1]["hash"].hex()
    assert (check.ok, check.detail) == (True, f"every event fits; the newest is event 4, {digest}")


def test_an_item_of_a_batch_that_failed_leaves_no_gap_in_the_log(memory: Service, home: Path) -> None:
    batch = memory.store_batch([{"content": "Two", "supersedes": ["99"]}, {"content": "One"}])
    assert [one.action for one in batch.outcomes] == ["refused", "added"]
    tell(memory, "Three")
    assert [event["id"] for event in events(home)] == [1, 2]
    assert audited_event(memory) is None


# History


def test_history_tells_what_changed_who_did_it_and_why_along_the_line(
    memory: Service, wall: WallClock, person: Caller
) -> None:
    agent = memory.of(replace(person, actor=Actor(ActorKind.AGENT)))
    tell(memory, "The API uses port 8O", tag=["api"], importance=6)
    tell(memory, "The API uses port 8080")
    agent.update("1", content="The API uses port 80", reason="a slip")
    memory.supersede(["1", "2"], content="The API uses port 81", reason="new ingress")
    agent.archive(["3"], reason="shut down")
    for id_ in ("1", "2", "3"):
        history = memory.history(id_)
        assert (history.id, history.chain) == (int(id_), (1, 2, 3))
        told = [(change.id, change.operation, change.actor, change.reason) for change in history.changes]
        assert told == [
            (1, "store", "person", None),
            (2, "store", "person", None),
            (1, "update", "agent", "a slip"),
            (1, "supersede", "person", "new ingress"),
            (2, "supersede", "person", "new ingress"),
            (3, "supersede", "person", "new ingress"),
            (3, "archive", "agent", "shut down"),
        ]
    changed = [dict(change.changed) for change in memory.history("1").changes]
    assert changed[0]["content"] == "The API uses port 8O"
    assert (changed[0]["tags"], changed[0]["importance"]) == (["api"], 6)
    assert changed[2] == {"content": "The API uses port 80"}
    successor = get(memory, 3)
    assert changed[3] == {
        "status": "superseded",
        "status_reason": "new ingress",
        "valid_to": successor.recorded_at,
        "superseded_by": 3,
    }
    assert changed[6] == {"status": "archived", "status_reason": "shut down"}
    assert [change.at for change in memory.history("1").changes] == sorted(
        change.at for change in memory.history("1").changes
    )


def test_a_version_ends_exactly_where_the_next_begins(memory: Service, home: Path) -> None:
    tell(memory, "The API uses port 80")
    for number in range(5):
        memory.update("1", importance=number)
    memory.archive(["1"])
    memory.restore(["1"])
    versions, [present] = records(home, "memories_versions"), records(home, "memories")
    assert len(versions) == 7
    following = [*versions[1:], present]
    assert [version["replaced_at"] for version in versions] == [after["changed_at"] for after in following]
    assert [version["replaced_by"] for version in versions] == [after["event_id"] for after in following]
    assert [version["changed_at"] for version in versions] == [event["at"] for event in events(home)[:-1]]
