"""Riemannian gradient descent on the softmax over all nodes, by the nearest ones and a sample of the rest."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from ..errors import NumericalError
from ..geometry import poincare
from ..hierarchy import Hierarchy
from ..kernels import whole_softmax as kernel
from ..search import SearchTree
from ..settings import FitSettings
from ..workers import in_threads, thread_count
from .descent import Epochs

__all__ = ["WholeDescent"]

# Nearest nodes that are listed for every node, and the epochs after which the lists are made anew.
NEAREST, REFRESH = 50, 10


class WholeDescent:
    """Runs epochs over all nodes with positives, changing `vectors` in place; a stand-in for `descent.Descent`.

    The lists of nearest nodes are made at epochs divisible by `REFRESH`, and anew when a run is resumed in between.
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

    def epochs_per_call(self, epoch: int) -> int:
        """Epochs from this one on until the lists of nearest nodes are due."""
        return REFRESH - epoch % REFRESH

    def run(self, first_epoch: int, count: int) -> Epochs:
        """Train epochs first_epoch .. first_epoch+count-1 (from 0)."""
        started = time.perf_counter()
        settings = self.settings
        number = np.arange(first_epoch, first_epoch + count)
        steps = np.where(number < settings.burn_in, settings.burn_in_factor, 1.0) * settings.lr / settings.batch
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
        failed = counters[counters[:, kernel.FAILED_EPOCH] >= 0]
        if failed.size:
            epoch, node = (int(value) for value in failed[0, 3:])
            raise NumericalError(
                f"the loss stopped being a number in epoch {epoch + 1}, at node {self.hierarchy.names[node]!r}: "
                f"the steps are too long, so lower the learning rate (now {settings.lr:g})"
            )
        loss, pairs, clamped = counters[:, :3].sum(axis=0)
        visited = count * self.positive_idx.size
        return Epochs(count, loss / pairs if pairs else 0.0, int(clamped), visited, time.perf_counter() - started)

    def _nearest(self) -> NDArray[np.int32]:
        """The non-positives among the `NEAREST` of every node, int32 (n, k), ascending, -1 for the positives."""
        n = self.hierarchy.n_nodes
        tree = SearchTree(self.vectors, 1.0 / poincare.one_minus_square(self.vectors))
        codes = tree.nearest(np.arange(n), max(1, min(NEAREST, n - 1)), threads=self.workers)[0]
        node = np.repeat(np.arange(n), codes.shape[1])
        is_positive = self.hierarchy.is_ancestor if self.settings.objective == "ancestors" else self.hierarchy.is_parent
        positive = is_positive(np.maximum(codes, 0).ravel(), node).reshape(codes.shape)
        return np.sort(np.where(positive, -1, codes), axis=1).astype(np.int32)
