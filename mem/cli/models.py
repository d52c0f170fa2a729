"""The rows and notes of `mem model`."""

import re
from collections.abc import Iterator

from mem.results import KnownModel, KnownModels, ModelCalibration, ModelFiles, ModelStatus, ModelUsed

Row = tuple[str, ...]
Answer = KnownModels | ModelUsed | ModelFiles | ModelStatus | ModelCalibration

NONE = "none"
# What fastembed says of a model's prefixes is nobody's care: `mem` sets them.
_PREFIXES = re.compile(r"[,.] Prefixes .*| truncation|(?<=\d) input(?= tokens)")


def rows(answer: Answer) -> Iterator[Row]:
    """A model, a file's fault or a fact a line."""
    match answer:
        case KnownModels():
            yield from map(_known, answer.models)
        case ModelUsed():
            yield "model", answer.choice
        case ModelFiles(checked=False):
            yield (answer.path,)
        case ModelFiles(problems=()):
            yield "sound", answer.path
        case ModelFiles():
            yield from (("damaged", problem) for problem in answer.problems)
        case ModelStatus():
            yield from _status(answer)
        case ModelCalibration():
            yield "calibration", _told(answer)
            yield from ((f"{own:+.3f}", f"{shared:+.3f}") for own, shared in answer.points)


def notes(answer: Answer) -> Iterator[str]:
    """What to know besides, and what to do next."""
    match answer:
        case ModelUsed():
            yield from _about_use(answer)
        case ModelStatus():
            if answer.problem:
                yield f"{answer.problem} {answer.hint}".rstrip()
            if answer.active is not None and answer.wanted not in (answer.active, NONE):
                yield f"The setting names {answer.wanted}: mem migrate-vectors goes over to it."
        case ModelCalibration(source="shipped"):
            yield "The thresholds were measured with the bundled model; there is nothing to measure."
        case ModelCalibration(wanted=wanted) if wanted:
            yield f"It takes {wanted} memories to be sure; it is measured again as they come."
        case _:
            return


def _about_use(answer: ModelUsed) -> Iterator[str]:
    if answer.problem:
        yield answer.problem
    if answer.overridden is not None:
        yield f"{answer.overridden} is set and stronger than {answer.path}."
    if answer.choice == NONE:
        yield "Recall is by words alone; the vectors stay."
    elif answer.active is not None and answer.waiting:
        texts = "1 text" if answer.waiting == 1 else f"{answer.waiting} texts"
        yield f"Recall goes on with {answer.active}; mem migrate-vectors makes the vectors of {texts} anew."


def _known(model: KnownModel) -> Row:
    marks = [name for name, holds in (("active", model.active), ("wanted", model.wanted)) if holds]
    state = ", ".join(marks) or ("here" if model.here else "to be fetched")
    size = f"{model.size / 1e6:.0f} MB" if model.size else ""
    return model.choice, state, str(model.dimensions or ""), size, _PREFIXES.sub("", model.description)


def _status(answer: ModelStatus) -> Iterator[Row]:
    yield "active", answer.active or "none yet"
    yield "wanted", f"{answer.wanted} ({answer.wanted_from})"
    if answer.name:
        yield "name", answer.name
    if answer.dimensions:
        yield "dimensions", str(answer.dimensions)
    yield "vectors", f"{answer.stored} stored, {answer.pending} pending"
    if answer.calibration is not None:
        yield "calibration", _told(answer.calibration)
    if answer.reachable is not None:
        yield "answers", "yes" if answer.reachable else "no"


def _told(answer: ModelCalibration) -> str:
    match answer.source:
        case "shipped":
            return "shipped"
        case "none":
            return "none yet: the words decide what fits"
        case "rough":
            return f"rough, from {answer.memories} memories"
        case _:
            return f"measured on {answer.memories} memories"
