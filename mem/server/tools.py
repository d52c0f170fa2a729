"""What `mem` offers over MCP. These are promises to clients; `tests/test_mcp_parity.py` holds them.

- A tool is named exactly as its command, an argument as the option with `_` for `-`; types, bounds, choices,
  defaults and descriptions are those of the operation. What only people may do is not offered, nor what
  belongs to a shell.
- Unknown arguments are refused by name. A list may also come as the JSON text of a list, a number or a flag
  as text.
- An answer is the document that `--json` prints: as structured content, and as compact JSON in the one text
  block for clients that read only text. A refused store is an answer. There is no output schema: the document
  has its own `schema_version` and only ever gains fields, and clients check errors against such a schema too.
- A call without a result has `isError`, a text that says what is wrong and what to do, and the error
  document.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from mem.document import encode, error_document
from mem.errors import MemError, Usage
from mem.operations import Operation, Parameter, Shape, find_operation, operations

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

BATCH = "-batch"


@cache
def offered() -> dict[str, Operation]:
    """The operations that an agent may call, by name."""
    import mem.service  # noqa: F401  (its methods fill the registry)

    return {entry.name: entry for entry in operations() if not (entry.people or entry.command_line_only)}


def find_tool(name: str) -> Operation:
    """The operation of that tool; raises `Usage` naming all tools."""
    if name not in offered():
        raise Usage(f"There is no tool '{name}'.", hint=f"The tools are: {', '.join(offered())}.")
    return offered()[name]


@cache
def listing() -> list[Tool]:
    """Every tool as a client sees it."""
    return [_tool(operation) for operation in offered().values()]


def input_schema(operation: Operation) -> dict[str, Any]:
    """The arguments that an agent may give, as JSON Schema (draft 2020-12)."""
    parameters = _parameters(operation)
    return {
        "type": "object",
        "properties": {parameter.argument: _property(operation, parameter) for parameter in parameters},
        "required": [parameter.argument for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }


def success(document: dict[str, Any]) -> CallToolResult:
    """The answer that a document is, structured and as text."""
    return _result(document, encode(document).decode().rstrip("\n"), is_error=False)


def failure(error: MemError) -> CallToolResult:
    """A call without a result: what is wrong, then what to do."""
    told = error_document(error)
    said = told["error"]
    return _result(told, f"{said['message']} {said['hint']}".rstrip(), is_error=True)


def _tool(operation: Operation) -> Tool:
    from mcp_types import Tool, ToolAnnotations

    title = operation.name.replace("-", " ").capitalize()
    return Tool(
        name=operation.name,
        title=title,
        description=operation.description,
        input_schema=input_schema(operation),
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=not operation.writes,
            destructive_hint=operation.destructive,
            idempotent_hint=operation.idempotent,
            open_world_hint=False,
        ),
    )


def _result(document: dict[str, Any], text: str, *, is_error: bool) -> CallToolResult:
    from mcp_types import CallToolResult, TextContent

    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=document, is_error=is_error
    )


def _parameters(operation: Operation) -> list[Parameter]:
    return [parameter for parameter in operation.parameters if not parameter.doc.people]


def _property(operation: Operation, parameter: Parameter) -> dict[str, Any]:
    item = _batch_item(operation) if parameter.shape is Shape.RECORD else _value(parameter)
    schema: dict[str, Any] = {"type": "array", "items": item} if parameter.repeated else item
    if parameter.repeated and parameter.required:
        schema["minItems"] = 1
    schema["description"] = parameter.doc.text
    if not parameter.required and parameter.default is not None:
        schema["default"] = list(parameter.default) if parameter.repeated else parameter.default
    return schema


def _value(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": str(parameter.shape)}
    if parameter.choices is not None:
        reserved = parameter.doc.reserved
        schema["enum"] = [str(choice) for choice in parameter.choices if choice not in reserved]
    for keyword, bound in (("minimum", parameter.doc.minimum), ("maximum", parameter.doc.maximum)):
        if bound is not None:
            schema[keyword] = bound
    return schema


def _batch_item(batch: Operation) -> dict[str, Any]:
    """One object of a batch: the arguments of the operation that it repeats, which describes them itself."""
    schema = input_schema(find_operation(batch.name.removesuffix(BATCH)))
    for described in schema["properties"].values():
        del described["description"]
    return schema
