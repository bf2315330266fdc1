"""Lists of the nodes that rule a softmax: for every node the nearest ones that are no positives of it."""

from __future__ import annotations

import numpy as np

from ..nearest import search_tree
from ..types import Codes
from .descent import Descent

__all__ = ["REFRESH", "non_positives_near"]

# Nearest nodes that are listed for every node, the epochs after which the lists are made anew, and nodes at a time.
NEAREST, REFRESH, BLOCK = 50, 10, 50_000


def non_positives_near(descent: Descent) -> Codes:
    """The non-positives among the `NEAREST` of every node, int32 (n, k), ascending, -1 for the positives."""
    hierarchy, n = descent.hierarchy, descent.hierarchy.n_nodes
    tree = search_tree(*descent.space.ranking_coordinates(descent.vectors))
    is_positive = hierarchy.is_ancestor if descent.settings.objective == "ancestors" else hierarchy.is_parent
    near = np.empty((n, max(1, min(NEAREST, n - 1))), np.int32)
    for begin in range(0, n, BLOCK):
        nodes = np.arange(begin, min(n, begin + BLOCK))
        codes = tree.nearest(nodes, near.shape[1], threads=descent.workers)[0]
        repeated = np.repeat(nodes, codes.shape[1])
        positive = is_positive(np.maximum(codes, 0).ravel(), repeated).reshape(codes.shape)
        near[nodes] = np.sort(np.where(positive, -1, codes), axis=1)
    return near
