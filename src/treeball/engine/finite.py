"""What no engine compares: a NaN is neither nearer nor farther than anything, so that all its ranks would be 1."""

from __future__ import annotations

import numpy as np

from ..errors import NumericalError
from ..types import Floats

__all__ = ["require_finite"]


def require_finite(coordinates: Floats, factor: Floats) -> None:
    """Refuse coordinates (n, d) and factors (n,) that are no finite numbers, naming the first node that has one."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(coordinates.sum() + factor.sum()):  # one that is none would have spoiled it
            return
    finite = np.isfinite(coordinates).all(axis=1) & np.isfinite(factor)
    if not finite.all():
        raise NumericalError(
            f"node number {int(np.argmin(finite))} is no point of the space: it has a coordinate that is NaN or "
            "infinite, and distances to it say nothing"
        )
