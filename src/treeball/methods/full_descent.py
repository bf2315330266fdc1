"""Riemannian gradient descent on the softmax over all nodes, by the nearest ones and a sample of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import Trained
from ..types import Codes, Floats
from .descent import Descent
from .near_lists import REFRESH, non_positives_near
from .run import Run

__all__ = ["FullDescent"]


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
            self._near = non_positives_near(self)
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
