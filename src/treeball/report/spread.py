"""A disk in which no node is lost at the rim: true distances from the centre, and angles as wide as nodes need them.

Around a point of the hyperbolic plane there is room for e^r nodes at the distance r. The Poincaré disk shows that room
by shrinking it: what is farther than 8 from the centre is within a third of a thousandth of the rim, and of a model
that reaches to 30 nothing is to be seen but the root. Here instead the distance from the centre is drawn to scale, and
angles are stretched: every node gets an equal share of the circle. The order around the circle stays that of the
vectors, so that a subtree which the vectors hold together is a sector, and one that they tear apart is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..errors import InputError
from ..geometry import poincare
from ..hierarchy import Hierarchy
from ..types import Floats, Ints, Mask

if TYPE_CHECKING:
    from ..embedding import Embedding

Projection = Literal["disk", "spread"]
Lines = Literal["geodesics", "straight", "spread"]

# A node nearer to the rim than this share of the radius, two pixels, cannot be told from its neighbours there.
_AT_THE_RIM = 0.003
# Pieces of the polyline for an edge, by how far it turns.
_PIECES = ((4e-4, 1), (0.05, 4), (0.5, 16), (np.inf, 48))


class Placed(NamedTuple):
    """Where nodes are in a picture.

    Attributes
    ----------
    points : float64 (n, 2)
    lines : how edges run between them
    reach : distance from the centre at which the rim is, where that is drawn to scale
    """

    points: Floats
    lines: Lines
    reach: float = 0.0


def suitable(points: Floats) -> Projection:
    """The Poincaré disk for places (n, 2) in it, unless it would show most of them on the rim."""
    return "spread" if 1.0 - np.median(np.linalg.norm(points, axis=1)) < _AT_THE_RIM else "disk"


def spread_disk(points: Floats, shown: Mask) -> Placed:
    """Points (n, 2) of the Poincaré disk spread out; the farthest that is shown is at the rim."""
    angle = np.arctan2(points[:, 1], points[:, 0])
    # Where the circle is cut open does not matter; nodes on one ray, as a chain has them, stay on one.
    directions, which, crowd = np.unique(angle[shown], return_inverse=True, return_counts=True)
    turn = np.zeros(len(points))
    turn[shown] = ((np.cumsum(crowd) - 0.5 * crowd) / max(1, shown.sum()))[which.ravel()]
    if directions.size:
        turn += directions[0] / (2.0 * np.pi)
    return _placed(poincare.radius(points), turn, shown)


def spread_tree(embedding: Embedding, top: int, shown: Mask) -> Placed:
    """Vectors of any dimension spread out.

    Distances from the centre are those from `top`, and the order around it is that of the hierarchy: two numbers
    cannot hold more of the vectors than that.
    """
    far = embedding.space.distance(embedding.vectors, embedding.vectors[top])
    return _placed(np.asarray(far), _turn(embedding.hierarchy, top, shown), shown)


def _turn(hierarchy: Hierarchy, top: int, shown: Mask) -> Floats:
    """Share (n,) of a full turn: what is below `top` first, then the rest, its ancestors in the middle of that."""
    begin, end = hierarchy.interval_in.astype(np.int64), hierarchy.interval_out.astype(np.int64)
    before: Ints = np.concatenate([[0], np.cumsum(shown[np.argsort(begin)])])
    total = max(1, int(before[-1]))
    middle = 0.5 * (before[begin] + before[end])
    above = (begin < begin[top]) & (end >= end[top])
    middle[above] = 0.5 * (before[begin[top]] + before[end[top]]) + 0.5 * total
    return np.asarray((middle - before[begin[top]]) / total)


def _placed(far: Floats, turn: Floats, shown: Mask) -> Placed:
    reach = float(far[shown].max(initial=0.0))
    radius = far / reach if reach > 0 else far
    angle = 2.0 * np.pi * turn
    return Placed(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), "spread", reach)


def spread_lines(start: Floats, end: Floats) -> list[Floats]:
    """Polylines from start to end, (m, 2) each, that leave and arrive in the direction of the centre."""
    near, far = np.linalg.norm(start, axis=1), np.linalg.norm(end, axis=1)
    first, last = (np.arctan2(points[:, 1], points[:, 0]) for points in (start, end))
    # The centre has no angle of its own: from there a line is straight.
    first, last = np.where(near < 1e-9, last, first), np.where(far < 1e-9, first, last)
    turn = last - first
    turn -= 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
    lines: list[Floats] = [np.empty((0, 2))] * len(start)
    bend, least = np.abs(turn) * np.maximum(near, far), -1.0
    for most, pieces in _PIECES:
        chosen = np.flatnonzero((bend > least) & (bend <= most))
        least = most
        t = np.linspace(0.0, 1.0, pieces + 1)
        radius = near[chosen, None] + (far - near)[chosen, None] * t
        angle = first[chosen, None] + turn[chosen, None] * (t * t * (3.0 - 2.0 * t))
        points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
        points[:, 0], points[:, -1] = start[chosen], end[chosen]
        for place, line in zip(chosen.tolist(), points, strict=True):
            lines[place] = line
    return lines


def shows_vectors(embedding: Embedding) -> bool:
    """Whether a picture can have the directions of the vectors themselves: two hyperbolic dimensions."""
    return embedding.dim == 2 and embedding.space.is_hyperbolic


def require_plane(embedding: Embedding) -> None:
    """Refuse what the Poincaré disk cannot show: other dimensions than two, and Euclidean vectors."""
    if embedding.dim != 2:
        raise InputError(
            f"the Poincaré disk shows 2 dimensions and this embedding has {embedding.dim}: fit one with dim 2 "
            "(treeball fit ... --dim 2), or draw this one spread out (--projection spread)"
        )
    if not embedding.space.is_hyperbolic:
        raise InputError(
            "these vectors are Euclidean, and the Poincaré disk shows hyperbolic ones: fit with the method poincare, "
            "lorentz or another that is not euclidean, or draw these spread out (--projection spread)"
        )
