"""Places for many new nodes at once, in time that grows with their number and not with its square.

From the tallest down, so that parents come before their children, and of siblings those first that need the most room,
all nodes of one height look for places together: the children of a node along a fan of directions, at a length at which
they have room among themselves and leave most of it to who comes later (`engine.cpu.settle_new`). Children of different
nodes may then stand in each other's way: the later one looks again, and now knows of the other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..engine.cpu import box_tree, placement
from ..engine.cpu.settle_new import FREE, Groups, in_the_way, settle_groups
from ..geometry import poincare
from ..geometry.capacity import radius_for_angle, radius_needed_lower
from ..geometry.directions import even_directions, ordered_directions, smallest_angle
from ..hierarchy import Hierarchy
from ..limits import PLACED_RADIUS, SETTLE_RADIUS
from ..types import Floats, Ints, Mask
from ..workers import in_parts, thread_count
from .heal_tree import GROWTH, LONGEST, MARGIN
from .settled import Settled

__all__ = ["TIGHT", "settle"]

# Budget, growth and margin as in healing; and what float64 still tells apart, for nodes below the outermost ones.
ATTEMPTS = np.array([(SETTLE_RADIUS, GROWTH, MARGIN), (PLACED_RADIUS, 1.003, 1.002)])
TIGHT = float(ATTEMPTS[-1, 2])
# Directions in the smallest fan, and how often it is tried again, turned: a thousand in all.
SMALLEST_FAN, TURNINGS = 64, 16
# A fan has so many directions for each child, for some will not be free.
DIRECTIONS_A_CHILD = 2
# Children sit somewhat farther out than where they just have room, and farther still, for who comes later: a unit more,
# and the angle that a child takes up is smaller by e^(1/2).
EASE, FARTHER = 1.1, 2.0
# Groups are cut into shares of so many nodes, which find their places at the same time.
SHARE = 1024
# Nodes in each other's way look again so often.
PASSES = 40


def settle(
    hierarchy: Hierarchy, points: Floats, settled: Settled, loose: Mask, threads: int, tell: Callable[[int], None]
) -> Ints:
    """Give the `loose` nodes places, changing `points`, and let them join; -> those that found no free one.

    Parameters
    ----------
    points : float64 (n, d), in the ball
    settled : the others
    tell : called with the number of nodes that have just got a place
    """
    parent = hierarchy.primary_parent
    height = placement.heights(hierarchy.topological_order, parent)
    movers = np.flatnonzero(loose)
    if not movers.size:
        return movers
    movers = movers[np.lexsort((parent[movers], -height[movers]))]
    fans = _Fans(points.shape[1], np.bincount(parent[parent >= 0], minlength=len(points)))
    lost = []
    for round_of in np.split(movers, np.flatnonzero(np.diff(height[movers])) + 1):
        waiting = round_of
        for last in range(PASSES, -1, -1):
            status = _seek(waiting, parent, height, fans, settled, points, threads)
            free, others = waiting[status == FREE], waiting[status != FREE]
            again = _in_the_way(free, parent, points, threads)
            stays = np.concatenate([free[~again], others])
            if not last:
                stays, others = waiting, np.concatenate([others, free[again]])
            settled.join(stays)
            tell(stays.size)
            lost.append(others)
            waiting = free[again]
            if not waiting.size or not last:
                break
    return np.concatenate(lost)


def _seek(
    nodes: Ints,
    parent: NDArray[np.int32],
    height: NDArray[np.int32],
    fans: _Fans,
    settled: Settled,
    points: Floats,
    threads: int,
) -> NDArray[np.int8]:
    """Places for `nodes`, those of one parent next to each other, as if their parents were the only ones that seek."""
    begin = np.concatenate([[0], np.flatnonzero(np.diff(parent[nodes])) + 1, [nodes.size]])
    size = np.diff(begin)
    shares = -(-size // SHARE)
    which = np.repeat(np.arange(size.size), shares)
    share = np.arange(which.size) - np.repeat(np.cumsum(shares) - shares, shares)
    fan_begin, fan_end, least, roomy = fans.of(parent[nodes[begin[:-1]]], size)
    groups = Groups(
        nodes,
        np.concatenate([begin[which] + size[which] * share // shares[which], [nodes.size]]),
        share, shares[which], fan_begin[which], fan_end[which], least[which], roomy[which],
    )  # fmt: skip
    status = np.zeros(nodes.size, np.int8)
    turns = np.arange(which.size)

    def work(part: slice) -> None:
        settle_groups(
            turns[part], groups, fans.rows, fans.turnings, parent, height, settled.old, settled.recent,
            ATTEMPTS, LONGEST, points, status,
        )  # fmt: skip

    in_parts(work, which.size, thread_count(threads))
    return status


def _in_the_way(nodes: Ints, parent: NDArray[np.int32], points: Floats, threads: int) -> Mask:
    """Which of the nodes, all placed at the same time, have to look again because of another of them."""
    found = np.zeros(nodes.size, np.bool_)
    if nodes.size > 1:
        edge = poincare.distance(points[nodes], points[parent[nodes]])
        order = np.argsort(edge, kind="stable")
        at, edge = np.ascontiguousarray(points[nodes[order]]), edge[order]
        near = box_tree.build(at, 1.0 / poincare.one_minus_square(at))
        again = np.zeros(nodes.size, np.bool_)

        def work(part: slice) -> None:
            in_the_way(near, at, edge, TIGHT, part.start, part.stop, again)

        in_parts(work, nodes.size, thread_count(threads))
        found[order] = again
    return found


class _Fans:
    """Fans of directions for groups of children, made as they are needed.

    Attributes
    ----------
    rows : float64 (r, d), the directions of all fans so far
    turnings : float64 (t, d, d), rotations
    """

    def __init__(self, dim: int, children: Ints) -> None:
        self.dim, self.children = dim, children
        self.rows: Floats = np.empty((0, dim))
        self._known: dict[int, tuple[int, int, float]] = {}
        drawn = np.random.default_rng(0).normal(size=(TURNINGS, dim, dim))
        self.turnings = np.ascontiguousarray(np.linalg.qr(drawn)[0])

    def of(self, above: Ints, size: Ints) -> tuple[Ints, Ints, Floats, Floats]:
        """For `size` children of each node `above`: begin and end of a fan, the length it needs, and a roomy one."""
        wanted = np.maximum(SMALLEST_FAN, DIRECTIONS_A_CHILD * size)
        # Few sizes, for many groups share a fan.
        least, kind = np.unique(2 ** np.ceil(np.log2(wanted)).astype(np.int64), return_inverse=True)
        begin, end, need = (np.array(one)[kind] for one in zip(*(self._fan(int(one)) for one in least), strict=True))
        # Few take so little of the smallest fan that they need not care for all of it.
        need = np.where(wanted > SMALLEST_FAN, need, radius_needed_lower(size, self.dim))
        # What is there already takes up room as well.
        room = np.maximum(need, radius_needed_lower(self.children[above], self.dim))
        return begin, end, need, np.where(room > 0.0, room + FARTHER, 0.0)

    def _fan(self, least: int) -> tuple[int, int, float]:
        """Begin and end of the fan with at least so many directions, and the length at which all of it has room."""
        if least not in self._known:
            if self.dim == 2:
                fan = np.random.default_rng(0).permutation(even_directions(least, 2))
            else:
                fan = ordered_directions(least, self.dim)
            begin = len(self.rows)
            self.rows = np.concatenate([self.rows, fan])
            need = EASE * float(radius_for_angle(smallest_angle(len(fan), self.dim)))
            self._known[least] = begin, begin + len(fan), need
        return self._known[least]
