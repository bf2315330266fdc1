"""The hyperboloid (Lorentz model): X = (time, space) with -time² + |space|² = -1 and time > 0, curvature -1.

Points and tangent vectors have shape (..., d+1), time first. Time is determined by space, so every function
reads space as the truth and recomputes  time = sqrt(1 + |space|²): a time that drifted does no harm.

The Lorentz inner product of two near points is a difference of numbers of size cosh²(r) that should come out
as about -1; past radius 18 it is all rounding error. No function below forms it, except `inner` itself.
Formulas write x and y for the space parts and r_x = arsinh|x|.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import limits
from ._float64 import FloatArray, as_float64, dot, norm, unit
from .models import ball_to_hyperboloid as from_ball
from .models import hyperboloid_to_ball as to_ball

__all__ = [
    "clamp",
    "distance",
    "distance_gradient",
    "exp_map",
    "from_ball",
    "from_radius",
    "inner",
    "log_map",
    "origin",
    "parallel_transport",
    "project",
    "radius",
    "recentre",
    "tangent_norm",
    "to_ball",
]


def inner(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Lorentz inner product  -x_time y_time + <x, y>; -> (...).

    Equals -cosh d(x, y) on the sheet, but only to an absolute error of 2^-53 cosh(r_x) cosh(r_y): not for
    distances past `limits.LORENTZ_INNER_RADIUS`.
    """
    x, y = as_float64(x), as_float64(y)
    return dot(x[..., 1:], y[..., 1:])[..., 0] - x[..., 0] * y[..., 0]


def origin(dim: int) -> FloatArray:
    """The point (1, 0, ..., 0) of shape (dim + 1,)."""
    point: FloatArray = np.zeros(dim + 1)
    point[0] = 1.0
    return point


def project(points: ArrayLike) -> FloatArray:
    """Back onto the sheet: keep space, recompute time = sqrt(1 + |space|²); -> (..., d+1)."""
    return _on_sheet(as_float64(points)[..., 1:])


def radius(points: ArrayLike) -> FloatArray:
    """Hyperbolic distance to the origin, arsinh|space|, to full relative accuracy; -> (...)."""
    return np.arcsinh(norm(as_float64(points)[..., 1:]))[..., 0]


def from_radius(direction: ArrayLike, radius: ArrayLike) -> FloatArray:
    """The point at a hyperbolic radius (...) in a direction (..., d) of any length; -> (..., d+1)."""
    return _on_sheet(np.sinh(as_float64(radius))[..., None] * unit(as_float64(direction)))


def clamp(points: ArrayLike, max_radius: float = limits.HYPERBOLOID_RADIUS) -> tuple[FloatArray, int]:
    """Move points beyond a radius back along their ray; returns them (..., d+1) and how many were moved."""
    space = as_float64(points)[..., 1:]
    largest = np.sinh(max_radius)
    outside = norm(space) > largest
    # A hair inside, so that rounding does not leave the point outside and a second call moves none.
    inside = np.where(outside, largest * (1.0 - 4.0 * limits.UNIT_ROUNDOFF) * unit(space), space)
    return _on_sheet(inside), int(np.count_nonzero(outside))


