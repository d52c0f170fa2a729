"""Secrets are redacted before anything is written or embedded, through every door."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import BagOfWords, Ran
from hook_host import CLAUDE, Host, compacted, transcript
from hypothesis import given, settings
from hypothesis import strategies as st
from secret_samples import GITHUB, PLAIN, SURROUNDED
from telling import get, records, tell
from test_mcp_server import ask
from test_start_up import imported

from mem.caller import Caller
from mem.embed import Role
from mem.errors import MemError, Usage
from mem.service import Service
from mem.store.connect import Store
from mem.truth.redact import LABELS, redact
from mem.values import Actor, ActorKind, Kind, Trust

Run = Callable[..., Ran]

NOTES = (Path(__file__).parent / "data" / "developer_notes.txt").read_text(encoding="utf-8").splitlines()
MARK = "[redacted:github-token]"
TEXT = f"The deploy token is {GITHUB} until May"
PLAIN_TEXT = f"The deploy token is {MARK} until May"
ALL = (*((label, secret, f"Use {secret} here") for label, secret in PLAIN), *SURROUNDED)


def files_with(folder: Path, secret: str = GITHUB) -> list[Path]:
    """The files under a folder whose bytes hold the secret, or half of it."""
    halves = (secret.encode(), secret[: len(secret) // 2 + 4].encode())
    return [
        file
        for file in folder.rglob("*")
        if file.is_file() and any(half in file.read_bytes() for half in halves)
    ]


# What is a secret


@pytest.mark.parametrize(("label", "secret", "text"), ALL, ids=[f"{i}-{one[0]}" for i, one in enumerate(ALL)])
def test_every_published_format_is_redacted_and_the_rest_stays(label: str, secret: str, text: str) -> None:
    found = redact(text)
    assert label in found.labels
    assert secret not in found.text
    before, _, after = text.partition(secret)
    assert found.text.endswith(f"[redacted:{label}]{after}")
    if "[redacted" not in found.text.partition(f"[redacted:{label}]")[0]:
        assert found.text == f"{before}[redacted:{label}]{after}"


@pytest.mark.parametrize(
    "around", ["{}", "“{}”", "令牌{}在这里", "`{}`.", "a\\n{}\\n", "**{}**", "x={}&y=1", "({}),"]
)
def test_a_token_is_found_whatever_stands_around_it(around: str) -> None:
    assert redact(around.format(GITHUB)).text == around.format(MARK)


def test_several_secrets_in_one_text_are_all_redacted() -> None:
    tokens = [secret for label, secret in PLAIN if label != "private-key"]
    found = redact("; ".join(tokens))
    assert not [token for token in tokens if token in found.text]
    assert set(found.labels) == {label for label, _ in PLAIN} - {"private-key"}


def test_every_label_is_one_that_is_documented() -> None:
    assert {label for label, *_ in ALL} <= set(LABELS)
    assert all(label == label.lower() and " " not in label for label in LABELS)


def test_notes_of_developers_are_left_alone() -> None:
    assert len(NOTES) >= 500
    assert len(set(NOTES)) == len(NOTES)
    wrong = [note for note in NOTES if redact(note).labels or redact(note.replace("\\n", "\n")).labels]
    assert wrong == []
    assert redact("\n".join(NOTES)).labels == ()


def test_redacting_twice_changes_nothing() -> None:
    for _, _, text in ALL:
        once = redact(text).text
        assert redact(once).text == once
        assert redact(once).labels == ()


PIECES = st.sampled_from(
    [secret for _, secret in PLAIN[:12]] + [text for *_, text in SURROUNDED]
) | st.sampled_from(
    [
        "password=",
        "api_key: ",
        "://u:",
        "@",
        ":",
        " ",
        "\n",
        '"',
        "[redacted:",
        "]",
        "Bearer ",
        "a",
        "9",
        "-----END ",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES | st.text(max_size=8), max_size=8))
def test_redaction_is_idempotent_whatever_stands_together(pieces: list[str]) -> None:
    once = redact("".join(pieces)).text
    assert redact(once).text == once


@pytest.mark.parametrize(
    "text",
    [
        "eyJ" * 33_000,
        "glpat-" * 16_000,
        "://a:" * 20_000,
        "password=" * 11_000,
        "-----BEGIN PRIVATE KEY-----\n" * 3_500,
        ("A" * 64 + "\n") * 1_500 + "-----END PRIVATE KEY-----",
        "A" * 100_000 + "-----END PRIVATE KEY-----" * 100,
        "sk-" + "a-" * 50_000,
        "secret " * 14_000,
    ],
    ids=range(9),
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 2


# Every door


class Listening(BagOfWords):
    """An embedder that keeps what it is given."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def split(self, text: str) -> list[str]:
        self.heard.append(text)
        return [text]

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None):  # type: ignore[no-untyped-def]
        self.heard += texts
        return super().embed(texts, role)


