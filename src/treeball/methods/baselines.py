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


def train(
    hierarchy: Hierarchy, settings: FitSettings, vectors: NDArray[np.float64], first_epoch: int
) -> Iterator[Epochs]:
    """Descend from `first_epoch` to the last, changing `vectors` in place; yields at the end of some epochs."""
    descent = Descent(vectors, Pairs.of(hierarchy, settings), hierarchy, settings)
    epoch = first_epoch
    while epoch < settings.epochs:
        done = descent.run(epoch, min(descent.epochs_per_call(), settings.epochs - epoch))
        epoch += done.count
        yield done
