"""Which inner nodes lack local capacity in an embedding (section 4 of the paper, DESIGN "sufficiency")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engine.cpu.kth_nearest import kth_nearest
from ..engine.cpu.rank import to_blocks
from ..geometry import capacity, poincare
from ..hierarchy import Hierarchy
from ..workers import in_parts


@dataclass(frozen=True)
class Sufficiency:
    """Local capacity of the inner nodes of an embedding, or of a sample of them.

    Attributes
    ----------
    nodes : int64 (m,)
        Inner nodes looked at.
    children : int64 (m,)
        How many children k each has.
    radius : float64 (m,)
        r_A, the distance to the k-th nearest node.
    lacking : bool (m,)
        Whether k exceeds the lower bound on the local capacity at that radius.
    inner : int
        How many inner nodes there are in all.
    """

    nodes: NDArray[np.int64]
    children: NDArray[np.int64]
    radius: NDArray[np.float64]
    lacking: NDArray[np.bool_]
    inner: int

    @property
    def share(self) -> float:
        """Share of the inner nodes that lack capacity."""
        return float(self.lacking.mean()) if self.nodes.size else 0.0

    def __str__(self) -> str:
        sampled = "" if self.nodes.size == self.inner else "sampled "
        return f"{int(self.lacking.sum()):,} of {self.nodes.size:,} {sampled}inner nodes lack capacity"


def sufficiency(
    vectors: NDArray[np.float64], hierarchy: Hierarchy, *, sample: int | None = None, seed: int = 0, threads: int = 1
) -> Sufficiency:
    """Compare the number of children of every inner node with the room within its k-th nearest node.

    Parameters
    ----------
    vectors : float64 (n, d)
        Points of the Poincare ball.
    sample
        Look at this many random inner nodes only.
    """
    counts = np.diff(hierarchy.child_ptr)
    inner = np.flatnonzero(counts).astype(np.int64)
    nodes = inner
    if sample is not None and sample < inner.size:
        nodes = np.sort(np.random.default_rng(seed).choice(inner, sample, replace=False))
    rim = poincare.one_minus_square(vectors)
    blocks, factors = to_blocks(vectors, 1.0 / rim)
    children, keys = counts[nodes], np.empty(nodes.size)

    def work(part: slice) -> None:
        kth_nearest(vectors, blocks, factors, nodes[part], children[part], keys[part])

    in_parts(work, nodes.size, threads)
    radius = 2.0 * np.arcsinh(np.sqrt(keys / rim[nodes]))
    lacking = capacity.insufficient(children, radius, vectors.shape[1])
    return Sufficiency(nodes, children, radius, lacking, inner.size)
