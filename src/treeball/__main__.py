"""``python -m treeball``."""

from .cli.main import main

if __name__ == "__main__":
    main()
