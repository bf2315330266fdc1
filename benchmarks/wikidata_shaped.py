"""A generated hierarchy with the shape of Wikidata: few classes, many leaves, very uneven, somewhat messy.

One node in 21 is a class. A tenth of all leaves hang below one class, the others by the law of Zipf. .5 % of the nodes
have a second parent, which is `near` (another child of their grandparent) or `far` (any class), and .01 % have an edge
from their parent back to them, which closes a cycle.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

PIECE = 5_000_000
PRIME = 2_147_483_647
SecondParents = Literal["near", "far"]


def write(nodes: int, folder: Path, second_parents: SecondParents = "near", seed: int = 0) -> int:
    """Write Parquet files with columns child and parent into `folder`; -> number of edges."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    classes = max(2, nodes // 21)
    above = np.zeros(classes, np.int64)
    above[1:] = (np.arange(1, classes) * rng.random(classes - 1) ** 3).astype(np.int64)
    first = np.searchsorted(np.sort(above[1:]), np.arange(classes + 1))  # of the children in `below`
    below = 1 + np.argsort(above[1:], kind="stable")
    popular = rng.permutation(np.arange(1, classes))
    edges, late = 0, []
    for number, begin in enumerate(range(1, nodes, PIECE)):
        child = np.arange(begin, min(nodes, begin + PIECE))
        parent = np.empty(child.size, np.int64)
        inner = child < classes
        parent[inner] = above[child[inner]]
        leaves = int((~inner).sum())
        rank = np.minimum((float(classes - 1) ** rng.random(leaves)).astype(np.int64), classes - 2)
        rank[rng.random(leaves) < 0.1] = 0
        parent[~inner] = popular[rank]
        several = np.flatnonzero(rng.random(child.size) < (0.0078 if second_parents == "near" else 0.005))
        other = rng.integers(0, classes, several.size)
        if second_parents == "near":
            grand = above[parent[several]]
            span = np.maximum(first[grand + 1] - first[grand], 1)
            other = below[np.minimum(first[grand] + rng.integers(0, 1 << 62, several.size) % span, below.size - 1)]
        # A parent that is no class above itself: a class has its second parent among those before it.
        good = (other < child[several]) & (other != parent[several])
        back = child[rng.random(child.size) < 0.0001]
        late.append((parent[back - begin], back))
        edges += _write(
            folder / f"edges-{number:04d}.parquet",
            np.concatenate([child, child[several[good]]]),
            np.concatenate([parent, other[good]]),
        )
    ends = [np.concatenate(side) for side in zip(*late, strict=True)]
    keep = ends[0] > 0
    return edges + _write(folder / "edges-9999.parquet", ends[0][keep], ends[1][keep])


def name(codes: np.ndarray) -> pa.Array:
    """Q and a number, which does not follow the order of the nodes."""
    numbers = (codes.astype(np.uint64) * np.uint64(1_103_515_245) + np.uint64(12_345)) % np.uint64(PRIME)
    return pa.compute.binary_join_element_wise("Q", pa.array(numbers).cast(pa.string()), "")


def _write(path: Path, child: np.ndarray, parent: np.ndarray) -> int:
    pq.write_table(pa.table({"child": name(child), "parent": name(parent)}), path, compression="zstd")
    return child.size
