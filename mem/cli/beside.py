"""What stands beside the data of an answer, on standard error: warnings, refusals, what it leaves out."""

from collections.abc import Iterator

from mem.cli import arriving, carrying, condensing, keeping, looking_back, models, vectors
from mem.cli.rows import Answer, explained, of_upkeep
from mem.results import (
    BackedUp,
    Backfilled,
    Batch,
    Changed,
    Cited,
    Compressed,
    ContextBlock,
    Contradictions,
    EntityChanged,
    EntityPage,
    EntityView,
    Explanation,
    Exported,
    Extracted,
    ForeignNotes,
    Forgotten,
    Hooks,
    Imported,
    KnownModels,
    Log,
    Maintained,
    Memories,
    Migrated,
    ModelCalibration,
    ModelFiles,
    ModelStatus,
    ModelUsed,
    Recall,
    RestoredBackup,
    ReviewQueue,
    Sayings,
    SessionEnded,
    SessionPage,
    SessionStarted,
    Stored,
    Traced,
    Verified,
)
from mem.values import Mode

WEAK = 0.007  # confidence that texts which have nothing to do with each other still reach

_DEGRADED = {
    "no_model": "no model is configured, so this is a search by words alone",
    "no_vectors": "nothing has a vector yet, so this is a search by words alone; see mem backfill",
    "other_model": "the vectors are another model's, so this is by words alone; see mem migrate-vectors",
    "embedding_timeout": "the model did not answer in time, so this is a search by words alone",
    "embedding_failed": "the model could not be used, so this is a search by words alone; see mem doctor",
    "uncalibrated": "too few memories to know this model's scale, so nothing was left out by meaning",
    "no_vector_extension": "the vector extension did not load; every vector was compared",
}

_COMPARED = {
    "no_vectors": "nothing has a vector yet, so memories were compared by their words; see mem backfill",
    "pending_vectors": "some memories have no vector yet and were compared by their words; see mem backfill",
}


def notes(answer: Answer) -> Iterator[str]:
    """What stands beside the data: warnings, refusals, and what the answer leaves out."""
    match answer:
        case Stored():
            yield from (notice.message for notice in answer.warnings)
            if answer.refusal:
                yield f"Refused: {explained(answer.refusal)}"
        case Batch():
            for number, outcome in enumerate(answer.outcomes, start=1):
                yield from (f"Item {number}: {notice.message}" for notice in outcome.warnings)
        case Changed():
            yield from (notice.message for notice in answer.warnings)
        case Forgotten():
            yield from (notice.message for notice in answer.warnings)
            if answer.listed:
                yield "What is still in other files is yours to delete there."
            yield from (f"This remains: {left}" for left in answer.remains)
        case Recall():
            yield from _beside(answer)
        case EntityView() if len(answer.observations) < answer.total:
            yield f"{len(answer.observations)} of {answer.total} observations; mem list --entity shows all."
        case EntityPage():
            yield from (f"Note: {_DEGRADED.get(reason, reason)}." for reason in answer.degraded)
            if not answer.entities:
                yield "No entity fits."
            elif len(answer.entities) < answer.total:
                yield f"{len(answer.entities)} of {answer.total}; --limit and --offset show more."
        case EntityChanged(action="merged"):
            yield f"Moved along: observations {answer.observations}, relations {answer.relations}."
        case Sayings(warnings=(_, *_)):
            yield from (notice.message for notice in answer.warnings)
            yield from looking_back.notes(answer)
        case Traced() | Explanation() | Cited() | Sayings() | ForeignNotes():
            yield from looking_back.notes(answer)
        case ContextBlock():
            yield from (f"Note: {_DEGRADED.get(reason, reason)}." for reason in answer.degraded)
            if not answer.text:
                yield "There is nothing to say."
        case SessionStarted():
            yield from notes(answer.context)
        case SessionEnded():
            yield from (notice.message for notice in answer.warnings)
            if answer.summary:
                yield from notes(answer.summary)
        case SessionPage() if len(answer.sessions) < answer.total:
            yield f"{len(answer.sessions)} of {answer.total}; --limit and --offset show more."
        case KnownModels() | ModelUsed() | ModelFiles() | ModelStatus() | ModelCalibration():
            yield from models.notes(answer)
        case Hooks(dry_run=True):
            if not any(one.diff for one in answer.hosts):
                yield "Nothing would change."
        case Hooks():
            yield from (f"{one.host}: {one.hint}" for one in answer.hosts if one.hint)
        case Exported():
            yield from carrying.notes(answer)
        case Imported():
            yield from arriving.notes(answer)
        case Compressed() | Extracted():
            yield from condensing.notes(answer)
        case Backfilled() | Migrated():
            yield from vectors.notes(answer)
        case BackedUp() | RestoredBackup() | Verified():
            yield from keeping.notes(answer)
        case Maintained(beside=True):
            yield "Another upkeep was at work and did it all."
        case Maintained():
            if not any(of_upkeep(answer)):
                yield "There is nothing to do."
            elif answer.dry_run:
                yield "Nothing was changed."
        case Memories(warnings=(_, *_)):
            yield from (notice.message for notice in answer.warnings)
        case Log():
            yield from _beside_log(answer)
        case Contradictions():
            yield from _beside_contradictions(answer)
        case ReviewQueue() if not answer.proposals:
            yield "Nothing waits for review."
        case ReviewQueue():
            yield from (f"#{one.memory.id}: {one.obstacle}" for one in answer.proposals if one.obstacle)
            if len(answer.proposals) < answer.total:
                yield f"{len(answer.proposals)} of {answer.total}; --limit and --offset show more."
        case Memories() if len(answer.memories) < answer.total:
            yield f"{len(answer.memories)} of {answer.total}; --limit and --offset show more."
        case Memories() if not answer.memories:
            yield "No memory matches."
        case _:
            pass


def _beside(answer: Recall) -> Iterator[str]:
    for reason in answer.degraded:
        yield f"Note: {_DEGRADED.get(reason, reason)}."
    found = [hit for hit in answer.hits if not hit.surfaced]
    if not found:
        yield "Nothing fits."
    elif answer.confidence < WEAK and answer.mode is not Mode.LEXICAL:
        yield "Nothing fits well; this is what comes nearest."
    elif len(found) < answer.total:
        yield f"{len(found)} of {answer.total}; --limit shows more."
    if answer.elsewhere:
        yield f"Other projects hold {answer.elsewhere} more; --all-projects shows them."


def _beside_log(answer: Log) -> Iterator[str]:
    if not answer.events:
        yield "No event matches."
    elif len(answer.events) < answer.total:
        yield f"{len(answer.events)} of {answer.total}; --limit and --offset show more."
    if answer.elsewhere:
        yield f"{answer.elsewhere} more are about other projects; --all-projects shows them."


def _beside_contradictions(answer: Contradictions) -> Iterator[str]:
    yield from (f"Note: {_COMPARED[reason]}." for reason in answer.degraded)
    if answer.unexamined:
        yield f"The newest {answer.examined} were compared; {answer.unexamined} were not: --kind narrows it."
    if not answer.pairs:
        yield "No contradiction found."
        return
    if len(answer.pairs) < answer.total:
        yield f"{len(answer.pairs)} of {answer.total}; --limit shows more."
    yield "Nothing was changed. Where one is simply wrong: mem reject ID --reason '…'"
