"""Columns of a Parquet file, read within the budget of memory and checked before anybody uses them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..workers import apart
from .memory import held, require_room

__all__ = ["read_columns"]

_BYTES_PER_CELL = 8


def read_columns(source: Path | bytes, columns: list[str] | None = None) -> pa.Table:
    """The columns, by default all of them; damaged ones raise one of many errors, too large ones InputError.

    A text of many rows is stored once: its copies are counted before they are made. What else a few bytes may stand
    for, such as long lists of one number or texts that repeat what the one before them began with, is not known
    before it is unpacked: there the system holds the budget.
    """
    file = _open(source)
    metadata, schema = file.metadata, file.schema_arrow
    wanted = schema.names if columns is None else columns
    # What it says of single columns is left alone: asking for it in a damaged file ends the process.
    stored = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    require_room(metadata.num_rows * len(wanted) * _BYTES_PER_CELL + stored)
    texts = [name for name in wanted if pa.types.is_string(schema.field(schema.names.index(name)).type)]
    with held():
        try:
            table = _read(source, wanted, texts)
        except (OSError, pa.ArrowNotImplementedError):  # there are encodings that it cannot make a dictionary of
            table = _read(source, wanted, ())
        # A damaged file may hold offsets beyond its end, and whatever used them would crash.
        table.validate(full=True)
        require_room(2 * sum(_decoded_size(chunk) for column in table.columns for chunk in column.chunks))
        return table.cast(pa.schema([_decoded(field) for field in table.schema], table.schema.metadata))


def _open(source: Path | bytes, stored_once: Sequence[str] = ()) -> pq.ParquetFile:
    return pq.ParquetFile(
        pa.BufferReader(source) if isinstance(source, bytes) else source,
        page_checksum_verification=True,
        read_dictionary=list(stored_once),
    )


def _read(source: Path | bytes, columns: list[str], stored_once: Sequence[str]) -> pa.Table:
    file = _open(source, stored_once)
    return apart(lambda: file.read(columns=columns))


def _is_stored_once(kind: pa.DataType) -> bool:
    """Whether a column has its texts in a dictionary, which is how they were asked for, not what they are."""
    return bool(
        pa.types.is_dictionary(kind) and pa.types.is_binary(kind.value_type) | pa.types.is_string(kind.value_type)
    )


def _decoded(field: pa.Field) -> pa.Field:
    return field.with_type(field.type.value_type) if _is_stored_once(field.type) else field


def _decoded_size(chunk: pa.Array) -> int:
    if not _is_stored_once(chunk.type):
        return 0
    return int(pc.sum(pc.take(pc.binary_length(chunk.dictionary), chunk.indices)).as_py() or 0)
