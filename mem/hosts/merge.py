"""Our hooks in the text of a settings file: put in, found, and taken out again.

Promises: putting in only ever adds text, so that a `Trace` of where it stands is enough to take it out to the
byte. Where the text has changed since, or no trace was kept, our hooks are found by their command and taken
out one by one; what else stands there stays, comments too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mem.hosts import jsonc
from mem.hosts.descriptions import Description, Shape, command
from mem.hosts.jsonc import Edit, Item, Malformed, Value

HOOKS = "hooks"


@dataclass(frozen=True, slots=True)
class Trace:
    """What was added to a text: stretches of it, each by its start and length, and members by their path."""

    stretches: tuple[tuple[int, int], ...]
    members: frozenset[str]

    def undone(self, text: str) -> str:
        """The text as it was, if it has not changed since."""
        return jsonc.applied(text, [Edit(start, start + length, "") for start, length in self.stretches])


@dataclass(frozen=True, slots=True)
class Found:
    """A hook of ours in a text: for which event, and as what."""

    event: str
    hook: dict[str, Any]


def find(text: str, shape: Shape) -> list[Found]:
    """The hooks of ours in a text, in its order; raises `Malformed`."""
    if jsonc.blank(text):
        return []
    return [
        Found(str(event.key), hook.plain)
        for event in _events(jsonc.parse(text))
        for entry in event.value.items
        for hook in _hooks(entry, shape)
        if command(hook.plain)
    ]


def complete(text: str, host: Description, entries: Mapping[str, Any]) -> bool:
    """Whether the text has exactly these hooks of ours already; raises `Malformed`."""
    wanted = [Found(event, hook_of(entry)) for event, entry in entries.items()]
    found = find(text, host.shape)
    if len(found) != len(wanted) or not all(one in found for one in wanted):
        return False
    root = jsonc.parse(text)
    return all(root.member(name) is not None for name, _ in host.members)


def hook_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The hook in an entry of an event's list: the entry itself, or the only one of its group."""
    hook = entry[HOOKS][0] if HOOKS in entry else entry
    return dict(hook)


def put_in(text: str, host: Description, entries: Mapping[str, Any]) -> tuple[str, Trace]:
    """The text with an entry more for each event, and the trace of that; raises `Malformed`."""
    whole = (HOOKS, {event: [entry] for event, entry in entries.items()})
    paths = {HOOKS, *(f"{HOOKS}.{event}" for event in entries)}
    if jsonc.blank(text):
        edits = [jsonc.begun(text, dict([*host.members, whole]))]
        return jsonc.applied(text, edits), _trace(edits, {*paths, *dict(host.members)})
    root = jsonc.parse(text)
    if not isinstance(root.plain, dict):
        raise Malformed(text, root.start, "the settings are not an object")
    missing = [(name, value) for name, value in host.members if root.member(name) is None]
    added = {name for name, _ in missing}
    hooks = root.member(HOOKS)
    edits = []
    if hooks is None:
        missing.append(whole)
        added |= paths
    else:
        edits, new = _into(text, root, hooks, entries)
        added |= {f"{HOOKS}.{event}" for event in new}
    if missing:
        edits = [*jsonc.appended(text, root, root, missing), *edits]
    return jsonc.applied(text, edits), _trace(edits, added)


def take_out(text: str, shape: Shape, added: frozenset[str] | None) -> str:
    """The text without our hooks, and without members that are empty then.

    `added` are the members to take out so, by their path; None: all that held nothing but ours. Raises
    `Malformed`.
    """
    while not jsonc.blank(text):
        edits = _next_removal(text, shape, added)
        if edits is None:
            break
        text = jsonc.applied(text, edits)
    return text


def _into(text: str, root: Value, hooks: Value, entries: Mapping[str, Any]) -> tuple[list[Edit], list[str]]:
    """The insertions into the hooks that are there, and the events that are new."""
    if not isinstance(hooks.plain, dict):
        raise Malformed(text, hooks.start, f'"{HOOKS}" is not an object')
    edits: list[Edit] = []
    new: list[tuple[str | None, Any]] = []
    for event, entry in entries.items():
        there = hooks.member(event)
        if there is None:
            new.append((event, [entry]))
        elif isinstance(there.plain, list):
            edits += jsonc.appended(text, root, there, [(None, entry)])
        else:
            raise Malformed(text, there.start, f'"{event}" is not an array')
    if new:
        edits += jsonc.appended(text, root, hooks, new)
    return edits, [str(event) for event, _ in new]


def _trace(edits: list[Edit], members: set[str]) -> Trace:
    stretches, shift = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        stretches.append((edit.start + shift, len(edit.text)))
        shift += len(edit.text)
    return Trace(tuple(stretches), frozenset(members))


def _next_removal(text: str, shape: Shape, added: frozenset[str] | None) -> list[Edit] | None:
    """The edits that take out the first of the outermost things that go; None when nothing is left."""
    root = jsonc.parse(text)
    for index, member in enumerate(root.items):
        if member.key != HOOKS:
            continue
        if _goes(text, member, HOOKS, shape, added):
            return jsonc.removed(text, root, index)
        for place, event in enumerate(member.value.items):
            if _goes(text, event, f"{HOOKS}.{event.key}", shape, added):
                return jsonc.removed(text, member.value, place)
            for container, number in _entries_to_go(text, event.value, shape):
                return jsonc.removed(text, container, number)
    if not any(event.value.items for event in _events(root)):
        for index, member in enumerate(root.items):
            if member.key != HOOKS and added is not None and member.key in added:
                return jsonc.removed(text, root, index)
    return None


def _goes(text: str, member: Item, path: str, shape: Shape, added: frozenset[str] | None) -> bool:
    """Whether a member held only what goes: not a comment, and it is not the user's own when it is empty."""
    if not member.value.items or (added is not None and path not in added) or jsonc.commented(text, member):
        return False
    if path == HOOKS:
        events = member.value.items
        return all(_goes(text, event, f"{HOOKS}.{event.key}", shape, added) for event in events)
    return all(_is_ours(text, entry, shape) for entry in member.value.items)


def _entries_to_go(text: str, event: Value, shape: Shape) -> Iterator[tuple[Value, int]]:
    """Entries of an event, and hooks in its groups, that are ours: their container, and their place in it."""
    for index, entry in enumerate(event.items):
        if _is_ours(text, entry, shape):
            yield event, index
        elif shape is not Shape.FLAT and (group := _group(entry)) is not None:
            for number, hook in enumerate(group.value.items):
                if command(hook.value.plain):
                    yield group.value, number


def _is_ours(text: str, entry: Item, shape: Shape) -> bool:
    """Whether an entry of an event is a hook of ours, or a group that holds such and not even a comment."""
    if shape is Shape.FLAT:
        return command(entry.value.plain) is not None
    group = _group(entry)
    if group is None or jsonc.commented(text, entry) or jsonc.commented(text, group):
        return False
    hooks = group.value.items
    return bool(hooks) and all(command(hook.value.plain) for hook in hooks)


def _group(entry: Item) -> Item | None:
    """The member of a group that holds its hooks."""
    return next((member for member in reversed(entry.value.items) if member.key == HOOKS), None)


def _hooks(entry: Item, shape: Shape) -> Iterator[Value]:
    """The hooks in an entry of an event: itself, or those of its group."""
    if shape is Shape.FLAT:
        yield entry.value
    elif (group := _group(entry)) is not None:
        yield from (item.value for item in group.value.items)


def _events(root: Value) -> Iterator[Item]:
    for member in root.items:
        if member.key == HOOKS:
            yield from member.value.items
