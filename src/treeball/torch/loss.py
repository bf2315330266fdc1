"""The loss of the paper (equations 2 and 7) as functions of distances or of points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from ..errors import InputError
from .geometry import distance as hyperbolic_distance

__all__ = ["geometry_aware_loss", "softmax_loss"]

Reduction = Literal["mean", "sum", "none"]


def softmax_loss(
    positive: Tensor, negative: Tensor, weights: Tensor | None = None, *, reduction: Reduction = "mean"
) -> Tensor:
    """Sampled softmax over distances, equation 2:  L = d(A, B) + log sum_j exp(-d(A, x_j)), x_0 = B among the x_j.

    Parameters
    ----------
    positive : (...)
        Distances d(A, B) of positive pairs.
    negative : (..., m)
        Distances from A to the negatives of each pair; one that is infinite does not count.
    weights : (...)
        Weight of each pair, 1 by default; equation 7 gives closure edges eta_tc. The loss keeps the dtype of the
        distances.
    reduction
        ``"mean"`` divides the weighted sum by the number of pairs, as published trainers do, ``"sum"`` does not, and
        ``"none"`` leaves the weighted loss of each pair.
    """
    if negative.shape[:-1] != positive.shape:
        raise InputError(
            f"the distances to positives have shape {tuple(positive.shape)} and those to negatives "
            f"{tuple(negative.shape)}: the latter needs one more axis, with the negatives of each pair"
        )
    if reduction not in ("mean", "sum", "none"):
        raise InputError(f"reduction must be one of mean, sum, none, not {reduction!r}")
    every = torch.cat([positive[..., None], negative], -1)
    loss = torch.logsumexp(positive[..., None] - every, -1)
    if weights is not None:
        loss = loss * weights.to(loss.dtype)
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def geometry_aware_loss(
    heads: Tensor,
    tails: Tensor,
    negatives: Tensor,
    weights: Tensor | None = None,
    *,
    distance: Callable[[Tensor, Tensor], Tensor] = hyperbolic_distance,
    reduction: Reduction = "mean",
) -> Tensor:
    """The loss of Algorithm 1 for points: heads A (..., d), tails B (..., d), negatives (..., m, d).

    The points may come from a `HyperbolicEmbedding` or, through `from_normal`, from any network. `PairSampler` draws
    the pairs, their negatives and their weights (equation 7 in its first epochs, equation 2 then). Another `distance`,
    such as the Euclidean one, gives the same loss in another space. Weights and reduction as in `softmax_loss`.
    """
    return softmax_loss(distance(heads, tails), distance(heads[..., None, :], negatives), weights, reduction=reduction)
