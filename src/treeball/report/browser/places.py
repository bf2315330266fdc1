"""Where each node is, seen from its parent: the only form in which a deep tree keeps its precision.

A node's *frame* has the node at the centre of the disk and its parent in the direction of the negative real axis; the
root's frame is that of the ball. A child stands at an angle and a distance in the frame of its parent. The page walks
from the node in focus outwards along these steps, so that nothing is ever measured from a far origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...geometry import poincare
from ...types import Floats

if TYPE_CHECKING:
    from ...embedding import Embedding


@dataclass(frozen=True)
class Places:
    """Angle (n,) in radians and hyperbolic distance (n,) of each node in the frame of its parent; 0 for the root."""

    angle: Floats
    length: Floats


def places_of_vectors(embedding: Embedding) -> Places:
    """Places of 2-d hyperbolic vectors, in the order of the hierarchy's codes."""
    points = embedding.ball()
    parent = embedding.hierarchy.primary_parent.astype(np.int64)
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    down, up = np.zeros(len(parent)), np.zeros(len(parent))
    down[child] = _direction(poincare.recentre(points[child], points[above]))
    # How far a node's frame is turned against the ball's: its parent must come to lie at the angle π.
    up[child] = _direction(poincare.recentre(points[above], points[child])) - np.pi
    angle, length = np.zeros(len(parent)), np.zeros(len(parent))
    angle[child] = _wrapped(down[child] - up[above])
    length[child] = poincare.distance(points[above], points[child])
    return Places(angle, length)


def _direction(points: Floats) -> Floats:
    return np.asarray(np.arctan2(points[:, 1], points[:, 0]))


def _wrapped(angle: Floats) -> Floats:
    """The same angles from -π to π."""
    return np.asarray(angle - 2 * np.pi * np.round(angle / (2 * np.pi)))
