"""Language models of the tests' own: a program told what to answer, and an endpoint on this machine."""

from __future__ import annotations

import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Program:
    """A command that keeps each prompt that it gets, and answers as it is told."""

    folder: Path

    @property
    def words(self) -> str:
        return shlex.join((sys.executable, str(self.folder / "engine.py")))

    @property
    def prompts(self) -> list[str]:
        """What it was asked, in order."""
        found = sorted(self.folder.glob("prompt-*"), key=lambda path: int(path.name.partition("-")[2]))
        return [path.read_text(encoding="utf-8") for path in found]

    def answers(self, *texts: str) -> None:
        """What it answers from now on, one after the other; the last one again and again."""
        self.runs(
            f"answers = {list(texts)!r}\n"
            "told = sys.stdin.buffer.read().decode()\n"
            "number = len(list(here.glob('prompt-*')))\n"
            "(here / f'prompt-{number}').write_text(told, encoding='utf-8')\n"
            "start = int((here / 'start').read_text())\n"
            "sys.stdout.buffer.write(answers[min(number - start, len(answers) - 1)].encode())\n"
        )

    def runs(self, code: str) -> None:
        """What it does, as Python that knows `sys`, `os`, `time` and `here`."""
        (self.folder / "start").write_text(str(len(self.prompts)))
        (self.folder / "engine.py").write_text(
            f"import os, pathlib, sys, time\nhere = pathlib.Path({str(self.folder)!r})\n{code}"
        )


def set_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A program in a new folder that is set up as the engine."""
    folder.mkdir()
    found = Program(folder)
    found.answers("Nothing to say.")
    monkeypatch.setenv("MEM_CHAT_COMMAND", found.words)
    return found


@dataclass(slots=True)
class Requests:
    """What an endpoint was asked: path, headers and body of each request."""

    url: str
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)


Reply = Callable[[BaseHTTPRequestHandler, int], None]


def says(text: str, **of_choice: Any) -> Reply:
    """A whole answer in the form of a chat."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, **of_choice}
    return with_body(200, json.dumps({"choices": [choice]}))


def with_body(status: int, body: str, **headers: str) -> Reply:
    """An answer with this status and body."""

    def reply(handler: BaseHTTPRequestHandler, _: int) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body.encode())))
        handler.end_headers()
        handler.wfile.write(body.encode())

    return reply


@contextmanager
def endpoint(*replies: Reply) -> Iterator[Requests]:
    """An endpoint that gives these replies in order, the last one again and again."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.asked.append((self.path, dict(self.headers), json.loads(body)))
            number = len(requests.asked) - 1
            replies[min(number, len(replies) - 1)](self, number)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    requests = Requests(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
