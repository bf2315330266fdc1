"""Longer edges that make up for bends: a loop of `methods.stretching`."""

from __future__ import annotations

from .compiler import compiled


@compiled
def common_ancestors(rank, parent, first, second, out):
    """The node at which the ways up from the ends of each pair meet; `rank` is smaller nearer to the root."""
    for i in range(first.size):
        a, b = first[i], second[i]
        while a != b:
            if rank[a] > rank[b]:
                a = parent[a]
            else:
                b = parent[b]
        out[i] = a


@compiled
def fit_stretches(order, parent, first, second, meet, weight, missing, own, least, most, steps, stretch):
    """How much longer each edge should be, `stretch` (m,), so that paths gain what they are `missing`.

    Least squares over the pairs by accelerated descent, each edge by a step of its own that cannot overshoot, and kept
    between `least` and `most` (m,).

    Parameters
    ----------
    order, parent : nodes of the tree, the root first
    first, second, meet : pairs, and where their ways up meet
    weight, missing : float64 (p,), of the squares, and how much is missing
    own : float64 (m,), weight of the square of each stretch
    """
    n = order.size
    count = first.size
    total, gain, bound, ahead = stretch.copy(), stretch.copy(), stretch.copy(), stretch.copy()
    # As many edges as a path has share what it is missing.
    deep = stretch.copy()
    for node in order:
        deep[node] = 0.0 if parent[node] < 0 else deep[parent[node]] + 1.0
    bound[:] = 0.0
    for i in range(count):
        edges = weight[i] * (deep[first[i]] + deep[second[i]] - 2.0 * deep[meet[i]])
        bound[first[i]] += edges
        bound[second[i]] += edges
        bound[meet[i]] -= 2.0 * edges
    for rank in range(n - 1, 0, -1):
        node = order[rank]
        bound[parent[node]] += bound[node]
    momentum = 1.0
    for _ in range(steps):
        for node in order:
            total[node] = 0.0 if parent[node] < 0 else total[parent[node]] + ahead[node]
        gain[:] = 0.0
        for i in range(count):
            a, b, c = first[i], second[i], meet[i]
            lack = weight[i] * (missing[i] - (total[a] + total[b] - 2.0 * total[c]))
            gain[a] += lack
            gain[b] += lack
            gain[c] -= 2.0 * lack
        for rank in range(n - 1, 0, -1):
            node = order[rank]
            gain[parent[node]] += gain[node]
        following = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum) ** 0.5)
        beyond = (momentum - 1.0) / following
        momentum = following
        for node in order:
            if parent[node] < 0:
                continue
            found = ahead[node] + (gain[node] - own[node] * ahead[node]) / (bound[node] + own[node] + 1e-300)
            found = min(most[node], max(least[node], found))
            ahead[node] = found + beyond * (found - stretch[node])
            stretch[node] = found
