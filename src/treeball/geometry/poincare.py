"""The Poincaré ball: |x| < 1 in R^d, curvature -1, the Euclidean metric scaled by 2 / (1 - |x|²).

Throughout, for points u and v:  a = 1 - |u|²,  b = 1 - |v|²,  s = |u - v|²,  q = s / (a b). Every formula is
arranged so that nothing cancels: it is made of a, b and u - v, each of which is accurate to nearly full
relative precision for the float64 coordinates given (see `_float64.square_and_gap`).

Points and tangent vectors have shape (..., d) and broadcast over leading axes; tangent vectors are ambient
vectors of R^d. Points must lie inside the ball: nothing is clamped in silence, `project` clamps and counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import limits
from ._float64 import FloatArray, as_float64, dot, gap, norm, square_and_gap, unit
from .models import ball_to_half_space as to_half_space
from .models import ball_to_hyperboloid as to_hyperboloid
from .models import ball_to_klein as to_klein
from .models import half_space_to_ball as from_half_space
from .models import hyperboloid_to_ball as from_hyperboloid
from .models import klein_to_ball as from_klein

__all__ = [
    "distance",
    "distance_gradient",
    "exp_map",
    "exp_minus_distance",
    "from_half_space",
    "from_hyperboloid",
    "from_klein",
    "from_normal",
    "from_radius",
    "geodesic",
    "log_map",
    "mobius_add",
    "mobius_neg",
    "one_minus_square",
    "project",
    "radius",
    "recentre",
    "surrogate",
    "tangent_norm",
    "to_half_space",
    "to_hyperboloid",
    "to_klein",
    "to_normal",
]


def one_minus_square(points: ArrayLike) -> FloatArray:
    """The gap a = 1 - |x|² = 1 / cosh²(r/2); (..., d) -> (...).

    Absolute error about 2^-78 for the coordinates as stored. What limits it is their storage: rounding
    coordinates of a point near the rim moves a by up to 2.2e-16, 6 parts in 10,000 at radius 30 and all of it
    at radius 37.
    """
    return gap(as_float64(points))[..., 0]


def surrogate(u: ArrayLike, v: ArrayLike) -> FloatArray:
    """q = |u - v|² / ((1 - |u|²)(1 - |v|²)) = sinh²(d/2), which orders like the distance; -> (...)."""
    return _half_chord(as_float64(u), as_float64(v))[..., 0] ** 2


def distance(u: ArrayLike, v: ArrayLike) -> FloatArray:
    """d(u, v) = arcosh(1 + 2q) = 2 arsinh(sqrt q), the paper's equation 1; -> (...).

    Relative error below 1e-15 + 2^-78 / min(a, b) for the coordinates as stored: 2e-15 up to radius 20, 1e-11
    at 30, 5e-10 at 34, for near points and far ones alike.
    """
    return 2.0 * np.arcsinh(_half_chord(as_float64(u), as_float64(v))[..., 0])


def exp_minus_distance(u: ArrayLike, v: ArrayLike) -> FloatArray:
    """exp(-d(u, v)) = (sqrt q + sqrt(1 + q))^-2, the summand of the loss without log or exp; -> (...)."""
    root_q = _half_chord(as_float64(u), as_float64(v))[..., 0]
    return (root_q + np.hypot(1.0, root_q)) ** -2.0


def distance_gradient(u: ArrayLike, v: ArrayLike) -> FloatArray:
    """Riemannian gradient of d(u, v) with respect to u, as an ambient vector; -> (..., d).

        grad = (s u + a (u - v)) / (2 b sqrt(q (1 + q)))

    It is a²/4 times the Euclidean gradient, has Euclidean length a/2 (Riemannian length 1) and points away
    from v. At u = v, where the distance has a corner, it is 0.
    """
    u, v = as_float64(u), as_float64(v)
    return -0.5 * gap(u) * unit(_seen_from(u, v)[0])


def exp_map(at: ArrayLike, tangent: ArrayLike) -> FloatArray:
    """Walk from `at` with initial velocity `tangent` along a geodesic for unit time; -> (..., d).

        exp_x(v) = x (+) tanh(|v| / a) v / |v|,    a walk of hyperbolic length 2 |v| / a

    Well conditioned walking outwards. A walk of length L that passes near the origin turns a rounding of the
    direction into u e^L / 2 at its end, so prefer `geodesic` where the end is known.
    """
    x, v = as_float64(at), as_float64(tangent)
    return mobius_add(x, np.tanh(norm(v) / gap(x)) * unit(v))


def log_map(at: ArrayLike, to: ArrayLike) -> FloatArray:
    """The tangent vector at `at` whose `exp_map` is `to`; -> (..., d).

    log_x(y) = a artanh|w| w / |w|    with  w = (-x) (+) y  and  artanh|w| = d(x, y) / 2
    """
    x, y = as_float64(at), as_float64(to)
    return gap(x) * np.arcsinh(_half_chord(x, y)) * unit(_seen_from(x, y)[0])


def tangent_norm(at: ArrayLike, tangent: ArrayLike) -> FloatArray:
    """Riemannian length 2 |v| / a of a tangent vector v at x; -> (...)."""
    return (2.0 * norm(as_float64(tangent)) / gap(as_float64(at)))[..., 0]


def mobius_add(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Möbius addition x (+) y: the isometry that takes the origin to x, applied to y; -> (..., d).

        x (+) y = x + a_x (y + |y|² x) / (1 + 2<x,y> + |x|²|y|²)
                = x + a_x (w - a_y x) / (|w|² + a_x a_y)    with w = x + y

    Near the rim the result is x plus something small, and comes out rounded as well as a float64 can be.
    """
    x, y = as_float64(x), as_float64(y)
    a, b, w = gap(x), gap(y), x + y
    return x + a * (w - b * x) / (dot(w, w) + a * b)


