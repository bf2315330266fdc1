"""The columns of a model file that say what its hierarchy is: node, label, synonyms, parents and weights.

``parent`` and ``weight`` are those of the first parent; a node with several has the others in the list columns
``other_parents`` and ``other_weights``. All but ``node`` and ``parent`` are there only when needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..hierarchy import Hierarchy
from ..hierarchy.names import Names

__all__ = ["COLUMNS", "METADATA_KEY", "VECTORS_KEY", "edges_of", "hierarchy_columns", "names_of", "rows_of"]

METADATA_KEY, VECTORS_KEY = b"treeball", b"treeball-vectors"
COLUMNS = ("node", "label", "synonyms", "parent", "weight", "other_parents", "other_weights")


def hierarchy_columns(hierarchy: Hierarchy) -> dict[str, pa.Array]:
    """The columns of a hierarchy, a row a node."""
    names = hierarchy.names
    nodes = names.to_arrow()
    counts = np.diff(hierarchy.parent_ptr)
    has_parent = counts > 0
    first = np.zeros(hierarchy.n_nodes, np.int64)
    first[has_parent] = hierarchy.parent_ptr[:-1][has_parent]
    columns = {"node": nodes}
    if names.has_labels:
        columns["label"] = names.labels.to_arrow()
    columns["parent"] = nodes.take(_first(hierarchy.parent_idx, first, has_parent))
    if hierarchy.parent_weight is not None:
        columns["weight"] = _first(hierarchy.parent_weight, first, has_parent)
    if not hierarchy.is_tree:
        extra = np.ones(hierarchy.n_edges, bool)
        extra[first[has_parent]] = False
        offsets = np.concatenate([[0], np.cumsum(np.maximum(counts - 1, 0))]).astype(np.int32)
        columns["other_parents"] = pa.ListArray.from_arrays(offsets, nodes.take(hierarchy.parent_idx[extra]))
        if hierarchy.parent_weight is not None:
            columns["other_weights"] = pa.ListArray.from_arrays(offsets, pa.array(hierarchy.parent_weight[extra]))
    if names.synonyms is not None:
        columns["synonyms"] = names.synonyms
    return columns


def rows_of(table: pa.Table, name: str) -> NDArray[Any]:
    """The lists of numbers in a column, all of the same length, as an array (n, length)."""
    column = table[name].combine_chunks()
    _require(pa.types.is_fixed_size_list(column.type), f"{name} is no column of equally long lists")
    numbers = column.flatten()
    _require(pa.types.is_floating(numbers.type), f"{name} has other things than numbers")
    _require(not column.null_count and not numbers.null_count, f"{name} has gaps")
    return np.asarray(numbers.to_numpy()).reshape(len(column), column.type.list_size)


def names_of(table: pa.Table, kind: str, virtual_root: str | None) -> Names:
    """Names with labels and synonyms; `kind` says whether they are to be read back as text or as integers."""
    _require(kind in ("str", "int"), f"there are no names of kind {kind!r}")
    nodes = table["node"].combine_chunks()
    for name, column in (("node", nodes), ("label", _column(table, "label"))):
        _require(column is None or pa.types.is_string(column.type), f"{name} is no column of text")
    _require(not nodes.null_count, "node has gaps")
    synonyms = _column(table, "synonyms")
    _require(synonyms is None or synonyms.type.equals(pa.list_(pa.string())), "synonyms is no column of lists of text")
    values: Any = nodes
    if kind == "int":
        values = [text if text == virtual_root else int(text) for text in nodes.to_pylist()]
    names = Names(values, _column(table, "label"), synonyms)
    names.require_distinct()
    return names


def edges_of(table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
    """Child, parent and weight of every edge, by rows of the table; None where there are no weights."""
    nodes = table["node"].combine_chunks()
    first = _parents(table["parent"].combine_chunks(), nodes, "parent")
    child, parent = np.flatnonzero(first >= 0), first[first >= 0]
    weights = _weights(table["weight"].combine_chunks(), "weight")[child] if "weight" in table.column_names else None
    others = _column(table, "other_parents")
    if others is None:
        return child, parent, _finite(weights)
    child = np.concatenate([child, np.repeat(np.arange(len(nodes)), pc.fill_null(others.value_lengths(), 0))])
    parent = np.concatenate([parent, _parents(others.flatten(), nodes, "other_parents")])
    order = np.argsort(child, kind="stable")
    if weights is not None:
        more = _weights(table["other_weights"].combine_chunks().flatten(), "other_weights")
        _require(len(weights) + len(more) == len(child), "other_weights does not go with other_parents")
        weights = np.concatenate([weights, more])[order]
    _require(parent.min(initial=0) >= 0, "other_parents has gaps")
    return child[order], parent[order], _finite(weights)


def _require(condition: bool, fault: str) -> None:
    if not condition:
        raise ValueError(fault)


def _column(table: pa.Table, name: str) -> pa.Array | None:
    return table[name].combine_chunks() if name in table.column_names else None


def _first(values: NDArray[Any], place: NDArray[np.int64], there: NDArray[np.bool_]) -> pa.Array:
    """What belongs to the first parent of every node; null for a root."""
    taken = values[place] if values.size else np.zeros(place.size, values.dtype)
    return pa.array(taken, mask=~there)


def _parents(values: pa.Array, nodes: pa.Array, name: str) -> NDArray[np.int64]:
    """Rows of the nodes that are named; -1 where there is no name."""
    codes = np.asarray(pc.fill_null(pc.index_in(values, value_set=nodes), -1)).astype(np.int64)
    _require(int((codes < 0).sum()) == values.null_count, f"{name} has names that are no nodes")
    return codes


def _weights(values: pa.Array, name: str) -> NDArray[np.float64]:
    """Numbers, NaN where there is none, as a root has none."""
    _require(pa.types.is_floating(values.type), f"{name} has other things than numbers")
    return np.asarray(pc.fill_null(values, np.nan).to_numpy(zero_copy_only=False), np.float64)


def _finite(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    _require(weights is None or bool(np.isfinite(weights).all()), "an edge has a weight that is no finite number")
    return weights
