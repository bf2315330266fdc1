from __future__ import annotations

import numpy as np
import pytest

from treeball.geometry import euclidean


def test_distance_is_the_true_one_not_its_square() -> None:
    assert euclidean.distance([0.0, 0.0], [3.0, 4.0]) == 5.0
    assert euclidean.radius([3e200, 4e200]) == pytest.approx(5e200, rel=1e-15)
    assert euclidean.distance([3e-200, 0.0], [0.0, 4e-200]) == pytest.approx(5e-200, rel=1e-15)
    assert euclidean.exp_minus_distance([0.0, 0.0], [3.0, 4.0]) == pytest.approx(np.exp(-5.0), rel=1e-15)


def test_gradient_is_the_derivative() -> None:
    rng = np.random.default_rng(0)
    u, v, e = rng.normal(size=(3, 20, 6))
    step = 1e-6
    slope = (euclidean.distance(u + step * e, v) - euclidean.distance(u - step * e, v)) / (2 * step)
    np.testing.assert_allclose(np.sum(euclidean.distance_gradient(u, v) * e, axis=-1), slope, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(euclidean.distance_gradient(u, v), axis=-1), 1.0, rtol=1e-15 * 4)
    assert not euclidean.distance_gradient(u, u).any()


def test_maps_are_plus_and_minus() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 5, 3))
    np.testing.assert_allclose(euclidean.exp_map(x, euclidean.log_map(x, y)), y, rtol=1e-14)
    assert euclidean.log_map(x[:, None], y).shape == (5, 5, 3)