def mobius_neg(x: ArrayLike) -> FloatArray:
    """The inverse of Möbius addition, -x; -> (..., d)."""
    return -as_float64(x)


def recentre(points: ArrayLike, at: ArrayLike) -> FloatArray:
    """The isometry that brings `at` to the origin, applied to `points`; -> (..., d).

        (-x) (+) y = (a (y - x) - s x) / (s + a b)    for x = at, y = points

    Its inverse is `mobius_add(at, ...)`. Points near `at` keep their full relative accuracy.
    """
    numerator, denominator = _seen_from(as_float64(at), as_float64(points))
    return numerator / denominator


def invert_to_origin(points: ArrayLike, at: ArrayLike) -> FloatArray:
    """The inversion of appendix C that brings `at` (d,), not the origin, to the origin; points (..., d) -> (..., d).

    Its sphere is orthogonal to the rim, with centre c = at / |at|², so that |c|² - 1 = |c| |c - at|, and radius² =
    |c|² - 1:

        x -> c + (|c|² - 1) (x - c) / |x - c|²

    A reflection, its own inverse; `recentre` is the orientation-keeping isometry that does the same to `at`.
    """
    x, at = as_float64(points), as_float64(at)
    centre = at / dot(at, at)
    radius2 = dot(centre, centre) - 1.0
    offset = x - centre
    return centre + radius2 * offset / dot(offset, offset)


def geodesic(u: ArrayLike, v: ArrayLike, t: ArrayLike) -> FloatArray:
    """The point at fraction t of the way from u to v, t of shape (...); -> (..., d).

    On the hyperboloid it is  (sinh((1-t) d) U + sinh(t d) V) / sinh(d), a sum of positive multiples for t in
    [0, 1]. That is accurate even when the way leads from one side of the rim through the middle to the other,
    where exp_u(t log_u(v)) is not. Other t extrapolate.
    """
    u, v, t = as_float64(u), as_float64(v), as_float64(t)[..., None]
    (u2, a), (v2, b) = square_and_gap(u), square_and_gap(v)
    length = 2.0 * np.arcsinh(_half_chord(u, v))
    from_u = _sinh_ratio(1.0 - t, length) / a
    from_v = _sinh_ratio(t, length) / b
    return 2.0 * (from_u * u + from_v * v) / (1.0 + from_u * (1.0 + u2) + from_v * (1.0 + v2))


