"""Placing the nodes of a tree around their parents: the inner loops of `methods.construct`.

`order` (n,) holds every parent before its children; `parent` (n,) is -1 for the root.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled

# Siblings keep the angle that they would need if the shorter of their edges were this much shorter still.
ROOM = 0.97
# Siblings that a node with thousands of children asks whether a direction is free; those with the shortest edges.
MOST_DEMANDS = 256
# Each level turns its fans by this much more about the way back to the parent (the golden angle): the leaves along a
# straight chain would else stand side by side.
TURN = math.pi * (3.0 - math.sqrt(5.0))
# Coordinates split at 2^-26 have squares whose sum is exact (geometry/_float64.py).
_COARSE = 2.0**26


@compiled
def heights(order, parent):
    """Longest path down to a leaf in edges, int32 (n,)."""
    height = np.zeros(order.size, np.int32)
    for rank in range(order.size - 1, 0, -1):
        node = order[rank]
        height[parent[node]] = max(height[parent[node]], height[node] + 1)
    return height


@compiled
def depths(order, parent):
    """Distance from the root in edges, int32 (n,)."""
    depth = np.zeros(order.size, np.int32)
    for rank in range(1, order.size):
        node = order[rank]
        depth[node] = depth[parent[node]] + 1
    return depth


@compiled
def edge_lengths(order, parent, height, budget, longest, log_growth):
    """Length of the edge from every node to its parent, float64 (n,), 0 for the root.

    A node that has `left` to go until the budget is used up gives a child of height h the length r of which
    r (1 + g + ... + g^h) = left, so that the h edges below it, each g times as long as the one above, end there; but
    not more than `longest` (times g for every edge above that is as long). Edges shorter than 1 live in a space that is
    as good as flat, where a leaf that sticks out far is as near to the neighbours of its parent: there `longest` is a
    multiple of the length that the tallest child gets.
    """
    length = np.zeros(order.size)
    left = np.empty(order.size)
    left[order[0]] = budget
    lengthen(order, 1, parent, height, np.full(order.size, longest), log_growth, left, length)
    return length


@compiled
def lengthen(order, first, parent, height, longest, log_growth, left, length):
    """Set `length` and `left` of the nodes from rank `first` on in `order`; those before have theirs.

    `longest` (n,) is that of each node's own edge.
    """
    growth = math.exp(log_growth)
    for rank in range(first, order.size):
        node = order[rank]
        above = parent[node]
        tallest = left[above] * first_share(height[above], log_growth)
        share = left[above] * first_share(height[node] + 1, log_growth)
        length[node] = max(min(longest[node] * min(1.0, tallest), share), length[above] * growth)
        left[node] = left[above] - length[node]


@compiled
def first_share(edges, log_growth):
    """Share of the first of some edges in a row in their total length, each exp(log_growth) times the one before."""
    if log_growth <= 0.0:
        return 1.0 / edges
    return math.expm1(log_growth) / math.expm1(edges * log_growth)


@compiled
def gap_of(point):
    """1 - |x|^2 of a ball point, as exactly as its coordinates are given."""
    coarse, fine = 0.0, 0.0
    for k in range(point.size):
        high = np.rint(point[k] * _COARSE) / _COARSE
        coarse += high * high
        fine += (point[k] - high) * (high + point[k])
    return (1.0 - coarse) - fine


@compiled
def direction_to(point, other, out):
    """Unit vector `out` in which `other` is seen from `point` brought to the origin; False if they coincide."""
    a, s = gap_of(point), 0.0
    for k in range(point.size):
        s += (other[k] - point[k]) * (other[k] - point[k])
    # Scaled by its largest entry: near the origin of a tall tree distances may be 1e-100, their squares nothing.
    largest = 0.0
    for k in range(point.size):
        out[k] = a * (other[k] - point[k]) - s * point[k]
        largest = max(largest, abs(out[k]))
    if not largest > 0.0:
        return False
    norm2 = 0.0
    for k in range(point.size):
        out[k] /= largest
        norm2 += out[k] * out[k]
    for k in range(point.size):
        out[k] /= math.sqrt(norm2)
    return True


@compiled
def put(point, direction, length, largest_norm, out):
    """The point `out` at a distance from `point` in a direction, point (+) y; 1 if it was clamped to `largest_norm`."""
    a, size = gap_of(point), math.tanh(0.5 * length)
    # 1 + 2<x,y> + |x|^2 |y|^2 as |x+y|^2 + (1-|x|^2)(1-|y|^2), where nothing cancels on the way from rim to centre.
    below = a / math.cosh(0.5 * length) ** 2
    for k in range(point.size):
        below += (point[k] + size * direction[k]) ** 2
    norm2 = 0.0
    for k in range(point.size):
        out[k] = point[k] + a * size * (direction[k] + size * point[k]) / below
        norm2 += out[k] * out[k]
    if norm2 <= largest_norm * largest_norm:
        return 0
    for k in range(point.size):
        out[k] *= largest_norm / math.sqrt(norm2)
    return 1


@compiled
def place_children(
    nodes, parent, depth, child_ptr, child_idx, length, fan_begin, fan_end, fan_cosine, rows, largest_norm, vectors
):
    """Place the children of `nodes`, in whose order parents come before children; -> how many points were clamped.

    Parameters
    ----------
    nodes : int32 (m,), leaves among them are passed over
    depth : int32 (n,)
    child_ptr, child_idx : CSR of children, those with the shortest edges first
    length : float64 (n,), see `edge_lengths`
    fan_begin, fan_end : int64 (n,), the rows of each inner node's fan in `rows` (r, d); unused in the plane
    fan_cosine : float64 (n,), cosine of the smallest angle of that fan
    vectors : float64 (n, d), changed in place
    """
    clamped = 0
    back = np.empty(vectors.shape[1])
    for i in range(nodes.size):
        node = nodes[i]
        first, last = child_ptr[node], child_ptr[node + 1]
        if first == last:
            continue
        above = parent[node]
        if above >= 0 and not direction_to(vectors[node], vectors[above], back):
            back[:] = 0.0
            back[0] = 1.0
        children, own = child_idx[first:last], length[node] if above >= 0 else -1.0
        fan = rows[fan_begin[node] : fan_end[node]]
        directions = directions_of(children, length, own, back, depth[node], fan, fan_cosine[node])
        for j in range(children.size):
            child = children[j]
            clamped += put(vectors[node], directions[j], length[child], largest_norm, vectors[child])
    return clamped


@compiled
def directions_of(children, length, own, back, depth, fan, fan_cosine):
    """Unit vectors (k, d) in which the children of a node go, as seen from it.

    Parameters
    ----------
    children : int32 (k,), those with the shortest edges first
    own : length of the edge to the node's parent, -1 at the root
    back : float64 (d,), the direction of the parent
    fan, fan_cosine : rows of the node's fan and the cosine of their smallest angle; unused in the plane
    """
    if back.size > 2:
        chosen = choose_rows(children, length, own, fan, fan_cosine)
        return directions_along(chosen, fan, back, own >= 0.0, depth)
    directions = np.empty((children.size, 2))
    turn = _angles(children, length, own)
    start = math.atan2(back[1], back[0]) if own >= 0.0 else 0.0
    for j in range(children.size):
        directions[j, 0], directions[j, 1] = math.cos(start + turn[j]), math.sin(start + turn[j])
    return directions


@compiled
def directions_along(chosen, fan, back, has_parent, depth):
    """Unit vectors (k, d): the `chosen` rows of a fan, turned by the depth and mirrored.

    The mirror makes its first row look `back` to the parent, where there is one.
    """
    dim = back.size
    directions = np.empty((chosen.size, dim))
    normal, one, two = np.empty(dim), np.empty(dim), np.empty(dim)
    _plane_across(fan[0], one, two)
    turn_sine, turn_cosine = math.sin(TURN * depth), math.cos(TURN * depth)
    square = 0.0
    for k in range(dim):
        normal[k] = fan[0, k] - back[k] if has_parent else 0.0
        square += normal[k] * normal[k]
    for j in range(chosen.size):
        row, direction = fan[chosen[j]], directions[j]
        along_one, along_two, across = 0.0, 0.0, 0.0
        for k in range(dim):
            along_one += row[k] * one[k]
            along_two += row[k] * two[k]
        turned_one = along_one * turn_cosine - along_two * turn_sine - along_one
        turned_two = along_one * turn_sine + along_two * turn_cosine - along_two
        for k in range(dim):
            direction[k] = row[k] + turned_one * one[k] + turned_two * two[k]
            across += normal[k] * direction[k]
        if square > 0.0:
            across *= 2.0 / square
        for k in range(dim):
            direction[k] -= across * normal[k]
    return directions


@compiled
def put_along(chosen, children, length, fan, at, back, has_parent, depth, largest_norm, vectors):
    """Put `children` at the ends of their edges, along `chosen` rows of a fan around `at`; -> how many were clamped."""
    clamped = 0
    directions = directions_along(chosen, fan, back, has_parent, depth)
    for j in range(children.size):
        clamped += put(at, directions[j], length[children[j]], largest_norm, vectors[children[j]])
    return clamped


@compiled
def _plane_across(axis, one, two):
    """Two unit vectors, orthogonal to each other and to a unit vector `axis`."""
    for which in range(2):
        out = one if which == 0 else two
        # From the coordinate axis that lies the farthest off those to be orthogonal to.
        best, start = np.inf, 0
        for k in range(axis.size):
            taken = axis[k] * axis[k] + (one[k] * one[k] if which == 1 else 0.0)
            if taken < best:
                best, start = taken, k
        square = 0.0
        for k in range(axis.size):
            out[k] = (1.0 if k == start else 0.0) - axis[start] * axis[k]
            if which == 1:
                out[k] -= one[start] * one[k]
            square += out[k] * out[k]
        for k in range(axis.size):
            out[k] /= math.sqrt(square)


@compiled
def _cosine_needed(short, long):
    """Cosine of the angle that siblings with edges short <= long need, with some room: `angle_between_siblings`."""
    return math.tanh(0.5 * ROOM * short) / math.tanh(long)


@compiled
def choose_rows(children, length, own, fan, fan_cosine):
    """Rows of the fan for the children, int64 (k,): each the first free one far enough from those before it.

    The parent, at distance `own` (-1 at the root), holds row 0. The shorter of two edges decides the angle, and short
    ones come first: what one of them refuses to a child it refuses to all that follow, so one pass over the rows is
    enough. Children left over at its end take what was refused.
    """
    size = fan.shape[0]
    chosen = np.empty(children.size, np.int64)
    demanding, refused = np.empty(children.size + 1, np.int64), np.empty(size, np.int64)
    edge = np.empty(children.size + 1)
    demands, refusals = 0, 0
    row = 0
    if own >= 0.0:
        demanding[0], edge[0] = 0, own
        demands, row = 1, 1
    taken = 0
    while taken < children.size and row < size:
        long = length[children[taken]]
        free = True
        for j in range(demands):
            cosine = 0.0
            for k in range(fan.shape[1]):
                cosine += fan[row, k] * fan[demanding[j], k]
            if cosine > _cosine_needed(edge[j], long):
                free = False
                break
        if free:
            chosen[taken] = row
            # Only who needs more than the fan's own smallest angle has to be asked.
            if demands < MOST_DEMANDS and _cosine_needed(long, np.inf) < fan_cosine:
                demanding[demands], edge[demands] = row, long
                demands += 1
            taken += 1
        else:
            refused[refusals] = row
            refusals += 1
        row += 1
    # From the last refused on: the first were refused for being near the parent or the shortest edges.
    for j in range(taken, children.size):
        refusals -= 1
        chosen[j] = refused[refusals]
    return chosen


@compiled
def _angles(children, length, own):
    """Angles of the children from the direction of the parent, float64 (k,), in the plane.

    Short edges need wide angles, and of two neighbours the shorter decides: so short ones sit together, next to the
    parent (at distance `own`, -1 at the root) and alternately on its two sides, and the leaves on the far side. What
    the circle has beyond the needs of all is shared out in proportion to them.
    """
    count = children.size
    angle = np.empty(count)
    gap = np.empty(count + 1)  # gap[j]: from child j to the next inward on its side; the last one joins the two sides
    total = 0.0
    for j in range(count):
        edge = length[children[j]]
        if j >= 2:
            inner = length[children[j - 2]]
        elif own >= 0.0:
            inner = own
        else:
            inner = length[children[0]] if j == 1 else -1.0
        gap[j] = math.acos(_cosine_needed(inner, edge)) if inner >= 0.0 else 0.0
        total += gap[j]
    inner = length[children[count - 2]] if count > 1 else own
    gap[count] = math.acos(_cosine_needed(inner, length[children[count - 1]])) if inner >= 0.0 else 1.0
    total += gap[count]
    left, right = 0.0, 0.0
    for j in range(count):
        width = gap[j] * 2.0 * math.pi / total
        if j % 2 == 0:
            left += width
            angle[j] = left
        else:
            right += width
            angle[j] = -right
    return angle
