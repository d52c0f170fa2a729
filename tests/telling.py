"""Telling a memory something new, and looking at all that it holds then."""

from pathlib import Path
from typing import Any

import apsw

from mem.service import Service
from mem.values import Memory, Status


def tell(memory: Service, content: str, **fields: Any) -> str:
    """Store a text that is new; gives its id."""
    stored = memory.store(content, **fields)
    assert stored.action == "added"
    return str(stored.id)


def get(memory: Service, id_: str | int | None) -> Memory:
    """One memory, whatever its status."""
    return memory.get([str(id_)]).memories[0]


def live(memory: Service) -> set[str]:
    """What every project holds to be true now."""
    return {found.content for found in memory.list_(all_projects=True, limit=1000).memories}


def everything(memory: Service) -> list[Memory]:
    """Every memory, whatever its status."""
    return list(memory.list_(all_projects=True, status=list(Status), limit=1000).memories)


def rows(home: Path, table: str) -> list[tuple[Any, ...]]:
    """The rows of a table of the store, read beside the service."""
    return _read(home, f'SELECT * FROM "{table}" ORDER BY 1')  # noqa: S608


def records(home: Path, table: str) -> list[dict[str, Any]]:
    """The same rows, by the names of their columns."""
    names = [row[1] for row in _read(home, f'PRAGMA table_info("{table}")')]
    return [dict(zip(names, row, strict=True)) for row in rows(home, table)]


def _read(home: Path, sql: str) -> list[tuple[Any, ...]]:
    db = apsw.Connection(str(home / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()
