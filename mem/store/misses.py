"""Questions that found nothing: counted by day without a word of them; their texts only where allowed.

Both are kept for 30 days, and at most 1,000 rows of each. What cannot be counted soon enough is not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import apsw

from mem import clock
from mem.store.connect import select
from mem.values import Scope

KEPT = timedelta(days=30)
MOST = 1_000
LONGEST_QUESTION = 500  # characters of one that are kept
MOST_TERMS = 20  # a question of more terms counts as one of so many


@dataclass(frozen=True, slots=True)
class Missed:
    """A question that found nothing: the project that it was asked in, and how many terms it has.

    `text` is the question itself, None where texts are not to be kept. Only what was asked in so many words
    `tells` whether they are; a prompt that a hook saw says nothing of it.
    """

    project: str | None
    terms: int
    text: str | None = None
    tells: bool = True


@dataclass(frozen=True, slots=True)
class Counted:
    """How often questions found nothing, by local day, project, operation, mode and number of terms."""

    total: int
    by_day: Mapping[str, int]
    by_project: Mapping[str, int]
    by_operation: Mapping[str, int]
    by_mode: Mapping[str, int]
    by_terms: Mapping[str, int]


def record(db: apsw.Connection, missed: Missed, *, operation: str, mode: str, at: str) -> None:
    """Count a question that found nothing; drops the texts that were kept if no more are to be."""
    db.execute(
        """INSERT INTO misses (day, project, operation, mode, terms, asked) VALUES (?, ?, ?, ?, ?, 1)
           ON CONFLICT DO UPDATE SET asked = asked + 1""",
        (clock.local_day(at), missed.project or "", operation, mode, min(missed.terms, MOST_TERMS)),
    )
    if missed.text is not None:
        db.execute(
            """INSERT INTO missed_questions (project, question, asked, last_at) VALUES (?, ?, 1, ?)
               ON CONFLICT DO UPDATE SET asked = asked + 1, last_at = excluded.last_at""",
            (missed.project or "", missed.text[:LONGEST_QUESTION], at),
        )
    elif missed.tells:
        db.execute("DELETE FROM missed_questions")
    prune(db, at)


def prune(db: apsw.Connection, at: str) -> None:
    """Take away what is kept no longer by an instant."""
    db.execute(
        """DELETE FROM misses WHERE day < ? OR id IN (
             SELECT id FROM misses ORDER BY day DESC, id DESC LIMIT -1 OFFSET ?)""",
        (clock.local_day(_oldest(at)), MOST),
    )
    db.execute(
        """DELETE FROM missed_questions WHERE last_at < ? OR id IN (
             SELECT id FROM missed_questions ORDER BY last_at DESC, id DESC LIMIT -1 OFFSET ?)""",
        (_oldest(at), MOST),
    )


def _oldest(at: str) -> str:
    return clock.to_text(clock.from_text(at) - KEPT)


def count(db: apsw.Connection, scope: Scope, *, since: str) -> Counted:
    """The counts of a scope from the local day of an instant on."""
    rows = select(
        db,
        """SELECT day, iif(project = '', '(global)', project), operation, mode, terms, asked FROM misses
           WHERE day >= ? AND (? OR project IN ('', ?)) ORDER BY day""",
        (clock.local_day(since), scope.everywhere, scope.project or ""),
    )

    def by(column: int) -> dict[str, int]:
        found: dict[str, int] = {}
        for row in sorted(rows, key=lambda row: row[column]):
            found[str(row[column])] = found.get(str(row[column]), 0) + row[-1]
        return found

    return Counted(sum(row[-1] for row in rows), *(by(column) for column in range(5)))


def questions(
    db: apsw.Connection, scope: Scope, *, since: str, limit: int
) -> tuple[int, list[tuple[str, int, str]]]:
    """How many texts a scope has since an instant; some with how often and when they were asked last.

    The most often asked come first.
    """
    condition = "last_at >= ? AND (? OR project IN ('', ?))"
    values = (since, scope.everywhere, scope.project or "")
    total = db.execute(f"SELECT count(*) FROM missed_questions WHERE {condition}", values).get
    rows = select(
        db,
        f"""SELECT question, asked, last_at FROM missed_questions WHERE {condition}
            ORDER BY asked DESC, last_at DESC, id DESC LIMIT ?""",
        (*values, limit),
    )
    return int(total), [(row[0], row[1], row[2]) for row in rows]
