"""What a call imports: the heavy packages only where they are needed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from conftest import Ran, process_environment

Run = Callable[..., Ran]
HEAVY = {
    "numpy",
    "fastembed",
    "onnxruntime",
    "tokenizers",
    "huggingface_hub",
    "mcp",
    "pydantic",
    "rich",
    "orjson",
}
FRONT = {"json", "asyncio", "sqlite_vec", "importlib.metadata", "urllib.request", "tomllib", "sqlite3"}


def imported(*arguments: str) -> set[str]:
    """The modules that a call imports; its output is no terminal."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "mem", *arguments],
        capture_output=True,
        env=process_environment(),
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stderr.decode().splitlines()
    return {line.split("|")[2].strip() for line in lines if line.startswith("import time:")}


def packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_the_version_needs_neither_the_service_nor_a_heavy_package(home: Path) -> None:
    modules = imported("--version")
    assert not packages(modules) & HEAVY
    assert not modules & FRONT
    assert not {"mem.service", "apsw"} & modules
    assert "typer" in modules


def test_a_piped_list_imports_no_heavy_package(run_mem: Run) -> None:
    assert run_mem("store", "something", env={"MEM_MODEL": "none"}).code == 0
    modules = imported("list")
    assert not packages(modules) & HEAVY
    assert not modules & (FRONT - {"json"})
    assert {"mem.service", "apsw"} <= modules
    assert "mem.cli.terminal" not in modules


def test_help_needs_no_heavy_package(home: Path) -> None:
    for arguments in (["--help"], ["recall", "--help"], ["completions", "show", "bash"]):
        assert not packages(imported(*arguments)) & HEAVY


def test_json_needs_orjson_and_nothing_else(run_mem: Run) -> None:
    assert packages(imported("list", "--json")) & HEAVY == {"orjson"}


def test_the_model_is_imported_for_what_needs_it_alone(run_mem: Run) -> None:
    assert run_mem("store", "something").code == 0
    assert "fastembed" in packages(imported("recall", "something"))
    assert not packages(imported("history", "1")) & HEAVY


def test_rich_is_for_terminals(run_mem: Run, on_terminal: Callable[..., tuple[int, str]]) -> None:
    assert run_mem("store", "something", env={"MEM_MODEL": "none"}).code == 0
    code, seen = on_terminal("list", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert code == 0
    assert "| rich" in seen.replace("|   ", "| ").replace("  ", " ")
    assert "fastembed" not in seen


def test_one_command_is_built_and_not_all(home: Path) -> None:
    program = """
import sys
from mem.cli import app
made = []
real = app.built
app.built = lambda operation: made.append(operation.name) or real(operation)
app.run(["stats"])
sys.stderr.write(" ".join(made))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=process_environment(), timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"stats")
