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

__all__ = ["COLUMNS", "METADATA_KEY", "VECTORS_KEY", "edges_of", "hierarchy_columns", "names_of"]

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


def names_of(table: pa.Table, kind: str, virtual_root: str | None) -> Names:
    """Names with labels and synonyms; `kind` says whether they are to be read back as text or as integers."""
    nodes = table["node"].combine_chunks()
    values: Any = nodes
    if kind == "int":
        values = [text if text == virtual_root else int(text) for text in nodes.to_pylist()]
    return Names(values, _column(table, "label"), _column(table, "synonyms"))


def edges_of(table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
    """Child, parent and weight of every edge, by rows of the table; None where there are no weights."""
    nodes = table["node"].combine_chunks()
    first = _codes(table["parent"], nodes)
    child, parent = np.flatnonzero(first >= 0), first[first >= 0]
    weights = table["weight"].to_numpy()[child] if "weight" in table.column_names else None
    others = _column(table, "other_parents")
    if others is None:
        return child, parent, weights
    child = np.concatenate([child, np.repeat(np.arange(len(nodes)), pc.fill_null(others.value_lengths(), 0))])
    parent = np.concatenate([parent, _codes(others.flatten(), nodes)])
    order = np.argsort(child, kind="stable")
    if weights is not None:
        weights = np.concatenate([weights, table["other_weights"].combine_chunks().flatten().to_numpy()])[order]
    return child[order], parent[order], weights


def _column(table: pa.Table, name: str) -> pa.Array | None:
    return table[name].combine_chunks() if name in table.column_names else None


def _first(values: NDArray[Any], place: NDArray[np.int64], there: NDArray[np.bool_]) -> pa.Array:
    """What belongs to the first parent of every node; null for a root."""
    taken = values[place] if values.size else np.zeros(place.size, values.dtype)
    return pa.array(taken, mask=~there)


def _codes(values: pa.Array | pa.ChunkedArray, nodes: pa.Array) -> NDArray[np.int64]:
    return np.asarray(pc.fill_null(pc.index_in(values, value_set=nodes), -1)).astype(np.int64)
