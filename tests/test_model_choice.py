"""How a model is chosen: what a choice may look like, and that the store's own model decides."""

from pathlib import Path

import pytest
from conftest import BagOfWords

from mem import config
from mem.caller import current_caller
from mem.embed.choice import BUNDLED, NONE, ModelChoice, ModelKind, known, make, parse
from mem.embed.local import LocalEmbedder
from mem.embed.remote import RemoteEmbedder
from mem.errors import Usage
from mem.service import Service, open_service
from mem.store.connect import Store
from mem.values import Mode
from mem.worker.embedder import choose_embedder


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("bundled", BUNDLED),
        ("none", NONE),
        ("endpoint", ModelChoice(ModelKind.ENDPOINT)),
        ("endpoint:nomic-embed-text", ModelChoice(ModelKind.ENDPOINT, "nomic-embed-text")),
        ("endpoint:bge-m3:latest", ModelChoice(ModelKind.ENDPOINT, "bge-m3:latest")),
        ("fastembed:BAAI/bge-small-en-v1.5", ModelChoice(ModelKind.FASTEMBED, "BAAI/bge-small-en-v1.5")),
        ("BAAI/bge-small-en-v1.5", ModelChoice(ModelKind.FASTEMBED, "BAAI/bge-small-en-v1.5")),
        (" bundled ", BUNDLED),
    ],
)
def test_a_choice_is_read_as_it_is_written(text: str, choice: ModelChoice) -> None:
    assert parse(text) == choice
    assert parse(choice.text) == choice


def test_a_folder_is_kept_as_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine" / "model").mkdir(parents=True)
    wanted = ModelChoice(ModelKind.DIRECTORY, str(tmp_path / "mine" / "model"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for text in ("mine/model", "./mine/model", "~/mine/model", str(tmp_path / "mine" / "model")):
        assert parse(text) == parse(f"directory:{text}") == wanted
    assert config.write("model", "mine/model").value == f"directory:{tmp_path / 'mine' / 'model'}"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("bundeld", "Did you mean bundled?"),
        ("endpont", "Did you mean endpoint?"),
        ("gpt", "mem model list"),
        ("", "mem model list"),
        ("bundled:small", "bundled"),
        ("directory:", "directory:PATH"),
        ("fastembed:", "fastembed:NAME"),
        ("/no/such/folder", "mem model list"),
    ],
)
def test_what_is_no_choice_is_refused_with_the_nearest(text: str, named: str) -> None:
    with pytest.raises(Usage) as refused:
        parse(text)
    assert named in refused.value.hint
    with pytest.raises(Usage):
        config.find("model").parse(text)


def test_a_name_that_fastembed_does_not_list_is_refused_with_the_nearest(home: Path) -> None:
    assert known(parse("baai/BGE-small-en-v1.5")).name == "BAAI/bge-small-en-v1.5"
    with pytest.raises(Usage, match="no model 'BAAI/bge-smal-en'") as refused:
        known(parse("BAAI/bge-smal-en"))
    assert refused.value.hint == "Did you mean BAAI/bge-small-en?"


def test_nothing_is_loaded_or_asked_when_a_model_is_made(home: Path) -> None:
    nowhere = {"EMBEDDING_API_BASE_URL": "http://127.0.0.1:9", "EMBEDDING_API_KEY": "k"}
    assert make(NONE, {}, threads=1) is None
    assert isinstance(make(BUNDLED, {}, threads=1), LocalEmbedder)
    remote = make(parse("endpoint"), nowhere, threads=1)
    assert isinstance(remote, RemoteEmbedder)
    assert (remote.choice, remote.dimensions) == ("endpoint:text-embedding-3-small", 1536)


def test_the_name_in_a_choice_is_stronger_than_a_variable(home: Path) -> None:
    environment = {"EMBEDDING_MODEL": "text-embedding-3-large", "EMBEDDING_DIMENSION": "1024"}
    made = make(parse("endpoint:text-embedding-3-small"), environment, threads=1)
    assert made is not None
    assert (made.choice, made.dimensions) == ("endpoint:text-embedding-3-small", 1024)


def test_variables_of_a_service_do_not_switch_the_model(home: Path) -> None:
    environment = {
        "MEM_HOME": str(home),
        "MEM_WORKER": "off",
        "EMBEDDING_API_BASE_URL": "http://127.0.0.1:9",
        "EMBEDDING_API_KEY": "k",
        "EMBEDDING_MODEL": "text-embedding-3-large",
    }
    found = choose_embedder(home / "memory.db", environment)
    assert found is not None
    assert found.choice == "bundled"


class Elsewhere(BagOfWords):
    """A model of another choice."""

    name = "elsewhere@1"
    choice = "directory:/no/such/folder"


def test_the_model_of_the_vectors_decides_before_the_setting(memory: Service, home: Path) -> None:
    Service(Store(home / "memory.db"), Elsewhere(), memory._caller).store("Herons stand in the pond")
    for worker in ("off", "on"):
        caller = current_caller({"MEM_HOME": str(home), "MEM_WORKER": worker, "MEM_MODEL": "bundled"})
        service = open_service(caller=caller)
        embedder = service._vectors.embedder
        assert embedder is not None
        assert (embedder.choice, embedder.name, embedder.dimensions) == (Elsewhere.choice, "elsewhere@1", 256)
        service.close()
    none = open_service(caller=current_caller({"MEM_HOME": str(home), "MEM_MODEL": "none"}))
    assert none._vectors.embedder is None
    none.close()


def test_a_model_that_cannot_be_had_leaves_recall_by_words(memory: Service, home: Path) -> None:
    Service(Store(home / "memory.db"), Elsewhere(), memory._caller).store("Herons stand in the pond")
    service = open_service(caller=current_caller({"MEM_HOME": str(home), "MEM_WORKER": "off"}))
    answer = service.recall("herons")
    assert (answer.mode, answer.degraded, answer.total) == (Mode.LEXICAL, ("embedding_failed",), 1)
    stored = service.store("Storks stand on the roof")
    assert (stored.action, stored.vector) == ("added", "pending")
    [check] = [check for check in service.doctor().checks if check.name == "model"]
    assert not check.ok
    assert "/no/such/folder" in check.detail
    service.close()


def test_a_running_service_follows_the_store_to_another_model(memory: Service, home: Path) -> None:
    class Other(BagOfWords):
        name = "other@1"

    service = Service(memory._store, Elsewhere(), memory._caller, follow=lambda model: Other())
    memory.store("Herons stand in the pond")
    assert memory.recall("herons").degraded == ()
    # What `follow` gives is asked for once; if that is not the store's model either, it says so.
    assert service.recall("herons").degraded == ("other_model",)
    follower = Service(memory._store, Elsewhere(), memory._caller, follow=lambda model: BagOfWords())
    answer = follower.recall("herons")
    assert (answer.mode, answer.degraded, answer.total) == (Mode.HYBRID, (), 1)
    assert follower.store("Storks stand on the roof").vector == "stored"
