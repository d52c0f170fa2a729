"""The entry of `mem` and of `python -m mem`: it runs the application and leaves with an exit status.

0 done, 1 failed or partial, 2 usage, 3 no such id, 4 refused by a rule, 5 store unusable, 130 interrupted.
A reader that closes the pipe has had enough: that is silent and 0.
"""

import gc
import os
import sys

from mem import client

TYPE_CHECKING = False  # importing `typing` for it would cost the thin client more than its answer
if TYPE_CHECKING:
    from mem.caller import Caller


def main() -> None:
    """Run `mem` with the arguments of the process."""
    try:
        # Where the worker answers, this is the end, and nothing below is imported.
        asked = _asked(sys.argv[1:])
        if "--hook" in sys.argv:
            _hook(sys.argv[1:], asked)
        status = _run(sys.argv[1:], asked)
        if asked is not None:
            asked.finish()
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        from mem.cli import render

        render.hang_up()
        status = 0
    gc.freeze()  # what the imports made is not garbage: looking through it once more costs a tenth of a call
    sys.exit(status)


def _asked(arguments: list[str]) -> client.Unanswered | None:
    try:
        return client.answer(arguments)
    except OSError:
        return None  # the working folder is gone, or the like: the application knows what to do


def _run(arguments: list[str], asked: client.Unanswered | None) -> int:
    from mem.cli import app, inputs, render
    from mem.errors import MemError

    render.prepare()
    arguments = inputs.in_utf8(arguments)
    as_json = app.wants_json(arguments)
    try:
        session = app.Session(_caller(asked))
        status = app.run(arguments, session)
        render.finish()
        for work in session.later:
            work()
    except MemError as err:
        render.fail(err, as_json=as_json)
        return err.exit_status
    except BrokenPipeError:
        raise
    except Exception as err:
        render.fail_unexpectedly(err, as_json=as_json)
        return 1
    return status


def _hook(arguments: list[str], asked: client.Unanswered | None) -> None:
    """Answer a hook and leave the process with 0; comes back only where the command line is none.

    A hook pays for all this before every prompt: it does without the application, and tidies nothing up.
    """
    gc.disable()
    from mem.cli import hook

    if not hook.wanted(arguments):
        gc.enable()
        return
    try:
        hook.run(arguments, _caller(asked))
        if asked is not None:
            asked.finish()
    finally:
        os._exit(0)


def _caller(asked: client.Unanswered | None) -> "Caller":
    from dataclasses import replace

    from mem.caller import current_caller

    caller = replace(current_caller(), began=client.BEGAN)
    if asked is None:
        return caller
    return replace(caller, stdin=asked.stdin, waits_until=client.BEGAN if asked.waited else None)


if __name__ == "__main__":
    main()
