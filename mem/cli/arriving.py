"""The rows and notes of an import."""

from collections.abc import Iterator

from mem.results import Imported, ImportOutcome

Row = tuple[str, ...]
MOST_TOLD = 20  # bad records, and remarks, that are told one by one
MOST_LINES = 200  # numbers of further bad lines


def rows(answer: Imported) -> Iterator[Row]:
    """What became of how many records, what of single ones, then the bad records."""
    for kind, said in answer.counts.items():
        yield from ((kind, action, str(count)) for action, count in said.items())
    quiet = () if answer.dry_run else ("added", "identical")
    yield from (_outcome(one) for one in answer.outcomes if one.action not in quiet)
    yield from (("malformed", bad.place, bad.reason) for bad in answer.bad[:MOST_TOLD])


def notes(answer: Imported) -> Iterator[str]:
    """What is to be known of the source and of single records, and what to do next."""
    told = [notice.message for notice in answer.warnings]
    told += [f"{one.place}: {notice.message}" for one in answer.outcomes for notice in one.warnings]
    yield from told[:MOST_TOLD]
    if len(told) > MOST_TOLD:
        yield f"There are {len(told) - MOST_TOLD:,} more remarks; --json has them."
    yield from _about_bad(answer)
    if not answer.counts:
        yield "There is no record in it."
    if answer.left_out:
        yield f"{answer.left_out:,} more records than these were neither just added nor identical."
    if answer.applied and answer.pending:
        texts = "1 text" if answer.pending == 1 else f"{answer.pending:,} texts"
        yield f"{texts} cannot be found by meaning yet: mem backfill"


def _about_bad(answer: Imported) -> Iterator[str]:
    if not answer.malformed:
        return
    rest = answer.bad[MOST_TOLD:]
    if lines := [str(bad.line) for bad in rest if bad.line is not None][:MOST_LINES]:
        more = ", …" if answer.malformed > MOST_TOLD + len(lines) else ""
        yield f"Bad too: lines {', '.join(lines)}{more}."
    bad = "1 record is" if answer.malformed == 1 else f"{answer.malformed:,} records are"
    if answer.applied:
        yield f"{bad} bad and not imported; the others are."
    elif not answer.dry_run:
        yield f"{bad} bad, so nothing was written. Mend that, or import the others: --skip-bad"
    else:
        yield f"{bad} bad; an import would write nothing without --skip-bad."


def _outcome(one: ImportOutcome) -> Row:
    number = "" if one.id is None else f"#{one.id}"
    refusal = one.refusal
    why = f"{refusal.reason} {refusal.hint}".strip() if refusal else one.reason
    return one.place, one.action, one.record, number or one.uid or "", why
