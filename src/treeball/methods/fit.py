"""fit: from a hierarchy to a trained embedding, with progress, checkpoints and a way to stop and go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..embedding import Embedding
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..settings import FitSettings
from . import baselines
from .descent import Epochs

CHECKPOINT_SECONDS = 30.0


@dataclass
class Run:
    """A training run at the end of an epoch: all that a checkpoint holds."""

    hierarchy: Hierarchy
    settings: FitSettings
    vectors: NDArray[np.float64]
    epoch: int = 0
    clamped: int = 0
    loss: float | None = None

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
            "clamped": {"times": self.clamped, "at_radius": self.settings.max_radius},
            "input": None if report is None else report.to_dict(),
        }
        return Embedding(self.vectors, self.hierarchy, self.settings.geometry, provenance)

    def advance(self, done: Epochs) -> None:
        """Note that some epochs are over."""
        self.epoch += done.count
        self.clamped += done.clamped
        self.loss = done.loss


@dataclass
class Checkpoints:
    """Saves the run to `path` every `seconds`, always at the end of an epoch."""

    path: Path
    seconds: float = CHECKPOINT_SECONDS
    _last: float = field(default_factory=time.monotonic)

    def save_if_due(self, run: Run) -> None:
        """Save when the last save is long enough ago."""
        if time.monotonic() - self._last >= self.seconds:
            self.save(run)

    def save(self, run: Run) -> None:
        """Save now."""
        run.embedding().save(self.path)
        self._last = time.monotonic()


def fit(
    source: Any,
    settings: FitSettings | None = None,
    *,
    resume: Embedding | None = None,
    checkpoints: Checkpoints | None = None,
    watch: Callable[[Run, Epochs], bool] | None = None,
    **overrides: Any,
) -> Embedding:
    """Embed a hierarchy.

    Parameters
    ----------
    source
        A :class:`Hierarchy`, or anything :func:`treeball.read` takes: a path, a table, a graph, pairs.
    settings
        A :class:`FitSettings`; single settings can be given by name as well, as in ``fit("tree.csv", dim=5)``.
    resume
        An embedding of the same hierarchy made with the same settings (the number of epochs may differ): training goes
        on from the epoch it reached.
    checkpoints
        Where and how often to save while training.
    watch
        Called after every few epochs with the run and what the epochs did; return True to stop early.

    Returns
    -------
    Embedding
        Its ``provenance["epochs_done"]`` says how many epochs were trained.
    """
    settings = (settings or FitSettings()).replace(**overrides)
    if not isinstance(source, Hierarchy):
        from ..readers import read

        source = read(source)
    run = start(source, settings, resume)
    for done in baselines.train(source, settings, run.vectors, run.epoch):
        run.advance(done)
        if watch is not None and watch(run, done):
            break
        if checkpoints is not None:
            checkpoints.save_if_due(run)
    return run.embedding()


def start(hierarchy: Hierarchy, settings: FitSettings, resume: Embedding | None = None) -> Run:
    """The run at its first epoch, or at the one `resume` reached."""
    if resume is None:
        return Run(hierarchy, settings, baselines.initial_vectors(hierarchy, settings))
    _require_same_run(hierarchy, settings, resume)
    record = resume.provenance
    return Run(
        hierarchy,
        settings,
        np.array(resume.vectors),
        epoch=record["epochs_done"],
        clamped=record["clamped"]["times"],
        loss=record["loss"],
    )


def _require_same_run(hierarchy: Hierarchy, settings: FitSettings, resume: Embedding) -> None:
    try:
        before = {**resume.provenance["settings"], "epochs": settings.epochs}
        done = resume.provenance["epochs_done"]
    except (KeyError, TypeError) as error:
        raise InputError("the model to resume does not say how it was trained; start without resume") from error
    now = settings.to_dict()
    changed = [
        f"{name} was {before.get(name)!r} and is now {now[name]!r}" for name in now if before.get(name) != now[name]
    ]
    if changed:
        raise InputError(f"cannot resume with other settings: {'; '.join(changed)}; use the old ones or start afresh")
    if done > settings.epochs:
        raise InputError(f"the model to resume has {done} epochs already, more than the {settings.epochs} asked for")
    same = len(resume.hierarchy.names) == hierarchy.n_nodes and resume.hierarchy.n_edges == hierarchy.n_edges
    if not same or not _same_edges(hierarchy, resume.hierarchy):
        raise InputError("cannot resume: the hierarchy is not the one the model was trained on; start afresh")


def _same_edges(a: Hierarchy, b: Hierarchy) -> bool:
    names = a.names.to_arrow().equals(b.names.to_arrow())
    return bool(names and all(np.array_equal(x, y) for x, y in zip(a.edges(), b.edges(), strict=True)))
