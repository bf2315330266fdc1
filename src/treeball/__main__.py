"""Where the ``treeball`` command and ``python -m treeball`` begin; imports little, so that Ctrl-C finds it ready."""

import atexit
import os
import sys


def main() -> None:
    """Load and run the command line; Ctrl-C while it still loads, or ends, ends it as it does later."""
    try:
        code = _run()
        atexit._run_exitfuncs()
        from .interruption import INTERRUPTED, ctrl_c_came

        _leave(INTERRUPTED if ctrl_c_came() else code)
    except KeyboardInterrupt:
        from .interruption import INTERRUPTED, answered

        answered()
        print("treeball: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)


def _run() -> int:
    """Run the command line; returns the exit code."""
    from .cli.main import main as run

    try:
        run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


def _leave(code: int) -> None:
    """End at once: while the interpreter takes itself apart, Ctrl-C would end it by the signal or with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # the stream is closed, or its reader has gone
            code = code or 1
    os._exit(code)


if __name__ == "__main__":
    main()
