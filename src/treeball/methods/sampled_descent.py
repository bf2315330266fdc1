"""Riemannian gradient descent on the sampled softmax: every pair against random nodes."""

from __future__ import annotations

import numpy as np

from ..engine import Trained
from ..types import Floats
from .descent import Descent
from .pairs import Pairs
from .run import Run

__all__ = ["SampledDescent"]


class SampledDescent(Descent):
    """Every pair against random nodes: equation 2, or with other pairs and weights equation 7."""

    def __init__(self, run: Run, pairs: Pairs) -> None:
        super().__init__(run, pairs.heads.size)
        self.pairs = pairs
        # An end of a random edge: nodes as often as they have edges.
        self.lots = np.concatenate(run.hierarchy.edges()) if run.settings.burn_in_negatives == "degree" else None

    def train(self, first_epoch: int, steps: Floats) -> Trained:
        """By :meth:`treeball.engine.Engine.train`."""
        pairs, settings = self.pairs, self.settings
        return self.engine.train(
            self.space.name,
            self.vectors,
            pairs.heads,
            pairs.tails,
            pairs.weights,
            pairs.positive_ptr,
            pairs.positive_idx,
            steps,
            first_epoch=first_epoch,
            negatives=settings.negatives,
            bound=self.bound,
            seed=settings.seed,
            workers=self.workers,
            lots=self.lots,
            lots_until=settings.burn_in,
        )
