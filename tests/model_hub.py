"""A hub of models in the tests' own process, and a tiny model that it can offer."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

WORDS = ("<unk>", "green", "tea", "black", "coffee", "plain", "water", "deploy", "friday", "key", "heron")
WIDTH = 256  # as fastembed says it of the tiny model's name
TINY = "minishlab/potion-base-8M"


@dataclass
class Hub:
    """Repositories by name and commit; `sent` bytes of each file, `cut` ends a file after so many bytes."""

    url: str
    commits: dict[str, list[tuple[str, dict[str, bytes]]]] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    changed: dict[str, bytes] = field(default_factory=dict)
    hold: threading.Event | None = None
    asked: threading.Event = field(default_factory=threading.Event)

    def publish(self, repository: str, files: dict[str, bytes]) -> str:
        """Make these files the newest commit; gives its hash."""
        before = self.commits.setdefault(repository, [])
        commit = hashlib.sha1(f"{repository} {len(before)}".encode(), usedforsecurity=False).hexdigest()
        before.append((commit, files))
        return commit

    def files(self, repository: str, revision: str) -> tuple[str, dict[str, bytes]] | None:
        known = self.commits.get(repository, [])
        if revision == "main":
            return known[-1] if known else None
        return next((pair for pair in known if pair[0] == revision), None)


class Handler(BaseHTTPRequestHandler):
    """Answers as the hub does: sizes and hashes of a commit's files, and the files, also from the middle."""

    hub: Hub

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if found := re.fullmatch(r"/api/models/(.+)/revision/(.+)", path):
            known = self.hub.files(found[1], found[2])
            self.hub.asked.set()
            if self.hub.hold is not None:
                self.hub.hold.wait(10)
            self.send(json.dumps(described(*known)).encode() if known else None)
        elif found := re.fullmatch(r"/(.+/.+)/resolve/([0-9a-f]{40})/(.+)", path):
            known = self.hub.files(found[1], found[2])
            self.send_file(found[3], known[1].get(found[3]) if known else None)
        else:
            self.send(None)

    def send_file(self, name: str, content: bytes | None) -> None:
        content = self.hub.changed.get(name, content)
        if content is None:
            return self.send(None)
        begin = int((re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")) or ["", "0"])[1])
        end = self.hub.cut.pop(name, len(content))
        self.hub.sent[name] = self.hub.sent.get(name, 0) + max(0, end - begin)
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        self.wfile.write(content[begin:end])
        return None

    def send(self, content: bytes | None) -> None:
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def described(commit: str, files: dict[str, bytes]) -> dict[str, Any]:
    """What the hub says of a commit; files beyond 10 kB are large ones."""
    siblings = []
    for name, content in files.items():
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
        said: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": blob}
        if len(content) > 10_000:
            sum_ = hashlib.sha256(content).hexdigest()
            said |= {"blobId": "0" * 40, "lfs": {"size": len(content), "sha256": sum_, "pointerSize": 130}}
        siblings.append(said)
    return {"sha": commit, "siblings": siblings}


@contextmanager
def running() -> Iterator[Hub]:
    """The hub, until the block ends."""
    handler = type("Handler", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub = handler.hub = Hub(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def tiny_model(seed: int = 1) -> dict[str, bytes]:
    """A static model that knows a few words: its table of vectors and its tokenizer."""
    import numpy as np

    table = np.random.default_rng(seed).standard_normal((len(WORDS), WIDTH)).astype("<f4")
    shape = {"dtype": "F32", "shape": list(table.shape), "data_offsets": [0, table.nbytes]}
    header = json.dumps({"embeddings": shape}).encode()
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
    return {
        "model.safetensors": struct.pack("<Q", len(header)) + header + table.tobytes(),
        "tokenizer.json": json.dumps(tokenizer).encode(),
        "config.json": b'{"model_type": "model2vec"}',
        "README.md": b"# not needed",
    }


def contents(directory: Path, *names: str) -> dict[str, bytes]:
    """The files of a folder by name."""
    return {name: (directory / name).read_bytes() for name in names}
