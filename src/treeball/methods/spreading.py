"""Descent on distortion: nodes move so that the largest and the smallest ratio of distance to path come together."""

from __future__ import annotations

import math

import numpy as np

from ..engine.cpu import to_scale
from ..types import Floats, Ints

__all__ = ["spread"]

SMALLEST_SCOPE, LARGEST_SCOPE = 1e-6, 0.4


def spread(
    points: Floats,
    first: Ints,
    second: Ints,
    target: Floats,
    reach: Floats,
    *,
    steps: int = 300,
    sharpness: tuple[float, float] = (30.0, 1000.0),
    rate: tuple[float, float] = (0.25, 0.00125),
) -> Floats:
    """Points (terms, n, d) with a smaller worst distortion over the pairs; never a larger one.

    Parameters
    ----------
    first, second, target
        Pairs of nodes, and how far apart they should be, up to one scale.
    reach
        Float64 (n,), what a node moves by in a step at most, up to `rate`: the way to its nearest neighbour, 1 at most.
    steps
        How many; the sharpness rises, and the rate falls, geometrically between their two values.
    sharpness, rate
        Beside the logarithm of the worst distortion at first: where that is small already, only what is worst may
        move, and little.
    """
    n, dim = points.shape[1:]
    now, best = points.copy(), points.copy()
    logs = np.empty(first.size)
    scratch = np.empty(2 * len(points) + 2)
    mean, square = np.zeros((n, dim)), np.zeros((n, 1))
    least, scope = math.inf, 0.0
    for step in range(steps + 1):
        to_scale.log_ratios(now, first, second, target, logs)
        low, high = float(logs.min()), float(logs.max())
        if not math.isfinite(low + high):
            low = float(logs[np.isfinite(logs)].min())
        elif high - low < least:
            least = high - low
            best[:] = now
        if step == steps:
            break
        scope = scope or max(high - low, SMALLEST_SCOPE)
        share = step / steps
        k = sharpness[0] * (sharpness[1] / sharpness[0]) ** share / scope
        lr = rate[0] * (rate[1] / rate[0]) ** share * min(scope, LARGEST_SCOPE)
        force = np.zeros((n, dim))
        to_scale.pull(now, first, second, target, logs, k, low, high, force)
        force *= reach[:, None]
        mean += 0.1 * (force - mean)
        square += 0.01 * (np.einsum("nd,nd->n", force, force)[:, None] - square)
        corrected = (mean / (1.0 - 0.9 ** (step + 1))) / np.sqrt(square / (1.0 - 0.99 ** (step + 1)) + 1e-300)
        size = np.linalg.norm(corrected, axis=1, keepdims=True)
        corrected *= np.minimum(1.0, 1.0 / np.maximum(size, 1e-300))
        to_scale.move(now, lr * reach[:, None] * corrected, scratch)
    return best
