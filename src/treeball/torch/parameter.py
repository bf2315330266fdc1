"""Which parameters live in the ball: ours, and those of geoopt."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..errors import InputError

__all__ = ["BallParameter", "on_ball", "to_geoopt"]


class BallParameter(nn.Parameter):  # type: ignore[misc]  # torch is not followed
    """A parameter whose last axis holds coordinates of the Poincaré ball; the Riemannian optimisers keep it there."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # torch would restore a plain Parameter, and the next optimiser would take it for an ordinary one.
        return BallParameter, (self.data, self.requires_grad)


def on_ball(parameter: Any) -> bool:
    """Whether a parameter lives in the Poincaré ball of curvature -1: a `BallParameter`, or geoopt's on that manifold.

    A parameter on any other curved manifold is refused, because no optimiser here would keep it there.
    """
    manifold = getattr(parameter, "manifold", None)
    if manifold is None or type(manifold).__name__ == "Euclidean":
        return isinstance(parameter, BallParameter)
    is_ball = any(base.__name__ == "PoincareBall" for base in type(manifold).__mro__)
    if is_ball and abs(float(manifold.c) - 1.0) < 1e-6:  # geoopt keeps c in another form, from which it comes rounded
        return True
    raise InputError(
        f"a parameter lives on {manifold} of geoopt, and treeball.torch trains on the PoincareBall with c=1 only: "
        "train it with an optimiser of geoopt, or take its points along by HyperbolicEmbedding.from_geoopt"
    )


def to_geoopt(parameter: Any) -> Any:
    """A parameter of the ball as a `geoopt.ManifoldParameter` on ``PoincareBall(c=1)`` that shares its memory."""
    try:
        import geoopt
    except ImportError:
        raise InputError("geoopt is not installed: install it with  pip install geoopt") from None
    ball = geoopt.PoincareBall(c=1.0)
    return geoopt.ManifoldParameter(parameter.data, manifold=ball, requires_grad=parameter.requires_grad)
