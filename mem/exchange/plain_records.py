"""Records that have no versions: events, models, vectors, and rows of other programs.

An event is checked against its own hash, so that a forged or damaged one does not come in.
"""

from typing import Any

from mem.exchange import fields
from mem.exchange.fields import Malformed
from mem.records.format import FOREIGN_KINDS, HEADER, kind_of
from mem.store.events import canonical, misfit
from mem.values import ActorKind

MOST_DIMENSIONS, LONGEST_TEXT = 65_536, 1_000_000
_COVERED_TEXTS = ("operation", "actor")
_ALLOWED = "allow_secret"


def event(record: dict[str, Any], *, until: str) -> dict[str, Any]:
    """An event with all its fields; raises `Malformed`, also where it is not as it was written."""
    whole: dict[str, Any] = {
        "record": record["record"],
        "uid": fields.uid(record, "uid", required=True),
        "origin": fields.uid(record, "origin", required=True),
        "sequence": fields.whole(record, "sequence", 1, 2**62),
        "at": fields.instant(record, "at", until=until),
        **{name: fields.label(record, name, required=True) for name in _COVERED_TEXTS},
        "client": fields.label(record, "client"),
        "session": fields.label(record, "session"),
        "subjects": fields.texts(record, "subjects"),
        "detail": fields.mapping(record, "detail"),
        "texts": fields.mapping(record, "texts"),
        "previous": fields.digest(record, "previous"),
        "hash": fields.digest(record, "hash"),
        "extra": fields.mapping(record, "extra"),
    }
    if whole["at"] is None:
        raise Malformed("at is missing.")
    if why := misfit(_columns(whole), bytes.fromhex(whole["hash"])):
        raise Malformed(f"The event is not as it was written: {why}.")
    return whole


def model(record: dict[str, Any]) -> dict[str, Any]:
    """The model of the vectors that follow."""
    name = fields.label(record, "name", required=True)
    return {**record, "name": name, "dimensions": fields.whole(record, "dimensions", 1, MOST_DIMENSIONS)}


def vector(record: dict[str, Any]) -> dict[str, Any]:
    """The vectors of a text; whether they can be used is not known before they are written.

    Where a source does not name its model, the text itself is there to tell.
    """
    pieces = record.get("pieces")
    if not isinstance(pieces, list) or not pieces:
        raise Malformed("pieces must be a list of vectors.")
    hashed, model_name = fields.digest(record, "text_hash"), fields.label(record, "model") or ""
    whole = {"record": "vector", "model": model_name, "text_hash": hashed, "pieces": pieces}
    return (
        whole if model_name else {**whole, "text": fields.label(record, "text", LONGEST_TEXT, required=True)}
    )


def foreign(record: dict[str, Any]) -> dict[str, Any]:
    """A row of another program."""
    source, table = (fields.label(record, name, required=True) for name in ("source", "table"))
    if source == FOREIGN_KINDS and (table == HEADER or kind_of({"record": table}) is not None):
        raise Malformed(f"A {table} is no row of another program.")
    return {"record": "foreign", "source": source, "table": table, "row": fields.mapping(record, "row")}


def allows_secrets(record: dict[str, Any]) -> bool:
    """Whether a person had secrets stored by it as they were."""
    return bool(record["detail"].get(_ALLOWED)) and record["actor"] == ActorKind.PERSON


def _columns(whole: dict[str, Any]) -> list[Any]:
    """The values that the hash covers, in the order of `events.COVERED`."""
    names = ("origin", "sequence", "uid", "at", "operation", "actor", "client", "session")
    said = (canonical(whole[name]) for name in ("subjects", "detail", "texts"))
    return [*(whole[name] for name in names), *said, bytes.fromhex(whole["previous"])]
