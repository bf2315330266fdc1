"""The list of repairs as a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from ..hierarchy.repairs import FIELDS, Repair
from .atomic import atomic_write

__all__ = ["write_repairs"]


def write_repairs(repairs: Iterable[Repair], target: Path) -> None:
    """Write ``repairs`` to ``target``, one a row below a header; an unknown line or node is an empty cell."""
    with atomic_write(target) as path, open(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(repairs)
