"""A class by the nearest points, in hyperbolic distance."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..geometry.spaces import BALL
from ..nearest import search_tree
from .points import ball_points

__all__ = ["HyperbolicNeighborsClassifier"]


class HyperbolicNeighborsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """The class that most of the nearest points have; exact, by a search tree.

    Parameters
    ----------
    n_neighbors
        How many are asked.
    weights
        ``"uniform"``: all alike; ``"distance"``: the nearer, the more, by the inverse of the distance.

    Attributes
    ----------
    classes_ : (classes,)
    """

    def __init__(self, n_neighbors: int = 5, *, weights: Literal["uniform", "distance"] = "uniform") -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the points (n, d) of the ball and their classes (n,)."""
        points = ball_points(X)
        if self.weights not in ("uniform", "distance"):
            raise InputError(f"weights must be uniform or distance, not {self.weights!r}")
        if not 1 <= self.n_neighbors <= len(points):
            raise InputError(f"n_neighbors must be from 1 to the {len(points):,} points, not {self.n_neighbors}")
        self.classes_, self._labels = np.unique(np.asarray(y), return_inverse=True)
        if len(self._labels) != len(points):
            raise InputError(f"there are {len(points):,} points and {len(self._labels):,} classes of them")
        self.n_features_in_ = points.shape[1]
        self._tree = search_tree(*BALL.ranking_coordinates(points))
        return self

    def kneighbors(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Distances and rows (m, n_neighbors) of the nearest points that fit was given, nearest first."""
        check_is_fitted(self, "classes_")
        points = ball_points(X, self.n_features_in_)
        rows, keys = self._tree.nearest(points, self.n_neighbors)
        factor = BALL.ranking_coordinates(points)[1]
        return BALL.distance_from_key(np.sqrt(keys * factor.reshape(-1, 1))), rows

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Share of each class among the nearest points, (m, classes)."""
        distances, rows = self.kneighbors(X)
        weights = np.ones_like(distances)
        if self.weights == "distance":
            here = distances == 0.0  # who lies on a point is of its class
            with np.errstate(divide="ignore"):
                weights = np.where(here.any(axis=1, keepdims=True), here, 1.0 / distances)
        shares = np.zeros((len(rows), len(self.classes_)))
        np.add.at(shares, (np.arange(len(rows))[:, None], self._labels[rows]), weights)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each point, (m,)."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
