"""Shards with nodes that were moved across the borders: written anew, whole or not at all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..engine.cpu import counting
from .layout import BLOCK, read_json, save_array, write_json
from .shard import boxes_path, record_path, shard_path, write_table

__all__ = ["move_in_shard", "placed_hash"]


def placed_hash(record: dict[str, Any]) -> str:
    """SHA-256 of the shard of a branch as it was placed, before nodes were moved."""
    return str(record.get("placed_sha256", record["sha256"]))


def move_in_shard(folder: str, task: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Write the shard of one branch with the moves of its nodes; -> its record."""
    home = Path(folder)
    first, last = settings["cuts"][task], settings["cuts"][task + 1]
    with np.load(home / "work" / "moves.npz") as kept:
        low, high = np.searchsorted(kept["places"], (first, last))
        rows, moved = kept["places"][low:high] - first, kept["vectors"][low:high]
    target = shard_path(home, task)
    table = pq.read_table(target)
    column = table["vector"].combine_chunks()
    dim = moved.shape[1]
    vectors = np.array(column.flatten().to_numpy(zero_copy_only=False)).reshape(-1, dim)
    vectors[rows] = moved
    at = table.schema.get_field_index("vector")
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dim)
    digest = write_table(table.set_column(at, "vector", column), target)
    record = read_json(record_path(home, task))
    record |= {
        "placed_sha256": placed_hash(record), "sha256": digest, "bytes": target.stat().st_size,
        "moved_across": rows.size,
        "largest_radius": 2.0 * math.asinh(math.sqrt(counting.keys_to(vectors, np.zeros(dim)).max())),
    }  # fmt: skip
    save_array(boxes_path(home, task), counting.boxes(vectors, BLOCK))
    write_json(record_path(home, task), record)
    return record
