"""A model behind an OpenAI-compatible service: `POST {base URL}/embeddings`.

Asked only where that model was chosen. The service gets the texts as they are; its key comes from the
environment or from a file, and stands in no message. What the service answers is never trusted: the number
of vectors, their length and their numbers are checked before anything is stored.
"""

from __future__ import annotations

import base64
import binascii
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mem.embed import estimate, pieces
from mem.embed.embedder import EmbeddingError, EmbeddingTimeout, Role
from mem.embed.endpoint import OWN, SET_DIMENSION, SET_KEY, SET_URL, EndpointSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mem.embed.connection import Answer, Connections

    Rows = NDArray[np.float32]

__all__ = ["EndpointSettings", "RemoteEmbedder"]

SHORTENED = "text-embedding-3"  # these can be asked for fewer numbers
MOST_TEXTS = 64
MOST_BYTES = 100_000
TRIES = {Role.QUERY: 2, Role.PASSAGE: 5}  # who asks waits; what is stored can be pending
BACKOFF = 0.2  # seconds before the second try, doubled each time
NUMBER_BYTES = 40  # more than any number of an answer is written with
ROOM = 65_536  # bytes of an answer besides its numbers
TOLD = 200  # characters of the service's own words in a message
_TOO_LONG = re.compile(
    rb"too (long|large|many|big)|maximum|at most|exceed|limit|context length", re.IGNORECASE
)
# Where a key may go in the clear: besides this machine, names that only its own network knows.
NEAR = (".local", ".lan", ".internal", ".home.arpa", ".test")


class _TooMuch(Exception):
    """The service takes fewer texts at once."""


