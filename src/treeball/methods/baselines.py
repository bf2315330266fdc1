"""The published trainers: Poincare (Nickel & Kiela 2017), Lorentz (Nickel & Kiela 2018) and Euclidean embeddings.

All three draw first vectors close to the origin and descend on the loss of equation 2; they differ in the geometry.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..hierarchy import Hierarchy
from ..settings import FitSettings
from .descent import Descent, Epochs, Pairs
from .run import Run
from .whole_descent import WholeDescent


def initial_vectors(hierarchy: Hierarchy, settings: FitSettings) -> NDArray[np.float64]:
    """Uniform directions and small radii, (n, dim) or (n, dim + 1) on the hyperboloid."""
    rng = np.random.default_rng(settings.seed)
    spatial = rng.uniform(-1.0, 1.0, (hierarchy.n_nodes, settings.dim))
    # In the ball a hyperbolic radius is twice the norm near the origin; on the hyperboloid and in R^d it is the norm.
    spatial *= settings.init_radius / np.sqrt(settings.dim)
    if settings.geometry == "poincare":
        spatial /= 2.0
    if settings.geometry == "lorentz":
        time = np.sqrt(1.0 + np.square(spatial).sum(axis=1, keepdims=True))
        return np.hstack([time, spatial])
    return spatial


def descent_of(vectors: NDArray[np.float64], hierarchy: Hierarchy, settings: FitSettings) -> Descent | WholeDescent:
    """Descent on the loss of the settings: sampled (equation 2), or over all nodes."""
    if settings.whole:
        return WholeDescent(vectors, hierarchy, settings)
    return Descent(vectors, Pairs.of(hierarchy, settings), hierarchy, settings)


def train(run: Run) -> Iterator[Epochs]:
    """Descend from the epoch the run has reached to the last; yields after every few epochs."""
    descent = descent_of(run.vectors, run.hierarchy, run.settings)
    while run.epoch < run.settings.epochs:
        yield run.descend(descent)