@pytest.fixture
def listening() -> Listening:
    return Listening()


@pytest.fixture
def memory(home: Path, listening: Listening, person: Caller) -> Iterator[Service]:
    """A service whose embedder keeps what it is given."""
    store = Store(home / "memory.db")
    yield Service(store, listening, person)
    store.close()


def everywhere(memory: Service) -> None:
    """Bring the token in by each free text of each operation."""
    stored = memory.store(
        TEXT, title=TEXT, rationale=TEXT, alternatives=TEXT, source=TEXT, tag=[GITHUB], kind=Kind.DECISION
    )
    assert (stored.action, stored.id) == ("added", 1)
    batch = memory.store_batch([{"content": f"one {TEXT}"}, {"content": "two", "tag": [GITHUB]}])
    assert [one.action for one in batch.outcomes] == ["added", "added"]
    memory.update("2", content=f"changed {TEXT}", add_tag=[GITHUB], reason=TEXT)
    memory.supersede(["2"], content=f"replaced {TEXT}", reason=TEXT)
    memory.archive(["3"], reason=TEXT)
    memory.restore(["3"], reason=TEXT)
    memory.trust(["3"], Trust.DISPUTED, reason=TEXT)
    memory.supersede(["3"], ended=True, reason=TEXT)
    memory.reject(["4"], reason=TEXT)
    last = memory.log(limit=1, all_projects=True).events[0].id
    memory.undo(str(last), reason=TEXT)
    memory.session_start()
    ended = memory.session_end(summary=f"Summed up: {TEXT}", task=[TEXT, "load test"])
    assert ended.session.tasks == (PLAIN_TEXT, "load test")
    assert [notice.code for notice in ended.warnings] == ["secret_redacted"]


def test_no_file_holds_a_secret_whatever_operation_brought_it(
    memory: Service, listening: Listening, home: Path
) -> None:
    everywhere(memory)
    assert files_with(home, MARK)  # what is looked for would be found
    assert files_with(home) == []
    assert listening.heard
    assert not [text for text in listening.heard if GITHUB[:20] in text]
    assert any(MARK in text for text in listening.heard)


def test_the_vector_is_that_of_the_redacted_text(memory: Service, listening: Listening) -> None:
    tell(memory, TEXT)
    assert memory.recall(PLAIN_TEXT).hits[0].memory.content == PLAIN_TEXT
    assert listening.heard[0] == PLAIN_TEXT


def test_a_compact_summary_and_a_prompt_leave_no_secret(memory: Service, home: Path, tmp_path: Path) -> None:
    host = Host(memory, CLAUDE)
    path = transcript(home.parent, compacted(f"We said that {TEXT}"))
    host.says("SessionStart", source="compact", transcript_path=path)
    host.says("PostCompact", "s2", compact_summary=f"<summary>Then {TEXT}</summary>")
    host.asks(f"is {GITHUB} the deploy token?")
    host.says("SessionEnd", "s1", reason=GITHUB)
    kept = {one.content for one in memory.list_(kind=[Kind.SUMMARY]).memories}
    assert kept == {f"We said that {PLAIN_TEXT}", f"Then {PLAIN_TEXT}"}
    assert files_with(home) == []


def test_the_command_line_and_the_server_write_no_secret(run_mem: Run, home: Path) -> None:
    env = {"MEM_MODEL": "none"}
    ran = run_mem("store", TEXT, "--tag", GITHUB, env=env)
    assert (ran.code, GITHUB in ran.out + ran.err) == (0, False)
    assert "content held a secret (github-token)" in ran.err
    line = json.dumps({"content": f"batch {TEXT}"}).encode()
    answer = run_mem("store-batch", "-", "--json", stdin=line, env=env).document()
    assert "secret_redacted" in [one["code"] for one in answer["outcomes"][0]["warnings"]]
    assert run_mem("update", "1", "--content", f"new {TEXT}", "--reason", TEXT, env=env).code == 0
    assert run_mem("get", "1", env=env).out.endswith(f"\n\nnew {PLAIN_TEXT}\n")
    assert files_with(home, MARK)
    assert files_with(home) == []


