"""Several processes and threads write one store at the same time: nothing is lost, nothing is there twice."""

import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import process_environment
from telling import everything, get, live, rows, tell

from mem.service import Service, open_service

# One process loads `mem` and becomes many: each child opens the store for itself, when all are ready.
_CHILDREN = """
import json, os, sys
from mem.errors import MemError
from mem.service import open_service

start, go = os.pipe()
answers, tell = os.pipe()
children = []
for calls in json.load(sys.stdin):
    child = os.fork()
    if child:
        children.append(child)
        continue
    os.close(go)
    os.read(start, 1)
    done = []
    try:
        service = open_service()
        for name, arguments in calls:
            try:
                answer = getattr(service, name)(**arguments)
                done.append(str(answer.action))
            except MemError as err:
                done.append(err.code)
        service.close()
    except BaseException as err:
        done.append(repr(err))
    os.write(tell, (json.dumps(done) + "\\n").encode())
    os._exit(0)
os.close(go)
os.close(tell)
for child in children:
    os.waitpid(child, 0)
with open(answers) as lines:
    print(json.dumps([json.loads(line) for line in lines]))
"""

Call = tuple[str, dict[str, Any]]


def together(*calls: list[Call]) -> list[list[str]]:
    """Let one process each make these calls at the same time; gives the actions or error codes of each."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILDREN],
        input=json.dumps(calls).encode(),
        capture_output=True,
        env=process_environment({"MEM_MODEL": "none"}),
        timeout=60,
    )
    assert done.stderr == b""
    answers: list[list[str]] = json.loads(done.stdout)
    assert len(answers) == len(calls)
    return answers


@pytest.fixture
def words_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private home without an embedding model."""
    monkeypatch.setenv("MEM_MODEL", "none")
    return home


def is_sound(service: Service) -> bool:
    checks = service.doctor().checks
    assert [f"{check.name}: {check.detail}" for check in checks if not check.ok] == []
    return True


def test_two_writers_and_an_updater_lose_nothing(words_only: Path) -> None:
    service = open_service()
    tell(service, "The counter")
    stores = [
        [("store", {"content": f"Writer {writer} noted fact {number}"}) for number in range(30)]
        for writer in ("ada", "grace")
    ]
    updates = [("update", {"id": "1", "add_tag": [f"t{number}"]}) for number in range(30)]
    answers = together(*stores, updates)
    assert Counter(action for answer in answers for action in answer) == {"added": 60, "updated": 30}
    assert live(service) == {
        "The counter",
        *(f"Writer {writer} noted fact {number}" for writer in ("ada", "grace") for number in range(30)),
    }
    assert get(service, 1).tags == tuple(f"t{number}" for number in range(30))
    assert len(service.history("1").changes) == 31
    assert len(rows(words_only, "events")) == 91
    assert (
        service.recall("what did grace note as fact 17", limit=1).hits[0].memory.content.endswith("fact 17")
    )
    assert is_sound(service)
    service.close()


def test_twenty_processes_that_store_one_text_in_a_fresh_home_leave_one_row(words_only: Path) -> None:
    said = [("store", {"content": "The deploy key rotates every 90 days"})]
    answers = together(*[said] * 20)
    assert Counter(answer for [answer] in answers) == {"added": 1, "already_known": 19}
    service = open_service()
    assert [found.content for found in everything(service)] == ["The deploy key rotates every 90 days"]
    assert [row[4] for row in rows(words_only, "usage")] == [19]
    assert [part.name for part in words_only.iterdir() if part.suffix == ".new"] == []
    assert is_sound(service)
    service.close()


def test_of_several_that_supersede_one_memory_only_the_first_succeeds(words_only: Path) -> None:
    service = open_service()
    tell(service, "The API listens on port 80")
    answers = together(
        *[
            [("supersede", {"ids": ["1"], "content": f"The API listens on port {port}"})]
            for port in range(81, 89)
        ]
    )
    assert Counter(answer for [answer] in answers) == {"superseded": 1, "refused": 7}
    assert len(everything(service)) == 2
    assert live(service) == {everything(service)[0].content}
    assert is_sound(service)
    service.close()


_ENDLESS = """
import itertools
from mem.service import open_service

service = open_service()
for number in itertools.count():
    print(service.store(f"Fact {number} of the writer that dies").id, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_was_told_is_stored(words_only: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _ENDLESS], stdout=subprocess.PIPE, env=process_environment(), text=True
    ) as writer:
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline() for _ in range(25)]
        writer.kill()
        acknowledged += writer.stdout.readlines()
    service = open_service()
    held = {found.id for found in everything(service)}
    assert held >= {int(line) for line in acknowledged}
    assert len(held) - len(acknowledged) <= 1
    assert service.recall("fact 7 of the writer", limit=1).total > 0
    assert is_sound(service)
    service.close()


def test_threads_of_one_service_lose_nothing(memory: Service) -> None:
    failures: list[BaseException] = []

    def write(name: str) -> None:
        try:
            for number in range(10):
                memory.store(f"Thread {name} noted fact {number}")
                memory.recall(f"fact {number}")
        except BaseException as err:
            failures.append(err)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(live(memory)) == 40
    assert memory.stats().vectors_stored == 40
    assert is_sound(memory)
