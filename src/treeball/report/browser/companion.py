"""A picture in two dimensions for vectors that have more: the tree itself, laid out in the hyperbolic plane.

Every node owns a cone that opens away from its parent. Its children divide the cone by a power of their numbers of
leaves. A cone of half angle c that begins at a distance l is seen under the half angle s with tan(s/2) = tan(c/2) e^-l,
so the child either stands far enough out for a full cone to fit into its share, or nearer with a narrower one. Cones of
different subtrees never meet, hence no edges cross.
"""

from __future__ import annotations

import numpy as np

from ...engine.cpu.compiler import compiled
from ...hierarchy import Hierarchy
from ...types import Floats, Ints, Objective
from .order import LevelOrder, count_leaves
from .places import Places

# Chosen by eye: what looks calm on mammals, verbs, nouns and the catalogue alike.
WIDEST_CONE = 0.7 * np.pi
SHARE_POWER = 0.6
SQUEEZE = 0.62
SHORTEST, LONGEST, LONGEST_TO_LEAF = 0.6, 4.5, 2.4
_WALKED_NODES = 40_000_000
_FEWEST, _MOST = 50, 1_000


def companion(order: LevelOrder) -> Places:
    """Lay out a tree; the places are in level order."""
    leaves = count_leaves(order.parent).astype(np.float64)
    angle, length = _lay_out(order.first, leaves**SHARE_POWER)
    return Places(angle, length)


@compiled
def _lay_out(first: Ints, weight: Floats) -> tuple[Floats, Floats]:
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


def sampled_map(places: Places, order: LevelOrder, hierarchy: Hierarchy, objective: Objective) -> tuple[float, int]:
    """MAP of a layout over a random sample of nodes, and the size of the sample; distances are those of the picture."""
    pointers, positives = hierarchy.positives(objective)
    with_positives = np.flatnonzero(np.diff(pointers))
    most = min(_MOST, max(_FEWEST, _WALKED_NODES // len(order)))
    if with_positives.size > most:
        with_positives = np.random.default_rng(0).choice(with_positives, most, replace=False)
    if not with_positives.size:
        return float("nan"), 0
    turn, cosh, sinh = 0.5 * places.angle, np.cosh(0.5 * places.length), np.sinh(0.5 * places.length)
    frame = np.empty((len(order), 4))
    precision = np.empty(with_positives.size)
    for i, code in enumerate(with_positives):
        source = int(order.position[code])
        squared_cosh(source, order.parent, turn, cosh, sinh, frame)
        key = np.square(frame[:, :2]).sum(axis=1)
        own = order.position[positives[pointers[code] : pointers[code + 1]]]
        reach = np.sort(key[own])
        key[source] = np.inf
        key[own] = np.inf
        # Equal distances count against the positive; rounding must not decide.
        closer = np.array([np.count_nonzero(key <= limit * (1 + 1e-12)) for limit in reach])
        rank = np.arange(1, own.size + 1)
        precision[i] = (rank / (rank + closer)).mean()
    return float(precision.mean()), int(with_positives.size)
