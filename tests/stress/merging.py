"""Many histories of stores that go on by themselves and exchange exports: they agree in the end.

    python tests/stress/merging.py [--histories 300] [--seed 0]

Each history is made from its own number, so that a broken one can be run again: --seed NUMBER --histories 1.
Prints how many there were, and exits 1 if two stores that took the same exports differ.
"""

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from histories import Machine, act

from mem.caller import Caller
from mem.values import Actor, ActorKind


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them in a temporary home; gives the exit status."""
    parser = argparse.ArgumentParser(description="histories of stores that exchange exports")
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    broken = []
    for seed in range(options.seed, options.seed + options.histories):
        with tempfile.TemporaryDirectory(prefix="mem-stress-") as folder:
            # Not where the stores lie: what is forgotten goes out of every store in the folders of `mem` too.
            os.environ.update(HOME=folder, MEM_HOME=str(Path(folder) / "home"), MEM_WORKER="off")
            try:
                agree(Path(folder), seed)
            except AssertionError as err:
                broken.append(seed)
                sys.stdout.write(f"BROKEN: history {seed}: {str(err)[:500]}\n")
    sys.stdout.write(f"{options.histories} histories, {len(broken)} broken\n")
    return 1 if broken else 0


def agree(folder: Path, seed: int) -> None:
    """One history of three stores, then all their exports into two empty stores and one of the three."""
    chance = random.Random(seed)  # noqa: S311
    person = Caller(Actor(ActorKind.PERSON), folder)
    machines = [Machine.at(folder / name, person) for name in "abcxy"]
    stores, fresh = machines[:3], machines[3:]
    try:
        old: list[Path] = []
        for _ in range(chance.randrange(8, 70)):
            one, other = chance.sample(stores, 2)
            if chance.random() < 0.15:
                file = other.export()
                one.take(file)
                old += [file] if chance.random() < 0.3 else []
            else:
                act(one, chance)
        files = [*(store.export() for store in stores), *old]
        for taking in (*fresh, stores[0]):
            taking.take(*chance.sample(files, len(files)), chance.choice(files))
        assert len({machine.digest for machine in (*fresh, stores[0])}) == 1, "the stores differ"
    finally:
        for machine in machines:
            machine.store.close()


if __name__ == "__main__":
    sys.exit(main())
