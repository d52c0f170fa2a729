"""`config.toml`: read as flat dotted keys, changed one line at a time while every other byte stays as it is.

`"model.threads" = 2` and `threads = 2` under `[model]` are the same setting. An edit is kept only if the file
then reads as before, but for the one key; a file that cannot be edited so is refused, with its name.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mem.errors import MemError, Usage
from mem.paths import private_folder

_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\\\n]*"|'[^'\n]*')"""
_ASSIGNMENT = re.compile(
    rf"""(?P<start>\s*(?P<name>{_NAME}(?:\s*\.\s*{_NAME})*)\s*=\s*)
         (?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'\#]+)
         (?P<end>\s*(?:\#.*)?\s*)""",
    re.VERBOSE,
)
_HEADER = re.compile(rf"\s*\[{{1,2}}\s*(?P<name>{_NAME}(?:\s*\.\s*{_NAME})*)\s*\]{{1,2}}\s*(?:#.*)?\s*")


def read(path: Path) -> dict[str, Any]:
    """The settings in the file by flat key; none if there is no file; raises `Usage` if it cannot be read."""
    return flat(_text(path), path)


def flat(text: str, path: Path) -> dict[str, Any]:
    """The settings in a TOML text by flat key; raises `Usage`, naming `path`, if it is not valid."""
    if not text:
        return {}
    import tomllib

    try:
        return dict(_leaves(tomllib.loads(text)))
    except (tomllib.TOMLDecodeError, RecursionError) as err:
        raise Usage(f"{path} is not valid TOML: {err}.", hint="Mend the file, or move it away.") from err


def write(path: Path, key: str, value: str | int | bool) -> None:
    """Set one key, replacing the file in one step; raises `Usage` where it leaves no room for the key."""
    target = path.resolve()  # of a link, as dotfiles often are, the file behind it is replaced
    private_folder(target.parent)
    changed = edited(_text(target), key, value, path).encode()
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        try:
            temporary.write_bytes(changed)
            temporary.chmod(mode)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as err:
        raise MemError(
            f"Cannot write {path}: {err.strerror}.",
            hint="Make it writable, or set MEM_HOME to a folder that is.",
        ) from err


def edited(text: str, key: str, value: str | int | bool, path: Path) -> str:
    """The text with one key set: its line changed, or one line added; raises `Usage`."""
    before = flat(text, path)
    wanted = {**before, key: value}
    lines = re.split(r"(?<=\n)", text)
    candidates = _changed(lines, key, value) if key in before else _added(lines, key, value)
    for candidate in candidates:
        try:
            if flat(candidate, path) == wanted:
                return candidate
        except Usage:
            continue
    raise Usage(
        f"{path} leaves no room for a line that sets {key}.",
        hint=f"Write it by hand; as a flat key: {_line(key, value)}",
    )


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError as err:
        raise Usage(
            f"{path} is not UTF-8 (byte {err.start}).", hint="Mend the file, or move it away."
        ) from err
    except OSError as err:
        raise Usage(f"Cannot read {path}: {err.strerror}.", hint="Make it readable.") from err


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, item in table.items():
        if isinstance(item, dict):
            yield from _leaves(item, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", item


def _changed(lines: list[str], key: str, value: str | int | bool) -> Iterator[str]:
    """The text with the value replaced, for each line that may be the one that sets the key."""
    for number, line in enumerate(lines):
        found = _ASSIGNMENT.fullmatch(line)
        if found is not None and f".{key}".endswith(f".{_plain(found['name'])}"):
            changed = found["start"] + _literal(value) + found["end"]
            yield "".join([*lines[:number], changed, *lines[number + 1 :]])


def _added(lines: list[str], key: str, value: str | int | bool) -> Iterator[str]:
    """The text with a line added: in the key's own table, else above the first table, else at the end."""
    end = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    table, _, name = key.rpartition(".")
    headers = [(number, found) for number, line in enumerate(lines) if (found := _HEADER.fullmatch(line))]
    for number, found in headers:
        if table and _plain(found["name"]) == table:
            yield _inserted(lines, number + 1, f"{name} = {_literal(value)}{end}", end)
    place = headers[0][0] if headers else len(lines)
    while headers and place and lines[place - 1].lstrip().startswith("#"):
        place -= 1  # comments right above a table belong to it
    yield _inserted(lines, place, _line(key, value) + end, end)


def _inserted(lines: list[str], place: int, line: str, end: str) -> str:
    before = "".join(lines[:place])
    return before + (end if before and not before.endswith("\n") else "") + line + "".join(lines[place:])


def _line(key: str, value: str | int | bool) -> str:
    return f'"{key}" = {_literal(value)}'


def _plain(name: str) -> str:
    """A key without its quotes: a name of a setting holds none, and no space."""
    return re.sub(r"[\"'\s]", "", name)


def _literal(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    escaped = re.sub(r'[\\"\x00-\x1f\x7f]', lambda found: f"\\u{ord(found.group()):04x}", value)
    return f'"{escaped}"'
