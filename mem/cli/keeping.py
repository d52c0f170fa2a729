"""The rows and notes of backups: what was written, put in place, or held against the store."""

from collections.abc import Iterator

from mem.results import BackedUp, Compared, RestoredBackup, Verified

Row = tuple[str, ...]


def rows(answer: BackedUp | RestoredBackup | Verified) -> Iterator[Row]:
    """The file first, with its size and digest; of a comparison the kinds of record, with what differs."""
    match answer:
        case BackedUp():
            facts = f"{answer.memories} memories", f"{answer.bytes} bytes", answer.digest
            yield "backed up", answer.path, *facts
            yield from (("removed", path) for path in answer.removed)
        case RestoredBackup():
            yield "restored", answer.path, f"{answer.memories} memories"
            yield "kept", answer.kept
            yield from (("rejected", f"#{number}") for number in answer.rejected)
        case Verified():
            yield "same" if answer.same else "different", answer.path, answer.digest
            yield from map(_compared, answer.kinds)


def notes(answer: BackedUp | RestoredBackup | Verified) -> Iterator[str]:
    """Warnings, and what was forgotten again."""
    yield from (notice.message for notice in answer.warnings)
    match answer:
        case RestoredBackup(forgotten=count) if count:
            yield f"Rows that were forgotten since, and erased again: {count}."
        case _:
            pass


def _compared(one: Compared) -> Row:
    counts = {
        "same": one.same,
        "only in the file": one.only_in_file,
        "only in the store": one.only_in_store,
        "different": one.different,
    }
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return one.kind, told, ", ".join(one.examples)
