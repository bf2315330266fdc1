"""torch: a hierarchy's embedding as a module of a user's own network. The rest of treeball never imports this.

>>> from treeball.torch import HyperbolicEmbedding, PairSampler, RiemannianAdam, geometry_aware_loss  # doctest: +SKIP
>>> nodes = HyperbolicEmbedding.from_hierarchy("catalog.csv", dim=10)                                # doctest: +SKIP
>>> optimizer = RiemannianAdam([*nodes.parameters(), *encoder.parameters()], lr=0.01)                # doctest: +SKIP
"""

from __future__ import annotations

from ..errors import MissingExtraError

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise MissingExtraError("torch", "torch", "treeball.torch") from None

from .ball import Ball
from .dilation import Dilation
from .embedding import HyperbolicEmbedding
from .geometry import (
    dilate,
    distance,
    exp_map,
    from_hyperboloid,
    from_normal,
    geodesic,
    log_map,
    mobius_add,
    project,
    radius,
    to_hyperboloid,
    to_normal,
    transport,
)
from .layers import HyperbolicLinear, HyperbolicLogits, PrototypeHead
from .loss import geometry_aware_loss, softmax_loss
from .optim import RiemannianAdam, RiemannianSGD
from .parameter import BallParameter, on_ball
from .sampling import Batch, PairSampler

__all__ = [
    "Ball",
    "BallParameter",
    "Batch",
    "Dilation",
    "HyperbolicEmbedding",
    "HyperbolicLinear",
    "HyperbolicLogits",
    "PairSampler",
    "PrototypeHead",
    "RiemannianAdam",
    "RiemannianSGD",
    "dilate",
    "distance",
    "exp_map",
    "from_hyperboloid",
    "from_normal",
    "geodesic",
    "geometry_aware_loss",
    "log_map",
    "mobius_add",
    "on_ball",
    "project",
    "radius",
    "softmax_loss",
    "to_hyperboloid",
    "to_normal",
    "transport",
]
