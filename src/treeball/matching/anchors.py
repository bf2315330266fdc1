"""Anchors: pairs of nodes that somebody knows to be the same, from a file or an object."""

from __future__ import annotations

import csv
import os
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..hierarchy import Hierarchy
from .pairs import Pairs

__all__ = ["FIRST_COLUMN", "SECOND_COLUMN", "anchor_pairs"]

FIRST_COLUMN, SECOND_COLUMN = "node_a", "node_b"
_FORM = "give two columns, a node of the first hierarchy and its counterpart in the second, with a tab or comma between"

Names = list[tuple[Hashable, Hashable]]


def anchor_pairs(anchors: Any, a: Hierarchy, b: Hierarchy) -> Pairs:
    """The pairs of nodes that are given to be the same.

    Parameters
    ----------
    anchors
        A mapping, pairs, or a file with two columns; None for none. In a file with the header that ``treeball align``
        writes, ``node_a`` and ``node_b`` among others, these two columns count, and rows that are empty or broader do
        not.
    """
    if anchors is None:
        names: Names = []
    elif isinstance(anchors, (str, os.PathLike)):
        names = _read(Path(anchors))
    else:
        names = _pairs(anchors.items() if isinstance(anchors, Mapping) else anchors)
    first, second = (
        side.names.find_many(pair[place] for pair in names).astype(np.int64) for place, side in enumerate((a, b))
    )
    pairs = Pairs.of(first, second, a.n_nodes, b.n_nodes)
    several = np.flatnonzero(np.diff(pairs.first) == 0)
    if several.size:
        shown = [b.names.shown(int(pairs.second[place])) for place in (several[0], several[0] + 1)]
        node = a.names.shown(int(pairs.first[several[0]]))
        raise InputError(f"the anchors give two counterparts to {node!r}, {shown[0]!r} and {shown[1]!r}: keep one")
    return pairs


def _pairs(given: Iterable[Any]) -> Names:
    pairs = list(given)
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        raise InputError("anchors must be pairs (node of the first, node of the second), a mapping or a file")
    return [(first, second) for first, second in pairs]


def _read(path: Path) -> Names:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r} with anchors: {_FORM}") from None
    except IsADirectoryError:
        raise InputError(f"{str(path)!r} is a directory: {_FORM}") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not text in UTF-8: {_FORM}") from None
    first_line = text.partition("\n")[0]
    reader = csv.reader(text.splitlines(), delimiter="\t" if "\t" in first_line else ",", strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InputError(f"{str(path)!r}, line {reader.line_num}, cannot be read ({error}): {_FORM}") from None
    has_header = bool(rows) and {FIRST_COLUMN, SECOND_COLUMN} <= set(rows[0][1])
    header = rows.pop(0)[1] if has_header else [FIRST_COLUMN, SECOND_COLUMN]
    for line, row in rows:
        if len(row) != len(header):
            raise InputError(f"{str(path)!r}, line {line}, has {len(row)} columns where {len(header)} belong: {_FORM}")
    found = [dict(zip(header, row, strict=True)) for _, row in rows]
    kept = [row for row in found if not has_header or (row[SECOND_COLUMN] and row.get("kind") != "broader")]
    return [(row[FIRST_COLUMN].strip(), row[SECOND_COLUMN].strip()) for row in kept]
