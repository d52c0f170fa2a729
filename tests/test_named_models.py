"""Other local models: fetched once by name from a hub, or taken from a folder, and offline from then on."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_hub import TINY, WIDTH, Hub, contents, running, tiny_model
from telling import tell
from test_embedding import in_a_fresh_process

from mem.caller import Caller
from mem.embed import EmbeddingError, Role
from mem.embed import fetch as module
from mem.embed.directory import DirectoryEmbedder
from mem.embed.fetch import fetch
from mem.embed.forms import Form
from mem.embed.local import LocalEmbedder
from mem.embed.named import NamedEmbedder, folder, models
from mem.errors import Usage
from mem.paths import bundled_model
from mem.service import Service
from mem.store.connect import Store
from mem.values import Mode

MINI = "sentence-transformers/all-MiniLM-L6-v2"
FILES = ("model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json")


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that offers the tiny model."""
    with running() as found:
        found.publish(TINY, tiny_model())
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield found


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    """A folder of the user's own, with links to the bundled files; its name says nothing."""
    directory = tmp_path / "model"
    directory.mkdir()
    for name in FILES:
        (directory / name).symlink_to(bundled_model() / name)
    return directory


def describe(directory: Path, **said: Any) -> None:
    (directory / "mem-model.json").write_text(json.dumps(said))


def listed(name: str) -> Any:
    [found] = [model for model in models() if model.name == name]
    return found


def test_a_fetched_model_is_complete_and_says_what_it_is(hub: Hub) -> None:
    told: list[tuple[int, int | None]] = []
    assert not listed(TINY).fetched
    directory = fetch(TINY, progress=lambda done, total: told.append((done, total)))
    assert listed(TINY)[:2] == (TINY, WIDTH)
    assert listed(TINY).fetched
    assert directory == folder(TINY)
    wanted = {"model.safetensors", "tokenizer.json", "config.json"}
    assert {path.name for path in directory.iterdir()} == {*wanted, "SHA256SUMS", "mem-model.json"}
    [total] = {total for _, total in told}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert (
        told[-1][0] == total == sum(len(content) for name, content in tiny_model().items() if name in wanted)
    )
    model = NamedEmbedder(TINY)
    assert model.revision == hub.commits[TINY][0][0]
    assert model.verify() == []
    assert [path.name for path in directory.parent.glob("*.part")] == []


def test_a_static_model_makes_vectors_without_a_warning(hub: Hub, capfd: pytest.CaptureFixture[str]) -> None:
    fetch(TINY)
    model = NamedEmbedder(TINY)
    rows = model.embed(["green tea", "tea green", "black coffee"], Role.PASSAGE)
    assert rows.shape == (3, model.dimensions)
    assert float(rows[0] @ rows[1]) > 0.999 > float(rows[0] @ rows[2])
    assert (model.choice, model.mean(), model.concurrency) == (f"fastembed:{TINY}", None, 1)
    with pytest.raises(EmbeddingError, match="zeros"):
        model.embed(["unheard"], Role.QUERY)
    assert capfd.readouterr() == ("", "")


def test_a_model_that_was_not_fetched_says_how(hub: Hub) -> None:
    with pytest.raises(EmbeddingError, match=rf"not fetched \(mem model fetch {TINY}\)"):
        NamedEmbedder(TINY)
    fetch(TINY)
    (folder(TINY) / "tokenizer.json").unlink()
    with pytest.raises(EmbeddingError, match=r"tokenizer\.json is missing.*mem model fetch"):
        NamedEmbedder(TINY)


