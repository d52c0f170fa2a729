"""The files of a local model: what must be there, and whether it is what was shipped."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

NEEDED = ("model.onnx", "tokenizer.json", "tokenizer_config.json")
MEAN = "mean.f32"
SUMS = "SHA256SUMS"


def checksums(directory: Path) -> dict[str, str]:
    """The SHA-256 of each shipped file by name, as `SHA256SUMS` lists them; empty without that file."""
    try:
        listing = (directory / SUMS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    entries = (line.split(maxsplit=1) for line in listing.splitlines() if not line.startswith("#"))
    return {entry[1].lstrip("*").strip(): entry[0].lower() for entry in entries if len(entry) == 2}


def missing_files(directory: Path, needed: Sequence[str] = NEEDED) -> list[str]:
    """The needed files that are not there; reads nothing, so it is cheap enough for every load."""
    return [name for name in needed if not (directory / name).is_file()]


def verify_files(directory: Path, needed: Sequence[str] = NEEDED) -> list[str]:
    """What is wrong with the files of a model, one line each; hashes all of them (50 MB: about 0.1 s)."""
    expected = checksums(directory)
    if not expected:
        return [f"{name} is missing" for name in (*missing_files(directory, needed), SUMS)]
    unlisted = [name for name in missing_files(directory, needed) if name not in expected]
    problems = [_problem(directory / name, name, sha256) for name, sha256 in expected.items()]
    return [f"{name} is missing" for name in unlisted] + [problem for problem in problems if problem]


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file; raises `OSError`."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _problem(path: Path, name: str, sha256: str) -> str:
    try:
        actual = file_sha256(path)
    except FileNotFoundError:
        return f"{name} is missing"
    except OSError as err:
        return f"{name} cannot be read ({err.strerror})"
    return "" if actual == sha256 else f"{name} is damaged (its SHA-256 is not the one in {SUMS})"
