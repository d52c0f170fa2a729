"""A command as engine, such as `claude -p`: the prompt on its standard input, the answer on its output.

It runs without a shell, in an empty folder of its own, so that no project's files, settings or transcripts
come into it, and in a process group of its own, which is killed whatever ends the call. Hooks of `mem` in it
are silent.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from mem.chat.failure import ChatFailed
from mem.context.hooks import ACTIVE
from mem.paths import private_folder

LARGEST = 4 << 20  # bytes of an answer
_TAIL = 8_192  # bytes of what it complains of, from the end
_LONGEST_TOLD = 300
_DRAINED = 2.0  # seconds for what a killed process left in its pipes
# What would make the child believe that it runs inside of the session that called us.
_OF_SESSIONS = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR")
_SEE = "See: mem config get chat.command"


class Command:
    """A program that reads a prompt and writes the answer; `timeout` is in seconds."""

    def __init__(
        self, words: tuple[str, ...], folder: Path, environment: Mapping[str, str], timeout: float
    ) -> None:
        self.name = Path(words[0]).name
        self._words = words
        self._folder = folder
        self._environment = {
            **{name: value for name, value in environment.items() if name not in _OF_SESSIONS},
            ACTIVE: "1",
        }
        self._timeout = timeout

    def ask(self, prompt: str) -> str:
        """The answer to a prompt; raises `ChatFailed`."""
        process = self._started()
        reading = _Reading(process)
        try:
            reading.begin(prompt.encode("utf-8", "replace"))
            code = process.wait(self._timeout)
        except subprocess.TimeoutExpired as err:
            raise ChatFailed(
                f"{self.name} did not answer within {self._timeout:g} seconds.",
                hint="Give it longer: mem config set chat.timeout-seconds 300",
            ) from err
        finally:
            _end(process)
            reading.finish()
        if reading.is_too_much:
            raise ChatFailed(f"{self.name} wrote more than {LARGEST:,} bytes and was stopped.")
        if code:
            raise ChatFailed(f"{self.name} ended with {code}{reading.complaint()}", hint=_SEE)
        return reading.output.decode("utf-8", "replace")

    def _started(self) -> "subprocess.Popen[bytes]":
        group: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
        try:
            return subprocess.Popen(  # noqa: S603  (the user's own command, and no shell)
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=private_folder(self._folder),
                env=self._environment,
                **group,
            )
        except (OSError, ValueError) as err:
            why = err.strerror if isinstance(err, OSError) else err
            raise ChatFailed(f"The command '{self._words[0]}' cannot be started: {why}.", hint=_SEE) from err


class _Reading:
    """What goes into a process and comes out of it, on threads, so that neither side waits for the other."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._threads: list[threading.Thread] = []
        self._complaints = b""
        self.output = bytearray()
        self.is_too_much = False

    def begin(self, prompt: bytes) -> None:
        process = self._process
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError("the process was started with pipes")
        for work, arguments in (
            (self._write, (process.stdin, prompt)),
            (self._read, (process.stdout,)),
            (self._listen, (process.stderr,)),
        ):
            thread = threading.Thread(target=work, args=arguments, daemon=True)
            thread.start()
            self._threads.append(thread)

    def finish(self) -> None:
        """Take what is left in the pipes of a process that has ended."""
        until = time.monotonic() + _DRAINED
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def complaint(self) -> str:
        """The last line of standard error, as the end of a sentence."""
        from mem.truth.redact import redact

        lines = self._complaints.decode("utf-8", "replace").strip().splitlines()
        told = redact("".join(filter(str.isprintable, lines[-1]))).text.strip() if lines else ""
        return f": {told[:_LONGEST_TOLD]}" if told else "."

    def _write(self, pipe: IO[bytes], prompt: bytes) -> None:
        with suppress(OSError), pipe:  # it need not read all of it
            pipe.write(prompt)

    def _read(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError), pipe:
            while part := pipe.read1(1 << 16):  # type: ignore[attr-defined]
                self.output += part
                if len(self.output) > LARGEST:
                    self.is_too_much = True
                    _end(self._process)
                    return

    def _listen(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError), pipe:
            while part := pipe.read1(1 << 16):  # type: ignore[attr-defined]
                self._complaints = (self._complaints + part)[-_TAIL:]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process with all that it started, whether or not it has ended itself."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
