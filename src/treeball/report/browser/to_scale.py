"""A hierarchy drawn in the plane with every edge as long as its weight: rectangular or radial, in linear time.

Leaves stand in rows, one below the other, and the row of an inner node is the middle of those of its leaves. In the
*rectangular* layout a node is at (depth, row), depth being the length of the way from the root, and an edge runs along
its own row. In the *radial* layout the rows are directions, all of them together a full turn: an edge goes straight
from its parent in the direction of its row ("equal angle": every subtree has a wedge of its own, so that no edges
cross). In both, the distance that is seen along an edge is its length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engine.cpu.plane_layout import count_leaves
from ...hierarchy import Hierarchy
from ...hierarchy.metric import edge_lengths
from ...types import Floats, Ints
from .order import LevelOrder

TO_SCALE_UP_TO_NODES = 200_000  # beyond this rows are thinner than a hundredth of a pixel, and the page grows
# Tips whose depths differ by less than this share of the height are of one age: published lengths are rounded.
_SAME_AGE = 0.01


@dataclass(frozen=True)
class ToScale:
    """Lengths and rows of the nodes of a tree, in level order.

    Attributes
    ----------
    length : float64 (n,)
        Of the edge to the parent, 0 for the root.
    depth : float64 (n,)
        Length of the way from the root.
    row : float64 (n,)
        From 0 to `rows`, halves where leaves are between rows: the middle of the leaves below a node.
    rows : int
        Number of leaves.
    has_lengths : bool
        Whether edges have lengths of their own; else each counts 1.
    is_dated : bool
        Whether all tips are about as deep, so that depth is best counted back from them.
    """

    length: Floats
    depth: Floats
    row: Floats
    rows: int
    has_lengths: bool
    is_dated: bool

    @property
    def height(self) -> float:
        """Depth of the deepest node."""
        return float(self.depth.max())


def lay_to_scale(hierarchy: Hierarchy, order: LevelOrder) -> ToScale:
    """Lay out the tree of primary parents."""
    length = _primary_lengths(hierarchy)[order.code]
    depth = _sums_from_root(length, order)
    leaves = count_leaves(order.parent)
    has_lengths = hierarchy.parent_weight is not None
    return ToScale(
        length=length,
        depth=depth,
        row=_rows(leaves, order),
        rows=int(leaves[0]),
        has_lengths=has_lengths,
        is_dated=has_lengths and is_dated(depth[np.diff(order.first) == 0]),
    )


def is_dated(tips: Floats) -> bool:
    """Whether depths (k,) of tips are those of one present: at least two, below the root, alike to a hundredth."""
    return bool(tips.size > 1 and tips.max() > 0 and np.ptp(tips) <= _SAME_AGE * tips.max())


def _primary_lengths(hierarchy: Hierarchy) -> Floats:
    """Length (n,) of the edge to the primary parent, by codes; 0 for the root and below a virtual one."""
    child, parent = hierarchy.edges()
    primary = parent == hierarchy.primary_parent[child]
    lengths = np.zeros(hierarchy.n_nodes)
    lengths[child[primary]] = edge_lengths(hierarchy)[primary]
    if hierarchy.virtual_root is not None:  # the weight of an edge to it is nobody's measurement
        lengths[child[parent == hierarchy.virtual_root]] = 0.0
    return lengths


def _rows(leaves: Ints, order: LevelOrder) -> Floats:
    """The middle (n,) of the leaves below each node, children one after the other."""
    # Leaves below the siblings that come before a node: those of the whole level order, less those before the first.
    before = np.cumsum(leaves) - leaves
    above = np.maximum(order.parent, 0)
    offset = np.where(order.parent < 0, 0, before - before[np.minimum(order.first[above], len(order) - 1)])
    return np.asarray(_sums_from_root(offset.astype(np.float64), order) + 0.5 * leaves)


def _sums_from_root(steps: Floats, order: LevelOrder) -> Floats:
    """Sums (n,) of the steps (n,) on the way from the root to each node, that of the node included."""
    sums = np.array(steps)
    begin, end = int(order.first[0]), int(order.first[1])
    while begin < end:  # a level at a time
        sums[begin:end] += sums[order.parent[begin:end]]
        begin, end = end, int(order.first[end])
    return sums
