"""Boxes around blocks of points, and how many points lie within given keys of others.

The key of two points of the ball is q = |x-y|^2 / ((1-|x|^2)(1-|y|^2)), and orders like the distance 2 arsinh(sqrt q).
A box has the least and largest coordinates of its points, and their smallest and largest gap 1-|x|^2.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled
from .placement import gap_of

# What rounding may do to a bound.
EASE = 1e-9


@compiled
def gaps(points):
    """1-|x|^2 of each point, float64 (n,)."""
    found = np.empty(len(points))
    for i in range(len(points)):
        found[i] = gap_of(points[i])
    return found


@compiled
def boxes_between(points, begin):
    """Boxes (b, 2d+2) around the points from begin[i] to before begin[i+1]: least, largest, smallest, largest gap."""
    dim = points.shape[1]
    found = np.empty((begin.size - 1, 2 * dim + 2))
    for b in range(begin.size - 1):
        for k in range(dim):
            found[b, k], found[b, dim + k] = np.inf, -np.inf
        found[b, 2 * dim], found[b, 2 * dim + 1] = np.inf, 0.0
        for i in range(begin[b], begin[b + 1]):
            for k in range(dim):
                found[b, k] = min(found[b, k], points[i, k])
                found[b, dim + k] = max(found[b, dim + k], points[i, k])
            gap = gap_of(points[i])
            found[b, 2 * dim] = min(found[b, 2 * dim], gap)
            found[b, 2 * dim + 1] = max(found[b, 2 * dim + 1], gap)
    return found


@compiled
def boxes(points, width):
    """Boxes around every `width` points (n, d), float64 (b, 2d+2): least, largest, smallest gap, largest gap."""
    n = len(points)
    return boxes_between(points, np.minimum(np.arange((n + width - 1) // width + 1) * width, n))


@compiled
def least_key(box, query, own):
    """No point in the box has a smaller key from the query, whose gap is `own`."""
    dim = query.size
    s = 0.0
    for k in range(dim):
        away = max(box[k] - query[k], query[k] - box[dim + k], 0.0)
        s += away * away
    return s / (own * box[2 * dim + 1]) * (1.0 - EASE)


@compiled
def most_key(box, query, own):
    """No point in the box has a larger key from the query."""
    dim = query.size
    s = 0.0
    for k in range(dim):
        away = max(query[k] - box[k], box[dim + k] - query[k])
        s += away * away
    return s / (own * box[2 * dim]) * (1.0 + EASE)


@compiled
def may_hold(box, query, own, bound):
    """Whether a node of a box may be within the bound of a query with the gap `own`."""
    dim = query.size
    times = (np.sqrt(bound) + np.sqrt(bound + 1.0)) ** 2 * (1.0 + EASE)
    if box[2 * dim] > own * times or box[2 * dim + 1] * times < own:
        return False
    most = bound * own * min(box[2 * dim + 1], own * times) * (1.0 + EASE)
    s = 0.0
    for k in range(dim):
        away = max(box[k] - query[k], query[k] - box[dim + k], 0.0)
        s += away * away
        if s > most:
            return False
    return True


@compiled
def least_keys(all_boxes, query):
    """`least_key` for many boxes, float64 (b,)."""
    own = gap_of(query)
    found = np.empty(len(all_boxes))
    for b in range(len(all_boxes)):
        found[b] = least_key(all_boxes[b], query, own)
    return found


@compiled
def keys_to(points, query):
    """Keys of points (n, d) from a query, float64 (n,)."""
    own = gap_of(query)
    found = np.empty(len(points))
    for i in range(len(points)):
        s = 0.0
        for k in range(query.size):
            s += (points[i, k] - query[k]) ** 2
        found[i] = s / (gap_of(points[i]) * own)
    return found


@compiled
def within_reach(box, queries, own, farthest):
    """Queries that may have a point of the box within their farthest key, int64."""
    found = np.empty(len(queries), np.int64)
    count = 0
    for q in range(len(queries)):
        if least_key(box, queries[q], own[q]) <= farthest[q]:
            found[count] = q
            count += 1
    return found[:count]


@compiled
def count_within(points, block_boxes, width, queries, own, asked, begin, end, limits, counts):
    """Add to `counts` (p,) how many points are within each limit of its query.

    Parameters
    ----------
    points : float64 (n, d)
    block_boxes : boxes around every `width` of them
    queries, own : float64 (q, d), (q,), and their gaps
    asked : int64, which queries; the limits of query i are begin[i] to end[i]
    limits : float64 (p,), keys, those of one query ascending
    """
    n, dim = points.shape
    gap = gaps(points)
    for j in range(asked.size):
        q = asked[j]
        query, first, last = queries[q], begin[q], end[q]
        for b in range(len(block_boxes)):
            low, high = b * width, min(n, (b + 1) * width)
            least = least_key(block_boxes[b], query, own[q])
            if least > limits[last - 1]:
                continue
            most = most_key(block_boxes[b], query, own[q])
            # Limits below are out of reach, and limits above hold the whole block.
            from_limit, to_limit = first, last
            while from_limit < last and limits[from_limit] < least:
                from_limit += 1
            while to_limit > from_limit and limits[to_limit - 1] >= most:
                to_limit -= 1
                counts[to_limit] += high - low
            if from_limit == to_limit:
                continue
            largest = limits[to_limit - 1]
            for i in range(low, high):
                s = 0.0
                for k in range(dim):
                    s += (points[i, k] - query[k]) ** 2
                key = s / (gap[i] * own[q])
                if key <= largest:
                    for p in range(to_limit - 1, from_limit - 1, -1):
                        if key > limits[p]:
                            break
                        counts[p] += 1
