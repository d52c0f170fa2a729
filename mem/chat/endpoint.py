"""An OpenAI-compatible chat endpoint as engine: one request with one message, whole answers only.

The whole call has one deadline, retries included. What may pass (too many requests, a server in trouble, a
broken connection) is tried again after a growing pause; redirects are not followed, since the key would go
along.
"""

import queue
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mem.chat.failure import ChatFailed
from mem.errors import Usage

LARGEST = 4 << 20  # bytes of an answer
TRIES = 4
PAUSE = 1.0  # seconds before the second try; each pause is twice as long as the one before
_PASSING = frozenset((408, 429, 500, 502, 503, 504, 529))
_LONGEST_TOLD = 300


@dataclass(frozen=True, slots=True)
class _Reply:
    """What came back: a status with a body, or why nothing did."""

    status: int = 0
    body: bytes = b""
    retry_after: str = ""
    trouble: str = ""

    @property
    def may_pass(self) -> bool:
        return bool(self.trouble) or self.status in _PASSING


class Endpoint:
    """A chat endpoint at a base URL such as `https://host/v1`; `timeout` is in seconds."""

    def __init__(self, url: str, model: str, key: str, timeout: float) -> None:
        base = url.strip().rstrip("/").removesuffix("/chat/completions")
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Usage(f"'{url}' is no address of an endpoint.", hint="It begins with https:// or http://.")
        if parts.username or parts.password:
            raise Usage("The address of an endpoint holds no password.", hint="Put the key in chat.key-file.")
        self.name = f"{model} at {parts.netloc}"
        self._url = f"{base}/chat/completions"
        self._model = model
        self._key = key.strip()
        self._timeout = timeout

    def ask(self, prompt: str) -> str:
        """The answer to a prompt; raises `ChatFailed`."""
        import orjson

        until = time.monotonic() + self._timeout
        messages = [{"role": "user", "content": prompt.encode("utf-8", "replace").decode()}]
        body = orjson.dumps({"model": self._model, "messages": messages, "temperature": 0, "stream": False})
        pause = PAUSE
        for tried in range(1, TRIES + 1):
            reply = self._once(body, until)
            left = until - time.monotonic()
            wait = max(pause, _seconds(reply.retry_after))
            if not reply.may_pass or tried == TRIES or wait >= left:
                break
            time.sleep(wait)
            pause *= 2
        return self._answer(reply)

    def _once(self, body: bytes, until: float) -> _Reply:
        """One request on a thread, since a name that is looked up or a slow answer keep to no timeout."""
        found: queue.SimpleQueue[_Reply] = queue.SimpleQueue()
        left = max(0.05, until - time.monotonic())
        threading.Thread(target=lambda: found.put(self._send(body, left)), daemon=True).start()
        try:
            return found.get(timeout=left)
        except queue.Empty:
            raise ChatFailed(
                f"{self.name} did not answer within {self._timeout:g} seconds.",
                hint="Give it longer: mem config set chat.timeout-seconds 300",
            ) from None

    def _send(self, body: bytes, timeout: float) -> _Reply:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class Stay(HTTPRedirectHandler):
            """A redirect is an answer like any other."""

            def redirect_request(self, *_: Any) -> None:
                return None

        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "mem"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, body, headers, method="POST")  # noqa: S310  (checked above)
        try:
            with build_opener(Stay).open(request, timeout=timeout) as answer:
                content = answer.read(LARGEST + 1)
                expected = answer.headers.get("Content-Length", "")
                if expected.isdecimal() and len(content) < min(int(expected), LARGEST):
                    return _Reply(trouble="it closed the connection in mid-answer")
                return _Reply(answer.status, content)
        except HTTPError as err:
            with err:
                return _Reply(err.code, err.read(LARGEST), err.headers.get("Retry-After") or "")
        except (OSError, HTTPException, ValueError) as err:
            return _Reply(trouble=str(getattr(err, "reason", "") or err) or type(err).__name__)

    def _answer(self, reply: _Reply) -> str:
        """The text of a reply; raises `ChatFailed` for any other."""
        match reply.status:
            case 0:
                raise ChatFailed(
                    f"{self.name} cannot be reached: {self._told(reply.trouble)}.", hint="Check chat.url."
                )
            case 401 | 403:
                raise ChatFailed(
                    f"{self.name} refused the key (status {reply.status}).",
                    hint="Put a valid one in the file that chat.key-file names.",
                )
            case status if not 200 <= status < 300:
                raise ChatFailed(f"{self.name} answered with status {status}{self._complaint(reply.body)}")
        if len(reply.body) > LARGEST:
            raise ChatFailed(f"{self.name} wrote more than {LARGEST:,} bytes.")
        choice = _first_choice(reply.body)
        message = choice.get("message")
        text = _text(message.get("content")) if isinstance(message, Mapping) else None
        if text is None:
            raise ChatFailed(f"{self.name} did not answer in the form of a chat.", hint="Check chat.url.")
        if choice.get("finish_reason") == "length":
            raise ChatFailed(f"{self.name} was cut off in the middle of its answer.")
        return text

    def _complaint(self, body: bytes) -> str:
        """What the endpoint says of an error, as the end of a sentence."""
        said = _parsed(body).get("error")
        message = said.get("message") if isinstance(said, Mapping) else said
        return f": {self._told(message)}" if isinstance(message, str) and message.strip() else "."

    def _told(self, text: str) -> str:
        """A text of the endpoint on one line of ours; it may quote the key."""
        from mem.truth.redact import redact

        hidden = text.replace(self._key, "…") if self._key else text
        line = redact("".join(mark if mark.isprintable() else " " for mark in hidden)).text
        return " ".join(line.split())[:_LONGEST_TOLD]


def _first_choice(body: bytes) -> Mapping[str, Any]:
    choices = _parsed(body).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _parsed(body: bytes) -> Mapping[str, Any]:
    import orjson

    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _text(content: Any) -> str | None:
    """The content of a message: a text, or parts of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _seconds(retry_after: str) -> float:
    """What an endpoint asks to wait, where it says that in seconds."""
    return float(retry_after) if retry_after.strip().isdecimal() else 0.0
