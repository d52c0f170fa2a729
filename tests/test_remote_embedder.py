"""An embedding service may be slow, wrong or gone: nothing wrong is stored, and recall goes on by words."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BagOfWords, Ran
from embedding_service import (
    KEY,
    Fault,
    at_most,
    backwards,
    body,
    closing,
    cut,
    document,
    dripping,
    gone,
    in_chunks,
    right,
    rows,
    running,
    slow,
    status,
    vectors,
)
from embedding_service import Service as Endpoint
from telling import rows as stored_rows
from telling import tell

from mem import config
from mem.caller import Caller
from mem.embed import EmbeddingError, EmbeddingTimeout, Role
from mem.embed import remote as module
from mem.embed.remote import EndpointSettings, RemoteEmbedder
from mem.service import Service
from mem.store.connect import Store
from mem.worker.embedder import choose_embedder

Run = Callable[..., Ran]
WIDTH = BagOfWords.dimensions

NONSENSE = {
    "NaN": (rows(lambda made: [[math.nan, *row[1:]] for row in made]), "not finite"),
    "null": (rows(lambda made: [[None, *row[1:]] for row in made]), "not finite"),
    "infinite": (rows(lambda made: [[1e39, *row[1:]] for row in made]), "not finite"),
    "zeros": (rows(lambda made: [[0.0] * len(row) for row in made]), "zeros"),
    "too few": (rows(lambda made: made[1:]), "0 vectors for 1 texts"),
    "too many": (rows(lambda made: [*made, made[0]]), "an index 1 among 1 texts"),
    "too short": (rows(lambda made: [row[:-8] for row in made]), f"248 numbers, not {WIDTH}"),
    "too long": (rows(lambda made: [[*row, 0.5] for row in made]), f"257 numbers, not {WIDTH}"),
    "words": (rows(lambda made: [["one"] * WIDTH for _ in made]), "no list of numbers"),
    "nested": (rows(lambda made: [[row] for row in made]), "numbers"),
    "no base64": (rows(lambda made: ["%%%" for _ in made]), "no base64"),
    "garbage": (body(b"<html>Welcome</html>"), "no JSON"),
    "another document": (body(b'{"object": "list"}'), "no list of vectors"),
    "a list": (body(b"[1, 2]"), "no list of vectors"),
    "huge": (body(b'{"data": "' + b"x" * 200_000 + b'"}'), "more than"),
    "half": (cut, "broke off"),
    "nothing": (gone, "broke off"),
    "401": (status(401, f"Incorrect API key provided: {KEY}"), "refuses the key"),
    "403": (status(403), "refuses the key"),
    "404": (status(404, "no such model"), "no such model"),
    "429": (status(429, "slow down"), "slow down"),
    "500": (status(500, "out of order"), "500: out of order"),
    "redirect": (status(307, Location="http://other.example/v1/embeddings"), "sends on to other.example"),
}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with running() as service:
        yield service


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BACKOFF", 0.002)


@pytest.fixture
def memory(home: Path, endpoint: Endpoint, person: Caller) -> Iterator[Service]:
    """A service over a real store whose vectors come from the endpoint."""
    store = Store(home / "memory.db")
    yield Service(store, embedder(endpoint), person)
    store.close()


def embedder(endpoint: Endpoint, **settings: Any) -> RemoteEmbedder:
    defaults = {"model": "fake", "dimension": WIDTH, "key": KEY, "timeout": 2.5}
    return RemoteEmbedder(EndpointSettings(endpoint.url, **{**defaults, **settings}))


def reason(model: RemoteEmbedder, texts: list[str], role: Role = Role.PASSAGE, **call: Any) -> str:
    with pytest.raises(EmbeddingError) as caught:
        model.embed(texts, role, **call)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value) + caught.value.hint + repr(caught.value)
    return str(caught.value)


def model_check(memory: Service) -> Any:
    [check] = [check for check in memory.doctor().checks if check.name == "model"]
    return check


def test_vectors_come_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    texts = ["green tea", "black coffee", "plain water"]
    model = embedder(endpoint)
    straight = model.embed(texts, Role.PASSAGE)
    assert np.allclose(straight, vectors(texts), atol=1e-6)
    for other in (backwards, in_chunks):
        endpoint.always = other
        assert np.allclose(model.embed(texts, Role.PASSAGE), straight, atol=1e-6)
    assert endpoint.connections == 1
    assert model.embed([], Role.PASSAGE).shape == (0, WIDTH)


def test_a_request_says_what_the_protocol_wants(endpoint: Endpoint) -> None:
    embedder(endpoint).embed(["half a pair: \ud800", "中文"], Role.PASSAGE)
    [seen] = endpoint.seen
    assert seen.path == "/v1/embeddings"
    assert seen.asked == {"model": "fake", "input": ["half a pair: ?", "中文"], "encoding_format": "float"}
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["content-type"] == "application/json"


def test_calls_one_after_the_other_share_a_connection(endpoint: Endpoint) -> None:
    model = embedder(endpoint)
    for number in range(20):
        model.embed([f"text {number}"], Role.QUERY)
    assert (len(endpoint.seen), endpoint.connections) == (20, 1)


def test_a_request_is_one_write(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    written: list[bytes] = []
    send, caller = socket.socket.sendall, threading.get_ident()

    def noted(self: socket.socket, data: bytes, *flags: int) -> None:
        if threading.get_ident() == caller:
            written.append(data)
        send(self, data, *flags)

    monkeypatch.setattr(socket.socket, "sendall", noted)
    embedder(endpoint).embed(["one", "two"], Role.PASSAGE)
    assert [data[:4] + data[-1:] for data in written] == [b"POST}"]


def test_calls_side_by_side_have_a_connection_each_and_keep_them(endpoint: Endpoint) -> None:
    model = embedder(endpoint)
    together = threading.Barrier(4)

    def meeting(handler: Any, texts: list[str]) -> None:
        together.wait(10)
        right(handler, texts)

    endpoint.always = meeting
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            list(pool.map(lambda text: model.embed([text], Role.PASSAGE), "abcd"))
    assert (len(endpoint.seen), endpoint.connections) == (8, 4)


def test_a_connection_that_was_closed_meanwhile_costs_no_try(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TRIES", dict.fromkeys(Role, 1))
    model = embedder(endpoint)
    endpoint.faults = [closing]
    model.embed(["before"], Role.QUERY)
    time.sleep(0.05)
    assert model.embed(["after"], Role.QUERY).shape == (1, WIDTH)
    assert endpoint.connections == 2


@pytest.mark.parametrize("fault", [status(429, retry_after="0"), status(500), status(503), gone, cut])
def test_what_passes_is_tried_again(endpoint: Endpoint, fault: Fault) -> None:
    endpoint.faults = [fault, fault]
    assert embedder(endpoint).embed(["patience"], Role.PASSAGE).shape == (1, WIDTH)
    assert len(endpoint.seen) == 3


@pytest.mark.parametrize(
    "fault",
    [
        status(401),
        status(403),
        status(404),
        status(400, "bad"),
        status(429, "insufficient_quota"),
        body(b"!"),
    ],
)
def test_what_does_not_pass_is_asked_once(endpoint: Endpoint, fault: Fault) -> None:
    endpoint.always = fault
    reason(embedder(endpoint), ["once"])
    assert len(endpoint.seen) == 1


def test_the_time_that_a_service_asks_for_is_given_or_the_call_ends_at_once(endpoint: Endpoint) -> None:
    model = embedder(endpoint)
    endpoint.faults = [status(429, Retry_After="0.3")]
    began = time.monotonic()
    model.embed(["later"], Role.PASSAGE)
    assert time.monotonic() - began >= 0.3
    endpoint.faults = [status(429, Retry_After="3600")]
    began = time.monotonic()
    assert "wait 3600 s" in reason(model, ["much later"])
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("fault", [slow, dripping])
def test_a_slow_answer_ends_with_the_callers_time(endpoint: Endpoint, fault: Fault) -> None:
    endpoint.always = fault
    model = embedder(endpoint)
    began = time.monotonic()
    with pytest.raises(EmbeddingTimeout):
        model.embed(["slow"], Role.QUERY, timeout=0.3)
    assert 0.25 < time.monotonic() - began < 1
    with pytest.raises(EmbeddingTimeout):
        model.embed(["no time"], Role.QUERY, timeout=0)
    assert len(endpoint.seen) == 1


def test_the_time_of_the_settings_holds_where_the_caller_names_none(endpoint: Endpoint) -> None:
    endpoint.always = slow
    began = time.monotonic()
    with pytest.raises(EmbeddingTimeout):
        embedder(endpoint, timeout=0.3).embed(["slow"], Role.PASSAGE)
    assert time.monotonic() - began < 1


def test_many_texts_go_in_several_requests(endpoint: Endpoint) -> None:
    texts = [f"text number {number}" for number in range(150)]
    assert np.allclose(embedder(endpoint).embed(texts, Role.PASSAGE), vectors(texts), atol=1e-6)
    assert endpoint.texts == [64, 64, 22]
    endpoint.seen.clear()
    embedder(endpoint).embed(["x" * 60_000, "y" * 39_000, "z" * 2_000], Role.PASSAGE)
    assert endpoint.texts == [2, 1]


@pytest.mark.parametrize("code", [413, 400])
def test_a_service_that_takes_less_at_once_gets_less(endpoint: Endpoint, code: int) -> None:
    texts = [f"text number {number}" for number in range(64)]
    endpoint.always = at_most(16, code)
    model = embedder(endpoint)
    assert np.allclose(model.embed(texts, Role.PASSAGE), vectors(texts), atol=1e-6)
    assert [count for count in endpoint.texts if count <= 16] == [16] * 4
    endpoint.seen.clear()
    model.embed(texts, Role.PASSAGE)
    assert endpoint.texts == [16] * 4
    endpoint.always = at_most(0)
    assert "413" in reason(model, ["a single one"])


@pytest.mark.parametrize("fault", NONSENSE)
def test_nothing_wrong_is_stored_and_recall_stays_up(
    fault: str, endpoint: Endpoint, memory: Service, home: Path
) -> None:
    tell(memory, "The staging server is called heron")
    before = stored_rows(home, "embeddings")
    assert len(before) == 1
    endpoint.always, expected = NONSENSE[fault]
    stored = memory.store("Deploys of heron happen on Tuesday")
    assert (stored.action, stored.vector) == ("added", "pending")
    assert stored_rows(home, "embeddings") == before
    found = memory.recall("heron deploys")
    assert found.hits[0].memory.content == "Deploys of heron happen on Tuesday"
    assert (found.mode, found.degraded) == ("lexical", ("embedding_failed",))
    check = model_check(memory)
    assert not check.ok
    assert expected in check.detail
    assert KEY not in check.detail + check.hint


def test_a_slow_service_makes_a_vector_pending_and_recall_lexical(
    endpoint: Endpoint, home: Path, person: Caller
) -> None:
    store = Store(home / "memory.db")
    memory = Service(store, embedder(endpoint, timeout=0.3), person)
    tell(memory, "The staging server is called heron")
    endpoint.always = slow
    assert memory.store("Deploys of heron happen on Tuesday").vector == "pending"
    found = memory.recall("heron deploys", deadline_ms=400)
    assert (found.mode, found.degraded) == ("lexical", ("embedding_timeout",))
    assert len(found.hits) == 2
    assert "in time" in model_check(memory).detail
    endpoint.always = None
    again = memory.recall("heron deploys")
    assert (again.mode, again.degraded) == ("hybrid", ("uncalibrated",))
    assert memory.store("Rollbacks of heron need two people").vector == "stored"
    store.close()


def test_one_wrong_vector_keeps_a_whole_batch_out(endpoint: Endpoint, home: Path, memory: Service) -> None:
    endpoint.always = rows(lambda made: [*made[:-1], [math.nan] * WIDTH])
    batch = memory.store_batch([{"content": f"fact number {number} of many"} for number in range(5)])
    assert [outcome.vector for outcome in batch.outcomes] == ["pending"] * 5
    assert stored_rows(home, "embeddings") == []


def test_a_service_that_nobody_runs_is_given_up_at_once(endpoint: Endpoint) -> None:
    import socket

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        model = RemoteEmbedder(
            EndpointSettings(f"http://127.0.0.1:{unused.getsockname()[1]}/v1", "fake", dimension=8)
        )
        began = time.monotonic()
        assert "cannot be reached: Connection refused" in reason(model, ["nobody"])
    assert time.monotonic() - began < 1


def test_an_https_address_is_never_asked_in_the_clear(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ssl

    contexts: list[ssl.SSLContext] = []
    wrap = ssl.SSLContext.wrap_socket

    def noted(self: ssl.SSLContext, *rest: Any, **options: Any) -> ssl.SSLSocket:
        contexts.append(self)
        return wrap(self, *rest, **options)

    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", noted)
    model = embedder(endpoint)
    encrypted = RemoteEmbedder(
        EndpointSettings(endpoint.url.replace("http:", "https:"), "fake", dimension=8, key=KEY, timeout=1)
    )
    assert "cannot be reached" in reason(encrypted, ["secret"])
    assert endpoint.seen == []
    assert [(context.verify_mode, context.check_hostname) for context in contexts] == [
        (ssl.CERT_REQUIRED, True)
    ]
    assert model.embed(["plain"], Role.QUERY).shape == (1, WIDTH)


@pytest.mark.parametrize("host", ["models.example", "10.models.example", "8.8.8.8"])
def test_a_key_leaves_the_own_network_only_encrypted(host: str) -> None:
    far = RemoteEmbedder(EndpointSettings(f"http://{host}/v1", "fake", dimension=8, key=KEY))
    assert "unencrypted" in reason(far, ["secret"], timeout=0.5)


@pytest.mark.parametrize(
    "long", ["A sentence of ordinary words, and one more. " * 40, "部署密钥每九十天轮换一次。" * 80]
)
def test_a_long_text_is_cut_into_pieces_without_a_tokenizer(endpoint: Endpoint, long: str) -> None:
    model = embedder(endpoint)
    cut_up = model.split(long)
    assert len(cut_up) > 2
    assert cut_up[0] == long[: len(cut_up[0])]
    assert long.endswith(cut_up[-1])
    assert all(piece in long and 20 < len(piece) <= 152 * 4 for piece in cut_up)
    assert all(piece.endswith((".", "。")) for piece in cut_up[:-1])
    assert (model.split("short"), endpoint.seen) == (["short"], [])


def test_odd_texts_are_cut_in_time(endpoint: Endpoint) -> None:
    model = embedder(endpoint)
    began = time.monotonic()
    for text in (" " * 100_000, "." * 100_000, "a" * 100_000, "é\n" * 50_000, "中" * 100_000):
        assert model.split(text)
    assert time.monotonic() - began < 5


def test_the_identity_is_host_model_and_length(endpoint: Endpoint) -> None:
    named = RemoteEmbedder(EndpointSettings("https://user:word@models.example:8443/v1", "fake", dimension=64))
    assert named.name == "models.example/fake@64"
    assert (named.choice, named.dimensions, named.mean()) == ("endpoint:fake", 64, None)
    assert RemoteEmbedder(EndpointSettings()).name == "api.openai.com/text-embedding-3-small@1536"


def test_a_shorter_vector_is_asked_of_models_that_can(endpoint: Endpoint) -> None:
    RemoteEmbedder(EndpointSettings(endpoint.url, "text-embedding-3-small", dimension=WIDTH)).embed(
        ["short"], Role.QUERY
    )
    assert endpoint.seen[0].asked["dimensions"] == WIDTH


def test_settings_come_from_variables_then_from_the_file(home: Path, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text(f"{KEY}\n")
    for key, value in {
        "endpoint.url": "http://localhost:1/v1",
        "endpoint.model": "filed",
        "endpoint.dimension": "64",
        "endpoint.timeout-ms": "900",
        "endpoint.key-file": str(secret),
    }.items():
        config.write(key, value)
    bare = {"HOME": str(tmp_path), "MEM_HOME": str(home)}
    filed = EndpointSettings.from_environment(bare)
    assert (filed.url, filed.model, filed.dimension, filed.timeout) == (
        "http://localhost:1/v1",
        "filed",
        64,
        0.9,
    )
    assert (filed.key, filed.key_file) == ("", str(secret))
    named = EndpointSettings.from_environment(
        {
            **bare,
            "EMBEDDING_API_BASE_URL": "http://localhost:2/v1",
            "EMBEDDING_API_KEY": KEY,
            "EMBEDDING_MODEL": "named",
            "EMBEDDING_DIMENSION": "128",
            "EMBEDDING_TIMEOUT_MS": "700",
        }
    )
    assert (named.url, named.model, named.dimension, named.timeout) == (
        "http://localhost:2/v1",
        "named",
        128,
        0.7,
    )
    assert named.key == KEY
    assert KEY not in repr(named)


def test_the_key_comes_from_its_file(home: Path, endpoint: Endpoint, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    model = embedder(endpoint, key="", key_file=str(secret))
    assert str(secret) in reason(model, ["no key yet"])
    secret.write_text(f"{KEY}\n")
    model.embed(["with a key"], Role.QUERY)
    assert endpoint.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_variables_alone_choose_no_model(home: Path, endpoint: Endpoint) -> None:
    environment = {"MEM_HOME": str(home), "MEM_WORKER": "off", "EMBEDDING_API_BASE_URL": endpoint.url}
    bundled = choose_embedder(home / "memory.db", environment)
    assert bundled is not None
    assert bundled.choice == "bundled"
    chosen = choose_embedder(home / "memory.db", {**environment, "MEM_MODEL": "endpoint"})
    assert chosen is not None
    assert (chosen.choice, chosen.name) == (
        "endpoint:text-embedding-3-small",
        "127.0.0.1/text-embedding-3-small@1536",
    )
    assert endpoint.connections == 0


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"EMBEDDING_DIMENSION": "many"}, "EMBEDDING_DIMENSION"),
        ({"EMBEDDING_DIMENSION": "100"}, "multiple of 8"),
        ({"EMBEDDING_TIMEOUT_MS": "0"}, "EMBEDDING_TIMEOUT_MS"),
        ({"EMBEDDING_MODEL": "unheard-of"}, "unheard-of"),
        ({"EMBEDDING_API_BASE_URL": "ftp://models.example"}, "no http or https URL"),
        ({"EMBEDDING_API_BASE_URL": "http://[::1"}, "no http or https URL"),
        ({"EMBEDDING_API_BASE_URL": "http://localhost/a\r\nX-Other: 1"}, "no http or https URL"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(home: Path, variables: dict[str, str], named: str) -> None:
    with pytest.raises(EmbeddingError, match=named) as caught:
        RemoteEmbedder(EndpointSettings.from_environment({"MEM_HOME": str(home), **variables}))
    assert caught.value.hint


def test_the_whole_road_from_the_command_line(run_mem: Run, endpoint: Endpoint) -> None:
    environment = {
        "EMBEDDING_API_BASE_URL": endpoint.url,
        "EMBEDDING_API_KEY": KEY,
        "EMBEDDING_MODEL": "fake",
        "EMBEDDING_DIMENSION": str(WIDTH),
    }
    assert run_mem("config", "set", "model", "endpoint", env=environment).code == 0
    stored = run_mem("store", "The staging server is called heron", "--json", env=environment)
    assert stored.document()["vector"] == "stored"
    found = run_mem("recall", "heron", "--json", env=environment).document()
    assert (found["mode"], found["degraded"], len(found["hits"])) == ("hybrid", ["uncalibrated"], 1)
    endpoint.always = status(401, f"Incorrect API key provided: {KEY}")
    found = run_mem("recall", "heron server", "--json", env=environment).document()
    assert (found["mode"], found["degraded"], len(found["hits"])) == ("lexical", ["embedding_failed"], 1)
    doctor = run_mem("doctor", env=environment)
    assert "refuses the key" in doctor.out
    assert KEY not in doctor.out + doctor.err


def test_an_answer_without_places_is_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    import json

    plain = [{"embedding": row} for row in vectors(["a b", "c d"])]
    endpoint.always = body(json.dumps({"data": plain}).encode())
    assert np.allclose(
        embedder(endpoint).embed(["a b", "c d"], Role.PASSAGE), vectors(["a b", "c d"]), atol=1e-6
    )
    twice = json.loads(document(vectors(["a b", "c d"])))
    twice["data"][1]["index"] = 0
    endpoint.always = body(json.dumps(twice).encode())
    assert "an index 0 among 2 texts" in reason(embedder(endpoint), ["a b", "c d"])
