"""Riemannian gradient descent on the softmax over all nodes, by the nearest ones and a sample of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import Trained
from ..nearest import search_tree
from ..types import Codes, Floats
from .descent import Descent
from .run import Run

__all__ = ["FullDescent"]

# Nearest nodes that are listed for every node, the epochs after which the lists are made anew, and nodes at a time.
NEAREST, REFRESH, BLOCK = 50, 10, 50_000


class FullDescent(Descent):
    """Every node with positives against all others.

    The lists of nearest nodes are made at first and at epochs divisible by `REFRESH`.

    Parameters
    ----------
    sharpness
        The factor on distances in the softmax (`engine.cpu.full_softmax`).
    settings
        Other settings than those of the run.
    """

    def __init__(self, run: Run, sharpness: int = 1, settings: Any = None) -> None:
        ptr, idx = run.hierarchy.positives(run.settings.objective)
        with_positives = np.flatnonzero(np.diff(ptr)).astype(np.int32)
        super().__init__(run, with_positives.size)
        self.settings = run.settings if settings is None else settings
        self.sharpness = sharpness
        self.positive_ptr, self.positive_idx = ptr, idx
        self.heads = np.random.default_rng(run.settings.seed).permutation(with_positives)
        self.pairs_per_epoch = idx.size
        self._near: Codes | None = None

    def resumes_at(self, epoch: int) -> bool:
        """Only where the lists are made anew."""
        return epoch % REFRESH == 0

    def epochs_per_call(self, epoch: int) -> int:
        """Epochs from this one on until the lists of nearest nodes are due."""
        return REFRESH - epoch % REFRESH

    def train(self, first_epoch: int, steps: Floats) -> Trained:
        """By :meth:`treeball.engine.Engine.train_full_softmax`."""
        if self._near is None or first_epoch % REFRESH == 0:
            self._near = self._nearest()
        return self.engine.train_full_softmax(
            self.vectors,
            self.heads,
            self.positive_ptr,
            self.positive_idx,
            self._near,
            steps,
            sharpness=self.sharpness,
            first_epoch=first_epoch,
            negatives=self.settings.negatives,
            bound=self.bound,
            seed=self.settings.seed,
            workers=self.workers,
        )

    def _nearest(self) -> Codes:
        """The non-positives among the `NEAREST` of every node, int32 (n, k), ascending, -1 for the positives."""
        n = self.hierarchy.n_nodes
        tree = search_tree(*self.space.ranking_coordinates(self.vectors))
        is_positive = self.hierarchy.is_ancestor if self.settings.objective == "ancestors" else self.hierarchy.is_parent
        near = np.empty((n, max(1, min(NEAREST, n - 1))), np.int32)
        for begin in range(0, n, BLOCK):
            nodes = np.arange(begin, min(n, begin + BLOCK))
            codes = tree.nearest(nodes, near.shape[1], threads=self.workers)[0]
            repeated = np.repeat(nodes, codes.shape[1])
            positive = is_positive(np.maximum(codes, 0).ravel(), repeated).reshape(codes.shape)
            near[nodes] = np.sort(np.where(positive, -1, codes), axis=1)
        return near
