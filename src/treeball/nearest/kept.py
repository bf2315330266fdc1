"""The nearest of those nodes that a filter keeps, exactly: the filter is applied before k are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..engine.cpu.term_search import keys_of_pairs
from ..types import Ints, Mask
from .search import BLOCK, PLAIN_COMPARISONS, TREE_NEIGHBORS, finite_keys

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["Kept", "nearest_kept"]

# Of how many nearest nodes those that are kept are chosen at first, for each that is wanted, and how many times as many
# where that is too few.
_FIRST, _MORE = 4, 4


class Kept(Protocol):
    """A filter of neighbours.

    Attributes
    ----------
    is_narrow
        Whether it keeps so few nodes that comparing with all of them is the shortest way.
    """

    is_narrow: bool

    def keeps(self, node: int, others: Ints) -> Mask:
        """Which of the `others` (m,) may be neighbours of a node; never itself or a virtual root."""

    def candidates(self, node: int) -> Ints:
        """All nodes that may be, ascending."""


def nearest_kept(embedding: Embedding, nodes: Ints, k: int, kept: Kept) -> list[Ints]:
    """Codes of the k nearest nodes of every node that a filter keeps, nearest first, ties by code; fewer if there are.

    A search tree gives the nearest of all, which are filtered, and more of them where too few are left; who has too few
    even so is compared with all that the filter keeps.
    """
    found: list[Ints | None] = [None] * nodes.size
    pending, wanted = np.arange(nodes.size), _FIRST * k
    few = nodes.size * len(embedding) <= PLAIN_COMPARISONS and "search_tree" not in vars(embedding)
    while pending.size and not few and not kept.is_narrow and wanted <= min(TREE_NEIGHBORS, len(embedding)):
        step = max(1, BLOCK // wanted)
        for begin in range(0, pending.size, step):
            part = pending[begin : begin + step]
            rows, keys = embedding.search_tree.nearest(nodes[part], wanted)
            rows[np.isinf(keys)] = -1
            for place, row in zip(part.tolist(), rows, strict=True):
                near = row[row >= 0]
                near = near[kept.keeps(int(nodes[place]), near)]
                if near.size >= k:
                    found[place] = near[:k]
        pending = np.array([place for place in pending.tolist() if found[place] is None], np.int64)
        wanted *= _MORE
    return [
        _nearest_of(embedding, node, k, kept.candidates(node)) if near is None else near
        for node, near in zip(nodes.tolist(), found, strict=True)
    ]


def _nearest_of(embedding: Embedding, node: int, k: int, others: Ints) -> Ints:
    """The k nearest of the `others`, which are ascending, by comparison with each."""
    if embedding.precise is not None:
        keys = keys_of_pairs(*embedding.ranking_coordinates(), np.full(others.size, node), others)
        keys = finite_keys(embedding, node, others, keys)
        return np.asarray(others[np.argsort(keys, kind="stable")][:k])
    points, factor = embedding.space.ranking_coordinates(embedding.vectors[others])
    own, _ = embedding.space.ranking_coordinates(embedding.vectors[[node]])
    with np.errstate(over="ignore"):
        keys = finite_keys(embedding, node, others, np.square(points - own).sum(axis=1) * factor)
    if keys.size > k:
        # Stable, so that ties stay in the order of codes, once all nodes as near as the k-th are there.
        near = np.flatnonzero(keys <= np.partition(keys, k - 1)[k - 1])
        others, keys = others[near], keys[near]
    return np.asarray(others[np.argsort(keys, kind="stable")][:k])
