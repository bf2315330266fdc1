"""Ball: the Poincaré ball of curvature -c, fixed or learned; the formulas are those of curvature -1, scaled.

A point x of it is the point sqrt(c) x of the unit ball, and distances there are sqrt(c) times those here. Model files,
`HyperbolicEmbedding` and the optimisers work in the unit ball: see `to_unit` and `from_unit`.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import InputError
from . import geometry

__all__ = ["Ball", "curvature_of"]


class Ball(nn.Module):  # type: ignore[misc]  # torch is not followed
    """The Poincaré ball of curvature -c, with radius 1 / sqrt(c).

    Parameters
    ----------
    c
        Minus the curvature.
    learnable
        Whether c is a parameter; its logarithm is what an optimiser moves, so that it stays positive.
    """

    def __init__(self, c: float = 1.0, *, learnable: bool = False) -> None:
        super().__init__()
        if not 0.0 < c < math.inf:
            raise InputError(f"a ball needs a positive, finite c, not {c}")
        start = torch.tensor(math.log(c), dtype=torch.float64)
        if learnable:
            self.log_c = nn.Parameter(start)
        else:
            self.register_buffer("log_c", start)

    @property
    def c(self) -> Tensor:
        """Minus the curvature."""
        return torch.exp(self.log_c)

    def to_unit(self, points: Tensor) -> Tensor:
        """Points, or tangent vectors, as those of the unit ball."""
        return torch.exp(0.5 * self.log_c).to(points.dtype) * points

    def from_unit(self, points: Tensor) -> Tensor:
        """Points, or tangent vectors, of the unit ball as those of this one."""
        return torch.exp(-0.5 * self.log_c).to(points.dtype) * points

    def distance(self, u: Tensor, v: Tensor) -> Tensor:
        """(..., d), (..., d) -> (...)."""
        return self.from_unit(geometry.distance(self.to_unit(u), self.to_unit(v)))

    def radius(self, points: Tensor) -> Tensor:
        """Distance to the origin; (..., d) -> (...)."""
        return self.from_unit(geometry.radius(self.to_unit(points)))

    def from_normal(self, vectors: Tensor) -> Tensor:
        """Any vectors as points: the norm becomes the distance to the origin; beyond what the dtype carries, less."""
        return self.from_unit(geometry.from_normal(self.to_unit(vectors)))

    def to_normal(self, points: Tensor) -> Tensor:
        """The inverse of `from_normal`."""
        return self.from_unit(geometry.to_normal(self.to_unit(points)))

    def mobius_add(self, x: Tensor, y: Tensor) -> Tensor:
        """Möbius addition."""
        return self.from_unit(geometry.mobius_add(self.to_unit(x), self.to_unit(y)))

    def exp_map(self, at: Tensor, tangent: Tensor) -> Tensor:
        """Walk from `at` with initial velocity `tangent` along a geodesic for unit time."""
        return self.from_unit(geometry.exp_map(self.to_unit(at), self.to_unit(tangent)))

    def log_map(self, at: Tensor, to: Tensor) -> Tensor:
        """The tangent vector at `at` whose `exp_map` is `to`."""
        return self.from_unit(geometry.log_map(self.to_unit(at), self.to_unit(to)))

    def geodesic(self, u: Tensor, v: Tensor, t: Tensor | float) -> Tensor:
        """The point at fraction t of the way from u to v."""
        return self.from_unit(geometry.geodesic(self.to_unit(u), self.to_unit(v), t))

    def extra_repr(self) -> str:
        """What `print` shows."""
        return f"c={self.c.item():.4g}" + (", learnable=True" if isinstance(self.log_c, nn.Parameter) else "")


def curvature_of(manifold: Any) -> float:
    """c of geoopt's ``PoincareBall``; one that is learned is refused, for points alone do not say where it goes."""
    if any(isinstance(parameter, nn.Parameter) and parameter.requires_grad for parameter in manifold.parameters()):
        raise InputError(
            "the curvature of this PoincareBall of geoopt is learned: detach it, or train with Ball(c, learnable=True)"
        )
    return float(manifold.c)
