"""Embedding models: known, chosen, fetched and calibrated."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be chosen: `choice` as `mem model use` takes it.

    `size` in bytes, 0 where nobody knows; `here`: it can be used without fetching anything. `active` is the
    one whose vectors the store searches, `wanted` the one that the setting names.
    """

    choice: str
    dimensions: int | None
    size: int
    description: str
    here: bool
    active: bool = False
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class KnownModels:
    """The models that can be chosen by name."""

    models: tuple[KnownModel, ...]


@dataclass(frozen=True, slots=True)
class ModelUsed:
    """The setting `model` after `mem model use`, and the file that holds it.

    `active` is the model whose vectors the store searches, None without vectors; `waiting` is how many texts
    `mem migrate-vectors` would embed. `overridden` names what is stronger than the file.
    """

    choice: str
    path: str
    active: str | None
    waiting: int = 0
    problem: str = ""
    overridden: str | None = None


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Where the files of a model lie and, if they were looked at, what is wrong with them."""

    choice: str
    path: str
    checked: bool = False
    problems: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        return int(bool(self.problems))


@dataclass(frozen=True, slots=True)
class ModelCalibration:
    """What the cosines of a model mean: `points` are (its own, the bundled model's) in rising order.

    `source` is how they came about: `shipped`, `measured`, `rough` (from too few memories), or `none`.
    `wanted` is how many memories a calibration needs, where it has fewer.
    """

    choice: str
    source: str
    memories: int
    wanted: int = 0
    points: tuple[tuple[float, float], ...] = ()
    centred: bool = False


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The model whose vectors a store searches, and the one that the setting names.

    `problem` is why it cannot be used now; `reachable` whether both gave a vector, where they were asked
    (`--check`).
    """

    active: str | None
    name: str | None
    dimensions: int | None
    wanted: str
    wanted_from: str
    stored: int
    pending: int
    calibration: ModelCalibration | None
    problem: str = ""
    hint: str = ""
    reachable: bool | None = None

    @property
    def exit_status(self) -> int:
        return int(bool(self.problem))
