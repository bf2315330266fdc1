"""Siblings that share children, brought next to each other: a loop of `scale.couples`."""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .placement import ROOM

# Where between the smallest angle that two such siblings need and the largest that is good they are put.
_PARTS = (0.45, 0.25, 0.65)
# Others keep at least so many times the angle that they need.
_SPARE = 1.05


@compiled
def _need(one, two):
    """Angle that siblings with edges of these lengths need; see `placement`."""
    short, long = min(one, two), max(one, two)
    return math.acos(math.tanh(0.5 * ROOM * short) / math.tanh(long))


@compiled
def widest(one, two):
    """Angle below which something far out between two siblings is nearer to both than to their parent.

    A direction at an angle a of a sibling with an edge of length l is, far out, nearer to it than to the parent when
    cos a > tanh(l/2).
    """
    return math.acos(math.tanh(0.5 * one)) + math.acos(math.tanh(0.5 * two))


@compiled
def bring_together(directions, length, own, starts, partners, weights, drawn, moved):
    """Turn the directions of children so that those that share children are next to each other.

    Parameters
    ----------
    directions : float64 (1+k, d), unit vectors; the first is that of the parent. Changed in place
    length : float64 (k,), of the children's edges
    own : length of the edge to the parent, -1 where there is none
    starts, partners, weights : CSR, for every child the earlier ones with which it shares children, and how many these
        are
    drawn : float64 (t, d), directions in which to turn
    moved : bool (k,), set for children that were turned
    """
    k, dim = length.size, directions.shape[1]
    shortest = length.min() if own < 0.0 else min(own, length.min())
    near, cosine_needed = np.empty(k + 1, np.int64), np.empty(k + 1)
    base, way, tried = np.empty(dim), np.empty(dim), np.empty(dim)
    for j in range(k):
        first, last = starts[j], starts[j + 1]
        if first == last or _met(directions, length, j, partners[first:last], weights[first:last], 0.0) == 1.0:
            continue
        i = partners[first + np.argmax(weights[first:last])]
        low, high = _SPARE * _need(length[i], length[j]), widest(length[i], length[j])
        if high <= low:
            continue
        base[:] = directions[1 + i]
        reach = math.cos(min(math.pi, high + _SPARE * _need(shortest, length[j])))
        count = 0
        for m in range(0 if own >= 0.0 else 1, k + 1):
            if m != 1 + j and _dot(base, directions[m]) > reach:
                near[count] = m
                cosine_needed[count] = math.cos(_SPARE * _need(own if m == 0 else length[m - 1], length[j]))
                count += 1
        best = _met(directions, length, j, partners[first:last], weights[first:last], 0.0)
        before = directions[1 + j].copy()
        for part in _PARTS:
            angle = low + part * (high - low)
            for t in range(len(drawn)):
                along, square = _dot(drawn[t], base), 0.0
                for c in range(dim):
                    way[c] = drawn[t, c] - along * base[c]
                    square += way[c] * way[c]
                if square < 1e-12:
                    continue
                for c in range(dim):
                    tried[c] = math.cos(angle) * base[c] + math.sin(angle) * way[c] / math.sqrt(square)
                room = 2.0
                for one in range(count):
                    room = min(room, cosine_needed[one] - _dot(tried, directions[near[one]]))
                    if room < 0.0:
                        break
                if room < 0.0:
                    continue
                directions[1 + j] = tried
                score = _met(directions, length, j, partners[first:last], weights[first:last], 1e-3 * room)
                if score > best:
                    best, before, moved[j] = score, tried.copy(), True
        directions[1 + j] = before


@compiled
def _met(directions, length, j, partners, weights, extra):
    """Share of a child's ties to others that are next to it, and a little `extra`."""
    total, good = 0.0, 0.0
    for at in range(partners.size):
        i = partners[at]
        total += weights[at]
        cosine = _dot(directions[1 + i], directions[1 + j])
        if cosine > math.cos(0.9 * widest(length[i], length[j])):
            good += weights[at]
    return good / total + extra


@compiled
def _dot(one, two):
    total = 0.0
    for c in range(one.size):
        total += one[c] * two[c]
    return total
