"""The entry of `mem` and of `python -m mem`: it runs the application and leaves with an exit status.

0 done, 1 failed or partial, 2 usage, 3 no such id, 4 refused by a rule, 5 store unusable, 130 interrupted.
A reader that closes the pipe has had enough: that is silent and 0.
"""

import sys

from mem.errors import MemError


def main() -> None:
    """Run `mem` with the arguments of the process."""
    # The seam for a thin client: what it can answer never gets to the imports below.
    try:
        status = _run(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        from mem.cli import render

        render.hang_up()
        status = 0
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    from mem.cli import app, render

    render.prepare()
    as_json = app.wants_json(arguments)
    try:
        status = app.run(arguments)
        render.finish()
    except MemError as err:
        render.fail(err, as_json=as_json)
        return err.exit_status
    except BrokenPipeError:
        raise
    except Exception as err:
        render.fail_unexpectedly(err, as_json=as_json)
        return 1
    return status


if __name__ == "__main__":
    main()
