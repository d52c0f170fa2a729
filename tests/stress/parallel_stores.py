"""Many processes store at once on a fresh home: every one succeeds, nothing is lost, the store is sound.

    python tests/stress/parallel_stores.py [--processes 40] [--same 20]

Prints what happened and exits 1 if a promise broke. The ordinary suite runs it with fewer processes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both parts in a temporary home; gives the exit status."""
    parser = argparse.ArgumentParser(description="parallel stores")
    parser.add_argument("--processes", type=int, default=40)
    parser.add_argument("--same", type=int, default=20)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mem-stress-") as folder:
        environment = _environment(Path(folder))
        try:
            broken = [*_different(environment, options.processes), *_same(environment, options.same)]
        finally:
            _mem(environment, "worker", "stop")
    for line in broken:
        sys.stdout.write(f"BROKEN: {line}\n")
    return 1 if broken else 0


def _different(environment: dict[str, str], count: int) -> list[str]:
    """Store as many different texts as there are processes."""
    started = time.perf_counter()
    answers = _at_once(
        environment, [f"Fact number {number} about the staging cluster" for number in range(count)]
    )
    took = time.perf_counter() - started
    stats = json.loads(_mem(environment, "stats", "--json").stdout)
    doctor = _mem(environment, "doctor")
    failed = [answer for answer in answers if answer[0] != 0]
    stored, pending = stats["vectors_stored"], stats["vectors_pending"]
    sys.stdout.write(
        f"{count} processes: {count - len(failed)} exit 0, {stats['total']} rows, {stored} vectors, "
        f"{pending} pending, {took:.1f} s; doctor exits {doctor.returncode}\n"
    )
    broken = [f"a store exited {code}: {error}" for code, error in failed]
    if stats["total"] != count or stored + pending != count:
        broken.append(f"{count} stores left {stats['total']} rows, {stored} vectors and {pending} pending")
    if doctor.returncode != 0:
        broken.append(f"doctor: {doctor.stdout.decode()}")
    return broken


def _same(environment: dict[str, str], count: int) -> list[str]:
    """Store one text from many processes."""
    before = json.loads(_mem(environment, "stats", "--json").stdout)["total"]
    answers = _at_once(environment, ["The one text that everybody stores"] * count)
    after = json.loads(_mem(environment, "stats", "--json").stdout)["total"]
    sys.stdout.write(f"{count} processes with one text: {after - before} row\n")
    broken = [f"a store of the one text exited {code}: {error}" for code, error in answers if code != 0]
    return broken if after == before + 1 else [*broken, f"one text left {after - before} rows"]


def _at_once(environment: dict[str, str], texts: list[str]) -> list[tuple[int, str]]:
    """Start a store for each text, then wait for all; gives exit status and standard error of each."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "mem", "store", text],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=environment["HOME"],
        )
        for text in texts
    ]
    return [
        (process.wait(), (process.stderr.read() if process.stderr else b"").decode()) for process in running
    ]


def _mem(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "mem", *arguments],
        env=environment,
        capture_output=True,
        cwd=environment["HOME"],
    )


def _environment(home: Path) -> dict[str, Any]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEM_", "CLAUDE", "XDG_"))
    }
    return {**kept, "HOME": str(home), "MEM_HOME": str(home / "mem")}


if __name__ == "__main__":
    raise SystemExit(main())
