"""``treeball import``: vectors made by other tools become a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..errors import InputError
from ..types import Coordinates, Geometry, Objective, VectorFormat
from ..words import count
from .console import say, say_what_was_read
from .sources import ReadingOptions, read_hierarchy


def import_(
    vectors: Path,
    *,
    output: Annotated[Path, Parameter(alias="-o")],
    hierarchy: str | None = None,
    vector_format: VectorFormat | None = None,
    geometry: Geometry | None = None,
    coordinates: Coordinates | None = None,
    missing: Literal["error", "drop"] = "error",
    names_file: Path | None = None,
    objective: Objective = "parents",
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading the hierarchy")] = ReadingOptions(),  # noqa: B008
) -> int:
    """Make a model from vectors of another tool and a hierarchy: evaluate, diagnose, heal and view work on it.

    Parameters
    ----------
    vectors
        File of vectors: word2vec text or binary, CSV, TSV, npy, safetensors, Parquet, DuckDB or JSON.
    output
        Model file to write.
    hierarchy
        File with the hierarchy, in any format treeball reads; by default the parents that the file of vectors names.
    vector_format
        Format of the vectors; by default recognised by content.
    geometry
        Space the vectors live in; by default what the file says, else poincare.
    coordinates
        What the numbers are; by default what the file says, else those of the geometry.
    missing
        Nodes without a vector are an error, or dropped: then their children hang from their parents.
    names_file
        Text file with the names, one a line, for an array that comes without.
    objective
        What the vectors were trained for.
    """
    from ..io.atomic import require_writable
    from ..io.vectors._import import import_vectors

    require_writable(output, vectors, *([] if hierarchy is None else [hierarchy]))
    if hierarchy is None and reading.repairs is not None:
        raise InputError("--repairs lists the repairs of a hierarchy, and none is given: leave it out")
    tree = None
    if hierarchy is not None:
        tree = read_hierarchy(hierarchy, (), reading)
        say_what_was_read(tree.report)
    embedding = import_vectors(
        vectors,
        tree,
        format=vector_format,
        geometry=geometry,
        coordinates=coordinates,
        missing=missing,
        names=names_file,
        objective=objective,
        max_memory=reading.max_memory,
    )
    imported = embedding.provenance.imported or {}
    for note in imported["notes"]:
        say(note)
    embedding.save(output)
    what = f"{imported['coordinates']} vectors read from {imported['format']}"
    say(f"{count(len(embedding), 'node')}, geometry {embedding.geometry}, dimension {embedding.dim}: {what}")
    say(f"saved {output}; score it with  treeball evaluate {output}")
    return 0
