"""Parquet: a table node, label, parent, vector, reach, its metadata with the coordinates; or a model, Parquet too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from ....errors import InputError
from ....types import Kind
from ...model_columns import VECTORS_KEY
from ...parquet_table import read_columns
from ..arrow_table import from_table, to_table
from ..vectors import VectorFile, Vectors, rows_of
from .registry import Format

__all__ = ["FORMATS", "read", "sniff", "write"]


def sniff(data: bytes) -> float:
    """By its first bytes."""
    return 1.0 if data.startswith(b"PAR1") else 0.0


def read(source: VectorFile) -> Vectors:
    """A whole model, or a table of vectors."""
    from ...model_file import is_model, load

    try:
        model = load(source.path) if is_model(source.path) else None
    except UnicodeDecodeError:
        raise InputError(f"{source.label!r} is a damaged Parquet file: write or copy it again") from None
    if model is None:
        return _read_table(source)
    return rows_of(model, model.vectors, cast(Kind, model.space.coordinates), virtual_root=True)


def write(vectors: Vectors, path: Path, target: Path) -> list[str]:
    """Columns node, label, parent, vector, reach; the coordinates are in the metadata."""
    table = to_table(vectors).replace_schema_metadata({VECTORS_KEY: json.dumps(vectors.description()).encode()})
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)
    return []


def _read_table(source: VectorFile) -> Vectors:
    """A table with a column of names (node, or the first text) and one of vectors (vector, or the first of lists)."""
    try:
        table = read_columns(source.path)
        described = json.loads((table.schema.metadata or {}).get(VECTORS_KEY, b"{}"))
        return from_table(table, described if isinstance(described, dict) else {}, source.label)
    except (InputError, MemoryError):
        raise
    except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
        raise InputError(f"{source.label!r} cannot be read as Parquet: {' '.join(str(error).split())[:100]}") from None


FORMATS = (
    Format(
        "parquet",
        sniff,
        read,
        write,
        holds_models=True,
        holds_reach=True,
        holds_points=True,
        holds_labels=True,
        holds_synonyms=True,
    ),
)
