"""What is read of published files, and how long that takes: one file after the other, with the whole report of each.

    python benchmarks/read_published.py FILE_OR_FOLDER ... [--part-of]

Every file is read twice: the first time compiles kernels where need be, the second is the one that counts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import treeball


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--part-of", action="store_true")
    given = parser.parse_args()
    for path in given.paths:
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            report_on(file, given.part_of)


def report_on(file: Path, part_of: bool) -> None:
    try:
        treeball.read(file, part_of=part_of)
        started = time.perf_counter()
        hierarchy = treeball.read(file, part_of=part_of)
    except treeball.TreeballError as error:
        print(f"{file.name}: refused: {error}")
        return
    print(f"{file.name}: {time.perf_counter() - started:.2f} s")
    for line in str(hierarchy.report).splitlines():
        print(f"  {line}")


if __name__ == "__main__":
    main()
