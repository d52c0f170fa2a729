"""JSON with comments: read as JSON is, and edited without a byte changed beside the edit."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.hosts import jsonc, merge
from mem.hosts.descriptions import DESCRIPTIONS, Description, command
from mem.hosts.host import Host
from mem.hosts.jsonc import Malformed

few = settings(max_examples=40, deadline=None)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
    st.sampled_from(["//", "/*", "*/", "},", '"', "\\", "\u2028", "日本", "\ud800"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
SPACE = st.sampled_from(["", "", " ", "\n", "\r\n", "\t", "\n    "])
TRIVIA = st.lists(
    st.one_of(SPACE, st.sampled_from(["// a\n", "/* b */", '/* "k": [1,}, */', '// "hooks": {\r\n', "//\n"])),
    max_size=3,
).map("".join)
COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\r\n]*|/\*.*?\*/)', re.DOTALL)

each_host = pytest.mark.parametrize("host", list(Host))
OLD = "/opt/old/bin/mem"


def comments(text: str) -> list[str]:
    return [found.group(1) for found in COMMENT.finditer(text) if found.group(1)]


def same(one: Any, other: Any) -> bool:
    """Equal, and in the same order."""
    return json.dumps(one) == json.dumps(other)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A text that means the value, with space, comments and trailing commas wherever they may be."""
    if not isinstance(value, dict | list) or command(value):
        return json.dumps(value, ensure_ascii=draw(st.booleans()) or "\ud800" in str(value))
    parts = []
    for key in value:
        inner = draw(written(value[key] if isinstance(value, dict) else key))
        if isinstance(value, dict):
            inner = f"{json.dumps(key)}{draw(TRIVIA)}:{draw(TRIVIA)}{inner}"
        parts.append(f"{draw(TRIVIA)}{inner}{draw(TRIVIA)}")
    body = ",".join(parts) + ("," if parts and draw(st.booleans()) else "") + draw(TRIVIA)
    return f"{{{body}}}" if isinstance(value, dict) else f"[{body}]"


@st.composite
def documents(draw: st.DrawFn, value: Any) -> str:
    mark = draw(st.sampled_from(["", jsonc.MARK]))
    return mark + draw(TRIVIA) + draw(written(value)) + draw(TRIVIA)


def entry_of(about: Description, event: str, program: str) -> dict[str, Any]:
    entry = about.entries((program,))[event]
    assert isinstance(entry, dict)
    return entry


@st.composite
def hosts_settings(draw: st.DrawFn, host: Host, *, ours: bool) -> dict[str, Any]:
    """Settings as they may be: foreign members, foreign hooks, events with nothing, and old hooks of ours."""
    about = DESCRIPTIONS[host]
    foreign_hook = st.sampled_from(
        [
            {"type": "command", "command": "echo mem"},
            {"command": "lint --hook", "timeout": 1},
            {"type": "prompt", "prompt": "mem context --hook"},
        ]
    )
    kinds = [foreign_hook, SCALARS]
    if ours:
        kinds.append(st.sampled_from(list(about.events)).map(lambda event: entry_of(about, event, OLD)))
    if about.members == ():  # the hosts with groups
        group = st.fixed_dictionaries(
            {"hooks": st.lists(foreign_hook, max_size=2)}, optional={"matcher": st.just("x")}
        )
        kinds.append(group)
        if ours:
            old = merge.hook_of(entry_of(about, next(iter(about.events)), OLD))
            kinds.append(
                st.lists(foreign_hook | st.just(old), max_size=3).map(lambda hooks: {"hooks": hooks})
            )
    events = st.sampled_from([*about.events, "Stop"])
    found = draw(st.dictionaries(st.text(max_size=3), VALUES, max_size=2))
    if draw(st.booleans()):
        found["hooks"] = draw(st.dictionaries(events, st.lists(st.one_of(kinds), max_size=3), max_size=4))
    if about.members and draw(st.booleans()):
        found["version"] = 1
    return dict(draw(st.permutations(list(found.items()))))


@few
@given(st.data(), VALUES)
def test_a_document_means_what_was_written(data: st.DataObject, value: Any) -> None:
    assert same(jsonc.parse(data.draw(documents(value))).plain, value)


@few
@given(st.data(), VALUES)
def test_what_json_refuses_is_refused_and_what_it_takes_is_taken(data: st.DataObject, value: Any) -> None:
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 1])))
    at, lost = data.draw(st.integers(0, len(text))), data.draw(st.sampled_from([0, 1]))
    text = text[:at] + data.draw(st.sampled_from([*'{}[],:"0-.eEn\\', ""])) + text[at + lost :]
    try:
        expected = json.loads(text)
    except ValueError:
        if not re.search(r",\s*[}\]]|//|/\*", text):
            with pytest.raises(Malformed):
                jsonc.parse(text)
    else:
        assert same(jsonc.parse(text).plain, expected)


