"""Sources that nobody should have written: each is refused by its line, and the store is as it was."""

import json
import os
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import apsw
import pytest

from mem.errors import Usage
from mem.exchange import exporting
from mem.exchange.sources import Format
from mem.service import Service
from mem.store.selection import Selection
from mem.values import ExportFormat


def exported(memory: Service, path: Path) -> list[dict[str, Any]]:
    memory.export(str(path))
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(path: Path, records: list[Any]) -> str:
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records))
    return str(path)


NESTED = '{"a":' * 900 + "1" + "}" * 900


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"versions": [1]}, "versions must be a list of objects."),
        ({"usage": "often"}, "usage must be a list of objects."),
        ({"usage": [{"origin": "x", "extra": 5}]}, "extra must be an object, not 5."),
        ({"extra": 5, "newer": 1}, "extra must be an object, not 5."),
        ({"extra": {"_fields": {"uid": "x"}}}, "extra holds _fields"),
        ({"extra": {"_unresolved": 5}}, "_unresolved must be an object, not 5."),
        ({"extra": {"_unresolved": {"content": "x"}}}, "_unresolved names 'content'"),
        ({"extra": {"_unresolved": {"entity": "x"}}}, "entity is no UUID"),
    ],
)
def test_a_record_of_another_shape_is_named(
    memory: Service, tmp_path: Path, said: dict[str, Any], reason: str
) -> None:
    memory.store("We use Postgres")
    header, *records = exported(memory, tmp_path / "whole.jsonl")
    record = next(one for one in records if one["record"] == "memory")
    answer = memory.import_(written(tmp_path / "bad.jsonl", [header, {**record, **said}]))
    assert [bad.line for bad in answer.bad] == [2]
    assert reason in answer.bad[0].reason
    assert exported(memory, tmp_path / "after.jsonl")[1:] == records


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"record":"foreign","source":"mem","table":"memory","row":{}}', "A memory is no row"),
        ('{"record":"foreign","source":"mem","table":"header","row":{}}', "A header is no row"),
        (f'{{"record":"foreign","source":"x","table":"y","row":{NESTED}}}', "It is nested too deeply."),
    ],
)
def test_a_foreign_row_can_be_exported_again(memory: Service, tmp_path: Path, line: str, reason: str) -> None:
    header = {"record": "header", "format": "mem-export", "version": 1, "counts": {"foreign": "one"}}
    answer = memory.import_(written(tmp_path / "bad.jsonl", [header, line]))
    assert [bad.reason.startswith(reason) for bad in answer.bad] == [True]
    assert len(exported(memory, tmp_path / "after.jsonl")) == 1


def test_one_id_of_two_rejections_is_no_crash(memory: Service, tmp_path: Path) -> None:
    memory.reject([str(memory.store("We use Postgres").id)], reason="wrong")
    records = exported(memory, tmp_path / "whole.jsonl")
    stone = next(one for one in records if one["record"] == "tombstone")
    other = {**stone, "fingerprint": "a" * 64}
    answer = memory.import_(written(tmp_path / "bad.jsonl", [*records, other]))
    assert answer.counts["tombstone"] == {"identical": 1, "malformed": 1}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("latin-1.csv", b"content\ncaf\xe9\nwhole\n", "It holds bytes that are no UTF-8"),
        ("half.jsonl", b'{"content": "half \\ud800"}\n"whole"\n', "It holds bytes that are no UTF-8"),
        ("large.jsonl", b'{"content": "a", "importance": ' + b"9" * 400 + b'}\n"whole"\n', "importance must"),
        ("deep.jsonl", b'{"content": "a", "b": ' + b"[" * 100_000 + b'\n"whole"\n', "It is no JSON: nested"),
        ("open.csv", b'content,tags\nwhole,x\n"open,x\nlost,y\n', "It is no CSV: unexpected end of data"),
    ],
)
def test_a_bad_note_leaves_the_others(
    memory: Service, tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    answer = memory.import_(str(path), skip_bad=True)
    assert [bad.reason.startswith(reason) for bad in answer.bad] == [True]
    assert [one.content for one in memory.list_().memories] == ["whole"]


def test_a_column_that_is_named_twice_is_told(memory: Service, tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("content,Content\na,b\n")
    assert [bad.reason for bad in memory.import_(str(path)).bad] == ["The header names content twice."]


def test_code_in_markdown_is_no_list(memory: Service, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("```yaml\n- a step\n# a comment\n```\n\n- a note\n")
    memory.import_(str(path))
    assert [one.content for one in memory.list_().memories] == ["a note"]


def test_other_databases_and_empty_files_are_told(memory: Service, tmp_path: Path) -> None:
    other, empty = tmp_path / "other.db", tmp_path / "empty.jsonl"
    db = apsw.Connection(str(other))
    db.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT)")
    db.execute("INSERT INTO memories VALUES (1, 'x')")
    db.close()
    empty.touch()
    with pytest.raises(Usage, match="a SQLite database, but none of mneme"):
        memory.import_(str(other))
    with pytest.raises(Usage, match="no file of mneme"):
        memory.import_(str(other), format=Format.MNEME)
    with pytest.raises(Usage, match="is empty"):
        memory.import_(str(empty))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_like_a_file(memory: Service, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = "".join(json.dumps({"content": f"note {number} " + "x" * 2_000}) + "\n" for number in range(50))
    writer = threading.Thread(target=pipe.write_text, args=(content,))
    writer.start()
    answer = memory.import_(str(pipe))
    writer.join()
    assert answer.counts == {"memory": {"added": 50}}


def test_an_export_is_whole_where_writes_are_short(memory: Service) -> None:
    class Short(BytesIO):
        def write(self, part: Any) -> int:
            return super().write(bytes(part[:100]))

    memory.store("We use Postgres " * 50)
    out, short = BytesIO(), Short()
    exporting.write(memory._store, Selection(), ExportFormat.JSONL, out)
    exporting.write(memory._store, Selection(), ExportFormat.JSONL, short)
    assert short.getvalue().split(b"\n", 1)[1] == out.getvalue().split(b"\n", 1)[1]
