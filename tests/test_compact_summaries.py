"""The summary of a compaction: cut out of what the host gives, stored once, and never our own text."""

import json
import os
from pathlib import Path

import pytest
from hook_host import SUMMARY, Host, compacted, knowing, transcript

from mem.context import summaries
from mem.service import Service
from mem.values import Kind


@pytest.fixture
def claude(memory: Service) -> Host:
    """Claude Code, over a store that knows the facts."""
    return knowing(memory)


def test_a_summary_is_stored_once_whichever_event_brings_it(claude: Host, tmp_path: Path) -> None:
    path = transcript(tmp_path, compacted())
    for _ in range(2):
        claude.says("SessionStart", source="compact", transcript_path=path)
        claude.says("PostCompact", compact_summary=f"<analysis>a</analysis>\n<summary>\n{SUMMARY}</summary>")
    assert [one.content for one in claude.service.list_(kind=[Kind.SUMMARY]).memories] == [SUMMARY]


def test_other_starts_read_no_transcript(claude: Host, tmp_path: Path) -> None:
    path = transcript(tmp_path, compacted())
    for source in ("startup", "resume", "clear", "fork"):
        claude.says("SessionStart", source=source, transcript_path=path)
    assert claude.service.list_(kind=[Kind.SUMMARY]).total == 0


def test_our_own_output_in_a_summary_is_not_stored(claude: Host, tmp_path: Path) -> None:
    block = claude.says("SessionStart", source="startup")
    told = f"{SUMMARY}\n\nContext given:\n{block}\nThe end."
    path = transcript(tmp_path, compacted(told))
    claude.says("SessionStart", source="compact", transcript_path=path)
    claude.says("PostCompact", "s2", compact_summary=f"<summary>{block}</summary>")
    [kept] = claude.service.list_(kind=[Kind.SUMMARY]).memories
    assert kept.content == f"{SUMMARY}\n\nContext given:\n\nThe end."


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("<analysis>a</analysis><summary>Boats</summary>", "Boats"),
        ("<summary>Boats that <summary> says</summary>", "Boats that <summary> says"),
        ("<summary>Boats, cut off", "Boats, cut off"),
        ("<analysis>thoughts</analysis>Boats", "Boats"),
        ("Boats", "Boats"),
        ("<summary> </summary>", ""),
        (None, ""),
        (7, ""),
        ("<summary>\x00Boats\ud800</summary>", "Boats"),
    ],
)
def test_the_summary_is_cut_out_of_what_the_host_says(given: object, kept: str) -> None:
    assert summaries.of_event(given) == kept


@pytest.mark.parametrize(
    "line",
    [
        compacted(isSidechain=True),
        {**compacted(), "type": "assistant"},
        {**compacted(), "isCompactSummary": "true"},
        {**compacted(), "message": "Summary:\nBoats"},
        {"padding": "x" * 300, **compacted()},
        {**compacted(), "message": {"content": "without the word"}},
        {**compacted(), "message": {"content": [7, {"text": 8}]}},
        '{"type":"user","isCompactSummary": true, not JSON',
        json.dumps(compacted("x" * (3 << 20)), separators=(",", ":")),
    ],
    ids=range(9),
)
def test_only_a_summary_s_own_line_counts_as_one(tmp_path: Path, line: object) -> None:
    assert summaries.of_transcript(transcript(tmp_path, line)) == ""
    assert summaries.of_transcript(transcript(tmp_path, compacted("Older"), line)) == "Older"


def test_the_newest_summary_of_a_long_transcript_is_found(tmp_path: Path) -> None:
    snapshot = json.dumps({"type": "api-request", "body": "isCompactSummary " * 5000})
    blocks = {"type": "user", "isCompactSummary": True, "message": {"content": [{"text": "Summary:\nNewer"}]}}
    path = transcript(tmp_path, compacted("Older"), *[snapshot] * 300, blocks, *[snapshot] * 20)
    assert Path(path).stat().st_size > summaries._TAIL
    assert summaries.of_transcript(path) == "Newer"


def test_of_two_summaries_the_newer_counts(tmp_path: Path) -> None:
    assert summaries.of_transcript(transcript(tmp_path, compacted("Older"), compacted("Newer"))) == "Newer"


@pytest.mark.parametrize("path", [7, None, "", "/no/such/file", "/", "\0"])
def test_what_is_no_file_holds_no_summary(path: object) -> None:
    assert summaries.of_transcript(path) == ""


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    other = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        os.write(other, json.dumps(compacted(), separators=(",", ":")).encode() + b"\n")
        assert summaries.of_transcript(str(tmp_path / "pipe")) == ""
    finally:
        os.close(other)
