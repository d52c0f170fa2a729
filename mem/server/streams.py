"""Between standard input and output and the SDK's server: no request is left without an answer.

The SDK gives up what is still running when the input ends, and passes over a line that it cannot parse. Here
the end waits a moment for the answers that are due, and an unreadable request is answered with an error.
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

LONGEST_WAIT = 1.2  # seconds after the end of the input; a client expects the process to be gone within two


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

    requests, incoming = anyio.create_memory_object_stream["SessionMessage | Exception"]()
    outgoing, answers = anyio.create_memory_object_stream["SessionMessage"]()
    due = Due()

    async def read() -> None:
        async with requests:
            async for item in source:
                if isinstance(item, Exception):
                    await _refuse(item, sink)
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


async def _refuse(error: Exception, sink: WriteStream[SessionMessage]) -> None:
    """Answer a line that is no message, where it can be told which request it was meant to be."""
    from mcp.shared.message import SessionMessage
    from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return
    line = error.errors(include_url=False, include_context=False)[0]["input"]
    request = _request_id(line)
    if request is None:
        return
    # What Python's parser takes and the SDK's does not is `\ud800`: a character cut in two.
    fault = "it holds half a character" if isinstance(line, str) else "it is not a JSON-RPC request"
    data = ErrorData(code=INVALID_REQUEST, message=f"This request cannot be read: {fault}.")
    await sink.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=request, error=data)))


def _request_id(line: Any) -> int | str | None:
    """The id of a request in a text that is JSON but for broken characters."""
    try:
        parsed = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return None
    found = parsed.get("id") if isinstance(parsed, dict) and "method" in parsed else None
    return found if isinstance(found, int | str) else None
