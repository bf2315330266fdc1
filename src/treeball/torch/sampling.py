"""PairSampler: the positive pairs of a hierarchy in batches, with negatives that are none of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..hierarchy import Hierarchy
from ..methods.pairs import Pairs
from ..methods.training_settings import ClosureSettings
from ..types import Objective

__all__ = ["Batch", "PairSampler"]


class Batch(NamedTuple):
    """Codes of A (b,), B (b,) and the negatives of each pair (b, m), int64, and the weights (b,)."""

    heads: Tensor
    tails: Tensor
    negatives: Tensor
    weights: Tensor


class PairSampler:
    """Batches of positive pairs (A, B) of a hierarchy, in another order and with other negatives in every epoch.

    ``for batch in sampler`` goes through the next epoch, the first time number 0, and `len` is the number of its
    batches; ``sampler.epoch(number)`` goes through any.

    Parameters
    ----------
    hierarchy
        A :class:`treeball.Hierarchy`.
    objective
        Whether B runs over A's direct parents or all its ancestors.
    batch, negatives
        Pairs in a batch, and negatives of each: uniform among all nodes but A and its positives.
    eta_tc, n_tc
        In the first `n_tc` epochs A's ancestors that are no parents are positives too, with weight `eta_tc`, or
        1 + `eta_tc` with the objective ancestors, whose pairs they are anyway.
    weighted
        Give every pair the weight of its edge, scaled to mean 1; objective parents only.
    seed
        Fixes every epoch; epochs may be drawn in any order.
    device
        Where the tensors go.
    dtype
        Of the weights.

    Attributes
    ----------
    next_epoch : int
        The epoch that the next loop goes through.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        *,
        objective: Objective = "parents",
        batch: int = 512,
        negatives: int = 50,
        eta_tc: float = 0.0,
        n_tc: int = 0,
        weighted: bool = False,
        seed: int = 0,
        device: Any = None,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        self.settings = ClosureSettings(
            method="ga-rw", objective=objective, batch=batch, negatives=negatives, eta_tc=eta_tc, n_tc=n_tc,
            weighted=weighted, seed=seed,
        )  # fmt: skip
        self.hierarchy = hierarchy
        self.device, self.dtype = device, dtype
        self.next_epoch = 0
        self.plain = Pairs.of(hierarchy, self.settings)
        self.reweighted = Pairs.with_closure(hierarchy, self.settings) if n_tc else self.plain

    def __iter__(self) -> Iterator[Batch]:
        """The batches of the next epoch."""
        self.next_epoch += 1
        return self.epoch(self.next_epoch - 1)

    def __len__(self) -> int:
        """How many batches the next epoch has."""
        return -(-int(np.count_nonzero(self._free(self._pairs(self.next_epoch)) > 0)) // self.settings.batch)

    def _pairs(self, number: int) -> Pairs:
        return self.reweighted if number < self.settings.n_tc else self.plain

    def _free(self, pairs: Pairs) -> NDArray[np.int64]:
        """How many nodes may be a negative of each pair."""
        return np.asarray(self.hierarchy.n_nodes - 1 - np.diff(pairs.positive_ptr)[pairs.heads])

    def epoch(self, number: int) -> Iterator[Batch]:
        """The batches of one epoch, counted from 0."""
        settings, pairs = self.settings, self._pairs(number)
        rng = np.random.default_rng([settings.seed, number])
        free = self._free(pairs)
        # A pair without any negative has loss 0 wherever its nodes are.
        order = rng.permutation(np.flatnonzero(free > 0))
        for begin in range(0, order.size, settings.batch):
            chosen = order[begin : begin + settings.batch]
            ranks = rng.integers(0, free[chosen, None], (chosen.size, settings.negatives))
            negatives = _free_nodes(ranks, pairs.heads[chosen], pairs.positive_ptr, pairs.positive_idx)
            yield Batch(
                self._tensor(pairs.heads[chosen].astype(np.int64)),
                self._tensor(pairs.tails[chosen].astype(np.int64)),
                self._tensor(negatives),
                self._tensor(pairs.weights[chosen]).to(self.dtype),
            )

    def _tensor(self, column: NDArray[Any]) -> Tensor:
        return torch.from_numpy(column).to(self.device)


def _free_nodes(
    ranks: NDArray[np.int64], heads: NDArray[np.int32], ptr: NDArray[np.int64], idx: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The nodes (b, m) number `ranks` among those that are neither `heads` (b,) nor their positives."""
    counts = ptr[heads + 1] - ptr[heads]
    place = np.arange(int(counts.max(initial=0)))
    inside = place < counts[:, None]
    never = np.iinfo(np.int64).max // 2
    taken = np.full((heads.size, place.size + 1), never)
    taken[:, 0] = heads
    taken[:, 1:][inside] = idx[(ptr[heads][:, None] + place)[inside]]
    taken.sort(axis=1)
    # The taken node number i has taken[i] - i free ones below it: count those at or below the rank, and step over them.
    free_below = taken - np.arange(taken.shape[1])
    nodes = ranks.copy()
    for column in free_below.T:
        nodes += column[:, None] <= ranks
    return nodes
