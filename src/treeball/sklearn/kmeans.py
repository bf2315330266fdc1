"""k-means in hyperbolic space."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..geometry import poincare
from ..geometry.models import ball_to_hyperboloid
from ..limits import LARGEST_RADIUS
from .points import ball_points

__all__ = ["HyperbolicKMeans"]


class HyperbolicKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Clusters of points around centres, by 2 (cosh d - 1), the square of the distance d between near points.

    For this measure the centre of a cluster has a formula: the mean of its points on the hyperboloid, drawn back to it.
    Between far points it grows like e^d, so clusters are compact rather than even in number.

    Parameters
    ----------
    n_clusters
        How many.
    n_init
        First centres tried, drawn as in k-means++; the best result is kept.
    max_iter
        Rounds at most.
    random_state
        Fixes the first centres.

    Attributes
    ----------
    cluster_centers_ : (n_clusters, d), points of the ball
    labels_ : (n,)
    inertia_ : float
        Sum of the measure over all points.
    n_iter_ : int
    """

    def __init__(self, n_clusters: int = 8, *, n_init: int = 4, max_iter: int = 300, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find centres for points (n, d) of the ball."""
        points = ball_points(X)
        if not 1 <= self.n_clusters <= len(points):
            raise InputError(f"n_clusters must be from 1 to the {len(points):,} points, not {self.n_clusters}")
        self.n_features_in_ = points.shape[1]
        rng = check_random_state(self.random_state)
        self.inertia_ = np.inf
        for _ in range(max(1, self.n_init)):
            centres, labels, inertia, rounds = self._run(points, rng)
            if inertia < self.inertia_:
                self.cluster_centers_, self.labels_, self.inertia_, self.n_iter_ = centres, labels, inertia, rounds
        return self

    def _run(
        self, points: NDArray[np.float64], rng: np.random.RandomState
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], float, int]:
        """Centres, labels, inertia and rounds from one set of first centres."""
        centres = points[rng.randint(len(points))][None]
        for _ in range(1, self.n_clusters):
            far = _measure(points, centres).min(axis=1)
            share = far / far.sum() if far.sum() > 0.0 else np.full(len(points), 1.0 / len(points))
            centres = np.vstack([centres, points[rng.choice(len(points), p=share)]])
        labels = np.full(len(points), -1)
        rounds = 0
        while rounds < self.max_iter:
            nearest = _measure(points, centres).argmin(axis=1)
            if np.array_equal(nearest, labels):
                break
            labels, rounds = nearest, rounds + 1
            centres = np.stack(
                [
                    _centre(points[labels == k], centre) if (labels == k).any() else centre
                    for k, centre in enumerate(centres)
                ]
            )
        measure = _measure(points, centres)
        return centres, measure.argmin(axis=1), float(measure.min(axis=1).sum()), rounds

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster of each point, (m,)."""
        check_is_fitted(self, "cluster_centers_")
        return np.asarray(_measure(ball_points(X, self.n_features_in_), self.cluster_centers_).argmin(axis=1))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Hyperbolic distances to the centres, (m, n_clusters)."""
        check_is_fitted(self, "cluster_centers_")
        points = ball_points(X, self.n_features_in_)
        return np.asarray(poincare.distance(points[:, None], self.cluster_centers_))


def _centre(points: NDArray[np.float64], near: NDArray[np.float64]) -> NDArray[np.float64]:
    """The point with the least sum of the measure over points (m, d), seen from one near it: nothing cancels there."""
    total = ball_to_hyperboloid(poincare.recentre(points, near)).sum(axis=0)
    length = np.sqrt(max(total[0] ** 2 - np.square(total[1:]).sum(), 0.0))
    return np.asarray(poincare.project(poincare.mobius_add(near, total[1:] / (total[0] + length)), LARGEST_RADIUS)[0])


def _measure(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """2 (cosh d - 1) = 4 sinh²(d/2), (n, k)."""
    return np.asarray(4.0 * np.square(np.sinh(0.5 * poincare.distance(points[:, None], centres))))
