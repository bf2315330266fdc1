"""Spherical codes: directions spread as evenly as the dimension allows."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["smallest_angle", "spherical_code"]

Floats = NDArray[np.float64]

# Repulsion is quadratic in the size of a group and this is where it stops being a matter of a second.
_GROUP = 1024
_STEPS, _STEPS_IN_GROUPS = 300, 100
# Multiplications up to which BLAS libraries do not start threads.
_SMALL_PRODUCT = 1 << 17


@lru_cache(maxsize=1024)
def spherical_code(size: int, dim: int, seed: int = 0) -> Floats:
    """`size` unit vectors (size, dim) with the smallest angle between any two as large as we can make it; read-only.

    Best possible in the plane (even angles), up to dim + 1 (a regular simplex) and up to 2 dim (coordinate axes,
    90°); beyond that points repel each other, from a start that `seed` fixes.
    """
    if dim == 2:
        angles = np.arange(size) * (2.0 * math.pi / size)
        code = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    elif size <= dim + 1:
        code = np.zeros((size, dim))
        if size > 1:
            # Corners of the standard simplex seen from its middle lie in size - 1 dimensions.
            middle = np.eye(size) - 1.0 / size
            code[:, : size - 1] = middle @ np.linalg.qr(middle[:, : size - 1])[0]
        else:
            code[0, 0] = 1.0
    elif size <= 2 * dim:
        code = np.concatenate([np.eye(dim), -np.eye(dim)])[:size]
    else:
        code = _repelled(size, dim, seed)
    code /= np.linalg.norm(code, axis=1, keepdims=True)
    code.flags.writeable = False
    return code


@lru_cache(maxsize=4096)
def smallest_angle(size: int, dim: int, seed: int = 0) -> float:
    """Smallest angle between two vectors of the `spherical_code`; π for fewer than two."""
    if size < 2:
        return math.pi
    if dim == 2:
        return 2.0 * math.pi / size
    code, largest = spherical_code(size, dim, seed), -1.0
    for begin in range(0, size, _GROUP):
        cosines = code[begin : begin + _GROUP] @ code.T
        rows = np.arange(cosines.shape[0])
        cosines[rows, begin + rows] = -1.0
        largest = max(largest, float(cosines.max()))
    return math.acos(min(1.0, largest))


def _repelled(size: int, dim: int, seed: int) -> Floats:
    """Points that push each other apart by forces exp(β cos), harder and over shorter ways from step to step.

    The sum of forces of large β is ruled by the nearest pairs, so its minimum has a large smallest angle. Thousands
    of points are pushed in groups, slices across a new direction in each step, where near points often meet.
    """
    rng = np.random.default_rng([seed, size, dim])
    # Single precision is plenty to spread points by, and twice as fast.
    points = rng.normal(size=(size, dim)).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    spacing = min(1.5, 2.2 * size ** (-1.0 / (dim - 1)))
    groups = -(-size // _GROUP)
    steps = _STEPS if groups == 1 else _STEPS_IN_GROUPS
    nearest = 1.0
    for t in np.arange(steps) / steps:
        beta = (2.0 + 40.0 * t * t) / (1.0 - math.cos(spacing))
        order = np.argsort(points @ rng.normal(size=dim)) if groups > 1 else np.arange(size)
        cosines = []
        for group in np.array_split(order, groups):
            own = points[group]
            push, cosine = _push(own, beta, nearest)
            cosines.append(cosine)
            push -= np.einsum("kd,kd->k", push, own)[:, None] * own
            largest = float(np.linalg.norm(push, axis=1).max())
            own -= np.float32(0.3 * spacing * (1.0 - t) / max(largest, 1e-30)) * push
            points[group] = own / np.linalg.norm(own, axis=1, keepdims=True)
        nearest = max(cosines)
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
