"""Local capacity (the paper's section 4 and appendix C): how many children fit around a node within a radius.

The local capacity of (A, r) is the largest number of points within distance r of A, any two of which are
farther from each other than from A. An isometry brings A to the origin, and pushing the points out along
their rays to the sphere of radius r keeps the condition. So the question is how many directions can be
pairwise theta_r apart: the size A(d, theta_r) of the largest spherical code, here called a fan.

`lower_bound` and `upper_bound` are the paper's closed forms, for r that is "not very small"; docs/capacity.md
says what that means. `guaranteed` and `ceiling` are elementary volume bounds, true for every r >= 0. Each
has a `log_` form, because at d = 128 the numbers leave float64 from radius 10 on. Arrays have any shape.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._float64 import FloatArray, as_float64

__all__ = [
    "angle_between_siblings",
    "ceiling",
    "fan_constant",
    "guaranteed",
    "insufficient",
    "largest_planar_fan",
    "log_cap_fraction",
    "log_cap_fraction_asymptotic",
    "log_ceiling",
    "log_fan_size",
    "log_guaranteed",
    "log_lower_bound",
    "log_upper_bound",
    "lower_bound",
    "radius_for_angle",
    "radius_needed_lower",
    "radius_needed_upper",
    "theta",
    "upper_bound",
]


def theta(radius: ArrayLike) -> FloatArray:
    """theta_r = 2 arcsin(1 / (2 cosh(r/2))), the angle at which two children at distance r are also r apart.

    60 degrees at r = 0 and about 2 e^(-r/2) for large r. The main text of the paper lacks the factor 2; its
    appendix has it.
    """
    half = 0.5 * as_float64(radius)
    decay = np.exp(-half)  # 1 / (2 cosh(h)) = e^-h / (1 + e^-2h), which no radius overflows
    return 2.0 * np.arcsin(decay / (1.0 + decay * decay))


def radius_for_angle(angle: ArrayLike) -> FloatArray:
    """The radius r = 2 arcosh(1 / (2 sin(angle/2))) that siblings `angle` apart need; inverse of `theta`.

    From 60 degrees on every radius will do, and the answer is 0.
    """
    half_chord = 2.0 * np.sin(0.5 * as_float64(angle))
    # arcosh(1/z) = arsinh(sqrt((1 - z)(1 + z)) / z), which keeps its digits near z = 1
    inside = np.maximum((1.0 - half_chord) * (1.0 + half_chord), 0.0)
    return 2.0 * np.arcsinh(np.sqrt(inside) / half_chord)


def angle_between_siblings(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """The angle that siblings at distances r1 and r2 from their parent need to be nearer to it than mutually.

        cos(angle) = tanh(short / 2) / tanh(long)

    from  cosh d = cosh r1 cosh r2 - sinh r1 sinh r2 cos(angle) >= cosh(long). It is `theta(r)` for
    r1 = r2 = r. The shorter one decides: however far the other sits, arccos(tanh(short/2)) is enough, about
    2 e^(-short/2) again.
    """
    first, second = as_float64(first), as_float64(second)
    short, long = np.minimum(first, second), np.maximum(first, second)
    # 2 sin²(angle/2) = 1 - cos(angle) = (1 - tanh(s/2)) - tanh(s/2) (1/tanh(l) - 1), by decaying exponentials
    near, far = np.exp(-short), np.exp(-2.0 * long)
    tanh_half = -np.expm1(-short) / (1.0 + near)
    excess = 2.0 * far * tanh_half / np.where(long > 0.0, -np.expm1(-2.0 * long), 1.0)
    versine = np.where(long > 0.0, 2.0 * near / (1.0 + near) - excess, 0.5)
    return 2.0 * np.arcsin(np.sqrt(0.5 * versine))


def log_lower_bound(radius: ArrayLike, dim: int) -> FloatArray:
    """Logarithm of the paper's lower bound on the local capacity of (A, radius) in `dim` dimensions.

    d = 2          pi e^(r/2)
    3 <= d <= 16   sqrt(2 pi d) 2^(1-d) e^((d-1) r/2)
    d >= 17        sqrt(2 pi) log(2/sqrt 3) d^(3/2) 2^(1-d) e^((d-1) r/2)
    """
    constant, slope = _lower_line(dim)
    return constant + slope * as_float64(radius)


def log_upper_bound(radius: ArrayLike, dim: int) -> FloatArray:
    """Logarithm of the paper's upper bound:  pi e^(r/2) for d = 2,  2^d e^(d r/2) for d >= 3."""
    constant, slope = _upper_line(dim)
    return constant + slope * as_float64(radius)


