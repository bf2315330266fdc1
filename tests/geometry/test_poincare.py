"""The ball against 120-digit arithmetic, its isometries, maps and limits.

Tolerances. The coordinates are exact inputs, so only the arithmetic counts. With u = 2^-53:

* u - v is a difference of inputs (one rounding a coordinate) and its norm a sum of positive terms: a few u, relative.
* The gap a = 1 - |x|² has an absolute error of at most (d/8 + 5) u 2^-26 sqrt(d) by the worst-case analysis
  of its second sum. Roundings average out and we hold it to 2^-77 in every dimension.
* Everything else is products, quotients and square roots of these: a few u more. Hence GAP / a + 16 u, relative.
* d = 2 arsinh(sqrt q) damps a relative error of q by tanh(d/2) / d <= 1/2.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from tests.geometry import oracle
from tests.geometry.samples import RADII, U, ball_pairs, ball_points, every_dimension
from treeball import limits
from treeball.geometry import poincare
from treeball.geometry._float64 import FloatArray

GAP = 2.0**-77


def tolerance(*points: FloatArray) -> float:
    return 16 * U + sum(GAP / float(oracle.ball_gap(oracle.exact(x))) for x in points)


@every_dimension
def test_gap_and_radius_match_the_oracle(dim: int) -> None:
    for x, _ in ball_pairs(dim).values():
        for point, gap, radius in zip(x, poincare.one_minus_square(x), poincare.radius(x), strict=True):
            exact = oracle.exact(point)
            assert oracle.relative_error(gap, oracle.ball_gap(exact)) <= tolerance(point)
            assert oracle.relative_error(radius, 2 * mpmath.atanh(oracle.norm(exact))) <= tolerance(point)


def test_naive_gap_would_fail_where_ours_holds() -> None:
    """The test above has teeth: at radius 34 the textbook 1 - sum(x²) is off by more than a part in a thousand."""
    x = ball_pairs(10)["anywhere"][0][-1]
    exact = oracle.ball_gap(oracle.exact(x))
    assert oracle.relative_error(1.0 - np.sum(x * x), exact) > 1e-3
    assert oracle.relative_error(float(poincare.one_minus_square(x)), exact) < 1e-8


@every_dimension
def test_distances_match_the_oracle(dim: int) -> None:
    for name, (u, v) in ball_pairs(dim).items():
        got = zip(
            u,
            v,
            poincare.distance(u, v),
            poincare.surrogate(u, v),
            poincare.exp_minus_distance(u, v),
            strict=True,
        )
        for x, y, distance, q, similarity in got:
            want = oracle.ball_distance(oracle.exact(x), oracle.exact(y))
            allowed = tolerance(x, y)
            assert oracle.relative_error(distance, want) <= allowed, name
            assert oracle.relative_error(q, mpmath.sinh(want / 2) ** 2) <= allowed, name
            assert oracle.relative_error(similarity, mpmath.exp(-want)) <= allowed, name


def test_distance_reaches_1e12_and_better_up_to_radius_15() -> None:
    """The bound in round numbers: what a user may rely on."""
    worst = dict.fromkeys(RADII, 0.0)
    for x_all, y_all in ball_pairs(10).values():
        for radius, x, y, d in zip(RADII, x_all, y_all, poincare.distance(x_all, y_all), strict=True):
            if poincare.radius(y) <= radius + 0.6:
                error = oracle.relative_error(d, oracle.ball_distance(oracle.exact(x), oracle.exact(y)))
                worst[radius] = max(worst[radius], error)
    assert max(error for radius, error in worst.items() if radius <= 20) < 2e-15
    assert worst[25.0] < 1e-13
    assert worst[30.0] < 2e-11
    assert worst[34.0] < 1e-9


@every_dimension
def test_gradient_and_log_map_match_the_oracle(dim: int) -> None:
    for name, (u, v) in ball_pairs(dim).items():
        gradients, logs = poincare.distance_gradient(u, v), poincare.log_map(u, v)
        for x, y, gradient, log in zip(u, v, gradients, logs, strict=True):
            if np.array_equal(x, y):
                assert not gradient.any(), name
                assert not log.any(), name
                continue
            exact_x, exact_y = oracle.exact(x), oracle.exact(y)
            assert oracle.vector_error(gradient, oracle.ball_gradient(exact_x, exact_y)) <= tolerance(x, y), name
            assert oracle.vector_error(log, oracle.ball_log(exact_x, exact_y)) <= tolerance(x, y), name


@pytest.mark.parametrize("radius", [0.3, 5.0, 20.0, 30.0])
def test_gradient_is_the_derivative_of_the_distance(radius: float) -> None:
    """Numerical differentiation in 120 digits, which knows no formula: D_e d = <grad, e> 4 / a²."""
    rng = np.random.default_rng(1)
    u = poincare.from_radius(rng.normal(size=4), radius)
    v = poincare.from_radius(rng.normal(size=4), 0.9 * radius)
    gradient = oracle.exact(poincare.distance_gradient(u, v))
    exact_u, exact_v = oracle.exact(u), oracle.exact(v)
    for _ in range(3):
        e = oracle.exact(rng.normal(size=4))
        step = mpf(10) ** -35
        ahead = oracle.ball_distance(oracle.plus(exact_u, oracle.times(step, e)), exact_v)
        behind = oracle.ball_distance(oracle.minus(exact_u, oracle.times(step, e)), exact_v)
        slope = (ahead - behind) / (2 * step)
        scale = 4 / oracle.ball_gap(exact_u) ** 2
        error = abs(oracle.dot(gradient, e) * scale - slope) / (scale * oracle.norm(gradient) * oracle.norm(e))
        assert float(error) <= tolerance(u, v)


def test_gradient_has_riemannian_length_one() -> None:
    u, v = ball_pairs(5)["half a unit apart"]
    np.testing.assert_allclose(poincare.tangent_norm(u, poincare.distance_gradient(u, v)), 1.0, rtol=1e-15 * 4)


@every_dimension
def test_mobius_addition_and_recentring_match_the_oracle(dim: int) -> None:
    """Addition ends in a rounding of coordinates, so its error is counted in units of u; recentring is relative."""
    for name, (u, v) in ball_pairs(dim).items():
        sums, moved = poincare.mobius_add(u, v), poincare.recentre(v, u)
        for x, y, total, seen in zip(u, v, sums, moved, strict=True):
            exact_x, exact_y = oracle.exact(x), oracle.exact(y)
            size = max(np.linalg.norm(x), np.linalg.norm(y))
            error = oracle.norm(oracle.minus(oracle.exact(total), oracle.mobius_add(exact_x, exact_y)))
            assert float(error) <= 4 * U * size, name
            if poincare.radius(x) >= max(5.0, float(poincare.radius(y)) - 0.6) and name != "opposite":
                # Near the rim the displacement is small, and what remains is the rounding of x + displacement.
                assert float(error) <= U, name
            want = oracle.mobius_add(oracle.times(mpf(-1), exact_x), exact_y)
            assert oracle.vector_error(seen, want) <= tolerance(x, y), name


@every_dimension
def test_geodesic_points_match_the_oracle(dim: int) -> None:
    for name, (u, v) in ball_pairs(dim).items():
        for fraction in (0.0, 0.3, 1.0):
            for x, y, point in zip(u, v, poincare.geodesic(u, v, fraction), strict=True):
                exact_x, exact_y = oracle.exact(x), oracle.exact(y)
                want = oracle.ball_geodesic(exact_x, exact_y, mpf(fraction))
                error = oracle.norm(oracle.minus(oracle.exact(point), want))
                # Its position along the way depends on the gaps: an error of GAP / a moves it by as much.
                slack = float(oracle.ball_gap(want)) * (tolerance(x, y) - 16 * U)
                assert float(error) <= 8 * U * max(np.linalg.norm(x), np.linalg.norm(y)) + slack, name


@every_dimension
@pytest.mark.parametrize("length", [1e-9, 0.5, 5.0])
def test_exp_map_matches_the_oracle(dim: int, length: float) -> None:
    """A rounding of the direction turns the walk by u and moves its end by u sinh(length)."""
    rng = np.random.default_rng(dim)
    x = poincare.from_radius(rng.normal(size=(len(RADII), dim)), np.array(RADII))
    heading = rng.normal(size=x.shape)
    v = heading / np.linalg.norm(heading, axis=-1, keepdims=True)
    v *= length / 2 * poincare.one_minus_square(x)[:, None]
    for at, tangent, end in zip(x, v, poincare.exp_map(x, v), strict=True):
        want = oracle.ball_exp(oracle.exact(at), oracle.exact(tangent))
        error = float(oracle.norm(oracle.minus(oracle.exact(end), want)))
        moved = 4 * U * np.sinh(length) + length * (tolerance(at) - 16 * U)
        assert error <= 4 * U * np.linalg.norm(end) + float(oracle.ball_gap(want)) * moved


@given(ball_points(8.0))
def test_isometries_preserve_distances(points: FloatArray) -> None:
    at, x, y = points
    before = poincare.distance(x, y)
    for move in (poincare.recentre([x, y], at), poincare.mobius_add(at, [x, y])):
        # Each image has an error of a few u in its coordinates: so many resolutions at its own radius.
        allowed = sum(8 * limits.radius_resolution(r) for r in poincare.radius(move)) + 16 * U * before
        assert abs(poincare.distance(move[0], move[1]) - before) <= allowed


@given(ball_points(8.0))
def test_recentring_is_undone_by_addition(points: FloatArray) -> None:
    at, x, _ = points
    seen = poincare.recentre(x, at)
    back = poincare.mobius_add(at, seen)
    # The image is stored to its own resolution, the way back to that of x.
    allowed = sum(4 * limits.radius_resolution(float(poincare.radius(p))) for p in (seen, back))
    assert poincare.distance(back, x) <= allowed
    assert not poincare.recentre(at, at).any()
    np.testing.assert_allclose(poincare.mobius_add(at, poincare.mobius_neg(at)), 0.0, atol=4 * U)


@given(ball_points(6.0))
def test_exp_and_log_undo_each_other(points: FloatArray) -> None:
    x, y, _ = points
    length = float(poincare.distance(x, y))
    reach = 8 * U * np.exp(length) + 8 * limits.radius_resolution(float(poincare.radius(y)))
    end = poincare.exp_map(x, poincare.log_map(x, y))
    assert poincare.distance(end, y) <= reach
    again = poincare.log_map(x, end)
    difference = poincare.tangent_norm(x, again - poincare.log_map(x, y))
    assert difference <= 2 * reach + 16 * U * length
    np.testing.assert_allclose(poincare.tangent_norm(x, poincare.log_map(x, y)), length, rtol=16 * U)


@given(ball_points(12.0), st.floats(0.0, 1.0))
def test_geodesic_divides_the_distance(points: FloatArray, t: float) -> None:
    x, y, _ = points
    length, point = poincare.distance(x, y), poincare.geodesic(x, y, t)
    allowed = 8 * limits.radius_resolution(float(poincare.radius(point))) + 16 * U * length
    assert abs(poincare.distance(x, point) - t * length) <= allowed
    assert abs(poincare.distance(point, y) - (1 - t) * length) <= allowed


def test_geodesic_through_the_middle_is_where_exp_log_fails() -> None:
    x = poincare.from_radius([3.0, 4.0], 15.0)
    y = poincare.from_radius([-3.0, -4.0001], 15.0)
    for t, lost in ((0.5, 1e-11), (0.9, 1e-7)):
        want = oracle.ball_geodesic(oracle.exact(x), oracle.exact(y), mpf(t))
        ours = poincare.geodesic(x, y, t)
        by_maps = poincare.exp_map(x, t * poincare.log_map(x, y))
        assert float(oracle.ball_distance(oracle.exact(ours), want)) < 8 * limits.radius_resolution(15 * t)
        assert float(oracle.ball_distance(oracle.exact(by_maps), want)) > lost


def test_broadcasting_over_leading_axes() -> None:
    rng = np.random.default_rng(0)
    x = 0.1 * rng.normal(size=(4, 1, 3))
    y = 0.1 * rng.normal(size=(5, 3))
    assert poincare.distance(x, y).shape == (4, 5)
    for function in (poincare.distance_gradient, poincare.log_map, poincare.mobius_add, poincare.recentre):
        got = function(x, y)
        assert got.shape == (4, 5, 3)
        np.testing.assert_array_equal(got[2, 3], function(x[2, 0], y[3]))
    assert poincare.geodesic(x, y, np.linspace(0, 1, 5)).shape == (4, 5, 3)
    assert poincare.distance(x[0, 0].astype(np.float32), y).dtype == np.float64


@given(ball_points(30.0), st.floats(0.5, 30.0))
def test_project_moves_only_what_is_outside_and_only_once(points: FloatArray, limit: float) -> None:
    moved, count = poincare.project(points, limit)
    assert count == np.count_nonzero(poincare.one_minus_square(points) < limits.gap_from_radius(limit))
    again, more = poincare.project(moved, limit)
    assert more == 0
    np.testing.assert_array_equal(again, moved)
    inside = poincare.one_minus_square(points) >= limits.gap_from_radius(limit)
    np.testing.assert_array_equal(moved[inside], points[inside])
    # A hair inside, and no farther: 4 u by intent and 3 u of rounding, in Euclidean norm.
    hair = 8 * limits.radius_resolution(limit)
    assert np.all(poincare.radius(moved[~inside]) >= limit - hair)


def test_project_takes_back_points_that_left_the_ball() -> None:
    points = np.array([[0.6, 0.8], [3.0, -4.0], [1e200, 0.0], [0.0, 0.5], [np.nan, 0.0]])
    moved, count = poincare.project(points, 12.0)
    assert count == 3
    np.testing.assert_allclose(poincare.radius(moved[:3]), 12.0, rtol=1e-9)
    np.testing.assert_allclose(moved[1] / np.linalg.norm(moved[1]), [0.6, -0.8], rtol=1e-15)
    np.testing.assert_array_equal(moved[3], points[3])
    assert np.isnan(moved[4, 0])


@given(ball_points(30.0), st.floats(0.0, 30.0))
def test_from_radius_is_as_good_as_storage_allows(points: FloatArray, radius: float) -> None:
    """tanh, division, product and the rounding of each coordinate: under 6 u of the norm, 3 resolutions."""
    got = poincare.radius(poincare.from_radius(points, radius))
    wanted = np.where(points.any(axis=-1), radius, 0.0)
    assert np.all(np.abs(got - wanted) <= 3 * limits.radius_resolution(radius) + 4 * U * radius)


def test_tiny_points_do_not_vanish() -> None:
    x = np.array([3e-200, 4e-200])
    assert poincare.distance(x, [0.0, 0.0]) == pytest.approx(1e-199, rel=1e-15)
    assert poincare.radius(x) == pytest.approx(1e-199, rel=1e-15)
    np.testing.assert_allclose(poincare.distance_gradient(x, [0.0, 0.0]), [0.3, 0.4], rtol=1e-15)


@given(st.integers(0, 200), st.sampled_from([2, 3, 10]))
def test_the_inversion_of_the_appendix_is_an_isometry_that_brings_its_point_to_the_origin(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    at, x, y = poincare.from_radius(rng.normal(size=(3, dim)), rng.uniform(0.2, 4.0, 3))
    centre = at / (at @ at)
    assert centre @ centre - 1 == pytest.approx(np.linalg.norm(centre) * np.linalg.norm(centre - at), rel=1e-12)
    np.testing.assert_allclose(poincare.invert_to_origin(at, at), 0.0, atol=1e-13)
    moved = poincare.invert_to_origin(np.stack([x, y]), at)
    assert float(poincare.distance(*moved)) == pytest.approx(float(poincare.distance(x, y)), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(poincare.invert_to_origin(moved, at), np.stack([x, y]), atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(moved[0]), np.linalg.norm(poincare.recentre(x, at)), rtol=1e-9)
