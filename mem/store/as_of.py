"""What a table held at a moment of record time: the present rows and the versions, one row each."""

import apsw

from mem.values import Moment


def select_as_of(db: apsw.Connection, table: str, moment: Moment) -> str:
    """Fill a temporary table with what a versioned table held; gives its name.

    Without `known_at` the present rows are what was held, and the table itself is named.
    """
    if moment.known_at is None:
        return table
    name = f"as_of_{table}"
    names = ", ".join(str(row[1]) for row in db.execute(f"PRAGMA table_info({table})"))
    db.execute(f"DROP TABLE IF EXISTS temp.{name}")
    db.execute(f"CREATE TEMP TABLE {name} AS SELECT {names} FROM {table} WHERE 0")
    db.execute(
        f"""INSERT INTO {name}
            SELECT {names} FROM {table} WHERE changed_at <= ?1
            UNION ALL
            SELECT {names} FROM {table}_versions WHERE changed_at <= ?1 AND replaced_at > ?1""",
        (moment.known_at,),
    )
    return name
