"""Riemannian gradient descent on the loss of a training: what all descents have in common."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..engine import Trained, choose
from ..errors import NumericalError
from ..types import Floats
from .run import Run

__all__ = ["Descent", "Epochs"]

# Epochs of a small hierarchy are run several at a call, so that calling costs nothing beside the work. How many depends
# on the pairs, the settings and the device alone, so that who watches and stops a training does it at the same epoch
# every time.
_LEAST_CALLS = 100
# Fewer than some hundred pairs a worker, and the workers spend their time on the same few rows.
_LEAST_PER_WORKER = 256


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


class Descent(ABC):
    """Runs epochs over the pairs of a run, changing its vectors in place.

    One worker alone (``deterministic``) gives the same result however the epochs are grouped into calls, because the
    random numbers of an epoch depend on the seed and the number of the epoch only.
    """

    def __init__(self, run: Run, per_epoch: int) -> None:
        settings = run.settings
        self.vectors, self.hierarchy, self.settings, self.space = run.vectors, run.hierarchy, settings, run.space
        self.engine = choose("cpu" if settings.deterministic else settings.device, per_epoch)
        if self.engine.name != "cpu" and not run.has_noted("device"):
            run.note(f"trained on {self.engine.device_name}", device=self.engine.device_name)
        workers = 1 if settings.deterministic else self.engine.workers(settings.threads)
        self.workers = max(1, min(workers, per_epoch // _LEAST_PER_WORKER))
        self.bound = self.space.bound(settings.max_radius)
        self.pairs_per_epoch = per_epoch

    def resumes_at(self, epoch: int) -> bool:
        """Whether a run that stops before this epoch and is resumed ends like one that did not stop."""
        return True

    def epochs_per_call(self, epoch: int) -> int:
        """How many epochs from this one on make a call."""
        few: int = min(self.engine.pairs_per_call // max(1, self.pairs_per_epoch), self.settings.epochs // _LEAST_CALLS)
        return max(1, few)

    def run(self, first_epoch: int, count: int) -> Epochs:
        """Train epochs first_epoch .. first_epoch+count-1 (from 0)."""
        started = time.perf_counter()
        trained = self.train(first_epoch, self.steps(first_epoch, count))
        if trained.failed is not None:
            raise self.failure(*trained.failed)
        # The last step of a call may overflow after its loss was taken.
        with np.errstate(over="ignore", invalid="ignore"):
            squares = 4.0 * np.einsum("ij,ij->i", self.vectors, self.vectors)
        if not np.isfinite(squares).all():
            raise self.failure(first_epoch + count - 1, int(np.argmin(np.isfinite(squares))))
        visited = count * self.pairs_per_epoch
        return Epochs(count, trained.loss, trained.clamped, visited, time.perf_counter() - started)

    @abstractmethod
    def train(self, first_epoch: int, steps: Floats) -> Trained:
        """Let the engine do the epochs."""

    def steps(self, first_epoch: int, count: int) -> Floats:
        """The step of a pair in some epochs, (count,)."""
        settings, number = self.settings, np.arange(first_epoch, first_epoch + count)
        factor = np.where(number < settings.burn_in, settings.burn_in_factor, 1.0)
        return np.asarray(factor * settings.lr / settings.batch)

    def failure(self, epoch: int, node: int) -> NumericalError:
        """The error that names the epoch and the node where the loss stopped being a number."""
        return NumericalError(
            f"the loss stopped being a number in epoch {epoch + 1}, at node {self.hierarchy.names[node]!r}: "
            f"the steps are too long, so lower the learning rate (now {self.settings.lr:g})"
            + (f" or raise the batch (now {self.settings.batch})" if hasattr(self.settings, "batch") else "")
        )
