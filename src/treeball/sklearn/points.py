"""What all estimators on points ask of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from ..errors import InputError
from ..geometry import poincare

__all__ = ["ball_points"]


def ball_points(X: Any, width: int | None = None) -> NDArray[np.float64]:
    """Points of the ball (n, d); what is not finite, outside, or of another dimension than `width` is refused."""
    points = np.ascontiguousarray(check_array(X, dtype=np.float64), np.float64)
    if width is not None and points.shape[1] != width:
        raise InputError(f"the points have {points.shape[1]} coordinates, and those of fit had {width}")
    outside = np.flatnonzero(~(poincare.one_minus_square(points).ravel() > 0.0))
    if outside.size:
        raise InputError(
            f"row {outside[0]} lies outside the ball ({outside.size:,} such): give ball coordinates, as those of "
            'HierarchyEmbedder(coordinates="ball") or Embedding.ball()'
        )
    return points
