"""The method `softmax`: a softmax over all nodes whose sharpness is free, for DAGs and for all ancestors.

With the softmax of equation 2 distances must grow to log n and more to tell n nodes apart. That drives an embedding out
to a radius of 7 and beyond, where hyperbolic space is as stiff as a tree and no node can be near to two parents. A
factor k on distances changes that: with k = 20 the same loss is met within radius 4, where space is nearly flat and a
DAG has the room that it needs. (The same is a softmax with k = 1 in a space of curvature -1/k².)

All nodes move at once, by Adam: steps of lr / k in hyperbolic units, which shrink as the softmax sharpens. The
sharpness is held for the first part of the epochs, then rises eightfold, so that in the end only the nodes count that
are nearer than they should be. The last epochs come to rest.

The sharper, the better a DAG fits; but from some sharpness on, which depends on data and dimension, random first
vectors never untangle. That shows early, in the loss: then the training starts again with a lower one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..engine import Trained
from ..types import Codes, Floats
from .descent import Descent, Epochs
from .first_vectors import place_first
from .near_lists import REFRESH, non_positives_near
from .registry import Method
from .run import Run
from .settings import SoftmaxSettings

__all__ = ["METHODS", "SoftmaxDescent", "train"]

# Shares of the epochs after which sharpness begins to rise, and has risen; and how much it rises.
HELD, RISEN, RISE = 0.3, 0.8, 8.0
# Adam begins anew after so many epochs: a run can be stopped there and resumed with the same end.
RESTART = 20
# The sharpness that is tried first, the factor to the next, and the least. A training of so many epochs or more is
# looked at after some: it is tangled if its loss is above this share of log n, that of nodes all in one place.
FIRST, LOWER, LEAST = 20.0, 0.7, 5.0
JUDGED_FROM, JUDGED_AFTER, TANGLED = 600, 200, 0.25


class SoftmaxDescent(Descent):
    """Runs epochs of the method with a sharpness at the start, changing the vectors of a run in place."""

    def __init__(self, run: Run, sharpness: float) -> None:
        self.first_sharpness = sharpness
        self.positive_ptr, self.positive_idx = run.hierarchy.positives(run.settings.objective)
        self.heads = np.flatnonzero(np.diff(self.positive_ptr)).astype(np.int32)
        super().__init__(run, self.heads.size)
        # Neighbours in the hierarchy should not all fall to one worker: they have the same many positives.
        self.heads = np.random.default_rng(run.settings.seed).permutation(self.heads)
        self.pairs_per_epoch = self.positive_idx.size
        self._near: Codes | None = None
        self._moments = (np.zeros(self.vectors.shape), np.zeros(len(self.vectors)))
        self._steps = 0  # since the moments were zero

    def resumes_at(self, epoch: int) -> bool:
        """Only where Adam begins anew."""
        return epoch % RESTART == 0

    def epochs_per_call(self, epoch: int) -> int:
        """Epochs from this one on until the lists of nearest nodes are due."""
        return REFRESH - epoch % REFRESH

    def train(self, first_epoch: int, steps: Floats) -> Trained:
        """By :meth:`treeball.engine.Engine.descend_softmax`."""
        if self._near is None or first_epoch % REFRESH == 0:
            self._near = non_positives_near(self)
        if first_epoch % RESTART == 0:
            self._steps = 0
            for moment in self._moments:
                moment[:] = 0.0
        before, self._steps = self._steps, self._steps + steps.size
        epochs = np.arange(first_epoch, first_epoch + steps.size)
        return self.engine.descend_softmax(
            self.vectors,
            self._moments,
            self.heads,
            self.positive_ptr,
            self.positive_idx,
            self._near,
            sharpness=self.sharpness(epochs),
            rates=steps,
            first_epoch=first_epoch,
            steps_before=before,
            negatives=self.settings.negatives,
            bound=self.bound,
            seed=self.settings.seed,
            workers=self.workers,
        )

    def sharpness(self, epochs: NDArray[np.signedinteger]) -> Floats:
        """The factor on distances in some epochs."""
        risen = np.clip((epochs / self.settings.epochs - HELD) / (RISEN - HELD), 0.0, 1.0)
        return np.asarray(self.first_sharpness * RISE**risen)

    def steps(self, first_epoch: int, count: int) -> Floats:
        """Lengths of the steps in some epochs: by the root of the sharpness, and to rest in the last ones."""
        epochs = np.arange(first_epoch, first_epoch + count)
        rest = np.clip((1.0 - epochs / self.settings.epochs) / (1.0 - RISEN), 0.0, 1.0)
        return np.asarray(self.settings.lr * rest / np.sqrt(self.first_sharpness * self.sharpness(epochs)))


def train(run: Run) -> Iterator[Epochs]:
    """Descend from the epoch the run has reached to the last; yields after every few epochs."""
    tried = [entry.facts["sharpness"] for entry in run.log if "sharpness" in entry.facts]
    sharpness = run.settings.sharpness or (tried[-1] if tried else FIRST)
    place_first(run, 1.0 / sharpness)
    descent = SoftmaxDescent(run, sharpness)
    while run.epoch < run.settings.epochs:
        if run.epoch == JUDGED_AFTER and _is_tangled(run, sharpness):
            before, sharpness = sharpness, max(LEAST, LOWER * sharpness)
            run.note(
                f"nodes stay tangled with sharpness {before:.3g} (loss {run.loss:.2f}): again with {sharpness:.3g}",
                sharpness=sharpness,
            )
            run.epoch = 0
            run.trace.clear()
            place_first(run, 1.0 / sharpness)
            descent = SoftmaxDescent(run, sharpness)
        yield run.descend(descent, JUDGED_AFTER)


def _is_tangled(run: Run, sharpness: float) -> bool:
    """Whether a training whose sharpness is ours to choose has not untangled by now, and may with a lower one."""
    ours = run.settings.sharpness is None and run.settings.epochs >= JUDGED_FROM and sharpness > LEAST
    return ours and run.loss is not None and run.loss > TANGLED * math.log(run.hierarchy.n_nodes)


METHODS = (Method("softmax", train, settings=SoftmaxSettings),)
