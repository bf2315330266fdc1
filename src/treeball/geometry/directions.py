"""Fans: directions spread as evenly as the dimension allows, which mathematicians call spherical codes."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..types import Floats

__all__ = ["even_directions", "fan_size", "ordered_directions", "smallest_angle"]


# Repulsion is quadratic in the size, and this is where it stops being a matter of a second.
_LARGEST_REPELLED = 1024
_STEPS, _STEPS_WHEN_LARGE, _LARGE = 300, 100, 256
# `ordered_directions` has at least this share of them to spare, and comes in few sizes, each this much above the last.
_SPARE, _NEXT_SIZE = 0.15, 1.25
# Multiplications up to which BLAS libraries do not start threads.
_SMALL_PRODUCT = 1 << 17


@lru_cache(maxsize=1024)
def even_directions(size: int, dim: int, seed: int = 0) -> Floats:
    """`size` unit vectors (size, dim) with the smallest angle between any two as large as we can make it; read-only.

    Best possible in the plane (even angles), up to dim + 1 (a regular simplex) and up to 2 dim (coordinate axes,
    90°); up to 1,024 points repel each other, from a start that `seed` fixes; more lie on circles of latitude.
    """
    if dim == 2:
        angles = np.arange(size) * (2.0 * math.pi / size)
        fan = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    elif size <= dim + 1:
        fan = np.zeros((size, dim))
        if size > 1:
            # Corners of the standard simplex seen from its middle lie in size - 1 dimensions.
            middle = np.eye(size) - 1.0 / size
            fan[:, : size - 1] = middle @ np.linalg.qr(middle[:, : size - 1])[0]
        else:
            fan[0, 0] = 1.0
    elif size <= 2 * dim:
        fan = np.concatenate([np.eye(dim), -np.eye(dim)])[:size]
    elif size <= _LARGEST_REPELLED:
        fan = _repelled(size, dim, seed)
    else:
        fan = _on_latitudes(size, dim, seed)
    fan /= np.linalg.norm(fan, axis=1, keepdims=True)
    fan.flags.writeable = False
    return fan


@lru_cache(maxsize=1024)
def ordered_directions(least: int, dim: int, seed: int = 0) -> Floats:
    """At least `least` directions (m, dim), the first of which are the farthest apart; read-only.

    Each direction is the one farthest from all before it, up to 1,024 of them: who takes directions from the top
    gets a good fan of any size. Up to 2 dim they are the coordinate axes, the second opposite to the first; beyond
    there are some to spare, for who must avoid some.
    """
    if dim == 2:
        raise ValueError("in the plane children share out angles, there is no fan to order")
    size = fan_size(least, dim)
    fan = even_directions(size, dim, seed)
    if size <= _LARGEST_REPELLED:
        nearest, order = np.full(size, -2.0), np.zeros(size, np.int64)
        for place in range(1, size):
            nearest = np.maximum(nearest, fan @ fan[order[place - 1]])
            nearest[order[place - 1]] = 2.0
            order[place] = int(np.argmin(nearest))
        fan = fan[order]
        fan.flags.writeable = False
    return fan


def fan_size(least: int, dim: int) -> int:
    """How many directions `ordered_directions` gives to who needs at least so many: one of few sizes."""
    if least <= 2 * dim:
        return 2 * dim
    steps = math.ceil(math.log((1.0 + _SPARE) * least / (2 * dim)) / math.log(_NEXT_SIZE))
    return math.ceil(2 * dim * _NEXT_SIZE**steps)


@lru_cache(maxsize=4096)
def smallest_angle(size: int, dim: int, seed: int = 0) -> float:
    """Smallest angle between two vectors of the `even_directions`, beyond 1,024 a bound below; π for less than two."""
    if size < 2:
        return math.pi
    if dim == 2:
        return 2.0 * math.pi / size
    if size > _LARGEST_REPELLED:
        return _widest_spacing(size, dim)
    fan = even_directions(size, dim, seed)
    return math.acos(min(1.0, float((fan @ fan.T - 2.0 * np.eye(size)).max())))


def _repelled(size: int, dim: int, seed: int) -> Floats:
    """Points that push each other apart by forces exp(β cos), harder and over shorter ways from step to step.

    The sum of forces of large β is ruled by the nearest pairs, so its minimum has a large smallest angle.
    """
    rng = np.random.default_rng([seed, size, dim])
    # Single precision is plenty to spread points by, and twice as fast.
    points = rng.normal(size=(size, dim)).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    spacing = min(1.5, 2.2 * size ** (-1.0 / (dim - 1)))
    steps = _STEPS if size <= _LARGE else _STEPS_WHEN_LARGE
    nearest = 1.0
    for t in np.arange(steps) / steps:
        beta = (2.0 + 40.0 * t * t) / (1.0 - math.cos(spacing))
        push, nearest = _push(points, beta, nearest)
        push -= np.einsum("kd,kd->k", push, points)[:, None] * points
        largest = float(np.linalg.norm(push, axis=1).max())
        points -= np.float32(0.3 * spacing * (1.0 - t) / max(largest, 1e-30)) * push
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points.astype(np.float64)


def _push(points: NDArray[np.float32], beta: float, nearest: float) -> tuple[NDArray[np.float32], float]:
    """Sums of exp(β (cos - nearest)) y over the other points y, (k, dim), and the cosine of the nearest pair.

    A few rows at a time: products this small stay on one thread, which keeps the result the same on any number of
    cores, and quick on busy ones.
    """
    push, largest = np.empty_like(points), -1.0
    rows = max(1, _SMALL_PRODUCT // points.size)
    for begin in range(0, len(points), rows):
        force = points[begin : begin + rows] @ points.T
        own = np.arange(force.shape[0])
        force[own, begin + own] = -2.0
        largest = max(largest, float(force.max()))
        force -= np.float32(nearest)
        force *= np.float32(beta)
        push[begin : begin + rows] = np.exp(force, out=force) @ points
    return push, largest


def _on_latitudes(size: int, dim: int, seed: int) -> Floats:
    """Points on circles of latitude: the circles `spacing` apart, and on each a fan of one dimension less.

    All in one pass over the dimensions, in time linear in `size`. Where there is room for more, `seed` leaves some out.
    """
    points = _latitudes(_widest_spacing(size, dim), dim, 4 * size)
    return points[np.random.default_rng([seed, size, dim]).permutation(len(points))[:size]]


@lru_cache(maxsize=1024)
def _widest_spacing(size: int, dim: int) -> float:
    """The widest spacing of latitudes that leaves room for `size` points, by bisection."""
    narrow, wide = 0.0, math.pi
    while wide - narrow > 1e-3 * wide:
        middle = 0.5 * (narrow + wide)
        if _latitude_points(middle, dim, size) >= size:
            narrow = middle
        else:
            wide = middle
    return narrow


def _latitude_points(spacing: float, dim: int, enough: int) -> int:
    """How many points `_latitudes` has, or some number beyond `enough`: without making them."""
    gap = np.full(1, spacing)
    for _ in range(dim - 2):
        rings = np.maximum(1, (math.pi / gap + 1e-9).astype(np.int64))
        if int(rings.sum()) > 4 * enough:
            return 4 * enough
        owner, latitude = _in_each(rings, math.pi)
        gap = 2.0 * np.arcsin(np.minimum(1.0, np.sin(0.5 * gap[owner]) / np.sin(latitude)))
    return int(np.maximum(1, (2.0 * math.pi / gap + 1e-9).astype(np.int64)).sum())


def _latitudes(spacing: float, dim: int, enough: int) -> Floats:
    """All points of the fan with a `spacing`, or some of them where `enough` are reached on the way."""
    points = np.zeros((1, dim))
    radius, gap = np.ones(1), np.full(1, spacing)
    for axis in range(dim - 2):
        rings = np.maximum(1, (math.pi / gap + 1e-9).astype(np.int64))
        owner, latitude = _in_each(rings, math.pi)
        points, radius, gap = points[owner], radius[owner], gap[owner]
        points[:, axis] = radius * np.cos(latitude)
        radius = radius * np.sin(latitude)
        # The same chord on a smaller sphere is a larger angle; half a turn where only one point fits.
        gap = 2.0 * np.arcsin(np.minimum(1.0, np.sin(0.5 * gap) / np.sin(latitude)))
        if len(points) > 4 * enough:
            return points
    owner, angle = _in_each(np.maximum(1, (2.0 * math.pi / gap + 1e-9).astype(np.int64)), 2.0 * math.pi)
    points, radius = points[owner], radius[owner]
    points[:, -2], points[:, -1] = radius * np.cos(angle), radius * np.sin(angle)
    return points


def _in_each(counts: NDArray[np.int64], turn: float) -> tuple[NDArray[np.int64], Floats]:
    """`counts[i]` even angles within `turn` for every i: whose they are, and the angles in the middle of each part."""
    owner = np.repeat(np.arange(counts.size), counts)
    within = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, (within + 0.5) * turn / counts[owner]
