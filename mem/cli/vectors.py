"""The rows and notes of what makes vectors: `backfill` and `migrate-vectors`."""

from collections.abc import Iterator

from mem.results import Backfilled, Migrated, NotEmbedded

Row = tuple[str, ...]

BESIDE = "Another run is at work on the vectors of this store; this one left it to it."


def rows(answer: Backfilled | Migrated) -> Iterator[Row]:
    """What was made, one kind a line; then each text that failed, with what has it and why."""
    match answer:
        case Backfilled(model=None) | Backfilled(beside=True):
            return
        case Backfilled(dry_run=True):
            yield "would embed", str(answer.waiting)
        case Backfilled():
            yield "embedded", str(answer.embedded)
            yield "skipped", str(sum(answer.skipped.values()))
            yield "failed", str(len(answer.failed))
            yield from (("waiting", str(answer.waiting)),) if answer.waiting else ()
        case Migrated(beside=True):
            return
        case Migrated():
            yield from _of_migration(answer)
    yield from map(_failed, answer.failed)


def notes(answer: Backfilled | Migrated) -> Iterator[str]:
    """What to know besides: why it stopped, and what to do next."""
    if answer.beside:
        yield BESIDE
        return
    match answer:
        case Backfilled():
            yield from _about_backfill(answer)
        case Migrated():
            yield from _about_migration(answer)


def _about_backfill(answer: Backfilled) -> Iterator[str]:
    if answer.model is None:
        yield "The setting model is none: nothing gets a vector. To have them: mem config set model bundled"
    elif answer.stopped:
        yield f"{answer.model} could not go on: {answer.stopped} What was made is kept: mem backfill goes on."
    elif answer.dry_run:
        yield "Nothing was changed." if answer.waiting else "Everything has its vector."
    elif answer.failed:
        yield "What failed is tried again by the next run; mem get ID shows the text."
    elif answer.waiting:
        yield "mem backfill goes on with what waits."
    elif not answer.embedded:
        yield "Everything has its vector."


def _of_migration(answer: Migrated) -> Iterator[Row]:
    would = "would be " if answer.dry_run else ""
    for name, count in (
        (f"{would}converted", answer.converted),
        (
            "would embed" if answer.dry_run else "embedded",
            answer.waiting if answer.dry_run else answer.embedded,
        ),
        (f"{would}indexed", answer.indexed),
        ("waiting", 0 if answer.dry_run else answer.waiting),
    ):
        yield from ((name, str(count)),) if count else ()
    if answer.switched:
        yield f"{would}switched", answer.before or "", answer.model
    if answer.pruned:
        yield f"{would}pruned", str(answer.pruned), f"{answer.pruned_bytes} bytes"


def _about_migration(answer: Migrated) -> Iterator[str]:
    searched = "by words alone" if answer.before is None else f"with {answer.before}"
    if answer.stopped:
        yield f"{answer.model} could not go on: {answer.stopped} What was made is kept."
    if answer.dry_run:
        yield "Nothing was changed." if any(_of_migration(answer)) else "There is nothing to do."
    elif not any(_of_migration(answer)) and not answer.failed:
        yield "There is nothing to do."
    if not answer.dry_run and not answer.switched and answer.before != answer.model:
        yield f"Recall goes on {searched} until nothing waits any more: mem migrate-vectors goes on."
    if (
        answer.switched
        and not answer.dry_run
        and answer.before not in (None, answer.model)
        and not answer.pruned
    ):
        yield f"The vectors of {answer.before} are kept; mem migrate-vectors --prune drops them."
    if answer.pruned and not answer.dry_run:
        yield "mem maintain --vacuum gives their space back."
    if answer.setting is not None:
        agree = f"mem config set model {answer.choice}"
        yield f"The setting model names {answer.setting}, for a store without vectors. To change it: {agree}"


def _failed(one: NotEmbedded) -> Row:
    return "failed", one.kind, "" if one.id is None else f"#{one.id}", one.reason