class RemoteEmbedder:
    """A model that a service runs; nothing is asked before the first text. Implements `Embedder`.

    Raises `EmbeddingError` where the settings name no usable service. Safe for any number of threads;
    `concurrency` calls side by side are worth making, and `patience` is what a call may be given that nobody
    waits for.
    """

    loaded = True
    patience = 60.0

    def __init__(self, settings: EndpointSettings) -> None:
        from mem.embed.connection import Connections

        self._settings = settings
        self._address = settings.address()
        self._dimensions = settings.width()
        self._connections: Connections = Connections(self._address)
        self._most = MOST_TEXTS

    @property
    def name(self) -> str:
        """The host, the model and the length of its vectors; neither port nor key."""
        return f"{self._address.hostname}/{self._settings.model}@{self._dimensions}"

    @property
    def choice(self) -> str:
        """How the model is found again."""
        return f"endpoint:{self._settings.model}"

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._dimensions

    @property
    def concurrency(self) -> int:
        """How many calls may run side by side."""
        return self._settings.concurrency

    @property
    def piece_tokens(self) -> int:
        """How many tokens a piece of a long text has at most, by estimate."""
        return pieces.PIECE_TOKENS

    def ready(self) -> None:
        """It always is; only a call shows whether the service answers."""

    def mean(self) -> Rows | None:
        """Nothing: the centre comes from the store's own vectors."""
        return None

    def split(self, text: str) -> list[str]:
        """The pieces of a text, by an estimate of its tokens."""
        return pieces.split(text, self.token_starts)

    def token_starts(self, text: str) -> list[int]:
        """Where the tokens of a text may begin."""
        return estimate.token_starts(text)

    def embed(self, texts: Sequence[str], role: Role, *, timeout: float | None = None) -> Rows:
        """One row for each text, in order; raises `EmbeddingError`.

        All of it, tries and pauses included, takes `timeout` seconds at most, by default those of the
        settings. Where more time is given, each try may take a quarter of it.
        """
        from mem.embed.vectors import normalised

        allowed = self._settings.timeout if timeout is None else timeout
        if allowed <= 0:
            raise EmbeddingTimeout("There is no time left for a vector.", hint="Give it more time.")
        call = _Call(role, time.monotonic() + allowed, max(self._settings.timeout, allowed / 4))
        rows = [row for batch in _batches(texts, self._most) for row in self._batch(batch, call)]
        return normalised(rows, self._dimensions)

    def _batch(self, texts: Sequence[str], call: _Call) -> list[Rows]:
        try:
            return self._vectors(self._answer(texts, call).body, len(texts))
        except _TooMuch:
            half = len(texts) // 2
            self._most = min(self._most, half)
            return self._batch(texts[:half], call) + self._batch(texts[half:], call)

    def _answer(self, texts: Sequence[str], call: _Call) -> Answer:
        """The service's answer that it is done; raises `EmbeddingError`, `_TooMuch`."""
        request = self._request(texts)
        most = len(texts) * self._dimensions * NUMBER_BYTES + ROOM
        for number in range(TRIES[call.role]):
            answer, problem = self._tried(request, most, call)
            if answer is not None and answer.status == 200:
                return answer
            if answer is not None and len(texts) > 1 and _is_too_much(answer):
                raise _TooMuch
            pause = BACKOFF * 2**number * random.uniform(0.5, 1.5)  # noqa: S311
            if answer is not None:
                if not _may_pass(answer):
                    break
                pause = _asked_pause(answer) or pause
            if time.monotonic() + pause >= call.until:
                break
            if number + 1 < TRIES[call.role]:
                time.sleep(pause)
        raise problem

    def _tried(self, request: bytes, most: int, call: _Call) -> tuple[Answer | None, EmbeddingError]:
        """One exchange: the answer, or None for one that may be repeated; and what is wrong with it."""
        from http.client import HTTPException

        until = min(call.until, time.monotonic() + call.each)
        try:
            answer = self._connections.exchange(request, until=until, most=most)
        except (TimeoutError, EmbeddingTimeout):
            return None, EmbeddingTimeout(f"{self._host} did not answer in time.", hint="Try again.")
        except (ConnectionResetError, BrokenPipeError, HTTPException) as err:
            from mem.embed.connection import TooLarge

            problem = self._problem(f"{self._host} broke off: {_line(err)}", "Try again.")
            if isinstance(err, TooLarge):
                raise problem from err
            return None, problem
        except OSError as err:
            # Nobody is there, or not who it should be: asking again gives the same.
            raise self._problem(f"{self._host} cannot be reached: {_line(err)}", SET_URL) from err
        return answer, self._refusal(answer)

    def _request(self, texts: Sequence[str]) -> bytes:
        """The whole request, as one write sends it."""
        asked: dict[str, Any] = {
            "model": self._settings.model,
            "input": [text.encode("utf-8", "replace").decode() for text in texts],
            "encoding_format": "float",
        }
        own = OWN.get(self._settings.model)
        if self._settings.model.startswith(SHORTENED) and self._dimensions != own:
            asked["dimensions"] = self._dimensions
        body = json.dumps(asked, ensure_ascii=False).encode()
        path = self._address.path + (f"?{self._address.query}" if self._address.query else "")
        port = f":{self._address.port}" if self._address.port else ""
        host = f"[{self._host}]" if ":" in self._host else self._host
        lines = [
            f"POST {path} HTTP/1.1",
            f"Host: {host}{port}",
            "User-Agent: mem",
            "Accept: application/json",
            "Accept-Encoding: identity",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *self._authorization(),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body

    def _authorization(self) -> Iterator[str]:
        user, key = self._address.username, self._key
        if not key and user is None:
            return
        if self._address.scheme == "http" and not _is_near(self._host):
            raise EmbeddingError(
                f"A key must not go to {self._host} unencrypted.", hint="Use https. " + SET_URL
            )
        if key:
            yield f"Authorization: Bearer {key}"
        else:
            pair = f"{user}:{self._address.password or ''}".encode()
            yield f"Authorization: Basic {base64.b64encode(pair).decode()}"

    @cached_property
    def _key(self) -> str:
        """The key; read when it is needed first, so that a missing file costs nothing but vectors."""
        found = self._settings.key
        if not found and self._settings.key_file:
            try:
                found = Path(self._settings.key_file).read_text(encoding="utf-8").strip()
            except (OSError, ValueError) as err:
                raise EmbeddingError(
                    f"{self._settings.key_file} cannot be read: {_line(err)}.", hint=SET_KEY
                ) from err
        if not re.fullmatch(r"[\x21-\x7e]*", found):
            raise EmbeddingError(
                "The key of the embedding service is not one word of plain letters.", hint=SET_KEY
            )
        return found

    @property
    def _host(self) -> str:
        return self._address.hostname or ""

    def _refusal(self, answer: Answer) -> EmbeddingError:
        """Why an answer is no good, in one line."""
        said = self._told(answer.body)
        match answer.status:
            case 401 | 403:
                return self._problem(f"{self._host} refuses the key (status {answer.status}){said}", SET_KEY)
            case 404:
                hint = "Set EMBEDDING_MODEL, or `mem config set endpoint.model NAME`. " + SET_URL
                return self._problem(
                    f"{self._host} has no {self._settings.model} at this address (404){said}", hint
                )
            case 429:
                pause = _asked_pause(answer)
                wait = f"; it asks to wait {pause:g} s" if pause else ""
                return self._problem(
                    f"{self._host} has had too many requests (429){wait}{said}", "Try again later."
                )
            case status if 300 <= status < 400:
                place = urlsplit(answer.headers.get("location", "")).hostname or "another address"
                return self._problem(f"{self._host} sends on to {place} (status {status})", SET_URL)
            case status:
                return self._problem(f"{self._host} answers with status {status}{said}", "Try again later.")

    def _vectors(self, body: bytes, count: int) -> list[Rows]:
        """The vectors of an answer in the order of the texts, each as long as it should be."""
        found: list[Rows | None] = [None] * count
        try:
            data = _parsed(body)["data"]
            for place, item in enumerate(data):
                index = item.get("index", place)
                if index != index.__index__() or not 0 <= index < count or found[index] is not None:
                    raise ValueError(f"an index {index} among {count} texts")
                found[index] = _row(item["embedding"])
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as err:
            reason = _line(err) if isinstance(err, ValueError) else "no list of vectors"
            raise self._problem(
                f"{self._host} gives an answer that is unusable: {reason}", "Try again."
            ) from err
        rows = [row for row in found if row is not None]
        if len(rows) != count:
            raise self._problem(f"{self._host} gives {len(rows)} vectors for {count} texts", "Try again.")
        for row in rows:
            if row.shape != (self._dimensions,):
                raise self._problem(
                    f"{self._settings.model} gives vectors of {row.size} numbers, not {self._dimensions}",
                    SET_DIMENSION,
                )
        return rows

    def _told(self, body: bytes) -> str:
        """The service's own words."""
        try:
            said = json.loads(body)
            error = said.get("error", said)
            text = error if isinstance(error, str) else str(error.get("message", ""))
        except (ValueError, AttributeError, RecursionError):
            return ""
        words = " ".join(text.split())
        return f": {words[:TOLD]}" if words.isprintable() and words else ""

    def _problem(self, reason: str, hint: str) -> EmbeddingError:
        for secret in (self._key, self._address.password):
            if secret:
                reason = reason.replace(secret, "…")
        return EmbeddingError(reason.rstrip(".") + ".", hint=hint)


@dataclass(frozen=True, slots=True)
class _Call:
    """Whom an answer is for, when it must be there, and how many seconds one try may take."""

    role: Role
    until: float
    each: float


def _batches(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """The texts in requests that a service takes."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode("utf-8", "replace"))
        if batch and (len(batch) >= most or size + length > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch


def _row(given: Any) -> Rows:
    """A vector as it came: a list of numbers, or their Float32 bytes in base64."""
    import numpy as np

    if isinstance(given, str):
        try:
            return np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4").astype(np.float32)
        except (binascii.Error, ValueError) as err:
            raise ValueError("a vector that is no base64 of Float32 numbers") from err
    if not isinstance(given, list) or any(isinstance(number, str | bool) for number in given):
        raise ValueError("a vector that is no list of numbers")
    # None becomes NaN here, which the last check refuses; so does what is beyond Float32.
    with np.errstate(over="ignore"):
        return np.array(given, dtype=np.float64).astype(np.float32)


def _parsed(body: bytes) -> Any:
    """A JSON document; some services write NaN, which is no JSON, and must be called by its name."""
    import orjson

    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            return json.loads(body)
        except ValueError as err:
            raise ValueError("it is no JSON") from err


def _is_near(host: str) -> bool:
    """Whether a host is this machine or in its own network."""
    from ipaddress import ip_address

    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(NEAR)


def _is_too_much(answer: Answer) -> bool:
    return answer.status == 413 or (answer.status in (400, 422) and bool(_TOO_LONG.search(answer.body)))


def _may_pass(answer: Answer) -> bool:
    """Whether the same request may succeed later."""
    if answer.status == 429:
        return b"insufficient_quota" not in answer.body
    return answer.status == 408 or answer.status >= 500


def _asked_pause(answer: Answer) -> float:
    """The seconds that the service asks to wait; 0 where it says nothing that makes sense."""
    milliseconds = answer.headers.get("retry-after-ms", "")
    said = answer.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}", milliseconds):
        return int(milliseconds) / 1000
    if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", said):
        return float(said)
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _line(err: Exception) -> str:
    """What went wrong, in one line."""
    text = getattr(err, "strerror", None) or str(err) or type(err).__name__
    return " ".join(str(text).split())[:TOLD]
