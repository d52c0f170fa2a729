"""`mem model`: what there is, what is in use, and how the store goes over from one model to another."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import embedding_service
import pytest
from conftest import BagOfWords, Ran
from model_hub import TINY, Hub, running, tiny_model
from test_worker import Memory, eventually, memory_in

from mem import chosen_model, config
from mem.caller import Caller
from mem.chosen_model import Action
from mem.cli.models import rows
from mem.embed import EmbeddingError
from mem.errors import Usage
from mem.paths import bundled_model
from mem.results import KnownModels, ModelCalibration, ModelFiles, ModelStatus, ModelUsed
from mem.service import Service
from mem.store.connect import Store

FILES = ("model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of the user's own: the bundled one under another name, without its mean."""
    directory = tmp_path / "own-e5"
    directory.mkdir()
    for name in FILES:
        (directory / name).symlink_to(bundled_model() / name)
    return directory


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that offers the tiny model."""
    with running() as found:
        found.publish(TINY, tiny_model())
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield found


def run(action: str, name: str | None = None, *, check: bool = False) -> Any:
    return chosen_model.run(Action(action), name, None, check=check, progress=lambda what, done, total: None)


def test_the_list_marks_what_is_used_and_what_is_wanted(memory: Service, folder: Path) -> None:
    memory.store("Herons stand in the pond")
    run("use", str(folder))
    listed = run("list")
    assert isinstance(listed, KnownModels)
    marked = {one.choice: (one.active, one.wanted) for one in listed.models if one.active or one.wanted}
    assert marked == {"bundled": (True, False), f"directory:{folder}": (False, True)}
    assert not any("Prefixes" in cell for row in rows(listed) for cell in row)
    choices = [one.choice for one in listed.models]
    assert {"none", "endpoint", "fastembed:BAAI/bge-small-en-v1.5"} < set(choices)
    assert len(choices) == len(set(choices))
    assert not next(one for one in listed.models if one.choice == "fastembed:BAAI/bge-small-en-v1.5").here


def test_choosing_a_model_sets_the_setting_and_says_what_is_left_to_do(memory: Service, folder: Path) -> None:
    memory.store("Herons stand in the pond")
    memory.store("Storks stand on the roof")
    used = run("use", str(folder))
    assert isinstance(used, ModelUsed)
    assert (used.choice, used.active, used.waiting) == (f"directory:{folder}", "bundled", 2)
    assert config.value("model") == f"directory:{folder}"
    assert memory.recall("herons").degraded == ()
    for name in ("none", "bundled"):
        assert run("use", name).choice == config.value("model") == name


def test_what_is_stronger_than_the_file_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM_MODEL", "none")
    used = run("use", "bundled")
    assert (used.overridden, used.active) == ("MEM_MODEL", None)
    assert not (home / "memory.db").exists()


def test_a_model_that_has_to_be_fetched_says_so_and_then_is_there(hub: Hub) -> None:
    used = run("use", TINY)
    assert used.problem.count(f"mem model fetch {TINY}") == 1
    assert run("status").problem == used.problem
    assert run("verify").exit_status == 1
    fetched = run("fetch", TINY.casefold())
    assert isinstance(fetched, ModelFiles)
    assert run("path") == ModelFiles(f"fastembed:{TINY}", fetched.path)
    assert run("verify", TINY).problems == ()
    assert run("use", TINY).problem == ""
    with (Path(fetched.path) / "tokenizer.json").open("ab") as stream:
        stream.write(b" ")
    damaged = run("verify", TINY)
    assert (damaged.exit_status, len(damaged.problems)) == (1, 1)
    assert "tokenizer.json is damaged" in damaged.problems[0]


def test_without_a_network_fetching_fails_with_a_way_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(EmbeddingError) as failed:
        run("fetch", TINY)
    assert failed.value.hint


def test_the_files_of_each_kind_are_found_and_checked(home: Path, folder: Path) -> None:
    assert run("path") == ModelFiles("bundled", str(bundled_model()))
    assert run("verify", "bundled").problems == ()
    assert run("path", str(folder)).path == str(folder)
    # A folder of the user's own need not come with hashes.
    assert run("verify", str(folder)).problems == ()
    (folder / "tokenizer.json").unlink()
    broken = run("verify", str(folder))
    assert broken.exit_status == 1
    assert "tokenizer.json is missing" in broken.problems[0]
    for name in ("none", "endpoint"):
        with pytest.raises(Usage, match="has no files"):
            run("path", name)


def test_a_service_is_called_only_by_a_check(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        monkeypatch.setenv("EMBEDDING_API_BASE_URL", f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
        monkeypatch.setenv("EMBEDDING_API_KEY", "top-secret")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        run("use", "endpoint")
        status = run("status")
        with pytest.raises(TimeoutError):
            listening.accept()
    assert (status.problem, status.reachable, status.dimensions) == ("", None, 1536)
    checked = run("status", check=True)
    assert (checked.reachable, checked.exit_status) == (False, 1)
    assert checked.problem
    assert "top-secret" not in f"{checked}"


def test_a_check_asks_the_model_that_is_wanted_too(
    real_memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_memory.store("Herons stand in the pond")
    assert run("status", check=True).reachable is True
    monkeypatch.setenv("EMBEDDING_API_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    run("use", "endpoint")
    assert run("status").problem == ""
    checked = run("status", check=True)
    assert (checked.active, checked.reachable, checked.exit_status) == ("bundled", False, 1)
    assert "127.0.0.1" in checked.problem
    run("use", TINY)
    checked = run("status", check=True)
    assert (checked.reachable, checked.problem.count(f"mem model fetch {TINY}")) == (False, 1)


def test_the_status_tells_both_models_and_what_waits(memory: Service, home: Path, person: Caller) -> None:
    assert run("status").active is None
    memory.store("Herons stand in the pond")
    Service(Store(home / "memory.db"), None, person).store("Storks stand on the roof")
    config.write("model", "endpoint:nomic-embed-text")
    status = run("status")
    assert isinstance(status, ModelStatus)
    assert (status.active, status.wanted) == ("bundled", "endpoint:nomic-embed-text")
    assert (status.stored, status.pending, status.dimensions) == (1, 1, BagOfWords.dimensions)
    # The fake's vectors are not those of the bundled model's files.
    assert "mem migrate-vectors" in status.hint


def test_calibrating_says_what_there_is_to_measure(memory: Service, home: Path, person: Caller) -> None:
    class Elsewhere(BagOfWords):
        name = "elsewhere@1"
        choice = "directory:/models/elsewhere"

    with pytest.raises(Usage, match="no vectors"):
        run("calibrate")
    other = Service(memory._store, Elsewhere(), person)
    other.store("Herons stand in the pond")
    found = run("calibrate")
    assert isinstance(found, ModelCalibration)
    assert (found.source, found.memories, found.wanted, found.points) == ("none", 0, 50, ())
    for number in range(60):
        other.store(f"Note {number}: heron {number * 7} and stork {number * 3}")
    found = run("calibrate")
    assert (found.source, found.memories, found.wanted, found.centred) == ("measured", 61, 0, True)
    assert list(found.points) == sorted(found.points)


def test_for_the_bundled_model_there_is_nothing_to_calibrate(memory: Service) -> None:
    memory.store("Herons stand in the pond")
    assert run("calibrate").source == "shipped"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("use",), "takes the name"),
        (("fetch",), "takes the name"),
        (("list", "bundled"), "takes no name"),
        (("calibrate", "bundled"), "takes no name"),
        (("use", "bundeld"), "Did you mean bundled?"),
        (("fetch", "bundled"), "is not fetched"),
        (("list", "--check"), "takes no --check"),
        (("used", "bundled"), "use"),
    ],
)
def test_what_an_action_does_not_take_is_a_usage_error(
    run_mem: Callable[..., Ran], arguments: tuple[str, ...], named: str
) -> None:
    ran = run_mem("model", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert named in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[Memory]:
    """A home with a worker that is wanted."""
    with memory_in(tmp_path) as found:
        yield found


@pytest.mark.skipif(os.name != "posix", reason="there is no worker on Windows")
def test_a_running_worker_goes_over_to_the_new_model_with_the_store(warm: Memory, folder: Path) -> None:
    assert warm.store("The deploy key for staging rotates every 90 days")["action"] == "added"
    assert eventually(lambda: warm.recall("credentials")["mode"] == "hybrid")
    before = warm.pid()
    used = warm.mem("model", "use", str(folder))
    assert used.code == 0, used
    assert "Recall goes on with bundled" in used.err
    assert warm.recall("how often do we change keys?")["degraded"] == []
    assert warm.pid() == before
    assert warm.mem("migrate-vectors").code == 0
    assert warm.mem("model", "status").out.startswith(f"active\tdirectory:{folder}\n")
    # The first call finds the old one leaving, and is answered all the same.
    answer = warm.recall("how often do we change keys?")
    assert answer["total"] == 1
    assert eventually(lambda: warm.recall("deploy keys")["mode"] == "hybrid")
    status = warm.status()
    assert status["pid"] != before
    assert status["model"].startswith("own-e5@")
    assert warm.store("Lunch is at noon in the small kitchen")["vector"] == "stored"


@pytest.mark.skipif(os.name != "posix", reason="there is no worker on Windows")
def test_the_worker_keeps_its_connection_to_a_service_and_leaves_another_one_alone(tmp_path: Path) -> None:
    with embedding_service.running() as service:
        named = {
            "MEM_MODEL": "endpoint",
            "EMBEDDING_API_BASE_URL": service.url,
            "EMBEDDING_DIMENSION": str(BagOfWords.dimensions),
            "EMBEDDING_API_KEY": "the-usual-key",
            "no_proxy": "127.0.0.1",
        }
        with memory_in(tmp_path, **named) as warm:
            assert warm.store("Herons stand in the pond")["vector"] == "stored"
            assert eventually(lambda: warm.status()["state"] == "running" or not warm.recall("warm up"))
            warm.recall("the first question")
            before, calls = service.connections, warm.status()["counts"]["calls"]
            for question in ("herons", "the pond", "who stands?"):
                assert warm.recall(question)["mode"] == "hybrid"
            assert (service.connections, warm.status()["counts"]["calls"]) == (before, calls + 3)
            # Whoever has another key asks the service himself.
            assert warm.recall("whose pond?", EMBEDDING_API_KEY="another-key")["mode"] == "hybrid"
            assert "Bearer another-key" in service.seen[-1].headers.values()
            assert service.connections == before + 1
