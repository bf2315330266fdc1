"""Lists of the nodes that rule a softmax: for every node the nearest ones that it is compared with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..nearest import search_tree
from ..types import Codes, Mask
from .descent import Descent

__all__ = ["others_near", "refresh_every"]

# Nearest nodes that are listed for every node, and nodes at a time.
NEAREST, BLOCK = 50, 50_000
# The epochs after which the lists are made anew; in larger hierarchies, where that takes longer than the steps, later.
REFRESH, REFRESH_LARGE, LARGE = 10, 20, 20_000


def refresh_every(n_nodes: int) -> int:
    """Epochs after which the lists of a hierarchy are made anew."""
    return REFRESH if n_nodes <= LARGE else REFRESH_LARGE


def others_near(descent: Descent, is_left_out: Callable[[ArrayLike, ArrayLike], Mask]) -> Codes:
    """Of the `NEAREST` of every node those that are not left out, int32 (n, k), ascending, -1 for the others."""
    n = descent.hierarchy.n_nodes
    tree = search_tree(*descent.space.ranking_coordinates(descent.vectors))
    near = np.empty((n, max(1, min(NEAREST, n - 1))), np.int32)
    for begin in range(0, n, BLOCK):
        nodes = np.arange(begin, min(n, begin + BLOCK))
        codes = tree.nearest(nodes, near.shape[1], threads=descent.workers)[0]
        repeated = np.repeat(nodes, codes.shape[1])
        left_out = is_left_out(np.maximum(codes, 0).ravel(), repeated).reshape(codes.shape)
        near[nodes] = np.sort(np.where(left_out, -1, codes), axis=1)
    return near
