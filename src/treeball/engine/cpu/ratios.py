"""How far distances in the half-space are off the lengths of paths, and steps by which they come nearer.

Points are float64 (terms, n, d), the height last: see `geometry.half_space`.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .half_space import ground_gap, put

# Gaps that are so large beside the heights that their squares leave float64 are taken this many times.
FAR_OUT = 2.0**-500
LOG_OF_FAR_OUT = -500.0 * math.log(2.0)


@compiled
def log_ratios(points, first, second, target, out):
    """log(distance / target) of pairs, `out` (m,); -inf where two points coincide."""
    for i in range(first.size):
        out[i] = math.log(distance(points, first[i], second[i]) / target[i])


@compiled
def distance(points, a, b):
    """Distance of two nodes. Gaps are taken beside the heights: their squares might leave float64."""
    dim = points.shape[2]
    beside = 1.0 / (math.sqrt(points[0, a, dim - 1]) * math.sqrt(points[0, b, dim - 1]))
    square = 0.0
    for k in range(dim):
        gap = beside * ground_gap(points, a, points, b, k)
        square += gap * gap
    if square < math.inf:
        return 2.0 * math.asinh(0.5 * math.sqrt(square))
    square = 0.0
    for k in range(dim):
        gap = FAR_OUT * beside * ground_gap(points, a, points, b, k)
        square += gap * gap
    return math.log(square) - 2.0 * LOG_OF_FAR_OUT


@compiled
def to_the_ends(logs, sharpness, low, high, grow):
    """How much pairs should grow, `grow` (m,), so that the extreme of their `logs` come together.

    By exp(sharpness (low - log ratio)), and shrink by exp(sharpness (log ratio - high)); 0 far from either end.
    """
    negligible = math.log(1e-4) / sharpness
    for i in range(logs.size):
        if low - logs[i] < negligible and logs[i] - high < negligible:
            grow[i] = 0.0
        else:
            grow[i] = math.exp(sharpness * (low - logs[i])) - math.exp(sharpness * (logs[i] - high))


@compiled
def to_the_middle(logs, middle, scope, grow):
    """How much pairs should grow, `grow` (m,), so that all of their `logs` come to `middle`: as they are off it.

    What is off by more than `scope` counts as that, so that a few do not outweigh all others.
    """
    for i in range(logs.size):
        grow[i] = max(-1.0, min(1.0, (middle - logs[i]) / scope))


@compiled
def pull(points, first, second, target, grow, force):
    """Add to `force` (n, d) how each node should move, in its own frame, so that distances over targets grow.

    With y the gap on the ground over the root of both heights, and r the ratio of the heights, the other node is seen
    in the direction (2 y sqrt r, |y|² + 1/r - r).
    """
    last = points.shape[2] - 1
    gap = np.empty(last)
    for i in range(first.size):
        if grow[i] == 0.0:
            continue
        a, b = first[i], second[i]
        own, other = points[0, a, last], points[0, b, last]
        beside = 1.0 / (math.sqrt(own) * math.sqrt(other))
        square = 0.0
        for k in range(last):
            gap[k] = beside * ground_gap(points, b, points, a, k)
            square += gap[k] * gap[k]
        up = (other - own) * beside * ((other + own) * beside)
        root = math.sqrt(own / other)
        for node, slope, height in ((a, 2.0 * root, square + up), (b, -2.0 / root, square - up)):
            size = math.hypot(slope * math.sqrt(square), height)
            # What is so far that float64 does not hold the square of it has no part in a step.
            if 0.0 < size < math.inf:
                push = grow[i] / target[i] / size
                for k in range(last):
                    force[node, k] -= push * slope * gap[k]
                force[node, last] -= push * height


@compiled
def move(points, step, scratch):
    """Move every node by a step (n, d) in its own frame."""
    dim = points.shape[2]
    way = np.empty(dim)
    for node in range(step.shape[0]):
        size = 0.0
        for k in range(dim):
            size += step[node, k] * step[node, k]
        size = math.sqrt(size)
        if size > 0.0:
            for k in range(dim):
                way[k] = step[node, k] / size
            put(points, node, way, size, node, scratch)
