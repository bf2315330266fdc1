"""Vectors as an Arrow table, for formats made of one.

Columns: node, label, parent, other_parents, synonyms, vector, point, reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import InputError
from ..memory import require_room
from .vectors import Vectors, as_kind

__all__ = ["from_table", "to_table"]

_BYTES_PER_NAME = 60


def to_table(vectors: Vectors) -> pa.Table:
    """A row a vector; other_parents is there when a node has several, and point with search vectors."""
    columns = {"node": pa.array(vectors.names, pa.string())}
    if vectors.labels is not None:
        columns["label"] = pa.array(vectors.labels, pa.string())
    if vectors.parents is not None:
        columns["parent"] = pa.array(vectors.first_parents(), pa.string())
        if any(len(rows) > 1 for rows in vectors.parents):
            others = [[vectors.names[row] for row in rows[1:]] for rows in vectors.parents]
            columns["other_parents"] = pa.array(others, pa.list_(pa.string()))
    if vectors.synonyms is not None:
        columns["synonyms"] = pa.array(vectors.synonyms, pa.list_(pa.string()))
    columns["vector"] = _lists(vectors.values)
    if vectors.points is not None:
        columns["point"] = _lists(vectors.points)
    if vectors.reach is not None:
        columns["reach"] = pa.array(vectors.reach)
    return pa.table(columns)


def from_table(table: pa.Table, info: dict[str, Any], label: str) -> Vectors:
    """The vectors of a table, whoever made it; `info` is what the file says of them."""
    kinds = {field.name: field.type for field in table.schema}
    lists = [name for name, kind in kinds.items() if _holds_numbers(kind)]
    texts = [name for name, kind in kinds.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)]
    coordinates = as_kind(info.get("coordinates"))
    vector = "vector" if "vector" in lists else next(iter(lists), None)
    if info.get("coordinates") == "search" and "point" in lists:  # search vectors are no points, these are
        vector, coordinates = "point", "polar"
    node = "node" if "node" in texts else next(iter(texts), None)
    if vector is None or node is None:
        raise InputError(
            f"{label} has the columns {', '.join(kinds)}: one of text and one of lists of numbers belong there"
        )
    require_room(2 * table.nbytes + _BYTES_PER_NAME * sum(_texts_in(table[name]) for name in kinds))
    column = table[vector].combine_chunks()
    lengths = set(np.unique(column.value_lengths().to_numpy(zero_copy_only=False)).tolist()) if len(column) else set()
    if len(lengths) != 1 or column.null_count:
        raise InputError(f"{label}: the vectors in column {vector!r} differ in length or are missing")
    values = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
    names = [str(name) for name in table[node].to_pylist()]
    parents = None
    if "parent" in texts and vector in ("vector", "point"):
        row = {name: place for place, name in enumerate(names)}
        above = [[parent] for parent in table["parent"].to_pylist()]
        if "other_parents" in kinds:
            above = [[*first, *others] for first, others in zip(above, table["other_parents"].to_pylist(), strict=True)]
        parents = [[row[parent] for parent in some if parent in row] for some in above]
    labels = table["label"].to_pylist() if "label" in texts and node != "label" else None
    synonyms = None
    if "synonyms" in kinds and _holds_text(kinds["synonyms"]):
        synonyms = [some or [] for some in table["synonyms"].to_pylist()]
    return Vectors(names, values, coordinates, parents, labels=labels, synonyms=synonyms)


def _texts_in(column: pa.ChunkedArray) -> int:
    """Texts in a column, or in its lists, which become objects of Python."""
    if _holds_text(column.type):
        return sum(len(chunk.values) for chunk in column.chunks)
    return len(column) if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) else 0


def _holds_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) and pa.types.is_string(kind.value_type))


def _lists(values: NDArray[Any]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values).reshape(-1)), values.shape[1])


def _holds_numbers(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(is_list and pa.types.is_floating(kind.value_type))