def test_an_mcp_client_stores_no_secret_and_hears_of_it(home: Path) -> None:
    home.mkdir()
    call = ("store", {"content": TEXT, "tag": [GITHUB]})
    wrong = ("store", {"content": "x", "category": GITHUB})
    stored, refused = ask(home, "legacy", call, wrong)
    assert [one["code"] for one in stored.structured_content["warnings"]] == ["secret_redacted"] * 2
    assert refused.is_error
    assert GITHUB[:16] not in str(stored) + str(refused)
    assert files_with(home, MARK)
    assert files_with(home) == []


def _agent() -> Caller:
    return Caller(Actor(ActorKind.AGENT, "careful-host"), Path.cwd())


# What is said of it


def test_the_writer_is_told_which_field_held_what(memory: Service) -> None:
    stored = memory.store(TEXT, title=TEXT, tag=["deploy", GITHUB])
    told = [(notice.code, notice.message) for notice in stored.warnings]
    assert [code for code, _ in told] == ["secret_redacted"] * 3
    for (_, message), field in zip(told, ("content", "title", "tag"), strict=True):
        assert message.startswith(f"{field} held a secret (github-token)")
        assert GITHUB not in message
    assert get(memory, 1).tags == ("deploy", MARK)


def test_update_and_supersede_tell_it_too(memory: Service) -> None:
    id_ = tell(memory, "Deploys need a token")
    updated = memory.update(id_, content=TEXT, reason=TEXT)
    assert [notice.message.split()[0] for notice in updated.warnings] == ["content", "reason"]
    replaced = memory.supersede([id_], content=f"Now {TEXT}")
    assert [notice.code for notice in replaced.warnings][:1] == ["secret_redacted"]
    assert replaced.memories[-1].content == f"Now {PLAIN_TEXT}"


def test_the_same_text_with_another_token_is_known_already(memory: Service) -> None:
    id_ = tell(memory, TEXT)
    other = memory.store(TEXT.replace(GITHUB, PLAIN[1][1]))
    assert (other.action, str(other.id)) == ("already_known", id_)


def test_no_error_repeats_a_secret(run_mem: Run, home: Path) -> None:
    env = {"MEM_MODEL": "none"}
    assert run_mem("store", "first", env=env).code == 0
    for arguments in (
        ("store", "x", "--category", GITHUB),
        ("store", "x", "--importance", GITHUB),
        ("store", "x", GITHUB),
        ("store", "x", "--valid-from", GITHUB),
        ("store", "x", "--tag", GITHUB + "-" * 90),
        ("store", "x", "--project", GITHUB),
        ("get", GITHUB),
        ("archive", "1", "--reasn", GITHUB),
        ("session-end", GITHUB),
        ("list", "--project", f"{GITHUB}\x01"),
        ("config", "set", "model", GITHUB),
        (GITHUB,),
        (f"--{GITHUB}",),
    ):
        for extra in ((), ("--json",)):
            ran = run_mem(*arguments, *extra, env=env)
            assert ran.code != 0, arguments
            assert GITHUB[:16] not in ran.out + ran.err, (arguments, ran)
    batch = json.dumps([{"content": "y", "category": GITHUB}, {"content": "z", GITHUB: 1}]).encode()
    ran = run_mem("store-batch", "-", "--json", stdin=batch, env=env)
    assert (ran.code, GITHUB[:16] in ran.out + ran.err) == (4, False)
    assert files_with(home) == []


def test_a_project_cannot_be_named_by_a_secret(memory: Service, home: Path, person: Caller) -> None:
    with pytest.raises(Usage, match=r"cannot hold a secret \(github-token\)"):
        memory.store("x", project=GITHUB)
    id_ = tell(memory, "something", project="farm")
    with pytest.raises(Usage):
        memory.update(id_, project=GITHUB)
    named = memory.of(replace(person, project=GITHUB))
    for write in (lambda: named.store("x"), named.session_start):
        with pytest.raises(Usage):
            write()
    assert files_with(home) == []


def test_a_text_in_a_wrong_encoding_is_pointed_out(memory: Service) -> None:
    for damaged in (
        "Die GrÃ¶Ã\x9fe zählt",
        "It isnâ€™t done",
        "lost \ufffd bytes",
        "ðŸš€ launched",
        "10Â° outside",
    ):
        assert [notice.code for notice in memory.store(damaged).warnings] == ["damaged_encoding"], damaged
    for sound in ("NÃO É ASSIM", "Größe, naïve, señor", "“MAÇÔ", "Â la carte", "数据 🚀", "à l’été", "IRMÃ»"):
        codes = [notice.code for notice in memory.store(sound).warnings]
        assert "damaged_encoding" not in codes, sound


