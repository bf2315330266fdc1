"""export: write the vectors of an embedding for other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ...embedding import Embedding
from ...errors import InputError
from ...geometry.coordinates import space_for, to_kind, to_space
from ...types import Coordinates, DType, Kind, VectorFormat
from ..atomic import atomic_write, require_writable
from . import arrays, containers, delimited, word2vec
from .precision import PrecisionLoss, measure_loss, to_float32
from .vectors import Vectors

__all__ = ["Export", "export", "format_of", "rows_of"]

_ENDINGS: dict[str, VectorFormat] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".npy": "npy",
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".bin": "word2vec-binary",
    ".safetensors": "safetensors",
    ".duckdb": "duckdb",
    ".json": "json",
}


@dataclass(frozen=True)
class Export:
    """What was written.

    Attributes
    ----------
    path, format, coordinates, dtype
        Where and how; `coordinates` is ``"euclidean"`` for a Euclidean model.
    count, width
        Number of vectors, and of numbers in each.
    notes
        Sentences worth telling: names that had to be changed, further files.
    loss
        What float32 lost; None for float64.
    """

    path: Path
    format: VectorFormat
    coordinates: Kind
    dtype: DType
    count: int
    width: int
    notes: tuple[str, ...] = ()
    loss: PrecisionLoss | None = None

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        record = {name: getattr(self, name) for name in ("format", "coordinates", "dtype", "count", "width")}
        record |= {"path": str(self.path), "notes": list(self.notes)}
        return record if self.loss is None else record | {"float32_loss": self.loss.to_dict()}


def export(
    embedding: Embedding,
    path: Path,
    *,
    format: VectorFormat | None = None,
    coordinates: Coordinates | None = None,
    dtype: DType | None = None,
    virtual_root: bool = False,
) -> Export:
    """Write the vectors of an embedding to a file, whole or not at all.

    Parameters
    ----------
    path
        File to write; npy writes a second one with the names beside it.
    format
        By default what the ending of `path` says. ``"parquet"`` of ball or hyperboloid coordinates is again a model.
    coordinates
        ``"ball"``, ``"hyperboloid"`` (time first), ``"half-space"`` (height last) or ``"tangent"``, vectors at the
        origin whose length is the hyperbolic distance to it; by default those of the model.
    dtype
        ``"float64"`` or ``"float32"``, which measures what it loses. By default float64, and float32 for the format
        ``"word2vec-binary"``, which has no other.
    virtual_root
        Write the virtual root, which joins several roots, too; a model always holds it.
    """
    path = Path(path)
    format = format_of(path) if format is None else format
    for name, value, choices in (("format", format, VectorFormat), ("dtype", dtype, DType)):
        if value is not None and value not in get_args(choices):
            raise InputError(f"{name} must be one of {', '.join(get_args(choices))}, not {value!r}")
    if coordinates is not None and coordinates not in get_args(Coordinates):
        raise InputError(f"coordinates must be one of {', '.join(get_args(Coordinates))}, not {coordinates!r}")
    if format == "word2vec-binary" and dtype == "float64":
        raise InputError("word2vec-binary has float32 only: say so with dtype float32, or choose word2vec")
    dtype = dtype or ("float32" if format == "word2vec-binary" else "float64")
    require_writable(path)
    if format == "npy":
        require_writable(arrays.names_file(path))
    values: Any
    values, kind = to_kind(embedding.vectors, embedding.space, coordinates)
    loss = None
    if dtype == "float32":
        values, pulled_in = to_float32(values, kind)
        loss = measure_loss(embedding, _again(embedding, values, kind), pulled_in)
    if format == "parquet" and kind == space_for(kind).coordinates:
        notes = _save_model(embedding, values, kind, dtype, path)
        vectors = Vectors(list(map(str, embedding.names)), values, kind)
    else:
        vectors = rows_of(embedding, values, kind, virtual_root)
        with atomic_write(path) as temporary:
            notes = _write(vectors, temporary, format, path)
    return Export(path, format, kind, dtype, len(vectors.names), vectors.width, tuple(notes), loss)


def format_of(path: Path) -> VectorFormat:
    """The format that the ending of a file name stands for."""
    found = _ENDINGS.get(path.suffix.lower())
    if found is None:
        known = ", ".join(_ENDINGS)
        raise InputError(f"{path.name!r} does not end in one of {known}: name the format with --format")
    return found


def _write(vectors: Vectors, temporary: Path, format: VectorFormat, target: Path) -> list[str]:
    match format:
        case "parquet":
            return containers.write_parquet(vectors, temporary)
        case "csv" | "tsv":
            return delimited.write(vectors, temporary, "," if format == "csv" else "\t")
        case "npy":
            return arrays.write_npy(vectors, temporary, target)
        case "word2vec":
            return word2vec.write_text(vectors, temporary)
        case "word2vec-binary":
            return word2vec.write_binary(vectors, temporary)
        case "safetensors":
            return arrays.write_safetensors(vectors, temporary)
        case "duckdb":
            return containers.write_duckdb(vectors, temporary)
        case "json":
            return containers.write_json(vectors, temporary)


def _again(embedding: Embedding, values: Any, kind: Kind) -> Embedding:
    """The embedding that a reader of the file will have, in the geometry of the original."""
    vectors = to_space(np.asarray(values, np.float64), kind, embedding.space, _roundoff(values))
    return Embedding(vectors, embedding.hierarchy, embedding.geometry, embedding.provenance)


def _roundoff(values: Any) -> float:
    return float(np.finfo(values.dtype).eps) / 2


def _save_model(embedding: Embedding, values: Any, kind: Kind, dtype: DType, path: Path) -> list[str]:
    import pyarrow.parquet as pq

    from .. import model_file

    space, made = space_for(kind), embedding.provenance
    if dtype == "float32" or space is not embedding.space:
        made = made.with_export(kind, dtype)
    exact = to_space(np.asarray(values, np.float64), kind, space, _roundoff(values))
    table = model_file.to_table(Embedding(exact, embedding.hierarchy, space.name, made), values)
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
    return ["this is a model: every command reads it"]


def rows_of(embedding: Embedding, values: Any, kind: Kind, virtual_root: bool) -> Vectors:
    """All rows, or all but the virtual root."""
    hierarchy = embedding.hierarchy
    root = None if virtual_root else hierarchy.virtual_root
    names = hierarchy.names.to_arrow().to_pylist()
    parents = [codes.tolist() for codes in np.split(hierarchy.parent_idx, hierarchy.parent_ptr[1:-1])]
    if root is not None:
        place = np.arange(len(names)) - (np.arange(len(names)) > root)
        parents = [[int(place[code]) for code in codes if code != root] for codes in parents]
        del names[root], parents[root]
        values = np.delete(values, root, axis=0)
    return Vectors(names, values, kind, parents)
