"""The MCP server itself, whatever it is reached over: it lists the tools, and it hands calls on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from mem import __version__
from mem.errors import MemError
from mem.server import tools
from mem.server.calls import Calls
from mem.server.instructions import INSTRUCTIONS

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

log = logging.getLogger(__name__)


def build(calls: Calls) -> Server[Any]:
    """A server of both protocol eras: the handshake up to 2025-11-25, and 2026-07-28 without one."""
    from mcp.server import Server
    from mcp_types import ListToolsResult

    async def list_tools(
        context: ServerRequestContext[Any], page: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tools.listing())

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        try:
            operation = tools.find_tool(params.name)
            arguments = operation.bind(params.arguments or {}, agent=True)
            return tools.success(await calls.run(operation, arguments, _client(context)))
        except MemError as err:
            return tools.failure(err)
        except Exception:
            # The border: whatever this is, the model gets one line that it can act on, the log gets the rest.
            log.exception("%s failed", params.name)
            return tools.failure(
                MemError(
                    f"{params.name} failed inside mem.",
                    hint="Try once more, then run `mem doctor`; the server's standard error has the details.",
                )
            )

    return Server(
        "mem",
        version=__version__,
        title="mem",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _client(context: ServerRequestContext[Any]) -> str | None:
    """The name that the client gave itself, at the handshake or with this request."""
    declared = context.session.client_params
    return declared.client_info.name if declared is not None else None
