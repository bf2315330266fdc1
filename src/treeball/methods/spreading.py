"""Descent on distortion: nodes move so that distances over paths come together, all of them or the extreme ones."""

from __future__ import annotations

import math

import numpy as np

from ..engine.cpu import ratios
from ..types import Floats, Ints

__all__ = ["even_out", "spread"]

SMALLEST_SCOPE, LARGEST_SCOPE = 1e-6, 0.4


class _Nodes:
    """Nodes on their way: steps as long as the rate says, whatever the size of the force, by running means of it."""

    def __init__(self, points: Floats, reach: Floats) -> None:
        self.points, self._reach = points.copy(), reach[:, None]
        n, dim = points.shape[1:]
        self._mean, self._square, self._steps = np.zeros((n, dim)), np.zeros((n, 1)), 0
        self._scratch = np.empty(2 * len(points) + 2)

    def step(self, first: Ints, second: Ints, target: Floats, grow: Floats, rate: float) -> None:
        """Move all nodes so that the pairs grow, by `rate` times their reach at most."""
        force = np.zeros_like(self._mean)
        ratios.pull(self.points, first, second, target, grow, force)
        force *= self._reach
        self._steps += 1
        self._mean += 0.1 * (force - self._mean)
        self._square += 0.01 * (np.einsum("nd,nd->n", force, force)[:, None] - self._square)
        mean, square = self._mean / (1.0 - 0.9**self._steps), self._square / (1.0 - 0.99**self._steps)
        way = mean / np.sqrt(square + 1e-300)
        size = np.linalg.norm(way, axis=1, keepdims=True)
        way *= np.minimum(1.0, 1.0 / np.maximum(size, 1e-300))
        ratios.move(self.points, rate * self._reach * way, self._scratch)


def even_out(
    points: Floats,
    first: Ints,
    second: Ints,
    target: Floats,
    reach: Floats,
    *,
    steps: int = 200,
    rate: tuple[float, float] = (0.25, 0.0125),
) -> Floats:
    """Points (terms, n, d) whose ratios of distance to path differ less in the mean; the worst may be worse.

    Where many edges are short beside the curvature, a drawing by directions has cousins too near to each other. The
    extreme pairs alone do not tell where they should go; all pairs do.

    Parameters
    ----------
    first, second, target, reach
        As in `spread`.
    steps
        How many; the rate falls geometrically between its two values.
    """
    nodes = _Nodes(points, reach)
    logs, grow = np.empty(first.size), np.empty(first.size)
    for step in range(steps):
        ratios.log_ratios(nodes.points, first, second, target, logs)
        np.maximum(logs, -1e3, out=logs)
        ratios.to_the_middle(logs, float(np.median(logs)), 1.0, grow)
        nodes.step(first, second, target, grow, rate[0] * (rate[1] / rate[0]) ** (step / steps))
    return nodes.points


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
    nodes, best = _Nodes(points, reach), points.copy()
    logs, grow = np.empty(first.size), np.empty(first.size)
    least, scope = math.inf, 0.0
    for step in range(steps + 1):
        ratios.log_ratios(nodes.points, first, second, target, logs)
        low, high = float(logs.min()), float(logs.max())
        if not math.isfinite(low + high):
            low = float(logs[np.isfinite(logs)].min())
        elif high - low < least:
            least = high - low
            best[:] = nodes.points
        if step == steps:
            break
        scope = scope or max(high - low, SMALLEST_SCOPE)
        share = step / steps
        sharp = sharpness[0] * (sharpness[1] / sharpness[0]) ** share / scope
        ratios.to_the_ends(logs, sharp, low, high, grow)
        nodes.step(first, second, target, grow, rate[0] * (rate[1] / rate[0]) ** share * min(scope, LARGEST_SCOPE))
    return best