def lower_bound(radius: ArrayLike, dim: int) -> FloatArray:
    """The paper's lower bound, see `log_lower_bound`; inf where it leaves float64."""
    return _exp(log_lower_bound(radius, dim))


def upper_bound(radius: ArrayLike, dim: int) -> FloatArray:
    """The paper's upper bound, see `log_upper_bound`; inf where it leaves float64."""
    return _exp(log_upper_bound(radius, dim))


def radius_needed_lower(children: ArrayLike, dim: int) -> FloatArray:
    """The radius at which the lower bound reaches a number of children: room enough for them.

    0 for one child or none, which any radius holds, and never negative.
    """
    return _radius_on_line(children, *_lower_line(dim))


def radius_needed_upper(children: ArrayLike, dim: int) -> FloatArray:
    """The radius at which the upper bound reaches a number of children: with less they have no room."""
    return _radius_on_line(children, *_upper_line(dim))


def insufficient(children: ArrayLike, radius: ArrayLike, dim: int) -> NDArray[np.bool_]:
    """Where a number of children exceeds the lower bound at the radius; broadcasts, -> bool (...).

    The radius of a node with k children is its distance to its k-th nearest neighbour. A node without
    children is never insufficient.
    """
    counts = as_float64(children)
    log_counts = np.log(np.maximum(counts, 1.0))
    verdict: NDArray[np.bool_] = (counts > 0.0) & (log_counts > log_lower_bound(radius, dim))
    return verdict


def largest_planar_fan(angle: ArrayLike) -> NDArray[np.int64]:
    """How many directions of the plane can be pairwise `angle` apart:  floor(2 pi / angle), or 1 beyond pi.

    Exact, so in two dimensions it makes every bound unnecessary.
    """
    angle = as_float64(angle)
    # One part in 1e15 in hand, so that angle = 2 pi / n gives n however the division rounds.
    count = np.floor(2.0 * np.pi / angle * (1.0 + 1e-15))
    return np.where(angle > np.pi * (1.0 + 1e-15), 1.0, count).astype(np.int64)


def log_guaranteed(radius: ArrayLike, dim: int) -> FloatArray:
    """Logarithm of 1 / s_d(theta_r), which the local capacity never falls below.

    Where no further child fits, the caps of angle theta_r around the present ones cover the whole sphere.
    """
    return -log_cap_fraction(theta(radius), dim)


def log_ceiling(radius: ArrayLike, dim: int) -> FloatArray:
    """Logarithm of 1 / s_d(theta_r / 2), which the local capacity never exceeds.

    The caps of angle theta_r / 2 around the children do not overlap.
    """
    return -log_cap_fraction(0.5 * theta(radius), dim)


def guaranteed(radius: ArrayLike, dim: int) -> FloatArray:
    """At least this many children fit, see `log_guaranteed`; inf where it leaves float64."""
    return _exp(log_guaranteed(radius, dim))


def ceiling(radius: ArrayLike, dim: int) -> FloatArray:
    """At most this many children fit, see `log_ceiling`; inf where it leaves float64."""
    return _exp(log_ceiling(radius, dim))


