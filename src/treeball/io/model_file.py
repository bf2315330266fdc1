"""The saved model: one Parquet file with the columns of its hierarchy, vector, reach, and JSON in its metadata.

The columns of the hierarchy are those of `model_columns`. The column ``reach`` is left out where it is not known, as in
a checkpoint, and files of earlier versions have none: it is computed when it is first asked for.
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
from ..workers import apart
from .atomic import atomic_write
from .model_columns import METADATA_KEY, edges_of, hierarchy_columns, names_of

FORMAT_VERSION = 2
# What the metadata say of the file itself; the rest is the provenance.
_OF_THE_FILE = ("format", "geometry", "dim", "names", "virtual_root")


def save(embedding: Embedding, path: Path) -> Path:
    """Write `embedding` to `path` atomically."""
    table = to_table(embedding)
    with atomic_write(path) as temporary:
        apart(lambda: pq.write_table(table, temporary, compression="zstd", write_page_checksum=True))
    return path


def to_table(embedding: Embedding, vectors: NDArray[np.floating] | None = None) -> pa.Table:
    """The Arrow table of a model, metadata included; `vectors` stand for its own, as they are when rounded."""
    hierarchy = embedding.hierarchy
    vectors = embedding.vectors if vectors is None else vectors
    columns = hierarchy_columns(hierarchy)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    if embedding.spare is not None:
        spare = embedding.spare
        columns["spare"] = pa.FixedSizeListArray.from_arrays(pa.array(spare.reshape(-1)), spare.shape[1])
    reach = embedding.known_reach()
    if reach is not None:
        columns["reach"] = pa.array(reach)
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
        return apart(pq.ParquetFile(path, page_checksum_verification=True).read)
    except (OSError, ValueError, MemoryError, pa.ArrowException) as error:
        raise InputError(f"{str(path)!r} is damaged or cut short and cannot be read; restore it or {remedy}") from error


def _from_table(table: pa.Table, description: dict[str, Any]) -> Embedding:
    record = {name: value for name, value in description.items() if name not in _OF_THE_FILE}
    virtual = description.get("virtual_root")
    names = names_of(table, description["names"], virtual)
    n = len(names)
    vector = table["vector"].combine_chunks()
    vectors = vector.values.to_numpy().reshape(n, -1)
    child, parent, weights = edges_of(table)
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
