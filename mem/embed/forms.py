"""How a local model is run: which files, which pooling, what is put before a text.

Whoever brings a model along may say so in `mem-model.json` beside it; all of it is optional:
`{"dimensions", "weights", "pooling": "mean|cls|last|none", "query_prefix", "passage_prefix"}`, and `model`
where fastembed knows the model by that name, and its pooling with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mem.embed import pieces
from mem.embed.embedder import EmbeddingError, Role

DESCRIPTION = "mem-model.json"
WEIGHTS = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model.safetensors")
POOLINGS = ("mean", "cls", "last", "none")
# More tokens in one run cost memory out of proportion; the pieces of a text stay well below.
RUN_TOKENS = 256
# The same model of sentence-transformers, where it lies beside the files.
_FOREIGN_POOLING = Path("1_Pooling", "config.json")
# What other families call the width of their output in config.json.
_WIDTHS = ("hidden_size", "d_model", "dim", "n_embd")
_E5 = ("query: ", "passage: ")
_BARE = ("", "")


@dataclass(frozen=True, slots=True)
class Form:
    """A local model: where it lies and how it is run.

    `known_as` is its name among fastembed's own models, which knows its pooling; else `pooling` says it.
    `context` is the number of tokens that the model reads. Other weights in the same place have another
    `stamp`, so that none is taken for the other.
    """

    directory: Path
    dimensions: int
    weights: str = "model.onnx"
    pooling: str = "mean"
    query_prefix: str = _E5[0]
    passage_prefix: str = _E5[1]
    known_as: str = ""
    context: int = 512
    stamp: str = ""

    @property
    def static(self) -> bool:
        """Whether it is a table of word vectors, with no network to run."""
        return self.weights.endswith(".safetensors")

    @property
    def needed(self) -> tuple[str, ...]:
        """The files without which it does not load."""
        return (self.weights, "tokenizer.json", *(() if self.static else ("tokenizer_config.json",)))

    @property
    def run_tokens(self) -> int:
        """How many tokens of a text count, the markers around it among them."""
        return min(RUN_TOKENS, self.context)

    @property
    def piece_tokens(self) -> int:
        """How many tokens a piece of a long text may have: with prefix and markers it is not cut off."""
        # No prefix has more tokens than half its letters; a few to spare, as in `pieces`.
        spare = 6 + len(self.passage_prefix) // 2
        return max(2 * pieces.OVERLAP_TOKENS, min(pieces.PIECE_TOKENS, self.run_tokens - spare))

    def prompt(self, text: str, role: Role) -> str:
        """What the model is given for a text."""
        return (self.query_prefix if role is Role.QUERY else self.passage_prefix) + text

    def identity(self, name: str, sums: Sequence[str]) -> str:
        """The model's name with eight digits for all that decides its vectors.

        `sums` are the SHA-256 of the files that hold the weights. For mean pooling with the usual prefixes
        (those of e5 if the name says so, else none) the digits are the first ones of the weights' hash alone.
        This rule never changes: vectors are kept under the name.
        """
        prefixes = (self.query_prefix, self.passage_prefix)
        weights = sums[0] if len(sums) == 1 else sha256("".join(sums).encode()).hexdigest()
        if self.pooling == "mean" and prefixes == usual_prefixes(name):
            return f"{name}@{weights[:8]}"
        mixed = json.dumps([weights, self.pooling, *prefixes])
        return f"{name}@{sha256(mixed.encode()).hexdigest()[:8]}"


def unusable(directory: Path, reason: str) -> EmbeddingError:
    """Why the model in a directory does not work."""
    return EmbeddingError(
        f"The embedding model in {directory} cannot be loaded: {reason}.", hint="Run `mem doctor`."
    )


def usual_prefixes(name: str) -> tuple[str, str]:
    """What stands before questions and passages for a model of that name, if nothing else is said."""
    return _E5 if re.search(r"(?<![a-z0-9])e5(?![a-z0-9])", name.casefold()) else _BARE


def described(directory: Path) -> dict[str, Any]:
    """What `mem-model.json` says; empty without it; raises `EmbeddingError` when it cannot be read."""
    return _read(directory / DESCRIPTION)


def read_form(directory: Path, name: str) -> Form:
    """The form of the model in a directory; raises `EmbeddingError` for what is missing or makes no sense."""
    said = described(directory)
    weights = _text(directory, said, "weights", "") or _weights_in(directory)
    usual = usual_prefixes(name)
    form = Form(
        directory=directory,
        dimensions=_dimensions(directory, said),
        weights=weights,
        pooling=_text(directory, said, "pooling", _foreign_pooling(directory)),
        query_prefix=_text(directory, said, "query_prefix", usual[0]),
        passage_prefix=_text(directory, said, "passage_prefix", usual[1]),
        known_as=_text(directory, said, "model", ""),
        context=_context(directory),
        stamp=_stamp(directory / weights),
    )
    if form.static and not form.known_as:
        raise unusable(directory, "a static model works only as one of fastembed's own, fetched by its name")
    if form.pooling not in POOLINGS:
        raise unusable(directory, f"pooling must be one of {', '.join(POOLINGS)}, not '{form.pooling}'")
    return form


def _weights_in(directory: Path) -> str:
    for name in WEIGHTS:
        if (directory / name).is_file():
            return name
    if not directory.is_dir():
        raise EmbeddingError(
            f"There is no model folder {directory}.", hint="Choose another: see `mem model list`."
        )
    raise unusable(directory, f"it has none of {', '.join(WEIGHTS[:3])}")


def _dimensions(directory: Path, said: dict[str, Any]) -> int:
    found = said.get("dimensions")
    if found is None:
        config = _read(directory / "config.json")
        found = next((config[key] for key in _WIDTHS if isinstance(config.get(key), int)), None)
    if found is None:
        raise unusable(
            directory, f"nothing says how many numbers a vector has: put dimensions in {DESCRIPTION}"
        )
    # The derived index packs eight signs into a byte.
    if not isinstance(found, int) or found % 8 or not 8 <= found <= 65_536:
        raise unusable(directory, f"dimensions must be a multiple of 8 up to 65536, not {found!r}")
    return found


def _stamp(path: Path) -> str:
    try:
        state = path.stat()
    except OSError:
        return ""
    return f"{state.st_size}:{state.st_mtime_ns}:{state.st_ino}"


def _context(directory: Path) -> int:
    """The tokens that the model reads, as fastembed reads it; 512 where nothing sensible is said."""
    said = _read(directory / "tokenizer_config.json", of_the_model=False)
    found = [said.get(key) for key in ("model_max_length", "max_length")]
    return min([size for size in found if type(size) is int and 0 < size < 1 << 31], default=512)


def _foreign_pooling(directory: Path) -> str:
    said = _read(directory / _FOREIGN_POOLING, of_the_model=False)
    if said.get("pooling_mode_cls_token") is True:
        return "cls"
    return "last" if said.get("pooling_mode_lasttoken") is True else "mean"


def _text(directory: Path, said: dict[str, Any], key: str, default: str) -> str:
    found = said.get(key, default)
    if not isinstance(found, str):
        raise unusable(directory, f"{key} in {DESCRIPTION} must be text")
    return found


def _read(path: Path, *, of_the_model: bool = True) -> dict[str, Any]:
    """A JSON object; empty where there is none. What else is damaged is named when the model is loaded."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as err:
        if not of_the_model:
            return {}
        raise unusable(path.parent, f"{path.name} cannot be read") from err
    return found if isinstance(found, dict) else {}
