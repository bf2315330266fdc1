"""Run: the state of a method at work at the end of an epoch; all that a checkpoint holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import is_number
from ..embedding import Clamped, Dilations, Embedding, LogEntry, Provenance
from ..geometry.spaces import Space, space_of
from ..hierarchy import Hierarchy
from ..types import Floats
from .registry import find

if TYPE_CHECKING:
    from .descent import Descent, Epochs

# A trace is exact up to this many nodes, and sampled beyond.
TRACE_EXACT_NODES = 20_000
TRACE_SAMPLE = 2_000


@dataclass
class Run:
    """A method at work on a hierarchy.

    Attributes
    ----------
    settings
        Those of the method.
    vectors : float64 (n, width), or wider
        Changed in place by every epoch. What is beyond the width of the space are coordinates that a method has to
        spare for a while.
    epoch
        Epochs done.
    clamped
        How often a vector was clamped to the largest radius.
    loss
        Mean loss of a pair in the last epoch.
    dilations
        Which dilations were done and skipped; None of a method that does not dilate.
    log
        Decisions of the method.
    trace
        Scores along the way, when the settings ask for them.
    pause_every
        Epochs after which someone wants to look, or 0.
    trace_every
        Epochs after which scores go into the trace, or 0.
    resumable
        Whether stopping here and resuming leads to the same end as going on.
    precise : float64 (terms, n, dim) or None
        Coordinates of several terms, of which the vectors are the rounded ones: see `geometry.half_space`.
    """

    hierarchy: Hierarchy
    settings: Any
    vectors: Floats
    epoch: int = 0
    clamped: int = 0
    loss: float | None = None
    dilations: Dilations | None = None
    log: list[LogEntry] = field(default_factory=list)
    trace: list[Mapping[str, Any]] = field(default_factory=list)
    pause_every: int = 0
    trace_every: int = 0
    resumable: bool = True
    precise: Floats | None = None

    @classmethod
    def begin(cls, hierarchy: Hierarchy, settings: Any) -> Run:
        """At the first epoch, all nodes at the origin: the method gives them their first places."""
        space = space_of(settings.space or find(settings.method).space)
        return cls(hierarchy, settings, np.tile(space.origin(settings.dim), (hierarchy.n_nodes, 1)))

    def take_construction(self, vectors: Floats) -> None:
        """Take the vectors of a construction: (n, dim), or points of several terms, which are rounded beside."""
        if vectors.ndim == 3:
            self.precise = vectors
            vectors = self.space.from_half_space(vectors)
        self.vectors[:] = vectors

    @property
    def space(self) -> Space:
        """Where the vectors live."""
        return space_of(self.settings.space or find(self.settings.method).space)

    def descend(self, descent: Descent, *stops: int) -> Epochs:
        """Train some epochs, but not past the next of `stops`, the next trace or the end."""
        ends = [end for end in (*stops, self.settings.epochs) if end > self.epoch]
        for every in (self.trace_every, self.pause_every):
            if every:
                ends.append((self.epoch // every + 1) * every)
        done = descent.run(self.epoch, min(descent.epochs_per_call(self.epoch), min(ends) - self.epoch))
        self.epoch += done.count
        self.resumable = descent.resumes_at(self.epoch)
        self.clamped += done.clamped
        self.loss = done.loss
        return done

    def trace_if_due(self) -> None:
        """Record scores if a multiple of `trace_every` was reached, or passed, since the last ones."""
        last = self.trace[-1]["epoch"] if self.trace else 0
        if self.trace_every and self.epoch // self.trace_every > last // self.trace_every:
            self._record()

    def note(self, text: str, **facts: Any) -> None:
        """Log a decision."""
        self.log.append(LogEntry(self.epoch, text, facts))

    def has_noted(self, fact: str) -> int:
        """How many decisions of the log have such a fact."""
        return sum(fact in entry.facts for entry in self.log)

    def _record(self) -> None:
        sample = None if self.hierarchy.n_nodes <= TRACE_EXACT_NODES else TRACE_SAMPLE
        scores = self.embedding().evaluate(sample=sample, threads=self.settings.threads, device=self.settings.scored_on)
        point = {"epoch": self.epoch, "loss": self.loss, "map": scores.map, "mean_rank": scores.mean_rank}
        point |= scores.illness.counts() | {"max_radius": scores.max_radius}
        self.trace.append(point if sample is None else point | {"sampled": sample})

    def embedding(self) -> Embedding:
        """A copy of the state as an embedding, its provenance saying how far the training went."""
        settings = self.settings
        provenance = Provenance.of_run(
            settings.method,
            settings.objective,
            settings.to_dict(),
            seed=settings.seed,
            epochs_done=self.epoch,
            loss=self.loss,
            clamped=Clamped(self.clamped, _largest_radius(settings)),
            dilations=self.dilations,
            log=self.log,
            trace=self.trace,
            report=self.hierarchy.report,
        )
        width = self.space.width(settings.dim)
        spare = self.vectors[:, width:] if self.vectors.shape[1] > width else None
        return Embedding(
            self.vectors[:, :width], self.hierarchy, self.space.name, provenance, spare=spare, precise=self.precise
        )


def _largest_radius(settings: Any) -> float | None:
    """Where vectors are clamped; None for a method that has no such setting, or one of another meaning."""
    radius: Any = getattr(settings, "max_radius", None)
    return float(radius) if is_number(radius) else None
