"""Seats for leaves with several parents, one leaf after the other: a loop of `scale.second_parents`."""

from __future__ import annotations

import numpy as np

from .compiler import compiled
from .placement import gap_of


@compiled
def precision_of(before, extra, count):
    """Average precision of `count` positives, the nearest first, with so many other nodes before each."""
    total = 0.0
    for j in range(count):
        total += (j + 1) / (j + 1 + before[j] + extra[j])
    return total / count


@compiled
def precisions_of(before, counts):
    """Average precision of leaves (m,) with so many other nodes before their parents, int64 (m, k)."""
    found, none = np.empty(counts.size), np.zeros(before.shape[1], np.int64)
    for leaf in range(counts.size):
        found[leaf] = precision_of(before[leaf], none, counts[leaf])
    return found


@compiled
def choose_seats(begin, points, limits, before, counts, now, chosen):
    """Set `chosen` (m,) to the place that each leaf takes, -1 where it stays; all are compared with those before them.

    Parameters
    ----------
    begin : int64 (m+1,), the places that leaf i may take are begin[i] up to begin[i+1]
    points : float64 (p, d)
    limits : float64 (p, k), keys of the parents from each place, ascending, inf for one that is out of sight
    before : int64 (p, k), how many nodes other than leaves with new seats are nearer than each
    counts : int64 (m,), how many parents each leaf has
    now : float64 (m,), average precision of each where it is
    """
    leaves, width = counts.size, limits.shape[1]
    taken, whose = np.empty(leaves, np.int64), np.empty(leaves, np.int64)
    passed = np.zeros((leaves, width), np.int64)  # leaves with new seats that are nearer than the parents
    rim = np.empty(leaves)
    extra, most, none = np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(width, np.int64)
    seated = 0
    for leaf in range(leaves):
        chosen[leaf] = -1
        best = now[leaf] + 1e-9
        for place in range(begin[leaf], begin[leaf + 1]):
            if precision_of(before[place], none, counts[leaf]) <= best:
                continue
            gap, lost = gap_of(points[place]), 0.0
            extra[:] = 0
            for i in range(seated):
                key = _key(points[place], gap, points[taken[i]], rim[i])
                for j in range(counts[leaf]):
                    extra[j] += key <= limits[place, j]
                if key <= limits[taken[i], 0]:
                    lost = np.inf
                    break
                lost += _lost(key, limits[taken[i]], before[taken[i]], passed[i], counts[whose[i]], most)
            if extra[0] > 0 or lost == np.inf:
                continue
            gain = precision_of(before[place], extra, counts[leaf]) - lost
            if gain > best:
                best, chosen[leaf] = gain, place
                passed[seated] = extra
        if chosen[leaf] >= 0:
            _note(points, limits, counts, chosen[leaf], taken[:seated], whose, rim, passed)
            taken[seated], whose[seated], rim[seated] = chosen[leaf], leaf, gap_of(points[chosen[leaf]])
            seated += 1
    return seated


@compiled
def _key(point, gap, other, rim):
    s = 0.0
    for k in range(point.size):
        s += (point[k] - other[k]) * (point[k] - other[k])
    return s / (gap * rim)


@compiled
def _lost(key, limits, before, passed, count, most):
    """What a leaf loses in average precision if one more node is at `key` from it."""
    if key > limits[count - 1]:
        return 0.0
    for j in range(count):
        most[j] = passed[j] + (key <= limits[j])
    return precision_of(before, passed, count) - precision_of(before, most, count)


@compiled
def _note(points, limits, counts, place, taken, whose, rim, passed):
    """Count a new seat among the nodes before the parents of all that have theirs."""
    gap = gap_of(points[place])
    for i in range(taken.size):
        key = _key(points[place], gap, points[taken[i]], rim[i])
        for j in range(counts[whose[i]]):
            passed[i, j] += key <= limits[taken[i], j]