def merged(plain: dict[str, Any], about: Description, entries: dict[str, Any]) -> dict[str, Any]:
    """The settings with our hooks, as a program would do it that cares for nothing but the meaning."""
    result = json.loads(json.dumps(plain))
    for name, value in about.members:
        result.setdefault(name, value)
    hooks = result.setdefault("hooks", {})
    for event, entry in entries.items():
        hooks.setdefault(event, []).append(entry)
    return dict(result)


def without_ours(plain: dict[str, Any], about: Description) -> dict[str, Any]:
    """The settings without hooks of ours, and without groups that held nothing else."""
    result = json.loads(json.dumps(plain))
    for event, entries in result.get("hooks", {}).items():
        left = []
        for entry in entries:
            group = isinstance(entry, dict) and "hooks" in entry and not about.members
            hooks = entry["hooks"] if group else [] if not about.members else [entry]
            kept = [hook for hook in hooks if not command(hook)]
            if group:
                entry["hooks"] = kept
            if kept or not hooks:
                left.append(entry)
        result["hooks"][event] = left
    return dict(result)


def without_nothing(plain: dict[str, Any]) -> dict[str, Any]:
    """The settings without groups, events and hooks in which nothing is."""
    result = dict(plain)
    hooks = {}
    for event, entries in result.pop("hooks", {}).items():
        if left := [entry for entry in entries if not isinstance(entry, dict) or entry.get("hooks") != []]:
            hooks[event] = left
    return {**result, "hooks": hooks} if hooks else result


@each_host
@few
@given(st.data())
def test_putting_hooks_in_means_the_merge_and_taking_them_out_is_the_identity(
    host: Host, data: st.DataObject
) -> None:
    about = DESCRIPTIONS[host]
    plain = data.draw(hosts_settings(host, ours=False))
    text = data.draw(documents(plain))
    entries = about.entries(("/usr/bin/mem",))
    changed, trace = merge.put_in(text, about, entries)
    assert same(jsonc.parse(changed).plain, merged(plain, about, entries))
    assert merge.complete(changed, about, entries)
    assert comments(changed) == comments(text)
    assert trace.undone(changed) == text
    # The same without the offsets, as after a change by somebody else.
    left = merge.take_out(changed, about.shape, trace.members)
    if about.members and any(plain.get("hooks", {}).values()):
        plain = {**plain, **{name: plain.get(name, value) for name, value in about.members}}
    assert same(jsonc.parse(left).plain, plain)
    assert comments(left) == comments(text)


@each_host
@few
@given(st.data())
def test_old_hooks_of_ours_go_wherever_they_stand_and_nothing_else_does(
    host: Host, data: st.DataObject
) -> None:
    about = DESCRIPTIONS[host]
    plain = data.draw(hosts_settings(host, ours=True))
    text = data.draw(documents(plain))
    for added in (None, frozenset[str]()):
        left = merge.take_out(text, about.shape, added)
        found, expected = jsonc.parse(left).plain, without_ours(plain, about)
        if added is None or comments(text):  # a group with a comment in it stays
            found, expected = without_nothing(found), without_nothing(expected)
        assert found == expected
        assert merge.find(left, about.shape) == []
        assert comments(left) == comments(text)


