"""Between standard input and output and the SDK's server: no request is left without an answer.

The SDK gives up what is still running when the input ends, and passes over a line that is no message. Here
the end waits a moment for the answers that are due, and an unreadable request is answered with an error:
under its id, or under null where there is none to be read.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCError

LONGEST_WAIT = 1.2  # seconds after the end of the input; a client expects the process to be gone within two
_OF_THE_WHOLE = ("missing", "model_type")  # kinds of pydantic's faults


class Due:
    """The requests that have been read and not been answered yet, by id."""

    def __init__(self) -> None:
        from anyio import Event

        self._ids: set[int | str] = set()
        self._fewer = Event()

    def read(self, message: Any) -> None:
        """Note a request; one that its client cancels gets no answer."""
        from mcp_types import JSONRPCNotification, JSONRPCRequest

        match message:
            case JSONRPCRequest():
                self._ids.add(message.id)
            case JSONRPCNotification(method="notifications/cancelled"):
                self._drop((message.params or {}).get("requestId"))

    def answered(self, message: Any) -> None:
        """Note that an answer is on its way."""
        from mcp_types import JSONRPCError, JSONRPCResponse

        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._drop(message.id)

    async def settled(self) -> None:
        """Wait until nothing is due."""
        from anyio import Event

        while self._ids:
            self._fewer = Event()
            await self._fewer.wait()

    def _drop(self, request: Any) -> None:
        if isinstance(request, int | str):
            self._ids.discard(request)
            self._fewer.set()


@asynccontextmanager
async def patient(
    source: ReadStream[SessionMessage | Exception], sink: WriteStream[SessionMessage]
) -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
]:
    """The two streams for the server, which leave no request unanswered that was read before the end."""
    import anyio
    from mcp.shared.message import SessionMessage

    requests, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, answers = anyio.create_memory_object_stream[SessionMessage]()
    due = Due()

    async def read() -> None:
        async with requests:
            async for item in source:
                if isinstance(item, Exception):
                    if (refusal := _refusal(item)) is not None:
                        await sink.send(SessionMessage(refusal))
                    continue
                due.read(item.message)
                await requests.send(item)
            with anyio.move_on_after(LONGEST_WAIT):
                await due.settled()

    async def write() -> None:
        async with answers, sink:
            async for item in answers:
                await sink.send(item)
                due.answered(item.message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield incoming, outgoing


def _refusal(error: Exception) -> JSONRPCError | None:
    """The answer to a line that is no message; none if what it was meant to be gets no answer either."""
    from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return None
    faults = error.errors(include_url=False, include_context=False)
    if faults[0]["type"] == "json_invalid":
        line = faults[0]["input"]
        if not line.strip():
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, PARSE_ERROR, "it is not JSON")
        # What Python's parser takes and the SDK's does not is `\ud800`: a character cut in two.
        code, fault = INVALID_REQUEST, "it holds half a character"
    else:
        # Only a fault of the message itself, not one of a member, has the whole of it as its input.
        whole = [one["input"] for one in faults if one["type"] in _OF_THE_WHOLE and len(one["loc"]) <= 2]
        if not whole:
            return None  # it lacks neither a result nor an error, so it was to be an answer
        message = whole[0]
        code, fault = INVALID_REQUEST, "it is not a JSON-RPC request"
        if all(one["loc"][1:2] == ("params",) for one in faults if one["loc"][0] == "JSONRPCRequest"):
            code, fault = INVALID_PARAMS, "its params are not an object"
    return None if _needs_no_answer(message) else _error(_request_id(message), code, fault)


def _error(request: int | str | None, code: int, fault: str) -> JSONRPCError:
    from mcp_types import ErrorData, JSONRPCError

    data = ErrorData(code=code, message=f"This request cannot be read: {fault}.")
    return JSONRPCError(jsonrpc="2.0", id=request, error=data)


def _needs_no_answer(message: Any) -> bool:
    """Whether this was to be a notification, or is itself an answer: one to it could go on for ever."""
    if not isinstance(message, dict):
        return False
    if "method" not in message:
        return "result" in message or "error" in message
    return "id" not in message and isinstance(message["method"], str)


def _request_id(message: Any) -> int | str | None:
    """The id of what was to be a request, if it can be sent back: no half characters, no true or false."""
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, str):
        return found if found.encode(errors="ignore").decode() == found else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None
