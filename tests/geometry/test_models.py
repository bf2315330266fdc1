"""Conversions between the models: round trips, and each model's own distance formula as an independent judge."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tests.geometry import oracle
from tests.geometry.samples import RADII, U, ball_pairs, every_dimension, hyperboloid_pairs
from treeball.geometry import models, poincare


@every_dimension
def test_hyperboloid_coordinates_match_the_oracle(dim: int) -> None:
    for x in ball_pairs(dim)["anywhere"]:
        for point, got in zip(x, poincare.to_hyperboloid(x), strict=True):
            exact = oracle.exact(point)
            a = oracle.ball_gap(exact)
            want = [(1 + oracle.dot(exact, exact)) / a, *oracle.times(2 / a, exact)]
            assert oracle.vector_error(got, want) <= 4 * U + 2.0**-77 / float(a)


@every_dimension
def test_round_trips(dim: int) -> None:
    """Each step is a few roundings of every coordinate, so the ball coordinates return to within a few u."""
    for x in ball_pairs(dim)["anywhere"]:
        size = np.linalg.norm(x, axis=-1, keepdims=True)
        back = poincare.from_hyperboloid(poincare.to_hyperboloid(x))
        assert np.all(np.abs(back - x) <= 6 * U * size)
        back = poincare.from_half_space(poincare.to_half_space(x))
        assert np.all(np.abs(back - x) <= 16 * U)
        back = poincare.from_normal(poincare.to_normal(x))
        assert np.all(np.abs(back - x) <= 8 * U * size)


@every_dimension
def test_hyperboloid_and_half_space_match_the_oracle_and_each_other(dim: int) -> None:
    """The textbook quotient in 120 digits; backwards, a rounding of y moves X by that of its largest coordinates."""
    for x, _ in hyperboloid_pairs(dim).values():
        y = models.hyperboloid_to_half_space(x)
        for point, got in zip(x, y, strict=True):
            exact = oracle.lift(oracle.exact(point[1:]))
            want = oracle.times(1 / (exact[0] + exact[-1]), [*exact[1:-1], mpmath.mpf(1)])
            assert oracle.vector_error(got, want) <= 12 * U
            lifted = models.half_space_to_hyperboloid(got)
            y_exact = oracle.exact(got)
            height, flat = y_exact[-1], oracle.dot(y_exact[:-1], y_exact[:-1])
            ends = [(1 + height**2 + flat) / 2, *y_exact[:-1], (1 - height**2 - flat) / 2]
            assert oracle.vector_error(lifted, oracle.times(1 / height, ends)) <= 12 * U
            # Two steps of a few roundings of the largest coordinate each.
            assert np.all(np.abs(lifted - point) <= 32 * U * point[0])


def test_half_space_of_ball_and_hyperboloid_agree() -> None:
    x = ball_pairs(5)["anywhere"][1]
    np.testing.assert_allclose(
        models.hyperboloid_to_half_space(models.ball_to_hyperboloid(x)), models.ball_to_half_space(x), rtol=1e-3
    )


@every_dimension
def test_klein_round_trip_to_its_own_smaller_radius(dim: int) -> None:
    """1 - |k|² = 1 / cosh²(r), so a rounding of k moves x by u cosh(r): sixteen digits shrink to eight at radius 18."""
    x = ball_pairs(dim)["anywhere"][0][: RADII.index(15.0) + 1]
    back = poincare.from_klein(poincare.to_klein(x))
    assert np.all(np.linalg.norm(back - x, axis=-1) <= 4 * U * np.cosh(poincare.radius(x)))


@pytest.mark.parametrize("dim", [2, 5, 64])
def test_half_space_has_the_same_distances(dim: int) -> None:
    """cosh d = 1 + |y - y'|² / (2 h h'), in 120 digits on the converted coordinates, for points that are apart."""
    u, v = ball_pairs(dim)["anywhere"]
    heights = poincare.to_half_space(u)[:, -1]
    assert np.all(heights > 0.0)
    for p, q, x, y in zip(u, v, poincare.to_half_space(u), poincare.to_half_space(v), strict=True):
        first, second = oracle.exact(x), oracle.exact(y)
        way = oracle.minus(first, second)
        d = mpmath.acosh(1 + oracle.dot(way, way) / (2 * first[-1] * second[-1]))
        assert oracle.relative_error(float(poincare.distance(p, q)), d) <= 1e-12
    np.testing.assert_array_equal(poincare.to_half_space(np.zeros(dim)), np.eye(dim)[-1])


def test_klein_has_the_same_distances_and_straight_geodesics() -> None:
    rng = np.random.default_rng(0)
    u, v = poincare.from_radius(rng.normal(size=(2, 50, 4)), rng.uniform(0.1, 5.0, (2, 50)))
    k, m = poincare.to_klein(u), poincare.to_klein(v)
    gap_k, gap_m = 1 - np.sum(k * k, -1), 1 - np.sum(m * m, -1)
    np.testing.assert_allclose(
        np.arccosh((1 - np.sum(k * m, -1)) / np.sqrt(gap_k * gap_m)), poincare.distance(u, v), rtol=1e-9
    )
    middle = poincare.to_klein(poincare.geodesic(u, v, 0.37))
    share = np.sum((middle - k) * (m - k), -1) / np.sum((m - k) ** 2, -1)
    np.testing.assert_allclose(middle, k + share[:, None] * (m - k), atol=1e-14)


def test_normal_coordinates_have_the_radius_as_norm() -> None:
    x = ball_pairs(7)["anywhere"][0]
    v = poincare.to_normal(x)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-1), poincare.radius(x), rtol=8 * U)
    np.testing.assert_allclose(v, 2.0 * poincare.log_map(np.zeros(7), x), rtol=16 * U, atol=1e-300)
