"""A tree laid out in the hyperbolic plane: nodes level by level, cones for subtrees, and distances in the picture."""

from __future__ import annotations

import numpy as np

from ...types import Floats, Ints
from .compiler import compiled

# Chosen by eye: what looks calm on mammals, verbs, nouns and the catalogue alike.
WIDEST_CONE = 0.7 * np.pi
SQUEEZE = 0.62
SHORTEST, LONGEST, LONGEST_TO_LEAF = 0.6, 4.5, 2.4


@compiled
def breadth_first(root: int, by_parent: Ints, begin: Ints) -> Ints:
    """Codes level by level from the root on; the children of code i are ``by_parent[begin[i]:begin[i+1]]``."""
    order = np.empty(by_parent.size, np.int64)
    order[0] = root
    filled = 1
    for i in range(order.size):
        for slot in range(begin[order[i]], begin[order[i] + 1]):
            order[filled] = by_parent[slot]
            filled += 1
    return order


@compiled
def count_leaves(parent: Ints) -> Ints:
    """Number of leaves below each position, 1 for a leaf itself."""
    leaves = np.zeros(parent.size, np.int64)
    for i in range(parent.size - 1, -1, -1):
        if leaves[i] == 0:
            leaves[i] = 1
        if i > 0:
            leaves[parent[i]] += leaves[i]
    return leaves


@compiled
def lay_out(first: Ints, weight: Floats) -> tuple[Floats, Floats]:
    """Angle of each node at its parent and distance from it, in level order: cones shared out by `weight` (n,).

    The children of position i are the positions ``first[i]:first[i+1]``.
    """
    n = weight.size
    angle, length, cone = np.zeros(n), np.zeros(n), np.empty(n)
    cone[0] = np.pi
    full = np.tan(0.5 * WIDEST_CONE)
    for node in range(n):
        begin, end = first[node], first[node + 1]
        total = 0.0
        for child in range(begin, end):
            total += weight[child]
        edge = -cone[node]
        for child in range(begin, end):
            share = cone[node] * weight[child] / total
            angle[child] = edge + share
            edge += 2.0 * share
            shadow = np.tan(0.5 * min(share, 0.999 * np.pi))
            longest = LONGEST if first[child + 1] > first[child] else LONGEST_TO_LEAF
            length[child] = min(max(SQUEEZE * np.log(full / shadow), SHORTEST), longest)
            cone[child] = min(WIDEST_CONE, 2.0 * np.arctan(shadow * np.exp(length[child])))
    return angle, length


@compiled
def squared_cosh(source: int, parent: Ints, turn: Floats, cosh: Floats, sinh: Floats, frame: Floats) -> None:
    """Fill frame (n, 4) with each node's isometry seen from `source`; its first two numbers give cosh²(d/2).

    An isometry of the disk is a pair of complex numbers (a, b), z -> (a z + b) / (conj(b) z + conj(a)). The step from a
    node to its child is a turn followed by a translation.
    """
    on_path = np.zeros(parent.size, np.bool_)
    frame[source] = np.array([1.0, 0.0, 0.0, 0.0])
    node = source
    on_path[node] = True
    while parent[node] >= 0:
        a, b = complex(frame[node, 0], frame[node, 1]), complex(frame[node, 2], frame[node, 3])
        back = complex(np.cos(turn[node]), -np.sin(turn[node]))
        up_a, up_b = (a * cosh[node] - b * sinh[node]) * back, (b * cosh[node] - a * sinh[node]) * np.conj(back)
        node = parent[node]
        on_path[node] = True
        frame[node] = np.array([up_a.real, up_a.imag, up_b.real, up_b.imag])
    for node in range(1, parent.size):
        if on_path[node]:
            continue
        above = frame[parent[node]]
        on = complex(np.cos(turn[node]), np.sin(turn[node]))
        a, b = complex(above[0], above[1]) * on, complex(above[2], above[3]) * np.conj(on)
        down_a, down_b = a * cosh[node] + b * sinh[node], a * sinh[node] + b * cosh[node]
        frame[node, 0], frame[node, 1], frame[node, 2], frame[node, 3] = (
            down_a.real,
            down_a.imag,
            down_b.real,
            down_b.imag,
        )
