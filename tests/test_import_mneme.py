"""mneme's SQLite file: the sample, column by column, as records and then as what the store holds."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
import struct
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mem.exchange.mneme import READER
from mem.exchange.sources import Format, named_uid
from mem.service import Service
from mem.values import Memory, Status

SAMPLE = Path(__file__).parent / "data" / "mneme-sample.gz"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample, where nothing may be written beside it."""
    path = tmp_path / "mneme" / "tokenmem.db"
    path.parent.mkdir()
    path.write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    path.chmod(0o400)
    path.parent.chmod(0o500)
    return path


@pytest.fixture
def rows(sample: Path) -> dict[int, dict[str, Any]]:
    """The memories of the sample as sqlite3 reads them, by rowid."""
    db = sqlite3.connect(f"{sample.as_uri()}?immutable=1", uri=True)
    db.row_factory = sqlite3.Row
    found = {row["rowid"]: dict(row) for row in db.execute("SELECT rowid AS rowid, * FROM memories")}
    db.close()
    return found


def _records(path: Path, kind: str) -> dict[str, dict[str, Any]]:
    found = list(READER.read(path))
    assert all(one.record for one in found)
    return {one.place: one.record for one in found if one.record and one.record["record"] == kind}


def _instant(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    at = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(microsecond=milliseconds % 1000 * 1000)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_the_sample_is_recognised_and_nothing_of_it_changes(sample: Path) -> None:
    before = sample.read_bytes()
    assert READER.recognises(sample, before[:4096])
    kinds = Counter(one.record["record"] for one in READER.read(sample) if one.record)
    assert kinds == {
        "memory": 36,
        "vector": 29,
        "foreign": 16,
        "entity": 3,
        "session": 1,
        "tombstone": 1,
    }
    assert sample.read_bytes() == before
    assert [path.name for path in sample.parent.iterdir()] == ["tokenmem.db"]


def test_every_column_of_every_memory_has_its_place(sample: Path, rows: dict[int, dict[str, Any]]) -> None:
    records = _records(sample, "memory")
    for number, row in rows.items():
        record = records[f"memories {number}"]
        extra = record["extra"]["mneme"]
        assert {
            "uid": named_uid(Format.MNEME, row["id"]),
            "content": row["content"],
            "title": row["summary"],
            "layer": row["memory_type"],
            "level": row["memory_level"],
            "category": row["category"],
            "importance": row["importance"],
            "source": row["source"],
            "tags": json.loads(row["tags"]),
            "recorded_at": _instant(row["created_at"]),
            "expires_at": _instant(row["expires_at"]),
            "event_time": _instant(row["event_time"]),
        }.items() <= record.items()
        [usage] = record["usage"]
        assert usage["recalls"] == row["access_count"]
        assert usage["last_recalled_at"] == (_instant(row["last_accessed"]) if row["access_count"] else None)
        for name in (
            "id",
            "rowid",
            "source_id",
            "emotional_impact",
            "is_anchor",
            "is_pinned",
            "content_hash",
        ):
            assert extra.get(name) == (row[name] or None)
        for name in (
            "source_platform",
            "is_compressed",
            "updated_at",
            "decay_score",
            "entities_extracted_at",
        ):
            assert extra.get(name) == (row[name] or None)
        for name in ("metadata", "compressed_from"):
            assert extra.get(name) == (json.loads(row[name]) or None)


def test_a_chain_of_supersessions_has_its_links_and_intervals(sample: Path) -> None:
    records = _records(sample, "memory")
    first, second, third = (records[f"memories {number}"] for number in (20, 21, 22))
    assert (first["status"], first["superseded_by"]) == ("superseded", second["uid"])
    assert (second["status"], second["superseded_by"]) == ("superseded", third["uid"])
    assert third["status"] == "active"
    assert first["valid_to"] == second["valid_from"] == _instant(1796046359760)
    assert second["valid_to"] == third["valid_from"]
    assert first["versions"][0]["status"] == "active"
    assert first["versions"][0]["changed_at"] == first["recorded_at"] < first["changed_at"]
    merged = [records[f"memories {number}"] for number in (23, 24)]
    assert {one["superseded_by"] for one in merged} == {records["memories 25"]["uid"]}
    pending = records["memories 33"]
    assert (pending["status"], pending["superseded_by"]) == ("superseded", records["memories 34"]["uid"])


def test_what_was_deleted_is_archived_with_the_reason(sample: Path) -> None:
    outlived = _records(sample, "memory")["memories 12"]
    assert (outlived["status"], outlived["status_reason"]) == ("archived", "expired")
    assert outlived["status_at"] == "2026-11-30T13:46:00.000000Z"


def test_quarantine_waits_was_rejected_or_is_its_memory(sample: Path) -> None:
    records = _records(sample, "memory")
    waiting, rejected = records["memories_quarantine 2"], records["memories_quarantine 1"]
    assert (waiting["status"], waiting["client"]) == ("proposed", "guest")
    assert (rejected["status"], rejected["status_reason"]) == ("rejected", "unverified")
    [tombstone] = _records(sample, "tombstone").values()
    assert (tombstone["memory"], tombstone["reason"]) == (rejected["uid"], "unverified")
    approved = records["memories 32"]
    assert approved["client"] == "guest"
    assert approved["extra"]["mneme"]["quarantine"]["review_note"] == "useful"
    assert "memories_quarantine 3" not in records


def test_summaries_entities_and_mentions(sample: Path) -> None:
    records = _records(sample, "memory")
    compact, chat = records["memories 31"], records["memories 29"]
    [session] = _records(sample, "session").values()
    assert compact["kind"] == chat["kind"] == "summary"
    assert compact["session"] == session["uid"]
    assert session["host_session"] == "11111111-2222-3333-4444-555555555555"
    entities = _records(sample, "entity").values()
    assert {(one["name"], one["type"], tuple(one["aliases"])) for one in entities} == {
        ("Lanternfish", "project", ("lantern fish", "灯笼鱼")),
        ("SQLite", "tech", ()),
        ("Marisol", "person", ()),
    }
    assert records["memories 3"]["extra"]["mneme"]["mentions"] == ["Lanternfish", "SQLite"]


def test_both_forms_of_vectors_are_read_and_junk_is_none(
    sample: Path, rows: dict[int, dict[str, Any]]
) -> None:
    vectors = {one["text"]: one for one in _records(sample, "vector").values()}
    held = {number: row["content_vector"] for number, row in rows.items()}
    for number, stored in held.items():
        offered = vectors.get(rows[number]["content"])
        if isinstance(stored, bytes):
            assert offered is not None
        elif isinstance(stored, str) and len(stored) > 100:
            assert offered is not None
            numbers = struct.unpack("<384f", base64.b64decode(offered["pieces"][0]))
            assert numbers == pytest.approx(json.loads(stored), abs=1e-6)
        else:
            assert offered is None
    assert sorted(number for number in held if rows[number]["content"] not in vectors) == [14, 19, 29, 30, 31]


def test_what_has_no_counterpart_is_kept_as_it_is(sample: Path) -> None:
    foreign = _records(sample, "foreign").values()
    assert Counter(one["table"] for one in foreign) == {
        "conversations": 6,
        "goals": 2,
        "locations": 2,
        "search_misses": 1,
        "recall_traces": 5,
    }
    [survey] = [one["row"] for one in foreign if one["row"].get("name") == "survey"]
    assert (survey["path"], survey["aliases"]) == ("/srv/survey", ["sv", "测量"])
    assert {one["row"]["content"] for one in foreign if one["table"] == "conversations"} >= {"校准要多久？"}


def test_a_text_of_which_no_row_is_left_stays_in_the_line(sample: Path, tmp_path: Path) -> None:
    copied = tmp_path / "grown.db"
    copied.write_bytes(sample.read_bytes())
    db = sqlite3.connect(copied)
    db.executescript("DROP TRIGGER IF EXISTS memories_ad; DROP TRIGGER IF EXISTS memories_fts_delete;")
    db.execute("DELETE FROM memories WHERE rowid = 23")
    db.commit()
    db.close()
    records = _records(copied, "memory")
    gone = records["memories 25, prior version 1"]
    assert gone["content"] == "Backups run at noon to the blue disk."
    assert (gone["status"], gone["superseded_by"]) == ("superseded", records["memories 25"]["uid"])


def test_a_file_with_a_log_is_read_with_it_and_stays_as_it_is(sample: Path, tmp_path: Path) -> None:
    live = tmp_path / "live.db"
    live.write_bytes(sample.read_bytes())
    db = sqlite3.connect(live)
    db.execute("UPDATE goals SET title = 'Changed in the log' WHERE rowid = 1")
    db.commit()
    before = {path.name: path.read_bytes() for path in tmp_path.glob("live.db*") if "shm" not in path.name}
    assert len(before["live.db-wal"]) > 0
    titles = {one["row"].get("title") for one in _records(live, "foreign").values()}
    assert "Changed in the log" in titles
    assert before == {name: (tmp_path / name).read_bytes() for name in before}
    db.close()


def test_the_sample_is_in_the_store_with_all_that_it_says(
    memory: Service, sample: Path, rows: dict[int, dict[str, Any]]
) -> None:
    answer = memory.import_(str(sample))
    assert answer.applied and not answer.bad
    assert answer.counts["memory"] == {"added": 35, "merged": 1}
    held = {one.extra["mneme"].get("rowid"): one for one in _held(memory)}
    for number, row in rows.items():
        one = held[number]
        assert (one.content, one.title, one.category) == (row["content"], row["summary"], row["category"])
        assert (one.importance, one.layer, one.level) == (
            row["importance"],
            row["memory_type"],
            row["memory_level"],
        )
        assert (one.recorded_at, one.event_time) == (_instant(row["created_at"]), _instant(row["event_time"]))
        assert (one.expires_at, list(one.tags)) == (_instant(row["expires_at"]), json.loads(row["tags"]))
    first, second, third = (held[number] for number in (20, 21, 22))
    assert (first.status, first.superseded_by, first.valid_to) == ("superseded", second.id, second.valid_from)
    assert (second.status, second.superseded_by, second.valid_to) == (
        "superseded",
        third.id,
        third.valid_from,
    )
    assert memory.history(str(third.id)).chain == (first.id, second.id, third.id)
    assert (held[12].status, held[12].status_reason) == ("archived", "expired")
    assert (held[27].status, held[27].superseded_by, held[27].status_reason) == (
        "superseded",
        held[26].id,
        "same content",
    )


def test_importing_the_sample_again_adds_nothing(memory: Service, sample: Path) -> None:
    memory.import_(str(sample))
    before = memory.stats(all_projects=True)
    again = memory.import_(str(sample))
    assert again.counts["memory"] == {"identical": 36}
    assert {action for said in again.counts.values() for action in said} <= {"identical", "skipped"}
    assert again.event is None
    assert memory.stats(all_projects=True).by_status == before.by_status


def test_what_the_sample_rejected_stays_out_and_what_waits_can_be_approved(
    memory: Service, sample: Path
) -> None:
    memory.import_(str(sample))
    refused = memory.store("guest host says the pump room is on level two")
    assert refused.action == "refused"
    assert refused.refusal is not None and "unverified" in refused.refusal.reason
    [waiting] = memory.review_().proposals
    assert waiting.memory.content == "Guest host guesses the tide table is in feet."
    memory.approve([str(waiting.memory.id)])
    assert memory.get([str(waiting.memory.id)]).memories[0].status == "active"


def test_vectors_of_the_same_model_are_taken_over_and_junk_waits(real_memory: Service, sample: Path) -> None:
    answer = real_memory.import_(str(sample))
    counted = answer.counts["vector"]
    assert counted["added"] > 0
    untitled = {one.content for one in _held(real_memory) if one.title is None}
    offered = {one["text"] for one in _records(sample, "vector").values()}
    assert counted["added"] == len(untitled & offered)
    assert real_memory.recall("how often does the gate code change?").mode == "hybrid"
    assert answer.pending > 0


def test_vectors_of_a_model_that_is_another_one_are_passed_over(memory: Service, sample: Path) -> None:
    answer = memory.import_(str(sample))
    assert answer.counts["vector"] == {"skipped": 28}


def _held(memory: Service) -> list[Memory]:
    found = list(memory.list_(all_projects=True, expired=True, limit=100).memories)
    for status in Status:
        found += memory.list_(all_projects=True, status=[status], limit=100).memories
    return list({one.id: one for one in found}.values())
