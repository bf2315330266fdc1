"""Logistic regression by signed distances from hyperbolic hyperplanes."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..geometry.models import ball_to_hyperboloid
from ..limits import LARGEST_RADIUS
from .points import ball_points

__all__ = ["HyperbolicLogisticRegression"]


class HyperbolicLogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Classes divided by hyperplanes of hyperbolic space: a logit is a factor times the signed distance from one.

    A class has a vector v and a number t: its hyperplane is at right angles to v, at distance t from the origin in its
    direction, and the factor is |v|. Of a point x of the hyperboloid the signed distance is
    arsinh(cosh(t) <v/|v|, space> - sinh(t) time). As many numbers as in flat logistic regression, and near the origin
    the same model.

    Parameters
    ----------
    C
        The less, the more v is held near 0: the inverse of the weight of |v|²/2, as in scikit-learn.
    max_iter
        Steps of L-BFGS.

    Attributes
    ----------
    classes_ : (classes,)
    coef_, intercept_ : (classes, d) and (classes,)
        v and t.
    n_iter_ : int
    """

    def __init__(self, C: float = 1.0, *, max_iter: int = 500) -> None:
        self.C = C
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Find the hyperplanes for points (n, d) of the ball and their classes (n,)."""
        if not 0.0 < self.C < math.inf:
            raise InputError(f"C must be a positive number, not {self.C}")
        points = ball_points(X)
        self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
        if len(labels) != len(points):
            raise InputError(f"there are {len(points):,} points and {len(labels):,} classes of them")
        if len(self.classes_) < 2:
            raise InputError("there is one class only: logistic regression needs two")
        n, d = points.shape
        self.n_features_in_ = d
        sheet = ball_to_hyperboloid(points)
        picked = np.zeros((n, len(self.classes_)))
        picked[np.arange(n), labels] = 1.0

        def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            found = flat.reshape(len(self.classes_), d + 1)
            planes = _Planes(sheet, found[:, :d], found[:, d])
            gradient = planes.gradient(self.C * (softmax(planes.logits, axis=1) - picked))
            gradient[:, :d] += found[:, :d]
            value = -self.C * float((picked * log_softmax(planes.logits, axis=1)).sum())
            return value + 0.5 * float(np.square(found[:, :d]).sum()), gradient.ravel()

        # Towards the points of the class: at v = 0 there is no direction yet.
        mean = np.stack([sheet[labels == k, 1:].mean(axis=0) for k in range(len(self.classes_))])
        length = np.linalg.norm(mean, axis=1, keepdims=True)
        start = np.where(length > 0.0, mean / np.where(length > 0.0, length, 1.0), 1.0 / math.sqrt(d))
        first = np.hstack([start, np.zeros((len(self.classes_), 1))]).ravel()
        bounds = [*[(None, None)] * d, (-LARGEST_RADIUS, LARGEST_RADIUS)] * len(self.classes_)
        result = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": self.max_iter})
        found = result.x.reshape(len(self.classes_), d + 1)
        self.coef_, self.intercept_, self.n_iter_ = found[:, :d], found[:, d], int(result.nit)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Logits (m, classes)."""
        check_is_fitted(self, "coef_")
        sheet = ball_to_hyperboloid(ball_points(X, self.n_features_in_))
        return np.asarray(_Planes(sheet, self.coef_, self.intercept_).logits)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, (m, classes)."""
        return np.asarray(softmax(self.decision_function(X), axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each point, (m,)."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])


class _Planes:
    """Logits (n, k) of points (n, d + 1) of the hyperboloid by vectors v (k, d) and offsets t (k,)."""

    def __init__(self, sheet: NDArray[np.float64], vector: NDArray[np.float64], offset: NDArray[np.float64]) -> None:
        self.time, self.space = sheet[:, :1], sheet[:, 1:]
        self.factor = np.maximum(np.linalg.norm(vector, axis=1), np.finfo(float).tiny)
        self.unit = vector / self.factor[:, None]
        self.cosh, self.sinh = np.cosh(offset), np.sinh(offset)
        self.along = self.space @ self.unit.T
        self.height = self.cosh * self.along - self.sinh * self.time
        self.distance = np.arcsinh(self.height)
        self.logits = self.factor * self.distance

    def gradient(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over the points of weight (n, k) times the derivatives of the logits by v and t, (k, d + 1).

        Along v the factor grows, across it the plane turns.
        """
        slope = weight / np.sqrt(1.0 + np.square(self.height))
        turned = slope * self.cosh
        along_v = (weight * self.distance - turned * self.along).sum(axis=0)
        by_offset = self.factor * (slope * (self.sinh * self.along - self.cosh * self.time)).sum(axis=0)
        return np.column_stack([turned.T @ self.space + along_v[:, None] * self.unit, by_offset])
