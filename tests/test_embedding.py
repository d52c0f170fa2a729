"""The bundled model: the same text gives the same vector, offline, and failure is one clear line."""

import importlib.util
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from mem.embed import Embedder, EmbeddingError, Role
from mem.embed.files import verify_files
from mem.embed.gate import QueryFirstGate
from mem.embed.local import LocalEmbedder
from mem.embed.vectors import centre, from_blob, normalised, sign_bits, to_blob
from mem.paths import bundled_model

MODEL_FILES = [path.name for path in bundled_model().iterdir() if path.is_file()]
SENTENCES = [
    "The deploy key for staging rotates every 90 days",
    "Tabs",
    "部署密钥每九十天轮换一次。",
    "Anna prefers small pull requests, because a review of 200 lines finds more than one of 2,000.",
    "pizza " * 90,
    "🙂",
]
LIBRARY_SETTINGS = ("XDG_", "ORT_", "HF_", "LOGURU_", "TOKENIZERS_")
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The bundled model; every embedder of this process shares its one session."""
    model = LocalEmbedder()
    model.ready()
    return model


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    """A model directory whose files a test may replace: links to the bundled ones."""
    directory = tmp_path / "model"
    directory.mkdir()
    for name in MODEL_FILES:
        (directory / name).symlink_to(bundled_model() / name)
    return directory


def replace(directory: Path, name: str, content: bytes) -> None:
    (directory / name).unlink()
    (directory / name).write_bytes(content)


def watch_runs(monkeypatch: pytest.MonkeyPatch, before: Callable[[NDArray[np.int64]], None]) -> None:
    """Show the padded token ids of each run to `before`, first."""
    import onnxruntime

    run: Run = onnxruntime.InferenceSession.run

    def watched(session: Any, outputs: Any, feed: dict[str, NDArray[np.int64]], *rest: Any) -> Any:
        before(feed["input_ids"])
        return run(session, outputs, feed, *rest)

    monkeypatch.setattr(onnxruntime.InferenceSession, "run", watched)


def in_a_fresh_process(code: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in which any attempt to reach a network ends the process with status 9."""
    guard = (
        "import os, sys\n"
        "sys.addaudithook(lambda event, _: os._exit(9) if event in ('socket.connect', 'socket.getaddrinfo',"
        " 'socket.gethostbyname', 'socket.sendto') else None)\n"
    )
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(LIBRARY_SETTINGS)}
    places = {"HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(bundled_model().parents[2])}
    return subprocess.run(
        [sys.executable, "-B", "-c", guard + code],
        env={**inherited, **places},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_row_is_a_unit_vector_for_each_text_in_order(embedder: Embedder) -> None:
    rows = embedder.embed(SENTENCES, Role.PASSAGE)
    assert rows.shape == (len(SENTENCES), embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for text, row in zip(SENTENCES, rows, strict=True):
        assert float(embedder.embed([text], Role.PASSAGE)[0] @ row) > 0.9999


def test_a_vector_does_not_depend_on_what_is_embedded_beside_it(embedder: Embedder) -> None:
    together = embedder.embed(SENTENCES, Role.PASSAGE)
    backwards = embedder.embed(SENTENCES[::-1], Role.PASSAGE)[::-1]
    alone = np.concatenate([embedder.embed([text], Role.PASSAGE) for text in SENTENCES])
    assert to_blob(together) == to_blob(alone) == to_blob(backwards)


def test_a_question_and_a_passage_of_the_same_words_differ(embedder: Embedder) -> None:
    [question] = embedder.embed(["hello world"], Role.QUERY)
    [passage] = embedder.embed(["hello world"], Role.PASSAGE)
    assert 0.9 < float(question @ passage) < 0.995


def test_a_question_in_another_language_finds_its_answer(embedder: Embedder) -> None:
    passages = ["The staging key rotates every 90 days", "Lunch is at noon", "The cat sleeps on the sofa"]
    stored = centre(embedder.embed(passages, Role.PASSAGE), embedder.mean())
    for question in ("Wie oft wird der Schlüssel gewechselt?", "密钥多久轮换一次？"):
        asked = centre(embedder.embed([question], Role.QUERY), embedder.mean())
        assert int(np.argmax(stored @ asked[0])) == 0


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([], Role.PASSAGE).shape == (0, embedder.dimensions)


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\ud800 half a pair", "</s><pad>", "x" * 30_000, "\n" * 500]
)
def test_odd_texts_are_embedded(embedder: Embedder, text: str) -> None:
    assert np.isfinite(embedder.embed([text], Role.QUERY)).all()
    assert "".join(embedder.split(text)).startswith(text[:10])


def test_a_run_holds_at_most_256_padded_tokens(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    watch_runs(monkeypatch, lambda ids: sizes.append(ids.size))
    embedder.embed(["one long text " * 2_000, *(["a few words"] * 40), "middle " * 120], Role.PASSAGE)
    assert sum(sizes) > 256
    assert max(sizes) <= 256


def test_a_fact_at_the_end_of_a_long_text_is_found_in_its_piece(embedder: Embedder) -> None:
    filler = "Today we talked about the weather, the garden and the new coffee machine. " * 70
    pieces = embedder.split(filler + "The production database listens on port 6432.")
    assert len(pieces) > 5
    rows = centre(embedder.embed(pieces, Role.PASSAGE), embedder.mean())
    [asked] = centre(embedder.embed(["Which port does the database use?"], Role.QUERY), embedder.mean())
    assert int(np.argmax(rows @ asked)) == len(pieces) - 1


def test_a_query_goes_before_the_remaining_passages(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    [query_ids] = seen_ids(embedder, monkeypatch, Role.QUERY)
    order: list[bool] = []
    first_run, query_asked = threading.Event(), threading.Event()

    def slow(ids: NDArray[np.int64]) -> None:
        order.append(np.array_equal(ids, query_ids))
        first_run.set()
        query_asked.wait(10)
        time.sleep(0.02)

    watch_runs(monkeypatch, slow)
    batch = threading.Thread(target=embedder.embed, args=(["a stored text"] * 20, Role.PASSAGE))
    batch.start()
    assert first_run.wait(10)
    query = threading.Thread(target=embedder.embed, args=(["which one?"], Role.QUERY))
    query.start()
    query_asked.set()
    query.join()
    batch.join()
    assert len(order) == 21
    # Two runs were under way; a few more may have begun before the query reached the gate.
    assert order.index(True) <= 10


def seen_ids(embedder: Embedder, monkeypatch: pytest.MonkeyPatch, role: Role) -> list[NDArray[np.int64]]:
    seen: list[NDArray[np.int64]] = []
    with monkeypatch.context() as patch:
        watch_runs(patch, seen.append)
        embedder.embed(["which one?"], role)
    return seen


def test_a_waiting_query_is_let_in_before_all_waiting_passages() -> None:
    gate = QueryFirstGate(1)
    order: list[Role] = []

    def enter(role: Role) -> None:
        with gate.lane(role):
            order.append(role)

    passages = [threading.Thread(target=enter, args=(Role.PASSAGE,)) for _ in range(8)]
    query = threading.Thread(target=enter, args=(Role.QUERY,))
    with gate.lane(Role.PASSAGE):
        for thread in (*passages, query):
            thread.start()
        give_up = time.monotonic() + 10
        while not gate._waiting_queries and time.monotonic() < give_up:
            time.sleep(0.001)
        assert order == []
    for thread in (*passages, query):
        thread.join()
    assert order == [Role.QUERY, *[Role.PASSAGE] * 8]


def test_the_model_works_without_any_network_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = in_a_fresh_process(
        "from mem.embed import Role\n"
        "from mem.embed.local import LocalEmbedder\n"
        "model = LocalEmbedder()\n"
        "assert not model.loaded and model.split('short') == ['short'] and not model.loaded\n"
        "assert 'numpy' not in sys.modules\n"
        "print(model.embed(['hello'], Role.QUERY).shape, model.loaded)\n",
        tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "(1, 384) True\n", "")
    # onnxruntime's telemetry goes around Python's sockets, but cannot do without its files.
    assert list(tmp_path.iterdir()) == []


def test_the_network_guard_of_these_tests_notices_a_look_up(tmp_path: Path) -> None:
    code = "import socket\nsocket.getaddrinfo('localhost', 80)"
    assert in_a_fresh_process(code, tmp_path).returncode == 9


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_missing_file_is_named_at_once(model_copy: Path, name: str) -> None:
    (model_copy / name).unlink()
    model = LocalEmbedder(model_copy)
    began = time.monotonic()
    with pytest.raises(EmbeddingError, match=f"{name} is missing") as caught:
        model.embed(["hello"], Role.QUERY)
    assert time.monotonic() - began < 1
    assert "mem doctor" in caught.value.hint
    assert not model.loaded


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.onnx", b""),
        ("model.onnx", (bundled_model() / "model.onnx").read_bytes()[:1_000_000]),
        ("tokenizer.json", b'{"version": "1.0", '),
        ("tokenizer_config.json", b"[]"),
    ],
)
def test_a_damaged_file_is_named_in_one_line(
    model_copy: Path, name: str, content: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    replace(model_copy, name, content)
    model = LocalEmbedder(model_copy)
    with pytest.raises(EmbeddingError, match=f"{name} is damaged") as caught:
        model.ready()
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_damaged_file_without_sums_is_still_one_line(model_copy: Path) -> None:
    (model_copy / "SHA256SUMS").unlink()
    replace(model_copy, "model.onnx", b"not a model")
    with pytest.raises(EmbeddingError, match=r"model\.onnx") as caught:
        LocalEmbedder(model_copy).ready()
    assert "SHA256SUMS" not in str(caught.value)  # it is not what keeps the model from loading
    assert "\n" not in str(caught.value)


def test_a_failure_to_load_is_remembered_for_the_life_of_the_process(model_copy: Path) -> None:
    replace(model_copy, "model.onnx", b"not a model")
    with pytest.raises(EmbeddingError) as first:
        LocalEmbedder(model_copy).ready()
    replace(model_copy, "model.onnx", (bundled_model() / "model.onnx").read_bytes())
    with pytest.raises(EmbeddingError) as second:
        LocalEmbedder(model_copy).embed(["hello"], Role.QUERY)
    assert (str(second.value), second.value.hint) == (str(first.value), first.value.hint)


@pytest.mark.usefixtures("embedder")
def test_many_threads_load_the_model_once(model_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    made: list[object] = []
    make: Run = onnxruntime.InferenceSession.__init__

    def counted(session: object, *rest: Any, **options: Any) -> None:
        made.append(session)
        make(session, *rest, **options)

    monkeypatch.setattr(onnxruntime.InferenceSession, "__init__", counted)
    threads = [threading.Thread(target=LocalEmbedder(model_copy).ready) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert LocalEmbedder(model_copy).loaded
    assert len(made) == 1


def test_a_failed_run_is_an_embedding_error(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: NDArray[np.int64]) -> None:
        raise RuntimeError("bad allocation")

    watch_runs(monkeypatch, fail)
    for texts in (["one"], ["one", "two", "three"]):
        with pytest.raises(EmbeddingError, match="bad allocation"):
            embedder.embed(texts, Role.PASSAGE)


def test_the_name_follows_the_weights(model_copy: Path) -> None:
    assert LocalEmbedder().name == "multilingual-e5-small@710155c5"
    replace(model_copy, "SHA256SUMS", b"ABCDEF0123456789 *model.onnx\n")
    assert LocalEmbedder(model_copy).name == "multilingual-e5-small@abcdef01"
    (model_copy / "SHA256SUMS").unlink()
    assert LocalEmbedder(model_copy).name == LocalEmbedder().name


def test_the_mean_is_read_and_a_damaged_one_refused(model_copy: Path) -> None:
    mean = LocalEmbedder(model_copy).mean()
    assert mean is not None
    assert 0.5 < float(np.linalg.norm(mean)) < 1
    replace(model_copy, "mean.f32", b"\0" * 100)
    with pytest.raises(EmbeddingError, match="100 bytes"):
        LocalEmbedder(model_copy).mean()
    (model_copy / "mean.f32").unlink()
    with pytest.raises(EmbeddingError, match=r"mean\.f32"):
        LocalEmbedder(model_copy).mean()
    (model_copy / "SHA256SUMS").unlink()
    assert LocalEmbedder(model_copy).mean() is None


def test_the_files_of_a_model_are_verified(model_copy: Path) -> None:
    assert verify_files(model_copy) == []
    replace(model_copy, "config.json", b"{}")
    (model_copy / "tokenizer.json").unlink()
    assert [problem.split(" is ")[:1] for problem in verify_files(model_copy)] == [
        ["config.json"],
        ["tokenizer.json"],
    ]
    (model_copy / "SHA256SUMS").unlink()
    assert verify_files(model_copy) == ["tokenizer.json is missing", "SHA256SUMS is missing"]


@pytest.mark.parametrize(
    "row", [[0.0] * 8, [float("nan")] + [1.0] * 7, [float("inf")] + [1.0] * 7, [1.0] * 7]
)
def test_a_vector_without_a_direction_is_refused(row: list[float]) -> None:
    good = np.ones(8, dtype=np.float32)
    assert normalised([good], 8).shape == (1, 8)
    with pytest.raises(EmbeddingError):
        normalised([good, np.array(row, dtype=np.float32)], 8)


def test_a_vector_comes_back_from_its_bytes() -> None:
    vector = np.random.default_rng(1).standard_normal(384).astype(np.float32)
    assert len(to_blob(vector)) == 4 * 384
    assert to_blob(np.array([1.0], dtype=np.float32)) == b"\x00\x00\x80\x3f"
    assert np.array_equal(from_blob(to_blob(vector), 384), vector)
    with pytest.raises(EmbeddingError, match="1536 bytes"):
        from_blob(to_blob(vector), 256)


def test_centring_moves_the_mean_to_zero_without_dividing_by_it() -> None:
    vectors = np.random.default_rng(2).standard_normal((5, 16)).astype(np.float32)
    mean = vectors[0].copy()
    centred = centre(vectors, mean)
    assert np.array_equal(centred[0], np.zeros(16))
    assert np.allclose(np.linalg.norm(centred[1:], axis=1), 1, atol=1e-6)
    assert np.allclose(centre(vectors[1], mean), centred[1])
    assert np.array_equal(centre(vectors, None), vectors)


def test_sign_bits_are_those_of_the_vector_extension() -> None:
    vectors = np.random.default_rng(3).standard_normal((20, 384)).astype(np.float32)
    vectors[0, :100] = 0
    spec = importlib.util.find_spec("sqlite_vec")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"))
    for vector, bits in zip(vectors, sign_bits(vectors), strict=True):
        [(theirs, distance)] = connection.execute(
            "SELECT vec_quantize_binary(?1), vec_distance_hamming(vec_bit(?2), vec_quantize_binary(?1))",
            (to_blob(vector), bits),
        )
        assert (bits, distance) == (theirs, 0)
