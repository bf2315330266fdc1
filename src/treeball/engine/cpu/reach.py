"""Who is in whose way: new points beside many that stay, and beside each other.

A point has a reach, the key within which it wants no other but its parent. Two points are in each other's way when
their key is at most the larger of both reaches. Keys and boxes are those of `counting`; a box also has the largest
reach of its points. With c = e^d for the distance d of a key, gaps of points within that key are at most c times as
large or as small as each other, so that the wide gaps of a box count only as far as that.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled
from .counting import boxes, gaps, may_hold
from .placement import gap_of, put

# Boxes of a level that one box of the next level is around, and points in the smallest boxes.
FANOUT = 8
FINE = 32


@compiled
def edge_reach(vectors, first, parent, above, above_vectors, margin, out):
    """Reaches `out` (n,) of nodes in one piece of the places: the key of each one's parent, `margin` times as far.

    Parameters
    ----------
    vectors, parent : float64 (n, d) and int (n,), places of parents, -1 at the root, whose reach is 0
    first : place of the first node
    above, above_vectors : int64 (a,), ascending, and float64 (a, d), all parents before the piece
    """
    for i in range(parent.size):
        if parent[i] < 0:
            out[i] = 0.0
        elif parent[i] >= first:
            out[i] = farther(_key(vectors[i], vectors[parent[i] - first]), margin)
        else:
            out[i] = farther(_key(vectors[i], above_vectors[np.searchsorted(above, parent[i])]), margin)


@compiled
def farther(key, margin):
    """The key of `margin` times the distance."""
    return np.sinh(margin * np.arcsinh(np.sqrt(key))) ** 2


@compiled
def of_keys(keys, margin):
    """Reaches (m,) of nodes whose parents have these keys, `margin` times as far."""
    found = np.empty(keys.size)
    for i in range(keys.size):
        found[i] = farther(keys[i], margin)
    return found


@compiled
def _key(one, other):
    s = 0.0
    for k in range(one.size):
        s += (one[k] - other[k]) ** 2
    return s / (gap_of(one) * gap_of(other))


@compiled
def put_around(at, direction, length, largest_norm, margin, points, reach):
    """Put `points` (m, d) at lengths (m,) from `at` (m, d) in directions (m, d), and tell their `reach` (m,)."""
    for i in range(len(points)):
        put(at[i], direction[i], length[i], largest_norm, points[i])
        reach[i] = farther(_key(points[i], at[i]), margin)


def stack_boxes(lowest: np.ndarray, wide: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes around every FANOUT boxes, level by level up to one box.

    Returns boxes (t, 2d+2) of all levels, those of the lowest first, their largest reaches (t,), and where levels begin
    (levels + 1,).
    """
    dim = lowest.shape[1] // 2 - 1
    levels, reaches = [lowest], [wide]
    while len(levels[-1]) > 1:
        begin = np.arange(0, len(levels[-1]), FANOUT)
        least, most = np.minimum.reduceat(levels[-1], begin), np.maximum.reduceat(levels[-1], begin)
        least[:, dim : 2 * dim], least[:, -1] = most[:, dim : 2 * dim], most[:, -1]
        levels.append(least)
        reaches.append(np.maximum.reduceat(reaches[-1], begin))
    starts = np.concatenate([[0], np.cumsum([len(one) for one in levels])]).astype(np.int64)
    return np.concatenate(levels), np.concatenate(reaches), starts


@compiled
def _next_lowest(all_boxes, wide, starts, query, own, reach, stack, top):
    """The next box of the lowest level that a query may meet, and the top of the stack; -1 where there is none left."""
    while top > 0:
        top -= 1
        level, number = stack[top, 0], stack[top, 1]
        at = starts[level] + number
        if not may_hold(all_boxes[at], query, own, max(reach, wide[at])):
            continue
        if level == 0:
            return number, top
        count = starts[level] - starts[level - 1]
        for child in range(number * FANOUT, min(count, (number + 1) * FANOUT)):
            stack[top, 0], stack[top, 1] = level - 1, child
            top += 1
    return -1, 0


