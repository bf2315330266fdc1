"""Alignment: the isometry that lays one embedding on another as well as can be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..types import Floats
from . import euclidean, lorentz
from .models import hyperboloid_to_ball

__all__ = ["align_euclidean", "align_hyperbolic", "centred"]


_BEST_SHARE = 0.2
_ROUNDS, _PATIENCE = 40, 6
_CENTRING_STEPS = 500
# Nearer than this is the same place: coordinates are not rounded more finely.
_COINCIDENT = 1e-9


def align_hyperbolic(moving: Floats, fixed: Floats) -> tuple[Floats, Floats, Floats]:
    """Lay points of the hyperboloid (n, d+1) on others, row by row.

    Both are recentred at the point from which their ball coordinates average to zero, and the moving ones turned or
    mirrored as Procrustes says; both steps commute with isometries, so that a copy is laid on its original. The whole
    is repeated with weights 1 / (m² + distance²)², m being the distance of the best fifth, so that nodes that really
    moved do not shift the others. The round with the smallest m counts; leaving the points as they are is one.

    Returns
    -------
    moving, fixed : float64 (n, d+1)
        In the common frame.
    distance : float64 (n,)
        Between the two.
    """

    def lay(moving: Floats, fixed: Floats, weights: Floats) -> tuple[Floats, Floats]:
        moving, fixed = centred(moving, weights), centred(fixed, weights)
        turn = _procrustes(hyperboloid_to_ball(moving), hyperboloid_to_ball(fixed), weights)
        return np.concatenate([moving[:, :1], moving[:, 1:] @ turn], axis=1), fixed

    return _robustly(lay, lorentz.distance, moving, fixed)


def align_euclidean(moving: Floats, fixed: Floats) -> tuple[Floats, Floats, Floats]:
    """The same in flat space (n, d): by a rigid motion."""

    def lay(moving: Floats, fixed: Floats, weights: Floats) -> tuple[Floats, Floats]:
        share = weights / weights.sum()
        moving, fixed = moving - share @ moving, fixed - share @ fixed
        return moving @ _procrustes(moving, fixed, weights), fixed

    return _robustly(lay, euclidean.distance, moving, fixed)


def _robustly(
    lay: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]],
    distance: Callable[[Floats, Floats], Floats],
    moving: Floats,
    fixed: Floats,
) -> tuple[Floats, Floats, Floats]:
    apart = np.asarray(distance(moving, fixed))
    best, best_scale, since = (moving, fixed, apart), float(np.quantile(apart, _BEST_SHARE)), 0
    weights = np.ones(len(moving))
    for _ in range(_ROUNDS):
        if best_scale <= _COINCIDENT or since == _PATIENCE:
            break
        moving, fixed = lay(moving, fixed, weights)
        apart = np.asarray(distance(moving, fixed))
        scale = float(np.quantile(apart, _BEST_SHARE))
        since = 0 if scale < 0.99 * best_scale else since + 1
        if scale < best_scale:
            best, best_scale = (moving, fixed, apart), scale
        weights = 1.0 / (scale**2 + apart**2 + _COINCIDENT**2) ** 2
    return best


def centred(points: Floats, weights: Floats | None = None) -> Floats:
    """Points of the hyperboloid (n, d+1) seen from the place where their weighted ball coordinates average to zero.

    That place minimises the mean of 2 log cosh(r/2) over the points' distances r from it. The function is convex with
    second derivatives of at most 1, so plain descent with steps of its gradient, that very average, arrives.
    """
    share = np.full(len(points), 1.0 / len(points)) if weights is None else weights / weights.sum()
    for _ in range(_CENTRING_STEPS):
        step = share @ hyperboloid_to_ball(points)
        length = float(np.linalg.norm(step))
        if length < 1e-13:
            break
        points = np.asarray(lorentz.recentre(points, lorentz.from_radius(step, length)))
    return points


def _procrustes(moving: Floats, fixed: Floats, weights: Floats) -> Floats:
    """The orthogonal matrix M (d, d) with which moving @ M is nearest to fixed in the mean square."""
    u, _, v = np.linalg.svd((weights[:, None] * moving).T @ fixed)
    rotation: Floats = u @ v
    return rotation
