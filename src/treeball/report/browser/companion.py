"""A picture in two dimensions for vectors that have more: the tree itself, laid out in the hyperbolic plane.

Every node owns a cone that opens away from its parent. Its children divide the cone by a power of their numbers of
leaves. A cone of half angle c that begins at a distance l is seen under the half angle s with tan(s/2) = tan(c/2) e^-l,
so the child either stands far enough out for a full cone to fit into its share, or nearer with a narrower one. Cones of
different subtrees never meet, hence no edges cross.
"""

from __future__ import annotations

import numpy as np

from ...engine.cpu.plane_layout import count_leaves, lay_out, squared_cosh
from ...hierarchy import Hierarchy
from ...types import Objective
from .order import LevelOrder
from .places import Places

# Chosen by eye, like the lengths of edges in engine/cpu/plane_layout.py.
SHARE_POWER = 0.6
_WALKED_NODES = 40_000_000
_FEWEST, _MOST = 50, 1_000


def companion(order: LevelOrder) -> Places:
    """Lay out a tree; the places are in level order."""
    leaves = count_leaves(order.parent).astype(np.float64)
    angle, length = lay_out(order.first, leaves**SHARE_POWER)
    return Places(angle, length)


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