def distance(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """d(x, y) = 2 arsinh(h) with h = sinh(d/2), from two terms that cannot cancel; -> (...).

        2h² = cosh(d) - 1 = (cosh(r_x - r_y) - 1) + |x| |y| (1 - cos angle)

    Backward stable: the exact distance, up to 1e-15, of points whose coordinates are moved by a few 2^-53 of
    themselves. Such a move displaces a point across its ray by up to 2^-53 cosh(r), which bounds the relative
    error for near points: 2e-10 at radius 15, 6e-4 at 30. Far points do not feel it.
    """
    return 2.0 * np.arcsinh(_half_chord(_space(x), _space(y))[..., 0])


def distance_gradient(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Riemannian gradient of d(x, y) with respect to x; -> (..., d+1).

        grad = -(y - cosh(d) x) / sinh(d) = ((cosh(d) - 1) x - (y - x)) / sinh(d)

    The unit tangent at x that points away from y; 0 at x = y.
    """
    x, y = _space(x), _space(y)
    h = _half_chord(x, y)
    root = np.hypot(1.0, h)  # cosh(d/2); so sinh(d) = 2 h root and (cosh(d) - 1) / sinh(d) = h / root
    way = (y - x) / np.where(h > 0.0, 2.0 * h * root, 1.0)
    return _tangent_at(x, (h / root) * x - way)


def log_map(at: ArrayLike, to: ArrayLike) -> FloatArray:
    """The tangent vector  -d grad d  at `at` whose `exp_map` is `to`; -> (..., d+1)."""
    return -distance(at, to)[..., None] * distance_gradient(at, to)


def exp_map(at: ArrayLike, tangent: ArrayLike) -> FloatArray:
    """Walk from `at` with initial velocity `tangent` along a geodesic for unit time; -> (..., d+1).

    exp_x(v) = cosh(|v|) x + sinh(|v|) v / |v|,    time recomputed from space
    """
    x, v = _space(at), as_float64(tangent)[..., 1:]
    length = _tangent_length(x, v)
    sinhc = np.where(length > 0.0, np.sinh(length) / np.where(length > 0.0, length, 1.0), 1.0)
    return _on_sheet(np.cosh(length) * x + sinhc * v)


def tangent_norm(at: ArrayLike, tangent: ArrayLike) -> FloatArray:
    """Lorentz length sqrt(<v, v>) of a tangent vector v at x, without cancellation; -> (...).

    <v, v> = |v_across|² + (v_along / x_time)²    for the parts of space across and along the ray of x
    """
    return _tangent_length(_space(at), as_float64(tangent)[..., 1:])[..., 0]


def parallel_transport(tangent: ArrayLike, start: ArrayLike, end: ArrayLike) -> FloatArray:
    """Carry a tangent vector v along the geodesic from x = `start` to y = `end`; -> (..., d+1).

    By way of the origin, only its parts along the two rays would change, by the factors 1 / x_time and y_time.
    The direct way turns it, in the plane of the rays, by the area of the triangle between them:

        tan(area / 2) = |x| |y_across| / (1 + x_time + y_time + cosh d),    y_across the part of y across x

    (The textbook form  v + <y, v> (x + y) / (1 + cosh d)  cancels.)
    """
    v, x, y = as_float64(tangent)[..., 1:], _space(start), _space(end)
    x_ray, y_ray, x_time, y_time, way = unit(x), unit(y), _time(x), _time(y), y - x
    shorter = np.where(norm(way) < norm(y), way, y)  # they differ by x, and the shorter one cancels less
    y_across = shorter - dot(shorter, x_ray) * x_ray
    side = unit(y_across)
    tan_half = norm(x) * norm(y_across) / (2.0 + x_time + y_time + 2.0 * _half_chord(x, y) ** 2)
    along = dot(v, x_ray)
    across = v - along * x_ray
    inward, aside = along / x_time, dot(across, side)
    # Turning (inward, aside) by the area: sine and versine from the tangent of its half.
    sine = 2.0 * tan_half / (1.0 + tan_half**2)
    versine = sine * tan_half
    turned_inward = inward - versine * inward + sine * aside
    turned_aside = aside - versine * aside - sine * inward
    at_origin = across + turned_inward * x_ray + (turned_aside - aside) * side
    return _tangent_at(y, at_origin + (y_time - 1.0) * dot(at_origin, y_ray) * y_ray)


def recentre(points: ArrayLike, at: ArrayLike) -> FloatArray:
    """The boost that brings p = `at` to the origin, applied to x = `points`; -> (..., d+1).

    The part of x across p stays. The part along p becomes  p_time x_along - |p| x_time, which for x on the
    side of p is  ((x_along - |p|)(x_along + |p|) - |p|² |x_across|²) / (p_time x_along + |p| x_time).
    The inverse is the boost at (p_time, -p_space).
    """
    x, p = _space(points), _space(at)
    ray, p_norm, p_time, x_time = unit(p), norm(p), _time(p), _time(x)
    ahead = dot(x - p, ray)
    across = (x - p) - ahead * ray
    along = dot(x, ray)
    # Both signs of `along` are evaluated; each is used only where it does not cancel.
    far_side = p_time * along - p_norm * x_time
    denominator = np.where(along > 0.0, p_time * along + p_norm * x_time, 1.0)
    near_side = (ahead * (along + p_norm) - p_norm**2 * dot(across, across)) / denominator
    moved = across + np.where(along > 0.0, near_side, far_side) * ray
    return _on_sheet(np.where(p_norm > 0.0, moved, x))


def _space(points: ArrayLike) -> FloatArray:
    return as_float64(points)[..., 1:]


def _time(space: FloatArray) -> FloatArray:
    return np.hypot(1.0, norm(space))


def _on_sheet(space: FloatArray) -> FloatArray:
    return np.concatenate([_time(space), space], axis=-1)


def _tangent_at(x: FloatArray, v: FloatArray) -> FloatArray:
    """The tangent vector at x with space part v: its time part is <x, v> / x_time."""
    return np.concatenate([dot(x / _time(x), v), v], axis=-1)


def _tangent_length(x: FloatArray, v: FloatArray) -> FloatArray:
    ray = unit(x)
    along = dot(v, ray)
    return np.hypot(norm(v - along * ray), along / _time(x))


def _half_chord(x: FloatArray, y: FloatArray) -> FloatArray:
    """h = sinh(d/2) as a column (..., 1), from space parts (..., d).

    With x the point nearer to the origin and  g = |y| - |x| = <y - x, x + y> / (|x| + |y|):

        sinh(r_y - r_x) = g (|x| + |y|) / (|x| y_time + |y| x_time)
        sqrt(2 |x| |y| (1 - cos angle)) = |y - x - g x / |x|| sqrt(|x| / |y|)

    Both are made of the difference y - x, so two points one rounding apart still have a distance.
    """
    swap = norm(x) > norm(y)
    x, y = np.where(swap, y, x), np.where(swap, x, y)
    x_norm, y_norm, way = norm(x), norm(y), y - x
    both = np.where(y_norm > 0.0, x_norm + y_norm, 1.0)
    longer = dot(way, (x + y) / both)
    sinh_delta = longer / ((x_norm / both) * _time(y) + (y_norm / both) * _time(x) + (y_norm == 0.0))
    across = norm(way - longer * unit(x)) * np.sqrt(x_norm / np.where(y_norm > 0.0, y_norm, 1.0))
    # cosh(delta) - 1 = sinh²(delta) / (1 + cosh(delta)); halves under the root because 2h² is the sum.
    radial = sinh_delta / np.sqrt(1.0 + np.hypot(1.0, sinh_delta))
    half_chord: FloatArray = np.hypot(radial / np.sqrt(2.0), 0.5 * across)
    return half_chord
