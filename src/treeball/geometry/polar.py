"""Polar coordinates: a radius, and a direction in two parts, so that float32 keeps what float64 has.

A row is ``(r, high_1, ..., high_d, low_1, ..., low_d)``: the direction is high + low, high its rounding to float32.
Near the rim neighbours differ in their direction by e^-r, which one float32 of 24 bits loses past radius 12; two have
48. The radius needs no more than one, and nothing cancels in the distance:

    sinh²(d/2) = sinh²((r - s)/2) + sinh r sinh s |e - f|² / 4     for radii r, s and directions e, f
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._float64 import FloatArray, as_float64, dot, unit

__all__ = ["direction", "distance", "from_direction"]


def from_direction(directions: ArrayLike, radius: ArrayLike) -> FloatArray:
    """Rows (..., 2d + 1) of points at a radius (...) in directions (..., d), which may have any length."""
    away = unit(as_float64(directions))
    high = as_float64(away.astype(np.float32))
    return np.concatenate([as_float64(radius)[..., None], high, away - high], axis=-1)


def direction(rows: ArrayLike) -> FloatArray:
    """Directions (..., d) of rows (..., 2d + 1): unit vectors, and 0 for the origin."""
    high, low = np.split(as_float64(rows)[..., 1:], 2, axis=-1)
    return unit(high + low)


def distance(u: ArrayLike, v: ArrayLike) -> FloatArray:
    """Hyperbolic distance of rows (..., 2d + 1), which broadcast; the formula that databases are given as SQL."""
    u, v = as_float64(u), as_float64(v)
    high, low = np.split(u[..., 1:] - v[..., 1:], 2, axis=-1)
    apart = high + low
    r, s = u[..., 0], v[..., 0]
    square = np.sinh((r - s) / 2.0) ** 2 + np.sinh(r) * np.sinh(s) * dot(apart, apart)[..., 0] / 4.0
    return np.asarray(2.0 * np.arcsinh(np.sqrt(square)))
