"""Settling nodes one after the other, each where it is well and makes nobody ill: the inner loop of `methods.heal`.

A place y for a node at distance l from its parent is *free* when no settled node x but the parent is within l of y, and
y is not within the distance D_x that x keeps from its own parent: then the parent is the nearest node, and y is the
nearest node of no one. With s = |x-y|^2 and gaps a = 1-|x|^2, d(x, y) > r is  s / (a_x a_y) > sinh^2(r/2).
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .placement import first_share, gap_of, put

WIDTH = 256  # settled nodes that are looked at together
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
TRIES = 7  # lengths
VARIANTS = 4  # of a fan
STEEPEST = 3.0  # log of how much longer the last edge of a path may be than the first


@compiled(fastmath={"contract", "reassoc"})
def is_free(y, reach, blocks, inverse_gap, hold, count, closeness):
    """Whether y is free among the first `count` settled nodes; `reach` and `hold` are sinh^2 of half of l and D_x."""
    near = gap_of(y)
    for b in range((count + WIDTH - 1) // WIDTH):
        for w in range(WIDTH):
            closeness[w] = 0.0
        for k in range(y.size):
            for w in range(WIDTH):
                closeness[w] += (blocks[b, k, w] - y[k]) * (blocks[b, k, w] - y[k])
        conflicts = 0
        for w in range(WIDTH):
            conflicts += closeness[w] * inverse_gap[b, w] <= near * max(reach, hold[b, w])
        if conflicts > 0:
            return False
    return True


@compiled
def half_sinh2(distance):
    """The square of sinh(d/2), which keys are made of."""
    return math.sinh(0.5 * distance) ** 2


@compiled
def distance(u, v):
    """Distance of two points of the ball."""
    s = 0.0
    for k in range(u.size):
        s += (u[k] - v[k]) * (u[k] - v[k])
    return 2.0 * math.asinh(math.sqrt(s / (gap_of(u) * gap_of(v))))


@compiled
def settle(fixed, loose, parent, height, fan_begin, fan_end, rows, budget, growth, margin, longest, vectors, found):
    """Settle the nodes `loose` one after the other among those that are `fixed`, changing `vectors` in place.

    Parameters
    ----------
    fixed : int32 (f,), nodes that stay where they are
    loose : int32 (m,), the others, parents before children; of siblings the tallest first, for it needs the most room
    parent, height : int32 (n,)
    fan_begin, fan_end, rows : directions to try around each node, see `placement.place_children`
    budget : radius within which all is to be placed
    growth : how many times longer than the edge above an edge must be, well above 1
    margin : how many times farther than the parent all others must be
    longest : preferred length of long edges, see `placement.edge_lengths`
    vectors : float64 (n, d)
    found : bool (m,), out: whether a free place was found; a node without one goes to the last place tried
    """
    n, dim = vectors.shape
    blocks = np.zeros(((n + WIDTH - 1) // WIDTH, dim, WIDTH))
    inverse_gap = np.full((blocks.shape[0], WIDTH), np.inf)
    hold = np.zeros((blocks.shape[0], WIDTH))
    closeness, lengths = np.empty(WIDTH), np.empty(TRIES)
    place, direction, origin = np.empty(dim), np.empty(dim), np.zeros(dim)
    slot, edge = np.empty(n, np.int64), np.zeros(n)
    norm = math.tanh(0.5 * budget)
    for i in range(fixed.size + loose.size):
        node = fixed[i] if i < fixed.size else loose[i - fixed.size]
        above = parent[node]
        if i >= fixed.size:
            fan = rows[fan_begin[above] : fan_end[above]]
            b, w = slot[above] // WIDTH, slot[above] % WIDTH
            # The parent itself is allowed to be near: out of the way while its child looks for a place.
            kept, inverse_gap[b, w] = inverse_gap[b, w], np.inf
            left = budget - distance(vectors[above], origin)
            # Up to twice the growth that is needed at least: room for rounding, and for who comes later.
            log_growth = min(2.0 * math.log(growth), STEEPEST / height[above])
            tallest = left * first_share(height[above], log_growth)
            share = min(left * first_share(height[node] + 1, log_growth), longest * min(1.0, tallest))
            tries = _lengths(edge[above] * growth, share, left, lengths)
            free = False
            for t in range(tries):
                reach = half_sinh2(margin * lengths[t])
                for j in range(256 if dim == 2 else VARIANTS * fan.shape[0]):
                    _direction(j, node, fan, vectors[above], direction)
                    put(vectors[above], direction, lengths[t], norm, place)
                    free = is_free(place, reach, blocks, inverse_gap, hold, i, closeness)
                    if free:
                        break
                if free:
                    break
            found[i - fixed.size] = free
            vectors[node] = place
            inverse_gap[b, w] = kept
        slot[node] = i
        b, w = i // WIDTH, i % WIDTH
        for k in range(dim):
            blocks[b, k, w] = vectors[node, k]
        inverse_gap[b, w] = 1.0 / gap_of(vectors[node])
        edge[node] = distance(vectors[node], vectors[above]) if above >= 0 else 0.0
        hold[b, w] = half_sinh2(margin * edge[node])


@compiled
def _lengths(least, share, left, out):
    """Edge lengths to try, the preferred first; -> how many. `share` is what a node may use of what is `left`."""
    first = max(least, share)
    out[0] = first
    count = 1
    length = first
    for _ in range(3):
        length *= 1.4
        if length < left:
            out[count] = length
            count += 1
    length = first
    for _ in range(3):
        length /= 1.4
        if length > least:
            out[count] = length
            count += 1
    return count


@compiled
def _direction(j, node, fan, at, out):
    """The j-th direction to try for a node around its parent `at`, brought to the origin.

    All rows of the fan, and then again with the coordinates shifted; where to begin differs from node to node.
    """
    dim = at.size
    if dim == 2:
        turn = GOLDEN * (node + j)
        out[0], out[1] = math.cos(turn), math.sin(turn)
        return
    row, shift = fan[(node + j) % fan.shape[0]], j // fan.shape[0]
    norm2 = 0.0
    for k in range(dim):
        norm2 += at[k] * at[k]
    # The mirror that takes the fan's first row to the way in.
    square, across = 0.0, 0.0
    for k in range(dim):
        out[k] = fan[0, k] + (at[k] / math.sqrt(norm2) if norm2 > 0.0 else -fan[0, k])
        square += out[k] * out[k]
        across += out[k] * row[(k + shift) % dim]
    for k in range(dim):
        out[k] = row[(k + shift) % dim] - (2.0 * across / square * out[k] if square > 0.0 else 0.0)
