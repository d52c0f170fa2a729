"""Every `mem …` that a hint, a help text, a description or a page names exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mem.cli import front_end

ROOT = Path(__file__).parent.parent
# As it is written where it is meant to be typed: in backquotes, after a colon or a line's beginning.
TYPED = re.compile(r"(?:`|: |^|\n|&& |\| |-- )mem ((?!needs |is )[a-z][a-z-]+)")
PAGES = ("README.md", "hooks/README.md", "hooks/claude-code/plugins/mem/README.md", "tests/bench/README.md")


def literals() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "mem").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value


def named() -> list[tuple[str, str]]:
    texts = [*literals(), *((page, (ROOT / page).read_text(encoding="utf-8")) for page in PAGES)]
    return [(place, command) for place, text in texts for command in TYPED.findall(text)]


def test_what_is_named_exists() -> None:
    commands = {command.name for command in front_end.commands()}
    unknown = sorted({f"{place}: mem {command}" for place, command in named() if command not in commands})
    assert unknown == []


@pytest.mark.parametrize("place", ["README.md", "admission.py", "memories.py"])
def test_the_places_that_name_commands_are_read(place: str) -> None:
    assert place in {found for found, _ in named()}


def test_the_readme_names_every_command() -> None:
    told = {command for place, command in named() if place == "README.md"}
    assert {command.name for command in front_end.commands()} <= told
