"""Couples: siblings that share children, which are put next to each other so that these find a place between them.

Of siblings at an angle t with edges of lengths l and m, a leaf far out between them is nearer to both than to their
parent when t < arccos(tanh(l/2)) + arccos(tanh(m/2)): for long edges, about twice the angle that they need so that
neither is nearer to the other than to its parent. So there is always an angle at which two siblings can share leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..engine.cpu import couples
from ..types import Codes, Floats, Ints, Mask
from .layout import array, save_array

__all__ = ["Couples", "find_couples"]

_FILE = "couples.npy"
_WAYS = 24


def find_couples(parent: Codes, other_child: Codes, other_parent: Codes, work: Path) -> int:
    """Write which siblings share children, given parents by place and edges to other parents; -> how many pairs."""
    home, other = parent[other_child].astype(np.int64), other_parent.astype(np.int64)
    siblings = (home >= 0) & (other > 0)
    siblings &= parent[np.maximum(home, 0)] == parent[other]
    home, other = home[siblings], other[siblings]
    pairs = np.column_stack([np.minimum(home, other), np.maximum(home, other)])
    pairs = pairs[pairs[:, 0] > 0]
    few, weight = np.unique(pairs, axis=0, return_counts=True) if len(pairs) else (pairs, np.empty(0, np.int64))
    above = parent[few[:, 0]].astype(np.int64)
    order = np.lexsort((few[:, 0], few[:, 1], above))
    save_array(work / _FILE, np.column_stack([above, few, weight])[order])
    return len(few)


@dataclass(frozen=True)
class Couples:
    """Pairs of siblings that share children, by place: their parent, the earlier, the later, and how many they share.

    Attributes
    ----------
    table : int64 (c, 4), ascending by the parent, then by the later sibling
    drawn : float64 (t, d), directions in which siblings are turned
    """

    table: Ints
    drawn: Floats

    @classmethod
    def load(cls, work: Path, dim: int) -> Couples:
        """Map what `find_couples` wrote; none for folders of an earlier version."""
        path = work / _FILE
        table = np.asarray(array(path)) if path.is_file() else np.empty((0, 4), np.int64)
        drawn = np.random.default_rng(dim).normal(size=(_WAYS, dim))
        return cls(table, drawn / np.linalg.norm(drawn, axis=1, keepdims=True))

    def parents(self, first: int, last: int) -> Ints:
        """Those of the nodes from a place to before another that have children in couples."""
        low, high = np.searchsorted(self.table[:, 0], (first, last))
        return np.unique(self.table[low:high, 0])

    def bring_together(self, place: int, children: Ints, length: Floats, own: float, directions: Floats) -> Mask:
        """Turn directions (1+k, d) of the children of a node, of which the first is that of its parent; -> which."""
        low, high = np.searchsorted(self.table[:, 0], (place, place + 1))
        earlier, later = np.searchsorted(children, self.table[low:high, 1]), self.table[low:high, 2]
        starts = np.searchsorted(later, np.append(children, children[-1] + 1))
        moved = np.zeros(children.size, bool)
        weights = self.table[low:high, 3].astype(np.float64)
        couples.bring_together(directions, length, own, starts, earlier, weights, self.drawn, moved)
        return moved
