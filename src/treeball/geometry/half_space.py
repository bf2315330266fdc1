"""The upper half-space with coordinates of several terms: hyperbolic space as far out as the terms reach.

A point is (x, h), a place x on the ground, of d - 1 coordinates, and a height h > 0 above it. Near the rim a ball
vector has all its digits in how near to 1 it is; here the height is a number of its own, which float64 holds to its
last digit however small, and only the ground needs more digits, since what counts is the *difference* of two places
beside their heights. So the ground has several terms (see `terms`), and that difference is exact.

An array of points is (terms, ..., d), the height last; its further terms are 0. The origin (0, ..., 0, 1) is that of
the ball, by the map of `models.half_space_to_ball`. Moving the origin to a point is  (y, k) -> (x + h y, h k), so that
placing a node around another takes one product and one sum of several terms, and directions are plain float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..limits import PLACED_RADIUS, TERMS
from ..types import Floats
from . import poincare, terms
from .models import half_space_to_ball

__all__ = [
    "direction",
    "distance",
    "origin",
    "plain_distance",
    "plain_radius",
    "put",
    "radius",
    "ranking_coordinates",
    "rounded_to_ball",
    "wrong",
]


def origin(dim: int, count: int) -> Floats:
    """The origin (count, dim) in `count` terms."""
    point = np.zeros((count, dim))
    point[0, -1] = 1.0
    return point


def put(points: Floats, directions: ArrayLike, lengths: ArrayLike) -> Floats:
    """The points (terms, ..., d) at some distances (...) in some directions (..., d) from others.

    A direction is a unit vector as seen from the point brought to the origin: the last coordinate is the way up. At
    distance l in the direction (w, u) lies  (w sinh l, 1) / (cosh l - u sinh l).
    """
    way, length = np.asarray(directions, np.float64), np.asarray(lengths, np.float64)[..., None]
    ground, up = way[..., :-1], way[..., -1:]
    # cosh l - u sinh l = exp(-l) + (1 - u) sinh l, where 1 - u must not cancel.
    flat = np.square(ground).sum(axis=-1, keepdims=True)
    below = np.exp(-length) + np.sinh(length) * np.where(up > 0.0, flat / (1.0 + np.abs(up)), 1.0 - up)
    height = points[0, ..., -1:]
    step = terms.two_product(height, ground * np.sinh(length) / below)
    moved = terms.total([*points[..., :-1], *step], len(points))
    height = np.broadcast_to(height / below, (*moved.shape[1:-1], 1))
    return np.concatenate([moved, terms.from_float(height, len(points))], axis=-1)


def direction(points: Floats, others: Floats) -> Floats:
    """Unit vectors (..., d) in which `others` are seen from `points`, both (terms, ..., d); 0 where they coincide.

    With (y, k) the other point as seen from the first:  (2 y, |y|² + k² - 1), made 1 long.
    """
    own, other = points[0, ..., -1:], others[0, ..., -1:]
    ground = terms.rounded(terms.difference(others[..., :-1], points[..., :-1], 2)) / own
    up = np.square(ground).sum(axis=-1, keepdims=True) + (other - own) / own * (other / own + 1.0)
    way = np.concatenate([2.0 * ground, up], axis=-1)
    largest = np.abs(way).max(axis=-1, keepdims=True)
    way = way / np.where(largest > 0.0, largest, 1.0)
    size = np.sqrt(np.square(way).sum(axis=-1, keepdims=True))
    return np.asarray(way / np.where(size > 0.0, size, 1.0))


def distance(points: Floats, others: Floats) -> Floats:
    """Distances of points (terms, ..., d) in two terms, (2, ...):  2 asinh(|p - q| / (2 sqrt(h k))).

    Exact to about 30 digits for the coordinates as they are, however near or far the points.
    """
    gap = terms.difference(points, others, 2)
    square = np.zeros((2, *gap.shape[1:-1]))
    for k in range(gap.shape[-1]):
        square = terms.add(square, terms.multiply(gap[..., k], gap[..., k]))
    heights = np.stack(terms.two_product(points[0, ..., -1], 4.0 * others[0, ..., -1]))
    heights = np.broadcast_to(heights, square.shape)
    return np.asarray(2.0 * terms.asinh(terms.square_root(terms.divide(square, heights))))


def radius(points: Floats) -> Floats:
    """Distances (...) of points (terms, ..., d) from the origin, float64."""
    centre = origin(points.shape[-1], len(points)).reshape(len(points), *(1,) * (points.ndim - 2), -1)
    return np.asarray(distance(points, np.broadcast_to(centre, points.shape))[0])


def ranking_coordinates(points: Floats) -> tuple[Floats, Floats]:
    """Coordinates (terms, n, d) and factors f (n,) such that ``|x_u - x_v|^2 f_v`` orders v like the distance from u.

    As in the ball, the distance is 2 asinh of ``|x_u - x_v| sqrt(f_u f_v)``.
    """
    return points, 0.5 / points[0, :, -1]


def rounded_to_ball(points: Floats, max_radius: float = PLACED_RADIUS) -> tuple[Floats, int]:
    """Ball vectors (n, d) in float64, and how many had to be held at `max_radius`, beyond which there are none."""
    vectors, held = poincare.project(half_space_to_ball(terms.rounded(points)), max_radius)
    return np.asarray(vectors), int(held)


def wrong(points: Floats) -> str:
    """What makes an array no points of the half-space in terms; empty if nothing does."""
    if points.ndim != 3 or len(points) not in TERMS or points.shape[-1] < 2:
        return f"it has the shape {points.shape}, and not (terms, nodes, dimensions) with 1, 2 or 4 terms"
    if not np.isfinite(points).all():
        return "a coordinate is not finite"
    if not (points[0, :, -1] > 0.0).all() or points[1:, :, -1].any():
        return "a height is not positive, or has more than one term"
    if (np.abs(points[1:]) > np.abs(points[:-1]) * 2.0**-51).any():
        return "a term is not small beside the one before it"
    return ""


def plain_distance(points: ArrayLike, others: ArrayLike) -> Floats:
    """Distances (...) of points (..., d) of one term, which broadcast, in float64."""
    p, q = np.asarray(points, np.float64), np.asarray(others, np.float64)
    # The root of each height apart: their product may be smaller than float64 holds.
    size = np.sqrt(np.square(p - q).sum(axis=-1)) / np.sqrt(p[..., -1]) / np.sqrt(q[..., -1])
    return np.asarray(2.0 * np.arcsinh(0.5 * size))


def plain_radius(points: ArrayLike) -> Floats:
    """Distances (...) of points (..., d) of one term from the origin, float64."""
    p = np.asarray(points, np.float64)
    return plain_distance(p, origin(p.shape[-1], 1)[0])
