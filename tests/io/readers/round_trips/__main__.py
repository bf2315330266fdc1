"""Write random hierarchies in every format, read them, and print how many came back."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter

from treeball.errors import MissingExtraError

from .formats import FORMATS, attempt

KINDS = ("equal", "doubted", "refused", "wrong")


def main() -> int:
    """Exit code 1 when any file came back wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.io.readers.round_trips", description=__doc__)
    parser.add_argument("--examples", type=int, default=2000, help="files in all, spread over the formats")
    parser.add_argument("--seed", type=int, help="which files are made; by default drawn anew, and printed")
    parser.add_argument("--formats", nargs="+", help="only formats whose name holds one of these texts")
    parser.add_argument("--shown", type=int, default=3, help="wrong files to print for each format")
    parser.add_argument("--refused", action="store_true", help="print what was refused, too")
    options = parser.parse_args()
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    chosen = [one for one in FORMATS if not options.formats or any(text in one.name for text in options.formats)]
    counts: Counter[tuple[str, str]] = Counter()
    began = time.monotonic()
    for number in range(options.examples):
        format = chosen[number % len(chosen)]
        try:
            kind, text = attempt(format, seed, number)
        except MissingExtraError as error:
            kind, text = "skipped", str(error)
        counts[format.name, kind] += 1
        if (kind == "wrong" and counts[format.name, kind] <= options.shown) or (kind == "refused" and options.refused):
            print(f"\n{kind.upper()}: {text}", flush=True)
    print(f"\n{'format':32}{'equal':>8}{'doubted':>9}{'refused':>9}{'wrong':>7}")
    for name in [*(one.name for one in chosen), "all"]:
        row = [sum(n for (f, k), n in counts.items() if name in (f, "all") and k == kind) for kind in KINDS]
        print(f"{name:32}{row[0]:>8,}{row[1]:>9,}{row[2]:>9,}{row[3]:>7,}")
    print(f"{options.examples:,} files in {time.monotonic() - began:.0f} s, --seed {seed}")
    return 1 if any(kind == "wrong" for _, kind in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
