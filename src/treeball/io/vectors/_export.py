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
from .formats.registry import Format, find, format_by_ending
from .precision import PrecisionLoss, measure_loss, to_float32
from .vectors import Vectors, rows_of

__all__ = ["Export", "export"]


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
    format = format_by_ending(path) if format is None else format
    for name, value, choices in (("format", format, VectorFormat), ("dtype", dtype, DType)):
        if value is not None and value not in get_args(choices):
            raise InputError(f"{name} must be one of {', '.join(get_args(choices))}, not {value!r}")
    if coordinates is not None and coordinates not in get_args(Coordinates):
        raise InputError(f"coordinates must be one of {', '.join(get_args(Coordinates))}, not {coordinates!r}")
    chosen = find(format)
    if chosen.float64_format is not None and dtype == "float64":
        raise InputError(f"{format} has float32 only: say so with dtype float32, or choose {chosen.float64_format}")
    dtype = dtype or ("float64" if chosen.float64_format is None else "float32")
    require_writable(path)
    if chosen.beside is not None:
        require_writable(chosen.beside(path))
    values: Any
    values, kind = to_kind(embedding.vectors, embedding.space, coordinates)
    loss, as_read = None, embedding
    if dtype == "float32":
        values, pulled_in = to_float32(values, kind)
        as_read = _again(embedding, values, kind)
        loss = measure_loss(embedding, as_read, pulled_in)
    if chosen.holds_models and kind == space_for(kind).coordinates:
        notes = _save_model(embedding, values, kind, dtype, path)
        vectors = Vectors(list(map(str, embedding.names)), values, kind)
    else:
        reach = as_read.quick_reach() if chosen.holds_reach else None
        vectors = rows_of(embedding, values, kind, virtual_root, reach)
        with atomic_write(path) as temporary:
            notes = chosen.write(vectors, temporary, path)
        notes += _left_out(vectors, chosen)
    return Export(path, format, kind, dtype, len(vectors.names), vectors.width, tuple(notes), loss)


def _left_out(vectors: Vectors, chosen: Format) -> list[str]:
    """A sentence for what people call the nodes, where the format has no place for it."""
    told = {
        "labels": vectors.labels is not None and not chosen.holds_labels,
        "synonyms": vectors.synonyms is not None and not chosen.holds_synonyms,
    }
    lost = [what for what, is_lost in told.items() if is_lost]
    return [f"{chosen.name} has no place for {' and '.join(lost)}: they are left out"] if lost else []


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
    reach = embedding.quick_reach()
    if dtype == "float32" or space is not embedding.space:
        made, reach = made.with_export(kind, dtype), None
    exact = to_space(np.asarray(values, np.float64), kind, space, _roundoff(values))
    written = Embedding(exact, embedding.hierarchy, space.name, made, reach=reach)
    written.quick_reach()  # of what is read back, where that is not what was given
    table = model_file.to_table(written, values)
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
    return ["this is a model: every command reads it"]
