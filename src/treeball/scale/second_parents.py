"""Leaves with several parents: from beside one of them to a place between two, where both are near.

Seen from the nearest common ancestor, places are tried in directions from the one parent to the other, beyond both.
Each is compared with the nodes of the branch, the trunk and the parents in other branches that are next to it. It is no
place for a leaf if a node has its own parent no nearer than that, or if none of the leaf's parents is its nearest node;
of the others that with the best average precision is taken, if it is better than now.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ..engine.cpu import counting, placement
from ..engine.cpu.search_tree import SearchTree
from ..engine.cpu.shared_leaves import choose_seats, precisions_of
from ..geometry import poincare
from ..geometry.spaces import BALL
from ..types import Floats, Ints, Mask
from .branch import Branch
from .fans import Fans
from .lengths import FolderPlan
from .trunk import NORM, Shape, Trunk, put_children, spread_of

__all__ = ["move_between_parents"]

# Directions as parts of the angle from one parent to the other, how far some are tilted out of their plane where that
# is taken, in how many ways, and how far out places are: so many times the longest edge, and at least so far.
_PARTS = (0.06, 0.15, 0.3, 0.4, 0.5)
_TILTS, _WAYS = (0.25, 0.45), 2
_FAR, _LEAST = 1.34, 4.0
# Nodes next to a place that it is compared with; and the keys of others are to be so many times as large.
_NEAREST, _MARGIN = 12, 1.001
# Where a parent is not among these.
_OUT_OF_SIGHT = 1 << 40


class _Known:
    """Points that a branch knows: its own, those above, the trunk, and parents that are children of the trunk."""

    def __init__(self, branch: Branch, shape: Shape, fans: Fans, plan: FolderPlan, trunk: Trunk, work: Path) -> None:
        self.branch, self.shape, self.fans, self.plan, self.trunk, self.work = branch, shape, fans, plan, trunk, work
        own = np.isin(trunk.places, branch.above) | ((trunk.places >= branch.first) & (trunk.places < branch.last))
        self.places: list[int] = trunk.places[~own].tolist()
        self.vectors: list[Floats] = list(trunk.vectors[~own])
        self.lengths: list[float] = trunk.length[~own].tolist()
        self.rows = {place: len(branch.vectors) + i for i, place in enumerate(self.places)}

    def row(self, place: int) -> int:
        """Row of a node, -1 for one whose position is not known here."""
        branch = self.branch
        if branch.first <= place < branch.last:
            return place - branch.first + branch.above.size
        at = int(np.searchsorted(branch.above, place))
        if at < branch.above.size and branch.above[at] == place:
            return at
        return self.rows.get(place, -1)

    def add(self, places: Ints) -> None:
        """Find the positions of nodes of other branches whose parents are in the trunk."""
        above = self.shape.parent[places].astype(np.int64)
        for parent in np.unique(above).tolist():
            row = self.trunk.at(parent)
            if row < 0:
                continue
            wanted = places[above == parent]
            spread = spread_of(self.shape, self.fans, self.plan, self.trunk, parent, self.work)
            at = np.searchsorted(spread.children, wanted)
            found = put_children(self.trunk, row, self.shape, spread, at)
            self.lengths += spread.length[at].tolist()
            for place, vector in zip(wanted.tolist(), found, strict=True):
                self.rows[place] = len(self.branch.vectors) + len(self.places)
                self.places.append(place)
                self.vectors.append(vector)

    def edges(self) -> Floats:
        """Key of the parent of each, float64 (n,); 0 for the root."""
        branch = self.branch
        length = np.zeros(len(branch.vectors))
        has = np.flatnonzero(branch.parent >= 0)
        length[has] = poincare.distance(branch.vectors[has], branch.vectors[branch.parent[has]])
        return np.asarray(np.sinh(0.5 * np.concatenate([length, self.lengths])) ** 2)

    def points(self) -> Floats:
        """All of them, those of the branch first."""
        return np.concatenate([self.branch.vectors, *(one[None] for one in self.vectors)])


def move_between_parents(
    branch: Branch, shape: Shape, fans: Fans, plan: FolderPlan, trunk: Trunk, work: Path,
    child: Ints, other: Ints, seed: list[int],
) -> Ints:  # fmt: skip
    """Move leaves of a branch, changing its vectors; -> rows of those that moved.

    `child` and `other` are the edges to other parents of its nodes, by place, ascending.
    """
    leaf = shape.height[child] == 0
    child, other = child[leaf], other[leaf]
    if not child.size:
        return np.empty(0, np.int64)
    known = _Known(branch, shape, fans, plan, trunk, work)
    outside = np.unique(other)
    known.add(outside[np.array([known.row(int(one)) < 0 for one in outside])])
    points = known.points()
    leaves, starts = np.unique(child, return_index=True)
    ends = np.append(starts[1:], child.size)
    rows = leaves - branch.first + branch.above.size
    parents = [
        [int(branch.parent[row]), *(known.row(int(one)) for one in other[low:high])]
        for row, low, high in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True)
    ]
    others = [other[low:high].tolist() for low, high in zip(starts.tolist(), ends.tolist(), strict=True)]
    tried, whose = _places(known, points, rows, leaves, parents, others, plan, seed)
    if not whose.size:
        return np.empty(0, np.int64)
    counts = np.array([len(some) for some in parents])
    table = np.full((counts.size, counts.max()), -1, np.int64)
    for i, some in enumerate(parents):
        table[i, : len(some)] = some
    tree, edges = SearchTree(*BALL.ranking_coordinates(points)), known.edges()
    now = precisions_of(_standing(tree, points[rows], rows, table, edges)[1], counts)
    limits, before, harms = _standing(tree, tried, rows[whose], table[whose], edges)
    fit = ~harms & (before[:, 0] == 0)
    tried, whose, limits, before = tried[fit], whose[fit], limits[fit], before[fit]
    begin = np.searchsorted(whose, np.arange(rows.size + 1))
    chosen = np.empty(rows.size, np.int64)
    choose_seats(begin, tried, limits, before, counts, now, chosen)
    moved = np.flatnonzero(chosen >= 0)
    branch.vectors[rows[moved]] = tried[chosen[moved]]
    return np.asarray(rows[moved])


def _places(
    known: _Known, points: Floats, rows: Ints, leaves: Ints, parents: list[list[int]], others: list[list[int]],
    plan: FolderPlan, seed: list[int],
) -> tuple[Floats, Ints]:  # fmt: skip
    """Places to try (p, d), and which of the leaves each is for, ascending."""
    dim = points.shape[1]
    far = max(_FAR * plan.longest, _LEAST)
    drawn = np.random.default_rng(seed).normal(size=(rows.size, _WAYS, dim))
    one, two = np.empty(dim), np.empty(dim)
    found: list[Floats] = []
    whose: list[int] = []
    seen: set[tuple[int, int, int]] = set()
    for i, leaf in enumerate(leaves.tolist()):
        pair = _pair(known, int(known.shape.parent[leaf]), parents[i], others[i])
        if pair is None:
            continue
        middle, first, second = (points[row] for row in pair)
        placement.direction_to(middle, first, one)
        placement.direction_to(middle, second, two)
        # The first leaf of two parents has the plane between them to itself.
        edges = [float(poincare.distance(middle, end)) for end in (first, second)]
        for direction in _directions(one, two, edges, drawn[i] if pair in seen else drawn[i, :0]):
            point = np.empty(dim)
            if not placement.put(middle, direction, far, NORM, point):
                found.append(point)
                whose.append(i)
        seen.add(pair)
    return np.array(found).reshape(-1, dim), np.array(whose, np.int64)


def _pair(known: _Known, home: int, rows: list[int], others: list[int]) -> tuple[int, int, int] | None:
    """Rows of the nearest common ancestor of the primary and another parent, and of these two; none above the other."""
    shape = known.shape
    for place, row in zip(others, rows[1:], strict=True):
        above = home
        while not above <= place < above + shape.size[above]:
            above = int(shape.parent[above])
        if row >= 0 and above not in (home, place):
            return known.row(above), rows[0], row
    return None


def _directions(one: Floats, two: Floats, edges: list[float], drawn: Floats) -> list[Floats]:
    """Unit vectors from one direction up to the middle of it and another, and tilted out of their plane.

    The last is in the middle of what is, far out, nearer to both than to where their edges of these lengths begin.
    """
    cosine = float(np.clip(one @ two, -1.0, 1.0))
    across = two - cosine * one
    size = float(np.linalg.norm(across))
    if size < 1e-9:
        return []
    across /= size
    angle = math.acos(cosine)
    reach = [math.acos(math.tanh(0.5 * edge)) for edge in edges]
    parts = (*_PARTS, min(max(0.5 * (reach[0] + angle - reach[1]) / angle, 0.0), 1.0))
    found = [math.cos(part * angle) * one + math.sin(part * angle) * across for part in parts]
    for tilt in _TILTS:
        for way in drawn:
            way = way - (way @ one) * one - (way @ across) * across
            way /= np.linalg.norm(way)
            found += [math.cos(tilt) * flat + math.sin(tilt) * way for flat in (found[2], found[4], found[5])]
    return found


def _standing(tree: SearchTree, points: Floats, rows: Ints, parents: Ints, edges: Floats) -> tuple[Floats, Ints, Mask]:
    """How points (p, d) stand to the nodes next to them, as seats for the leaves `rows` with `parents` (p, k).

    Returns keys of the parents (p, k), ascending, how many others come before each, and whether a point is too near to
    a node, whose own parent has the key `edges` (n,).
    """
    codes, keys = tree.nearest(points, _NEAREST, exclude=rows, threads=1)
    keys = keys / counting.gaps(points)[:, None]
    is_parent = (codes[:, :, None] == parents[:, None, :]).any(axis=2) & (codes >= 0)
    met = np.cumsum(is_parent, axis=1)
    limits = np.full(parents.shape, np.inf)
    before = np.full(parents.shape, _OUT_OF_SIGHT)
    at, column = np.nonzero(is_parent)
    limits[at, met[at, column] - 1] = keys[at, column]
    before[at, met[at, column] - 1] = column + 1 - met[at, column]
    harms = ((keys <= _MARGIN * edges[np.maximum(codes, 0)]) & (codes >= 0)).any(axis=1)
    return limits, before, harms
