"""The files of an experiment: records of finished runs and tables, each written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..io.atomic import atomic_write

__all__ = ["Record", "csv_text", "fingerprint", "make_folder", "read_json", "write_json", "write_text"]

Record = dict[str, Any]


def make_folder(path: Path, option: str) -> None:
    """Make a folder and those above it; `option` is where the user can choose another one."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the folder {str(path)!r}: {error.strerror or error}; choose another one with {option}"
        ) from error


def write_text(path: Path, text: str) -> Path:
    """Write a text, and return where it is."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def write_json(path: Path, record: Record | list[Record]) -> None:
    """Write a record that a person can read, too."""
    write_text(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Record | None:
    """The object in `path`, or None when there is none that can be read: it is made anew then."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue()


def fingerprint(hierarchy: Hierarchy) -> Record:
    """The size of a hierarchy, and the hash of the file that it was read from."""
    sha256 = None if hierarchy.report is None else hierarchy.report.sha256
    return {"nodes": hierarchy.n_nodes, "edges": hierarchy.n_edges, "sha256": sha256}
