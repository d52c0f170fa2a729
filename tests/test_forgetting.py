"""Forget: nothing of a memory is left in any file of ours, its content stays out, the rest stays whole."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from conftest import BagOfWords, Ran, process_environment
from telling import everything, get, live, records, rows, tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.context import failures, shown
from mem.embed import Role
from mem.embed.vectors import centre, sign_bits, to_blob
from mem.errors import NotFound, Refused
from mem.paths import places
from mem.service import Service
from mem.store import erasure
from mem.store.connect import APPLICATION_ID, Store
from mem.values import Actor, ActorKind, Kind, Mode, Status

SECRET = "The vault opens to Quetzalcoatlus-77319052 after midnight"  # noqa: S105
WORDS = (
    b"uetzalcoatlus",
    b"77319052",
)  # of the secret alone, and without what the index may share with others


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, "2026-05-10T08:00:00Z")


def holding(home: Path, *needles: bytes) -> list[str]:
    """The files of a home that hold one of some bytes, whatever their case."""
    found = [file for file in sorted(home.rglob("*")) if file.is_file()]
    lowered = [needle.lower() for needle in needles]
    return [file.name for file in found if any(needle in file.read_bytes().lower() for needle in lowered)]


def vector_of(embedder: BagOfWords, text: str) -> tuple[bytes, bytes]:
    """The bytes of a text's vector, and of its sign bits."""
    vectors = embedder.embed([text], Role.PASSAGE)
    return to_blob(vectors[0]), bytes(sign_bits(centre(vectors, None))[0])


