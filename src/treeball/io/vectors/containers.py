"""Formats that hold the hierarchy too: Parquet tables, DuckDB tables, and JSON for web pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..._version import __version__
from ...errors import InputError, MissingExtraError
from .vectors import Vectors, as_kind, checked_parents

__all__ = ["read_duckdb", "read_json", "read_parquet", "write_duckdb", "write_json", "write_parquet"]

METADATA_KEY = b"treeball-vectors"
TABLE = "embedding"


def write_parquet(vectors: Vectors, path: Path) -> list[str]:
    """Columns node, parent, vector; the coordinates are in the metadata."""
    table = _table(vectors).replace_schema_metadata({METADATA_KEY: json.dumps(_description(vectors)).encode()})
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)
    return []


def read_parquet(path: Path) -> Vectors:
    """A table with a column of names (node, or the first text) and one of vectors (vector, or the first of lists)."""
    try:
        table = pq.ParquetFile(path, page_checksum_verification=True).read()
        described = (table.schema.metadata or {}).get(METADATA_KEY)
        return _from_table(table, json.loads(described) if described else {}, str(path))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{str(path)!r} cannot be read as Parquet: {' '.join(str(error).split())[:100]}") from None


def write_duckdb(vectors: Vectors, path: Path) -> list[str]:
    """A database with the table ``embedding`` (node, parent, vector) and ``embedding_info`` (key, value)."""
    duckdb = _duckdb()
    exported, info = _table(vectors), _description(vectors)
    with duckdb.connect(str(path)) as connection:
        connection.register("exported", exported)
        connection.execute(f"create table {TABLE} as select * from exported")
        connection.unregister("exported")
        connection.execute(f"create table {TABLE}_info (key varchar, value varchar)")
        rows = [[key, str(value)] for key, value in info.items()]
        connection.executemany(f"insert into {TABLE}_info values (?, ?)", rows)
    return [f"the table is called {TABLE}; {TABLE}_info says what its vectors are"]


def read_duckdb(path: Path) -> Vectors:
    """The table ``embedding`` of a DuckDB database."""
    duckdb = _duckdb()
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            table = connection.sql(f"select * from {TABLE}").to_arrow_table()
            info = dict(connection.execute(f"select key, value from {TABLE}_info").fetchall())
    except duckdb.Error as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{str(path)!r} has no readable tables {TABLE} and {TABLE}_info: {reason}") from None
    return _from_table(table, info, str(path))


def write_json(vectors: Vectors, path: Path) -> list[str]:
    """One object: coordinates, dim, and lists in the same order: names, parents (places in names), vectors."""
    record = {
        **_description(vectors),
        "names": vectors.names,
        "parents": vectors.parents,
        # The shortest text of a float32 is that of its own precision, not of its neighbour in float64.
        "vectors": [[float(str(value)) for value in row] for row in vectors.values]
        if vectors.is_float32
        else vectors.values.tolist(),
    }
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        json.dump(record, file, ensure_ascii=False, separators=(",", ":"))
    return []


def read_json(data: bytes, label: str) -> Vectors:
    """An object with names and vectors as `write_json` writes it, or simply {name: vector}."""
    try:
        record = json.loads(data)
    except ValueError as error:
        raise InputError(f"{label} is not valid JSON: {error}") from None
    if not isinstance(record, dict) or not record:
        raise InputError(f"{label} is no JSON object of vectors: give {{'names': [...], 'vectors': [[...], ...]}}")
    if not {"names", "vectors"} <= record.keys():
        record = {"names": list(record), "vectors": list(record.values())}
    try:
        values = np.array(record["vectors"], np.float64)
        if values.ndim != 2 or len(values) != len(record["names"]):
            raise ValueError("there is not one row for each name")
    except (ValueError, TypeError) as error:
        raise InputError(f"{label} does not hold one vector of the same length for each name: {error}") from None
    names = [str(name) for name in record["names"]]
    kind = as_kind(record.get("coordinates"))
    return Vectors(names, values, kind, checked_parents(record.get("parents"), len(names), label))


def _description(vectors: Vectors) -> dict[str, Any]:
    dim = vectors.width - (vectors.kind == "hyperboloid")
    return {"made_by": f"treeball {__version__}", "coordinates": vectors.kind, "dim": dim}


def _table(vectors: Vectors) -> pa.Table:
    columns = {"node": pa.array(vectors.names, pa.string())}
    if vectors.parents is not None:
        columns["parent"] = pa.array(vectors.first_parents(), pa.string())
        if any(len(rows) > 1 for rows in vectors.parents):
            others = [[vectors.names[row] for row in rows[1:]] for rows in vectors.parents]
            columns["other_parents"] = pa.array(others, pa.list_(pa.string()))
    flat = pa.array(np.ascontiguousarray(vectors.values).reshape(-1))
    columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, vectors.width)
    return pa.table(columns)


def _from_table(table: pa.Table, info: dict[str, Any], label: str) -> Vectors:
    kinds = {field.name: field.type for field in table.schema}
    lists = [name for name, kind in kinds.items() if _holds_numbers(kind)]
    texts = [name for name, kind in kinds.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)]
    vector = "vector" if "vector" in lists else next(iter(lists), None)
    node = "node" if "node" in texts else next(iter(texts), None)
    if vector is None or node is None:
        raise InputError(
            f"{label} has the columns {', '.join(kinds)}: one of text and one of lists of numbers belong there"
        )
    column = table[vector].combine_chunks()
    lengths = set(np.unique(column.value_lengths().to_numpy(zero_copy_only=False)).tolist()) if len(column) else set()
    if len(lengths) != 1 or column.null_count:
        raise InputError(f"{label}: the vectors in column {vector!r} differ in length or are missing")
    values = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
    names = [str(name) for name in table[node].to_pylist()]
    parents = None
    if "parent" in texts and vector == "vector":
        row = {name: place for place, name in enumerate(names)}
        above = [[parent] for parent in table["parent"].to_pylist()]
        if "other_parents" in kinds:
            above = [[*first, *others] for first, others in zip(above, table["other_parents"].to_pylist(), strict=True)]
        parents = [[row[parent] for parent in some if parent in row] for some in above]
    return Vectors(names, values, as_kind(info.get("coordinates")), parents)


def _holds_numbers(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(is_list and pa.types.is_floating(kind.value_type))


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "duckdb", "a DuckDB table") from None
    return duckdb
