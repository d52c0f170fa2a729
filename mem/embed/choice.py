"""Which model makes the vectors: how a choice is written, read, and turned into an `Embedder`.

A choice is one line of text, the same in the setting `model`, in the store and on the command line:

    bundled              the model that ships with mem
    none                 no model: words alone
    fastembed:NAME       a model of fastembed's list, by its name; `NAME` alone where it has a slash
    directory:PATH       a model in a folder; the path alone where that folder exists
    endpoint:NAME        an OpenAI-compatible service; `endpoint` alone takes the model that its settings name

Reading one imports nothing and looks at no network, since every call reads the setting.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from mem.errors import Usage

if TYPE_CHECKING:
    from mem.embed.embedder import Embedder

HINT = "Choose bundled, none, fastembed:NAME, directory:PATH or endpoint. See: mem model list"


class ModelKind(StrEnum):
    """Where a model comes from."""

    BUNDLED = "bundled"
    FASTEMBED = "fastembed"
    DIRECTORY = "directory"
    ENDPOINT = "endpoint"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model as a person chooses it; `name` says which of its kind, a directory as an absolute path."""

    kind: ModelKind
    name: str = ""

    @property
    def text(self) -> str:
        """The choice as settings and stores keep it; `parse` reads it back."""
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)


BUNDLED = ModelChoice(ModelKind.BUNDLED)
NONE = ModelChoice(ModelKind.NONE)


def parse(text: str) -> ModelChoice:
    """The choice that a text stands for; raises `Usage`, naming the nearest one there is."""
    word, colon, name = (part.strip() for part in text.strip().partition(":"))
    kind = word if word in tuple(ModelKind) else ""
    match kind:
        case ModelKind.BUNDLED | ModelKind.NONE if not colon:
            return ModelChoice(ModelKind(kind))
        case ModelKind.ENDPOINT if name or not colon:
            return ModelChoice(ModelKind.ENDPOINT, name)
        case ModelKind.DIRECTORY if name:
            return ModelChoice(ModelKind.DIRECTORY, str(Path(name).expanduser().absolute()))
        case ModelKind.FASTEMBED if name:
            return ModelChoice(ModelKind.FASTEMBED, name)
        case "":
            return _bare(text.strip())
        case _:
            shape = {ModelKind.DIRECTORY: "directory:PATH", ModelKind.FASTEMBED: "fastembed:NAME"}
            hint = f"Write it as {shape.get(ModelKind(kind), kind)}."
            raise Usage(f"'{text}' is no choice of a model.", hint=hint)


def known(choice: ModelChoice) -> ModelChoice:
    """The choice, if there is such a model: fastembed lists it, the folder exists; raises `Usage`.

    Loads fastembed for a name of its list, which takes a second.
    """
    match choice.kind:
        case ModelKind.FASTEMBED:
            from mem.embed import named

            return ModelChoice(choice.kind, named.description(choice.name).name)
        case ModelKind.DIRECTORY if not Path(choice.name).is_dir():
            raise Usage(f"There is no folder {choice.name}.", hint="Name the folder that holds model.onnx.")
        case _:
            return choice


def make(choice: ModelChoice, environment: Mapping[str, str], *, threads: int) -> Embedder | None:
    """The model in this process, None for none; nothing is loaded or asked before its first use.

    Raises `EmbeddingError` where it cannot be had: not fetched, no such folder, no address of a service.
    """
    match choice.kind:
        case ModelKind.NONE:
            return None
        case ModelKind.BUNDLED:
            from mem.embed.local import LocalEmbedder

            return LocalEmbedder(threads=threads)
        case ModelKind.FASTEMBED:
            from mem.embed.named import NamedEmbedder

            return NamedEmbedder(choice.name, threads=threads)
        case ModelKind.DIRECTORY:
            from mem.embed.directory import DirectoryEmbedder

            return DirectoryEmbedder(Path(choice.name), threads=threads)
        case ModelKind.ENDPOINT:
            from mem.embed.remote import EndpointSettings, RemoteEmbedder

            # A name in the choice wins over the one that the settings of the service give.
            named = {"EMBEDDING_MODEL": choice.name} if choice.name else {}
            return RemoteEmbedder(EndpointSettings.from_environment({**environment, **named}))
        case _:
            assert_never(choice.kind)


def _bare(text: str) -> ModelChoice:
    """A choice without its kind: the name of a model of fastembed's, or a folder that exists."""
    if re.search(r"[\\/]", text):
        place = Path(text).expanduser()
        if place.is_dir():
            return ModelChoice(ModelKind.DIRECTORY, str(place.absolute()))
        if re.fullmatch(r"[\w.-]+/[\w.-]+", text) and not text.startswith("."):
            return ModelChoice(ModelKind.FASTEMBED, text)
        raise Usage(f"There is no folder {text}.", hint=HINT)
    raise Usage(f"There is no model '{text}'.", hint=_nearest(text))


def _nearest(text: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(text.casefold(), tuple(map(str, ModelKind)), n=1, cutoff=0.6)
    return f"Did you mean {close[0]}?" if close else HINT