# What a person allows


def test_a_person_can_have_a_secret_kept_and_the_log_says_so(memory: Service, home: Path) -> None:
    kept = memory.store(TEXT, allow_secret=True)
    assert (kept.warnings, get(memory, kept.id).content) == ((), TEXT)
    other = tell(memory, "Deploys need a token")
    memory.update(other, content=f"changed {TEXT}", allow_secret=True)
    memory.supersede([other], content=f"replaced {TEXT}", allow_secret=True)
    memory.store_batch([{"content": f"batch {TEXT}", "allow_secret": True}, {"content": f"plain {TEXT}"}])
    assert get(memory, 3).content == f"replaced {TEXT}"
    assert [get(memory, number).content for number in (4, 5)] == [f"batch {TEXT}", f"plain {PLAIN_TEXT}"]
    details = [json.loads(event["detail"]).get("allow_secret") for event in records(home, "events")]
    assert details == [True, None, True, True, True]


def test_what_a_person_allowed_stays_when_something_else_is_changed(memory: Service) -> None:
    kept = memory.store(TEXT, tag=[GITHUB], allow_secret=True)
    changed = memory.update(str(kept.id), importance=8, add_tag=["deploy"])
    assert (changed.memories[0].content, changed.memories[0].tags) == (TEXT, (GITHUB, "deploy"))
    assert changed.warnings == ()
    assert memory.update(str(kept.id), content=f"again {TEXT}").memories[0].content == f"again {PLAIN_TEXT}"
    assert memory.update(str(kept.id), remove_tag=[GITHUB]).memories[0].tags == ("deploy",)


def test_no_agent_can_allow_a_secret(memory: Service, run_mem: Run) -> None:
    agent = memory.of(_agent())
    [outcome] = agent.store_batch([{"content": TEXT, "allow_secret": True}]).outcomes
    assert (outcome.action, outcome.refusal and outcome.refusal.code) == ("refused", "usage")
    ran = run_mem("store", TEXT, "--allow-secret", env={"CLAUDECODE": "1", "MEM_MODEL": "none"})
    assert (ran.code, GITHUB in ran.out + ran.err) == (4, False)
    assert agent.list_(all_projects=True).total == 0


# What is stored already


def test_doctor_finds_stored_secrets_and_never_shows_them(memory: Service) -> None:
    assert _secrets(memory) == (True, "none in any text, version or event")
    memory.store(TEXT, allow_secret=True)
    assert _secrets(memory) == (False, "in #1 (github-token)")
    memory.update("1", content="The deploy token is in the vault")
    assert _secrets(memory) == (False, "in a version of #1 (github-token)")
    assert "secrets" not in [check.name for check in memory.doctor().checks]


def _secrets(memory: Service) -> tuple[bool, str]:
    [found] = [check for check in memory.doctor(secrets=True).checks if check.name == "secrets"]
    assert "mem forget ID" in found.hint or found.ok
    assert GITHUB not in found.detail + found.hint
    return found.ok, found.detail


def test_doctor_exits_1_where_secrets_are_stored(run_mem: Run) -> None:
    env = {"MEM_MODEL": "none"}
    assert run_mem("doctor", "--secrets", env=env).code == 0
    assert run_mem("store", TEXT, "--allow-secret", env=env).code == 0
    ran = run_mem("doctor", "--secrets", env=env)
    assert (ran.code, "FAILED\tsecrets\tin #1 (github-token)" in ran.out, GITHUB in ran.out) == (
        1,
        True,
        False,
    )
    assert run_mem("forget", "1", "--yes", env=env).code == 0
    assert run_mem("doctor", "--secrets", env=env).code == 0


def test_a_failure_in_the_hook_log_holds_no_secret(home: Path) -> None:
    from mem.context import failures

    failures.record(home, "prompt", MemError(f"cannot take {GITHUB}"))
    assert f"cannot take {MARK}" in (home / "hook.log").read_text()
    assert [file.name for file in home.iterdir()] == ["hook.log"]


def test_reading_does_not_import_the_rules(home: Path) -> None:
    assert "mem.truth.redact" not in imported("list")
