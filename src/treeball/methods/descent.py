"""Riemannian gradient descent on the sampled-softmax loss of equation 2: all cores, lock-free."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import NumericalError
from ..hierarchy import Hierarchy
from ..kernels import train as kernel
from ..settings import FitSettings, Geometry
from ..workers import in_threads, thread_count

_CODES = {"euclidean": kernel.EUCLIDEAN, "poincare": kernel.POINCARE, "lorentz": kernel.LORENTZ}
# Epochs of a small hierarchy are run several at a call, so that calling costs nothing beside the work.
_CALL_SECONDS = 0.1


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
    def of(cls, hierarchy: Hierarchy, settings: FitSettings) -> Pairs:
        """All positive pairs of the objective, each with weight 1 or that of its edge."""
        ptr, idx = hierarchy.positives(settings.objective)
        heads = np.repeat(np.arange(hierarchy.n_nodes, dtype=np.int32), np.diff(ptr))
        weights = np.ones(heads.size)
        if settings.weighted:
            weights = _edge_weights(hierarchy, heads)
        return cls._shuffled(heads, idx, weights, ptr, idx, settings.seed)

    @classmethod
    def even(cls, hierarchy: Hierarchy, settings: FitSettings) -> Pairs:
        """All positive pairs of the objective, those of a node sharing a weight, so that nodes count the same."""
        ptr, idx = hierarchy.positives(settings.objective)
        number = np.diff(ptr)
        heads = np.repeat(np.arange(hierarchy.n_nodes, dtype=np.int32), number)
        mean = heads.size / max(1, int(np.count_nonzero(number)))
        return cls._shuffled(heads, idx, mean / number[heads], ptr, idx, settings.seed)

    @classmethod
    def with_closure(cls, hierarchy: Hierarchy, settings: FitSettings) -> Pairs:
        """The pairs of the re-weighted objective (equation 5).

        Direct parents have weight 1 (or that of their edge); the other ancestors, E_tc, have weight eta_tc. No
        ancestor is drawn as a negative. For the objective ancestors, whose own pairs include E_tc, this lowers
        their weight.
        """
        direct = cls.of(hierarchy, settings.replace(objective="parents"))
        ptr, idx = hierarchy.positives("ancestors")
        heads = np.repeat(np.arange(hierarchy.n_nodes, dtype=np.int32), np.diff(ptr))
        further = ~hierarchy.is_parent(idx, heads)
        if settings.eta_tc == 0:
            further[:] = False
        return cls._shuffled(
            np.concatenate([direct.heads, heads[further]]),
            np.concatenate([direct.tails, idx[further]]),
            np.concatenate([direct.weights, np.full(int(further.sum()), settings.eta_tc)]),
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


@dataclass(frozen=True)
class Epochs:
    """What some epochs of training did.

    Attributes
    ----------
    count : number of epochs
    loss : mean loss of a pair in the last of them, weighted
    clamped : how often a vector was clamped to the largest radius
    pairs : positive pairs visited
    seconds : time it took
    """

    count: int
    loss: float
    clamped: int
    pairs: int
    seconds: float


class Descent:
    """Runs epochs over `pairs`, changing `vectors` in place.

    One worker alone (``deterministic``) gives the same result however the epochs are grouped into calls, because the
    random numbers of an epoch depend on the seed and the number of the epoch only.
    """

    def __init__(self, vectors: NDArray[np.float64], pairs: Pairs, hierarchy: Hierarchy, settings: FitSettings) -> None:
        self.vectors = vectors
        self.pairs = pairs
        self.hierarchy = hierarchy
        self.settings = settings
        self.workers = 1 if settings.deterministic else thread_count(settings.threads)
        # Fewer than some hundred pairs a worker, and the workers spend their time on the same few rows.
        self.workers = max(1, min(self.workers, pairs.heads.size // 256))
        self.bound = _bound(settings.geometry, settings.radius_limit)
        self._pairs_per_second = 2e5

    def resumes_at(self, epoch: int) -> bool:
        """Whether a run that stops before this epoch and is resumed ends like one that did not stop."""
        return True

    def epochs_per_call(self, epoch: int) -> int:
        """How many epochs from this one on fill a call, judging by the speed so far."""
        return max(1, int(_CALL_SECONDS * self._pairs_per_second / max(1, self.pairs.heads.size)))

    def run(self, first_epoch: int, count: int) -> Epochs:
        """Train epochs first_epoch .. first_epoch+count-1 (from 0)."""
        started = time.perf_counter()
        settings, pairs = self.settings, self.pairs
        steps = steps_of(settings, first_epoch, count)
        counters = np.zeros((self.workers, 5))

        def work(worker: int) -> None:
            kernel.train_epochs(
                _CODES[settings.geometry], self.vectors, pairs.heads, pairs.tails, pairs.weights,
                pairs.positive_ptr, pairs.positive_idx, steps, first_epoch, settings.negatives, self.bound,
                settings.seed, worker, self.workers, counters[worker],
            )  # fmt: skip

        in_threads(work, range(self.workers), self.workers)
        raise_if_failed(counters, self.hierarchy, settings)
        seconds = time.perf_counter() - started
        visited = count * pairs.heads.size
        self._pairs_per_second = max(visited / max(seconds, 1e-9), 1.0)
        loss, weight, clamped = counters[:, :3].sum(axis=0)
        return Epochs(count, loss / weight if weight else 0.0, int(clamped), visited, seconds)


def steps_of(settings: FitSettings, first_epoch: int, count: int) -> NDArray[np.float64]:
    """The step of a pair in some epochs, (count,)."""
    number = np.arange(first_epoch, first_epoch + count)
    return np.where(number < settings.burn_in, settings.burn_in_factor, 1.0) * settings.lr / settings.batch


def raise_if_failed(counters: NDArray[np.float64], hierarchy: Hierarchy, settings: FitSettings) -> None:
    """Name the epoch and the node where a worker met a loss that is no number."""
    failed = counters[counters[:, kernel.FAILED_EPOCH] >= 0]
    if failed.size:
        epoch, node = (int(value) for value in failed[0, [kernel.FAILED_EPOCH, kernel.FAILED_NODE]])
        raise NumericalError(
            f"the loss stopped being a number in epoch {epoch + 1}, at node {hierarchy.names[node]!r}: "
            f"the steps are too long, so lower the learning rate (now {settings.lr:g}) or raise the batch "
            f"(now {settings.batch})"
        )


def _bound(geometry: Geometry, max_radius: float) -> float:
    """Largest coordinate norm: of a ball point, or of the spatial part of a hyperboloid point."""
    if geometry == "poincare":
        return math.tanh(max_radius / 2)
    return math.sinh(max_radius) if geometry == "lorentz" else math.inf


def _edge_weights(hierarchy: Hierarchy, heads: NDArray[np.int32]) -> NDArray[np.float64]:
    """Weights aligned with the sorted positives, scaled to mean 1."""
    from ..errors import InputError

    if hierarchy.parent_weight is None:
        raise InputError(
            "weighted was asked for, but the input has no weight column; leave it out or add a third column"
        )
    ptr, idx = hierarchy.parent_ptr, hierarchy.parent_idx
    order = np.lexsort((idx, np.repeat(np.arange(hierarchy.n_nodes), np.diff(ptr))))
    weights = hierarchy.parent_weight[order]
    return np.ascontiguousarray(weights / weights.mean()) if weights.size and weights.mean() > 0 else weights.copy()
