"""The trunk: the nodes above the cuts between branches, with all that a branch has to know of them.

A branch is a piece of the places, from one cut to the next: whole subtrees, and ranges of the children of nodes that
have more of them than one branch holds. What it needs of the rest are the nodes above its first one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..engine.cpu import flat_tree, placement
from ..limits import PLACED_RADIUS, margin_from_radius
from ..types import Codes, Floats, Ints
from .couples import Couples
from .fans import MANY_CHILDREN, Fans, compact_order
from .layout import array, save_array
from .lengths import FolderPlan, longest_edges

__all__ = ["Shape", "Spread", "Trunk", "cuts_of", "spread_of"]

NORM = 1.0 - margin_from_radius(PLACED_RADIUS)
# From so many children on, what couples need is kept in a file and not reckoned by every branch.
_KEPT_COUPLES = 2048


@dataclass(frozen=True)
class Shape:
    """Parents, heights and sizes of subtrees by place, int32 (n,), mapped from files."""

    parent: Codes
    height: Codes
    size: Codes

    @classmethod
    def load(cls, folder: Path) -> Shape:
        """Map the arrays of a model folder."""
        return cls(*(np.asarray(array(folder / "topology" / f"{name}.npy")) for name in ("parent", "height", "size")))

    def above(self, place: int) -> list[int]:
        """Places of the ancestors of a node by primary parents, the root first."""
        found: list[int] = []
        while (place := int(self.parent[place])) >= 0:
            found.append(place)
        return found[::-1]


def cuts_of(n: int, most: int) -> Ints:
    """Where branches begin and end: equal pieces of at most so many places, int64 (t+1,)."""
    tasks = max(1, -(-n // most))
    return np.array([n * i // tasks for i in range(tasks + 1)], np.int64)


@dataclass(frozen=True)
class Trunk:
    """Nodes above cuts, by place ascending.

    Attributes
    ----------
    places : int64 (t,)
    vectors : float64 (t, d)
    left, length : float64 (t,), what a path may still use, and the edge to the parent
    depth : int32 (t,)
    """

    places: Ints
    vectors: Floats
    left: Floats
    length: Floats
    depth: Ints

    def at(self, place: int) -> int:
        """Row of a node; -1 for those that are not in the trunk."""
        row = int(np.searchsorted(self.places, place))
        return row if row < self.places.size and self.places[row] == place else -1

    def save(self, work: Path) -> None:
        """Write it for the workers."""
        values = np.column_stack([self.places, self.left, self.length, self.depth, self.vectors])
        save_array(work / "trunk.npy", values)

    @classmethod
    def load(cls, work: Path) -> Trunk:
        """What `save` wrote."""
        values = np.array(array(work / "trunk.npy"))
        return cls(
            values[:, 0].astype(np.int64), np.ascontiguousarray(values[:, 4:]), values[:, 1].copy(),
            values[:, 2].copy(), values[:, 3].astype(np.int64),
        )  # fmt: skip

    @classmethod
    def place(cls, shape: Shape, fans: Fans, plan: FolderPlan, cuts: Ints, work: Path) -> Trunk:
        """Give the trunk its places in space; directions around nodes with many children go to files in `work`."""
        for old in (*work.glob("rows-*.npy"), *work.glob("turned-*.npy")):
            old.unlink()
        found = sorted({place for cut in cuts[:-1].tolist() for place in shape.above(cut)} | {0})
        places = np.array(found, np.int64)
        dim = fans.rows.shape[1]
        trunk = cls(
            places,
            np.zeros((places.size, dim)),
            np.zeros(places.size),
            np.zeros(places.size),
            np.zeros(places.size, np.int64),
        )
        trunk.left[0] = plan.budget
        for row, place in enumerate(found):
            spread = spread_of(shape, fans, plan, trunk, place, work)
            children = spread.children
            inside = np.flatnonzero(np.isin(children, places))
            if not inside.size:
                continue
            below = np.searchsorted(places, children[inside])
            trunk.vectors[below] = put_children(trunk, row, shape, spread, inside)
            trunk.left[below], trunk.length[below] = spread.left[inside], spread.length[inside]
            trunk.depth[below] = trunk.depth[row] + 1
        return trunk


def _lengths_of_children(
    shape: Shape, fans: Fans, plan: FolderPlan, trunk: Trunk, row: int, children: Ints
) -> tuple[Floats, Floats]:
    """Edge lengths of children of a node of the trunk, and what is left below them, float64 (k,) each."""
    heights = np.concatenate([[shape.height[trunk.places[row]]], shape.height[children]]).astype(np.int32)
    parent = np.zeros(heights.size, np.int32)
    left, length = np.zeros(heights.size), np.zeros(heights.size)
    left[0], length[0] = trunk.left[row], trunk.length[row]
    order = np.arange(heights.size, dtype=np.int32)
    inner = np.full(heights.size, np.count_nonzero(heights[1:]))
    longest = longest_edges(plan, fans, heights, np.arange(-1, children.size), inner)
    placement.lengthen(order, 1, parent, heights, longest, math.log(plan.growth), left, length)
    return length[1:], left[1:]


@dataclass(frozen=True)
class Spread:
    """In which directions the children of a node of the trunk go, and how far.

    Attributes
    ----------
    children : int64 (k,), by place
    length, left : float64 (k,), of their edges, and what a path may still use below them
    fan : float64 (f, d)
    rows : int64 (k,), of the fan, one for each of them
    turned, directions : int64 (t,), ascending, and float64 (t, d): children in couples, and where they go instead
    """

    children: Ints
    length: Floats
    left: Floats
    fan: Floats
    rows: Ints
    turned: Ints
    directions: Floats

    def along(self, some: Ints) -> Floats:
        """Directions of some of the children, by index, behind that of the parent, float64 (1+m, d)."""
        found: Floats = self.fan[np.concatenate([[0], self.rows[some]])]
        at = np.minimum(np.searchsorted(self.turned, some), max(self.turned.size - 1, 0))
        if self.turned.size:
            is_turned = self.turned[at] == some
            found[1:][is_turned] = self.directions[at[is_turned]]
        return found


def spread_of(shape: Shape, fans: Fans, plan: FolderPlan, trunk: Trunk, place: int, work: Path) -> Spread:
    """Where the children of a node of the trunk go; for nodes with many of them from files, once these are there."""
    children = flat_tree.children_at(place, shape.size).astype(np.int64)
    row = trunk.at(place)
    which = int(fans.of(np.array([children.size]))[0])
    fan = fans.rows[fans.begin[which] : fans.begin[which] + fans.sizes[which]]
    own = float(trunk.length[row]) if place > 0 else -1.0
    length, left = _lengths_of_children(shape, fans, plan, trunk, row, children)
    kept = work / f"rows-{place}.npy"
    if kept.exists():
        rows = np.asarray(array(kept)).astype(np.int64)
    else:
        rows = placement.choose_rows(np.arange(children.size), length, own, fan, float(fans.cosine[which]))
        if children.size > MANY_CHILDREN:
            leaves = np.flatnonzero(shape.height[children] == 0)
            if leaves.size:  # they come last, and all have the same length
                taken = np.zeros(len(fan), bool)
                taken[rows[leaves]] = True
                order = compact_order(fan, work)
                rows[leaves] = order[taken[order]]
            save_array(kept, rows.astype(np.int32))
    turned, directions = _turned(place, children, length, own, fan, rows, work)
    return Spread(children, length, left, fan, rows, turned, directions)


def _turned(
    place: int, children: Ints, length: Floats, own: float, fan: Floats, rows: Ints, work: Path
) -> tuple[Ints, Floats]:
    """Which children are turned because they are in couples, and where."""
    kept = work / f"turned-{place}.npy"
    if kept.exists():
        values = np.asarray(array(kept))
        return values[:, 0].astype(np.int64), np.ascontiguousarray(values[:, 1:])
    couples = Couples.load(work, fan.shape[1])
    if not couples.parents(place, place + 1).size:
        return np.empty(0, np.int64), np.empty((0, fan.shape[1]))
    directions = fan[np.concatenate([[0], rows])]
    turned = np.flatnonzero(couples.bring_together(place, children, length, own, directions))
    if children.size > _KEPT_COUPLES:
        save_array(kept, np.column_stack([turned, directions[1 + turned]]))
    return turned, directions[1 + turned]


def put_children(trunk: Trunk, row: int, shape: Shape, spread: Spread, some: Ints) -> Floats:
    """Places in space (m, d) for `some` of the children of a node of the trunk, by index."""
    place, out = int(trunk.places[row]), np.zeros((some.size, trunk.vectors.shape[1]))
    back = np.zeros(out.shape[1])
    if place > 0:
        above = trunk.at(int(shape.parent[place]))
        if not placement.direction_to(trunk.vectors[row], trunk.vectors[above], back):
            back[:] = 0.0
            back[0] = 1.0
    which, at = np.arange(some.size), trunk.vectors[row]
    placement.put_along(
        1 + which, which, spread.length[some], spread.along(some), at, back, place > 0, trunk.depth[row], NORM, out
    )
    return out
