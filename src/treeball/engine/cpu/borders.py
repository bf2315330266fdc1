"""Who of other branches is as near to a node as its parent: tiles of a branch beside tiles of others, then nodes.

Keys and boxes are those of `counting`. A node has a bound, the largest key of a parent up to which nobody else has been
found, or -1 where nothing is left to find. From a node with the gap a, whoever has the key q and the gap x is within
|x-y|^2 = q a x, and x lies between a / c and a c with c = e^d for the distance d of q. The reach of a tile has the
largest of q a and of q a^2 c, the smallest of a / c and the largest of a c among its nodes.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled
from .counting import EASE, may_hold
from .reach import FANOUT

# Nodes of a tile, and of the smaller ones in it.
COARSE, FINE = 2048, 64


@compiled
def reaches_between(bound, gap, begin):
    """Reaches (b, 4) of the nodes from begin[i] to before begin[i+1]; the first is -1 where nothing is left to find."""
    found = np.empty((begin.size - 1, 4))
    for b in range(begin.size - 1):
        found[b, 0], found[b, 1], found[b, 2], found[b, 3] = -1.0, -1.0, np.inf, 0.0
        for i in range(begin[b], begin[b + 1]):
            if bound[i] < 0.0:
                continue
            times = (np.sqrt(bound[i]) + np.sqrt(bound[i] + 1.0)) ** 2 * (1.0 + EASE)
            near = bound[i] * gap[i] * (1.0 + EASE)
            found[b, 0] = max(found[b, 0], near)
            found[b, 1] = max(found[b, 1], near * gap[i] * times)
            found[b, 2] = min(found[b, 2], gap[i] / times)
            found[b, 3] = max(found[b, 3], gap[i] * times)
    return found


@compiled
def _may_meet(own_box, reach, box):
    """Whether a node of a tile with this reach may have a node of another box within its bound."""
    dim = (own_box.size - 2) // 2
    if not reach[0] >= 0.0 or box[2 * dim + 1] < reach[2] or box[2 * dim] > reach[3]:
        return False
    most = min(reach[0] * box[2 * dim + 1], reach[1]) * (1.0 + EASE)
    s = 0.0
    for k in range(dim):
        away = max(box[k] - own_box[dim + k], own_box[k] - box[dim + k], 0.0)
        s += away * away
    return s <= most


@compiled
def meetings(boxes, reach, kin, long, all_boxes, starts, home, of, short, cosine, own_home):
    """Pairs (p, 2) of tiles of a branch and of others that bounds do not keep apart; -> and how many a fan does.

    Parameters
    ----------
    boxes, reach : float64 (t, 2d+2) and (t, 4), of the tiles of the branch
    kin, long : int64 (t,), whose children these are, all in directions of one fan, or -1; and their longest edge
    all_boxes, starts : boxes of the tiles of all branches and around them, see `reach.stack_boxes`
    home, of, short, cosine : of the tiles of all: their branch, whose children, their shortest edge, and the cosine of
        the smallest angle between them
    own_home : number of the branch
    """
    found = np.empty((1024, 2), np.int64)
    count, by_fan = 0, 0
    stack = np.empty((FANOUT * starts.size + 1, 2), np.int64)
    for q in range(len(boxes)):
        stack[0, 0], stack[0, 1] = starts.size - 2, 0
        top = 1
        while top > 0:
            top -= 1
            level, number = stack[top, 0], stack[top, 1]
            if level == 0 and home[number] == own_home:
                continue
            if not _may_meet(boxes[q], reach[q], all_boxes[starts[level] + number]):
                continue
            if level > 0:
                size = starts[level] - starts[level - 1]
                for child in range(number * FANOUT, min(size, (number + 1) * FANOUT)):
                    stack[top, 0], stack[top, 1] = level - 1, child
                    top += 1
                continue
            # Siblings at an angle t with edges a and x are farther apart than a when cos t < tanh(x/2) / tanh a.
            are_kin = kin[q] >= 0 and kin[q] == of[number]
            if are_kin and cosine[number] + EASE < np.tanh(0.5 * short[number]) / np.tanh(long[q]):
                by_fan += 1
                continue
            if count == len(found):
                wider = np.empty((2 * count, 2), np.int64)
                wider[:count] = found
                found = wider
            found[count, 0], found[count, 1] = q, number
            count += 1
    return found[:count], by_fan


@compiled
def _widen(box, other):
    dim = (box.size - 2) // 2
    for k in range(dim):
        box[k] = min(box[k], other[k])
        box[dim + k] = max(box[dim + k], other[dim + k])
    box[2 * dim] = min(box[2 * dim], other[2 * dim])
    box[2 * dim + 1] = max(box[2 * dim + 1], other[2 * dim + 1])


@compiled
def _met(wide, reach, boxes, first, last, done, near, around):
    """How many of the boxes from first to before last a tile may meet: they are written to `near`, but for those done.

    `around` gets the box around them, which is less than a whole tile.
    """
    count = 0
    for b in range(first, last):
        if (done.size == 0 or not done[b]) and _may_meet(wide, reach, boxes[b]):
            near[count] = b
            if count == 0:
                around[:] = boxes[b]
            else:
                _widen(around, boxes[b])
            count += 1
    return count


@compiled
def wanted(pairs, wide, wide_reach, own_fine, own_boxes, own_reach, begin, boxes):
    """Which small tiles of the others, bool (b,), bounds do not keep apart from the small ones of the branch.

    The parameters are those of `compare`.
    """
    found = np.zeros(len(boxes), np.bool_)
    near = np.empty(COARSE // FINE, np.int64)
    around = np.empty(boxes.shape[1])
    for p in range(len(pairs)):
        own, other = pairs[p]
        count = _met(wide[own], wide_reach[own], boxes, begin[other], begin[other + 1], found, near, around)
        if count == 0:
            continue
        for f in range(own_fine[own], own_fine[own + 1]):
            if _may_meet(own_boxes[f], own_reach[f], around):
                for j in range(count):
                    if not found[near[j]] and _may_meet(own_boxes[f], own_reach[f], boxes[near[j]]):
                        found[near[j]] = True
    return found


@compiled
def in_blocks(points, begin):
    """The points from begin[i] to before begin[i+1], coordinate by coordinate, float64 (b, d, FINE)."""
    dim = points.shape[1]
    blocks = np.full((begin.size - 1, dim, FINE), np.nan)
    for b in range(begin.size - 1):
        for i in range(begin[b], begin[b + 1]):
            for k in range(dim):
                blocks[b, k, i - begin[b]] = points[i, k]
    return blocks


@compiled
def _is_parent(other, node, parent, other_begin, others):
    """Whether `other` is a parent of a node, whose row is `node`."""
    found = parent[node] == other
    for j in range(other_begin[node], other_begin[node + 1]):
        found = found or others[j] == other
    return found


@compiled
def close_bound(node, key, bound, found, limit_begin, limits):
    """Note that somebody has a key from a node: what is left to find is within its largest limit below that."""
    found[node] = min(found[node], key)
    bound[node] = -1.0
    for j in range(limit_begin[node], limit_begin[node + 1]):
        if limits[j] < found[node]:
            bound[node] = limits[j]


@compiled
def compare(
    pairs, points, gap, wide, wide_reach, fine, own_fine, own_boxes, own_reach, places, begin, boxes, blocks,
    other_gap, nobody, parent, other_begin, others, limit_begin, limits, bound, found, compared,
):  # fmt: skip
    """Compare the nodes of pairs of tiles as far as bounds do not decide; -> how many keys were computed.

    Parameters
    ----------
    pairs : int64 (p, 2), tiles of the branch and of others
    points, gap : float64 (m, d), (m,), of the branch
    wide, wide_reach : boxes and reaches of the tiles of the branch
    fine, own_fine : int64, where its small tiles begin, and which of them each of its tiles has
    own_boxes, own_reach : boxes and reaches of its small tiles
    places, begin : int64 (r,), of the others; and which small tiles each of their tiles has
    boxes, blocks, other_gap : of the small tiles of the others, and gaps (b, FINE)
    nobody : a place that does not count, or -1
    parent, other_begin, others : int64, parents of each node of the branch by place, the primary and a CSR of others
    limit_begin, limits : keys of these with the tie, ascending
    bound, found, compared : float64, float64 and bool (m,), changed in place: what is left, the smallest key of others
        so far, and whether any was computed
    """
    dim, total = points.shape[1], 0
    keys, near = np.empty(FINE), np.empty(COARSE // FINE, np.int64)
    around, nowhere = np.empty(2 * dim + 2), np.empty(0, np.bool_)
    for p in range(len(pairs)):
        own, other = pairs[p]
        count = _met(wide[own], wide_reach[own], boxes, begin[other], begin[other + 1], nowhere, near, around)
        if count == 0:
            continue
        for f in range(own_fine[own], own_fine[own + 1]):
            if not _may_meet(own_boxes[f], own_reach[f], around):
                continue
            for j in range(count):
                b = near[j]
                if not _may_meet(own_boxes[f], own_reach[f], boxes[b]):
                    continue
                size = FINE
                for i in range(fine[f], fine[f + 1]):
                    if bound[i] < 0.0 or not may_hold(boxes[b], points[i], gap[i], bound[i]):
                        continue
                    compared[i] = True
                    total += size
                    for w in range(FINE):
                        keys[w] = 0.0
                    for k in range(dim):
                        at, row = points[i, k], blocks[b, k]
                        for w in range(FINE):
                            away = row[w] - at
                            keys[w] += away * away
                    row = other_gap[b]
                    hits = 0
                    for w in range(FINE):
                        keys[w] = keys[w] / (row[w] * gap[i])
                        hits += keys[w] <= bound[i]
                    if hits == 0:
                        continue
                    for w in range(FINE):
                        place = places[b * FINE + w]
                        if not keys[w] <= bound[i] or place == nobody:
                            continue
                        if not _is_parent(place, i, parent, other_begin, others):
                            close_bound(i, keys[w], bound, found, limit_begin, limits)
    return total
