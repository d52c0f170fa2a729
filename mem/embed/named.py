"""Models of fastembed's list by their names: what there is, and what was fetched, without any network."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mem.embed.embedder import EmbeddingError
from mem.embed.files import SUMS, checksums, missing_files
from mem.embed.forms import DESCRIPTION, described, read_form
from mem.embed.local import OnDiskEmbedder
from mem.errors import Usage
from mem.paths import places

_SEARCH = "Represent this sentence for searching relevant passages: "
_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query"
# What the makers want before questions and passages; fastembed puts nothing there by itself. The first that
# is part of the name holds. It is written down when a model is fetched, and decides its identity.
PREFIXES = {
    "multilingual-e5": ("query: ", "passage: "),
    "nomic-embed": ("search_query: ", "search_document: "),
    "mxbai-embed": (_SEARCH, ""),
    "snowflake-arctic": (_SEARCH, ""),
    "bge-small-zh": ("为这个句子生成表示以用于检索相关文章：", ""),
    "bge-": (_SEARCH, ""),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "qwen3-embedding": (f"{_TASK}\nQuery:", ""),
    "stella": (f"{_TASK}.\nQuery: ", ""),
}


class Listed(NamedTuple):
    """A model that can be chosen by name; `size` in bytes, `fetched` if it is here."""

    name: str
    dimensions: int
    size: int
    description: str
    fetched: bool


class Described(NamedTuple):
    """What fastembed says of a model: its `repository` on the hub and its files there."""

    name: str
    dimensions: int
    size: int
    text: str
    repository: str
    weights: str
    external: tuple[str, ...]


def models() -> list[Listed]:
    """Every model of fastembed's list, by name; loads fastembed, which takes half a second."""
    found = [
        Listed(one.name, one.dimensions, one.size, _plain(one.text), fetched(one.name))
        for one in _catalogue()
    ]
    return sorted(found, key=lambda one: one.name.casefold())


def description(name: str) -> Described:
    """What fastembed knows of a model; raises `Usage`, naming the nearest one."""
    known = {one.name.casefold(): one for one in _catalogue()}
    if name.casefold() in known:
        return known[name.casefold()]
    close = get_close_matches(name.casefold(), known, n=1, cutoff=0.5)
    hint = f"Did you mean {known[close[0]].name}?" if close else "See: mem model list"
    raise Usage(f"fastembed knows no model '{name}'.", hint=hint)


def prefixes(name: str) -> tuple[str, str]:
    """What goes before questions and before passages for a model."""
    folded = name.casefold()
    return next((pair for part, pair in PREFIXES.items() if part in folded), ("", ""))


def folder(name: str) -> Path:
    """Where the files of a model belong; raises `Usage` for what cannot be a name."""
    if not re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", name):
        raise Usage(f"'{name}' is no name of a model.", hint="See: mem model list")
    return places().cache / "models" / name.casefold().replace("/", "--")


def fetched(name: str) -> bool:
    """Whether all files of a model are here; looks at their names alone."""
    try:
        NamedEmbedder(name)
    except EmbeddingError:
        return False
    return True


class NamedEmbedder(OnDiskEmbedder):
    """A model of fastembed's list, from the files that `fetch` left. Implements `Embedder`.

    Never touches the network; raises `EmbeddingError` where it was not fetched.
    """

    def __init__(self, name: str, *, threads: int = 2) -> None:
        directory = folder(name)
        fetch, hint = f"mem model fetch {name}", "Fetch it, or choose another one: mem model list"
        if not (directory / DESCRIPTION).is_file():
            raise EmbeddingError(f"The model {name} is not fetched ({fetch}).", hint=hint)
        form = read_form(directory, name)
        if missing := missing_files(directory, (*form.needed, *_external(described(directory)), SUMS)):
            reason = f"{missing[0]} is missing: {fetch}"
            raise EmbeddingError(f"The model {name} is not fetched completely ({reason}).", hint=hint)
        self._called = form.known_as or name
        super().__init__(form, threads)

    @property
    def choice(self) -> str:
        """How the model is found again."""
        return f"fastembed:{self._called}"

    @cached_property
    def name(self) -> str:
        """The model's name with eight digits for its weights, the same wherever it was fetched."""
        sums = checksums(self.directory)
        known = [sums.get(part, "") for part in (self.form.weights, *_external(described(self.directory)))]
        return self.form.identity(self._called, known)

    @property
    def revision(self) -> str:
        """The commit that its files are of."""
        return str(described(self.directory).get("revision", ""))


def _external(said: dict[str, Any]) -> list[str]:
    """The files that a graph keeps its weights in."""
    found = said.get("external")
    return [str(part) for part in found] if isinstance(found, list) else []


def _catalogue() -> list[Described]:
    from mem.embed.engine import quieten

    quieten()
    from fastembed import TextEmbedding

    return [
        Described(
            one["model"],
            one["dim"],
            round(one["size_in_GB"] * 1e9),
            one["description"],
            one["sources"]["hf"],
            one["model_file"],
            tuple(one["additional_files"]),
        )
        for one in TextEmbedding.list_supported_models()
        # Folders that were loaded in this process are on its list too, and no hub has them.
        if one["sources"]["hf"] and not one["model"].startswith("mem/")
    ]


def _plain(text: str) -> str:
    """fastembed's description without what is the same for all of them."""
    for known in ("Text embeddings, ", "Unimodal (text), ", "General text embeddings, "):
        text = text.replace(known, "")
    return text.strip()
