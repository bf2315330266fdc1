from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeball import limits
from treeball.geometry import poincare


def test_the_named_numbers_mean_what_they_say() -> None:
    assert np.finfo(np.float64).eps == 2 * limits.UNIT_ROUNDOFF
    assert pytest.approx(12.206, abs=5e-4) == limits.PUBLISHED_RADIUS
    assert poincare.radius([1.0 - limits.PUBLISHED_MARGIN, 0.0]) == pytest.approx(limits.PUBLISHED_RADIUS, rel=1e-11)
    assert limits.gap_from_radius(limits.BALL_RADIUS) == pytest.approx(3.7e-13, rel=0.02)
    assert limits.radius_resolution(limits.BALL_RADIUS) == pytest.approx(6e-4, rel=0.02)
    last_float = np.nextafter(1.0, 0.0)
    assert poincare.radius([last_float, 0.0]) == pytest.approx(limits.BALL_RADIUS_GONE, rel=1e-15)
    assert math.sinh(limits.HYPERBOLOID_RADIUS) ** 2 < np.finfo(np.float64).max


@given(st.floats(0.0, 700.0))
def test_conversions_undo_each_other(radius: float) -> None:
    margin, gap = limits.margin_from_radius(radius), limits.gap_from_radius(radius)
    assert gap == pytest.approx(margin * (2.0 - margin), rel=1e-14)
    # Below radius 1 a margin near 1 holds the radius only to an absolute rounding.
    assert limits.radius_from_margin(margin) == pytest.approx(radius, rel=1e-14, abs=1e-15 * 4)
    assert limits.radius_from_gap(gap) == pytest.approx(radius, rel=1e-14, abs=4e-8)


@pytest.mark.parametrize("radius", [1.0, 10.0, 20.0, 30.0, 36.0])
def test_resolution_is_the_distance_of_neighbouring_floats(radius: float) -> None:
    x = poincare.from_radius([1.0, 0.0], radius)
    # From radius 1.1 on |x| >= 1/2, where floats are 2^-53 apart, i.e. u
    neighbour = np.array([x[0] - 2.0**-53, 0.0])
    measured = poincare.distance(x, neighbour)
    assert measured == pytest.approx(limits.radius_resolution(radius), rel=0.5)


@pytest.mark.parametrize("bad", [0.0, -1.0, 2.0, math.nan])
def test_impossible_margins_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        limits.radius_from_margin(bad)
    with pytest.raises(ValueError, match="gap"):
        limits.radius_from_gap(bad)
