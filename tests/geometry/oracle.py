"""The formulas once more, from the textbook and in 120 digits, on the float64 coordinates taken as exact numbers."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath
import numpy as np
from mpmath import mpf

from treeball.geometry._float64 import FloatArray

mpmath.mp.dps = 120

Vector = list[mpf]


def exact(x: FloatArray) -> Vector:
    return [mpf(float(value)) for value in x]


def dot(x: Sequence[mpf], y: Sequence[mpf]) -> mpf:
    return mpmath.fdot(x, y)


def norm(x: Sequence[mpf]) -> mpf:
    return mpmath.sqrt(dot(x, x))


def minus(x: Sequence[mpf], y: Sequence[mpf]) -> Vector:
    return [a - b for a, b in zip(x, y, strict=True)]


def times(factor: mpf, x: Sequence[mpf]) -> Vector:
    return [factor * a for a in x]


def plus(x: Sequence[mpf], y: Sequence[mpf]) -> Vector:
    return [a + b for a, b in zip(x, y, strict=True)]


# The ball


def ball_gap(x: Vector) -> mpf:
    return 1 - dot(x, x)


def ball_distance(u: Vector, v: Vector) -> mpf:
    """The paper's equation 1 as printed."""
    way = minus(u, v)
    return mpmath.acosh(1 + 2 * dot(way, way) / (ball_gap(u) * ball_gap(v)))


def ball_gradient(u: Vector, v: Vector) -> Vector:
    """(1 - |u|²)² / 4 times the Euclidean gradient of arcosh(gamma), by the chain rule."""
    way = minus(u, v)
    a, b, s = ball_gap(u), ball_gap(v), dot(way, way)
    gamma = 1 + 2 * s / (a * b)
    gamma_gradient = plus(times(4 / (a * b), way), times(4 * s / (a**2 * b), u))
    return times(a**2 / 4 / mpmath.sqrt(gamma**2 - 1), gamma_gradient)


def mobius_add(x: Vector, y: Vector) -> Vector:
    """The textbook quotient."""
    xy, x2, y2 = dot(x, y), dot(x, x), dot(y, y)
    numerator = plus(times(1 + 2 * xy + y2, x), times(1 - x2, y))
    return times(1 / (1 + 2 * xy + x2 * y2), numerator)


def ball_exp(x: Vector, v: Vector) -> Vector:
    length = norm(v)
    if length == 0:
        return x
    return mobius_add(x, times(mpmath.tanh(length / ball_gap(x)) / length, v))


def ball_log(x: Vector, y: Vector) -> Vector:
    w = mobius_add(times(mpf(-1), x), y)
    if norm(w) == 0:
        return w
    return times(ball_gap(x) * mpmath.atanh(norm(w)) / norm(w), w)


def ball_geodesic(u: Vector, v: Vector, t: mpf) -> Vector:
    return ball_exp(u, times(t, ball_log(u, v)))


# The hyperboloid: only the space part is given, the time part follows.


def lift(space: Vector) -> Vector:
    return [mpmath.sqrt(1 + dot(space, space)), *space]


def lorentz_inner(x: Vector, y: Vector) -> mpf:
    return dot(x[1:], y[1:]) - x[0] * y[0]


def lorentz_distance(x: Vector, y: Vector) -> mpf:
    return mpmath.acosh(-lorentz_inner(x, y))


def lorentz_gradient(x: Vector, y: Vector) -> Vector:
    cosh_d = -lorentz_inner(x, y)
    return times(-1 / mpmath.sqrt(cosh_d**2 - 1), minus(y, times(cosh_d, x)))


def lorentz_exp(x: Vector, v: Vector) -> Vector:
    length = mpmath.sqrt(lorentz_inner(v, v))
    return plus(times(mpmath.cosh(length), x), times(mpmath.sinh(length) / length, v))


def lorentz_transport(v: Vector, x: Vector, y: Vector) -> Vector:
    return plus(v, times(lorentz_inner(y, v) / (1 - lorentz_inner(x, y)), plus(x, y)))


def lorentz_boost(x: Vector, p: Vector) -> Vector:
    """The boost that takes p to the origin, applied to x."""
    px = dot(p[1:], x[1:])
    return [p[0] * x[0] - px, *plus(x[1:], times(px / (1 + p[0]) - x[0], p[1:]))]


# Comparison


def relative_error(got: float, want: mpf) -> float:
    if want == 0:
        return 0.0 if got == 0 else float("inf")
    return float(abs(mpf(float(got)) - want) / abs(want))


def vector_error(got: FloatArray, want: Vector) -> float:
    """|got - want| / |want|."""
    length = norm(want)
    if length == 0:
        return float(np.max(np.abs(got), initial=0.0))
    return float(norm(minus(exact(got), want)) / length)
