"""The neighbourhood of an entity as a tree, as Mermaid and as DOT, whatever things are called."""

import re
from collections.abc import Callable

import pytest
from conftest import Ran

from mem.cli import graph
from mem.service import Service

Run = Callable[..., Ran]

HOSTILE = (
    'say "hi"',
    "back\\slash\\",
    "]] --> e9[[x",
    "%%{init: {}}%%",
    "#quot; &amp; <b>&</b>",
    "`code` *bold* 1. item",
    "end",
    "a | b ; c }",
    "名前 نام",
    "[red]markup[/red]",
)


@pytest.fixture
def office(memory: Service) -> Service:
    """Ana maintains the API, which calls the shop and itself; the shop employs Ana and belongs to Kiel."""
    for name, type_ in (("Ana", "person"), ("API", "service"), ("shop", "service"), ("Kiel", "place")):
        memory.entity_set(name, type=type_)
    memory.relate("Ana", "maintains", "API", valid_from="2026-05-01T12:00:00Z")
    memory.relate("API", "calls", "shop", weight=0.5)
    memory.relate("API", "calls", "API")
    memory.relate("shop", "employs", "Ana")
    memory.relate("shop", "located_in", "Kiel", valid_to="2099-01-01T12:00:00Z")
    return memory


TREES = {
    1: """\
#1 Ana (person)
├── maintains → #2 API (service) since 2026-05-01
└── ← employs #3 shop (service)
""",
    2: """\
#1 Ana (person)
├── maintains → #2 API (service) since 2026-05-01
│   ├── calls → #3
│   └── calls → #2
└── ← employs #3 shop (service)
    └── located_in → #4 Kiel (place) until 2099-01-01
""",
}


@pytest.mark.parametrize(("depth", "drawn"), [(1, TREES[1]), (2, TREES[2]), (3, TREES[2])])
def test_a_tree_shows_each_entity_and_each_relation_once(office: Service, depth: int, drawn: str) -> None:
    assert graph.tree(office.entity("Ana", depth=depth)) == drawn


def test_an_entity_alone_is_a_tree_of_one_line(memory: Service) -> None:
    memory.entity_set("Ana")
    view = memory.entity("Ana", depth=3)
    assert graph.tree(view) == "#1 Ana (thing)\n"
    assert graph.mermaid(view) == 'graph LR\n  e1["Ana"]\n'
    assert read_dot(graph.dot(view)) == ({"e1": "Ana\nthing"}, [])


def test_mermaid_draws_each_node_and_each_relation(office: Service) -> None:
    assert graph.mermaid(office.entity("Ana", depth=2)).splitlines() == [
        "graph LR",
        '  e1["Ana"]',
        '  e2["API"]',
        '  e3["shop"]',
        '  e4["Kiel"]',
        '  e1 -->|"maintains"| e2',
        '  e2 -->|"calls 0.5"| e3',
        '  e2 -->|"calls"| e2',
        '  e3 -->|"employs"| e1',
        '  e3 -->|"located_in"| e4',
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_its_label_in_mermaid(memory: Service, name: str) -> None:
    memory.entity_set(name)
    memory.relate(name, 'is "it"', name)
    lines = graph.mermaid(memory.entity("1")).splitlines()
    node, edge = lines[1:]
    label = re.fullmatch(r'  e1\["([^"<>`%&{}\[\]|\\]*)"\]', node)
    assert label is not None, node
    # What is written by number stands for the name again.
    assert re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label[1]) == name
    assert re.fullmatch(r'  e1 -->\|"[^"|]*"\| e1', edge), edge


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_its_label_in_dot(memory: Service, name: str) -> None:
    memory.entity_set(name, type="person")
    memory.relate(name, 'is "it"', name)
    nodes, edges = read_dot(graph.dot(memory.entity("1")))
    assert nodes == {"e1": f"{name}\nperson"}
    assert edges == [("e1", "e1", 'is_"it"')]


_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_NODE = re.compile(rf"  (e\d+) \[label={_QUOTED}\];")
_EDGE = re.compile(rf"  (e\d+) -> (e\d+) \[label={_QUOTED}\];")


def read_dot(text: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The labels of the nodes, and the edges with theirs; anything else in the drawing is a failure."""
    first, second, *middle, last = text.splitlines()
    assert (first, second, last) == ("digraph memory {", "  rankdir=LR;", "}")
    nodes, edges = {}, []
    for line in middle:
        if node := _NODE.fullmatch(line):
            nodes[node[1]] = _meant(node[2])
        else:
            edge = _EDGE.fullmatch(line)
            assert edge is not None, line
            assert {edge[1], edge[2]} <= set(nodes)
            edges.append((edge[1], edge[2], _meant(edge[3])))
    return nodes, edges


def _meant(label: str) -> str:
    unescaped = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label)
    return unescaped.replace("&amp;", "&")


def test_drawings_from_the_command_line(run_mem: Run) -> None:
    for name in ("Ana", "API"):
        assert run_mem("observe", name, "is here").code == 0
    assert run_mem("relate", "Ana", "maintains", "API").code == 0
    assert run_mem("entity", "Ana", "--graph").out == "#1 Ana (thing)\n└── maintains → #2 API (thing)\n"
    assert run_mem("entity", "Ana", "--format", "mermaid").out.startswith("graph LR\n")
    drawn = run_mem("entity", "Ana", "--format", "DOT")
    assert (drawn.code, read_dot(drawn.out)[1]) == (0, [("e1", "e2", "maintains")])
    for wrong in (("--format", "svg"), ("--depth", "0"), ("--depth", "4")):
        ran = run_mem("entity", "Ana", *wrong)
        assert (ran.code, ran.stdout, wrong[1] in ran.err) == (2, b"", True), wrong


def test_markup_in_a_name_is_no_markup_on_a_terminal(
    run_mem: Run, on_terminal: Callable[..., tuple[int, str]]
) -> None:
    assert run_mem("observe", "[red]Ana[/red]", "is here").code == 0
    code, seen = on_terminal("entity", "[red]Ana[/red]", "--graph")
    assert (code, "#1 [red]Ana[/red] (thing)" in seen) == (0, True)
