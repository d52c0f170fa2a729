"""Make `store-VERSION.db.gz`, a small store as this version writes it, and `store-VERSION.json`: its answers.

    python tests/data/make_store.py

Run it once for each version that changes the schema, and keep both files for ever: `test_upgrades.py` opens
every store here with the code of the day and asks it what was asked then. The store comes about through
operations alone, under a clock and an embedder of its own; only then it is packed: SQLite's VACUUM on the
closed file, then gzip, since most of its pages are nearly empty.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import apsw

from mem import __version__, clock
from mem.caller import Caller
from mem.document import document
from mem.service import Service
from mem.store.connect import Store
from mem.truth.drafts import Clearable
from mem.values import Actor, ActorKind, Category, Kind, Layer, Level, Mode, Sort, Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HERE = Path(__file__).parent
ASKED_AT = "2026-06-01T12:00:00Z"
EVERY_STATUS = list(Status)


class Embedder:
    """As many dimensions as the bundled model, but only words: counted by their hashes."""

    name = "words-384@1"
    choice = "bundled"
    dimensions = 384
    loaded = True

    def ready(self) -> None:
        """It always is."""

    def mean(self) -> "NDArray[np.float32]":
        """A centre that is not zero."""
        import numpy as np

        return np.full(self.dimensions, 0.01, np.float32)

    def split(self, text: str) -> list[str]:
        """Pieces of at most 300 characters."""
        return [text[start : start + 300] for start in range(0, len(text), 300)]

    def embed(
        self, texts: Sequence[str], role: object, *, timeout: float | None = None
    ) -> "NDArray[np.float32]":
        """Counts of hashed words, of length one."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()) or [text]:
                row[zlib.crc32(word.encode()) % self.dimensions] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def tell(memory: Service, forward: Callable[[], None]) -> None:
    """One of everything: kinds, statuses, layers, intervals, versions, successors, projects, tags."""
    agent = memory.of(Caller(Actor(ActorKind.AGENT, "some-editor", "session-7"), Path("/")))
    forward()
    memory.store("The API uses port 80", valid_from="2026-03-01T00:00:00Z", tag=["api", "net"], importance=8)
    forward()
    memory.store(
        "We use Postgres for every service",
        kind=Kind.DECISION,
        title="Database",
        rationale="one engine for all",
        alternatives="MySQL: nobody here knows it",
        category=Category.ARCHITECTURE,
        level=Level.META_KNOWLEDGE,
        layer=Layer.PERMANENT,
        importance=9,
        confidence=0.95,
        source="docs/adr/7.md",
        event_time="2026-02-14T10:00:00Z",
    )
    forward()
    agent.store_batch(
        [
            {"content": "Deploys go out on Friday", "project": "shop", "tag": ["deploy"]},
            {"content": "The shop is written in Rust", "project": "shop", "category": "project"},
            {"content": "The blog is built by Hugo 0.125", "project": "blog", "level": "concrete_trace"},
            {"content": "用Redis做缓存，配置数据库连接池", "project": "shop", "tag": ["缓存"]},
            {"content": "Session of 3 March: the cache was chosen", "kind": "summary", "project": "shop"},
            {"content": "Grace prefers short pull requests", "kind": "observation", "category": "people"},
            {"content": "deploys go out on FRIDAY.", "project": "shop", "tag": ["repeat"]},
        ]
    )
    forward()
    memory.store("The build is red beyond 10² tests!", layer=Layer.WORKING)
    memory.store("The certificate costs 10² francs.", layer=Layer.SHORT_TERM, expires="90d")
    memory.store(
        "Standing orders. " + "The night watch writes its report before dawn. " * 20 + "Keys: blue box."
    )
    forward()
    agent.supersede(
        ["1"], content="The API uses port 81", valid_from="2026-04-01T00:00:00Z", reason="the new ingress"
    )
    forward()
    memory.supersede(["12"], content="The API uses port 82", reason="port 81 was taken")
    memory.store("All of the shop is deployed by the pipeline", project="shop", supersedes=["3", "4"])
    forward()
    memory.store("The office is closed")
    memory.supersede(["15"], ended=True, valid_to="2026-04-20T00:00:00Z")
    memory.store("The office is closed", valid_from="2026-05-25T00:00:00Z")
    forward()
    memory.update("2", importance=10, confidence=1.0, reason="nothing else is allowed")
    agent.update("8", content="Grace prefers small pull requests", add_tag=["review"], reason="a slip")
    memory.update("5", project="docs", clear=[Clearable.EVENT_TIME, Clearable.TAGS])
    forward()
    memory.archive(["7"], reason="too old to matter")
    memory.archive(["6"], reason="wrong project")
    memory.restore(["6"], reason="right after all")
    forward()
    memory.store("the api uses port 82!", tag=["restated"])
    memory.recall("which port does the API use")


