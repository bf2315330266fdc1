"""Estimators on points of the ball: against naive ones, gradients against differences, conventions of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

import treeball
from treeball import InputError
from treeball.geometry import poincare
from treeball.geometry.models import ball_to_hyperboloid

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from treeball.sklearn import HyperbolicKMeans, HyperbolicLogisticRegression, HyperbolicNeighborsClassifier
from treeball.sklearn.kmeans import _centre
from treeball.sklearn.logistic import _Planes

ESTIMATORS = [HyperbolicNeighborsClassifier(3), HyperbolicLogisticRegression(), HyperbolicKMeans(3, random_state=0)]


def points(n, dim=3, largest=6.0, seed=0):
    rng = np.random.default_rng(seed)
    return poincare.from_radius(rng.normal(size=(n, dim)), rng.uniform(0, largest, n))


@pytest.fixture(scope="module")
def branches():
    """Points of a constructed tree, and the branch below the root that each is in."""
    edges = [(f"{b}", "root") for b in range(4)]
    edges += [(f"{b}.{i}", f"{b}") for b in range(4) for i in range(12)]
    edges += [(f"{b}.{i}.{j}", f"{b}.{i}") for b in range(4) for i in range(12) for j in range(3)]
    model = treeball.fit(edges, dim=3, seed=0)
    kept = [i for i, name in enumerate(model.names) if name != "root"]
    return model.ball()[kept], np.array([str(model.names[i]).split(".")[0] for i in kept])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_are_the_nearest(weights):
    X, y, asked = points(200), np.arange(200) % 3, points(40, seed=1)
    model = HyperbolicNeighborsClassifier(7, weights=weights).fit(X, y)
    distances, rows = model.kneighbors(asked)
    every = poincare.distance(asked[:, None], X)
    np.testing.assert_array_equal(rows, np.argsort(every, axis=1)[:, :7])
    np.testing.assert_allclose(distances, np.sort(every, axis=1)[:, :7], rtol=1e-9)
    votes = np.zeros((40, 3))
    for i, j in np.ndindex(40, 7):
        votes[i, y[rows[i, j]]] += 1.0 if weights == "uniform" else 1.0 / distances[i, j]
    np.testing.assert_allclose(model.predict_proba(asked), votes / votes.sum(1, keepdims=True))
    np.testing.assert_array_equal(model.predict(asked), votes.argmax(1))


def test_a_point_that_fit_has_seen_is_of_its_class():
    X, y = points(50), np.arange(50) % 5
    assert HyperbolicNeighborsClassifier(9, weights="distance").fit(X, y).score(X, y) == 1.0


def test_logits_are_factors_times_signed_distances_from_hyperplanes():
    sheet = ball_to_hyperboloid(points(6))
    vector, offset = np.array([[0.5, 1.0, -2.0]]), np.array([0.7])
    logits = _Planes(sheet, vector, offset).logits[:, 0]
    unit = vector[0] / np.linalg.norm(vector[0])
    foot = np.concatenate([[np.cosh(0.7)], np.sinh(0.7) * unit])  # the plane goes through it
    normal = np.concatenate([[np.sinh(0.7)], np.cosh(0.7) * unit])
    basis = np.linalg.svd(unit[None])[2][1:]
    for x, logit in zip(sheet, logits, strict=True):

        def way(free, x=x):
            spot = np.concatenate([[0.0], free @ basis])
            spot = spot + np.sqrt(1.0 + spot @ spot) * foot
            return np.arccosh(max(1.0, x[0] * spot[0] - x[1:] @ spot[1:]))

        nearest = min(
            minimize(way, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}).fun
            for start in (np.zeros(2), np.ones(2))
        )
        assert abs(logit) == pytest.approx(np.linalg.norm(vector) * nearest, rel=1e-4)
        assert np.sign(logit) == np.sign(x[1:] @ normal[1:] - x[0] * normal[0])


def test_derivatives_of_logits():
    sheet, rng = ball_to_hyperboloid(points(5)), np.random.default_rng(0)

    weight = rng.normal(size=(5, 2))

    def value(flat):
        found = flat.reshape(2, 4)
        return (weight * _Planes(sheet, found[:, :3], found[:, 3]).logits).sum()

    def gradient(flat):
        found = flat.reshape(2, 4)
        return _Planes(sheet, found[:, :3], found[:, 3]).gradient(weight).ravel()

    for _ in range(5):
        assert check_grad(value, gradient, rng.normal(size=8)) < 1e-3


def test_logistic_regression_finds_a_plane_that_misses_the_origin():
    X = points(400, dim=2, largest=4.0)
    sheet = ball_to_hyperboloid(X)
    y = np.where(np.cosh(1.2) * sheet[:, 1] - np.sinh(1.2) * sheet[:, 0] > 0, "beyond", "here")
    model = HyperbolicLogisticRegression(C=1e4, max_iter=2000).fit(X, y)
    assert model.score(X, y) > 0.99
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert list(model.classes_) == ["beyond", "here"]


def test_branches_of_a_tree_are_told_apart(branches):
    X, y = branches
    assert cross_val_score(HyperbolicNeighborsClassifier(3), X, y, cv=4).mean() > 0.95
    assert cross_val_score(HyperbolicLogisticRegression(C=10.0), X, y, cv=4).mean() > 0.95
    clusters = HyperbolicKMeans(4, random_state=0).fit(X)
    assert len(np.unique(clusters.labels_)) == 4


@pytest.mark.parametrize("radius", [0.5, 10.0, 28.0])
def test_a_centre_has_the_least_sum_and_one_point_is_its_own(radius):
    spot = poincare.from_radius(np.array([1.0, 2.0, 3.0]), radius)
    np.testing.assert_allclose(poincare.distance(_centre(spot[None], spot), spot), 0.0, atol=1e-9)
    around = poincare.mobius_add(spot, points(20, largest=1.0))
    centre = _centre(around, around[0])

    def total(at):
        return np.square(np.sinh(0.5 * poincare.distance(around, at))).sum()

    least = total(centre)
    for way in np.vstack([np.eye(3), -np.eye(3)]):
        assert total(poincare.mobius_add(centre, 1e-2 * way)) > least


def test_k_means_gets_better_until_it_stays():
    X = points(300)
    found = HyperbolicKMeans(5, random_state=0).fit(X)
    assert found.inertia_ < HyperbolicKMeans(5, n_init=1, max_iter=1, random_state=0).fit(X).inertia_ * (1 + 1e-12)
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    np.testing.assert_array_equal(found.transform(X).argmin(axis=1), found.labels_)
    again = HyperbolicKMeans(5, random_state=0).fit(X)
    np.testing.assert_array_equal(again.cluster_centers_, found.cluster_centers_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_they_are_estimators_and_refuse_what_are_no_points(estimator):
    X, y = points(30), np.arange(30) % 3
    assert clone(estimator).get_params() == estimator.get_params()
    fitted = clone(estimator).fit(X, y)
    assert fitted.predict(X[:4]).shape == (4,)
    outside = X.copy()
    outside[3] = 2.0
    with pytest.raises(InputError, match="row 3 lies outside the ball"):
        clone(estimator).fit(outside, y)
    with pytest.raises(InputError, match="have 2 coordinates, and those of fit had 3"):
        fitted.predict(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(np.full((1, 3), np.nan))


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (HyperbolicNeighborsClassifier(31), "n_neighbors must be from 1 to the 30 points"),
        (
            HyperbolicNeighborsClassifier(3, weights="near"),  # type: ignore[arg-type]
            "weights must be uniform or distance",
        ),
        (HyperbolicLogisticRegression(C=0), "C must be a positive number"),
        (HyperbolicKMeans(0), "n_clusters must be from 1"),
    ],
)
def test_settings_are_checked(estimator, said):
    with pytest.raises(InputError, match=said):
        estimator.fit(points(30), np.arange(30) % 3)
