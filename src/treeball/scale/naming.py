"""Names by place: the second pass over the files, sorted out of core, and the repairs by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..engine.cpu import flat_tree
from ..errors import InputError
from ..io.atomic import atomic_write
from ..types import Ints
from .columns import Columns
from .layout import save_array
from .names import hash_of, hashes_of
from .source import Edges, connect
from .topology import Repairs, Topology

__all__ = ["name_nodes", "names_between", "root_name"]

_ROWS = 122_880
# So many edges of each kind of repair are named; all are counted.
_NAMED = 100_000


def name_nodes(
    edges: Edges,
    columns: Columns,
    hashes: np.ndarray,
    topology: Topology,
    repairs: Repairs,
    folder: Path,
    root: str,
    memory: int,
    threads: int,
) -> str | None:
    """Write names by place, names of other parents, the index and the repairs; -> the name of an added root."""
    work = folder / "work"
    base = connect(memory // 2, work / "spill", threads)
    wanted = np.unique(np.concatenate([rows[:_NAMED] for rows in repairs.rows.values()] or [np.empty(0, np.int64)]))
    repaired: list[pa.Table] = []
    virtual = root_name(root, hashes) if topology.virtual else None
    schema = pa.schema([("place", pa.int32()), ("name", pa.string())])

    def pieces() -> Iterator[pa.RecordBatch]:
        if virtual is not None:
            yield pa.record_batch([pa.array([0], pa.int32()), pa.array([virtual])], schema=schema)
        named = np.zeros(hashes.size, bool)
        reader = connect(memory // 8, work / "spill", threads)
        first = 0
        for piece in edges.edges(reader, columns):
            low, high = np.searchsorted(wanted, (first, first + len(piece)))
            if high > low:
                rows = pa.array(wanted[low:high] - first)
                found = pa.table({"child": piece["child"].take(rows), "parent": piece["parent"].take(rows)})
                repaired.append(found.append_column("row", pa.array(wanted[low:high])))
            first += len(piece)
            for side in ("child", "parent"):
                codes = flat_tree.codes_of(hashes_of(piece[side])[0], hashes)
                fresh = _first_seen(codes, named)
                if fresh.size:
                    places = pa.array(topology.place[codes[fresh]])
                    yield pa.record_batch([places, piece[side].take(pa.array(fresh)).cast(pa.string())], schema=schema)
        reader.close()

    target = work / "names.parquet"
    try:
        reader = pa.RecordBatchReader.from_batches(schema, pieces())
        base.register("named", reader)
        with atomic_write(target) as temporary:
            _write(base, "SELECT name FROM named ORDER BY place", temporary, f", ROW_GROUP_SIZE {_ROWS}")
        _name_others(base, topology, target, work / "others.parquet")
    finally:
        base.close()
    (folder / "index").mkdir(exist_ok=True)
    save_array(folder / "index" / "hash.npy", hashes)
    save_array(folder / "index" / "place.npy", topology.place)
    _write_repairs(repairs, pa.concat_tables(repaired) if repaired else None, folder / "repairs.parquet")
    return virtual


def root_name(wanted: str, hashes: np.ndarray) -> str:
    """The name of an added root: `wanted`, or with the first number behind it that no node is called by."""
    name, number = wanted, 2
    while True:
        at = int(np.searchsorted(hashes, np.uint64(hash_of(name))))
        if at == hashes.size or int(hashes[at]) != hash_of(name):
            return name
        name = f"{wanted[:-1]} {number}>" if wanted.endswith(">") else f"{wanted} {number}"
        number += 1


def names_between(path: Path, first: int, last: int) -> pa.Array:
    """Names of the places from `first` to before `last`."""
    file = pq.ParquetFile(path)
    at, parts = 0, []
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if at < last and at + rows > first:
            column = file.read_row_group(group, columns=["name"])["name"]
            parts.append(column.slice(max(0, first - at), min(last, at + rows) - max(first, at)))
        at += rows
    merged = pa.chunked_array([chunk for part in parts for chunk in part.chunks], pa.string())
    whole = merged.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)


def _first_seen(codes: np.ndarray, named: np.ndarray) -> Ints:
    """Which of the codes (m,) are met for the first time; noted in `named`."""
    fresh = np.flatnonzero((codes >= 0) & ~named[np.maximum(codes, 0)])
    if fresh.size:
        fresh = fresh[np.unique(codes[fresh], return_index=True)[1]]
        named[codes[fresh]] = True
        fresh.sort()
    return fresh


def _name_others(base: Any, topology: Topology, names: Path, target: Path) -> None:
    """Edges to other parents with the names of these."""
    others = pa.table({"child": topology.other_child, "parent": topology.other_parent})
    with atomic_write(target) as temporary:
        if not len(others):
            pq.write_table(others.append_column("name", pa.array([], pa.string())), temporary)
            return
        base.register("others", others)
        named = f"SELECT file_row_number AS place, name FROM read_parquet('{_quoted(names)}', file_row_number=true)"
        joined = f"SELECT o.child, o.parent, n.name FROM others o JOIN ({named}) n ON n.place = o.parent"
        _write(base, f"{joined} ORDER BY o.child, o.parent", temporary)


def _write(base: Any, query: str, target: Path, more: str = "") -> None:
    """Write what a query gives to Parquet."""
    try:
        base.execute(f"COPY ({query}) TO '{_quoted(target)}' (FORMAT parquet, COMPRESSION zstd{more})")
    except Exception as error:
        raise InputError(
            f"names could not be written to {str(target.parent)!r}: {shorten(str(error), 160, placeholder=' ...')}; "
            "make room there, or allow more --memory"
        ) from None


def _write_repairs(repairs: Repairs, named: pa.Table | None, target: Path) -> None:
    kinds = [(row, kind) for kind, rows in repairs.rows.items() for row in rows[:_NAMED].tolist()]
    kinds.sort()
    columns = {
        "kind": pa.array([kind for _, kind in kinds], pa.string()),
        "row": pa.array([row + 1 for row, _ in kinds]),
    }
    if named is not None:
        at = np.searchsorted(np.asarray(named["row"]), [row for row, _ in kinds])
        columns |= {side: named[side].take(pa.array(at)) for side in ("child", "parent")}
    else:
        columns |= {side: pa.array([], pa.string()) for side in ("child", "parent")}
    with atomic_write(target) as temporary:
        pq.write_table(pa.table(columns), temporary)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
