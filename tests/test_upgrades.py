"""Stores of every version so far, opened by the code of today: whole, and with the answers of their time."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from data import make_store
from telling import live, rows
from wall_clock import WallClock

from mem.service import Service
from mem.store import migrations
from mem.values import Kind

DATA = Path(make_store.__file__).parent
VERSIONS = sorted(
    (packed.name.removeprefix("store-").removesuffix(".db.gz") for packed in DATA.glob("*.db.gz")),
    key=lambda version: [int(part) for part in version.split(".")],
)


# What is told in another way since a version, so that what was recorded before it says less.
CHANGED = {"0.1.0": {"stats"}}  # what has expired is counted as that, whether or not upkeep archived it


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch, make_store.ASKED_AT)


def unpack(version: str, home: Path) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    packed = (DATA / f"store-{version}.db.gz").read_bytes()
    (home / "memory.db").write_bytes(gzip.decompress(packed))
    (home / "memory.db").chmod(0o600)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def recorded(version: str, home: Path) -> list[dict[str, Any]]:
    """The answers of a version, whose store lies in the private home now."""
    unpack(version, home)
    answers: list[dict[str, Any]] = json.loads((DATA / f"store-{version}.json").read_text(encoding="utf-8"))
    return answers


@pytest.fixture
def upgraded(recorded: list[dict[str, Any]], home: Path, wall: WallClock) -> Iterator[Service]:
    service = make_store.opened(home / "memory.db")
    yield service
    service.close()


def differences(then: Any, now: Any, place: str = "answer") -> list[str]:
    """Where an answer of today lacks what it held then; what it holds besides is fine."""
    match then, now:
        case dict(), dict():
            return [
                difference
                for name in then
                for difference in differences(then[name], now.get(name), f"{place}.{name}")
            ]
        case list(), list() if len(then) == len(now):
            pairs = enumerate(zip(then, now, strict=True))
            return [found for number, pair in pairs for found in differences(*pair, f"{place}[{number}]")]
        case float(), float():
            return [] if then == pytest.approx(now) else [f"{place}: {then} became {now}"]
        case _:
            return [] if then == now else [f"{place}: {then!r} became {now!r}"]


def test_the_newest_of_these_stores_has_the_schema_of_today(tmp_path: Path) -> None:
    unpack(VERSIONS[-1], tmp_path)
    assert migrations.MIGRATIONS[-1].__name__ in [name for name, *_ in rows(tmp_path, "migrations")]


def test_an_old_store_answers_as_it_did(
    upgraded: Service, recorded: list[dict[str, Any]], version: str
) -> None:
    # Later versions may ask more; what was asked then stays first.
    questions = make_store.questions()[: len(recorded)]
    assert len(questions) == len(recorded) > 50
    for (method, arguments), then in zip(questions, recorded, strict=True):
        if method in CHANGED.get(version, ()):
            continue
        now = make_store.ask(upgraded, method, arguments)
        assert differences(then, now, f"{method}({arguments})") == []


def test_an_old_store_is_sound(upgraded: Service) -> None:
    diagnosis = upgraded.doctor()
    assert [f"{check.name}: {check.detail}" for check in diagnosis.checks if not check.ok] == []
    assert diagnosis.sound


def test_an_old_store_has_the_schema_of_a_new_one(upgraded: Service, home: Path, tmp_path: Path) -> None:
    fresh = make_store.opened(tmp_path / "fresh" / "memory.db")
    fresh.store("A first text, so that the vector index is made too")
    assert schema(home) == schema(tmp_path / "fresh")
    fresh.close()


def schema(home: Path) -> set[tuple[Any, ...]]:
    return {
        (kind, name, " ".join((sql or "").split())) for kind, name, _, _, sql in rows(home, "sqlite_schema")
    }


def test_an_old_store_goes_on_as_it_began(upgraded: Service, home: Path) -> None:
    for held in upgraded.list_(all_projects=True).memories:
        spelled = f"  {held.content.upper()}!!"
        known = upgraded.store(spelled, kind=held.kind, title=held.title, project=held.project)
        assert (known.action, known.id) == ("already_known", held.id)
    superseded = upgraded.store("The API uses port 80")
    assert (superseded.action, superseded.id) == ("refused", 1)
    archived = upgraded.store("Session of 3 March: the cache was chosen", project="shop", kind=Kind.SUMMARY)
    assert (archived.action, archived.id) == ("refused", 7)
    changed = upgraded.supersede(["13"], content="The API uses port 83")
    assert upgraded.history("1").chain == (1, 12, 13, changed.memories[1].id)
    assert "The API uses port 83" in live(upgraded)
    assert upgraded.recall("which port does the API use").hits[0].memory.id == changed.memories[1].id
    assert upgraded.doctor().sound


def test_opening_an_old_store_loses_no_event_and_no_version(
    recorded: list[dict[str, Any]], home: Path, wall: WallClock
) -> None:
    tables = ("events", "memories", "memories_versions", "usage", "embeddings", "projects", "recall_traces")
    before = {table: len(rows(home, table)) for table in tables}
    assert all(before.values())
    make_store.opened(home / "memory.db").close()
    assert {table: len(rows(home, table)) for table in tables} == before