@compiled
def count_meetings(all_boxes, wide, starts, queries, own, reach, most, counts):
    """Count in `counts` (g,) how many queries may meet each lowest box; -> how many of them were asked.

    All, or as many as have `most` meetings together, and at least one.
    """
    stack = np.empty((FANOUT * starts.size + 1, 2), np.int64)
    total = 0
    for q in range(len(queries)):
        if total >= most:
            return q
        stack[0, 0], stack[0, 1] = starts.size - 2, 0
        box, top = _next_lowest(all_boxes, wide, starts, queries[q], own[q], reach[q], stack, 1)
        while box >= 0:
            counts[box] += 1
            total += 1
            box, top = _next_lowest(all_boxes, wide, starts, queries[q], own[q], reach[q], stack, top)
    return len(queries)


@compiled
def note_meetings(all_boxes, wide, starts, queries, own, reach, cursor, who):
    """Write into `who` which queries may meet each lowest box, beginning for each at its `cursor`, which moves on."""
    stack = np.empty((FANOUT * starts.size + 1, 2), np.int64)
    for q in range(len(queries)):
        stack[0, 0], stack[0, 1] = starts.size - 2, 0
        box, top = _next_lowest(all_boxes, wide, starts, queries[q], own[q], reach[q], stack, 1)
        while box >= 0:
            who[cursor[box]] = q
            cursor[box] += 1
            box, top = _next_lowest(all_boxes, wide, starts, queries[q], own[q], reach[q], stack, top)


@compiled
def in_the_way(points, hold, first, block_boxes, width, queries, own, reach, parents, same, asked, conflict):
    """Note in `conflict` (q,) which queries and a point are in each other's way.

    Parameters
    ----------
    points, hold : float64 (n, d), (n,), with their reaches
    first : place of the first point
    block_boxes : boxes around every `width` of them, a multiple of FINE
    queries, own, reach : float64 (q, d), (q,), (q,), with gaps and reaches
    parents : int64 (q,), place of the one point that is in nobody's way
    same : int64 (q, 2), places from the first to before the second are the query itself and what goes with it
    asked : integers, which queries
    """
    n, dim = points.shape
    gap, fine = gaps(points), boxes(points, FINE)
    wide, wider = np.zeros(len(fine)), np.zeros(len(block_boxes))
    for i in range(n):
        wide[i // FINE] = max(wide[i // FINE], hold[i])
    for f in range(len(fine)):
        wider[f * FINE // width] = max(wider[f * FINE // width], wide[f])
    for j in range(asked.size):
        q = asked[j]
        for b in range(len(block_boxes)):
            if conflict[q]:
                break
            if not may_hold(block_boxes[b], queries[q], own[q], max(reach[q], wider[b])):
                continue
            for f in range(b * width // FINE, min(len(fine), (b + 1) * width // FINE)):
                if conflict[q] or not may_hold(fine[f], queries[q], own[q], max(reach[q], wide[f])):
                    continue
                for i in range(f * FINE, min(n, (f + 1) * FINE)):
                    s = 0.0
                    for k in range(dim):
                        s += (points[i, k] - queries[q, k]) ** 2
                    if s <= max(reach[q], hold[i]) * gap[i] * own[q] and first + i != parents[q]:
                        if same[q, 0] <= first + i < same[q, 1]:
                            continue
                        conflict[q] = True
                        break


@compiled
def take_in_turn(turns, owner, points, gap, reach, all_boxes, wide, starts, taken, has):
    """Give each owner the first of its points that is in the way of none taken before it.

    Parameters
    ----------
    turns : int64, rows of the points to try, in this order
    owner : int64 (m,), whose each is
    points, gap, reach : float64 (m, d), (m,), (m,)
    all_boxes, wide, starts : see `stack_boxes`, over every FINE points
    taken, has : bool (m,) and by owner, changed in place
    """
    n, dim = points.shape
    stack = np.empty((FANOUT * starts.size + 1, 2), np.int64)
    for turn in range(turns.size):
        one = turns[turn]
        if has[owner[one]]:
            continue
        stack[0, 0], stack[0, 1] = starts.size - 2, 0
        free = True
        box, top = _next_lowest(all_boxes, wide, starts, points[one], gap[one], reach[one], stack, 1)
        while free and box >= 0:
            for i in range(box * FINE, min(n, (box + 1) * FINE)):
                if not taken[i]:
                    continue
                s = 0.0
                for k in range(dim):
                    s += (points[i, k] - points[one, k]) ** 2
                if s <= max(reach[one], reach[i]) * gap[i] * gap[one]:
                    free = False
                    break
            box, top = _next_lowest(all_boxes, wide, starts, points[one], gap[one], reach[one], stack, top)
        if free:
            taken[one] = has[owner[one]] = True
