"""export: write the vectors of an embedding for other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ...addresses import as_path
from ...embedding import Embedding
from ...errors import InputError
from ...geometry import polar
from ...geometry.coordinates import space_for, to_kind, to_space
from ...geometry.search_vectors import search_vectors
from ...types import DType, ExportCoordinates, Kind, VectorFormat
from ..atomic import require_writable
from ..together import write_together
from .flat_search import CandidateRecall, FlatSearch, candidate_recall, flat_search
from .formats.registry import Format, find, format_by_ending
from .precision import PrecisionLoss, loss_of_wide_drawings, measure_loss, rounding_sentence, to_float32
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
    flat
        What L2 and cosine make of the vectors in a database; None for a Euclidean model and for search vectors.
    candidates
        How many nearest nodes the candidates of search vectors contain; None for other vectors.
    """

    path: Path
    format: VectorFormat
    coordinates: Kind
    dtype: DType
    count: int
    width: int
    notes: tuple[str, ...] = ()
    loss: PrecisionLoss | None = None
    flat: FlatSearch | None = None
    candidates: CandidateRecall | None = None

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        record = {name: getattr(self, name) for name in ("format", "coordinates", "dtype", "count", "width")}
        record |= {"path": str(self.path), "notes": list(self.notes)}
        measured = {"float32_loss": self.loss, "flat_search": self.flat, "candidates": self.candidates}
        return record | {name: found.to_dict() for name, found in measured.items() if found is not None}


def export(
    embedding: Embedding,
    path: Path,
    *,
    format: VectorFormat | None = None,
    coordinates: ExportCoordinates | None = None,
    dtype: DType | None = None,
    virtual_root: bool = False,
    escape_formulas: bool = False,
) -> Export:
    """Write the vectors of an embedding to a file, whole or not at all.

    Parameters
    ----------
    path
        File to write; npy writes a second one with the names beside it.
    format
        By default what the ending of `path` says. ``"parquet"`` of ball or hyperboloid coordinates is again a model.
    coordinates
        ``"ball"``, ``"hyperboloid"`` (time first), ``"half-space"`` (height last), ``"tangent"``, vectors at the
        origin whose length is the hyperbolic distance to it, or ``"polar"``, radius first and the direction in two
        parts; by default those of the model. ``"search"`` are vectors for databases: L2 gives candidates, and a
        second column of polar float32, ``point``, the distances to re-rank them by.
    dtype
        ``"float64"`` or ``"float32"``, which measures what it loses. By default float64, and float32 for search
        vectors and the format ``"word2vec-binary"``, which have no other.
    virtual_root
        Write the virtual root, which joins several roots, too; a model always holds it.
    escape_formulas
        Put an apostrophe before names that a spreadsheet would compute, such as ``=cmd()``; for CSV and TSV. Import
        takes it away.
    """
    path = as_path(path)
    precise, embedding = embedding, embedding.rounded()
    format = format_by_ending(path) if format is None else format
    for name, value, choices in (("format", format, VectorFormat), ("dtype", dtype, DType)):
        if value is not None and value not in get_args(choices):
            raise InputError(f"{name} must be one of {', '.join(get_args(choices))}, not {value!r}")
    if coordinates is not None and coordinates not in get_args(ExportCoordinates):
        raise InputError(f"coordinates must be one of {', '.join(get_args(ExportCoordinates))}, not {coordinates!r}")
    chosen = find(format)
    if escape_formulas and not chosen.escapes_formulas:
        raise InputError(f"no spreadsheet computes {format}: escape formulas in csv and tsv alone")
    if chosen.float64_format is not None and dtype == "float64":
        raise InputError(f"{format} has float32 only: say so with dtype float32, or choose {chosen.float64_format}")
    if coordinates == "search":
        dtype = _dtype_for_search(chosen, embedding, dtype)
    dtype = dtype or ("float64" if chosen.float64_format is None else "float32")
    require_writable(path)
    if chosen.beside is not None:
        require_writable(chosen.beside(path))
    values: Any
    kind: Kind
    points = loss = candidates = None
    as_read = embedding
    if coordinates == "search":
        rows = to_kind(embedding.vectors, embedding.space, "polar")[0]
        values, points, kind = search_vectors(polar.direction(rows), rows[:, 0]), rows.astype(np.float32), "search"
        as_read = _again(embedding, points, "polar")
        loss, candidates = measure_loss(embedding, as_read, 0), candidate_recall(embedding, values)
    else:
        values, kind = to_kind(embedding.vectors, embedding.space, coordinates)
        if dtype == "float32":
            values, pulled_in = to_float32(values, kind)
            as_read = _again(embedding, values, kind)
            loss = measure_loss(embedding, as_read, pulled_in)
    if chosen.holds_models and kind == space_for(kind).coordinates:
        notes = _save_model(embedding, values, kind, dtype, path)
        vectors = Vectors(list(map(str, embedding.names)), values, kind)
    else:
        reach = as_read.quick_reach() if chosen.holds_reach else None
        vectors = rows_of(embedding, values, kind, virtual_root, reach, points)
        files = [path] if chosen.beside is None else [path, chosen.beside(path)]
        options = {"escape_formulas": True} if escape_formulas else {}
        with write_together(*files) as temporaries:
            notes = chosen.write(vectors, temporaries[0], path, **options)
            if chosen.write_beside is not None:
                chosen.write_beside(vectors, temporaries[1])
        notes += _left_out(vectors, chosen)
    flat = flat_search(embedding, values) if candidates is None else None
    warning = None if flat is None else flat.warning()
    told = (*notes, warning) if warning else tuple(notes)
    if wide := loss_of_wide_drawings(embedding, kind):
        told = (wide, *told)
    if precise is not embedding:
        told = (rounding_sentence(precise, embedding), *told)
    return Export(path, format, kind, dtype, len(vectors.names), vectors.width, told, loss, flat, candidates)


def _dtype_for_search(chosen: Format, embedding: Embedding, dtype: DType | None) -> DType:
    """What search vectors are written in; InputError where they cannot be."""
    if not embedding.space.is_hyperbolic:
        raise InputError("a Euclidean model needs no search vectors, L2 on its own is its distance: leave them out")
    if not chosen.holds_points:
        raise InputError(
            f"search vectors come with the points to re-rank by, and {chosen.name} has no room for both: choose "
            "parquet or duckdb"
        )
    if dtype == "float64":
        raise InputError("search vectors are made for float32: leave the dtype out")
    return "float32"


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
    from .. import model_file

    space, made = space_for(kind), embedding.provenance
    reach = embedding.quick_reach()
    if dtype == "float32" or space is not embedding.space:
        made, reach = made.with_export(kind, dtype), None
    exact = to_space(np.asarray(values, np.float64), kind, space, _roundoff(values))
    written = Embedding(exact, embedding.hierarchy, space.name, made, reach=reach)
    written.quick_reach()  # of what is read back, where that is not what was given
    model_file.write(model_file.to_table(written, values), path)
    return ["this is a model: every command reads it"]
