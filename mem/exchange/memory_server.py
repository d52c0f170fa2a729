"""The `memory.jsonl` of the MCP reference server: entities with observations, and relations, one a line.

The file has no ids and no dates: an entity is known by its name, an observation by its entity and its text,
a relation by its ends and its type.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mem.exchange.lines import numbered, parsed
from mem.exchange.sources import Format, Found, Reader, named_uid

_SOURCE = Format.MEMORY_SERVER
_ORIGIN = named_uid(_SOURCE, "store")
_KNOWN = {
    "entity": frozenset(("type", "name", "entityType", "observations")),
    "relation": frozenset(("type", "from", "to", "relationType")),
}


def _recognises(path: Path, head: bytes) -> bool:
    first = next((line for line in head.split(b"\n") if line.strip()), b"")
    return first.lstrip().startswith(b"{") and any(
        b'"type"' in first and f'"{name}"'.encode() in first and needed in first
        for name, needed in (("entity", b'"entityType"'), ("relation", b'"relationType"'))
    )


def _read(path: Path) -> Iterator[Found]:
    for number, line in numbered(path):
        try:
            item = parsed(line)
        except ValueError as err:
            yield Found(f"line {number}", None, f"It is no JSON: {err}.", number)
            continue
        yield from _records(item, number)


READER = Reader(_SOURCE, _recognises, _read)


def _records(item: Any, number: int) -> Iterator[Found]:
    place = f"line {number}"
    match item:
        case {"type": "entity", "name": str(name), "entityType": str(type_)} if name.strip():
            record = {
                "record": "entity",
                "uid": _entity(name),
                "origin": _ORIGIN,
                "name": name,
                "type": type_ or "thing",
                **_left(item),
            }
            yield Found(place, record, line=number)
            observations = item.get("observations") or []
            for text in observations if isinstance(observations, list) else []:
                yield _observation(name, text, number)
        case {"type": "relation", "from": str(from_), "to": str(to), "relationType": str(type_)}:
            yield Found(
                place,
                {
                    "record": "relation",
                    "uid": named_uid(_SOURCE, f"relation:{from_}\n{type_}\n{to}"),
                    "origin": _ORIGIN,
                    "from": _entity(from_),
                    "to": _entity(to),
                    "type": type_,
                    **_left(item),
                },
                line=number,
            )
        case _:
            yield Found(place, None, "It is neither an entity nor a relation of this format.", number)


def _observation(name: str, text: Any, number: int) -> Found:
    place = f"line {number}, an observation"
    if not isinstance(text, str) or not text.strip():
        return Found(place, None, f"An observation of '{name}' is no text.", number)
    record = {
        "record": "memory",
        "uid": named_uid(_SOURCE, f"observation:{name}\n{text}"),
        "origin": _ORIGIN,
        "kind": "observation",
        "entity": _entity(name),
        "content": text,
        "source": str(_SOURCE),
    }
    return Found(place, record, line=number)


def _entity(name: str) -> str:
    return named_uid(_SOURCE, f"entity:{name}")


def _left(item: dict[str, Any]) -> dict[str, Any]:
    """What the format does not know, kept in extra."""
    unknown = {key: value for key, value in item.items() if key not in _KNOWN[item["type"]]}
    return {"extra": {str(_SOURCE): unknown}} if unknown else {}
