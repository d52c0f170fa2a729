"""The export: everything, in one order, in one file that is whole or not there; and parts of it."""

import base64
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from conftest import BagOfWords, Ran, process_environment
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from telling import tell
from wall_clock import WallClock

from mem.caller import Caller
from mem.cli.beside import notes
from mem.document import document
from mem.errors import MemError, Refused, Usage
from mem.exchange import exporting
from mem.records.format import (
    FIELDS,
    HOME_OPERATIONS,
    KEYS,
    RecordKind,
    canonical,
    encode,
    gathered,
    kind_of,
)
from mem.results import Exported, Streamed
from mem.service import Service
from mem.store import carried
from mem.store.connect import Store
from mem.store.migrations import VERSIONED
from mem.store.selection import Selection
from mem.values import Actor, ActorKind, ExportFormat, Kind, SayingAction, Status, Trust

Run = Callable[..., Ran]
Record = dict[str, Any]


def exported(memory: Service, **asked: Any) -> list[Record]:
    """The records of an export, without the header."""
    return records(streamed(memory, **asked))


def streamed(memory: Service, **asked: Any) -> bytes:
    out = BytesIO()
    answer = memory.export(**asked)
    assert isinstance(answer, Streamed)
    answer.write(out)
    return out.getvalue()


def records(content: bytes) -> list[Record]:
    return [json.loads(line) for line in content.splitlines()[1:]]


def of_kind(found: list[Record], kind: str) -> list[Record]:
    return [record for record in found if record["record"] == kind]


def said(found: list[Record]) -> list[str]:
    return sorted(record["content"] for record in of_kind(found, "memory"))


def to_file(memory: Service, file: Path, **asked: Any) -> Exported:
    answer = memory.export(str(file), **asked)
    assert isinstance(answer, Exported)
    return answer


def fill(memory: Service) -> None:
    """Something of each kind."""
    tell(memory, "Redis is the cache", project="shop", tag=["db"], importance=8)
    memory.update("1", content="Redis 7 is the cache", add_tag=["cache"])
    old = tell(
        memory, "The API listens on 80", kind=Kind.DECISION, title="Port", rationale="old", project="shop"
    )
    memory.supersede([old], content="The API listens on 81", reason="moved")
    memory.archive([tell(memory, "The demo is at noon")], reason="over")
    memory.reject([tell(memory, "The moon is cheese")], reason="wrong 🌙")
    memory.observe("Ana", "Prefers calls", type="person")
    memory.observe("billing", "Sends invoices", type="service", project="bank")
    memory.relate("Ana", "maintains", "billing", all_projects=True)
    session = memory.session_start(project="shop")
    memory.session_end(str(session.id), summary="Moved to Redis 7", task=["tell Ana"])
    memory.goal(SayingAction.SET, "Ship it", global_=True)
    memory.goal(SayingAction.SET, "Ship it in May", global_=True)
    memory.profile(SayingAction.SET, "language", "中文", project="shop")
    memory.recall("which cache", project="shop")
    tell(memory, "The vault is in the bank", project="bank")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something of each kind, made once."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "MEM_HOME"):
            patch.setenv(name, str(folder))
        patch.setenv("MEM_WORKER", "off")
        memory = Service(Store(folder / "memory.db"), BagOfWords(), Caller(Actor(ActorKind.PERSON), folder))
        fill(memory)
        memory.close()
    return folder / "memory.db"


@pytest.fixture
def full(filled: Path, memory: Service, home: Path) -> Service:
    """That store, for this test alone."""
    memory.close()
    shutil.copy(filled, home / "memory.db")
    return memory


# What is in it


