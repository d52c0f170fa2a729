"""What `mem model` does: which embedding models there are, which one is used, and what its cosines mean.

The store's own word decides what recall compares: the model of its vectors. The setting `model` names the
one for a store without vectors, and the goal of `mem migrate-vectors`. Nothing here makes a store, and only
`fetch` and `--check` touch a network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from mem import config
from mem.embed import Embedder, EmbeddingError, Role
from mem.embed.choice import BUNDLED, NONE, ModelChoice, ModelKind, known, parse
from mem.errors import Usage
from mem.paths import bundled_model, store_path
from mem.results import (
    KnownModel,
    KnownModels,
    ModelCalibration,
    ModelFiles,
    ModelStatus,
    ModelUsed,
)
from mem.worker.embedder import in_process

if TYPE_CHECKING:
    from mem.store.connect import Store
    from mem.store.embeddings import Model

Progress = Callable[[str, int, int | None], None]


class Action(StrEnum):
    """What `mem model` does."""

    STATUS = "status"
    LIST = "list"
    USE = "use"
    FETCH = "fetch"
    PATH = "path"
    VERIFY = "verify"
    CALIBRATE = "calibrate"


def run(
    action: Action, name: str | None, db: Path | None, *, check: bool, progress: Progress
) -> KnownModels | ModelUsed | ModelFiles | ModelStatus | ModelCalibration:
    """Do it; raises `Usage` for what the action does not take."""
    if check and action is not Action.STATUS:
        raise Usage(f"model {action} takes no --check.", hint="See: mem model --help")
    place = db or store_path()
    match action:
        case Action.USE | Action.FETCH if name is None:
            raise Usage(f"model {action} takes the name of a model.", hint="See: mem model list")
        case Action.LIST | Action.STATUS | Action.CALIBRATE if name is not None:
            raise Usage(f"model {action} takes no name.", hint=f"Did you mean: mem model use {name}")
        case Action.LIST:
            return _listed(place)
        case Action.STATUS:
            return _status(place, check=check)
        case Action.USE:
            return _used(known(parse(name or "")), place)
        case Action.FETCH:
            return _fetched(known(parse(name or "")), progress)
        case Action.PATH:
            return _files(_named(name, place))
        case Action.VERIFY:
            return _verified(_named(name, place))
        case Action.CALIBRATE:
            return _calibrated(place)


@contextmanager
def _opened(place: Path) -> Iterator[Store | None]:
    """The store, if there is one."""
    if not place.exists():
        yield None
        return
    from mem.store.connect import Store

    store = Store(place, timeout_ms=config.value("store.timeout-ms"))
    try:
        yield store
    finally:
        store.close()


def _active(place: Path) -> Model | None:
    from mem.store import embeddings

    with _opened(place) as store:
        if store is None:
            return None
        with store.read() as db:
            return embeddings.active_model(db)


def _named(name: str | None, place: Path) -> ModelChoice:
    """The model of that name, else the one that is in use."""
    if name is not None:
        return parse(name)
    active = _active(place)
    return parse(active.choice if active is not None else config.value("model"))


def _listed(place: Path) -> KnownModels:
    from mem.embed import named

    active = _active(place)
    searched, wanted = active.choice if active else None, parse(config.value("model")).text
    local = in_process(BUNDLED.text, os.environ, 1)
    models = [
        KnownModel(
            BUNDLED.text, local.dimensions, 0, "Ships with mem: multilingual, works offline.", here=True
        ),
        KnownModel(NONE.text, None, 0, "No model: recall by words alone.", here=True),
        KnownModel(
            "endpoint", None, 0, "An OpenAI-compatible service, as EMBEDDING_* or endpoint.* say.", here=True
        ),
    ]
    models += [
        KnownModel(f"fastembed:{one.name}", one.dimensions, one.size, one.description, here=one.fetched)
        for one in named.models()
    ]
    listed = {one.choice for one in models}
    for choice in dict.fromkeys((searched, wanted)):
        if choice is not None and choice not in listed:
            found = in_process(choice, os.environ, 1)
            models.append(
                KnownModel(choice, found.dimensions or None, 0, found.name, here=bool(found.dimensions))
            )
    return KnownModels(
        tuple(
            KnownModel(
                one.choice,
                one.dimensions,
                one.size,
                one.description,
                one.here,
                active=one.choice == searched,
                wanted=one.choice == wanted,
            )
            for one in models
        )
    )


def _used(choice: ModelChoice, place: Path) -> ModelUsed:
    setting = config.write("model", choice.text)
    overridden = None if setting.origin == "config.toml" else setting.origin
    path = str(config.run(config.Action.PATH, None, None).path)
    active = _active(place)
    searched = active.choice if active is not None else None
    if choice == NONE:
        return ModelUsed(choice.text, path, searched, overridden=overridden)
    model, problem = _made(choice.text)
    waiting = 0 if active is None or active.name == model.name else _waiting(place, model.name)
    return ModelUsed(choice.text, path, searched, waiting, problem, overridden)


def _waiting(place: Path, name: str) -> int:
    """How many live memories and entities have no vector of a model."""
    from mem.store import embeddings

    with _opened(place) as store:
        if store is None:
            return 0
        with store.read() as db:
            return embeddings.coverage(db, embeddings.named(db, name))[1]


def _made(choice: str, active: Model | None = None) -> tuple[Embedder, str]:
    """A model in this process, and why it cannot be used, if it cannot; nothing is loaded."""
    from mem.embed.unusable import UnusableModel

    model = in_process(choice, os.environ, config.value("model.threads"), active)
    if not isinstance(model, UnusableModel):
        return model, ""
    return model, f"{model.reason} {model.hint}".strip()


def problems(embedder: Embedder, active: Model | None) -> tuple[list[str], str]:
    """What is wrong with a model, and the way out; reads and hashes its files, and calls no service."""
    choice = parse(embedder.choice)
    model, problem = (embedder, "") if choice.kind is ModelKind.ENDPOINT else _made(choice.text, active)
    if problem:
        return [problem], ""
    found = _faults(model)
    if not found and active is not None and model.name != active.name:
        changed = f"it is {model.name} by now, and the vectors are of {active.name}"
        return [changed], "mem migrate-vectors makes new ones."
    again = f"mem model fetch {choice.name}" if choice.kind is ModelKind.FASTEMBED else "mem model list"
    return found, again


def _fetched(choice: ModelChoice, progress: Progress) -> ModelFiles:
    if choice.kind is not ModelKind.FASTEMBED:
        raise Usage(f"{choice.text} is not fetched from anywhere.", hint="See: mem model list")
    from mem.embed import fetch

    folder = fetch.fetch(choice.name, progress=lambda done, total: progress("fetching", done, total))
    return ModelFiles(choice.text, str(folder))


def _files(choice: ModelChoice) -> ModelFiles:
    match choice.kind:
        case ModelKind.BUNDLED:
            return ModelFiles(choice.text, str(bundled_model()))
        case ModelKind.DIRECTORY:
            return ModelFiles(choice.text, choice.name)
        case ModelKind.FASTEMBED:
            from mem.embed import named

            return ModelFiles(choice.text, str(named.folder(choice.name)))
        case _:
            raise Usage(f"{choice.text} has no files.", hint="See: mem model list")


def _verified(choice: ModelChoice) -> ModelFiles:
    """Hash the files of a model and hold them against what was shipped or fetched."""
    files = _files(choice)
    model, problem = _made(choice.text)
    faults = [problem] if problem else _faults(model)
    return ModelFiles(files.choice, files.path, checked=True, problems=tuple(faults))


def _faults(model: Embedder) -> list[str]:
    """What is wrong with the files of a model, if it has any.

    A folder of the user's own need not say what its files should be; then it is enough that they are there.
    """
    from mem.embed.files import checksums, missing_files
    from mem.embed.local import OnDiskEmbedder

    if not isinstance(model, OnDiskEmbedder):
        return []
    if parse(model.choice).kind is ModelKind.DIRECTORY and not checksums(model.directory):
        return [f"{name} is missing" for name in missing_files(model.directory, model.form.needed)]
    return model.verify()


def _status(place: Path, *, check: bool) -> ModelStatus:
    from dataclasses import replace

    from mem.store import embeddings

    wanted = config.setting("model")
    active, stored, pending = None, 0, 0
    with _opened(place) as store:
        if store is not None:
            with store.read() as db:
                active = embeddings.active_model(db)
                stored, pending = embeddings.coverage(db, active)
    choice = active.choice if active is not None else wanted.value
    told = ModelStatus(
        active=active.choice if active else None,
        name=active.name if active else None,
        dimensions=active.dimensions if active else None,
        wanted=wanted.value,
        wanted_from=wanted.origin,
        stored=stored,
        pending=pending,
        calibration=_calibration(active) if active else None,
    )
    if NONE.text in (choice, wanted.value):
        return told
    told = _examined(told, choice, active, check=check)
    if not check or told.problem or parse(wanted.value).text == choice:
        return told
    # Whoever is about to go over to another model wants to know of that one.
    return _examined(replace(told, reachable=False), wanted.value, None, check=True)


def _examined(told: ModelStatus, choice: str, active: Model | None, *, check: bool) -> ModelStatus:
    """The status with what is wrong with the model; with `check` it is asked for a vector."""
    from dataclasses import replace

    model, problem = _made(choice, active)
    told = replace(
        told, problem=problem, name=told.name or model.name, dimensions=told.dimensions or model.dimensions
    )
    if problem:
        return told
    if active is not None and model.name != active.name:
        changed = f"It is {model.name} by now, and the vectors are of {active.name}."
        return replace(told, problem=changed, hint="mem migrate-vectors makes new ones.")
    if not check:
        return told
    try:
        model.embed(["is the model there?"], Role.QUERY)
    except EmbeddingError as err:
        return replace(told, problem=str(err), hint=err.hint, reachable=False)
    return replace(told, reachable=True)


def _calibrated(place: Path) -> ModelCalibration:
    from mem.search import calibration
    from mem.store import embeddings

    with _opened(place) as store:
        if store is not None:
            with store.write() as db:
                active = embeddings.active_model(db)
                if active is not None:
                    return _calibration(calibration.renew(db, active, has_vectors=store.has_vectors))
    raise Usage("There are no vectors to measure.", hint="Store something first, or run: mem backfill")


def _calibration(model: Model) -> ModelCalibration:
    from mem.search import calibration

    centred = model.mean is not None
    if model.choice == BUNDLED.text:
        return ModelCalibration(model.choice, "shipped", 0, centred=centred)
    found = calibration.read(model)
    if found is None:
        return ModelCalibration(model.choice, "none", 0, calibration.ENOUGH)
    source, wanted = ("rough", calibration.ENOUGH) if found.rough else ("measured", 0)
    return ModelCalibration(model.choice, source, found.memories, wanted, found.points, centred)
