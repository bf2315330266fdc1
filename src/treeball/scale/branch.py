"""One branch: placed by the single-machine code below its trunk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.cpu import flat_tree, placement
from ..engine.cpu.graph import stable_order
from ..geometry.spaces import BALL
from ..nearest import search_tree
from ..types import Codes, Floats, Ints
from .couples import Couples
from .fans import Fans
from .lengths import FolderPlan, longest_edges
from .trunk import NORM, Shape, Trunk, put_children, spread_of

__all__ = ["Branch", "place_branch", "together"]


@dataclass(frozen=True)
class Branch:
    """A placed branch: first the nodes above it, then its own.

    Attributes
    ----------
    first, last : places of its own nodes
    above : int64 (a,), places of the nodes above
    parent : int32 (a+m,), by row; -1 for the root
    vectors : float64 (a+m, d)
    """

    first: int
    last: int
    above: Ints
    parent: Codes
    vectors: Floats

    def ill(self, rows: Ints, threads: int = 1) -> Ints:
        """Those of `rows` that have another node of the branch, or of those above, as near as their parent."""
        rows = rows[self.parent[rows] >= 0]
        tree = search_tree(*BALL.ranking_coordinates(self.vectors))
        ranks = tree.rank(rows, np.arange(rows.size + 1), self.parent[rows].astype(np.int64), threads=threads)[0]
        return rows[ranks > 1]


def place_branch(shape: Shape, fans: Fans, plan: FolderPlan, trunk: Trunk, first: int, last: int, work: Path) -> Branch:
    """Places in space for the nodes from place `first` to before `last`."""
    above = np.array(shape.above(first), np.int64)
    a, m, dim = above.size, last - first, fans.rows.shape[1]
    parent = np.full(a + m, -1, np.int32)
    parent[1:a] = np.arange(a - 1)
    own = shape.parent[first:last].astype(np.int64)
    outside = own < first
    parent[a:] = np.where(outside, np.searchsorted(above, own), own - first + a)
    if first == 0:
        parent[a] = -1
    height = np.concatenate([shape.height[above], shape.height[first:last]]).astype(np.int32)
    left, length = np.zeros(a + m), np.zeros(a + m)
    depth, vectors = np.zeros(a + m, np.int32), np.zeros((a + m, dim))
    rows_above = np.searchsorted(trunk.places, above)
    left[:a], length[:a] = trunk.left[rows_above], trunk.length[rows_above]
    depth[:a], vectors[:a] = trunk.depth[rows_above], trunk.vectors[rows_above]
    begin = a
    if first == 0:
        left[0] = plan.budget
        begin = 1
    # Nodes of the trunk have children in other branches too: of theirs, those that are here.
    inside = trunk.places[(trunk.places >= first) & (trunk.places < last)]
    shared = np.concatenate([above, inside[inside + shape.size[inside] > last]])
    longest = longest_edges(plan, fans, height, *_among_siblings(shape, parent, height, shared, first, last, a))
    order = np.arange(a + m, dtype=np.int32)
    placement.lengthen(order, begin, parent, height, longest, math.log(plan.growth), left, length)
    _deepen(parent, depth, begin)
    is_shared = np.zeros(a + m, bool)
    for place in shared.tolist():
        row = trunk.at(place)
        at = place - first + a if place >= first else int(np.searchsorted(above, place))
        is_shared[at] = True
        vectors[at] = trunk.vectors[row]
    for place in shared.tolist():
        row = trunk.at(place)
        spread = spread_of(shape, fans, plan, trunk, place, work)
        children = spread.children
        low, high = np.searchsorted(children, (first, last))
        if high > low:
            vectors[children[low:high] - first + a] = put_children(trunk, row, shape, spread, np.arange(low, high))
    couples = Couples.load(work, dim)
    coupled = np.setdiff1d(couples.parents(first, last), shared) - first + a
    _place_below(fans, parent, depth, length, is_shared, vectors, couples, coupled, first - a)
    return Branch(first, last, above, parent, vectors)


def _among_siblings(
    shape: Shape, parent: Codes, height: Codes, shared: Ints, first: int, last: int, above: int
) -> tuple[Ints, Ints]:
    """Index of each row among its siblings, and how many of these are inner nodes, int64 (n,) each."""
    has = np.flatnonzero(parent >= 0)
    pointers, order = stable_order(parent.size, parent[has])
    index = np.zeros(parent.size, np.int64)
    index[has[order]] = np.arange(has.size) - pointers[parent[has[order]]]
    inner = np.bincount(parent[has][height[has] > 0], minlength=parent.size)[np.maximum(parent, 0)]
    for place in shared.tolist():
        children = flat_tree.children_at(place, shape.size).astype(np.int64)
        low, high = np.searchsorted(children, (first, last))
        rows = children[low:high] - first + above
        index[rows], inner[rows] = np.arange(low, high), np.count_nonzero(shape.height[children])
    return index, inner


def together(branches: list[Branch], trunk: Trunk, asked: Ints) -> tuple[Branch, Ints]:
    """Several branches and the trunk as one, and the rows of the places `asked`, which are in these branches."""
    own = np.concatenate([np.arange(one.first, one.last) for one in branches])
    rest = trunk.places[~np.isin(trunk.places, own)]
    places = np.sort(np.concatenate([rest, own]))
    vectors = np.empty((places.size, trunk.vectors.shape[1]))
    parent = np.full(places.size, -1, np.int32)
    vectors[np.searchsorted(places, trunk.places)] = trunk.vectors
    for one in branches:
        a = one.above.size
        at = np.searchsorted(places, np.arange(one.first, one.last))
        vectors[at] = one.vectors[a:]
        known = np.concatenate([one.above, np.arange(one.first, one.last)])
        above = one.parent[a:]
        parent[at] = np.where(above >= 0, np.searchsorted(places, known[np.maximum(above, 0)]), -1)
    return Branch(0, 0, rest, parent, vectors), np.searchsorted(places, asked)


def _place_below(
    fans: Fans, parent: Codes, depth: Codes, length: Floats, is_shared: Any, vectors: Floats,
    couples: Couples, coupled: Ints, shift: int,
) -> None:  # fmt: skip
    """Place the children of all rows but shared ones; those of the rows `coupled`, ascending, some in couples.

    `shift` is what a row of the branch lacks to its place.
    """
    n = parent.size
    has = np.flatnonzero((parent >= 0) & ~is_shared[np.maximum(parent, 0)])
    child_ptr, order = stable_order(n, parent[has])
    child_idx = has[order].astype(np.int32)
    counts = np.diff(child_ptr)
    inner = np.flatnonzero(counts)
    fan_begin, fan_end, fan_cosine = np.zeros(n, np.int64), np.zeros(n, np.int64), np.ones(n)
    if inner.size:
        which = fans.of(counts[inner])
        fan_begin[inner], fan_end[inner] = fans.begin[which], fans.begin[which] + fans.sizes[which]
        fan_cosine[inner] = fans.cosine[which]
    nodes = np.arange(n, dtype=np.int32)
    for first, last in zip([0, *(coupled + 1)], [*coupled, n], strict=True):
        # Nodes up to the next with couples among its children, and then that one.
        placement.place_children(
            nodes[first:last], parent, depth, child_ptr, child_idx, length, fan_begin, fan_end, fan_cosine, fans.rows,
            NORM, vectors,
        )  # fmt: skip
        if last == n:
            break
        children = child_idx[child_ptr[last] : child_ptr[last + 1]].astype(np.int64)
        fan, own = fans.rows[fan_begin[last] : fan_end[last]], float(length[last]) if parent[last] >= 0 else -1.0
        directions = fan[np.concatenate([[0], placement.choose_rows(children, length, own, fan, fan_cosine[last])])]
        couples.bring_together(int(last + shift), children + shift, length[children], own, directions)
        back = np.zeros(vectors.shape[1])
        has_parent = bool(own >= 0.0 and placement.direction_to(vectors[last], vectors[parent[last]], back))
        placement.put_along(
            np.arange(1, 1 + children.size), children, length, directions, vectors[last], back, has_parent,
            depth[last], NORM, vectors,
        )  # fmt: skip


def _deepen(parent: Codes, depth: Codes, begin: int) -> None:
    """Depths of the rows from `begin` on, parents before children."""
    whole = placement.depths(np.arange(parent.size, dtype=np.int32), parent)
    shift = int(depth[begin - 1]) - int(whole[begin - 1]) if begin else 0
    depth[begin:] = whole[begin:] + shift
