"""A column of the user's own table, joined to the nodes by name, to colour them by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputError
from ..hierarchy import Hierarchy

MOST_CATEGORIES = 8


@dataclass(frozen=True)
class Column:
    """Values of one column for the nodes of a hierarchy, in the order of its codes.

    Attributes
    ----------
    name : str
    values : float64 (n,)
        Numbers, or indices into `categories`; NaN for nodes without a value.
    categories : tuple of str, or None for numbers
        The most frequent texts first; the last is "other" when there are more than can be told apart.
    matched : int
        How many nodes have a row in the table.
    """

    name: str
    values: NDArray[np.float64]
    categories: tuple[str, ...] | None
    matched: int


def read_column(path: Path, name: str | None, hierarchy: Hierarchy) -> Column:
    """Read column `name` (by default the second) of a CSV, TSV or Parquet file whose first column names the nodes.

    It holds their names (ids) or, if it has none of these, their labels.
    """
    table = _read(path)
    if table.num_columns < 2:
        raise InputError(f"{str(path)!r} has {table.num_columns} column: give a table of node names and their values")
    name = name or table.column_names[1]
    if table.column_names.count(name) != 1:
        there = ", ".join(repr(column) for column in table.column_names[1:])
        raise InputError(f"{str(path)!r} has no column {name!r}; it has {there}")
    keys = table.column(0).cast(pa.string()).combine_chunks()
    row = pc.index_in(hierarchy.names.to_arrow().cast(pa.string()), value_set=keys)
    if row.null_count == len(row) and hierarchy.names.has_labels:
        row = pc.index_in(hierarchy.labels.to_arrow(), value_set=keys.drop_null())
    matched = len(row) - row.null_count
    if not matched:
        raise InputError(
            f"the first column of {str(path)!r}, {table.column_names[0]!r}, names none of the nodes "
            f"(they look like {str(hierarchy.names[0])!r}): put the names of the nodes there"
        )
    column = table.column(name).combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values = column.take(row)
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        numbers = np.asarray(pc.fill_null(values.cast(pa.float64(), safe=False), np.nan), np.float64)
        return Column(name, np.where(np.isfinite(numbers), numbers, np.nan), None, matched)
    return _categories(name, values.cast(pa.string()), matched)


def _categories(name: str, values: pa.Array, matched: int) -> Column:
    counts = pc.value_counts(values.drop_null())
    texts, times = counts.field(0).to_pylist(), np.asarray(counts.field(1))
    ranked = [texts[i] for i in np.lexsort((np.array(texts, object), -times))] if texts else []
    shown = ranked if len(ranked) <= MOST_CATEGORIES else [*ranked[: MOST_CATEGORIES - 1], "other"]
    number = np.asarray(pc.fill_null(pc.index_in(values, value_set=pa.array(ranked, pa.string())), -1), np.float64)
    number = np.minimum(number, len(shown) - 1)
    return Column(name, np.where(number < 0, np.nan, number), tuple(shown), matched)


def _read(path: Path) -> pa.Table:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; give --table a CSV, TSV or Parquet file")
    try:
        with open(path, "rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        if is_parquet:
            import pyarrow.parquet as pq

            return pq.read_table(path)
        from pyarrow import csv

        options = csv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True)
        with pa.input_stream(str(path), compression="detect") as stream:
            return csv.read_csv(stream, parse_options=options)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{str(path)!r} cannot be read as a CSV, TSV or Parquet table: {reason}") from error


def _delimiter(path: Path) -> str:
    """The separator that the first line holds most of."""
    with pa.input_stream(str(path), compression="detect") as stream:
        line = stream.read(65_536).split(b"\n", 1)[0].decode("utf-8", "replace")
    return max("\t,;|", key=line.count)
