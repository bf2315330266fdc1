"""Watching a training: who may look, and what they see. The report room has those who draw and write."""

from __future__ import annotations

from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..evaluation import Evaluation
    from .descent import Epochs
    from .run import Run

__all__ = ["Moment", "Observer", "Observers", "Watch"]

# Scores along the way are exact up to this many nodes, and those of a sample beyond.
EXACT_NODES = 3_000
SAMPLE = 1_000


class Watch(Protocol):
    """What :func:`treeball.fit` calls after every few epochs.

    How many depends on the hierarchy and the settings alone, so that a rule that stops early stops at the same epoch
    every time.
    """

    def __call__(self, run: Run, done: Epochs, /) -> bool | None:
        """Look at the run and at what its last epochs did; True stops the training, None and False do not."""


class Moment:
    """A training at the end of some epochs. What several observers want to know is computed once, and only if asked."""

    def __init__(self, run: Run, done: Epochs | None = None) -> None:
        self.run = run
        self.done = done

    @property
    def pairs_per_second(self) -> float | None:
        """Speed of the last epochs."""
        return None if self.done is None else self.done.pairs / max(self.done.seconds, 1e-9)

    @cached_property
    def embedding(self) -> Embedding:
        """A copy of the vectors."""
        return self.run.embedding()

    @cached_property
    def scores(self) -> Evaluation:
        """Scores, of a sample of nodes (always the same) if there are many."""
        sample = SAMPLE if len(self.embedding) > EXACT_NODES else 0
        return self.embedding.evaluate(
            sample=sample, threads=self.run.settings.threads, device=self.run.settings.scored_on
        )

    @cached_property
    def max_radius(self) -> float:
        """Largest distance from the origin."""
        return float(self.embedding.radii().max())


class Observer(Protocol):
    """Someone who watches a training."""

    def pause_every(self, epochs: int) -> int:
        """How often it must look at a training of so many epochs, in epochs; 0 if it does not matter."""

    def see(self, moment: Moment) -> None:
        """Called after every few epochs."""

    def finish(self, moment: Moment) -> None:
        """Called once when the training has ended, by its last epoch or by Ctrl-C."""

    def close(self) -> None:
        """Called last, also after an error."""


class Observers:
    """Calls all observers: what :func:`treeball.fit` takes as `watch`, and a context manager that closes them."""

    def __init__(self, watching: list[Observer]) -> None:
        self.watching = watching
        self._last: Run | None = None

    def pause_every(self, epochs: int) -> int:
        """How often a training of so many epochs must let them look, in epochs; 0 if it does not matter.

        Epochs of a small hierarchy are run many at a time, and would be over before anybody had seen them.
        """
        return min((every for one in self.watching if (every := one.pause_every(epochs))), default=0)

    def __call__(self, run: Run, done: Epochs, /) -> None:
        """Let all see the run after some epochs."""
        self._last = run
        moment = Moment(run, done)
        for observer in self.watching:
            observer.see(moment)

    def finish(self, embedding: Embedding | None = None) -> None:
        """Let all see what the training ended with, if it had begun: its last epoch, or what was made of that."""
        if self._last is None:
            return
        moment = Moment(self._last)
        if embedding is not None:
            moment.embedding = embedding
        for observer in self.watching:
            observer.finish(moment)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for observer in self.watching:
            observer.close()
