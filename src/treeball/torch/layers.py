"""Layers between balls (Ganea et al. 2018), and a head whose classes are nodes of a hierarchy."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import torch
from torch import Tensor, nn

from ..errors import InputError
from . import geometry
from .ball import Ball
from .embedding import HyperbolicEmbedding
from .parameter import BallParameter

__all__ = ["HyperbolicLinear", "HyperbolicLogits", "PrototypeHead"]


class HyperbolicLinear(nn.Module):  # type: ignore[misc]  # torch is not followed
    """A linear layer from ball to ball: points go through the tangent space at the origin, then a Möbius bias is added.

    Parameters
    ----------
    inputs, outputs
        Dimensions.
    bias
        Whether there is one; it is a point of the unit ball, which the Riemannian optimisers move.
    ball
        Where points come from and go to; by default that of curvature -1.
    """

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True, ball: Ball | None = None) -> None:
        super().__init__()
        self.ball = Ball() if ball is None else ball
        self.weight = nn.Parameter(torch.empty(outputs, inputs, dtype=torch.float64))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        self.bias = BallParameter(torch.zeros(outputs, dtype=torch.float64)) if bias else None

    def forward(self, points: Tensor) -> Tensor:
        """(..., inputs) -> (..., outputs)."""
        moved = self.ball.from_normal(nn.functional.linear(self.ball.to_normal(points), self.weight))
        return moved if self.bias is None else self.ball.mobius_add(moved, self.ball.from_unit(self.bias))

    def extra_repr(self) -> str:
        """What `print` shows."""
        outputs, inputs = self.weight.shape
        return f"{inputs}, {outputs}, bias={self.bias is not None}"


class HyperbolicLogits(nn.Module):  # type: ignore[misc]  # torch is not followed
    """Logistic regression in the ball: each class has a hyperplane, and its logit is the signed distance from it.

    The hyperplane of a class goes through a point p, at right angles to a vector a: the logit of x is
    2 |a| arsinh(2 <z, a/|a|> / (1 - |z|²)), z = -p (+) x, in the unit ball.

    Parameters
    ----------
    dim, classes
        Dimension of the ball, and number of classes.
    ball
        Where the points come from; by default that of curvature -1.
    """

    def __init__(self, dim: int, classes: int, *, ball: Ball | None = None) -> None:
        super().__init__()
        self.ball = Ball() if ball is None else ball
        self.points = BallParameter(torch.zeros(classes, dim, dtype=torch.float64))
        self.normals = nn.Parameter(torch.empty(classes, dim, dtype=torch.float64))
        nn.init.kaiming_uniform_(self.normals, a=math.sqrt(5))

    def forward(self, points: Tensor) -> Tensor:
        """(..., dim) -> (..., classes)."""
        seen = geometry.mobius_add(-self.points, self.ball.to_unit(points)[..., None, :])
        length = torch.linalg.vector_norm(self.normals, dim=-1)
        along = (seen * self.normals).sum(-1) / torch.clamp(length, min=torch.finfo(length.dtype).tiny)
        return 2.0 * length * torch.asinh(2.0 * along / geometry.gap(seen)[..., 0])

    def extra_repr(self) -> str:
        """What `print` shows."""
        classes, dim = self.points.shape
        return f"{dim}, classes={classes}"


class PrototypeHead(nn.Module):  # type: ignore[misc]  # torch is not followed
    """The last layer of a classifier whose classes are nodes of a hierarchy: the nearer a node, the likelier its class.

    What it takes is the output of any network, in as many dimensions as the nodes have; what it gives are logits for
    `torch.nn.functional.cross_entropy`. Classes that are near each other in the hierarchy are near each other here, so
    that a mistake is more often one between relatives.

    Parameters
    ----------
    nodes
        The hierarchy in the ball; a construction drawn together (``init_scale=0.1``) is a good start.
    classes
        Names of the nodes that are classes, in the order of the labels.
    factor
        On distances, before the softmax.
    learn
        Whether the nodes are trained along, by a Riemannian optimiser, or stay where they are.
    """

    def __init__(
        self, nodes: HyperbolicEmbedding, classes: Iterable[Hashable], *, factor: float = 8.0, learn: bool = True
    ) -> None:
        super().__init__()
        if not 0.0 < factor < math.inf:
            raise InputError(f"factor must be a positive number, not {factor}")
        self.factor = factor
        codes = nodes.codes(classes)
        if len(torch.unique(codes)) < len(codes):
            raise InputError("two classes are the same node: give each class a node of its own")
        self.register_buffer("codes", codes)
        self.nodes = nodes
        nodes.points.requires_grad_(learn)

    def forward(self, outputs: Tensor) -> Tensor:
        """Logits (..., classes) of a network's outputs (..., dim)."""
        points = geometry.from_normal(outputs.to(self.nodes.points.dtype))
        return -self.factor * geometry.distance(points[..., None, :], self.nodes(self.codes))

    def extra_repr(self) -> str:
        """What `print` shows."""
        return f"classes={len(self.codes)}, factor={self.factor:g}"
