"""Hierarchies for the tests of model folders: random, with several parents, and messy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def random_edges(nodes: int, seed: int = 0, several: float = 0.02) -> list[tuple[str, str]]:
    """Edges child, parent of an uneven tree whose nodes have now and then a second parent."""
    rng = np.random.default_rng(seed)
    inner = max(2, nodes // 8)
    edges = []
    for child in range(1, nodes):
        parent = int(min(child, inner) * rng.random() ** 2)
        edges.append((f"n{child}", f"n{parent}"))
        if rng.random() < several and parent > 1:
            edges.append((f"n{child}", f"n{parent - 1}"))
    return edges


def write(edges: list[tuple[str | None, str | None]], folder: Path, files: int = 2) -> str:
    """Write Parquet files; -> a pattern that finds them."""
    folder.mkdir(exist_ok=True)
    cuts = [len(edges) * i // files for i in range(files + 1)]
    for number in range(files):
        part = edges[cuts[number] : cuts[number + 1]]
        table = pa.table({"child": pa.array([a for a, _ in part], pa.string()),
                          "parent": pa.array([b for _, b in part], pa.string())})  # fmt: skip
        pq.write_table(table, folder / f"edges-{number}.parquet")
    return f"{folder}/*.parquet"
