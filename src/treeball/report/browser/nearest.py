"""The few nodes nearest to every node, as the page lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...types import Ints

if TYPE_CHECKING:
    from ...embedding import Embedding


def nearest_nodes(embedding: Embedding, count: int, threads: int = 0) -> Ints:
    """Codes (n, count) of the nodes nearest to each node, nearest first; -1 where there are fewer, no virtual root."""
    tree = embedding.search_tree
    added = embedding.hierarchy.virtual_root
    own = np.arange(len(embedding))
    if added is None:
        return tree.nearest(own, count, threads=threads)[0]
    found = tree.nearest(own, count + 1, threads=threads)[0]
    # Move the virtual root to the end of its row, and cut the end off.
    kept = np.argsort(found == added, axis=1, kind="stable")[:, :count]
    found = np.take_along_axis(found, kept, axis=1)
    return np.where(found == added, -1, found)