def surrounded(memory: Service, seed: int, count: int = 150) -> None:
    """Tell and change much else, so that pages are split, merged and moved about."""
    chance = random.Random(seed)  # noqa: S311
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(3, 9))) for _ in range(500)]

    def text() -> str:
        return " ".join(chance.choices(words, k=chance.choice((3, 8, 30, 120, 400))))

    told = memory.store_batch([{"content": text()} for _ in range(count)]).outcomes
    for outcome in chance.sample(told, count // 3):
        memory.update(str(outcome.id), content=text())
    for outcome in chance.sample(told, count // 5):
        memory.archive([str(outcome.id)])


def sound(memory: Service) -> bool:
    checks = {check.name: check for check in memory.doctor().checks}
    return all(checks[name].ok for name in ("store", "audit log", "indexes"))


# Nothing is left


@pytest.mark.parametrize("seed", range(2))
def test_no_file_holds_a_byte_of_what_was_forgotten(
    memory: Service, home: Path, fake_embedder: BagOfWords, seed: int
) -> None:
    surrounded(memory, seed)
    id_ = tell(memory, f"{SECRET} or so", tag=["quetzalcoatlus"], rationale="as Quetzalcoatlus-77319052 said")
    surrounded(memory, seed + 100)
    memory.update(id_, content=SECRET, reason="it was Quetzalcoatlus-77319052 after all")
    memory.update(id_, content=f"{SECRET}. {'It is a long story. ' * 400}")
    memory.update(id_, content=SECRET, importance=9)
    surrounded(memory, seed + 200)
    memory.archive([id_], reason="Quetzalcoatlus-77319052 is out of date")
    memory.restore([id_])
    recalled = memory.recall("when does the vault open to Quetzalcoatlus-77319052?")
    assert str(recalled.hits[0].memory.id) == id_
    said = f"{SECRET}\nas Quetzalcoatlus-77319052 said"
    vector, bits = vector_of(fake_embedder, said)
    assert "memory.db" in holding(home, SECRET.encode())
    assert holding(home, vector)
    assert holding(home, bits)

    done = memory.forget([id_])

    assert (done.ids, done.remains, done.listed, done.exit_status) == ((int(id_),), (), (), 0)
    assert holding(home, SECRET.encode(), *WORDS) == []
    assert holding(home, vector, bits) == []
    assert not [term for term, *_ in rows(home, "memories_terms") if "uetzal" in term]
    assert (home / "memory.db-wal").stat().st_size == 0
    assert sound(memory)
    with pytest.raises(NotFound):
        memory.get([id_])
    hits = memory.recall("when does the vault open to Quetzalcoatlus-77319052?", limit=100).hits
    assert int(id_) not in {hit.memory.id for hit in hits}


def test_the_unused_parts_of_pages_hold_nothing_either(memory: Service, home: Path, person: Caller) -> None:
    """SQLite zeroes what is deleted, but not what it left behind in a page when that was split."""
    by_words = Service(Store(home / "memory.db"), None, person)
    chance = random.Random(2)  # noqa: S311

    def text(secret: bool) -> str:
        said = "Quetzalcoatlus-77319052" if secret else "padding words here now"
        return f"{chance.random()} {' '.join([said] * chance.choice((1, 3, 8, 30, 120)))}"

    told: list[tuple[str, bool]] = []
    for _ in range(6):
        secret = [chance.random() < 0.5 for _ in range(100)]
        outcomes = by_words.store_batch([{"content": text(one)} for one in secret]).outcomes
        told += [(str(outcome.id), one) for outcome, one in zip(outcomes, secret, strict=True)]
    for id_, one in chance.sample(told, 200):
        by_words.update(id_, content=text(one))
    for id_, _ in chance.sample(told, 100):
        by_words.archive([id_])
    done = by_words.forget([id_ for id_, one in told if one])
    assert done.exit_status == 0
    assert holding(home, *WORDS) == []
    assert sound(memory)
    by_words.close()


def test_usage_traces_and_counts_go_with_it(memory: Service, home: Path) -> None:
    tell(memory, "The vault is in the cellar")
    id_ = tell(memory, SECRET)
    assert memory.recall("vault").total == 2
    assert int(id_) in {row[0] for row in rows(home, "usage")}
    memory.forget([id_])
    assert int(id_) not in {row[0] for row in rows(home, "usage")}
    for trace in records(home, "recall_traces"):
        assert [number for number, *_ in json.loads(trace["shown"])] == [1]
    memory.forget(["1"])
    for table in ("memories", "memories_versions", "embeddings", "indexed_pieces", "centroids", "usage"):
        assert rows(home, table) == [], table
    assert rows(home, "memories_lengths") == rows(home, "vector_index_rowids") == []


def test_a_vector_that_another_text_shares_stays(memory: Service) -> None:
    first = tell(memory, SECRET)
    second = tell(memory, SECRET, project="bank")
    done = memory.forget([first])
    assert [(notice.code, notice.ids) for notice in done.warnings] == [("said_elsewhere", (int(second),))]
    assert f"mem forget {second}" in done.warnings[0].message
    hits = memory.recall("vault Quetzalcoatlus", project="bank", mode=Mode.VECTOR).hits
    assert [str(hit.memory.id) for hit in hits] == [second]
    assert sound(memory)


def test_what_quotes_it_is_named_and_left(memory: Service, home: Path) -> None:
    id_ = tell(memory, SECRET)
    quoting = tell(memory, f"Ana wrote: {SECRET}!")
    memory.session_start()
    memory.session_end(task=[f"change this: {SECRET}"])
    done = memory.forget([id_])
    assert [notice.ids for notice in done.warnings] == [(int(quoting),), ()]
    assert "session 1" in done.warnings[1].message
    assert get(memory, quoting).content == f"Ana wrote: {SECRET}!"


def test_what_a_session_was_shown_and_the_logs_lose_it(memory: Service, home: Path) -> None:
    id_, other = tell(memory, SECRET), tell(memory, "Lunch is at noon")
    state = places().state
    block = f"- #{id_} [2026-05-10, global] {SECRET}\n- #{other} [2026-05-10, global] Lunch is at noon"
    mine, others = state / "sessions" / "a.json", state / "sessions" / "b.json"
    shown.save(mine, shown.Shown((int(id_), int(other)), block, (f"#{id_}", f"#{other}")))
    kept = shown.Shown((int(other),), "- #2 [2026-05-10, global] Lunch is at noon", ("#2",))
    shown.save(others, kept)
    failures.record(state, "prompt", ValueError(f"cannot say {SECRET!r}"))
    failures.record(state, "prompt", ValueError("the disk is full"))
    memory.forget([id_])
    assert shown.load(mine) == shown.Shown((int(other),))
    assert shown.load(others) == kept
    assert "the disk is full" in (state / "hook.log").read_text()
    assert holding(home, SECRET.encode()) == []


# What stays


def test_the_content_is_refused_from_now_on(memory: Service, wall: WallClock, person: Caller) -> None:
    id_ = tell(memory, SECRET)
    memory.forget([id_])
    wall.forward(days=3)
    stored = memory.store(SECRET.upper() + "!")
    assert (stored.action, stored.id) == ("refused", None)
    assert stored.refusal is not None
    assert (stored.refusal.code, stored.refusal.id) == ("forgotten", None)
    assert stored.refusal.reason == "This was forgotten on 2026-05-10."
    assert stored.refusal.hint == "A person can override that: --force"
    other = tell(memory, "The vault opens at noon")
    with pytest.raises(Refused, match="forgotten on 2026-05-10"):
        memory.update(other, content=SECRET)
    again = memory.store(SECRET, force=True)
    assert (again.action, again.id != int(id_)) == ("added", True)


def test_it_binds_where_the_memory_belonged(memory: Service) -> None:
    memory.forget([tell(memory, SECRET, project="bank")])
    assert memory.store(SECRET, project="bank").action == "refused"
    assert memory.store(SECRET, project="bank", kind=Kind.SUMMARY).action == "refused"
    elsewhere = memory.store(SECRET)
    assert elsewhere.action == "added"
    memory.forget([str(elsewhere.id)])
    assert memory.store(SECRET, project="farm").action == "refused"


def test_an_earlier_wording_is_refused_too_unless_another_memory_says_it_now(memory: Service) -> None:
    id_ = tell(memory, "The port is 8O")
    memory.update(id_, content="The port is 80")
    memory.update(id_, content="The port is 80 on staging")
    other = tell(memory, "The port is 80")
    memory.forget([id_])
    assert memory.store("The port is 8O").action == "refused"
    assert memory.store("The port is 80 on staging").action == "refused"
    known = memory.store("The port is 80")
    assert (known.action, str(known.id)) == ("already_known", other)


def test_a_rejection_that_is_forgotten_loses_its_reason(memory: Service, home: Path) -> None:
    id_ = tell(memory, SECRET)
    memory.reject([id_], reason="Quetzalcoatlus-77319052 left")
    memory.store(SECRET, force=True)
    memory.reject([id_], reason="Quetzalcoatlus-77319052 is really gone")
    memory.forget([id_])
    assert holding(home, *WORDS) == []
    [stone] = records(home, "tombstones")
    assert (stone["kind"], stone["reason"], stone["lifted_at"]) == ("forgotten", None, None)


def test_the_event_is_free_of_content_and_the_chain_whole(memory: Service, home: Path) -> None:
    other = tell(memory, "Lunch is at noon")
    id_ = tell(memory, SECRET)
    uid = get(memory, id_).uid
    memory.archive([id_, other], reason=f"not {SECRET}")
    memory.restore([other], reason="Lunch is still at noon")
    memory.archive([other], reason="no lunch any more")
    before = records(home, "events")
    memory.forget([id_])
    after = records(home, "events")
    assert [event["hash"] for event in after[:-1]] == [event["hash"] for event in before]
    assert (after[-1]["operation"], json.loads(after[-1]["subjects"])) == ("forget", [uid])
    assert (after[-1]["texts"], after[-1]["detail"]) == ("{}", "{}")
    assert sound(memory)
    reasons = [change.reason for change in memory.history(other).changes]
    assert reasons == [None, None, "Lunch is still at noon", "no lunch any more"]
    assert get(memory, other).status_reason == "no lunch any more"
    assert holding(home, *WORDS) == []


def test_what_it_had_replaced_is_replaced_by_its_successor(memory: Service) -> None:
    first = tell(memory, "The vault is green")
    second = str(memory.supersede([first], content=SECRET, reason="77319052").memories[1].id)
    third = str(memory.supersede([second], content="The vault is blue").memories[1].id)
    memory.forget([second])
    old = get(memory, first)
    assert (old.status, str(old.superseded_by), old.status_reason) == (Status.SUPERSEDED, third, None)
    assert memory.history(first).chain == (int(first), int(third))
    refusal = memory.store("The vault is green").refusal
    assert refusal is not None
    assert f"mem supersede {third}" in refusal.hint


def test_what_it_had_replaced_for_good_has_ended_and_may_be_said_again(memory: Service) -> None:
    first = tell(memory, "The vault is green")
    second = str(memory.supersede([first], content="The vault is grey").memories[1].id)
    third = str(memory.supersede([second], content=SECRET).memories[1].id)
    closed = get(memory, first).valid_to
    memory.forget([third, second])
    old = get(memory, first)
    assert (old.status, old.superseded_by, old.status_reason) == (Status.SUPERSEDED, None, "ended")
    assert (old.valid_to, live(memory)) == (closed, set())
    assert memory.store("The vault is green").action == "added"
    assert sound(memory)


def test_earlier_answers_lose_it_and_nothing_else(memory: Service, wall: WallClock) -> None:
    first = tell(memory, "The vault is green")
    began = wall.forward(hours=1)
    other = tell(memory, "Lunch is at noon")
    second = str(memory.supersede([first], content=SECRET).memories[1].id)
    memory.update(other, content="Lunch is at one")
    then = wall.forward(days=1)
    wall.forward(days=1)

    def answers() -> list[object]:
        listed = memory.list_(known_at=then, status=list(Status), all_projects=True).memories
        return [*listed, *memory.get([first], known_at=then, valid_at=began).memories]

    before = answers()
    memory.forget([second])
    assert answers() == [found for found in before if str(found.id) != second]  # type: ignore[attr-defined]
    assert memory.recall("Quetzalcoatlus-77319052 vault", known_at=then, status=[Status.ACTIVE]).total == 0


def test_what_was_done_to_it_and_to_others_cannot_be_undone_past_it(memory: Service) -> None:
    id_, other = tell(memory, SECRET), tell(memory, "Lunch is at noon")
    memory.archive([id_, other], reason="both")
    memory.forget([id_])
    log = memory.log(all_projects=True)
    assert [event.operation for event in log.events] == ["forget", "archive", "store", "store"]
    for event in log.events:
        if event.operation in ("forget", "store"):
            with pytest.raises(Refused):
                memory.undo(str(event.id))
    assert get(memory, other).status is Status.ARCHIVED


def test_a_number_is_never_given_again(memory: Service) -> None:
    id_ = tell(memory, SECRET)
    memory.forget([id_])
    assert tell(memory, "Lunch is at noon") != id_


def test_all_are_forgotten_or_none(memory: Service) -> None:
    ids = [tell(memory, SECRET), tell(memory, "Lunch is at noon")]
    before = everything(memory)
    with pytest.raises(NotFound):
        memory.forget([*ids, "99"])
    assert everything(memory) == before
    done = memory.forget([*ids, ids[0]])
    assert (done.ids, everything(memory)) == (tuple(map(int, ids)), [])


def test_proposals_to_change_it_go_with_it_and_others_forget_it(
    memory: Service, home: Path, person: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_TRUST_REVIEW", "agents")
    agent = memory.of(replace(person, actor=Actor(ActorKind.AGENT, "host")))
    id_, other = tell(memory, SECRET), tell(memory, "The vault is green")
    waiting = agent.update(id_, content=f"{SECRET} on Sundays").memories[-1].id
    applied = agent.update(id_, content=f"{SECRET} on Mondays").memories[-1].id
    memory.approve([str(applied)])
    both = agent.supersede([id_, other], content="The vault is blue", reason=f"no {SECRET}").memories[-1]
    assert both.status is Status.PROPOSED
    done = memory.forget([id_])
    assert set(done.ids) >= {int(id_), applied}
    assert str(waiting) not in {str(found.id) for found in everything(memory)}
    assert holding(home, *WORDS) == []
    assert get(memory, both.id).proposal is not None
    memory.approve([str(both.id)])
    assert live(memory) == {"The vault is blue"}
    assert get(memory, other).superseded_by == both.id
    assert sound(memory)


# Other files


@pytest.fixture
def other_stores(home: Path) -> Iterator[Callable[[str], Service]]:
    opened: list[Service] = []
    person = Caller(Actor(ActorKind.PERSON), Path.cwd())

    def service(name: str) -> Service:
        opened.append(Service(Store(home / name), BagOfWords(), person))
        return opened[-1]

    yield service
    for one in opened:
        one.close()


def test_copies_of_the_store_are_rewritten(
    memory: Service, home: Path, other_stores: Callable[[str], Service]
) -> None:
    id_ = tell(memory, f"{SECRET}, as was said first")
    other = tell(memory, "Lunch is at noon")
    (home / "backups").mkdir()
    source = apsw.Connection(str(home / "memory.db"))
    source.execute("VACUUM INTO ?", (str(home / "backups" / "monday"),))
    source.close()
    memory.update(id_, content=SECRET)
    done = memory.forget([id_])
    assert done.rewritten == (str(home / "backups" / "monday"),)
    assert (done.listed, done.remains) == ((), ())
    assert holding(home, *WORDS) == []
    copy = other_stores("backups/monday")
    assert sound(copy)
    assert [str(found.id) for found in everything(copy)] == [other]
    assert copy.store(f"{SECRET}, as was said first").action == "refused"


def test_another_store_that_never_held_it_is_not_touched(
    memory: Service, home: Path, other_stores: Callable[[str], Service]
) -> None:
    tell(other_stores("other.db"), "Lunch is at noon")
    before = (home / "other.db").read_bytes()
    done = memory.forget([tell(memory, SECRET)])
    assert (done.rewritten, (home / "other.db").read_bytes()) == ((), before)


def test_exports_and_whatever_else_holds_it_are_listed(memory: Service, home: Path) -> None:
    said = 'The vault opens to "Quetzalcoatlus-77319052"\nafter midnight, señor'
    id_ = tell(memory, said)
    (home / "deep" / "down").mkdir(parents=True)
    export = home / "deep" / "down" / "export.jsonl"
    export.write_text(json.dumps({"content": said}))
    plain = home / "notes.txt"
    plain.write_text(f"… {said} …")
    (home / "lunch.txt").write_text("Lunch is at noon")
    (home / "old.jsonl.gz").write_bytes(b"\x1f\x8b")
    (home / "empty").touch()
    link = home / "link"
    link.symlink_to(plain)
    before = plain.read_bytes()
    done = memory.forget([id_])
    assert set(done.listed) == {
        str(export),
        str(plain),
        f"{home / 'old.jsonl.gz'} (perhaps: it is compressed)",
    }
    assert (plain.read_bytes(), done.exit_status) == (before, 0)


def test_a_copy_that_cannot_be_opened_is_named(memory: Service, home: Path) -> None:
    id_ = tell(memory, SECRET)
    uid = get(memory, id_).uid
    memory.doctor()
    newer = home / "newer.db"
    source = apsw.Connection(str(home / "memory.db"))
    source.execute("VACUUM INTO ?", (str(newer),))
    source.close()
    copy = apsw.Connection(str(newer))
    copy.execute("PRAGMA user_version = 999")
    assert copy.pragma("application_id") == APPLICATION_ID
    copy.close()
    done = memory.forget([id_])
    assert (done.exit_status, done.rewritten, done.listed) == (1, (), (str(newer),))
    assert len(done.remains) == 1
    assert "newer.db" in done.remains[0]
    assert "schema 999" in done.remains[0]
    assert holding(home, SECRET.encode()) == ["newer.db"]
    newer.unlink()
    assert memory.forget([uid]).exit_status == 0


# In use


def test_a_reader_in_the_way_is_told_and_the_same_again_finishes_it(
    memory: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "WAIT_MS", 50)
    id_ = tell(memory, SECRET)
    uid = get(memory, id_).uid
    reader = apsw.Connection(str(home / "memory.db"))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM memories").get == 1
    done = memory.forget([id_])
    assert (done.exit_status, done.ids) == (1, (int(id_),))
    assert f"mem forget {uid} --yes" in done.remains[0]
    assert memory.store(SECRET).action == "refused"
    assert holding(home, SECRET.encode()) != []
    reader.close()
    again = memory.forget([uid])
    assert (again.exit_status, again.ids, again.uids) == (0, (), (uid,))
    assert holding(home, SECRET.encode(), *WORDS) == []
    assert [event["operation"] for event in records(home, "events")] == ["store", "forget"]


@pytest.mark.skipif(os.name != "posix", reason="there is no worker on Windows")
def test_it_works_while_a_worker_and_a_server_hold_the_store(
    run_mem: Callable[..., Ran], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_WORKER", "on")
    try:
        assert run_mem("store", "Lunch is at noon in the small kitchen").code == 0
        assert run_mem("store", SECRET).code == 0
        for _ in range(8):  # each of its readers
            found = run_mem("recall", "Quetzalcoatlus vault", "--json").document()
            assert found["hits"][0]["content"] == SECRET
        assert run_mem("worker", "status", "--json").document()["state"] == "running"
        with serving() as server:
            assert SECRET in ask(server, 1, "recall", query="Quetzalcoatlus vault")
            ran = run_mem("forget", "2", "--yes", "--json")
            assert (ran.code, ran.document()["remains"]) == (0, []), ran
            assert holding(home, SECRET.encode(), *WORDS) == []
            assert SECRET not in ask(server, 2, "recall", query="Quetzalcoatlus vault")
            assert "refused" in ask(server, 3, "store", content=SECRET)
            assert "added" in ask(server, 4, "store", content="Supper is at seven")
        assert run_mem("worker", "status", "--json").document()["state"] == "running"
        hits = run_mem("recall", "vault supper kitchen", "--json").document()["hits"]
        assert {hit["content"] for hit in hits} <= {
            "Lunch is at noon in the small kitchen",
            "Supper is at seven",
        }
        assert holding(home, SECRET.encode(), *WORDS) == []
    finally:
        run_mem("worker", "stop")


class serving:
    """`mem serve` as a process, for a few calls by hand."""

    def __enter__(self) -> subprocess.Popen[str]:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mem", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=process_environment(),
            text=True,
        )
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        }
        say(self.process, {"id": 0, "method": "initialize", "params": hello})
        assert self.process.stdout is not None
        assert self.process.stdout.readline()
        say(self.process, {"method": "notifications/initialized"})
        return self.process

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=20)


def say(process: subprocess.Popen[str], message: dict[str, object]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def ask(process: subprocess.Popen[str], number: int, tool: str, **arguments: object) -> str:
    """What a tool answers."""
    params = {"name": tool, "arguments": arguments}
    say(process, {"id": number, "method": "tools/call", "params": params})
    assert process.stdout is not None
    return process.stdout.readline()


# Who may, and how it is asked


def test_agents_may_not(run_mem: Callable[..., Ran]) -> None:
    assert run_mem("store", SECRET).code == 0
    ran = run_mem("forget", "1", "--yes", env={"CLAUDECODE": "1"})
    assert (ran.code, "for people only" in ran.err) == (4, True)
    assert run_mem("get", "1").code == 0


def test_without_a_terminal_it_wants_yes(run_mem: Callable[..., Ran]) -> None:
    assert run_mem("store", SECRET).code == 0
    ran = run_mem("forget", "1", stdin=b"y\n")
    assert (ran.code, ran.stdout) == (2, b"")
    assert "--yes" in ran.err
    assert run_mem("get", "1").code == 0
    ran = run_mem("forget", "1", "--yes")
    assert (ran.code, ran.out, ran.err) == (0, "forgotten\t#1\n", "")
    assert run_mem("forget", "1", "--yes").code == 3


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
@pytest.mark.parametrize(
    ("typed", "code", "left"), [(b"n\n", 1, 1), (b"\n", 1, 1), (b"\x04", 1, 1), (b"Yes\n", 0, 0)]
)
def test_on_a_terminal_it_asks(run_mem: Callable[..., Ran], typed: bytes, code: int, left: int) -> None:
    import pty

    assert run_mem("store", SECRET).code == 0
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "mem", "forget", "1"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
        start_new_session=True,
    )
    os.write(ours, typed)
    _, errors = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert (process.returncode, "Erase 1 for good" in errors.decode()) == (code, True)
    assert run_mem("list", "--json").document()["total"] == left
