"""A model in a folder of the user's own: `model.onnx`, its tokenizer and, if need be, `mem-model.json`."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path

from mem.embed.files import file_sha256, missing_files
from mem.embed.forms import read_form, unusable
from mem.embed.local import OnDiskEmbedder
from mem.paths import places

EXTERNAL = "_data"  # what a file beside an ONNX graph is called that holds the weights themselves


class DirectoryEmbedder(OnDiskEmbedder):
    """The model of a folder. Implements `Embedder`.

    `mem-model.json` says how it is run (see `mem.embed.forms`); without it the pooling is the mean, and
    `query: ` and `passage: ` stand before the texts if the folder's name says e5.
    Raises `EmbeddingError` where a file is missing or nothing tells the length of a vector.
    """

    def __init__(self, path: Path, *, threads: int = 2) -> None:
        directory = path.absolute()
        form = read_form(directory, directory.name)
        if missing := missing_files(directory, form.needed):
            raise unusable(directory, f"{missing[0]} is missing")
        super().__init__(form, threads)

    @property
    def choice(self) -> str:
        """How the model is found again."""
        return f"directory:{self.directory}"

    @cached_property
    def name(self) -> str:
        """The folder's name with eight digits for the weights, whose hash is kept (50 MB: 0.1 s)."""
        weights = self.directory / self.form.weights
        beside = weights.with_name(weights.name + EXTERNAL)
        try:
            sums = [_Hashes().of(path) for path in (weights, beside) if path.exists()]
        except OSError:
            sums = []
        # A name is asked for where nothing may fail; the model itself will say what is wrong.
        return self.form.identity(self.directory.name, sums) if sums else f"{self.directory.name}@unreadable"


class _Hashes:
    """The hashes of large files, remembered in the cache as long as size and time of change stay the same."""

    def __init__(self) -> None:
        self._path = places().cache / "models" / "hashes.json"

    def of(self, path: Path) -> str:
        """The SHA-256 of a file; raises `OSError`."""
        real = path.resolve()
        state = real.stat()
        key = f"{real}:{state.st_size}:{state.st_mtime_ns}:{state.st_ino}"
        known = self._known()
        if key not in known:
            known = {other: sum_ for other, sum_ in known.items() if not other.startswith(f"{real}:")}
            known[key] = file_sha256(real)
            self._keep(known)
        return known[key]

    def _known(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {str(key): sum_ for key, sum_ in found.items() if isinstance(sum_, str) and len(sum_) == 64}

    def _keep(self, known: dict[str, str]) -> None:
        """Best effort: without it the hash is made again."""
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_text(json.dumps(known, indent=1), encoding="utf-8")
            temporary.replace(self._path)
        except OSError:
            temporary.unlink(missing_ok=True)