def log_cap_fraction(angle: ArrayLike, dim: int) -> FloatArray:
    """Logarithm of s_d(angle), the share of the unit sphere of R^d within `angle` <= 60 degrees of a pole.

        s_d = I_x(m, 1/2) / 2
            = x^m sqrt(1-x) / (2 m B(m, 1/2)) · sum_n prod_{i<n} x (m + 1/2 + i) / (m + 1 + i)

    with x = sin²(angle), m = (d-1)/2 and I the regularised incomplete beta function.
    """
    angle = as_float64(angle)
    m = 0.5 * (_checked(dim) - 1.0)
    x = np.sin(angle) ** 2
    term, total = np.ones_like(x), np.ones_like(x)
    for i in range(150):  # x <= 3/4, and (3/4)^150 is below rounding
        term = term * x * ((m + 0.5 + i) / (m + 1.0 + i))
        total = total + term
    log_beta = math.lgamma(m) + math.lgamma(0.5) - math.lgamma(m + 0.5)
    log_share: FloatArray = 2.0 * m * np.log(np.sin(angle)) + np.log(np.cos(angle) * total / (2.0 * m))
    return log_share - log_beta


def log_cap_fraction_asymptotic(angle: ArrayLike, dim: int) -> FloatArray:
    """Logarithm of the paper's form of s_d for large d.

    s_d(angle) = (1 + o(1)) sin^(d-1)(angle) / (sqrt(2 pi d) cos(angle))
    """
    angle = as_float64(angle)
    d = _checked(dim)
    log_share: FloatArray = (d - 1) * np.log(np.sin(angle)) - 0.5 * np.log(2.0 * np.pi * d) - np.log(np.cos(angle))
    return log_share


def fan_constant(angle: ArrayLike) -> FloatArray:
    """The paper's c(angle) = log(sin²(angle) / sqrt((1 - cos(angle))² (1 + 2 cos(angle)))).

    It is log((1 + cos) / sqrt(1 + 2 cos)), the form used here because nothing cancels in it, and tends to log(2/sqrt 3)
    for small angles.
    """
    cosine = np.cos(as_float64(angle))
    constant: FloatArray = np.log1p(cosine) - 0.5 * np.log1p(2.0 * cosine)
    return constant


def log_fan_size(angle: ArrayLike, dim: int) -> FloatArray:
    """Logarithm of the paper's lower bound on A(d, angle), the size of the largest fan, for d >= 3.

    1 / s_d(angle) for d <= 16 and c(angle) d / s_d(angle) beyond, with s_d in its asymptotic form. `log_lower_bound` is
    this at theta_r, where sin(theta_r) is about 2 e^(-r/2).
    """
    size = -log_cap_fraction_asymptotic(angle, dim)
    return size if _checked(dim) <= 16 else size + np.log(fan_constant(angle) * dim)


def _lower_line(dim: int) -> tuple[float, float]:
    """Constant and slope of the lower bound's logarithm as a function of the radius."""
    d = _checked(dim)
    if d == 2:
        return math.log(math.pi), 0.5
    shared = 0.5 * math.log(2.0 * math.pi) + (1 - d) * math.log(2.0)
    if d <= 16:
        return shared + 0.5 * math.log(d), 0.5 * (d - 1)
    return shared + math.log(math.log(2.0 / math.sqrt(3.0))) + 1.5 * math.log(d), 0.5 * (d - 1)


def _upper_line(dim: int) -> tuple[float, float]:
    d = _checked(dim)
    return (math.log(math.pi), 0.5) if d == 2 else (d * math.log(2.0), 0.5 * d)


def _radius_on_line(children: ArrayLike, constant: float, slope: float) -> FloatArray:
    counts = as_float64(children)
    needed = (np.log(np.maximum(counts, 1.0)) - constant) / slope
    return np.where(counts > 1.0, np.maximum(needed, 0.0), 0.0)


def _exp(log_value: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # inf is the right answer for "more than float64 can count"
        return np.exp(log_value)


def _checked(dim: int) -> int:
    if dim < 2:
        raise ValueError(f"local capacity needs at least 2 dimensions, not {dim}")
    return dim