def test_the_header_counts_the_records_and_holds_their_digest(full: Service) -> None:
    first, _, rest = streamed(full).partition(b"\n")
    header = json.loads(first)
    assert list(header) == ["record", "format", "version", "exported_at", "counts", "digest"]
    assert (header["format"], header["version"]) == ("mem-export", 1)
    assert header["digest"] == f"sha256:{hashlib.sha256(rest).hexdigest()}"
    counted: dict[str, int] = {}
    for record in records(first + b"\n" + rest):
        counted[record["record"]] = counted.get(record["record"], 0) + 1
    assert header["counts"] == counted
    assert set(counted) == {"event", "entity", "session", "setting", "tombstone", "memory", "relation"}


def test_records_come_in_one_order_whatever_the_store_did_first(full: Service) -> None:
    found = exported(full)
    kinds = [record["record"] for record in found]
    order = [kind.value for kind in RecordKind]
    assert kinds == sorted(kinds, key=order.index)
    for kind in RecordKind:
        keys = [tuple(record[name] for name in KEYS[kind]) for record in of_kind(found, kind)]
        assert keys == sorted(set(keys))
    assert [record["sequence"] for record in of_kind(found, "event")][:3] == [1, 2, 3]


def test_every_record_is_canonical_and_names_its_fields_in_order(full: Service) -> None:
    for line in streamed(full).splitlines(keepends=True)[1:]:
        record = json.loads(line)
        assert encode(record) == line
        assert list(canonical(record)) == list(record)
        assert None not in record.values()


def test_versions_tell_what_a_row_said_before(full: Service) -> None:
    [cache] = [one for one in of_kind(exported(full), "memory") if one["content"] == "Redis 7 is the cache"]
    [before] = cache["versions"]
    assert (before["content"], before["tags"]) == ("Redis is the cache", ["db"])
    assert "uid" not in before and "origin" not in before
    events = {one["uid"]: one for one in of_kind(exported(full), "event")}
    assert events[before["event"]]["operation"] == "store"
    assert events[cache["event"]]["operation"] == "update"
    assert before["changed_at"] == events[before["event"]]["at"]
    assert cache["usage"][0]["recalls"] > 0
    [goal] = [one for one in of_kind(exported(full), "setting") if one["key"] == "goal"]
    assert (goal["value"], [one["value"] for one in goal["versions"]]) == ("Ship it in May", ["Ship it"])


def test_rows_refer_to_each_other_by_uuid(full: Service) -> None:
    found = exported(full)
    by_text = {one["content"]: one for one in of_kind(found, "memory")}
    assert by_text["The API listens on 80"]["superseded_by"] == by_text["The API listens on 81"]["uid"]
    entities = {one["name"]: one["uid"] for one in of_kind(found, "entity")}
    assert by_text["Prefers calls"]["entity"] == entities["Ana"]
    [relation] = of_kind(found, "relation")
    assert (relation["from"], relation["to"]) == (entities["Ana"], entities["billing"])
    [session] = of_kind(found, "session")
    assert by_text["Moved to Redis 7"]["session"] == session["uid"]
    [tombstone] = of_kind(found, "tombstone")
    assert (tombstone["reason"], tombstone["memory"]) == ("wrong 🌙", by_text["The moon is cheese"]["uid"])


def test_every_column_of_a_versioned_table_is_exported_or_named_as_derived(memory: Service) -> None:
    with memory._store.read() as db:
        for kind, table in carried.TABLES.items():
            if table not in VERSIONED:
                continue
            columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            named = {**carried.SHARED_COLUMNS, **carried.COLUMNS[kind]}
            taken = {named.get(name, name) for name in FIELDS[kind]}
            assert columns - taken == set(carried.DERIVED[kind]), table
            assert taken <= columns, table
    assert {carried.TABLES[kind] for kind in carried.DERIVED} == set(VERSIONED)


def test_every_column_of_events_and_usage_is_exported(memory: Service) -> None:
    with memory._store.read() as db:
        events = {row[1] for row in db.execute("PRAGMA table_info(events)")}
        usage = {row[1] for row in db.execute("PRAGMA table_info(usage)")}
    assert events - {"id", "origin_id"} == set(FIELDS[RecordKind.EVENT]) - {"origin"}
    assert usage - {"memory_id", "origin_id"} == set(carried.USAGE_FIELDS) - {"origin"}


