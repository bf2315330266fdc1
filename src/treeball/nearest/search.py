"""Nearest nodes of an embedding's nodes, exactly: by comparison with all where they are few, else by a search tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.cpu.search_tree import SearchTree
from ..types import Floats, Ints

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["nearest_nodes", "search_tree"]


# Up to this many comparisons a plain pass over all nodes is as fast as a search tree, which is first to be built.
_PLAIN_COMPARISONS = 1 << 24
# A search tree is meant for tens of neighbours.
_TREE_NEIGHBORS = 200
# Numbers in one temporary array.
_BLOCK = 1 << 21


def search_tree(coordinates: Floats, factor: Floats) -> SearchTree:
    """An exact index over points; see :meth:`treeball.geometry.spaces.Space.ranking_coordinates`."""
    return SearchTree(coordinates, factor)


def nearest_nodes(embedding: Embedding, nodes: Ints, k: int, *, virtual_root: bool = False) -> Ints:
    """Codes (m, k) of the nearest other nodes of every node, nearest first, ties by code.

    -1 stands where there are fewer than k. A virtual root is nobody's neighbour, unless `virtual_root` says that it is.
    """
    root = None if virtual_root else embedding.hierarchy.virtual_root
    wanted = min(k + (root is not None), len(embedding))
    few = nodes.size * len(embedding) <= _PLAIN_COMPARISONS and "search_tree" not in vars(embedding)
    if few or wanted > _TREE_NEIGHBORS:
        found = _compare_all(embedding, nodes, wanted)
    else:
        found = embedding.search_tree.nearest(nodes, wanted)[0]
    if root is not None:
        found = np.where(found == root, -1, found)
        found = np.take_along_axis(found, np.argsort(found < 0, axis=1, kind="stable"), axis=1)
    result = np.full((nodes.size, k), -1, np.int64)
    result[:, : min(k, wanted)] = found[:, :k]
    return result


def _compare_all(embedding: Embedding, nodes: Ints, k: int) -> Ints:
    coordinates, factor = embedding.ranking_coordinates()
    found = np.full((nodes.size, k), -1, np.int64)
    step = max(1, _BLOCK // coordinates.size)
    for begin in range(0, nodes.size, step):
        part = nodes[begin : begin + step]
        keys = np.square(coordinates[part][:, None] - coordinates[None]).sum(axis=2) * factor
        keys[np.arange(part.size), part] = np.inf
        # Stable, so that ties stay in the order of codes, once all nodes as near as the k-th are there.
        limit = np.partition(keys, k - 1, axis=1)[:, k - 1]
        for row, source in enumerate(part):
            near = np.flatnonzero(keys[row] <= limit[row])
            near = near[np.argsort(keys[row, near], kind="stable")][:k]
            near = near[near != source]
            found[begin + row, : near.size] = near
    return found
