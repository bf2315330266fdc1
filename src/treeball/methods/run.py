"""Run: the state of a training at the end of an epoch; all that a checkpoint holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..embedding import Embedding
from ..hierarchy import Hierarchy
from ..settings import FitSettings

if TYPE_CHECKING:
    from .descent import Descent, Epochs
    from .whole_descent import WholeDescent

# A trace is exact up to this many nodes, and sampled beyond.
TRACE_EXACT_NODES = 20_000
TRACE_SAMPLE = 2_000


@dataclass
class Run:
    """A training run.

    Attributes
    ----------
    vectors : float64 (n, width)
        Changed in place by every epoch.
    epoch : int
        Epochs done.
    clamped : int
        How often a vector was clamped to the largest radius.
    loss : float or None
        Mean loss of a pair in the last epoch.
    log : list of dict
        Decisions of the method: ``{"epoch": 300, "text": ...}``.
    trace : list of dict
        Scores along the way, when the settings ask for them.
    pause_every : int
        Epochs after which someone wants to look, or 0.
    resumable : bool
        Whether stopping here and resuming leads to the same end as going on.
    """

    hierarchy: Hierarchy
    settings: FitSettings
    vectors: NDArray[np.float64]
    epoch: int = 0
    clamped: int = 0
    loss: float | None = None
    log: list[dict[str, Any]] = field(default_factory=list)
    trace: list[dict[str, Any]] = field(default_factory=list)
    pause_every: int = 0
    resumable: bool = True

    def descend(self, descent: Descent | WholeDescent, *stops: int) -> Epochs:
        """Train some epochs, but not past the next of `stops`, the next trace or the end."""
        ends = [end for end in (*stops, self.settings.epochs) if end > self.epoch]
        for every in (self.settings.trace_every, self.pause_every):
            if every:
                ends.append((self.epoch // every + 1) * every)
        done = descent.run(self.epoch, min(descent.epochs_per_call(self.epoch), min(ends) - self.epoch))
        self.epoch += done.count
        self.resumable = descent.resumes_at(self.epoch)
        self.clamped += done.clamped
        self.loss = done.loss
        if self.settings.trace_every and self.epoch % self.settings.trace_every == 0:
            self._record()
        return done

    def note(self, text: str, **facts: Any) -> None:
        """Log a decision."""
        self.log.append({"epoch": self.epoch, "text": text, **facts})

    def _record(self) -> None:
        sample = None if self.hierarchy.n_nodes <= TRACE_EXACT_NODES else TRACE_SAMPLE
        scores = self.embedding().evaluate(sample=sample, threads=self.settings.threads)
        point = {"epoch": self.epoch, "loss": self.loss, "map": scores.map, "mean_rank": scores.mean_rank}
        point |= scores.illness.counts() | {"max_radius": scores.max_radius}
        self.trace.append(point if sample is None else point | {"sampled": sample})

    def embedding(self) -> Embedding:
        """A copy of the state as an embedding, its provenance saying how far the training went."""
        report = self.hierarchy.report
        provenance: dict[str, Any] = {
            "method": self.settings.method,
            "objective": self.settings.objective,
            "seed": self.settings.seed,
            "settings": self.settings.to_dict(),
            "version": __version__,
            "epochs_done": self.epoch,
            "loss": self.loss,
            "clamped": {"times": self.clamped, "at_radius": self.settings.radius_limit},
            "log": list(self.log),
            "trace": list(self.trace),
            "input": None if report is None else report.to_dict(),
        }
        return Embedding(self.vectors, self.hierarchy, self.settings.geometry, provenance)
