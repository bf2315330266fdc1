"""A SHA-256 over all that a model file says: every column and the JSON beside them.

It is of the content and not of the bytes of the file: compression, page sizes and versions of Parquet do not matter to
it. Page checksums guard pages alone; a bit that flips in what lies between them is found by this.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["HASH_KEY", "content_hash"]

HASH_KEY = b"treeball-sha256"


def content_hash(table: pa.Table, description: bytes) -> str:
    """The hash of the columns of a table, whatever their order, and of its description, in hexadecimal digits."""
    digest = hashlib.sha256()

    def add(part: Any) -> None:
        data = memoryview(part).cast("B")
        digest.update(struct.pack("<Q", data.nbytes))  # so that no two contents look alike when laid end to end
        digest.update(data)

    add(description)
    for name in sorted(table.column_names):
        add(name.encode())
        column = table[name].combine_chunks()
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            _add_values(chunk, add)
    return digest.hexdigest()


def _add_values(values: pa.Array, add: Callable[[Any], None]) -> None:
    """Kind, nulls, lengths and values of an array; what lies under a null does not count."""
    kind = values.type
    missing = np.packbits(values.is_null().to_numpy(zero_copy_only=False))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        add(b"text")
        add(missing)
        add(_lengths(pc.binary_length(values)))
        add(_text(values))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        add(b"list")
        add(missing)
        add(_lengths(pc.list_value_length(values)))
        _add_values(values.flatten(), add)
    else:
        add(str(kind).encode())
        add(missing)
        if not pa.types.is_floating(kind) and not pa.types.is_integer(kind):
            return  # no model has such a column
        numbers = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
        add(np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<")))


def _lengths(lengths: pa.Array) -> Any:
    return np.ascontiguousarray(pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False), "<i8")


def _text(values: pa.Array) -> Any:
    """The bytes of all texts, end to end; those of a large array may be more than one text could hold."""
    filled = pc.fill_null(values, "")
    _, places, data = filled.buffers()
    if data is None or not len(filled):
        return b""
    ends = np.frombuffer(places, "<i8" if pa.types.is_large_string(filled.type) else "<i4")
    first, last = ends[filled.offset], ends[filled.offset + len(filled)]
    return memoryview(data)[first:last]