def test_an_onnx_model_is_used_offline_in_a_fresh_process(hub: Hub, tmp_path: Path) -> None:
    commit = hub.publish("Qdrant/all-MiniLM-L6-v2-onnx", contents(bundled_model(), *FILES))
    assert (folder(MINI), hub.commits["Qdrant/all-MiniLM-L6-v2-onnx"][0][0]) == (fetch(MINI), commit)
    done = in_a_fresh_process(
        f"os.environ['MEM_HOME'] = {str(tmp_path / 'home')!r}\n"
        "from mem.embed import Role\n"
        "from mem.embed.named import NamedEmbedder\n"
        f"model = NamedEmbedder({MINI!r})\n"
        "assert model.name and model.dimensions and model.split('short') and 'fastembed' not in sys.modules\n"
        "print(model.name, model.embed(['hello'], Role.QUERY).shape)\n",
        tmp_path / "user",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{MINI}@710155c5 (1, 384)\n"


def test_a_store_works_on_a_fetched_model(hub: Hub, home: Path, person: Caller) -> None:
    fetch(TINY)
    store = Store(home / "memory.db")
    memory = Service(store, NamedEmbedder(TINY), person)
    tell(memory, "black coffee")
    tell(memory, "green tea")
    found = memory.recall("tea", mode=Mode.VECTOR)
    assert (found.hits[0].memory.content, found.degraded) == ("green tea", ("uncalibrated",))
    store.close()


def test_what_was_fetched_needs_no_hub_any_more(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = fetch(TINY)
    sent = dict(hub.sent)
    monkeypatch.setattr(socket, "create_connection", None)
    assert fetch(TINY) == directory
    assert hub.sent == sent


def test_a_download_that_broke_off_goes_on_where_it_stopped(hub: Hub) -> None:
    hub.cut["model.safetensors"] = 7_000
    with pytest.raises(EmbeddingError, match="broke off") as caught:
        fetch(TINY)
    assert "Run it again" in caught.value.hint
    assert not folder(TINY).exists()
    fetch(TINY)
    assert hub.sent == {name: len(tiny_model()[name]) for name in hub.sent}
    assert NamedEmbedder(TINY).verify() == []


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_other_bytes_than_the_hub_names_are_refused(hub: Hub, name: str) -> None:
    right = tiny_model()[name]
    hub.changed[name] = right[:-1] + b"\0"
    with pytest.raises(EmbeddingError, match=f"{name} came with other bytes"):
        fetch(TINY)
    assert not folder(TINY).exists()
    hub.changed.clear()
    fetch(TINY)
    assert (folder(TINY) / name).read_bytes() == right


def test_a_commit_stays_pinned_and_only_damaged_files_come_again(hub: Hub) -> None:
    fetch(TINY)
    before = NamedEmbedder(TINY).name
    hub.publish(TINY, tiny_model(seed=2))
    hub.sent.clear()
    path = folder(TINY) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4] + b"oops")
    assert [problem.split()[0] for problem in NamedEmbedder(TINY).verify()] == ["model.safetensors"]
    fetch(TINY)
    assert (NamedEmbedder(TINY).name, NamedEmbedder(TINY).verify()) == (before, [])
    assert hub.sent == {"model.safetensors": len(tiny_model()["model.safetensors"])}


def test_another_commit_is_another_model(hub: Hub) -> None:
    fetch(TINY)
    first = NamedEmbedder(TINY)
    name, before = first.name, first.embed(["green tea"], Role.PASSAGE)
    newer = hub.publish(TINY, tiny_model(seed=2))
    fetch(TINY, revision=newer)
    second = NamedEmbedder(TINY)
    assert second.revision == newer
    assert second.name != name
    assert not np.allclose(second.embed(["green tea"], Role.PASSAGE), before, atol=0.1)
    assert [path.name for path in folder(TINY).parent.glob("*.part")] == []


def test_a_commit_that_cannot_be_had_leaves_the_old_files_in_use(hub: Hub) -> None:
    fetch(TINY)
    newer = hub.publish(TINY, tiny_model(seed=2))
    hub.cut["model.safetensors"] = 7_000
    with pytest.raises(EmbeddingError):
        fetch(TINY, revision=newer)
    assert NamedEmbedder(TINY).revision != newer
    with pytest.raises(EmbeddingError, match="status 404"):
        fetch(TINY, revision="f" * 40)


def test_without_a_network_it_fails_within_a_second_and_says_what_helps(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    models()  # fastembed is imported
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{unused.getsockname()[1]}")
        began = time.monotonic()
        with pytest.raises(EmbeddingError, match="cannot be reached") as refused:
            fetch(TINY)
    # A name server that says nothing is given up as well.
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: threading.Event().wait(5))
    with pytest.raises(EmbeddingError, match="no answer"):
        fetch(TINY)
    assert time.monotonic() - began < 1 + module.REACH
    assert "HF_ENDPOINT" in refused.value.hint
    assert not folder(TINY).parent.exists() or list(folder(TINY).parent.iterdir()) == []


def test_a_second_fetch_beside_the_first_leaves(hub: Hub) -> None:
    hub.hold = threading.Event()
    first = threading.Thread(target=fetch, args=(TINY,))
    first.start()
    try:
        assert hub.asked.wait(10)
        with pytest.raises(EmbeddingError, match="Another process is fetching"):
            fetch(TINY)
    finally:
        hub.hold.set()
        first.join()
    assert NamedEmbedder(TINY).verify() == []


