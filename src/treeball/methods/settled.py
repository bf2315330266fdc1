"""The nodes that have their places, in trees that say at once whether another place is free among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..engine.cpu import box_tree
from ..engine.cpu.box_tree import WIDTH
from ..engine.cpu.settle_new import Around
from ..geometry import poincare
from ..types import Floats, Ints, Mask

__all__ = ["Settled", "factors"]

# A factor for nodes that nobody can make ill, such as the root, which has no parent.
UNTOUCHABLE = 1e300
# The few placed last are in small trees of their own, which are built anew when others join: up to so many, and up to
# this share of the others.
FEW, FEW_SHARE = 4096, 0.25


class Settled:
    """Nodes with places in `points` (n, d), each next to its `parent` (n,); both may change for all others.

    Parameters
    ----------
    settled : bool (n,), those that have their places at first
    margin : how many times as far as its parent all others are to stay from a node
    """

    def __init__(self, points: Floats, parent: NDArray[np.int32], settled: Mask, margin: float) -> None:
        self.points, self.parent, self.margin = points, parent, margin
        self.old = self._around(np.flatnonzero(settled))
        self.recent = self._around(np.empty(0, np.int64))

    def join(self, nodes: Ints) -> None:
        """Take up nodes that have found their places."""
        recent = np.concatenate([np.flatnonzero(self.recent.seat >= 0), nodes])
        old = np.flatnonzero(self.old.seat >= 0)
        if recent.size > max(FEW, FEW_SHARE * old.size):
            old, recent = np.concatenate([old, recent]), recent[:0]
            self.old = self._around(old)
        self.recent = self._around(recent)

    def lift(self, nodes: Ints) -> None:
        """Forget nodes, which are to find other places."""
        for around in (self.old, self.recent):
            seats = around.seat[nodes]
            seats = seats[seats >= 0]
            for tree in (around.near, around.guarded):
                place = tree.place[seats]
                tree.factors[place // WIDTH, place % WIDTH] = np.nan  # which never compares
            around.seat[nodes] = -1

    def _around(self, nodes: Ints) -> Around:
        seat = np.full(len(self.points), -1)
        seat[nodes] = np.arange(nodes.size)
        if not nodes.size:  # a tree needs a point: one that is in nobody's way
            empty = box_tree.build(np.zeros((1, self.points.shape[1])), np.ones(1))
            empty.factors[:] = np.nan
            return Around(empty, empty, seat)
        above = self.parent[nodes]
        at = np.ascontiguousarray(self.points[nodes])
        edge = np.where(above >= 0, poincare.distance(at, self.points[np.maximum(above, 0)]), 0.0)
        near, guarded = factors(at, edge, self.margin)
        return Around(box_tree.build(at, near), box_tree.build(at, guarded), seat)


def factors(points: Floats, edge: Floats, margin: float) -> tuple[Floats, Floats]:
    """Factors (m,) of the two trees of `engine.cpu.settle_new`, of points at distances `edge` from their parents."""
    near = 1.0 / poincare.one_minus_square(points)
    with np.errstate(divide="ignore", over="ignore"):
        return near, np.minimum(near / np.sinh(0.5 * margin * edge) ** 2, UNTOUCHABLE)