def questions() -> list[tuple[str, dict[str, Any]]]:
    """What is asked of the store, as methods of the service with their arguments."""
    port = "which port does the API use"
    everywhere: dict[str, Any] = {"all_projects": True}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": port}),
        *(("recall", {"query": port, "mode": mode}) for mode in Mode),
        ("recall", {"query": port, "known_at": "2026-03-20T00:00:00Z"}),
        ("recall", {"query": port, "valid_at": "2026-03-20T00:00:00Z"}),
        ("recall", {"query": port, "valid_at": "2026-04-12T00:00:00Z", "known_at": "2026-04-12T00:00:00Z"}),
        ("recall", {"query": "数据库连接池", "project": "shop"}),
        ("recall", {"query": "Postgres for every service", "kind": [Kind.DECISION]}),
        ("recall", {"query": "the cache was chosen", "status": [Status.ARCHIVED], **everywhere}),
        ("recall", {"query": "keys in the blue box"}),
        ("recall", {"query": "what does Grace prefer in pull requests", "tag": ["review"]}),
        ("list_", {}),
        ("list_", {"project": "shop"}),
        ("list_", {"sort": Sort.IMPORTANCE, **everywhere}),
        ("list_", {"status": EVERY_STATUS, "limit": 1000, **everywhere}),
        ("list_", {"valid_at": "2026-04-12T00:00:00Z", **everywhere}),
        ("stats", everywhere),
        ("stats", {"project": "shop"}),
    ]
    for day in ("2026-03-20", "2026-03-30", "2026-04-12", "2026-05-15"):
        asked.append(("list_", {"known_at": f"{day}T00:00:00Z", **everywhere}))
    for number in range(1, 17):
        asked += [("get", {"ids": [str(number)]}), ("history", {"id": str(number)})]
    asked.append(("get", {"ids": ["1", "8"], "known_at": "2026-03-30T00:00:00Z"}))
    return asked


def ask(memory: Service, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer as JSON values, without what need not stay: sizes, scores, and all hits but the best."""
    if method == "recall":
        arguments = {**arguments, "limit": 1}
    answer = json.loads(json.dumps(document(getattr(memory, method)(**arguments))))
    passing = (
        {"trace_id", "total", "confidence", "store_bytes", "wal_bytes", "recent_recalls"}
        if method != "list_"
        else set()
    )
    for hit in answer.get("hits", ()):
        del hit["score"], hit["why"]
    return {name: value for name, value in answer.items() if name not in passing}


def opened(path: Path) -> Service:
    """A service over a store with the embedder of these stores, for a person outside any project."""
    return Service(Store(path), Embedder(), Caller(Actor(ActorKind.PERSON), Path("/")))


def main() -> None:
    """Write both files beside this one."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        instant = datetime.fromisoformat("2026-03-01T09:00:00Z")

        def now() -> datetime:
            nonlocal instant
            instant += timedelta(milliseconds=1)
            return instant

        def forward() -> None:
            nonlocal instant
            instant += timedelta(days=8)

        clock.now = now
        memory = opened(path)
        tell(memory, forward)
        instant = datetime.fromisoformat(ASKED_AT)
        answers = [ask(memory, *question) for question in questions()]
        if not memory.doctor().sound:
            raise SystemExit(memory.doctor())
        memory.close()
        packing = apsw.Connection(str(path))
        packing.execute("VACUUM")
        packing.close()
        packed = gzip.compress(path.read_bytes(), compresslevel=9, mtime=0)
    (HERE / f"store-{__version__}.db.gz").write_bytes(packed)
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False, sort_keys=True) for answer in answers)
    (HERE / f"store-{__version__}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
