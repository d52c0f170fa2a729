"""The rows and notes of what sums up and looks through: compress and extract-entities."""

from collections.abc import Iterator

from mem.results import Compressed, CompressedGroup, CompressedState, Extracted

Row = tuple[str, ...]


def rows(answer: Compressed | Extracted) -> Iterator[Row]:
    """A row for each group: what became of it, its summary, project, what it is, sizes, why not.

    Of entities: what is proposed, and in the end how many memories were looked through.
    """
    match answer:
        case Compressed():
            yield from map(_group, answer.groups)
        case Extracted():
            yield from (("proposed", f"#{number}") for number in answer.proposed)
            yield from (("entity", name) for name in answer.entities)
            yield from (("failed", f"#{number}") for number in answer.failed)
            done = "due" if answer.dry_run else "looked through"
            yield done, str(len(answer.memories))


def notes(answer: Compressed | Extracted) -> Iterator[str]:
    """What stands beside them."""
    match answer:
        case Compressed():
            for group in answer.groups:
                yield from (notice.message for notice in group.warnings)
            if not answer.groups:
                yield "There is nothing to sum up."
            elif answer.dry_run:
                yield "Nothing was sent or changed."
            if answer.left:
                yield f"{answer.left} more are due; --all takes them too."
        case Extracted():
            if answer.known:
                yield f"{answer.known} were known or proposed already."
            if answer.refused:
                yield f"{answer.refused} were refused: they were rejected, archived or superseded before."
            if answer.why:
                yield answer.why
            if answer.dry_run:
                yield "Nothing was sent or changed."
            if answer.proposed:
                yield "They wait for a person: mem review"
            if answer.left:
                yield f"{answer.left} more are due; --limit takes more."


def _group(group: CompressedGroup) -> Row:
    number = "" if group.id is None else f"#{group.id}"
    what = (
        f"transcript {group.transcript}" if group.transcript else group.period or f"session {group.session}"
    )
    sources = " ".join(f"#{source}" for source in group.sources)
    after = "" if group.summary_characters is None else str(group.summary_characters)
    told = group.why if group.state is not CompressedState.DUE else ""
    return group.state, number, group.project or "", what, sources, str(group.characters), after, told
