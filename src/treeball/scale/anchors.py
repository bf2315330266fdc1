"""Anchors: the nodes of a folder that are trained together, before its branches, and that all branches know.

They are the trunk, which stays where it is from then on, and stand-ins: a sample of all others, which makes room for
what is below the trunk. The trunk has all nodes above cuts, all that nodes of other branches have among their
ancestors, and of the rest those with the largest subtrees. So all ancestors of a node are in its branch or the trunk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..types import Floats, Ints, Mask
from .contracted import Edges, all_above
from .layout import array, save_array
from .trunk import Shape

__all__ = ["Anchors", "above_cuts", "choose_anchors", "room_for_anchors"]

_FILE = "anchors.npy"
# As many anchors as a branch has nodes, but of several branches no more: every branch has them all.
_MOST = 65_536
# The trunk has who is expected to have so many stand-ins in its subtree: without them a node leaves no room for what is
# below it, and should move with that.
_STOOD_IN = 16


@dataclass(frozen=True)
class Anchors:
    """Nodes that are trained first.

    Attributes
    ----------
    places : int64 (k,), ascending, the root first
    fixed : bool (k,), those of the trunk; the others are stand-ins
    vectors : float64 (k, d)
    sharpness : that at which their training began
    """

    places: Ints
    fixed: Mask
    vectors: Floats
    sharpness: float

    def save(self, work: Path) -> None:
        """Write them for the workers."""
        sharpness = np.full(self.places.size, self.sharpness)
        save_array(work / _FILE, np.column_stack([self.places, self.fixed, sharpness, self.vectors]))

    @classmethod
    def load(cls, work: Path) -> Anchors:
        """What `save` wrote."""
        values = np.array(array(work / _FILE))
        return cls(
            values[:, 0].astype(np.int64), values[:, 1] > 0, np.ascontiguousarray(values[:, 3:]), float(values[0, 2])
        )


def room_for_anchors(nodes: int, branch_nodes: int) -> int:
    """How many anchors a folder of so many nodes has, in branches of so many at most: all that are one branch."""
    return nodes if nodes <= branch_nodes else min(branch_nodes, _MOST)


def choose_anchors(shape: Shape, edges: Edges, cuts: Ints, room: int, seed: int) -> tuple[Ints, Mask, int]:
    """Places of the anchors, ascending, which are the trunk, and how many other parents had no room in it."""
    if room == shape.parent.size:
        return np.arange(room), np.ones(room, bool), 0
    branch = np.searchsorted(cuts, edges.other_child, "right")
    across = branch != np.searchsorted(cuts, edges.other_parent, "right")
    wanted, many = np.unique(edges.other_parent[across].astype(np.int64), return_counts=True)
    trunk = all_above(edges, above_cuts(shape, cuts))
    most = max(room // 2, trunk.size)
    # Parents across branches first, those with the most such children before the others.
    wanted = wanted[np.argsort(-many, kind="stable")]
    kept = wanted.size
    while kept and (closed := np.union1d(trunk, all_above(edges, wanted[:kept]))).size > most:
        kept = int(0.8 * kept)
    trunk = np.union1d(trunk, closed) if kept else trunk
    least = math.ceil(_STOOD_IN * shape.size.size / room)
    large = np.flatnonzero(shape.size >= max(least, _size_of_rank(shape, most)))
    large = large[np.argsort(-shape.size[large], kind="stable")]
    large = large[~np.isin(large, trunk)][: max(0, most - trunk.size)]
    trunk = all_above(edges, np.union1d(trunk, large))
    rest = np.random.default_rng([seed, 2]).permutation(shape.parent.size)[: room + trunk.size]
    rest = rest[~np.isin(rest, trunk)][: max(0, room - trunk.size)]
    places = np.union1d(trunk, rest)
    return places, np.isin(places, trunk), int(wanted.size - kept)


def above_cuts(shape: Shape, cuts: Ints) -> Ints:
    """Places of the nodes above cuts, ascending, the root among them."""
    return np.array(sorted({place for cut in cuts[:-1].tolist() for place in shape.above(cut)} | {0}), np.int64)


def _size_of_rank(shape: Shape, rank: int) -> int:
    """Size of the `rank`-th largest subtree."""
    n = shape.size.size
    return int(np.partition(shape.size, n - rank)[n - rank]) if rank < n else 1
