"""Where the ``treeball`` command and ``python -m treeball`` begin; imports little, so that Ctrl-C finds it ready."""

import sys


def main() -> None:
    """Load and run the command line; Ctrl-C while it still loads ends it as it does later."""
    try:
        from .cli.main import main as run

        run()
    except KeyboardInterrupt:
        from .interruption import answered

        answered()
        print("treeball: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
