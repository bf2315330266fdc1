"""The vectors of a model folder in one file, written shard by shard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from ..errors import InputError
from ..geometry.coordinates import column_names, to_kind
from ..geometry.spaces import BALL
from ..io.atomic import atomic_write
from ..types import Coordinates, Ints
from .folder import ModelFolder
from .layout import GROUP, damaged

__all__ = ["export_folder"]


def export_folder(
    folder: ModelFolder, output: Path, coordinates: Coordinates | None = None, *, root: bool = False
) -> int:
    """Write node, parent and vector to Parquet, or node and numbers to CSV or TSV; -> how many nodes."""
    ending = output.suffix.lower()
    if ending not in (".parquet", ".csv", ".tsv"):
        raise InputError(f"a model folder is exported to .parquet, .csv or .tsv, not to {output.name!r}")
    written = 0
    with atomic_write(output) as temporary:
        writer = None
        for number, file in enumerate(folder.files):
            try:
                table = pq.read_table(file).select(["node", "parent", "vector"])
            except (OSError, ValueError, KeyError, pa.ArrowException):
                raise damaged(file) from None
            if len(table) != folder.cuts[number + 1] - folder.cuts[number]:
                raise damaged(file)
            keep = ~folder.is_removed(np.arange(folder.cuts[number], folder.cuts[number + 1]))
            if number == 0 and folder.has_virtual_root and not root:
                keep[0] = False
            if not keep.all():
                table = table.filter(pa.array(keep))
            if folder.removed.size:
                table = _with_parents_there(folder, table, np.flatnonzero(keep) + folder.cuts[number])
            vectors = folder.vectors_in(table["vector"].combine_chunks(), number)
            values, kind = to_kind(vectors, BALL, coordinates)
            if ending == ".parquet":
                column = pa.FixedSizeListArray.from_arrays(
                    pa.array(np.ascontiguousarray(values).ravel()), values.shape[1]
                )
                out = pa.table({"node": table["node"], "parent": table["parent"], "vector": column})
                writer = writer or pq.ParquetWriter(temporary, out.schema, compression={"vector": "none"})
                writer.write_table(out, GROUP)
            else:
                names = column_names(kind, values.shape[1])
                columns = {"node": table["node"], **dict(zip(names, np.ascontiguousarray(values.T), strict=True))}
                out = pa.table(columns)
                options = csv.WriteOptions(delimiter="," if ending == ".csv" else "\t")
                writer = writer or csv.CSVWriter(temporary, out.schema, write_options=options)
                writer.write_table(out)
            written += len(out)
        assert writer is not None
        writer.close()
    return written


def _with_parents_there(folder: ModelFolder, table: pa.Table, places: Ints) -> pa.Table:
    """The rows of some nodes, with the next node above in the place of a parent that was removed."""
    above = folder.primary_parents(places)
    rows = np.flatnonzero((above >= 0) & folder.is_removed(np.maximum(above, 0)))
    if not rows.size:
        return table
    names = table["parent"].to_pylist()
    for row in rows.tolist():
        names[row] = next(iter(folder.names(folder.parents(int(places[row]))[:1])), None)
    at = table.schema.get_field_index("parent")
    return table.set_column(at, "parent", pa.array(names, pa.string()))
