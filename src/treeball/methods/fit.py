"""fit: from a hierarchy to a trained embedding, with progress, checkpoints and a way to stop and go on."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..embedding import Embedding
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..settings import FitSettings
from . import auto, baselines, geometry_aware, sarkar, sharpened, untangled
from .construct import construct
from .descent import Epochs
from .heal import heal
from .run import Run

CHECKPOINT_SECONDS = 30.0
# Healing looks at every node for every node it moves.
HEAL_UP_TO_NODES = 200_000
_TRAINERS = {
    "sharpened": sharpened.train,
    **dict.fromkeys(("ga-dl", "ga-dl-rw", "ga-rw"), geometry_aware.train),
}


@dataclass
class Checkpoints:
    """Saves the run to `path` every `seconds`, always at the end of an epoch."""

    path: Path
    seconds: float = CHECKPOINT_SECONDS
    _last: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if math.isnan(self.seconds) or self.seconds < 0:
            raise InputError(f"checkpoints must be 0 seconds or more apart, not {self.seconds}")

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
    why: Sequence[str] = (),
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
        Called after every few epochs with the run and what the epochs did; return True to stop early, at the next
        epoch from which the run could be resumed with the same end.
    why
        Remarks for the log that stand before those of the method.

    Returns
    -------
    Embedding
        Its ``provenance["epochs_done"]`` says how many epochs were trained.
    """
    if settings is not None and not isinstance(settings, FitSettings):
        raise InputError(f"settings must be a FitSettings, not {settings!r}; single settings go by name, as in dim=5")
    settings = (settings or FitSettings()).replace(**overrides)
    if not isinstance(source, Hierarchy):
        source = _read(source)
    settings, choices = auto.resolve(source, settings)
    reasons = [*why, *choices]
    if settings.method in ("sarkar", "construct"):
        run = _constructed(source, settings)
        run.log[:0] = [{"epoch": 0, "text": reason} for reason in reasons]
        return _finished(run)
    run = start(source, settings, resume)
    run.pause_every = getattr(watch, "pause_every", lambda epochs: 0)(settings.epochs)
    if not run.log:
        for reason in reasons:
            run.note(reason)
    train = _TRAINERS.get(settings.method, baselines.train)
    stopping = False
    for done in train(run):
        stopping |= watch is not None and watch(run, done)
        if not run.resumable:
            continue
        if stopping:
            break
        if checkpoints is not None:
            checkpoints.save_if_due(run)
    return _finished(run) if run.epoch >= settings.epochs else run.embedding()


def _read(source: Any) -> Hierarchy:
    """Read a hierarchy, and log what a person should know about it: a guess or a repair."""
    from ..readers import read

    hierarchy = read(source)
    report = hierarchy.report
    if report is not None and (report.n_repairs or report.direction_doubt):
        logging.getLogger("treeball").warning("%s", report.summary())
    return hierarchy


def _constructed(hierarchy: Hierarchy, settings: FitSettings) -> Run:
    """A run without epochs: a construction, ours or that of Sala et al.; what it found out is in the log."""
    if settings.method == "sarkar":
        theirs = sarkar.construct(hierarchy, settings.dim, max_radius=settings.radius_limit, seed=settings.seed)
        run = Run(hierarchy, settings, theirs.vectors, clamped=theirs.clamped)
        run.note(theirs.note, construction=theirs.to_dict())
    else:
        ours = construct(hierarchy, settings.dim, seed=settings.seed, threads=settings.threads)
        run = Run(hierarchy, settings, ours.vectors)
        run.note(ours.note, construction=ours.to_dict())
    return run


def _finished(run: Run) -> Embedding:
    """The result of a run that came to its end, healed where the settings ask for it."""
    settings, embedding = run.settings, run.embedding()
    if not settings.heal or settings.objective != "parents" or len(embedding) > HEAL_UP_TO_NODES:
        return embedding
    healing = heal(embedding, threads=settings.threads)
    if healing.moved:
        run.note(healing.note, healing=healing.to_dict())
    left = sum(healing.after.illness.counts().values())
    if left and settings.method == "construct":
        run.note(auto.why_ill(run.hierarchy, settings, left))
    provenance = {**embedding.provenance, "log": list(run.log)}
    return Embedding(healing.embedding.vectors, run.hierarchy, "poincare", provenance)


def start(hierarchy: Hierarchy, settings: FitSettings, resume: Embedding | None = None) -> Run:
    """The run at its first epoch, or at the one `resume` reached."""
    if resume is None:
        first = untangled if settings.init == "construct" else baselines
        return Run(hierarchy, settings, first.initial_vectors(hierarchy, settings))
    _require_same_run(hierarchy, settings, resume)
    record = resume.provenance
    return Run(
        hierarchy,
        settings,
        np.array(resume.vectors),
        epoch=record["epochs_done"],
        clamped=record["clamped"]["times"],
        loss=record["loss"],
        log=list(record.get("log", [])),
        trace=list(record.get("trace", [])),
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
