"""k-dilation: the radius is multiplied, the direction kept, clamps counted.

Tolerance in the ball: storing the result moves its radius by up to 3 `radius_resolution`s, i.e. 3 · 2^-54 e^r.
That is 1e-12 of the radius at radius 11 and 4e-11 at radius 15. Storing alone costs half a resolution, so no formula
reaches 1e-12 at radius 15 with float64 ball coordinates. The hyperboloid keeps 1e-13 at every radius.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry import oracle
from tests.geometry.samples import U, ball_pairs, ball_points
from treeball import limits
from treeball.geometry import lorentz, poincare
from treeball.geometry._float64 import FloatArray
from treeball.geometry.dilation import dilate_ball, dilate_hyperboloid

factors = st.floats(0.05, 8.0)


def relative_storage_error(radius: float) -> float:
    return 8 * U + 3 * limits.radius_resolution(radius) / max(radius, 1e-300)


@given(ball_points(15.0), factors)
def test_ball_radius_is_multiplied_and_direction_kept(points: FloatArray, factor: float) -> None:
    before = poincare.radius(points)
    factor = min(factor, 15.0 / max(before.max(), 1e-300))
    dilated, clamped = dilate_ball(points, factor)
    assert clamped == 0
    for x, y, r, k_r in zip(points, dilated, before, poincare.radius(dilated), strict=True):
        if not x.any():
            assert not y.any()
            continue
        allowed = relative_storage_error(factor * r)
        assert abs(k_r - factor * r) <= allowed * factor * r
        if 1e-3 < factor * r <= 10.0:
            assert abs(k_r - factor * r) <= 1e-12 * factor * r
        size = np.max(np.abs(x))
        if size > 1e-280:  # coordinates below 1e-300 are nearly subnormal and have few bits
            np.testing.assert_allclose(y / np.max(np.abs(y)), x / size, rtol=8 * U, atol=1e-300 / size)


@given(ball_points(15.0), factors)
def test_hyperboloid_radius_is_multiplied_to_1e12_everywhere(points: FloatArray, factor: float) -> None:
    x = lorentz.from_ball(points)
    dilated, clamped = dilate_hyperboloid(x, factor)
    assert clamped == 0
    np.testing.assert_allclose(lorentz.radius(dilated), factor * lorentz.radius(x), rtol=1e-13, atol=1e-300)
    cosine = np.sum(dilated[:, 1:] * x[:, 1:], axis=-1)
    sizes = np.linalg.norm(dilated[:, 1:], axis=-1) * np.linalg.norm(x[:, 1:], axis=-1)
    np.testing.assert_allclose(cosine, sizes, rtol=16 * U, atol=1e-300)


def test_two_dilation_has_its_closed_form() -> None:
    """k = 2 is 2x / (1 + |x|²), and k = 3, by the addition theorem of tanh, x (3 + |x|²) / (1 + 3 |x|²)."""
    for dim in (2, 10, 128):
        x = ball_pairs(dim)["anywhere"][0]
        x = x[poincare.radius(x) <= 10.0]
        square = np.sum(x * x, axis=-1, keepdims=True)
        for factor, want in ((2.0, 2 * x / (1 + square)), (3.0, x * (3 + square) / (1 + 3 * square))):
            got, _ = dilate_ball(x, factor, max_radius=36.0)
            assert np.all(np.linalg.norm(got - want, axis=-1) <= 8 * U * np.linalg.norm(want, axis=-1))


@pytest.mark.parametrize("factor", [0.1, 0.5, 1.0, 1.7, 2.0])
def test_ball_matches_the_oracle_over_all_radii(factor: float) -> None:
    """The wanted radius k r is accurate to the gap's error (see test_poincare), storing it costs 3 resolutions."""
    for dim in (2, 17):
        x = ball_pairs(dim)["anywhere"][0]
        x = x[factor * poincare.radius(x) <= 34.0]
        for point, got in zip(x, dilate_ball(x, factor, max_radius=36.0)[0], strict=True):
            wanted = factor * 2 * mpmath.atanh(oracle.norm(oracle.exact(point)))
            stored = 2 * mpmath.atanh(oracle.norm(oracle.exact(got)))
            allowed = relative_storage_error(float(wanted)) * float(wanted)
            allowed += factor * 2.0**-77 / float(oracle.ball_gap(oracle.exact(point)))
            assert abs(float(stored - wanted)) <= allowed


def test_contraction_undoes_dilation() -> None:
    rng = np.random.default_rng(0)
    x = poincare.from_radius(rng.normal(size=(100, 5)), rng.uniform(0.0, 6.0, 100))
    there, _ = dilate_ball(x, 2.5)
    back, _ = dilate_ball(there, 1 / 2.5)
    assert np.all(poincare.distance(back, x) <= 8 * limits.radius_resolution(15.0))


def test_clamped_points_are_counted_and_stay_inside() -> None:
    x = poincare.from_radius(np.eye(4), np.array([1.0, 10.0, 16.0, 29.0]))
    dilated, clamped = dilate_ball(x, 2.0)
    assert clamped == 2
    np.testing.assert_allclose(poincare.radius(dilated), [2.0, 20.0, 30.0, 30.0], rtol=2e-4)
    assert poincare.project(dilated)[1] == 0
    dilated, clamped = dilate_ball(x, 2.0, max_radius=limits.PUBLISHED_RADIUS)
    assert clamped == 3
    np.testing.assert_allclose(poincare.radius(dilated)[1:], limits.PUBLISHED_RADIUS, rtol=1e-9)
    h, clamped = dilate_hyperboloid(lorentz.from_radius(np.eye(3), np.array([1.0, 100.0, 300.0])), 3.0)
    assert clamped == 1
    np.testing.assert_allclose(lorentz.radius(h), [3.0, 300.0, limits.HYPERBOLOID_RADIUS], rtol=1e-13)


@pytest.mark.parametrize("factor", [0.0, -2.0, np.nan, np.inf])
def test_impossible_factors_are_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="factor"):
        dilate_ball(np.zeros((1, 2)), factor)
    with pytest.raises(ValueError, match="factor"):
        dilate_hyperboloid(lorentz.origin(2), factor)
