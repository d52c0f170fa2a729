"""The completion scripts: up to date, complete, and working in a shell that has never heard of Python."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from mem.cli import app, completions, front_end
from mem.cli.completions import FILES, Grammar
from mem.cli.front_end import GENERAL, ROOT, Shell
from mem.paths import shipped

Run = Callable[..., Ran]
GRAMMAR = Grammar(front_end.commands(), GENERAL, ROOT)
each_shell = pytest.mark.parametrize("shell", list(Shell))


def script(shell: Shell) -> Path:
    return shipped("completions", FILES[shell])


@each_shell
def test_the_script_is_up_to_date(shell: Shell) -> None:
    assert script(shell).read_text(encoding="utf-8") == completions.script(shell, GRAMMAR)


@each_shell
def test_the_script_knows_every_command_option_and_choice(shell: Shell) -> None:
    text = script(shell).read_text(encoding="utf-8")
    for operation in app.definitions().values():
        assert operation.name in text
        for parameter in (*operation.parameters, *ROOT):
            if not parameter.positional:
                written = f"-l {parameter.option[2:]} " if shell is Shell.FISH else parameter.option
                assert written in text, (operation.name, parameter.option)
            if parameter.choices is not None:
                assert " ".join(parameter.choices) in text, (operation.name, parameter.option)


@each_shell
def test_the_script_says_nothing_of_versions_and_starts_no_python(shell: Shell) -> None:
    text = script(shell).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert "python" not in "\n".join(lines).replace("they start no Python", "").casefold()
    assert "$(mem" not in text
    assert not any(line.lstrip().startswith("mem ") for line in lines)


@each_shell
def test_the_shell_reads_the_script_where_it_is_installed(shell: Shell) -> None:
    """zsh and fish are not everywhere; what the scripts hold is tested above in any case."""
    program = shutil.which(shell)
    assert program or shell is not Shell.BASH
    if program:
        done = subprocess.run([program, "-n", script(shell)], capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")


def offered(line: str, folder: Path) -> list[str]:
    """What bash offers at the end of a command line; `=` is a word of its own, as readline has it."""
    words = line.replace("=", " = ").split(" ") if "=" in line else line.split(" ")
    words = [word for word in words[:-1] if word] + [words[-1]]
    program = (
        f'source "{script(Shell.BASH)}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mem; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "--norc", "--noprofile", "-c", program, "bash", *words],
        capture_output=True,
        cwd=folder,
        env={"PATH": ""},
        timeout=60,
    )
    assert done.stderr == b""
    return [word for word in done.stdout.decode().split("\n") if word]


def files_offered(line: str, folder: Path) -> list[str]:
    """The same for files, which come in the order of the folder."""
    return sorted(offered(line, folder))


def test_bash_completes_commands_options_choices_and_files(tmp_path: Path) -> None:
    (tmp_path / "my notes.jsonl").touch()
    (tmp_path / "store.db").touch()
    every = list(app.definitions())
    assert offered("mem ", tmp_path) == every
    assert offered("mem rec", tmp_path) == ["recall"]
    assert offered("mem --db x.db rec", tmp_path) == ["recall"]
    assert offered("mem --db=x.db rec", tmp_path) == ["recall"]
    assert offered("mem --json rec", tmp_path) == ["recall"]
    assert offered("mem --d", tmp_path) == ["--db"]
    assert offered("mem --db s", tmp_path) == ["store.db"]
    assert offered("mem recall --k", tmp_path) == ["--kind", "--known-at"]
    assert offered("mem recall question --kind dec", tmp_path) == ["decision"]
    assert offered("mem recall --kind=", tmp_path) == ["learning", "decision", "observation", "summary"]
    assert offered("mem recall --kind=obs", tmp_path) == ["observation"]
    assert files_offered("mem store text --db ", tmp_path) == ["my notes.jsonl", "store.db"]
    assert offered("mem store-batch my", tmp_path) == ["my notes.jsonl"]
    assert offered("mem store --title ", tmp_path) == []
    assert offered("mem archive ", tmp_path) == []
    assert offered("mem config ", tmp_path) == ["list", "get", "set", "path"]
    assert offered("mem config get ", tmp_path) == []
    assert offered("mem completions install ", tmp_path) == ["bash", "zsh", "fish"]
    assert offered("mem nonsense --", tmp_path) == []


def test_the_check_is_clean_and_the_printed_script_is_the_shipped_one(run_mem: Run) -> None:
    for arguments in (["check"], ["--check"]):
        assert run_mem("completions", *arguments).code == 0
    for shell in Shell:
        assert run_mem("completions", "show", shell).stdout == script(shell).read_bytes()


def test_the_check_names_a_script_that_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from mem import __main__

    for shell in Shell:
        shutil.copy(script(shell), tmp_path / FILES[shell])
    monkeypatch.setattr(completions, "shipped", lambda folder, name: tmp_path / name)
    assert __main__._run(["completions", "check"], None) == 0
    (tmp_path / "_mem").write_text("#compdef mem\n")
    assert __main__._run(["completions", "check"], None) == 1
    told = capfd.readouterr().err
    assert "_mem is out of date" in told
    assert "mem completions show zsh > completions/_mem" in told


@pytest.mark.parametrize(
    ("shell", "place"),
    [
        ("bash", ".local/share/bash-completion/completions/mem"),
        ("zsh", ".zfunc/_mem"),
        ("fish", ".config/fish/completions/mem.fish"),
    ],
)
def test_installing_puts_the_script_where_the_shell_looks(
    run_mem: Run, tmp_path: Path, shell: str, place: str
) -> None:
    path = tmp_path / "user" / place
    for arguments, env in (((shell,), {}), ((), {"SHELL": f"/usr/bin/{shell}"})):
        ran = run_mem("completions", "install", *arguments, env=env)
        assert (ran.code, str(path) in ran.out) == (0, True)
        assert path.read_bytes() == script(Shell(shell)).read_bytes()
        path.unlink()


def test_installing_where_nothing_can_be_written_is_one_clear_line(run_mem: Run, tmp_path: Path) -> None:
    (tmp_path / "user" / ".zfunc").write_text("a file where the folder should be")
    ran = run_mem("completions", "install", "zsh")
    assert (ran.code, ran.stdout, len(ran.err.splitlines())) == (1, b"", 1)
    assert ".zfunc/_mem" in ran.err


def test_an_unknown_shell_is_refused_with_the_list(run_mem: Run) -> None:
    for arguments, env in ((("show", "csh"), {}), (("show",), {"SHELL": "/bin/csh"}), ((), {})):
        ran = run_mem("completions", *arguments, env=env)
        assert (ran.code, ran.stdout) == (2, b"")
    assert "bash, zsh, fish" in run_mem("completions", "show", "csh").err