def radius(points: ArrayLike) -> FloatArray:
    """Hyperbolic distance to the origin, 2 artanh|x| = 2 arsinh(|x| / sqrt(a)); -> (...)."""
    x = as_float64(points)
    return (2.0 * np.arcsinh(norm(x) / np.sqrt(gap(x))))[..., 0]


def from_radius(direction: ArrayLike, radius: ArrayLike) -> FloatArray:
    """The point tanh(r/2) x / |x| at a hyperbolic radius r (...) in a direction x (..., d); -> (..., d).

    A direction has any length; the zero vector gives the origin. The radius of the result is off by up to
    3 times `limits.radius_resolution`, the price of storing coordinates: 5e-10 at radius 15, 2e-3 at 30.
    """
    return np.tanh(0.5 * as_float64(radius))[..., None] * unit(as_float64(direction))


def to_normal(points: ArrayLike) -> FloatArray:
    """Normal coordinates at the origin: same direction, Euclidean norm = hyperbolic radius; -> (..., d).

    Twice `log_map(0, x)`, because the metric at the origin is scaled by 2. These have no rim to run into.
    """
    x = as_float64(points)
    return radius(x)[..., None] * unit(x)


def from_normal(vectors: ArrayLike) -> FloatArray:
    """The inverse of `to_normal`:  tanh(|v|/2) v / |v|; -> (..., d)."""
    v = as_float64(vectors)
    return from_radius(v, norm(v)[..., 0])


def project(points: ArrayLike, max_radius: float = limits.BALL_RADIUS) -> tuple[FloatArray, int]:
    """Move points beyond a hyperbolic radius, or outside the ball, back along their ray.

    Returns the points (..., d) and how many were moved. They land a hair inside (4 · 2^-53 in Euclidean norm,
    so that rounding cannot leave them outside), hence a second call moves none. Points that are not finite
    are left alone and not counted.
    """
    x = as_float64(points)
    with np.errstate(invalid="ignore"):
        outside = gap(x / np.maximum(norm(x), 1.0)) < limits.gap_from_radius(max_radius)
    if not outside.any():
        return x, 0
    rim = np.tanh(0.5 * max_radius) - 4.0 * limits.UNIT_ROUNDOFF
    return np.where(outside, rim * unit(x), x), int(np.count_nonzero(outside))


def _half_chord(u: FloatArray, v: FloatArray) -> FloatArray:
    """sqrt q = sinh(d/2) as a column (..., 1), from a norm rather than its square, which might underflow."""
    root_q: FloatArray = norm(u - v) / (np.sqrt(gap(u)) * np.sqrt(gap(v)))
    return root_q


def _seen_from(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numerator a (y - x) - s x (..., d) and denominator s + a b (..., 1) of (-x) (+) y.

    The numerator has norm sqrt(s (s + a b)), and sqrt(s) >= |a - b| / 2, so that its two terms cancel by no
    more than a factor of about 3.
    """
    a, b, way = gap(x), gap(y), y - x
    s = dot(way, way)
    return a * way - s * x, s + a * b


def _sinh_ratio(t: FloatArray, length: FloatArray) -> FloatArray:
    """sinh(t L) / sinh(L) for L >= 0, and its limit t at L = 0, without overflow for t in [0, 1]."""
    safe = np.where(length > 0.0, length, 1.0)
    ratio = np.exp((t - 1.0) * safe) * np.expm1(-2.0 * t * safe) / np.expm1(-2.0 * safe)
    return np.where(length > 0.0, ratio, t)
