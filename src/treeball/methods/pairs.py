"""The positive pairs that a training sums over, with their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..hierarchy import Hierarchy

__all__ = ["Pairs", "require_weights"]


@dataclass(frozen=True)
class Pairs:
    """The positive pairs A -> B that the loss sums over, and what may not be drawn as a negative.

    Attributes
    ----------
    heads, tails : int32 (pairs,)
    weights : float64 (pairs,)
    positive_ptr, positive_idx : CSR of the positives of every node
    """

    heads: NDArray[np.int32]
    tails: NDArray[np.int32]
    weights: NDArray[np.float64]
    positive_ptr: NDArray[np.int64]
    positive_idx: NDArray[np.int32]

    @classmethod
    def of(cls, hierarchy: Hierarchy, settings: Any) -> Pairs:
        """All positive pairs of the objective, each with weight 1 or that of its edge."""
        ptr, idx = hierarchy.positives(settings.objective)
        heads = np.repeat(np.arange(hierarchy.n_nodes, dtype=np.int32), np.diff(ptr))
        weights = np.ones(heads.size)
        if settings.weighted:
            require_weights(hierarchy, settings)
            weights = _edge_weights(hierarchy)
        return cls._shuffled(heads, idx, weights, ptr, idx, settings.seed)

    @classmethod
    def with_closure(cls, hierarchy: Hierarchy, settings: Any) -> Pairs:
        """The pairs of the re-weighted objective (equation 7), L + eta_tc times the sum over E_tc.

        Direct parents have weight 1 (or that of their edge), the other ancestors, E_tc, have weight eta_tc. For the
        objective ancestors these are pairs of L already: read literally they have weight 1 + eta_tc, and with the
        reading "lowered" eta_tc alone. No ancestor is drawn as a negative.
        """
        summed_twice = settings.objective == "ancestors" and settings.closure_reading == "literal"
        direct = cls.of(hierarchy, settings.replace(objective="parents"))
        ptr, idx = hierarchy.positives("ancestors")
        heads = np.repeat(np.arange(hierarchy.n_nodes, dtype=np.int32), np.diff(ptr))
        further = ~hierarchy.is_parent(idx, heads)
        weight = settings.eta_tc + summed_twice
        if weight == 0:
            further[:] = False
        return cls._shuffled(
            np.concatenate([direct.heads, heads[further]]),
            np.concatenate([direct.tails, idx[further]]),
            np.concatenate([direct.weights, np.full(int(further.sum()), weight)]),
            ptr,
            idx,
            settings.seed,
        )

    @classmethod
    def _shuffled(
        cls,
        heads: NDArray[np.int32],
        tails: NDArray[np.int32],
        weights: NDArray[np.float64],
        ptr: NDArray[np.int64],
        idx: NDArray[np.int32],
        seed: int,
    ) -> Pairs:
        # The kernel strides over the pairs: they must lie in random order for its steps to be fair.
        order = np.random.default_rng(seed).permutation(heads.size)
        return cls(heads[order], tails[order], weights[order], ptr, idx)


def require_weights(hierarchy: Hierarchy, settings: Any) -> None:
    """InputError when weights are asked for and there are none that could be used."""
    if not settings.weighted:
        return
    weights = hierarchy.parent_weight
    if weights is None:
        raise InputError(
            "weighted was asked for, but the input has no weight column; leave it out or add a third column"
        )
    if not weights.size:
        return
    with np.errstate(over="ignore"):
        mean = weights.mean()
    if not np.isfinite(mean):
        raise InputError(
            f"the weights are too large to be added up (up to {weights.max():g}): divide all of them by one number"
        )
    if mean <= 0.0:
        raise InputError(
            "no weight is above 0, so that nothing would be trained: leave weighted out or mend the weights"
        )


def _edge_weights(hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Weights aligned with the sorted positives, scaled to mean 1."""
    assert hierarchy.parent_weight is not None
    ptr, idx = hierarchy.parent_ptr, hierarchy.parent_idx
    order = np.lexsort((idx, np.repeat(np.arange(hierarchy.n_nodes), np.diff(ptr))))
    weights = hierarchy.parent_weight[order]
    return np.ascontiguousarray(weights / weights.mean()) if weights.size else weights.copy()
