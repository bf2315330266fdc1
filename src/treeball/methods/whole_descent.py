"""Riemannian gradient descent on the softmax over all nodes, by the nearest ones and a sample of the rest."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from ..geometry import poincare
from ..hierarchy import Hierarchy
from ..kernels import whole_softmax as kernel
from ..search import SearchTree
from ..settings import FitSettings
from ..workers import in_threads, thread_count
from .descent import Epochs, raise_if_failed, steps_of

__all__ = ["WholeDescent"]

# Nearest nodes that are listed for every node, the epochs after which the lists are made anew, and nodes at a time.
NEAREST, REFRESH, BLOCK = 50, 10, 50_000


class WholeDescent:
    """Runs epochs over all nodes with positives, changing `vectors` in place; a stand-in for `descent.Descent`.

    The lists of nearest nodes are made at first and at epochs divisible by `REFRESH`.
    `sharpness` is the factor on distances in the softmax (`kernels.whole_softmax`).
    """

    def __init__(
        self, vectors: NDArray[np.float64], hierarchy: Hierarchy, settings: FitSettings, sharpness: int = 1
    ) -> None:
        self.vectors, self.hierarchy, self.settings, self.sharpness = vectors, hierarchy, settings, sharpness
        self.workers = 1 if settings.deterministic else thread_count(settings.threads)
        self.positive_ptr, self.positive_idx = hierarchy.positives(settings.objective)
        bearing = np.flatnonzero(np.diff(self.positive_ptr)).astype(np.int32)
        self.heads = np.random.default_rng(settings.seed).permutation(bearing)
        self.workers = max(1, min(self.workers, self.heads.size // 256))
        self.most = int(np.diff(self.positive_ptr).max(initial=0))
        self._near: NDArray[np.int32] | None = None

    def resumes_at(self, epoch: int) -> bool:
        """Whether a run that stops before this epoch and is resumed ends like one that did not stop."""
        return epoch % REFRESH == 0

    def epochs_per_call(self, epoch: int) -> int:
        """Epochs from this one on until the lists of nearest nodes are due."""
        return REFRESH - epoch % REFRESH

    def run(self, first_epoch: int, count: int) -> Epochs:
        """Train epochs first_epoch .. first_epoch+count-1 (from 0)."""
        started = time.perf_counter()
        settings = self.settings
        steps = steps_of(settings, first_epoch, count)
        counters = np.zeros((self.workers, 5))
        if self._near is None or first_epoch % REFRESH == 0:
            self._near = self._nearest()
        near = self._near

        def work(worker: int) -> None:
            kernel.train_whole(
                self.vectors, self.heads, self.positive_ptr, self.positive_idx, near, self.most, steps, first_epoch,
                settings.negatives, self.sharpness, math.tanh(settings.radius_limit / 2), settings.seed, worker,
                self.workers, counters[worker],
            )  # fmt: skip

        in_threads(work, range(self.workers), self.workers)
        raise_if_failed(counters, self.hierarchy, settings)
        loss, pairs, clamped = counters[:, :3].sum(axis=0)
        visited = count * self.positive_idx.size
        return Epochs(count, loss / pairs if pairs else 0.0, int(clamped), visited, time.perf_counter() - started)

    def _nearest(self) -> NDArray[np.int32]:
        """The non-positives among the `NEAREST` of every node, int32 (n, k), ascending, -1 for the positives."""
        n = self.hierarchy.n_nodes
        tree = SearchTree(self.vectors, 1.0 / poincare.one_minus_square(self.vectors))
        is_positive = self.hierarchy.is_ancestor if self.settings.objective == "ancestors" else self.hierarchy.is_parent
        near = np.empty((n, max(1, min(NEAREST, n - 1))), np.int32)
        for begin in range(0, n, BLOCK):
            nodes = np.arange(begin, min(n, begin + BLOCK))
            codes = tree.nearest(nodes, near.shape[1], threads=self.workers)[0]
            repeated = np.repeat(nodes, codes.shape[1])
            positive = is_positive(np.maximum(codes, 0).ravel(), repeated).reshape(codes.shape)
            near[nodes] = np.sort(np.where(positive, -1, codes), axis=1)
        return near
