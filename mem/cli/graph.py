"""The neighbourhood of an entity as a drawing: a tree for people, Mermaid or DOT for other programs."""

import re
from collections.abc import Iterator

from mem.cli.characters import one_line, visible
from mem.clock import local_day
from mem.results import EntityView
from mem.values import Entity, Relation


def tree(view: EntityView) -> str:
    """Each entity once, below the one that it was reached from; what leads back names it by its number."""
    lines = [_name(view.entity)]
    lines += _branches(view, view.entity, "", shown={view.entity.id}, drawn=set())
    return "\n".join(lines) + "\n"


def _branches(
    view: EntityView, entity: Entity, indent: str, *, shown: set[int], drawn: set[int]
) -> Iterator[str]:
    nodes = {node.id: node for node in view.nodes}
    own = [edge for edge in view.edges if entity.id in (edge.from_id, edge.to_id) and edge.id not in drawn]
    drawn.update(edge.id for edge in own)
    fresh = _reached(own, entity, shown)
    for place, edge in enumerate(own, start=1):
        last = place == len(own)
        other = nodes[_other(edge, entity)]
        arrow = f"{edge.type} →" if edge.from_id == entity.id else f"← {edge.type}"
        told = _name(other) if edge.id in fresh else f"#{other.id}"
        yield f"{indent}{'└── ' if last else '├── '}{visible(arrow)} {told}{_when(edge)}"
        if edge.id in fresh:
            deeper = indent + ("    " if last else "│   ")
            yield from _branches(view, other, deeper, shown=shown, drawn=drawn)


def _reached(edges: list[Relation], entity: Entity, shown: set[int]) -> set[int]:
    """The relations by which an entity is reached for the first time."""
    fresh = set()
    for edge in edges:
        other = _other(edge, entity)
        if other not in shown:
            shown.add(other)
            fresh.add(edge.id)
    return fresh


def _other(edge: Relation, entity: Entity) -> int:
    return edge.to_id if edge.from_id == entity.id else edge.from_id


def _name(entity: Entity) -> str:
    return visible(one_line(f"#{entity.id} {entity.name} ({entity.type})"))


def _when(edge: Relation) -> str:
    since = f" since {local_day(edge.valid_from)}" if edge.valid_from else ""
    until = f" until {local_day(edge.valid_to)}" if edge.valid_to else ""
    return since + until


def _weighed(edge: Relation) -> str:
    """The type, and the weight where it is not 1."""
    return edge.type if edge.weight == 1 else f"{edge.type} {edge.weight:g}"


def mermaid(view: EntityView) -> str:
    """The nodes and relations in the language of Mermaid."""
    lines = ["graph LR"]
    lines += [f"  e{node.id}[{_quoted(node.name)}]" for node in view.nodes]
    lines += [f"  e{edge.from_id} -->|{_quoted(_weighed(edge))}| e{edge.to_id}" for edge in view.edges]
    return "\n".join(lines) + "\n"


# What would end a label, or mean markup, a directive, a comment or a list in one.
_MEANING = re.compile(r"[#&\"'<>`%*\\\[\]{}|;]|(?<=\d)\.(?= )|^[-+]")


def _quoted(text: str) -> str:
    """A label in Mermaid: a character that has a meaning there by its number, `#35;`."""
    safe = _MEANING.sub(lambda found: f"#{ord(found[0])};", visible(one_line(text)))
    return f'"{safe}"'


def dot(view: EntityView) -> str:
    """The nodes and relations in DOT, the language of Graphviz."""
    lines = ["digraph memory {", "  rankdir=LR;"]
    lines += [f"  e{node.id} [label={_string(node.name, node.type)}];" for node in view.nodes]
    lines += [f"  e{edge.from_id} -> e{edge.to_id} [label={_string(_weighed(edge))}];" for edge in view.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _string(*lines: str) -> str:
    """A string in DOT, which has escapes for quotes, backslashes and line ends, and HTML's entities."""
    safe = (visible(one_line(line)).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(safe).replace("&", "&amp;") + '"'
