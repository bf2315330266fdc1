"""Fans of directions for every number of children that occurs, in one file that all workers map."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.cpu import box_tree
from ..geometry.capacity import radius_for_angle
from ..geometry.directions import even_directions, fan_size, ordered_directions, smallest_angle
from ..types import Floats, Ints
from ..workers import apart
from .layout import array, new_array, read_json, save_array, write_json

__all__ = ["MANY_CHILDREN", "Fans", "compact_order", "make_fans"]

MANY_CHILDREN = 50_000
"""From so many children on, directions are chosen once and kept in a file; leaves next to each other are near."""
_REPELLED = 1024


@dataclass(frozen=True)
class Fans:
    """The fans of a model folder.

    Attributes
    ----------
    rows : float64 (r, d)
    sizes, begin : int64 (f,), number of directions of each fan, ascending, and where it begins
    cosine : float64 (f,), of its smallest angle
    largest_need : length at which the largest fan has room
    roomy : whether there are about two directions for each of more than a few children
    """

    rows: Floats
    sizes: Ints
    begin: Ints
    cosine: Floats
    largest_need: float
    roomy: bool

    @classmethod
    def load(cls, work: Path) -> Fans:
        """Map what `make_fans` wrote."""
        table = read_json(work / "fan_sizes.json")
        rows = np.asarray(array(work / "fans.npy"))
        sizes = np.array(table["sizes"], np.int64)
        begin = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)
        return cls(rows, sizes, begin, np.array(table["cosine"]), table["largest_need"], table.get("roomy", False))

    def of(self, children: Ints) -> Ints:
        """Which fan a number of children has, int64 (m,)."""
        dim = self.rows.shape[1]
        few, which = np.unique(children, return_inverse=True)
        wanted = np.array([fan_size(_directions(int(one), dim, self.roomy), dim) for one in few], np.int64)
        return np.searchsorted(self.sizes, wanted)[which]

    def ample(self, siblings: Ints) -> Floats:
        """Length of edges at which so many siblings, and what is below them, have ample room, float64 (m,)."""
        few, which = np.unique(siblings, return_inverse=True)
        wanted = np.array([fan_size(int(one) + 1, self.rows.shape[1]) for one in few], np.int64)
        angle = np.arccos(self.cosine[np.minimum(np.searchsorted(self.sizes, wanted), self.sizes.size - 1)])
        return np.asarray(1.1 * radius_for_angle(0.5 * angle))[which]


def _directions(children: int, dim: int, roomy: bool) -> int:
    """How many directions a node with so many children needs, with that to its parent."""
    return 2 * children + 1 if roomy and 2 * dim < children <= MANY_CHILDREN else children + 1


def make_fans(children: Ints, dim: int, work: Path, roomy: bool = False) -> None:
    """Write the fans for these numbers of children, distinct and at least 1."""
    least: dict[int, int] = {}
    for count in children.tolist():
        wanted = _directions(count, dim, roomy)
        least.setdefault(fan_size(wanted, dim), wanted)
    sizes = sorted(least)
    path = work / "fans.npy"
    out = new_array(path, np.float64, (sum(sizes), dim))
    at, cosines, need = 0, [], 0.0
    for size in sizes:
        # The large ones are not to be kept in memory once they are written.
        fan = ordered_directions(least[size], dim) if size <= _REPELLED else even_directions.__wrapped__(size, dim)
        out[at : at + size] = fan
        at += size
        angle = smallest_angle(size, dim)
        cosines.append(math.cos(angle))
        need = max(need, float(radius_for_angle(angle)))
        del fan
    out.flush()
    del out
    write_json(work / "fan_sizes.json", {"sizes": sizes, "cosine": cosines, "largest_need": need, "roomy": roomy})


def compact_order(fan: Floats, work: Path) -> Any:
    """An order, int32 (n,), in which directions next to each other are near each other; it is reckoned once a fan."""
    path = work / f"fan-order-{len(fan)}.npy"
    if not path.is_file():
        order = np.arange(len(fan))
        apart(lambda: box_tree.arrange(fan, np.zeros(len(fan)), order))
        save_array(path, order.astype(np.int32))
    return np.asarray(array(path))
