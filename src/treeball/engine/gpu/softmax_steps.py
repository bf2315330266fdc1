"""Steps of all nodes at once down the softmax over all nodes, on a card, by Adam; see `engine.cpu.sharp_softmax`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
import triton

from ...types import Floats, Ints, Mask
from ..cpu.sharp_softmax import DECAY_FIRST, DECAY_SECOND, TINY
from ..protocol import Compared, SoftmaxSteps, Trained
from .full_softmax import AllPairs, Gradient
from .listed_softmax import listed_gradient
from .residents import Residents

__all__ = ["by_all_pairs", "by_lists", "descend"]

_PROGRAMS_PER_PROCESSOR = 8


class Found(NamedTuple):
    """What a gradient is: the sum of the losses, a node whose loss is no number or -1, and the gradient (n, d)."""

    loss: torch.Tensor
    failed: torch.Tensor
    gradient: torch.Tensor


GradientOf = Callable[[torch.Tensor, int], Found]
"""Takes points and the number of a step."""


def by_all_pairs(pairs: AllPairs, vectors: Floats, steps: SoftmaxSteps) -> GradientOf:
    """Of points in the order of `pairs`, whose first those of `vectors` are."""
    gradient_of = Gradient(pairs, vectors.shape[1])
    # Exponents differ by no more than k times the farthest distance.
    radius = 2.0 * math.atanh(min(1.0 - 1e-15, float(np.nan_to_num(np.linalg.norm(vectors, axis=1)).max(initial=0.0))))
    reach = 2.0 * (radius + float(np.nan_to_num(np.abs(steps.rates)).sum()))

    def gradient(points: torch.Tensor, step: int) -> Found:
        sharpness = float(steps.sharpness[step])
        loss, found = gradient_of(points, sharpness, float(steps.forgiveness[step]), reach)
        wrong = ~torch.isfinite(loss)
        return Found(loss[: pairs.n_heads].sum(), torch.where(wrong.any(), wrong.to(torch.int8).argmax(), -1), found)

    return gradient


def by_lists(
    compared: Compared,
    steps: SoftmaxSteps,
    residents: Residents,
    processors: int,
    *,
    negatives: int,
    first_epoch: int,
    seed: int,
) -> GradientOf:
    """From the lists of near nodes, and a sample."""
    device = residents.device
    there = residents.of(*compared[:5])
    near = torch.from_numpy(compared.near).to(device)
    n, heads = compared.positive_ptr.size - 1, compared.heads.size
    most = int(np.diff(compared.positive_ptr).max(initial=1))
    shape = {
        "LANES": triton.next_power_of_2(near.shape[1]),
        "DRAWN": triton.next_power_of_2(max(1, negatives)),
        "PULLING": min(32, triton.next_power_of_2(most)),
    }

    def gradient(points: torch.Tensor, step: int) -> Found:
        key = int(np.random.default_rng([seed, first_epoch + step]).integers(1 << 62))
        numbers = [steps.sharpness[step], steps.forgiveness[step], n / max(1, negatives)]
        found = torch.zeros_like(points)
        loss = torch.zeros(1, dtype=torch.float64, device=device)
        failed = torch.full((1,), -1, dtype=torch.int64, device=device)
        listed_gradient[(max(1, min(heads, processors * _PROGRAMS_PER_PROCESSOR)),)](
            points, *there, near, torch.tensor(numbers, dtype=torch.float64, device=device), found, loss, failed, n,
            heads, near.shape[1], negatives, key, DIM=points.shape[1], WIDTH=triton.next_power_of_2(points.shape[1]),
            num_warps=4, **shape,
        )  # fmt: skip
        return Found(loss[0], failed[0], found)

    return gradient


def descend(
    gradient_of: GradientOf,
    vectors: Floats,
    moments: tuple[Floats, Floats],
    steps: SoftmaxSteps,
    device: torch.device,
    *,
    order: Ints | None,
    n_heads: int,
    first_epoch: int,
    steps_before: int,
    bound: float,
    movers: Mask | None,
) -> Trained:
    """Take the steps, with nodes in `order` on the card; see :meth:`treeball.engine.Engine.descend_softmax`."""
    # Of all nodes as they are, nothing is gathered here.
    rows = slice(None) if order is None else order
    points, first, second = (torch.tensor(x[rows], device=device) for x in (vectors, *moments))
    still = None if movers is None else torch.tensor(~movers[rows], device=device)
    squeeze = torch.from_numpy(steps.squeeze).to(device)
    losses = torch.zeros(steps.rates.size, dtype=torch.float64, device=device)
    failed = torch.full((steps.rates.size,), -1, dtype=torch.int64, device=device)
    clamped = torch.zeros((), dtype=torch.int64, device=device)
    for step in range(steps.rates.size):
        losses[step], failed[step], gradient = gradient_of(points, step)
        if still is not None:
            gradient[still] = 0.0
        number = steps_before + step + 1
        moved, held = _adam_step(points, gradient, first, second, float(steps.rates[step]), number, bound)
        points = moved if still is None else torch.where(still[:, None], points, moved)
        clamped += held
        if squeeze.shape[1]:
            points[:, -squeeze.shape[1] :] *= squeeze[step]
    for there, here in ((points, vectors), (first, moments[0]), (second, moments[1])):
        here[rows] = there.cpu().numpy()
    nodes = failed.tolist()
    number = next((i for i, node in enumerate(nodes) if node >= 0), -1)
    node = nodes[number] if order is None else int(order[nodes[number]])
    return Trained(
        loss=float(losses[number]) / max(1, n_heads),
        clamped=int(clamped),
        failed=(first_epoch + number, node) if number >= 0 else None,
    )


def _adam_step(
    vectors: torch.Tensor,
    gradient: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    rate: float,
    number: int,
    bound: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `engine.cpu.sharp_softmax.adam_step`: the vectors after it, and how many were held at the bound."""
    first.mul_(DECAY_FIRST).add_(gradient, alpha=1.0 - DECAY_FIRST)
    second.mul_(DECAY_SECOND).add_(gradient.square().sum(dim=1), alpha=1.0 - DECAY_SECOND)
    fresh_first, fresh_second = 1.0 - DECAY_FIRST**number, 1.0 - DECAY_SECOND**number
    way = first * (-rate / (fresh_first * (torch.sqrt(second / fresh_second) + TINY)))[:, None]
    length = torch.linalg.norm(way, dim=1)
    shrink = torch.where(length > 0.0, torch.tanh(0.5 * length) / length, 0.5)
    way = way * shrink[:, None]
    xx, xy, yy = vectors.square().sum(dim=1), (vectors * way).sum(dim=1), way.square().sum(dim=1)
    reach = (1.0 - xx) / (1.0 + 2.0 * xy + xx * yy)
    moved = vectors + reach[:, None] * (way + yy[:, None] * vectors)
    norm = torch.linalg.norm(moved, dim=1)
    beyond = (norm > bound) & (length > 0.0)
    return torch.where(beyond[:, None], moved * (bound / norm)[:, None], moved), beyond.sum()