@pytest.mark.parametrize(
    ("text", "index", "left"),
    [
        ('["x"]', 0, "[]"),
        ("[\n  1,\n  2\n]", 0, "[\n  2\n]"),
        ("[\n  1,\n  2\n]", 1, "[\n  1\n]"),
        ("[\n  1,\n  2,\n]", 1, "[\n  1,\n]"),
        ("[1, 2, 3]", 0, "[2, 3]"),
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[ 1, ]", 0, "[]"),
        ("[\n  // of 1\n  1, // behind\n  2\n]", 0, "[\n  // of 1\n   // behind\n  2\n]"),
        ("[ // a\n 1, 2]", 0, "[ // a\n  2]"),
        ("[1, // a\n 2]", 1, "[1 // a\n ]"),
        ("[1 /* a */, 2 /* b */, 3]", 1, "[1 /* a */, /* b */ 3]"),
        ("[/* a */ 1 /* b */]", 0, "[/* a */ /* b */]"),
        ("[1 /* b */,]", 0, "[/* b */]"),
    ],
)
def test_an_item_goes_with_its_comma_and_its_line(text: str, index: int, left: str) -> None:
    edits = jsonc.removed(text, jsonc.parse(text), index)
    assert jsonc.applied(text, edits) == left


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("{}", '{\n  "k": 1\n}'),
        ("{\n}\n", '{\n  "k": 1\n}\n'),
        ('{"a": 0}', '{"a": 0, "k": 1}'),
        ('{"a": 0,}', '{"a": 0, "k": 1}'),
        ('{\r\n\t"a": 0\r\n}', '{\r\n\t"a": 0,\r\n\t"k": 1\r\n}'),
        ('{\n    "a": 0, // last\n}', '{\n    "a": 0, // last\n    "k": 1\n}'),
        ('{\n "a": 0 // last\n // commented out\n}', '{\n "a": 0, // last\n // commented out\n "k": 1\n}'),
        ("\ufeff{ /* c */ }", '\ufeff{ /* c */ \n  "k": 1\n}'),
    ],
)
def test_what_is_added_follows_the_file(text: str, more: str) -> None:
    root = jsonc.parse(text)
    assert jsonc.applied(text, jsonc.appended(text, root, root, [("k", 1)])) == more


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("", '{\n  "k": 1\n}\n'),
        ("\ufeff", '\ufeff{\n  "k": 1\n}\n'),
        ("// c", '// c\n{\n  "k": 1\n}\n'),
        ("/* c */ ", '/* c */ \n{\n  "k": 1\n}\n'),
        ("// c\r\n", '// c\r\n{\r\n  "k": 1\r\n}\r\n'),
    ],
)
def test_a_document_begins_behind_the_comments(text: str, more: str) -> None:
    assert jsonc.blank(text)
    assert jsonc.applied(text, [jsonc.begun(text, {"k": 1})]) == more
    assert not jsonc.blank(more)


def test_a_comment_without_an_end_is_refused_where_there_is_nothing_else() -> None:
    with pytest.raises(Malformed, match="a comment has no end"):
        jsonc.blank("// c\n/* d")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"hooks": {"sessionEnd": [ // theirs\nOURS\n]}}', '{"hooks": {"sessionEnd": [ // theirs\n]}}'),
        ('{"hooks": {"sessionEnd": /* theirs */ [OURS]}}', '{"hooks": {"sessionEnd": /* theirs */ []}}'),
        ('{"hooks": {/* theirs */ "sessionEnd": [OURS]}}', '{"hooks": {/* theirs */}}'),
        ('{"hooks": {"sessionEnd": [OURS]} /* theirs */}', "{ /* theirs */}"),
    ],
)
def test_a_member_with_a_comment_of_somebody_else_stays(text: str, left: str) -> None:
    ours = '{"command": "/opt/mem context --hook"}'
    assert merge.take_out(text.replace("OURS", ours), DESCRIPTIONS[Host.CURSOR].shape, None) == left


def test_of_a_key_that_is_there_twice_the_last_counts() -> None:
    about = DESCRIPTIONS[Host.CURSOR]
    text = '{"version": 1, "hooks": 5, "hooks": {"sessionEnd": []}}'
    changed, _ = merge.put_in(text, about, {"sessionEnd": {"command": "mem context --hook"}})
    assert changed == text.replace("[]", '[{"command": "mem context --hook"}]')


@pytest.mark.parametrize(
    ("text", "line", "column", "told"),
    [
        ('{\n  "a": tru\n}', 2, 8, "not JSON"),
        ('{"a": 1\r\n "b": 2}', 2, 2, "a comma or } is missing"),
        ("[1 2]", 1, 4, "a comma or ] is missing"),
        ("{'a': 1}", 1, 2, "a key in double quotes"),
        ("{,}", 1, 2, "a key in double quotes"),
        ("[,]", 1, 2, "a value is missing"),
        ('{"a" 1}', 1, 6, "a colon is missing"),
        ('\ufeff{"a": 1', 1, 8, "a comma or } is missing"),
        ("{} {}", 1, 4, "something follows"),
        ("{} /* no end", 1, 4, "a comment has no end"),
        ("// nothing else", 1, 16, "a value is missing"),
        ("[NaN]", 1, 2, "a value is missing"),
        ("[-Infinity]", 1, 2, "not a JSON number"),
        ('["a\nb"]', 1, 4, "not JSON"),
        ("[01]", 1, 3, "a comma or ] is missing"),
        ("[" * 1_000, 1, 202, "more than 200"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, line: int, column: int, told: str) -> None:
    with pytest.raises(Malformed) as caught:
        jsonc.parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert told in str(caught.value)


def test_a_number_of_any_length_is_read() -> None:
    assert len(jsonc.parse("[" + "9" * 10_000 + ", 1e999]").items) == 2