def test_what_upkeep_did_keeps_its_event_at_home(memory: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = WallClock(monkeypatch, "2026-05-10T08:00:00Z")
    tell(memory, "The tunnel is open", expires="1h")
    clock.forward(hours=2)
    memory.maintain()
    found = exported(memory)
    assert "maintain" in HOME_OPERATIONS
    assert [one["operation"] for one in of_kind(found, "event")] == ["store"]
    [tunnel] = of_kind(found, "memory")
    assert (tunnel["status_reason"], "event" in tunnel, "event" in tunnel["versions"][0]) == (
        "expired",
        False,
        True,
    )


def test_an_export_leaves_no_event_and_changes_nothing(full: Service, tmp_path: Path) -> None:
    before = full.log(all_projects=True).newest
    with full._store.read() as db:
        digest = exporting.digest(db)
    assert to_file(full, tmp_path / "all.jsonl").digest == digest
    assert full.log(all_projects=True).newest == before


def test_an_export_is_imported_into_an_empty_store_and_exported_the_same(
    full: Service, tmp_path: Path, person: Caller, fake_embedder: BagOfWords
) -> None:
    first = to_file(full, tmp_path / "first.jsonl", vectors=True)
    other = Service(Store(tmp_path / "other.db"), fake_embedder, person)
    imported = other.import_(str(tmp_path / "first.jsonl"))
    assert imported.malformed == 0
    second = to_file(other, tmp_path / "second.jsonl", vectors=True)
    other.close()
    assert records((tmp_path / "second.jsonl").read_bytes()) == records(
        (tmp_path / "first.jsonl").read_bytes()
    )
    assert second.digest == first.digest


# What a newer version said


ROWS = st.sampled_from([kind for kind in RecordKind if kind not in ("model", "vector", "foreign")])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
NEWER = st.dictionaries(st.from_regex(r"new_[a-z]{1,3}", fullmatch=True), PLAIN, max_size=3)


@given(
    kind=ROWS, newer=NEWER, of_version=NEWER, extra=st.dictionaries(st.text(max_size=3), PLAIN, max_size=2)
)
@settings(max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_fields_that_a_newer_version_added_are_written_again(
    kind: RecordKind, newer: Record, of_version: Record, extra: Record
) -> None:
    extra.pop("_fields", None)
    record = {"record": kind.value, "uid": "u", "origin": "o", "extra": extra, **newer}
    if kind is not RecordKind.EVENT:
        record["versions"] = [{"changed_at": "t", **of_version}]
    kept = gathered(record)
    assert set(kept) <= {"record", "versions", "usage", *FIELDS[kind]}
    assert canonical(kept) == canonical(record)
    assert encode(kept) == encode(json.loads(encode(record)))


def test_a_record_of_a_newer_kind_is_kept_and_written_again() -> None:
    dream = {"record": "dream", "uid": "x", "sheep": {"b": 1, "a": None}}
    kept = gathered(dream)
    assert (kept["record"], kept["source"], kept["table"]) == ("foreign", "mem", "dream")
    assert canonical(kept) == {"record": "dream", "sheep": {"a": None, "b": 1}, "uid": "x"}
    assert kind_of(dream) is None


def test_newer_fields_and_kinds_go_through_a_store(full: Service, tmp_path: Path) -> None:
    lines = streamed(full).splitlines()
    changed = []
    for line in lines[1:]:
        record = json.loads(line)
        if record["record"] not in ("event", "memory"):
            continue
        if record["record"] == "memory":
            record.pop("entity", None)
            if record["kind"] == "observation":
                continue
            record["mood"] = {"b": [1], "a": "good"}
            for version in record.get("versions", ()):
                version["mood"] = "bad"
        changed.append(encode(gathered(record)))
    changed.append(b'{"record":"dream","sheep":3}\n')
    header = {
        **json.loads(lines[0]),
        "version": 2,
        "digest": f"sha256:{hashlib.sha256(b''.join(changed)).hexdigest()}",
    }
    newer = tmp_path / "newer.jsonl"
    newer.write_bytes(json.dumps(header).encode() + b"\n" + b"".join(changed))
    other = Service(Store(tmp_path / "other.db"), None, full._caller)
    other.import_(str(newer))
    found = exported(other)
    other.close()
    memories = of_kind(found, "memory")
    assert memories and all(one["mood"] == {"a": "good", "b": [1]} for one in memories)
    assert {version["mood"] for one in memories for version in one.get("versions", ())} == {"bad"}
    assert of_kind(found, "dream") == [{"record": "dream", "sheep": 3}]
    assert found[-1]["record"] == "dream"


# Parts of it


def test_a_project_is_exported_alone(full: Service) -> None:
    content = streamed(full, project="shop")
    found = records(content)
    assert said(found) == [
        "Moved to Redis 7",
        "Redis 7 is the cache",
        "The API listens on 80",
        "The API listens on 81",
    ]
    assert [one["key"] for one in of_kind(found, "setting")] == ["profile.language"]
    assert len(of_kind(found, "session")) == 1
    assert json.loads(content.splitlines()[0])["filters"] == {"project": "shop"}
    for foreign in ("bank", "Ship it", "Prefers calls", "moon"):
        assert foreign not in content.decode()


def test_what_a_part_needs_comes_along(full: Service) -> None:
    decisions = exported(full, kind=[Kind.DECISION])
    assert said(decisions) == ["The API listens on 80", "The API listens on 81"]
    observations = exported(full, kind=[Kind.OBSERVATION])
    assert [one["name"] for one in of_kind(observations, "entity")] == ["Ana", "billing"]
    assert of_kind(observations, "relation") == []
    summary = exported(full, kind=[Kind.SUMMARY])
    assert [one["project"] for one in of_kind(summary, "session")] == ["shop"]
    assert of_kind(exported(full, project="bank"), "relation") != []


def test_a_rejection_goes_along_with_what_it_binds(memory: Service) -> None:
    moon = tell(memory, "The moon is cheese", kind=Kind.DECISION)
    memory.reject([moon], reason="wrong")
    tell(memory, "The sun is hot")
    assert len(of_kind(exported(memory, kind=[Kind.DECISION]), "tombstone")) == 1
    assert of_kind(exported(memory, kind=[Kind.LEARNING]), "tombstone") == []


def test_an_event_that_concerns_others_too_stays_out_of_a_part(memory: Service) -> None:
    memory.store_batch([{"content": "One", "project": "a"}, {"content": "Two", "project": "b"}])
    tell(memory, "Three", project="a")
    found = exported(memory, project="a")
    assert said(found) == ["One", "Three"]
    assert [one["operation"] for one in of_kind(found, "event")] == ["store"]
    assert len(of_kind(exported(memory), "event")) == 2


def test_since_and_until_go_by_when_something_was_written_or_changed(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = WallClock(monkeypatch, "2026-05-10T08:00:00Z")
    first = tell(memory, "First")
    tell(memory, "Second")
    clock.set("2026-06-10T08:00:00Z")
    memory.archive([first], reason="old")
    tell(memory, "Third")
    memory.goal(SayingAction.SET, "A goal", global_=True)
    later = exported(memory, since="2026-06-01T00:00:00Z")
    assert (said(later), len(of_kind(later, "setting"))) == (["First", "Third"], 1)
    earlier = exported(memory, until="2026-06-01T00:00:00Z")
    assert (said(earlier), of_kind(earlier, "setting")) == (["First", "Second"], [])


def test_known_at_gives_the_store_of_that_moment(full: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = WallClock(monkeypatch, "2030-01-01T08:00:00Z")
    before = streamed(full)
    now = clock.forward(seconds=1)
    clock.forward(days=1)
    full.update("1", content="Redis 8 is the cache")
    full.archive(["1"], reason="gone")
    full.restore(["1"])
    tell(full, "Later")
    full.goal(SayingAction.CLEAR, global_=True)
    full.entity_set("Ana", summary="Looks after billing")
    full.unrelate("Ana", "maintains", "billing", all_projects=True)
    assert streamed(full) != before
    then = exported(full, known_at=now)
    # How often something was recalled has no history.
    expected = [{name: value for name, value in one.items() if name != "usage"} for one in records(before)]
    assert then == expected
    assert exported(full, known_at="2020-01-01") == []


def test_known_at_and_a_project_go_by_what_was_so_then(
    memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = WallClock(monkeypatch, "2026-05-10T08:00:00Z")
    tell(memory, "Roams", project="a")
    moment = clock.forward(seconds=1)
    clock.forward(days=1)
    memory.update("1", project="b")
    assert said(exported(memory, project="a")) == []
    then = exported(memory, project="a", known_at=moment)
    assert [(one["content"], one["project"]) for one in of_kind(then, "memory")] == [("Roams", "a")]


def test_valid_at_gives_what_held_then(memory: Service) -> None:
    old = tell(memory, "Port 80", valid_from="2026-01-01")
    memory.supersede([old], content="Port 81", valid_from="2026-03-01")
    tell(memory, "For ever")
    memory.observe("Ana", "Was in Rome", valid_from="2025-01-01", valid_to="2025-12-31")
    assert said(exported(memory, valid_at="2026-02-01")) == ["For ever", "Port 80"]
    assert said(exported(memory, valid_at="2026-04-01")) == ["For ever", "Port 81"]
    assert "Was in Rome" in said(exported(memory, valid_at="2025-06-01"))


def test_vectors_come_as_bytes_and_only_those_of_texts_that_are_there(full: Service) -> None:
    assert not of_kind(exported(full), "vector")
    full.forget([tell(full, "Very secret text")])
    found = exported(full, vectors=True)
    [model] = of_kind(found, "model")
    assert (model["name"], model["dimensions"], model["choice"]) == ("bag-of-words@1", 256, "bundled")
    vectors = of_kind(found, "vector")
    texts = {one["content"] for one in of_kind(found, "memory")}
    assert len(vectors) >= len(texts)
    assert all(len(base64.b64decode(piece)) == 4 * 256 for one in vectors for piece in one["pieces"])
    assert len(of_kind(exported(full, vectors=True, kind=[Kind.SUMMARY]), "vector")) == 1


# The file


def test_the_file_is_private_whatever_the_umask(full: Service, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        to_file(full, tmp_path / "all.jsonl")
    finally:
        os.umask(before)
    assert (tmp_path / "all.jsonl").stat().st_mode & 0o777 == 0o600


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(".mem-"))


@pytest.mark.parametrize("broken", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_file_that_cannot_be_finished_leaves_the_old_one(
    full: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: BaseException
) -> None:
    file = tmp_path / "all.jsonl"
    to_file(full, file)
    before = file.read_bytes()
    tell(full, "Something more")

    def fail(_: int) -> None:
        raise broken

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((MemError, KeyboardInterrupt)) as caught:
        to_file(full, file)
    if isinstance(caught.value, MemError):
        assert str(caught.value) == f"Cannot write {file}: No space left on device."
    monkeypatch.undo()
    assert (file.read_bytes(), leftovers(tmp_path)) == (before, [])
    to_file(full, file)
    assert file.read_bytes() != before


def test_a_link_is_followed(full: Service, tmp_path: Path) -> None:
    (tmp_path / "synced").mkdir()
    link = tmp_path / "all.jsonl"
    link.symlink_to(tmp_path / "synced" / "mine.jsonl")
    to_file(full, link)
    assert link.is_symlink() and (tmp_path / "synced" / "mine.jsonl").stat().st_size


def test_what_cannot_be_meant_is_refused(full: Service, home: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\x00 and more")
    bad = {
        tmp_path / "folder": "is a folder",
        tmp_path / "nowhere" / "x.jsonl": "There is no folder",
        home / "memory.db": "is a database",
        tmp_path / "other.db": "is a database",
        Path("/dev/null"): "is no regular file",
    }
    for file, why in bad.items():
        with pytest.raises(Usage, match=why):
            full.export(str(file))
    assert not (tmp_path / "nowhere").exists()


def test_an_agent_replaces_only_an_earlier_export(full: Service, tmp_path: Path, person: Caller) -> None:
    agent = full.of(Caller(Actor(ActorKind.AGENT), tmp_path))
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(Refused, match="is no export"):
        agent.export("notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    for format_ in ExportFormat:
        for _ in range(2):
            assert (
                to_file(agent, Path("all.txt"), format=format_).bytes == (tmp_path / "all.txt").stat().st_size
            )
    to_file(full, tmp_path / "notes.txt")


def test_one_document_of_json_holds_the_same_records(full: Service, tmp_path: Path) -> None:
    told = to_file(full, tmp_path / "all.json", format=ExportFormat.JSON)
    document = json.loads((tmp_path / "all.json").read_bytes())
    assert (document["format"], document["digest"], document["counts"]) == (
        "mem-export",
        told.digest,
        told.counts,
    )
    assert document["records"] == exported(full)
    empty = Service(Store(tmp_path / "empty.db"), None, full._caller)
    to_file(empty, tmp_path / "empty.json", format=ExportFormat.JSON)
    empty.close()
    assert json.loads((tmp_path / "empty.json").read_bytes())["records"] == []


# Beside others, and at any size


def test_an_export_is_one_snapshot_and_keeps_nobody_waiting(
    full: Service, home: Path, person: Caller
) -> None:
    with full._store.read() as db:
        whole = exporting.digest(db)
        begun = carried.records(db, Selection())
        first = next(begun)
        other = Service(Store(home / "memory.db", timeout_ms=200), None, person)
        assert other.store("Written meanwhile").action == "added"
        other.close()
        found = [first, *begun]
        assert exporting.digest(db) == whole
    assert "Written meanwhile" not in said(found)
    assert "Written meanwhile" in said(exported(full))


def test_the_size_of_the_store_costs_no_memory(memory: Service, tmp_path: Path) -> None:
    tell(memory, "A long story")
    [model] = of_kind(exported(memory), "memory")
    lines = streamed(memory).splitlines(keepends=True)[:2]
    for number in range(100):
        uid = f"{model['uid'][:-12]}{number:012x}"
        lines.append(encode({**model, "uid": uid, "content": f"{number} " + f"{number:x} story " * 1_500}))
    (tmp_path / "many.jsonl").write_bytes(b"".join(lines))
    assert memory.import_(str(tmp_path / "many.jsonl")).counts["memory"] == {"added": 100}
    with memory._store.read() as db:
        exporting.digest(db)
        tracemalloc.start()
        size = sum(len(encode(record)) for record in exporting.records(db, Selection()))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert size > 1_000_000
    assert peak < 300_000


# For people


def test_markdown_keeps_every_text_in_its_item(memory: Service, tmp_path: Path) -> None:
    tell(
        memory,
        "One\n# Heading\n- item\n```\n<script>*x*</script> [a](b) snake_case _y_",
        title="T*",
        kind=Kind.DECISION,
        rationale="because\n\n---",
    )
    memory.goal(SayingAction.SET, "# Ship\nit", global_=True)
    text = streamed(memory, format=ExportFormat.MARKDOWN).decode()
    lines = [line for line in text.splitlines() if line]
    assert [line for line in lines if line.startswith("#")] == [
        "# Memories",
        "## Goal",
        "## Everywhere",
        "### Decisions",
    ]
    assert "- everywhere: # Ship ⏎ it" in lines
    [item] = [line for line in lines if line.startswith("- #1 ")]
    assert r"**T\***: One ⏎ # Heading ⏎ - item" in item
    assert r"\<script>\*x\*" in item and r"\[a\](b) snake_case \_y\_" in item
    assert "*Why:* because ⏎ ---" in item


def test_markdown_tells_statuses_and_what_belongs_together(full: Service) -> None:
    text = streamed(full, format=ExportFormat.MARKDOWN).decode()
    for told in (
        r"superseded by #3: moved, held until",
        "archived: over",
        "rejected: wrong 🌙",
        "## Project shop",
        "### Summaries",
        "- **Ana** (person)\n  - #",
        "  - maintains → billing",
        "- language, in shop: 中文",
        "- everywhere: Ship it in May",
    ):
        assert told in text, told
    assert text.startswith("# Memories\n\nExported at 20")
    then = streamed(full, format=ExportFormat.MARKDOWN, known_at="2020-01-01").decode()
    assert then.splitlines()[2:] == [then.splitlines()[2]] and "nothing" in then


def test_markdown_for_people_does_not_come_in_again(full: Service, tmp_path: Path) -> None:
    shown = tmp_path / "shown.md"
    full.export(str(shown), format=ExportFormat.MARKDOWN)
    with pytest.raises(Usage, match="cannot be imported") as caught:
        full.import_(str(shown))
    assert "mem export" in caught.value.hint


def test_markdown_takes_the_same_parts(full: Service) -> None:
    text = streamed(full, format=ExportFormat.MARKDOWN, project="shop").decode()
    assert "Redis 7" in text and ". project: shop.\n" in text
    assert "vault" not in text and "moon" not in text and "Ana" not in text.replace("tell Ana", "")


# The command


def test_standard_output_gets_the_bytes_and_standard_error_the_note(
    full: Service, run_mem: Run, tmp_path: Path
) -> None:
    piped = run_mem("export")
    told = to_file(full, tmp_path / "all.jsonl")
    assert (piped.code, piped.stdout.partition(b"\n")[2]) == (
        0,
        (tmp_path / "all.jsonl").read_bytes().partition(b"\n")[2],
    )
    assert re.fullmatch(rf"Exported event \d+, .*; {told.digest}\.\n", piped.err)
    refused = run_mem("export", "--json")
    assert (refused.code, refused.document()["error"]["code"], refused.stderr) == (2, "usage", b"")
    with pytest.raises(Usage, match="is not a date"):
        full.export(since="soon")


def test_where_there_is_no_stream_a_file_has_to_be_named(full: Service) -> None:
    with pytest.raises(Usage, match="no JSON answer") as caught:
        document(full.export())
    assert caught.value.hint == "Name a file: mem export FILE"


def test_a_reader_that_closes_the_pipe_ends_it_silently(full: Service) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mem", "export"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1, 141)


def test_an_empty_export_is_whole_and_says_so(memory: Service) -> None:
    content = streamed(memory, project="nobody")
    assert json.loads(content)["counts"] == {}
    answer = memory.export("none.jsonl", project="nobody")
    assert isinstance(answer, Exported)
    assert list(notes(answer)) == ["Nothing fits what was asked for."]
    answer = memory.export("none.jsonl")
    assert isinstance(answer, Exported)
    assert list(notes(answer)) == ["Nothing is stored yet."]


def test_statuses_all_come_along(full: Service) -> None:
    full.trust(["1"], Trust.VERIFIED, reason="seen")
    statuses = {one["status"] for one in of_kind(exported(full), "memory")}
    assert statuses == {str(status) for status in Status} - {"proposed"}
