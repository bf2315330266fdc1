"""``treeball export``: vectors for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..types import DType, ExportCoordinates, VectorFormat
from ..words import count
from .console import print_json, say
from .folder_answers import export_folder, refuse_options


def export(
    model: Path,
    *,
    output: Annotated[Path, Parameter(alias="-o")],
    format: VectorFormat | None = None,
    coordinates: ExportCoordinates | None = None,
    dtype: DType | None = None,
    virtual_root: bool = False,
    escape_formulas: bool = False,
    json: bool = False,
) -> int:
    """Write the vectors of a model for other tools.

    Parameters
    ----------
    model
        Model file or folder that treeball fit wrote; a folder is written as .parquet, .csv or .tsv.
    output
        File to write; npy writes a second one with the names beside it.
    format
        By default what the ending of the output says: .parquet, .csv, .tsv, .npy, .txt or .vec (word2vec, which gensim
        loads with KeyedVectors.load_word2vec_format), .bin (word2vec-binary), .safetensors, .duckdb, .json.
    coordinates
        Ball, hyperboloid (time first), half-space (height last), tangent vectors at the origin, whose length is the
        hyperbolic distance to it: features for ordinary classifiers; polar, radius first, which float32 does not
        spoil. By default those of the model. Search: vectors for a vector database, whose L2 gives candidates, with a
        column of points to re-rank them by.
    dtype
        float32 halves the size and says what it loses; by default float64, but for search vectors.
    virtual_root
        Write the virtual root, which joins several roots, too.
    escape_formulas
        Put an apostrophe before names that a spreadsheet would compute, such as =cmd(); for .csv and .tsv. Import takes
        it away.
    json
        Print what was written as one JSON object.
    """
    from ..io.atomic import require_writable
    from ..io.model_file import load
    from ..io.vectors._export import export as write
    from ..scale.layout import is_folder

    if is_folder(model):
        refuse_options(format=format, dtype=dtype, escape_formulas=escape_formulas)
        return export_folder(model, output, coordinates, virtual_root, json)
    require_writable(output, model)
    done = write(
        load(model),
        output,
        format=format,
        coordinates=coordinates,
        dtype=dtype,
        virtual_root=virtual_root,
        escape_formulas=escape_formulas,
    )
    for note in done.notes:
        say(note)
    if done.candidates is not None:
        say(done.candidates.sentence())
    if done.loss is not None:
        say(done.loss.sentence())
    if json:
        print_json(done.to_dict())
    say(f"wrote {count(done.count, 'vector')} of {done.width} numbers ({done.coordinates}, {done.dtype}) to {output}")
    return 0
