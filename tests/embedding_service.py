"""An OpenAI-compatible embedding service in the tests' own process: real sockets, every fault on request."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from conftest import BagOfWords

from mem.embed import Role

KEY = "sk-a-key-that-nobody-may-see"
Fault = Callable[["Handler", list[str]], None]


@dataclass
class Seen:
    """A request as it came: what it asked, with which headers, over which connection."""

    path: str
    headers: dict[str, str]
    asked: dict[str, Any]
    connection: int


@dataclass
class Service:
    """The service: `faults` come one after the other, then `always`; without one the answer is right."""

    url: str
    seen: list[Seen] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    always: Fault | None = None
    connections: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def texts(self) -> list[int]:
        """How many texts each request had."""
        return [len(seen.asked["input"]) for seen in self.seen]


class Handler(BaseHTTPRequestHandler):
    """Answers as the service is told to."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    service: Service

    def setup(self) -> None:
        super().setup()
        self.service.connections += 1
        self.number = self.service.connections

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.service.seen.append(Seen(self.path, headers, asked, self.number))
        fault = self.service.faults.pop(0) if self.service.faults else self.service.always
        (fault or right)(self, asked["input"])

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@contextmanager
def running() -> Iterator[Service]:
    """The service, until the block ends."""
    handler = type("Handler", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    service = handler.service = Service(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield service
    finally:
        service.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def vectors(texts: Sequence[str]) -> list[list[float]]:
    """What is right for these texts."""
    return BagOfWords().embed(texts, Role.PASSAGE).tolist()


def document(rows: Sequence[Any]) -> bytes:
    """An answer with these vectors, in their order."""
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
    return json.dumps({"object": "list", "data": data, "model": "fake"}).encode()


def right(handler: Handler, texts: list[str]) -> None:
    """As it should be."""
    handler.answer(200, document(vectors(texts)))


def rows(change: Callable[[list[list[Any]]], Any]) -> Fault:
    """An answer with other vectors."""
    return lambda handler, texts: handler.answer(200, document(change(vectors(texts))))


def status(code: int, message: str = "", **headers: str) -> Fault:
    """An answer with another status."""
    body = json.dumps({"error": {"message": message, "type": "x"}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, texts: handler.answer(code, body, named)


def body(content: bytes) -> Fault:
    """An answer with any bytes."""
    return lambda handler, texts: handler.answer(200, content)


def at_most(count: int, code: int = 413) -> Fault:
    """A service that takes no more texts at once."""

    def fault(handler: Handler, texts: list[str]) -> None:
        if len(texts) > count:
            status(code, f"too many inputs: at most {count}")(handler, texts)
        else:
            right(handler, texts)

    return fault


def backwards(handler: Handler, texts: list[str]) -> None:
    """The right vectors, the last one first, as base64."""
    import numpy as np

    data = [
        {"index": place, "embedding": base64.b64encode(np.array(row, "<f4").tobytes()).decode()}
        for place, row in enumerate(vectors(texts))
    ]
    handler.answer(200, json.dumps({"data": data[::-1]}).encode())


def in_chunks(handler: Handler, texts: list[str]) -> None:
    """The right answer in chunks, which say nothing of its length."""
    whole = document(vectors(texts))
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for begin in range(0, len(whole), 1000):
        part = whole[begin : begin + 1000]
        handler.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
    handler.wfile.write(b"0\r\n\r\n")


def slow(handler: Handler, texts: list[str]) -> None:
    """The right answer, too late for anybody."""
    handler.service.over.wait(20)
    handler.close_connection = True


def dripping(handler: Handler, texts: list[str]) -> None:
    """One header after the other, for ever."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(400):
        if handler.service.over.wait(0.05):
            break
        try:
            handler.wfile.write(b"X-%d: y\r\n" % number)
        except OSError:
            break
    handler.close_connection = True


def cut(handler: Handler, texts: list[str]) -> None:
    """Half an answer, then the connection ends."""
    whole = document(vectors(texts))
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(whole)))
    handler.end_headers()
    handler.wfile.write(whole[: len(whole) // 2])
    handler.close_connection = True


def gone(handler: Handler, texts: list[str]) -> None:
    """The connection ends without a word."""
    handler.close_connection = True


def closing(handler: Handler, texts: list[str]) -> None:
    """The right answer; the connection ends without notice after it."""
    right(handler, texts)
    handler.close_connection = True
