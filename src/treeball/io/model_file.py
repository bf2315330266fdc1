"""The saved model: one Parquet file with columns node, parent, vector, reach, and JSON provenance in its metadata.

A node with several parents names the others in the list column ``other_parents``, and edges with weights have them in
``weight`` and ``other_weights``; these columns are there only when needed. The column ``reach`` is left out where it is
not known, as in a checkpoint, and files of earlier versions have none: it is computed when it is first asked for.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from .._version import __version__
from ..embedding import Embedding, Provenance
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..hierarchy.names import Names
from .atomic import atomic_write

METADATA_KEY = b"treeball"
FORMAT_VERSION = 2
# What the metadata say of the file itself; the rest is the provenance.
_OF_THE_FILE = ("format", "geometry", "dim", "names", "virtual_root")


def save(embedding: Embedding, path: Path) -> Path:
    """Write `embedding` to `path` atomically."""
    table = to_table(embedding)
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
    return path


def to_table(embedding: Embedding, vectors: NDArray[np.floating] | None = None) -> pa.Table:
    """The Arrow table of a model, metadata included; `vectors` stand for its own, as they are when rounded."""
    hierarchy = embedding.hierarchy
    vectors = embedding.vectors if vectors is None else vectors
    nodes = hierarchy.names.to_arrow()
    counts = np.diff(hierarchy.parent_ptr)
    has_parent = counts > 0
    first = np.zeros(hierarchy.n_nodes, np.int64)
    first[has_parent] = hierarchy.parent_ptr[:-1][has_parent]
    columns = {
        "node": nodes,
        "parent": nodes.take(_first(hierarchy.parent_idx, first, has_parent)),
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1]),
    }
    if embedding.spare is not None:
        spare = embedding.spare
        columns["spare"] = pa.FixedSizeListArray.from_arrays(pa.array(spare.reshape(-1)), spare.shape[1])
    reach = embedding.known_reach()
    if reach is not None:
        columns["reach"] = pa.array(reach)
    if hierarchy.parent_weight is not None:
        columns["weight"] = _first(hierarchy.parent_weight, first, has_parent)
    if not hierarchy.is_tree:
        extra = np.ones(hierarchy.n_edges, bool)
        extra[first[has_parent]] = False
        offsets = np.concatenate([[0], np.cumsum(np.maximum(counts - 1, 0))]).astype(np.int32)
        columns["other_parents"] = pa.ListArray.from_arrays(offsets, nodes.take(hierarchy.parent_idx[extra]))
        if hierarchy.parent_weight is not None:
            columns["other_weights"] = pa.ListArray.from_arrays(offsets, pa.array(hierarchy.parent_weight[extra]))
    description = {
        **embedding.provenance.to_dict(),
        "format": FORMAT_VERSION,
        "version": __version__,
        "geometry": embedding.geometry,
        "dim": embedding.dim,
        "names": _kind(hierarchy),
        "virtual_root": None if hierarchy.virtual_root is None else str(hierarchy.names[hierarchy.virtual_root]),
    }
    text = json.dumps(description, sort_keys=True, ensure_ascii=False)
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: text.encode()})


def _first(values: NDArray[Any], place: NDArray[np.int64], there: NDArray[np.bool_]) -> pa.Array:
    """What belongs to the first parent of every node; null for a root."""
    taken = values[place] if values.size else np.zeros(place.size, values.dtype)
    return pa.array(taken, mask=~there)


def load(path: str | os.PathLike[str]) -> Embedding:
    """Read a model that :meth:`Embedding.save` wrote; anything else is refused with one sentence."""
    path = Path(path)
    table = _read_table(path)
    try:
        description = json.loads((table.schema.metadata or {})[METADATA_KEY])
        return _from_table(table, description)
    except InputError as error:
        raise InputError(f"{str(path)!r} holds no usable model: {error}") from error
    except (KeyError, ValueError, TypeError, AttributeError, pa.ArrowException) as error:
        raise InputError(
            f"{str(path)!r} is a Parquet file but not a treeball model; make one with  treeball fit FILE -o MODEL"
        ) from error


def is_model(path: Path) -> bool:
    """Whether `path` looks like a saved model: a Parquet file whose metadata says so."""
    try:
        return METADATA_KEY in (pq.read_schema(path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def _read_table(path: Path) -> pa.Table:
    remedy = "make a model with  treeball fit FILE -o MODEL"
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}; {remedy}")
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a directory, not a model file; {remedy}")
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
        if magic != b"PAR1":
            raise InputError(f"{str(path)!r} is not a treeball model (not a Parquet file); {remedy}")
        return pq.ParquetFile(path, page_checksum_verification=True).read()
    except (OSError, ValueError, MemoryError, pa.ArrowException) as error:
        raise InputError(f"{str(path)!r} is damaged or cut short and cannot be read; restore it or {remedy}") from error


def _from_table(table: pa.Table, description: dict[str, Any]) -> Embedding:
    record = {name: value for name, value in description.items() if name not in _OF_THE_FILE}
    virtual = description.get("virtual_root")
    names = _names(table["node"], description["names"], virtual)
    n = len(names)
    vector = table["vector"].combine_chunks()
    vectors = vector.values.to_numpy().reshape(n, -1)
    first = _codes(table["parent"], table["node"])
    child, parent = np.flatnonzero(first >= 0), first[first >= 0]
    weights = None
    if "weight" in table.column_names:
        weights = table["weight"].to_numpy()[child]
    if "other_parents" in table.column_names:
        lists = table["other_parents"].combine_chunks()
        child = np.concatenate([child, np.repeat(np.arange(n), np.asarray(lists.value_lengths()))])
        parent = np.concatenate([parent, _codes(lists.flatten(), table["node"])])
        order = np.argsort(child, kind="stable")
        child, parent = child[order], parent[order]
        if weights is not None:
            weights = np.concatenate([weights, table["other_weights"].combine_chunks().flatten().to_numpy()])[order]
    root = None if virtual is None else names.index_of(virtual)
    hierarchy = Hierarchy.from_codes(names, child, parent, weights=weights, virtual_root=root)
    spare = None
    if "spare" in table.column_names:
        spare = table["spare"].combine_chunks().values.to_numpy().reshape(n, -1)
    reach = table["reach"].to_numpy() if "reach" in table.column_names else None
    made_by = Provenance.from_dict(record)
    return Embedding(vectors, hierarchy, description["geometry"], made_by, reach=reach, spare=spare)


def _kind(hierarchy: Hierarchy) -> str:
    """Whether names are to be read back as text or as integers; a virtual root has a text name either way."""
    names = hierarchy.names
    if hierarchy.virtual_root is None or names.kind == "str":
        return "int" if names.kind == "int" else "str"
    return "int" if Names.of(names.take(hierarchy.real_nodes())).kind == "int" else "str"


def _names(column: pa.ChunkedArray, kind: str, virtual_root: str | None) -> Names:
    array = column.combine_chunks()
    if kind == "int":
        return Names.of([text if text == virtual_root else int(text) for text in array.to_pylist()])
    return Names.of(array)


def _codes(values: pa.Array | pa.ChunkedArray, nodes: pa.ChunkedArray) -> np.ndarray:
    import pyarrow.compute as pc

    found = pc.index_in(values, value_set=nodes.combine_chunks())
    return np.asarray(pc.fill_null(found, -1)).astype(np.int64)
