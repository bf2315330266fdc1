"""Anchors: pairs of nodes that somebody knows to be the same, from a file or an object."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..io.spreadsheet import restored
from .pairs import Pairs

__all__ = ["FIRST_COLUMN", "SECOND_COLUMN", "anchor_pairs"]

FIRST_COLUMN, SECOND_COLUMN = "node_a", "node_b"
_FORM = "give two columns, a node of the first hierarchy and its counterpart in the second, with a tab or comma between"
_TABLE = f"give a table that treeball align wrote, or {_FORM.removeprefix('give ')}"


class _Anchor(NamedTuple):
    """A pair of nodes as they were given, and the place in the file, if it was a file."""

    first: Hashable
    second: Hashable
    place: str = ""


def anchor_pairs(anchors: Any, a: Hierarchy, b: Hierarchy) -> Pairs:
    """The pairs of nodes that are given to be the same.

    Parameters
    ----------
    anchors
        A mapping, pairs, or a file with two columns; None for none. In a file that ``treeball align`` wrote, of any
        ending, the columns ``node_a`` and ``node_b`` count, and rows that are empty or broader do not.
    """
    if anchors is None:
        given: list[_Anchor] = []
    elif isinstance(anchors, (str, os.PathLike)):
        given = _read(Path(anchors))
    else:
        given = _pairs(anchors.items() if isinstance(anchors, Mapping) else anchors)
    places = [anchor.place for anchor in given]
    first = _codes([anchor.first for anchor in given], places, a)
    second = _codes([anchor.second for anchor in given], places, b)
    pairs = Pairs.of(first, second, a.n_nodes, b.n_nodes)
    several = np.flatnonzero(np.diff(pairs.first) == 0)
    if several.size:
        shown = [b.names.shown(int(pairs.second[place])) for place in (several[0], several[0] + 1)]
        node = a.names.shown(int(pairs.first[several[0]]))
        raise InputError(f"the anchors give two counterparts to {node!r}, {shown[0]!r} and {shown[1]!r}: keep one")
    return pairs


def _codes(nodes: list[Hashable], places: list[str], side: Hierarchy) -> NDArray[np.int64]:
    """The codes of nodes; an error says at which place of a file it is."""
    try:
        return side.names.find_many(nodes).astype(np.int64)
    except InputError as error:
        wrong = (place for node, place in zip(nodes, places, strict=True) if len(side.names.look_up(node)) != 1)
        place = next(wrong, "")
        raise InputError(f"{place}: {error}" if place else str(error)) from None


def _pairs(given: Iterable[Any]) -> list[_Anchor]:
    pairs = list(given)
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        raise InputError("anchors must be pairs (node of the first, node of the second), a mapping or a file")
    return [_Anchor(first, second) for first, second in pairs]


def _read(path: Path) -> list[_Anchor]:
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a directory: {_FORM}")
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r} with anchors: {_FORM}")
    match path.suffix.lower():
        case ".json":
            return _of_table(path, _json_rows(path))
        case ".parquet":
            return _of_table(path, _parquet_rows(path))
        case _:
            return _read_text(path)


def _read_text(path: Path) -> list[_Anchor]:
    text = _text(path)
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
    found = [(f"{str(path)!r}, line {line}", dict(zip(header, row, strict=True))) for line, row in rows]
    kept = [(place, row) for place, row in found if not has_header or _counts(row)]
    return [_anchor({name: restored(cell) for name, cell in row.items()}, place) for place, row in kept]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not text in UTF-8: {_FORM}") from None


def _json_rows(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not valid JSON ({error}): {_TABLE}") from None


def _parquet_rows(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path).read().to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{str(path)!r} cannot be read as Parquet ({error}): {_TABLE}") from None


def _of_table(path: Path, rows: Any) -> list[_Anchor]:
    """The anchors in a list of rows, each with its columns by name."""
    columns = {FIRST_COLUMN, SECOND_COLUMN}
    if not isinstance(rows, list) or not all(isinstance(row, dict) and columns <= set(row) for row in rows):
        raise InputError(f"{str(path)!r} has rows without {FIRST_COLUMN} and {SECOND_COLUMN}: {_TABLE}")
    return [_anchor(row, f"{str(path)!r}, row {number}") for number, row in enumerate(rows, 1) if _counts(row)]


def _counts(row: dict[str, Any]) -> bool:
    return row[SECOND_COLUMN] not in (None, "") and row.get("kind") != "broader"


def _anchor(row: dict[str, Any], place: str) -> _Anchor:
    return _Anchor(str(row[FIRST_COLUMN]).strip(), str(row[SECOND_COLUMN]).strip(), place)
