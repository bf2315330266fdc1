"""Points of the half-space in several terms, compiled: see `geometry.half_space`, whose names these have.

Points are float64 (terms, n, d), the height last.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .placement import directions_of
from .rank import gap_of_four, gap_of_two
from .terms import add, add_positive, add_product, difference, distance_of, multiply, two_product, two_sum


@compiled(forceinline=True)
def ground_gap(points, a, others, b, k):
    """Coordinate k of points[a] less that of others[b], to the digits of float64."""
    terms = len(points)
    if terms == 1:
        return points[0, a, k] - others[0, b, k]
    if terms == 2:
        return gap_of_two(points[0, a, k], points[1, a, k], others[0, b, k], others[1, b, k])
    return gap_of_four(
        points[0, a, k], points[1, a, k], points[2, a, k], points[3, a, k],
        others[0, b, k], others[1, b, k], others[2, b, k], others[3, b, k],
    )  # fmt: skip


@compiled
def put(points, node, way, length, child, scratch):
    """Place `child` at a distance from `node` in a direction (d,); `scratch` has room for terms + 2."""
    last = way.size - 1
    flat = 0.0
    for k in range(last):
        flat += way[k] * way[k]
    rest = flat / (1.0 + way[last]) if way[last] > 0.0 else 1.0 - way[last]
    sine = math.sinh(length)
    below = math.exp(-length) + sine * rest
    height = points[0, node, last]
    for k in range(last):
        add_product(points[:, node, k], height, way[k] * sine / below, scratch, points[:, child, k])
    points[0, child, last] = height / below


@compiled
def direction_to(points, node, other, out):
    """Unit vector `out` in which `other` is seen from `node`; False if they coincide."""
    last = out.size - 1
    own, above = points[0, node, last], points[0, other, last]
    out[last] = (above - own) / own * (above / own + 1.0)
    largest = 0.0
    for k in range(last):
        gap = ground_gap(points, other, points, node, k) / own
        out[k] = 2.0 * gap
        out[last] += gap * gap
        largest = max(largest, abs(out[k]))
    largest = max(largest, abs(out[last]))
    if not largest > 0.0:
        return False
    square = 0.0
    for k in range(out.size):
        out[k] /= largest
        square += out[k] * out[k]
    for k in range(out.size):
        out[k] /= math.sqrt(square)
    return True


@compiled
def pair_distances(points, others, first, second, out):
    """Distances of points[first] from others[second] in two terms, `out` (2, m)."""
    terms, _, dim = points.shape
    last = dim - 1
    scratch = np.empty(2 * terms)
    for i in range(first.size):
        a, b = first[i], second[i]
        own, other = points[0, a, last], others[0, b, last]
        gap, low = two_sum(own, -other)
        square, square_low = multiply(gap, low, gap, low)
        for k in range(last):
            if terms == 2:
                gap, low = add(points[0, a, k], points[1, a, k], -others[0, b, k], -others[1, b, k])
            else:
                gap, low = difference(points[:, a, k], others[:, b, k], scratch)
            gap, low = multiply(gap, low, gap, low)
            square, square_low = add_positive(square, square_low, gap, low)
        if square == 0.0:
            out[0, i], out[1, i] = 0.0, 0.0
            continue
        below, below_low = two_product(own, 4.0 * other)
        out[0, i], out[1, i] = distance_of(square, square_low, below, below_low)


@compiled
def rounded_distances(points, others, first, second, out):
    """Distances of points[first] from others[second] to the digits of float64, `out` (m,)."""
    dim = points.shape[2]
    for i in range(first.size):
        a, b = first[i], second[i]
        own, other = points[0, a, dim - 1], others[0, b, dim - 1]
        square = (own - other) * (own - other)
        for k in range(dim - 1):
            gap = ground_gap(points, a, others, b, k)
            square += gap * gap
        out[i] = 2.0 * math.asinh(0.5 * math.sqrt(square) / math.sqrt(own * other))


@compiled
def place_children(nodes, parent, depth, child_ptr, child_idx, length, fan_begin, fan_end, fan_cosine, rows, points):
    """Place the children of `nodes`, in whose order parents come before children: see `placement.place_children`."""
    terms, _, dim = points.shape
    back, scratch = np.empty(dim), np.empty(2 * terms + 2)
    for i in range(nodes.size):
        node = nodes[i]
        first, last = child_ptr[node], child_ptr[node + 1]
        if first == last:
            continue
        above = parent[node]
        if above >= 0 and not direction_to(points, node, above, back):
            back[:] = 0.0
            back[0] = 1.0
        children, own = child_idx[first:last], length[node] if above >= 0 else -1.0
        fan = rows[fan_begin[node] : fan_end[node]]
        directions = directions_of(children, length, own, back, depth[node], fan, fan_cosine[node])
        for j in range(children.size):
            put(points, node, directions[j], length[children[j]], children[j], scratch)
