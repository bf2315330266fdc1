"""Euclidean space, as the flat baseline: the true distance, not its square.

Points and tangents have shape (..., d).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._float64 import FloatArray, as_float64, norm, unit

__all__ = ["distance", "distance_gradient", "exp_map", "exp_minus_distance", "log_map", "radius"]


def distance(u: ArrayLike, v: ArrayLike) -> FloatArray:
    """d(u, v) = |u - v|;  (..., d) and (..., d) -> (...)."""
    return norm(as_float64(u) - as_float64(v))[..., 0]


def exp_minus_distance(u: ArrayLike, v: ArrayLike) -> FloatArray:
    """exp(-|u - v|), the summand of the loss;  (..., d) and (..., d) -> (...)."""
    return np.exp(-distance(u, v))


def distance_gradient(u: ArrayLike, v: ArrayLike) -> FloatArray:
    """Gradient of |u - v| with respect to u:  (u - v) / |u - v|, and 0 at u = v;  (..., d) -> (..., d)."""
    return unit(as_float64(u) - as_float64(v))


def exp_map(at: ArrayLike, tangent: ArrayLike) -> FloatArray:
    """Walk from `at` by `tangent`:  x + v;  (..., d) and (..., d) -> (..., d)."""
    return as_float64(at) + as_float64(tangent)


def log_map(at: ArrayLike, to: ArrayLike) -> FloatArray:
    """The vector from `at` to `to`:  y - x;  (..., d) and (..., d) -> (..., d)."""
    return as_float64(to) - as_float64(at)


def radius(points: ArrayLike) -> FloatArray:
    """Distance to the origin |x|;  (..., d) -> (...)."""
    return norm(as_float64(points))[..., 0]
