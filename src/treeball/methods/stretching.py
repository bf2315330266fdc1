"""Longer edges, which make up for what bends cost.

A bend shortens all paths across it by a fixed amount, and a path has many. Where the edges beside them are long, a
little added to these gives it back to all of the paths at once: no other node has to move beside its neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.cpu import stretch
from ..types import Floats, Ints
from .centred import CentredTree
from .drawing_plans import LARGEST_HALF

__all__ = ["GENTLY", "WIDELY", "Stretches", "Stretching"]

# Space is as good as flat where a path is shorter, and an edge that grows gives it less than it grows by.
SHORTEST_PATH = 4.0
# Steps of a fit.
STEPS = 100


class Stretching(NamedTuple):
    """How edges may grow: by which part of their length at most, and how much less the misses of long paths count."""

    most: float
    power: float


# The one for what is worst, the other for the average and the order of long paths.
GENTLY, WIDELY = Stretching(0.1, 2.0), Stretching(0.3, 1.0)


class Stretches:
    """How much longer the edges of a tree should be.

    Parameters
    ----------
    tree
        Whose edges they are.
    pairs
        Two nodes each and the length of their path, of some pairs near and far.
    """

    def __init__(self, tree: CentredTree, pairs: tuple[Ints, Ints, Floats]) -> None:
        self._tree, self.pairs = tree, pairs
        self._order, self._parent = tree.order.astype(np.int64), tree.parent.astype(np.int64)
        rank = np.empty(self._order.size, np.int64)
        rank[self._order] = np.arange(rank.size)
        self._meet = np.empty(pairs[0].size, np.int64)
        stretch.common_ancestors(rank, self._parent, *pairs[:2], self._meet)

    def more(self, logs: Floats, scale: float, now: Floats, way: Stretching, room: float) -> Floats:
        """What edges (m,) should be longer by than they are, at a scale, instead of `now`.

        By the logarithms of distance over path of the pairs, as drawn with `now`; nothing gets farther out than `room`.
        """
        first, second, length = self.pairs
        path, edge = scale * length, scale * self._tree.length
        missing = path - length * np.exp(logs)
        counted = np.isfinite(missing) & (path > SHORTEST_PATH)
        weight = np.where(counted, np.maximum(path, 1.0) ** -way.power, 0.0)
        most = way.most * edge
        if self._tree.nodes < edge.size:  # the centre lies on an edge, whose halves are below it
            half = self._parent == self._order[0]
            most[half] = np.minimum(most[half], np.maximum(LARGEST_HALF - edge[half], 0.0))
        own = np.maximum(edge, 1e-9) ** -way.power
        found = np.zeros_like(now)
        stretch.fit_stretches(
            self._order, self._parent, first, second, self._meet, weight, np.where(counted, missing, 0.0), own,
            -now, np.maximum(most - now, 0.0), STEPS, found,
        )  # fmt: skip
        found += now
        return found * self._fitting(edge, found, room)

    def _fitting(self, edge: Floats, added: Floats, room: float) -> float:
        """Which part of what is `added` to the edges leaves all within `room`."""
        depth, out = np.zeros_like(edge), np.zeros_like(edge)
        for node in self._order[1:].tolist():
            above = self._parent[node]
            depth[node], out[node] = depth[above] + edge[node], out[above] + edge[node] + added[node]
        beyond = out > room
        if not beyond.any():
            return 1.0
        return float(np.min(np.maximum(room - depth[beyond], 0.0) / (out[beyond] - depth[beyond])))
