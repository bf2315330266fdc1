"""Nearest nodes of an embedding's nodes, and those within their reach, exactly.

By comparison with all where they are few, else by a search tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.cpu.search_tree import SearchTree
from ..engine.cpu.term_search import TermSearch, keys_of_pairs
from ..geometry.spaces import Space
from ..types import Floats, Ints

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["nearest_nodes", "nodes_within_reach", "ranked_distances", "search_tree"]


# Up to this many comparisons a plain pass over all nodes is as fast as a search tree, which is first to be built.
PLAIN_COMPARISONS = 1 << 24
# A search tree is meant for tens of neighbours.
TREE_NEIGHBORS = 200
# Numbers in one temporary array.
BLOCK = 1 << 21
# Of how many nearest nodes those within reach are chosen at first, and how many times as many where that is too few:
# a tree has one, and the next is beyond.
_FIRST_WITHIN, _MORE_WITHIN = 2, 4


def search_tree(coordinates: Floats, factor: Floats) -> SearchTree | TermSearch:
    """An exact index over points; see :meth:`treeball.geometry.spaces.Space.ranking_coordinates`.

    Coordinates of several terms, (terms, n, d), are compared with all.
    """
    return TermSearch(coordinates, factor) if coordinates.ndim == 3 else SearchTree(coordinates, factor)


def nearest_nodes(embedding: Embedding, nodes: Ints, k: int, *, virtual_root: bool = False) -> Ints:
    """Codes (m, k) of the nearest other nodes of every node, nearest first, ties by code.

    -1 stands where there are fewer than k. A virtual root is nobody's neighbour, unless `virtual_root` says that it is.
    """
    root = None if virtual_root else embedding.hierarchy.virtual_root
    wanted = min(k + (root is not None), len(embedding))
    few = nodes.size * len(embedding) <= PLAIN_COMPARISONS and "search_tree" not in vars(embedding)
    if (few and embedding.precise is None) or wanted > TREE_NEIGHBORS:
        found = _compare_all(embedding, nodes, wanted)
    else:
        found, keys = embedding.search_tree.nearest(nodes, wanted)
        far = np.isinf(keys).any(axis=1)
        if far.any():
            found[far] = _compare_all(embedding, nodes[far], wanted)
    if root is not None:
        found = np.where(found == root, -1, found)
        found = np.take_along_axis(found, np.argsort(found < 0, axis=1, kind="stable"), axis=1)
    result = np.full((nodes.size, k), -1, np.int64)
    result[:, : min(k, wanted)] = found[:, :k]
    return result


def _compare_all(embedding: Embedding, nodes: Ints, k: int) -> Ints:
    coordinates, factor = embedding.ranking_coordinates()
    found = np.full((nodes.size, k), -1, np.int64)
    step = max(1, BLOCK // coordinates.size)
    everybody = np.arange(len(embedding))
    for begin in range(0, nodes.size, step):
        part = nodes[begin : begin + step]
        if coordinates.ndim == 3:
            first, second = np.repeat(part, len(embedding)), np.tile(everybody, part.size)
            keys = keys_of_pairs(coordinates, factor, first, second).reshape(part.size, -1)
        else:
            with np.errstate(over="ignore"):  # see `finite_keys`
                keys = np.square(coordinates[part][:, None] - coordinates[None]).sum(axis=2) * factor
        for row, source in enumerate(part):
            keys[row] = finite_keys(embedding, source, everybody, keys[row])
        keys[np.arange(part.size), part] = np.inf
        # Stable, so that ties stay in the order of codes, once all nodes as near as the k-th are there.
        limit = np.partition(keys, k - 1, axis=1)[:, k - 1]
        for row, source in enumerate(part):
            near = np.flatnonzero(keys[row] <= limit[row])
            near = near[np.argsort(keys[row, near], kind="stable")][:k]
            near = near[near != source]
            found[begin + row, : near.size] = near
    return found


def finite_keys(embedding: Embedding, node: int, others: Ints, keys: Floats) -> Floats:
    """Keys (m,) of other nodes seen from one, or their distances where keys leave float64: across a wide half-space."""
    return embedding.distances_between(np.array(node), others) if np.isinf(keys).any() else keys


def nodes_within_reach(embedding: Embedding, nodes: Ints) -> tuple[Ints, Ints]:
    """Pointers (m+1,) and codes of the other nodes within the reach of every node, nearest first, ties by code.

    A virtual root is among them. Within a reach of 0 there is nobody.
    """
    reach = embedding.reach[nodes]
    if embedding.precise is None:
        factor = embedding.space.ranking_coordinates(embedding.vectors[nodes])[1]
    else:
        factor = embedding.ranking_coordinates()[1][nodes]
    counts = np.zeros(nodes.size, np.int64)
    places, codes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    pending, k = np.flatnonzero(reach > 0.0), _FIRST_WITHIN
    while pending.size:
        left = [np.empty(0, np.int64)]
        wanted = min(k, len(embedding))
        step = max(1, BLOCK // wanted)
        for begin in range(0, pending.size, step):
            part = pending[begin : begin + step]
            found, keys = embedding.search_tree.nearest(nodes[part], wanted)
            far = embedding.space.distance_from_key(np.sqrt(keys * factor[part, None]))
            within = (far <= reach[part, None]) & (found >= 0)
            full = within.all(axis=1)
            left.append(part[full])
            within[full] = False
            counts[part] = within.sum(axis=1)
            places.append(np.repeat(part, counts[part]))
            codes.append(found[within])
        pending, k = np.concatenate(left), k * _MORE_WITHIN
    order = np.argsort(np.concatenate(places), kind="stable")
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.concatenate(codes)[order]


def ranked_distances(space: Space, coordinates: Floats, factor: Floats, first: Ints, second: Ints) -> Floats:
    """Distances of pairs of nodes, made by monotone operations of the keys that rankings compare.

    A node that is ranked nearer than another never comes out farther.
    """
    if coordinates.ndim == 3:
        return space.distance_from_key(np.sqrt(keys_of_pairs(coordinates, factor, first, second) * factor[first]))
    key = np.zeros(first.size)
    for column in coordinates.T:
        key += np.square(column[first] - column[second])
    return space.distance_from_key(np.sqrt(key * factor[second] * factor[first]))
