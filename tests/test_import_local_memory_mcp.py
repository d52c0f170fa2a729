"""The export of local-memory-mcp comes in whole: each field of the sample, and what no tool of it forbids."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from telling import everything, records

from mem import clock
from mem.exchange import dates
from mem.exchange.local_memory_mcp import READER
from mem.exchange.sources import Format, Found, named_uid
from mem.service import Service
from mem.values import Memory, Status

SAMPLE = Path(__file__).parent / "data" / "local-memory-mcp-export.json"
SOURCE = Format.LOCAL_MEMORY_MCP
Row = dict[str, Any]


def sample() -> Row:
    found: Row = json.loads(SAMPLE.read_text(encoding="utf-8"))
    return found


def at(given: str) -> str:
    """A date of the sample as it is stored."""
    return clock.to_text(datetime.fromisoformat(given).replace(tzinfo=UTC))


@pytest.fixture
def imported(memory: Service) -> Service:
    answer = memory.import_(str(SAMPLE))
    assert (answer.format, answer.malformed, answer.exit_status) == ("local-memory-mcp", 0, 0)
    assert answer.counts == {
        "entity": {"added": 6},
        "session": {"added": 6},
        "setting": {"added": 5},
        "memory": {"added": 14 + 4 + 11 + 4},
        "relation": {"added": 5},
    }
    return memory


def by_uid(memory: Service) -> dict[str, Memory]:
    return {one.uid: one for one in everything(memory)}


# The sample, field by field


def test_learnings(imported: Service, home: Path) -> None:
    found = by_uid(imported)
    usage = {row["memory_id"]: row for row in records(home, "usage")}
    for row in sample()["learnings"]:
        one = found[row["id"]]
        assert (one.kind, one.content, one.category) == ("learning", row["content"], row["category"])
        assert (one.project, list(one.tags), one.source) == (row["project"], row["tags"], row["source"])
        assert (one.confidence, one.recorded_at) == (row["confidence"], at(row["date"]))
        importance = row["importance"]
        assert one.importance == (5 if importance is None else round(importance * 10))
        assert one.level == {"episodic": "concrete_trace", "semantic": "semi_abstract"}[row["memoryType"]]
        assert one.layer == ("short_term" if row["lifecycleState"] == "ephemeral" else "long_term")
        assert one.trust == ("verified" if row["verified"] else "unverified")
        assert one.verified_at == (at(row["verifiedAt"]) if row["verifiedAt"] else None)
        state, _, reason = row["lifecycleState"].partition(":")
        assert one.status == ("archived" if row["archived"] else "active")
        assert (state == "archived", one.status_reason) == (bool(row["archived"]), reason or None)
        assert one.status_at == (at(row["archivedAt"]) if row["archived"] else None)
        restated = usage[one.id]["restated"] if one.id in usage else 0
        assert restated == row["usageCount"]
        expected = {name: row[name] for name in ("lastUsed", "memoryType") if row[name] is not None}
        assert one.extra == {SOURCE.value: expected}


def test_decisions(imported: Service) -> None:
    found = by_uid(imported)
    for row in sample()["decisions"]:
        one = found[row["id"]]
        assert (one.kind, one.title, one.content) == ("decision", row["title"], row["decision"])
        assert (one.rationale, one.alternatives) == (row["reasoning"], row["alternatives"])
        assert (one.project, list(one.tags), one.source) == (row["project"], row["tags"], row["source"])
        assert (one.confidence, one.recorded_at) == (row["confidence"], at(row["date"]))
        assert one.trust == ("verified" if row["verified"] else "unverified")
        assert one.verified_at == (at(row["verifiedAt"]) if row["verifiedAt"] else None)


def test_entities_and_their_observations(imported: Service, home: Path) -> None:
    entities = {row["uid"]: row for row in records(home, "entities")}
    found, data = by_uid(imported), sample()
    assert len(entities) == len(data["entities"])
    for row in data["entities"]:
        entity = entities[row["id"]]
        assert (entity["name"], entity["type"]) == (row["name"], row["entityType"])
        assert (entity["summary"], entity["recorded_at"]) == (row["summary"], at(row["createdAt"]))
        assert json.loads(entity["extra"])[SOURCE]["confidence"] == row["confidence"]
    for row in data["observations"]:
        one = found[row["id"]]
        assert (one.kind, one.content, one.source) == ("observation", row["content"], row["source"])
        assert one.entity_id == entities[row["entityId"]]["id"]
        assert (one.confidence, one.recorded_at) == (row["confidence"], at(row["createdAt"]))
        assert (one.session, one.project) == (row["sessionId"], None)
        assert one.valid_from == at(row["validFrom"])
        assert one.valid_to == (dates.instant(row["validTo"]) if row["validTo"] else None)


def test_what_was_superseded_ends_and_names_what_follows_it(imported: Service) -> None:
    found = by_uid(imported)
    old, new = (found[f"33333333-3333-4333-8333-33333333333{digit}"] for digit in "12")
    assert (old.status, old.superseded_by, old.status_reason) == ("superseded", new.id, None)
    assert (old.status_at, old.valid_to, new.valid_from) == (old.valid_to, new.valid_from, old.valid_to)
    ended = {one.content: one for one in found.values() if one.status_reason == "ended"}
    assert set(ended) == {"Stores 40 recipes.", "Costs 12 coins."}
    assert {one.status for one in ended.values()} == {Status.SUPERSEDED}
    live = imported.entity("Greenhouse Controller", all_projects=True)
    assert [one.content for one in live.observations] == ["Polls the soil probes every 30 minutes."]
    then = imported.entity("Greenhouse Controller", all_projects=True, valid_at="2026-05-10")
    assert [one.content for one in then.observations] == ["Polls the soil probes every 10 minutes."]
    believed = imported.entity("Greenhouse Controller", all_projects=True, known_at="2026-05-10")
    assert [one.content for one in believed.observations] == ["Polls the soil probes every 10 minutes."]


def test_relations(imported: Service, home: Path) -> None:
    uids = {row["id"]: row["uid"] for row in records(home, "entities")}
    found = {row["uid"]: row for row in records(home, "relations")}
    for row in sample()["relations"]:
        one = found[row["id"]]
        ends = row["fromEntityId"], row["relationType"], row["toEntityId"]
        assert (uids[one["from_id"]], one["type"], uids[one["to_id"]]) == ends
        assert (one["weight"], one["recorded_at"]) == (row["weight"], at(row["createdAt"]))


def test_sessions_and_their_summaries(imported: Service, home: Path) -> None:
    found = {row["uid"]: row for row in records(home, "sessions")}
    summaries = {one.session: one for one in everything(imported) if one.kind == "summary"}
    for row in sample()["sessions"]:
        one = found[row["id"]]
        assert (one["project"], json.loads(one["tasks"])) == (row["project"], row["tasks"] or [])
        assert one["started_at"] == at(row["startedAt"])
        assert one["ended_at"] == (at(row["endedAt"]) if row["endedAt"] else None)
        summary = summaries.pop(row["id"], None)
        assert (summary and summary.content) == row["summary"]
        if summary:
            assert summary.uid == named_uid(SOURCE, f"summary of session:{row['id']}")
            assert (summary.project, summary.recorded_at) == (row["project"], at(row["endedAt"]))
    assert summaries == {}


def test_profile_and_goal(imported: Service) -> None:
    data = sample()
    assert {one.name: one.value for one in imported.profile().settings} == data["profile"]
    [goal] = imported.goal().settings
    assert (goal.value, goal.at, goal.project) == (data["goal"], at(data["exportedAt"]), None)


def test_an_archive_reason_is_kept_and_the_text_is_found_again_by_what_it_was(imported: Service) -> None:
    refused = imported.store("Upload recipes through the old form.", project="cookbook")
    assert refused.refusal is not None
    assert "replaced by the new importer 新导入器" in refused.refusal.reason


def test_a_second_import_adds_nothing(imported: Service, home: Path) -> None:
    before = records(home, "memories")
    again = imported.import_(str(SAMPLE))
    assert {action for counted in again.counts.values() for action in counted} == {"identical"}
    assert records(home, "memories") == before


# The shapes in which it is saved


SHAPES: dict[str, Callable[[Row], Any]] = {
    "result": lambda data: {"success": True, "data": data, "message": "exported"},
    "message": lambda data: {
        "content": [{"type": "text", "text": json.dumps({"success": True, "data": data, "message": ""})}]
    },
    "blocks": lambda data: [{"type": "text", "text": json.dumps(data)}],
    "text": lambda data: json.dumps(data),
}


def read(file: Path, document: Any) -> list[Found]:
    """What the reader finds in a document that it recognises."""
    file.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    assert READER.recognises(file, file.read_bytes()[:65536])
    return list(READER.read(file))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_whole_result_reads_as_its_data_does(tmp_path: Path, shape: str) -> None:
    data = read(tmp_path / "data.json", sample())
    assert len(data) == 55
    assert read(tmp_path / "whole.json", SHAPES[shape](sample())) == data


def test_what_is_no_such_export_is_not_recognised(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"format": "mem-export"}')
    assert not READER.recognises(other, other.read_bytes())
    for document, why in (
        ('{"format": "studiomeyer-memory-export", "version": 2}', "Version 2"),
        ("{", "not JSON"),
    ):
        other.write_text(document)
        [found] = READER.read(other)
        assert found.record is None and why in found.problem


def test_the_order_of_its_rows_does_not_matter(tmp_path: Path) -> None:
    data = sample()
    upside_down = {name: value[::-1] if isinstance(value, list) else value for name, value in data.items()}
    assert read(tmp_path / "one.json", data) == read(tmp_path / "two.json", upside_down)


# What no tool of it forbids


def export(**sections: Any) -> Row:
    return {
        "format": "studiomeyer-memory-export",
        "version": 1,
        "exportedAt": "2026-05-01 08:00:00",
        **sections,
    }


def learning(**fields: Any) -> Row:
    return {"id": "l1", "date": "2026-04-01 08:00:00", "category": "tool", "content": "Text", **fields}


def one(tmp_path: Path, **sections: Any) -> Found:
    [found] = read(tmp_path / "x.json", export(**sections))
    return found


def extra(found: Found) -> Row:
    assert found.record is not None, found.problem
    kept: Row = found.record["extra"].get(SOURCE.value, {})
    return kept


def test_nothing_is_lost_that_has_no_place_here(tmp_path: Path) -> None:
    odd = {
        "category": "bogus",
        "confidence": 99,
        "importance": "high",
        "tags": ["good", {}, None, 7],
        "date": "some day",
        "lifecycleState": "frozen",
        "colour": {"of": "money"},
        "project": "two\nlines",
    }
    found = one(tmp_path, learnings=[learning(**odd)])
    assert extra(found) == odd
    record = found.record or {}
    assert (record["category"], record["tags"], record["project"]) == ("general", ["good"], "two lines")
    assert not {"confidence", "importance", "recorded_at", "changed_at"} & set(record)
    assert len(found.notices) == 5


def test_null_records_are_passed_over_and_others_that_are_none_are_named(tmp_path: Path) -> None:
    found = read(
        tmp_path / "x.json", export(learnings=[None, "text", learning()], decisions=None, relations={})
    )
    assert [(one.place, one.problem) for one in found if one.record is None] == [
        ("learnings[0]", ""),
        ("learnings[1]", "It is no object."),
        ("relations", "It is no list."),
    ]
    assert len([one for one in found if one.record]) == 1


@pytest.mark.parametrize(
    ("section", "row", "missing"),
    [
        ("learnings", {"id": "x"}, "content"),
        ("learnings", {"content": "x"}, "id"),
        ("decisions", {"id": "x", "title": "t", "decision": "d", "reasoning": " "}, "reasoning"),
        ("entities", {"id": "x", "name": "n"}, "entityType"),
        ("observations", {"id": "x", "content": "c"}, "entityId"),
        ("relations", {"id": "x", "fromEntityId": "a", "toEntityId": "b"}, "relationType"),
        ("sessions", {"startedAt": "2026-01-01"}, "id"),
    ],
)
def test_what_a_record_cannot_do_without_is_named(
    tmp_path: Path, section: str, row: Row, missing: str
) -> None:
    found = one(tmp_path, **{section: [row]})
    assert (found.record, found.problem) == (None, f"{missing} is missing.")


def test_an_unknown_entity_makes_a_record_malformed_and_nothing_is_written(
    memory: Service, tmp_path: Path
) -> None:
    lost = {"id": "o1", "entityId": "gone", "content": "Lost", "createdAt": "2026-04-01 08:00:00"}
    (tmp_path / "x.json").write_text(json.dumps(export(learnings=[learning()], observations=[lost])))
    answer = memory.import_(str(tmp_path / "x.json"))
    assert (answer.malformed, answer.exit_status) == (1, 1)
    assert everything(memory) == []
    answer = memory.import_(str(tmp_path / "x.json"), skip_bad=True)
    assert [one.content for one in everything(memory)] == ["Text"]


def test_ids_that_are_no_uuids_become_the_same_uuids_each_time(memory: Service, tmp_path: Path) -> None:
    entity = {"id": "E 1", "name": "Ana", "entityType": "Person", "createdAt": "2026-04-01 08:00:00"}
    observation = {"id": "o1", "entityId": "E 1", "content": "Sails", "createdAt": "2026-04-01 08:00:00"}
    (tmp_path / "x.json").write_text(json.dumps(export(entities=[entity], observations=[observation])))
    for action in ("added", "identical"):
        answer = memory.import_(str(tmp_path / "x.json"))
        assert answer.counts == {"entity": {action: 1}, "memory": {action: 1}}
    assert [one.uid for one in everything(memory)] == [named_uid(SOURCE, "o1")]
    upper = "ABCDEF00-0000-4000-8000-00000000000A"
    assert (one(tmp_path, learnings=[learning(id=upper)]).record or {})["uid"] == upper.lower()


def test_one_id_for_rows_of_two_kinds_stays_two_memories(tmp_path: Path) -> None:
    decision = {"id": "l1", "title": "T", "decision": "D", "reasoning": "R", "date": "2026-04-01"}
    first, second = read(tmp_path / "x.json", export(learnings=[learning()], decisions=[decision]))
    assert first.record and second.record
    assert first.record["uid"] != second.record["uid"]
    assert "gets one of its own" in second.notices[0]


def test_a_reason_that_mem_itself_gives_does_not_make_the_text_revivable(tmp_path: Path) -> None:
    state = {"archived": 7, "archivedAt": "2026-04-02 08:00:00", "lifecycleState": "archived: Expired "}
    record = one(tmp_path, learnings=[learning(**state)]).record or {}
    assert (record["status"], record["status_reason"]) == ("archived", "archived: Expired")
    assert [version["status"] for version in record["versions"]] == ["active"]


def observation(**fields: Any) -> Row:
    begins = {"validFrom": "2026-04-01 08:00:00", "createdAt": "2026-04-01 08:00:00"}
    return {"id": "o1", "entityId": "e", "content": "Sails", **begins, **fields}


def test_an_interval_that_ends_later_stays_open_until_then(tmp_path: Path) -> None:
    record = one(tmp_path, observations=[observation(validTo="Dec 25, 2999")]).record or {}
    assert (record["status"], record["valid_to"]) == ("active", "2999-12-25T00:00:00.000000Z")
    assert "versions" not in record


def test_an_interval_that_ends_before_it_begins_is_empty_and_told(tmp_path: Path) -> None:
    found = one(tmp_path, observations=[observation(validTo="2020-01-01")])
    record = found.record or {}
    assert record["valid_from"] == record["valid_to"] == "2026-04-01T08:00:00.000000Z"
    assert (extra(found)["validTo"], len(found.notices)) == ("2020-01-01", 1)
    assert record["status_reason"] == "ended"


def test_two_that_begin_where_one_ends_are_no_successor(tmp_path: Path) -> None:
    rows = [observation(validTo="2026-04-02 08:00:00")]
    rows += [observation(id=f"n{number}", validFrom="2026-04-02 08:00:00") for number in (1, 2)]
    found = [one.record or {} for one in read(tmp_path / "x.json", export(observations=rows))]
    [ended] = [record for record in found if record["status"] == "superseded"]
    assert (ended["uid"], ended["status_reason"]) == (named_uid(SOURCE, "o1"), "ended")
    assert "superseded_by" not in ended
    [_, ended] = [one.record or {} for one in read(tmp_path / "x.json", export(observations=rows[:2]))]
    assert ended["superseded_by"] == named_uid(SOURCE, "n1")


def test_an_edited_learning_wins_over_what_it_said_before(memory: Service, tmp_path: Path) -> None:
    for content, used, count in (("Port 80", None, 0), ("Port 81", "2026-04-05 08:00:00", 1)):
        row = learning(content=content, lastUsed=used, usageCount=count)
        (tmp_path / "x.json").write_text(json.dumps(export(learnings=[row])))
        assert memory.import_(str(tmp_path / "x.json")).malformed == 0
    assert [one.content for one in everything(memory)] == ["Port 81"]


def test_an_older_export_does_not_take_back_the_goal(memory: Service, tmp_path: Path) -> None:
    for when, goal in (("2026-05-02 08:00:00", "New"), ("2026-05-01 08:00:00", "Old")):
        (tmp_path / "x.json").write_text(json.dumps({**export(goal=goal), "exportedAt": when}))
        memory.import_(str(tmp_path / "x.json"))
    assert [one.value for one in memory.goal().settings] == ["New"]


def test_profile_fields_get_names_that_can_be_given_here(tmp_path: Path) -> None:
    found = read(tmp_path / "x.json", export(profile={"first name": "Ana", "n": 7, "gone": None}, goal=None))
    assert {one.record["key"]: one.record["value"] for one in found if one.record} == {
        "profile.first_name": "Ana",
        "profile.n": "7",
    }


def test_sections_of_a_later_format_are_kept_as_they_are(tmp_path: Path) -> None:
    found = read(tmp_path / "x.json", export(moods=[{"a": 1}, "calm"], flavour="mild"))
    assert [one.record for one in found] == [
        {"record": "foreign", "source": "local-memory-mcp", "table": "flavour", "row": {"value": "mild"}},
        {"record": "foreign", "source": "local-memory-mcp", "table": "moods", "row": {"a": 1}},
        {"record": "foreign", "source": "local-memory-mcp", "table": "moods", "row": {"value": "calm"}},
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-11-30 13:47:04", "2026-11-30T13:47:04.000000Z"),
        ("2026-11-30T23:59:59+02:00", "2026-11-30T21:59:59.000000Z"),
        ("2020-01-01", "2020-01-01T00:00:00.000000Z"),
        ("Dec 25, 2026", "2026-12-25T00:00:00.000000Z"),
        ("25 December 2026 10:30", "2026-12-25T10:30:00.000000Z"),
        ("Sat Dec 05 2026 10:00:00 GMT+0100 (CET)", "2026-12-05T09:00:00.000000Z"),
        ("Fri, 25 Dec 2026 10:00:00 GMT", "2026-12-25T10:00:00.000000Z"),
        ("2026/12/05", "2026-12-05T00:00:00.000000Z"),
        ("Feb 31, 2026", None),
        ("some day", None),
        (20260101, None),
        (None, None),
    ],
)
def test_dates_of_any_form(given: object, expected: str | None) -> None:
    assert dates.instant(given) == expected
