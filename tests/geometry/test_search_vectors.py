"""Polar coordinates and search vectors: distances from 4-byte numbers, and L2 that follows the hyperbolic distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry import oracle
from treeball.geometry import poincare, polar
from treeball.geometry.search_vectors import WAVES, search_vectors


def points(n, dim, radius, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, dim)), rng.uniform(0, radius, n)


@given(st.integers(1, 12), st.floats(0.01, 25), st.integers(0, 1000))
def test_polar_distances_are_those_of_the_ball(dim, radius, seed):
    directions, radii = points(12, dim, radius, seed)
    ball = poincare.from_radius(directions, radii)
    rows = polar.from_direction(ball, poincare.radius(ball))
    assert rows.shape == (12, 2 * dim + 1)
    far = poincare.distance(ball[:, None], ball[None])
    np.testing.assert_allclose(polar.distance(rows[:, None], rows[None]), far, rtol=1e-6, atol=1e-6)


def test_polar_distances_against_mpmath():
    directions, radii = points(6, 3, 20)
    ball = poincare.from_radius(directions, radii)
    rows = polar.from_direction(ball, poincare.radius(ball))
    for i in range(6):
        for j in range(i):
            exact = float(oracle.ball_distance(oracle.exact(ball[i]), oracle.exact(ball[j])))
            assert float(polar.distance(rows[i], rows[j])) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("radius", [1.0, 12.0, 20.0, 28.0])
def test_four_bytes_a_number_keep_near_nodes_apart_at_any_radius(radius):
    """Of neighbours one unit apart two float32 for a direction lose next to nothing, one loses all by radius 20."""
    rng = np.random.default_rng(1)
    centre = poincare.from_radius(rng.normal(size=(40, 5)), np.full(40, radius))
    near = poincare.mobius_add(centre, poincare.from_radius(rng.normal(size=(40, 5)), np.ones(40)))
    rows, others = (polar.from_direction(x, poincare.radius(x)).astype(np.float32) for x in (centre, near))
    np.testing.assert_allclose(polar.distance(rows, others), poincare.distance(centre, near), rtol=0.02)
    for part in (rows, others):
        part[:, 6:] = 0.0
    single = polar.distance(rows, others)
    assert (np.abs(single - 1.0) > 0.5).any() == (radius >= 20.0)


def test_the_origin_has_no_direction():
    rows = polar.from_direction(np.zeros((1, 3)), np.zeros(1))
    assert rows.tolist() == [[0.0] * 7]
    assert polar.direction(rows).tolist() == [[0.0] * 3]
    other = polar.from_direction(np.array([[1.0, 2.0, 3.0]]), np.array([4.0]))
    assert polar.distance(rows, other) == pytest.approx(4.0)


@pytest.mark.parametrize("dim", [2, 5, 10])
def test_l2_squared_follows_the_distance(dim):
    """Of points at radius 15 that are 0 to 12 apart, L2 squared grows with the distance, about one for one."""
    rng = np.random.default_rng(0)
    steps = np.arange(1.0, 13.0)
    centre = poincare.from_radius(rng.normal(size=dim), np.array(15.0))
    shifted = poincare.from_radius(rng.normal(size=(40, 12, dim)), np.broadcast_to(steps, (40, 12)))
    there = poincare.mobius_add(centre, shifted).reshape(-1, dim)
    ball = np.vstack([centre[None], there])
    rows = polar.from_direction(ball, poincare.radius(ball))
    vectors = search_vectors(polar.direction(rows), rows[:, 0])
    assert vectors.dtype == np.float32
    assert vectors.shape == (481, dim + WAVES)
    square = np.square(vectors[1:] - vectors[0]).sum(axis=1).reshape(40, 12).mean(axis=0)
    assert (np.diff(square) > 0).all()
    slope = np.polyfit(steps[3:], square[3:], 1)[0]
    assert 0.7 < slope < 1.3


def test_a_vector_depends_on_its_point_alone():
    directions, radii = points(50, 4, 20)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    whole = search_vectors(directions, radii)
    some = np.argsort(radii)[:20]  # the inner ones: fewer scales are needed, and those that are must be the same
    np.testing.assert_allclose(search_vectors(directions[some], radii[some]), whole[some], atol=1e-6)
    assert search_vectors(directions[:0], radii[:0]).shape == (0, 4 + WAVES)
