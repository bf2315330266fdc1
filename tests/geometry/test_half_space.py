"""The half-space in several terms, against the textbook in 120 digits, where float64 has long ended."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from treeball.engine.cpu import half_space as kernels
from treeball.geometry import half_space, models, poincare, terms
from treeball.limits import PLACED_RADIUS

mpmath.mp.dps = 120


def walked(count: int, dim: int, radius: float, nodes: int = 12, seed: int = 0):
    """Points about `radius` out, reached in some steps from the origin."""
    rng = np.random.default_rng(seed)
    points = np.repeat(half_space.origin(dim, count)[:, None], nodes, axis=1)
    for _ in range(8):
        way = rng.normal(size=(nodes, dim))
        way[:, -1] -= 1.0
        points = half_space.put(points, way / np.linalg.norm(way, axis=1, keepdims=True), np.full(nodes, radius / 8))
    return points, rng


def exact(point):
    return [sum(mpmath.mpf(float(term)) for term in point[:, k]) for k in range(point.shape[1])]


def distance(p, q):
    x, y = exact(p), exact(q)
    return 2 * mpmath.asinh(mpmath.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (4 * x[-1] * y[-1])))


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize(("count", "radius"), [(2, 60.0), (4, 100.0), (4, 130.0)])
def test_distances_far_out_have_25_digits(count, radius, dim):
    points, rng = walked(count, dim, radius)
    assert half_space.radius(points).max() > 0.9 * radius
    way = rng.normal(size=points.shape[1:])
    near = half_space.put(points, way / np.linalg.norm(way, axis=1, keepdims=True), 10.0 ** rng.uniform(-3, 1, 12))
    order = np.arange(12)
    for others in (near, points[:, rng.permutation(12)]):
        expected = [distance(points[:, i], others[:, i]) for i in range(12)]
        compiled, plain = np.empty((2, 12)), np.empty(12)
        kernels.pair_distances(points, others, order, order, compiled)
        kernels.rounded_distances(points, others, order, order, plain)
        for found in (half_space.distance(points, others), compiled):
            for i, right in enumerate(expected):
                value = mpmath.mpf(float(found[0, i])) + mpmath.mpf(float(found[1, i]))
                assert abs(value - right) <= right * mpmath.mpf("1e-25")
        np.testing.assert_allclose(plain, [float(right) for right in expected], rtol=4e-15)


@pytest.mark.parametrize(("count", "radius"), [(2, 60.0), (4, 125.0)])
def test_a_point_lies_where_it_was_put(count, radius):
    points, rng = walked(count, 3, radius)
    way = rng.normal(size=(12, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    length = rng.uniform(0.5, 5.0, 12)
    children = half_space.put(points, way, length)
    assert not half_space.wrong(children)
    np.testing.assert_allclose(half_space.distance(points, children)[0], length, rtol=1e-4)
    np.testing.assert_allclose(half_space.direction(points, children), way, atol=1e-3)
    everybody, scratch = np.concatenate([points, children], axis=1), np.empty(2 * count)
    again = np.concatenate([points, np.zeros_like(children)], axis=1)
    for i in range(12):
        seen = np.empty(3)
        assert kernels.direction_to(everybody, i, 12 + i, seen)
        np.testing.assert_allclose(seen, half_space.direction(points, children)[i], atol=1e-12)
        kernels.put(again, i, way[i], length[i], 12 + i, scratch)
    np.testing.assert_allclose(half_space.distance(again[:, 12:], children)[0], 0.0, atol=1e-3)


def test_near_the_origin_it_is_the_ball():
    points, _ = walked(2, 3, 6.0)
    vectors, held = half_space.rounded_to_ball(points)
    assert held == 0
    np.testing.assert_allclose(models.half_space_to_ball(terms.rounded(points)), vectors)
    np.testing.assert_allclose(poincare.radius(vectors), half_space.radius(points), rtol=1e-12)
    np.testing.assert_allclose(
        poincare.distance(vectors[0], vectors[1:]), half_space.distance(points[:, :1], points[:, 1:])[0], rtol=1e-10
    )
    coordinates, factor = half_space.ranking_coordinates(points)
    gap = terms.rounded(terms.difference(coordinates[:, :1], coordinates[:, 1:]))
    key = np.sqrt(np.square(gap).sum(axis=1) * factor[0] * factor[1:])
    np.testing.assert_allclose(2 * np.arcsinh(key), half_space.distance(points[:, :1], points[:, 1:])[0], rtol=1e-13)


def test_beyond_the_ball_the_rounded_vector_is_held_and_counted():
    points, _ = walked(2, 2, 60.0)
    vectors, held = half_space.rounded_to_ball(points)
    assert held == 12
    np.testing.assert_allclose(poincare.radius(vectors), PLACED_RADIUS, atol=0.1)


def test_what_is_no_point_is_told():
    points, _ = walked(2, 2, 10.0)
    assert half_space.wrong(points) == ""
    assert "shape" in half_space.wrong(points[0])
    for place, value, word in (((0, 3, 1), -1.0, "height"), ((0, 2, 0), np.nan, "finite"), ((1, 2, 0), 1.0, "small")):
        spoilt = points.copy()
        spoilt[place] = value
        assert word in half_space.wrong(spoilt)