@pytest.mark.parametrize("name", ["minishlab/potion-base-9M", "../../etc", "a/b/c", "", "/abs"])
def test_a_name_that_fastembed_does_not_know_is_refused(hub: Hub, name: str) -> None:
    with pytest.raises(Usage) as caught:
        fetch(name)
    assert name in str(caught.value)
    assert caught.value.hint
    if "potion" in name:
        assert TINY in caught.value.hint


def test_a_folder_whose_name_says_e5_gets_its_prefixes(model_folder: Path, home: Path) -> None:
    e5 = model_folder.rename(model_folder.with_name("my-e5-copy"))
    model = DirectoryEmbedder(e5)
    assert [model.form.prompt("hello", role) for role in Role] == ["query: hello", "passage: hello"]
    assert model.name == "my-e5-copy@710155c5"
    assert (model.mean(), model.choice) == (None, f"directory:{e5}")


def test_a_folder_is_run_as_its_description_says(
    model_folder: Path, home: Path, real_embedder: LocalEmbedder
) -> None:
    bare = DirectoryEmbedder(model_folder)
    assert [bare.form.prompt("hello", role) for role in Role] == ["hello", "hello"]
    describe(model_folder, query_prefix="query: ", passage_prefix="passage: ")
    prefixed = DirectoryEmbedder(model_folder)
    assert np.array_equal(prefixed.embed(["hello"], Role.QUERY), real_embedder.embed(["hello"], Role.QUERY))
    describe(model_folder, pooling="cls", query_prefix="query: ")
    first = DirectoryEmbedder(model_folder)
    assert not np.allclose(
        first.embed(["hello"], Role.QUERY), prefixed.embed(["hello"], Role.QUERY), atol=0.1
    )
    # Whatever changes the vectors changes the name.
    assert len({bare.name, prefixed.name, first.name}) == 3
    assert {name.partition("@")[0] for name in (bare.name, prefixed.name, first.name)} == {"model"}


def test_other_weights_are_another_model(model_folder: Path, home: Path) -> None:
    before = DirectoryEmbedder(model_folder).name
    assert before == DirectoryEmbedder(model_folder).name
    (model_folder / "model.onnx").unlink()
    (model_folder / "model.onnx").write_bytes(b"other weights")
    assert DirectoryEmbedder(model_folder).name != before


def test_the_weights_are_found_where_exporters_put_them(model_folder: Path, home: Path) -> None:
    (model_folder / "onnx").mkdir()
    (model_folder / "model.onnx").rename(model_folder / "onnx" / "model.onnx")
    model = DirectoryEmbedder(model_folder)
    assert (model.name, model.form.weights) == ("model@710155c5", "onnx/model.onnx")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_folder_without_a_needed_file_says_which(model_folder: Path, name: str) -> None:
    (model_folder / name).unlink()
    with pytest.raises(EmbeddingError, match=name) as caught:
        DirectoryEmbedder(model_folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"pooling": "best"}, "pooling must be one of mean, cls, last, none"),
        ({"dimensions": 100}, "multiple of 8"),
        ({"dimensions": "many"}, "multiple of 8"),
        ({"query_prefix": 7}, "query_prefix"),
    ],
)
def test_a_description_that_makes_no_sense_is_named(
    model_folder: Path, said: dict[str, Any], reason: str
) -> None:
    describe(model_folder, **said)
    with pytest.raises(EmbeddingError, match=reason):
        DirectoryEmbedder(model_folder)


def test_a_folder_that_does_not_say_its_dimensions_is_asked_to(model_folder: Path, home: Path) -> None:
    (model_folder / "config.json").unlink()
    with pytest.raises(EmbeddingError, match=r"put dimensions in mem-model\.json"):
        DirectoryEmbedder(model_folder)
    describe(model_folder, dimensions=256)
    with pytest.raises(EmbeddingError, match="384"):
        DirectoryEmbedder(model_folder).embed(["hello"], Role.QUERY)
    with pytest.raises(EmbeddingError, match="There is no model folder"):
        DirectoryEmbedder(model_folder / "nowhere")


def test_a_model_that_reads_little_gets_short_pieces(model_folder: Path, home: Path) -> None:
    path = model_folder / "tokenizer_config.json"
    said = json.loads(path.read_text())
    path.unlink()
    path.write_text(json.dumps({**said, "model_max_length": 77}))
    model = DirectoryEmbedder(model_folder)
    text = "The deploy key for staging rotates every ninety days. " * 30
    tokens = [len(model.token_starts(piece)) for piece in model.split(text)]
    assert len(tokens) > 4
    assert max(tokens) + 2 <= 77
    assert Form(model_folder, 384).piece_tokens == 152
