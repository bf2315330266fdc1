"""Search vectors: points of hyperbolic space as flat vectors whose L2 distance squared is about their distance.

Seen from the origin, two points go together until their directions part, and d ≈ r + s - 2 (x|y), where the Gromov
product (x|y) is how far out they part. A wave ``cos(w·e)`` over directions e tells apart what is 1/|w| apart, which
is where ways part at radius log |w|. So with waves of all lengths, as many from each unit of log |w|, and each faded
out beyond the radius of the point,

    <v(x), v(y)> ≈ how many lengths both points have and see alike ≈ (x|y),   |v(x) - v(y)|² ≈ d(x, y).

Each of the `WAVES` numbers of a vector is the sum of one wave from every two units of radius (random Fourier features
of a kernel that is a sum over scales). The first d numbers are the point in Klein's model, the coarsest scale without
noise. Nothing is learnt: the vector of a point depends on the point alone, and the rest of a model may change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..types import Floats

__all__ = ["WAVES", "search_vectors"]

WAVES = 128
# log |w| of the longest waves, and how many units of it a number of the vector passes over from wave to wave.
_START, _STEP = -2.0, 2.0
# Units past its radius where nothing of a point is left: the waves there are faded to exp(-e^3).
_FADED = 3.0
# |w·e| of two directions that part at radius log |w|; measured, and anything from .4 to 1 will do.
_SHARPNESS = 0.6
_SEED = 0
_ROWS = 4096


def search_vectors(directions: Floats, radius: Floats) -> NDArray[np.float32]:
    """Vectors (n, d + WAVES) of points at radii (n,) in directions (n, d), unit vectors."""
    klein = directions * np.tanh(radius)[:, None]
    vectors = np.empty((len(klein), klein.shape[1] + WAVES), np.float32)
    vectors[:, : klein.shape[1]] = klein
    levels = _levels(klein.shape[1], float(radius.max(initial=0.0)))
    order = np.argsort(radius, kind="stable")  # so that a block needs no more levels than its outermost point
    for begin in range(0, order.size, _ROWS):
        rows = order[begin : begin + _ROWS]
        outermost, fading = radius[rows[-1]], np.exp(-radius[rows])[:, None]
        waves = np.zeros((rows.size, WAVES), np.float32)
        for place, (frequency, turns, phase) in enumerate(levels):
            if _START + place * _STEP > outermost + _FADED:
                break
            angle = klein[rows] @ turns + phase
            angle -= np.rint(angle)  # whole turns, while float64 still knows them apart
            waves += np.cos(np.float32(2 * np.pi) * angle.astype(np.float32)) * np.exp(
                (-fading * frequency).astype(np.float32)
            )
        vectors[rows, klein.shape[1] :] = np.float32(np.sqrt(2 * _STEP / WAVES)) * waves
    return vectors


def _levels(dim: int, radius: float) -> list[tuple[Floats, Floats, Floats]]:
    """Of every step: e^(log |w|) (WAVES,), the waves in turns (dim, WAVES), and where they begin (WAVES,)."""
    levels = []
    for place in range(int((radius + _FADED - _START) // _STEP) + 1):
        rng = np.random.default_rng([_SEED, place])  # of its own, so that more radius changes no other
        frequency = np.exp(_START + _STEP * (place + rng.uniform(size=WAVES)))
        turns = rng.normal(size=(dim, WAVES)) * (_SHARPNESS / (2 * np.pi)) * frequency
        levels.append((frequency, turns, rng.uniform(size=WAVES)))
    return levels
