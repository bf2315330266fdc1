"""The hyperboloid against 120-digit arithmetic on its space coordinates, taken as exact.

Tolerances. A float64 space coordinate of size sinh(r) is known to u sinh(r), so a point is known across its ray to
about u cosh(r) in hyperbolic distance (and along its ray to u). All functions are backward stable: they answer for
points moved by a small multiple of that. The multiples below are small whole numbers; measured ones are in
docs/numerics.md.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from tests.geometry import oracle
from tests.geometry.samples import RADII, U, ball_pairs, ball_points, every_dimension, hyperboloid_pairs
from treeball import limits
from treeball.geometry import lorentz, poincare
from treeball.geometry._float64 import FloatArray


def lift(point: FloatArray) -> oracle.Vector:
    return oracle.lift(oracle.exact(point[1:]))


def riemannian_length(at: oracle.Vector, space: oracle.Vector) -> float:
    """Length of the tangent vector at a point with a given space part, which need not fit the rounded time part."""
    time = oracle.dot(at[1:], space) / at[0]
    return float(mpmath.sqrt(oracle.dot(space, space) - time**2))


@every_dimension
def test_distance_matches_the_oracle(dim: int) -> None:
    for name, (x, y) in hyperboloid_pairs(dim).items():
        for a, b, got in zip(x, y, lorentz.distance(x, y), strict=True):
            want = oracle.lorentz_distance(lift(a), lift(b))
            if np.array_equal(a[1:], b[1:]):
                assert got == 0.0, name
                continue
            # Across the ray of the nearer point the error is of first order in u cosh(r) at worst.
            allowed = 16 * U + 2 * U * min(a[0], b[0])
            assert oracle.relative_error(got, want) <= allowed, name


def test_far_points_and_radii_lose_nothing_at_all() -> None:
    for dim in (2, 10, 128):
        pairs = hyperboloid_pairs(dim)
        for name in ("to the origin", "opposite"):
            x, y = pairs[name]
            for a, b, got in zip(x, y, lorentz.distance(x, y), strict=True):
                assert oracle.relative_error(got, oracle.lorentz_distance(lift(a), lift(b))) <= 4 * U
        x = pairs["anywhere"][0]
        for a, got in zip(x, lorentz.radius(x), strict=True):
            assert oracle.relative_error(got, mpmath.asinh(oracle.norm(oracle.exact(a[1:])))) <= 4 * U


def test_inner_product_fails_where_the_stable_form_holds() -> None:
    """Two points 0.5 apart at radius 20: the textbook arcosh(-<x,y>) is meaningless, ours has 8 digits."""
    x, y = (p[RADII.index(20.0)] for p in hyperboloid_pairs(5)["across by about 1"])
    want = oracle.lorentz_distance(lift(x), lift(y))
    with np.errstate(invalid="ignore"):
        textbook = float(np.arccosh(-lorentz.inner(x, y)))
    assert np.isnan(textbook) or oracle.relative_error(textbook, want) > 0.1
    assert oracle.relative_error(float(lorentz.distance(x, y)), want) < 1e-8
    assert limits.LORENTZ_INNER_RADIUS < 20.0


def test_a_drifted_time_coordinate_does_no_harm() -> None:
    x, y = hyperboloid_pairs(3)["across by about 1"]
    drifted = x.copy()
    drifted[:, 0] *= 1.01
    np.testing.assert_array_equal(lorentz.distance(drifted, y), lorentz.distance(x, y))
    np.testing.assert_array_equal(lorentz.project(drifted)[:, 1:], x[:, 1:])
    np.testing.assert_allclose(lorentz.project(drifted), x, rtol=4 * U)


@every_dimension
def test_gradient_and_log_map_match_the_oracle(dim: int) -> None:
    for name, (x, y) in hyperboloid_pairs(dim).items():
        gradients, logs = lorentz.distance_gradient(x, y), lorentz.log_map(x, y)
        for a, b, gradient, log in zip(x, y, gradients, logs, strict=True):
            at, to = lift(a), lift(b)
            if np.array_equal(a[1:], b[1:]):
                assert not gradient.any(), name
                assert not log.any(), name
                continue
            want = oracle.lorentz_gradient(at, to)
            error = riemannian_length(at, oracle.minus(oracle.exact(gradient[1:]), want[1:]))
            assert error <= 16 * U + 4 * U * a[0], name
            length = oracle.lorentz_distance(at, to)
            far = oracle.minus(oracle.exact(log[1:]), oracle.times(-length, want[1:]))
            assert riemannian_length(at, far) <= float(length) * (16 * U + 4 * U * a[0]), name


@pytest.mark.parametrize("radius", [0.3, 5.0, 15.0])
def test_gradient_is_the_derivative_of_the_distance(radius: float) -> None:
    """Along exp_x(t e) in 120 digits:  d/dt d = <grad, e>, for tangent vectors e."""
    rng = np.random.default_rng(2)
    x, y = lorentz.from_radius(rng.normal(size=(2, 4)), np.array([radius, 0.7 * radius]))
    at, to, gradient = lift(x), lift(y), oracle.exact(lorentz.distance_gradient(x, y))
    for _ in range(3):
        space = oracle.exact(rng.normal(size=4))
        e = [oracle.dot(at[1:], space) / at[0], *space]
        e = oracle.times(1 / mpmath.sqrt(oracle.lorentz_inner(e, e)), e)
        step = mpf(10) ** -30
        ahead = oracle.lorentz_distance(oracle.lorentz_exp(at, oracle.times(step, e)), to)
        behind = oracle.lorentz_distance(oracle.lorentz_exp(at, oracle.times(-step, e)), to)
        slope = (ahead - behind) / (2 * step)
        assert abs(float(oracle.lorentz_inner(gradient, e) - slope)) <= 16 * U * x[0] ** 2


@every_dimension
@pytest.mark.parametrize("length", [1e-6, 0.5, 3.0])
def test_exp_map_matches_the_oracle(dim: int, length: float) -> None:
    rng = np.random.default_rng(dim)
    x = lorentz.from_radius(rng.normal(size=(len(RADII), dim)), np.array(RADII))
    other = lorentz.from_radius(rng.normal(size=x[:, 1:].shape), rng.uniform(0.0, 30.0, len(RADII)))
    v = -length * lorentz.distance_gradient(x, other)
    lengths = lorentz.tangent_norm(x, v)
    for a, tangent, got_length, end in zip(x, v, lengths, lorentz.exp_map(x, v), strict=True):
        at, space = lift(a), oracle.exact(tangent[1:])
        exact_tangent = [oracle.dot(at[1:], space) / at[0], *space]
        want_length = mpmath.sqrt(oracle.lorentz_inner(exact_tangent, exact_tangent))
        assert oracle.relative_error(got_length, want_length) <= 16 * U + 2 * U * a[0]
        want = oracle.lorentz_exp(at, exact_tangent)
        error = oracle.lorentz_distance(lift(end), want)
        # cosh(L) x and sinh(L) v / L are rounded to u e^L cosh(r), whatever is left of them after walking inwards.
        assert float(error) <= 4 * U * (1 + a[0]) * np.exp(length)


@every_dimension
def test_recentring_matches_the_oracle(dim: int) -> None:
    for name, (p, x) in hyperboloid_pairs(dim).items():
        for at, point, moved in zip(p, x, lorentz.recentre(x, p), strict=True):
            if np.array_equal(point[1:], at[1:]):
                assert not moved[1:].any(), name
                continue
            want = oracle.lorentz_boost(lift(point), lift(at))[1:]
            assert oracle.vector_error(moved[1:], want) <= 16 * U + 8 * U * at[0], name


@given(ball_points(7.0))
def test_recentring_preserves_distances_and_is_undone(points: FloatArray) -> None:
    at, x, y = lorentz.from_ball(points)
    moved = lorentz.recentre([x, y], at)
    # Stored images are known to u cosh(r') across their rays.
    allowed = 16 * U * (moved[0, 0] + moved[1, 0] + at[0] * max(x[0], y[0]))
    assert abs(lorentz.distance(moved[0], moved[1]) - lorentz.distance(x, y)) <= allowed
    mirrored = at * np.where(np.arange(at.size) == 0, 1.0, -1.0)
    assert lorentz.distance(lorentz.recentre(moved[0], mirrored), x) <= allowed
    np.testing.assert_array_equal(lorentz.recentre(at, at), lorentz.origin(at.size - 1))


@pytest.mark.parametrize("dim", [2, 10])
def test_parallel_transport_matches_the_oracle_and_keeps_lengths(dim: int) -> None:
    rng = np.random.default_rng(dim)
    for name, (x, y) in hyperboloid_pairs(dim).items():
        z = lorentz.from_radius(rng.normal(size=x[:, 1:].shape), np.linspace(0.5, 5.0, len(x)))
        v = lorentz.distance_gradient(x, z)
        for a, b, tangent, got in zip(x, y, v, lorentz.parallel_transport(v, x, y), strict=True):
            at, to, space = lift(a), lift(b), oracle.exact(tangent[1:])
            exact_tangent = [oracle.dot(at[1:], space) / at[0], *space]
            want = oracle.lorentz_transport(exact_tangent, at, to)
            error = riemannian_length(to, oracle.minus(oracle.exact(got[1:]), want[1:]))
            assert error <= 16 * U + 8 * U * max(a[0], b[0]), name


@given(ball_points(6.0))
def test_transport_turns_the_way_there_into_the_way_on(points: FloatArray) -> None:
    x, y, _ = lorentz.from_ball(points)
    carried = lorentz.parallel_transport(lorentz.log_map(x, y), x, y)
    onwards = -lorentz.log_map(y, x)
    length = lorentz.distance(x, y)
    assert lorentz.tangent_norm(y, carried - onwards) <= 32 * U * (1 + length) * max(x[0], y[0])


@given(ball_points(6.0))
def test_exp_and_log_undo_each_other(points: FloatArray) -> None:
    x, y, _ = lorentz.from_ball(points)
    end = lorentz.exp_map(x, lorentz.log_map(x, y))
    assert lorentz.distance(end, y) <= 16 * U * x[0] * np.exp(lorentz.distance(x, y))


@every_dimension
def test_the_two_models_agree(dim: int) -> None:
    for name, (u, v) in ball_pairs(dim).items():
        x, y = lorentz.from_ball(u), lorentz.from_ball(v)
        nearer = np.minimum(x[:, 0], y[:, 0])
        # The conversion moves each point by its own resolution; near points feel it, far ones hardly.
        moved = 4 * U * (x[:, 0] + y[:, 0]) if "apart" in name or "neighbour" in name or "ray" in name else 0.0
        allowed = (16 * U + 4 * U * nearer + 1e-9) * poincare.distance(u, v) + moved
        assert np.all(np.abs(lorentz.distance(x, y) - poincare.distance(u, v)) <= allowed), name


@given(ball_points(300.0), st.floats(1.0, 300.0))
def test_clamp_moves_only_what_is_outside_and_only_once(points: FloatArray, limit: float) -> None:
    x = lorentz.from_radius(points, np.linspace(0.0, 340.0, 3))
    moved, count = lorentz.clamp(x, limit)
    assert count == np.count_nonzero(np.sinh(lorentz.radius(x)) > np.sinh(limit) * (1 + 1e-12))
    again, more = lorentz.clamp(moved, limit)
    assert more == 0
    np.testing.assert_array_equal(again, moved)
    assert np.all(lorentz.radius(moved) <= limit)


def test_origin_zero_vectors_and_shapes() -> None:
    o = lorentz.origin(3)
    np.testing.assert_array_equal(o, [1.0, 0.0, 0.0, 0.0])
    assert lorentz.distance(o, o) == 0.0
    np.testing.assert_array_equal(lorentz.exp_map(o, np.zeros(4)), o)
    np.testing.assert_array_equal(lorentz.from_radius(np.zeros(3), 5.0), o)
    x = lorentz.from_radius(np.eye(3), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(lorentz.recentre(x, o), x)
    assert lorentz.distance(x[:, None], x).shape == (3, 3)
    assert lorentz.recentre(x[:, None], x).shape == (3, 3, 4)
    tiny = lorentz.from_radius([3.0, 4.0], 1e-200)
    assert lorentz.distance(tiny, lorentz.origin(2)) == pytest.approx(1e-200, rel=1e-14)
    assert lorentz.distance(tiny, -tiny) == pytest.approx(2e-200, rel=1e-14)
