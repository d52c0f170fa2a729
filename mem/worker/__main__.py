"""`python -m mem.worker STORE [RUNTIME]`: the warm worker of a store, detached from whoever starts it.

It is also started by its path, from any folder; then it finds the package that it belongs to by itself.
"""

import os
import sys


def main() -> None:
    """Become the worker of the store, unless there is one; the process that was started ends at once."""
    store = os.path.realpath(sys.argv[1])
    runtime = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None  # noqa: PTH100
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir("/")
    os.umask(0o077)
    # Whoever reads what the starter writes must not wait for our end.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    os.closerange(3, min(os.sysconf("SC_OPEN_MAX"), 1 << 16))
    from mem.worker import process

    process.run(store, runtime)


def _find_package() -> None:
    """Import `mem` from beside this file, whatever other `mem` the path may hold."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    sys.path.insert(0, source)
    import mem  # noqa: F401

    sys.path.remove(source)


if __name__ == "__main__":
    if not __package__:
        _find_package()
    main()
