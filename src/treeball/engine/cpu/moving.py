"""Nodes that go elsewhere: who is nearer to them than their parent, and which of several places they take.

Keys and boxes are those of `counting`, reaches those of `reach`.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled
from .counting import EASE, may_hold
from .placement import direction_to, gap_of


@compiled
def keys_between(points, others):
    """Keys of points (m, d) from others (m, d), one by one, by the operations of `counting.keys_to`."""
    found = np.empty(len(points))
    for i in range(len(points)):
        s = 0.0
        for k in range(points.shape[1]):
            s += (others[i, k] - points[i, k]) ** 2
        found[i] = s / (gap_of(others[i]) * gap_of(points[i]))
    return found


@compiled
def follow(points, at, directions, tolerance):
    """Which points (m, d) are seen from `at` in these directions (m, d), bool (m,)."""
    found = np.zeros(len(points), np.bool_)
    seen = np.empty(at.size)
    for i in range(len(points)):
        if not direction_to(at, points[i], seen):
            continue
        s = 0.0
        for k in range(at.size):
            s += (seen[k] - directions[i, k]) ** 2
        found[i] = s <= tolerance * tolerance
    return found


@compiled
def who_is_within(points, block_boxes, width, queries, own, asked, limits):
    """Which points (n, d) are within the limit of which queries: int64 (p, 2), the query and the point.

    The others are as for `counting.count_within`, with one limit for each query.
    """
    found = np.empty((64, 2), np.int64)
    count = 0
    gap = np.empty(len(points))
    for i in range(len(points)):
        gap[i] = gap_of(points[i])
    for j in range(asked.size):
        q = asked[j]
        for b in range(len(block_boxes)):
            if not may_hold(block_boxes[b], queries[q], own[q], limits[q]):
                continue
            for i in range(b * width, min(len(points), (b + 1) * width)):
                s = 0.0
                for k in range(points.shape[1]):
                    s += (points[i, k] - queries[q, k]) ** 2
                if s / (gap[i] * own[q]) <= limits[q]:
                    if count == len(found):
                        wider = np.empty((2 * count, 2), np.int64)
                        wider[:count] = found
                        found = wider
                    found[count, 0], found[count, 1] = q, i
                    count += 1
    return found[:count]


@compiled
def take_groups(turns, begin, owner, points, gap, reach, boxes, wide, has, taken):
    """Give each owner the first of its groups of points that is in the way of no group taken before it.

    Parameters
    ----------
    turns : int64, groups to try, in this order
    begin, owner : int64 (g+1,), (g,), where each group begins among the points, and whose it is
    points, gap, reach : float64 (p, d), (p,), (p,), see `reach`
    boxes, wide : float64 (g, 2d+2), (g,), around each group, and its largest reach
    has, taken : bool by owner and (g,), changed in place
    """
    dim = points.shape[1]
    before = np.empty(turns.size, np.int64)
    count = 0
    for g in turns:
        if taken[g]:
            before[count] = g
            count += 1
    for g in turns:
        if has[owner[g]]:
            continue
        free = True
        for j in range(count):
            t = before[j]
            s = 0.0
            for k in range(dim):
                away = max(boxes[g, k] - boxes[t, dim + k], boxes[t, k] - boxes[g, dim + k], 0.0)
                s += away * away
            if s > max(wide[g], wide[t]) * boxes[g, 2 * dim + 1] * boxes[t, 2 * dim + 1] * (1.0 + EASE):
                continue
            for one in range(begin[g], begin[g + 1]):
                for other in range(begin[t], begin[t + 1]):
                    s = 0.0
                    for k in range(dim):
                        s += (points[one, k] - points[other, k]) ** 2
                    if s <= max(reach[one], reach[other]) * gap[one] * gap[other]:
                        free = False
            if not free:
                break
        if free:
            taken[g] = has[owner[g]] = True
            before[count] = g
            count += 1
