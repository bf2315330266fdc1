"""Ways to write down one and the same hyperbolic space: conversions between its models, curvature -1.

The Poincaré ball is the hub. `poincare` and `lorentz` re-export what concerns them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._float64 import FloatArray, as_float64, dot, gap, square_and_gap

__all__ = [
    "ball_to_half_space",
    "ball_to_hyperboloid",
    "ball_to_klein",
    "half_space_to_ball",
    "half_space_to_hyperboloid",
    "hyperboloid_to_ball",
    "hyperboloid_to_half_space",
    "klein_to_ball",
]


def ball_to_hyperboloid(points: ArrayLike) -> FloatArray:
    """Ball (..., d) -> hyperboloid (..., d+1), time first:  ((1 + |x|²) / a, 2x / a) with a = 1 - |x|²."""
    x = as_float64(points)
    a = gap(x)
    return np.concatenate([(2.0 - a) / a, 2.0 * x / a], axis=-1)


def hyperboloid_to_ball(points: ArrayLike) -> FloatArray:
    """Hyperboloid (..., d+1) -> ball (..., d): x = X_space / (1 + X_time), the time recomputed from space.

    Past radius 37 the image rounds to the rim itself; see `poincare.project`.
    """
    space = as_float64(points)[..., 1:]
    return space / (1.0 + np.sqrt(1.0 + dot(space, space)))


def ball_to_half_space(points: ArrayLike) -> FloatArray:
    """Ball (..., d) -> upper half-space (..., d), height last and positive, origin to (0, ..., 0, 1).

    Inversion about -e_d: y = (2 x_1, ..., 2 x_{d-1}, 1 - |x|²) / |x + e_d|². Heights keep their relative
    accuracy however small they are; -e_d itself is the point at infinity.
    """
    x = as_float64(points)
    away = _add_to_last(x, 1.0)
    return np.concatenate([2.0 * x[..., :-1], gap(x)], axis=-1) / dot(away, away)


def half_space_to_ball(points: ArrayLike) -> FloatArray:
    """Upper half-space (..., d) -> ball (..., d), by the same inversion as `ball_to_half_space`.

    x = (2 y_1, ..., 2 y_{d-1}, 1 - |y|²) / |y + e_d|²,  with 1 - |y|² = (1 - h)(1 + h) - y_1² - ..., h = y_d.
    """
    y = as_float64(points)
    ground, height = y[..., :-1], y[..., -1:]
    away = _add_to_last(y, 1.0)
    last = (1.0 - height) * (1.0 + height) - dot(ground, ground)
    return np.concatenate([2.0 * ground, last], axis=-1) / dot(away, away)


def hyperboloid_to_half_space(points: ArrayLike) -> FloatArray:
    """Hyperboloid (..., d+1) -> upper half-space (..., d): y = (X_1, ..., X_{d-1}, 1) / (X_time + X_d).

    The map of `ball_to_half_space`, but good to radius 350. Where X_d is negative the denominator is taken from
    (X_time + X_d)(X_time - X_d) = 1 + X_1² + ... + X_{d-1}², which cannot cancel.
    """
    space = as_float64(points)[..., 1:]
    ground, last = space[..., :-1], space[..., -1:]
    time = np.sqrt(1.0 + dot(space, space))
    total = np.where(last < 0.0, (1.0 + dot(ground, ground)) / (time - last), time + last)
    return np.concatenate([ground, np.ones_like(last)], axis=-1) / total


def half_space_to_hyperboloid(points: ArrayLike) -> FloatArray:
    """Upper half-space (..., d) -> hyperboloid (..., d+1), time first, the inverse of `hyperboloid_to_half_space`.

    X_time, X_d = ((1 + |y|²) / h, (1 - |y|²) / h) / 2 and X_i = y_i / h,  with h = y_d.
    """
    y = as_float64(points)
    ground, height = y[..., :-1], y[..., -1:]
    flat = dot(ground, ground)
    time = 0.5 * ((1.0 + height * height) + flat) / height
    last = 0.5 * ((1.0 - height) * (1.0 + height) - flat) / height
    return np.concatenate([time, ground / height, last], axis=-1)


def ball_to_klein(points: ArrayLike) -> FloatArray:
    """Ball (..., d) -> Klein's projective model (..., d), where geodesics are straight:  k = 2x / (1 + |x|²).

    1 - |k|² is the square of what it is in the ball, so float64 ends at radius 18 in this model. For drawing
    only.
    """
    x = as_float64(points)
    return 2.0 * x / (1.0 + square_and_gap(x)[0])


def klein_to_ball(points: ArrayLike) -> FloatArray:
    """Klein's model (..., d) -> ball (..., d):  x = k / (1 + sqrt(1 - |k|²))."""
    k = as_float64(points)
    return k / (1.0 + np.sqrt(gap(k)))


def _add_to_last(x: FloatArray, amount: float) -> FloatArray:
    moved = x.copy()
    moved[..., -1] += amount
    return moved
