"""CSV and TSV: a header, then node, label, parent (the first), reach, the numbers; also as other tools write them."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from ....errors import InputError
from ....geometry.coordinates import column_names, kind_of_columns
from ....types import VectorFormat
from ....workers import apart
from ...memory import held, require_room
from ...spreadsheet import escaped, restored
from ..vectors import VectorFile, Vectors, reads_as_number
from .registry import Format

__all__ = ["FORMATS", "read", "sniff", "write"]

_SEPARATORS: dict[VectorFormat, str] = {"csv": ",", "tsv": "\t"}
# No model has more than 4096 dimensions, which in polar coordinates are twice as many numbers.
_MOST_COLUMNS = 10_000
_BYTES_PER_COLUMN = 5_000
_BYTES_PER_NAME = 200
_NODE_COLUMN, _LABEL_COLUMN, _PARENT_COLUMN, _REACH_COLUMN = "node", "label", "parent", "reach"


def sniff(data: bytes, *, separator: str) -> float:
    """By its first line; a tab is rarer in a name than a comma, so a line with both is one of TSV."""
    end = data.find(b"\n")
    if separator.encode() not in (data if end < 0 else data[:end]):
        return 0.0
    return 0.4 if separator == "\t" else 0.3


def read(source: VectorFile, *, separator: str) -> Vectors:
    """Vectors of a table: names in the first column, maybe ones headed label, parent, reach, numbers in the others."""
    data, label = source.data, source.label
    end = data.find(b"\n")
    width = data.count(separator.encode(), 0, len(data) if end < 0 else end) + 1
    if width > _MOST_COLUMNS:
        raise InputError(
            f"{label} has a first line of {width:,} columns, and a table of vectors has at most {_MOST_COLUMNS:,}: "
            "give vectors of fewer dimensions"
        )
    require_room(_BYTES_PER_COLUMN * width)
    header, has_header = _header(data, label, separator)
    labels, parents, reach = (
        header.index(name, 1) if has_header and name in header[1:] else None
        for name in (_LABEL_COLUMN, _PARENT_COLUMN, _REACH_COLUMN)
    )
    numbers = [i for i in range(1, len(header)) if i not in (labels, parents, reach)]
    if not numbers:
        raise InputError(f"{label} has no numbers after the names: each line needs a name and a vector")
    if has_header and not data.partition(b"\n")[2].strip():
        raise InputError(f"{label} has a header but no vectors")
    places = [f"c{i}" for i in range(len(header))]
    types = {place: pa.float64() for place in places} | {places[0]: pa.string()}
    types |= {places[i]: pa.string() for i in (labels, parents) if i is not None}
    try:
        with held():
            table = arrow_csv.read_csv(
                io.BytesIO(data),
                arrow_csv.ReadOptions(column_names=places, skip_rows=int(has_header)),
                arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
                arrow_csv.ConvertOptions(column_types=types, null_values=[]),
            )
    except pa.ArrowInvalid as error:
        raise InputError(_fault(data, label, separator, len(header), numbers, has_header, error)) from None
    require_room(table.nbytes + _BYTES_PER_NAME * len(table))
    values = np.column_stack([table[places[i]].to_numpy() for i in numbers])
    names = _texts(table[places[0]])
    return Vectors(
        names,
        values,
        kind_of_columns([header[i] for i in numbers]) if has_header else None,
        None if parents is None else _rows(names, _texts(table[places[parents]])),
        labels=None if labels is None else [text or None for text in _texts(table[places[labels]])],
    )


def write(vectors: Vectors, path: Path, target: Path, *, separator: str, escape_formulas: bool = False) -> list[str]:
    """Write a table that reads back to the same names and numbers."""
    kind = vectors.kind or "ball"
    texts: dict[str, Sequence[str | None]] = {_NODE_COLUMN: vectors.names}
    if vectors.labels is not None:
        texts[_LABEL_COLUMN] = vectors.labels
    if vectors.parents is not None:
        texts[_PARENT_COLUMN] = vectors.first_parents()
    columns = {
        name: pa.array([escaped(text, escape_formulas) for text in column], pa.string())
        for name, column in texts.items()
    }
    if vectors.reach is not None:
        columns[_REACH_COLUMN] = pa.array(vectors.reach)
    for name, column in zip(column_names(kind, vectors.width), vectors.values.T, strict=True):
        columns[name] = pa.array(np.ascontiguousarray(column))
    options = arrow_csv.WriteOptions(delimiter=separator, quoting_style="needed")
    apart(lambda: arrow_csv.write_csv(pa.table(columns), path, options))
    several = sum(len(rows) > 1 for rows in vectors.parents or ())
    return [f"{several:,} nodes have several parents: the table names the first"] if several else []


def _texts(column: pa.ChunkedArray) -> list[str]:
    return [restored(text) for text in column.to_pylist()]


def _header(data: bytes, label: str, separator: str) -> tuple[list[str], bool]:
    """The cells of the first line, and whether they are names of columns rather than a vector."""
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")
    try:
        first = next(csv.reader(text, delimiter=separator), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{label} cannot be read as a table of vectors: {error}") from None
    if len(first) < 2:
        raise InputError(f"{label} has one column: each line needs a name and a vector")
    return first, not all(reads_as_number(cell) for cell in first[1:])


def _rows(names: list[str], parents: list[str]) -> list[list[int]] | None:
    row = {name: i for i, name in enumerate(names)}
    return [[row[parent]] if parent in row else [] for parent in parents]


def _fault(
    data: bytes, label: str, separator: str, width: int, numbers: list[int], has_header: bool, error: Exception
) -> str:
    """The line at fault, which a fast parser does not tell."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", "replace", newline=""), delimiter=separator)
    with contextlib.suppress(csv.Error):  # a cell may be too long for it
        for place, cells in enumerate(reader):
            if not cells or (place == 0 and has_header):
                continue
            if len(cells) != width:
                return f"{label}, line {reader.line_num}: {len(cells)} columns where {width} belong"
            wrong = next((cells[i] for i in numbers if not reads_as_number(cells[i])), None)
            if wrong is not None:
                return f"{label}, line {reader.line_num}: {wrong!r} is not a number"
    return f"{label} cannot be read as a table of vectors: {' '.join(str(error).split())[:120]}"


FORMATS = tuple(
    Format(
        name,
        partial(sniff, separator=separator),
        partial(read, separator=separator),
        partial(write, separator=separator),
        holds_reach=True,
        holds_labels=True,
        escapes_formulas=True,
    )
    for name, separator in _SEPARATORS.items()
)
