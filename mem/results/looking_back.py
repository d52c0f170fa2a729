"""Looking back: what is used, what lies unused, and how much there is."""

from collections.abc import Mapping
from dataclasses import dataclass

from mem.results.graph import Contradictions
from mem.results.recalling import Memories
from mem.values import Entity, Memory


@dataclass(frozen=True, slots=True)
class UsedMemory:
    """A memory with how often it was recalled, and when last."""

    memory: Memory
    recalls: int
    last_recalled_at: str


@dataclass(frozen=True, slots=True)
class UsedMemories:
    """The memories that were recalled of late. In every section `total` counts also those not shown."""

    total: int
    memories: tuple[UsedMemory, ...]


@dataclass(frozen=True, slots=True)
class HotEntity:
    """An entity with how much was observed of it of late."""

    entity: Entity
    observations: int


@dataclass(frozen=True, slots=True)
class HotEntities:
    """The entities of which something was observed of late."""

    total: int
    entities: tuple[HotEntity, ...]


@dataclass(frozen=True, slots=True)
class Queue:
    """How many memories wait for a person, and the numbers of the oldest."""

    total: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MissedQuestion:
    """A question that found nothing, how often, and when last."""

    question: str
    asked: int
    last_at: str


@dataclass(frozen=True, slots=True)
class BlindSpots:
    """How often questions found nothing, by local day, project, operation, mode and number of terms.

    `questions` stays empty unless the user lets their texts be kept.
    """

    total: int
    by_day: Mapping[str, int]
    by_project: Mapping[str, int]
    by_operation: Mapping[str, int]
    by_mode: Mapping[str, int]
    by_terms: Mapping[str, int]
    questions: tuple[MissedQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class Reflection:
    """What stands out, by section: used, unused, waiting, not known. `days` and `stale_days` bound them."""

    project: str | None
    all_projects: bool
    days: int
    stale_days: int
    most_used: UsedMemories
    stale: Memories
    hot_entities: HotEntities
    open_decisions: Memories
    contradictions: Contradictions
    review: Queue
    blind_spots: BlindSpots
    cold: Memories


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts, coverage of vectors, size in bytes, and what the warm worker has counted, if one runs.

    `pressure` is temporary to lasting memories; `dead` are live ones that are over 30 days old and were never
    recalled, `dead_share` of all live ones. `recent` is of the last 7 days: recalls, those that found nothing
    (`miss_rate` is their share, 0-1), and apart from them the prompts that hooks searched for.
    `added_by_week` is keyed by the Mondays of the last twelve weeks.
    """

    total: int
    by_status: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_layer: Mapping[str, int]
    by_level: Mapping[str, int]
    by_category: Mapping[str, int]
    by_project: Mapping[str, int]
    by_trust: Mapping[str, int]
    temporary: int
    lasting: int
    pressure: float
    dead: int
    dead_share: float
    recent_recalls: int
    recent_misses: int
    miss_rate: float
    recent_prompts: int
    recent_prompt_misses: int
    added_by_week: Mapping[str, int]
    entities: int
    entities_by_type: Mapping[str, int]
    relations: int
    events: int
    model: str | None
    vectors_stored: int
    vectors_pending: int
    vectors_by_model: Mapping[str, int]
    store_bytes: int
    wal_bytes: int
    worker: Mapping[str, int] | None = None
