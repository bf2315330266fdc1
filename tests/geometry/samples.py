"""Pairs of points that are hard on a formula, for every radius and dimension the geometry promises to serve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from treeball import limits
from treeball.geometry import poincare
from treeball.geometry._float64 import FloatArray

U = limits.UNIT_ROUNDOFF
DIMENSIONS = (2, 3, 5, 10, 16, 17, 64, 128)
RADII = (0.0, 1e-9, 0.3, 1.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 34.0)

every_dimension = pytest.mark.parametrize("dim", DIMENSIONS)


def ball_pairs(dim: int, seed: int = 0) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Named pairs of arrays (len(RADII), dim): the first point of pair i sits at radius RADII[i]."""
    rng = np.random.default_rng(seed + dim)
    radii = np.array(RADII)
    x = poincare.from_radius(rng.normal(size=(radii.size, dim)), radii)
    shift = poincare.from_radius(rng.normal(size=x.shape), np.full(radii.size, 0.5))
    tiny = poincare.from_radius(rng.normal(size=x.shape), np.full(radii.size, 1e-12))
    inward = poincare.from_radius(x, radii * rng.uniform(0.8, 1.0, radii.size))
    return {
        "anywhere": (x, poincare.from_radius(rng.normal(size=x.shape), rng.uniform(0.0, 30.0, radii.size))),
        "half a unit apart": (x, poincare.mobius_add(x, shift)),
        "1e-12 apart or one rounding": (x, poincare.mobius_add(x, tiny)),
        "on one ray": (x, inward),
        "opposite": (x, -x),
        "to the origin": (x, np.zeros_like(x)),
        "from the origin": (np.zeros_like(x), x),
        "neighbouring floats": (x, np.nextafter(x, 0.0)),
        "identical": (x, x.copy()),
    }


def hyperboloid_pairs(dim: int, seed: int = 0) -> dict[str, tuple[FloatArray, FloatArray]]:
    """The same situations in space coordinates sinh(r) times a direction, (len(RADII), dim + 1)."""
    rng = np.random.default_rng(seed + 1000 + dim)
    radii = np.array(RADII)
    direction = rng.normal(size=(radii.size, dim))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    other = rng.normal(size=direction.shape)
    other /= np.linalg.norm(other, axis=-1, keepdims=True)
    x = np.sinh(radii)[:, None] * direction
    across = other - np.sum(other * direction, axis=-1, keepdims=True) * direction
    pairs = {
        "anywhere": np.sinh(rng.uniform(0.0, 34.0, radii.size))[:, None] * other,
        "across by about 1": x + across,
        "across by 1e-6": x + 1e-6 * across,
        "outwards by 1e-12": np.sinh(radii + 1e-12)[:, None] * direction,
        "on one ray": np.sinh(radii * rng.uniform(0.8, 1.0, radii.size))[:, None] * direction,
        "opposite": -x,
        "to the origin": np.zeros_like(x),
        "neighbouring floats": np.nextafter(x, 0.0),
        "identical": x.copy(),
    }
    return {name: (_lifted(x), _lifted(y)) for name, y in pairs.items()}


def _lifted(space: FloatArray) -> FloatArray:
    time = np.sqrt(1.0 + np.sum(space**2, axis=-1, keepdims=True))
    return np.concatenate([time, space], axis=-1)


def ball_points(max_radius: float, dims: tuple[int, int] = (2, 6)) -> st.SearchStrategy[FloatArray]:
    """Hypothesis: three points (3, d) of the ball within a radius, the origin and points on one ray included."""
    return st.integers(*dims).flatmap(
        lambda dim: st.builds(
            poincare.from_radius,
            hnp.arrays(np.float64, (3, dim), elements=st.floats(-1.0, 1.0)),
            hnp.arrays(np.float64, 3, elements=st.floats(0.0, max_radius)),
        )
    )
