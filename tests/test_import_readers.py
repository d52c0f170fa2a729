"""Other programs' files become records of the export format: what each line, cell, item and file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mem.exchange import claude_memory_import, memory_server, note_lists
from mem.exchange.sources import Format, Found, Reader, kept_uid, named_uid


def _found(reader: Reader, path: Path, text: str | bytes) -> list[Found]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert reader.recognises(path, path.read_bytes()[:4096])
    return list(reader.read(path))


def _said(found: list[Found], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(one.record.get(name) for name in names) for one in found if one.record]


def test_each_item_of_a_markdown_list_is_a_note_under_its_heading(tmp_path: Path) -> None:
    found = _found(
        note_lists.MARKDOWN,
        tmp_path / "notes.md",
        "# Deploy\n\n- runs on **Friday**\n  after lunch\n  - never at night\n* [x] 已完成 🎉\n\nloose\n\n"
        "## Database ##\n1. use postgres\n",
    )
    assert _said(found, "title", "content") == [
        ("Deploy", "runs on **Friday**\nafter lunch\n- never at night"),
        ("Deploy", "已完成 🎉"),
        ("Database", "use postgres"),
    ]
    assert [one.line for one in found] == [3, 6, 11]


def test_markdown_without_a_list_gives_its_paragraphs_and_keeps_code_whole(tmp_path: Path) -> None:
    found = _found(
        note_lists.MARKDOWN, tmp_path / "notes.md", "# T\n\none\ntwo\n\n```\n# no heading\n\nend\n```\n"
    )
    assert _said(found, "title", "content") == [("T", "one\ntwo"), ("T", "```\n# no heading\n\nend\n```")]


def test_the_columns_of_a_csv_file_are_fields_and_the_rest_is_kept(tmp_path: Path) -> None:
    found = _found(
        note_lists.CSV,
        tmp_path / "notes.csv",
        'content;tags;importance;date;colour\n"Two\nlines";a, b;7;2026-01-02T03:04:05Z;red\nx;;11;;\n;;;;\n'
        "y;;;;\na;b;c;d;e;f\n",
    )
    [first, bad, plain, long] = found
    assert first.record is not None
    assert first.record["content"] == "Two\nlines"
    assert first.record["tags"] == ["a", "b"]
    assert first.record["importance"] == 7
    assert first.record["recorded_at"] == first.record["changed_at"] == "2026-01-02T03:04:05.000000Z"
    assert first.record["extra"] == {"csv": {"colour": "red"}}
    assert (bad.record, bad.problem, bad.line) == (
        None,
        "importance must be a number from 0 to 10, not '11'.",
        4,
    )
    assert plain.record is not None and plain.record["content"] == "y" and "changed_at" not in plain.record
    assert (long.record, long.problem) == (None, "It has 6 fields, the header 5.")


def test_json_lines_may_be_objects_or_texts_and_each_bad_one_says_why(tmp_path: Path) -> None:
    found = _found(
        note_lists.JSONL,
        tmp_path / "notes.jsonl",
        b'\xef\xbb\xbf{"Text":"hello","tags":["a"],"category":"bogus","id":"n1"}\n\n"just text"\n42\n{bad\n'
        b'{"content":" "}\n',
    )
    assert _said(found, "content", "uid") == [
        ("hello", named_uid(Format.JSONL, "n1")),
        ("just text", found[1].record and found[1].record["uid"]),
    ]
    assert found[0].record is not None and found[0].record["extra"] == {"jsonl": {"category": "bogus"}}
    assert found[0].notices == ("category 'bogus' is unknown here; it is kept in extra",)
    assert [(one.line, one.problem.partition(":")[0]) for one in found if not one.record] == [
        (4, "It is neither an object nor a text."),
        (5, "It is no JSON"),
        (6, "It has no text"),
    ]


def test_a_json_array_is_a_list_of_notes(tmp_path: Path) -> None:
    found = _found(note_lists.JSONL, tmp_path / "notes.json", '[{"note": "one"}, "two"]')
    assert _said(found, "content") == [("one",), ("two",)]


def test_a_note_keeps_its_id_whatever_stands_around_it(tmp_path: Path) -> None:
    [first] = _found(note_lists.JSONL, tmp_path / "a.jsonl", '{"content": "Use Postgres."}')
    _, second = _found(
        note_lists.JSONL, tmp_path / "b.jsonl", '"other"\n{"content": "use  postgres", "tags": "x"}'
    )
    assert first.record is not None and second.record is not None
    assert first.record["uid"] == second.record["uid"]
    given = "018F0000-0000-7000-8000-00000000000A"
    assert kept_uid(Format.JSONL, given) == given.lower()
    assert kept_uid(Format.JSONL, given[:-1]) == named_uid(Format.JSONL, given[:-1])


def test_the_reference_server_s_entities_observations_and_relations(tmp_path: Path) -> None:
    found = _found(
        memory_server.READER,
        tmp_path / "memory.jsonl",
        '{"type":"entity","name":"Ann","entityType":"person","observations":["likes tea","住在里斯本"],'
        '"born":1990}\n'
        '{"type":"relation","from":"Ann","to":"Bob","relationType":"knows"}\n{"type":"thing"}\n[]\n',
    )
    entity, tea, lisbon, relation, unknown, no_object = found
    assert entity.record is not None and relation.record is not None
    assert (entity.record["name"], entity.record["type"]) == ("Ann", "person")
    assert entity.record["extra"] == {"memory-server": {"born": 1990}}
    assert _said([tea, lisbon], "kind", "content", "entity") == [
        ("observation", "likes tea", entity.record["uid"]),
        ("observation", "住在里斯本", entity.record["uid"]),
    ]
    assert (relation.record["from"], relation.record["type"]) == (entity.record["uid"], "knows")
    assert [(one.record, one.line) for one in (unknown, no_object)] == [(None, 3), (None, 4)]


@pytest.fixture
def claude_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "-no-such-place-shop" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("an index")
    (folder / "style.md").write_text(
        "---\nname: style\ndescription: Short answers\nmetadata:\n  type: feedback\n"
        "  modified: 2026-05-01T10:00:00Z\n---\nAnswer in ten lines.\n"
    )
    return tmp_path / "projects"


def test_a_file_of_claude_s_memory_is_one_memory_of_its_project(claude_folder: Path) -> None:
    assert claude_memory_import.READER.recognises(claude_folder, b"")
    [found] = claude_memory_import.READER.read(claude_folder)
    assert found.record is not None
    assert {
        name: found.record[name] for name in ("title", "content", "category", "project", "changed_at")
    } == {
        "title": "Short answers",
        "content": "Answer in ten lines.",
        "category": "feedback",
        "project": "-no-such-place-shop",
        "changed_at": "2026-05-01T10:00:00.000000Z",
    }
    assert "status" not in found.record and "recorded_at" not in found.record


def test_an_edited_file_of_claude_s_memory_is_the_same_memory(claude_folder: Path) -> None:
    [before] = claude_memory_import.READER.read(claude_folder)
    file = claude_folder / "-no-such-place-shop" / "memory" / "style.md"
    file.write_text(file.read_text().replace("ten lines", "five lines").replace("05-01", "06-01"))
    [after] = claude_memory_import.READER.read(file)
    assert before.record is not None and after.record is not None
    assert before.record["uid"] == after.record["uid"]
    assert after.record["content"] == "Answer in five lines."
    assert after.record["changed_at"] > before.record["changed_at"]


def test_a_project_of_claude_s_memory_that_is_on_this_machine_has_its_own_name(tmp_path: Path) -> None:
    work = tmp_path / "my-shop.app"
    work.mkdir()
    from mem.exchange.claude_memory import slug

    folder = tmp_path / "claude" / slug(str(work)) / "memory"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("The till closes at six.")
    [found] = claude_memory_import.READER.read(tmp_path / "claude")
    assert found.record is not None
    assert found.record["project"] == "my-shop.app"
