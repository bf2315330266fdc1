"""k-dilation (the paper's section 5): d(O, g(x)) = k d(O, x), directions kept.

A factor above 1 pushes every node outwards, where there is room for more children; one below 1 contracts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import limits
from . import lorentz, poincare
from ._float64 import FloatArray, as_float64

__all__ = ["dilate_ball", "dilate_hyperboloid"]


def dilate_ball(points: ArrayLike, factor: float, max_radius: float = limits.BALL_RADIUS) -> tuple[FloatArray, int]:
    """Dilate ball points (..., d) by k > 0:  g(x) = tanh(k artanh|x|) x / |x|;  k = 2 is 2x / (1 + |x|²).

    Points whose new radius would exceed `max_radius` are put there instead.

    Returns
    -------
    points : (..., d)
    clamped : int
        How many of them were held back by `max_radius`. A dilation that clamps flattens the outer levels of a hierarchy
        onto one sphere, so callers report the number.
    """
    x = as_float64(points)
    wanted = _checked(factor) * poincare.radius(x)
    dilated = poincare.from_radius(x, np.minimum(wanted, max_radius))
    # Rounding may leave a clamped point just outside; `project` keeps the promise that none is.
    return poincare.project(dilated, max_radius)[0], int(np.count_nonzero(wanted > max_radius))


def dilate_hyperboloid(
    points: ArrayLike, factor: float, max_radius: float = limits.HYPERBOLOID_RADIUS
) -> tuple[FloatArray, int]:
    """Dilate hyperboloid points (..., d+1) by k > 0: space -> sinh(k r) space / |space|, r = arsinh|space|.

    Returns the points (..., d+1) and how many were held back by `max_radius`.
    """
    x = as_float64(points)
    wanted = _checked(factor) * lorentz.radius(x)
    dilated = lorentz.from_radius(x[..., 1:], np.minimum(wanted, max_radius))
    return lorentz.clamp(dilated, max_radius)[0], int(np.count_nonzero(wanted > max_radius))


def _checked(factor: float) -> float:
    if not 0.0 < factor < np.inf:
        raise ValueError(f"a dilation needs a positive, finite factor, not {factor}")
    return factor
