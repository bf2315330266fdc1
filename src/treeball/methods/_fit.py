"""fit: from a hierarchy to an embedding with its scores; with progress, checkpoints and a way to stop and go on."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import is_number
from ..embedding import Embedding
from ..engine import choose
from ..errors import InputError, NumericalError
from ..hierarchy import Hierarchy
from ..types import Floats
from ..words import count
from ._heal import ROUNDS, heal
from .auto import Choice, resolve
from .dimension import why_ill
from .fit_settings import FitSettings, given_settings
from .heal_several import STEPS
from .observe import Watch
from .progress import HealingProgress, StopOnInterrupt, TrainingProgress, WorkProgress
from .registry import find
from .rivals import best_of
from .run import Run
from .settings import Settings

__all__ = ["Checkpoints", "begin", "fit"]

_LOG = logging.getLogger("treeball")

CHECKPOINT_SECONDS = 30.0
# Numbers: twice what compiled loops take in one go.
ROOM_BEHIND = 64
# Healing looks at every node for every node it moves.
HEAL_UP_TO_NODES = 200_000
# In two or three dimensions a construction may leave so many ill that there is no room for them, and to look for it
# takes hours: each ill pair is compared with all nodes some thousand times.
HOPELESS_COMPARISONS = 500_000_000


@dataclass
class Checkpoints:
    """Saves the run to `path` every `seconds`, always at the end of an epoch.

    One that cannot be written is no reason to end a training: it is said, and tried again when the next is due.
    """

    path: Path
    seconds: float = CHECKPOINT_SECONDS
    _last: float = field(default_factory=time.monotonic)
    _failed: bool = False

    def __post_init__(self) -> None:
        if math.isnan(self.seconds) or self.seconds < 0:
            raise InputError(f"checkpoints must be 0 seconds or more apart, not {self.seconds}")

    def save_if_due(self, run: Run) -> None:
        """Save when the last save is long enough ago."""
        if time.monotonic() - self._last >= self.seconds:
            self.save(run)

    def save(self, run: Run) -> None:
        """Save now."""
        try:
            run.embedding().save(self.path)
        except (InputError, OSError) as error:
            if not self._failed:
                _LOG.warning("no checkpoint for now: %s; the training goes on, and it will be tried again", error)
            self._failed = True
        else:
            if self._failed:
                _LOG.warning("the checkpoint %s could be written again", self.path)
            self._failed = False
        self._last = time.monotonic()


def fit(
    source: Any,
    settings: FitSettings | Settings | Choice | None = None,
    *,
    resume: Embedding | None = None,
    checkpoints: Checkpoints | None = None,
    watch: Watch | None = None,
    progress: bool = False,
    scores: bool = True,
    **overrides: Any,
) -> Embedding:
    """Embed a hierarchy.

    Ctrl-C ends a training at the end of an epoch, and what there is by then is returned; a second one ends the program.

    Parameters
    ----------
    source
        A :class:`Hierarchy`, or anything :func:`treeball.read` takes: a path, a table, a graph, pairs.
    settings
        A :class:`FitSettings`; single settings can be given by name as well, as in ``fit("tree.csv", dim=5)``. One that
        the method has no use for is an error.
    resume
        An embedding of the same hierarchy made with the same settings (the number of epochs may differ): training goes
        on from the epoch it reached.
    checkpoints
        Where and how often to save while training.
    watch
        Called after every few epochs, always the same ones, with the run and what the epochs did; return True to stop
        early, at the next epoch from which the run could be resumed with the same end.
    progress
        Show a training on standard error: epoch, loss, speed, time left.
    scores
        Evaluate the result and keep the scores in its provenance; :meth:`Embedding.evaluate` then has them at once.

    Returns
    -------
    Embedding
        Its ``provenance.epochs_done`` says how many epochs were trained, ``provenance.scores`` how good it is.
    """
    hierarchy = source if isinstance(source, Hierarchy) else read_and_tell(source)
    if isinstance(settings, Choice):
        if overrides:
            raise InputError(f"a choice is made already: {', '.join(overrides)} cannot be changed any more")
        choice = settings
    elif isinstance(settings, Settings):
        choice = Choice(settings.replace(**overrides), [])
    else:
        choice = resolve(hierarchy, given_settings(settings, **overrides), progress=progress)
    settings = choice.settings
    if settings.device == "cuda":
        choose("cuda")  # where there is none, nothing is begun that could not be scored
    run = begin(hierarchy, settings, resume)
    run.trace_every = choice.trace_every or run.trace_every
    run.pause_every = getattr(watch, "pause_every", lambda epochs: 0)(settings.epochs_to_train)
    if not run.log:
        for reason in choice.reasons:
            run.note(reason)
    try:
        _execute(run, checkpoints, watch, progress)
    except NumericalError as error:
        embedding = _instead(error, choice, run)
    else:
        embedding = _finished(choice, run, checkpoints, progress)
    if scores:
        with WorkProgress(silent=not progress) as work:
            work.begin("evaluating")
            evaluation = embedding.evaluate(threads=settings.threads, device=settings.scored_on)
            embedding.quick_reach()  # so that it is saved
        embedding = embedding.with_provenance(embedding.provenance.with_scores(evaluation))
    return embedding


def _finished(choice: Choice, run: Run, checkpoints: Checkpoints | None, progress: bool) -> Embedding:
    """The embedding of a run that has ended, healed and compared with its rivals if it came to its end."""
    settings = run.settings
    finished = run.epoch >= settings.epochs_to_train
    if checkpoints is not None and run.epoch:
        checkpoints.save(run)  # whatever interrupts what follows, no training is lost
    # Where nobody asked for it, healing takes no longer than the training did, whose steps cost about twice as much.
    most = 2 * settings.epochs_to_train // STEPS if choice.reasons and settings.epochs_to_train else ROUNDS
    embedding = _healed(run, min(most, ROUNDS), progress) if finished and settings.heal else run.embedding()
    if finished and choice.rivals and not run.has_noted("compared"):
        embedding = best_of(embedding, choice, run, lambda rival: fit(run.hierarchy, rival)) or embedding
    if finished and not settings.epochs_to_train:
        embedding = _explained(embedding, settings)
    return embedding


def _instead(error: NumericalError, choice: Choice, run: Run) -> Embedding:
    """The best rival of a training that stopped giving numbers; the error if there is none."""
    run.note(f"{run.settings.method} failed: {error}")
    embedding = best_of(None, choice, run, lambda rival: fit(run.hierarchy, rival))
    if embedding is None:
        raise error
    return embedding


def _execute(run: Run, checkpoints: Checkpoints | None, watch: Watch | None, progress: bool) -> None:
    """Let the method work until it has finished or somebody stops it."""
    epochs = run.settings.epochs_to_train
    steps = find(run.settings.method).run(run)
    if not epochs:  # nothing to watch, and nothing to return before it has come to its end
        with WorkProgress(silent=not progress) as work:
            work.begin(f"{run.settings.method}: placing {count(run.hierarchy.n_nodes, 'node')}")
            for _ in steps:
                pass
        return
    stopping = False
    with TrainingProgress(epochs, run.epoch, silent=not progress) as line, StopOnInterrupt() as interrupt:
        for done in steps:
            run.trace_if_due()
            line.see(run, done)
            stopping |= watch is not None and bool(watch(run, done))
            stopping |= interrupt.requested
            if not run.resumable:
                continue
            if stopping:
                break
            if checkpoints is not None:
                checkpoints.save_if_due(run)


def read_and_tell(source: Any) -> Hierarchy:
    """Read a hierarchy, and log what a person should know about it: a guess or a repair."""
    from ..io.readers import read

    hierarchy = read(source)
    report = hierarchy.report
    if report is not None and (report.n_repairs or report.direction_doubt):
        _LOG.warning("%s", report.summary())
    return hierarchy


def _healed(run: Run, rounds: int, progress: bool) -> Embedding:
    """The result of a run that came to its end, healed; what stays ill is in the log, and why."""
    settings, embedding = run.settings, run.embedding()
    if len(embedding) > HEAL_UP_TO_NODES:
        run.note(f"not healed: that takes too long beyond {HEAL_UP_TO_NODES:,} nodes")
        return embedding.with_provenance(run.embedding().provenance)
    if _is_hopeless(embedding, settings):
        left = len(embedding.evaluate(threads=settings.threads, device=settings.scored_on).illness)
        run.note(f"not healed: {left:,} pairs are ill, too many for the room there is in {settings.dim} dimensions")
        return embedding.with_provenance(run.embedding().provenance)
    # Sums of several workers depend on how many there are.
    threads = 1 if settings.deterministic else settings.threads
    is_trained = bool(settings.epochs_to_train)
    # A construction mostly heals in a moment: then there is nothing to tell.
    with WorkProgress(silent=not progress or is_trained) as work:
        work.begin("healing")
        with HealingProgress(silent=not (progress and is_trained)) as watch:
            healing = heal(embedding, rounds=rounds, threads=threads, watch=watch, device=settings.scored_on)
    if healing.moved:
        run.note(healing.note, healing=healing.to_dict())
    return healing.embedding.with_provenance(run.embedding().provenance)


def _explained(embedding: Embedding, settings: Settings) -> Embedding:
    """The same with a sentence in its log on what a healed construction left ill, and why."""
    if not settings.heal or len(embedding) > HEAL_UP_TO_NODES:
        return embedding
    left = len(embedding.evaluate(threads=settings.threads, device=settings.scored_on).illness)
    if not left:
        return embedding
    note = why_ill(embedding.hierarchy, settings, left, embedding.precision)
    return embedding.with_provenance(embedding.provenance.with_log(note))


def _is_hopeless(embedding: Embedding, settings: Settings) -> bool:
    """Whether a construction in few dimensions has left too much ill for healing to find room for it."""
    if settings.epochs_to_train or settings.dim > 3:
        return False
    ill = len(embedding.evaluate(threads=settings.threads, device=settings.scored_on).illness)
    return ill * len(embedding) > HOPELESS_COMPARISONS


def begin(hierarchy: Hierarchy, settings: Settings, resume: Embedding | None = None) -> Run:
    """The run before its first epoch, or at the one `resume` reached."""
    if resume is None:
        run = Run.begin(hierarchy, settings)
    else:
        _require_same_run(hierarchy, settings, resume)
        record = resume.provenance
        run = Run(
            hierarchy,
            settings,
            resume.vectors if resume.spare is None else np.hstack([resume.vectors, resume.spare]),
            epoch=record.epochs_done,
            clamped=record.clamped.times,
            loss=record.loss,
            dilations=record.dilations,
            log=list(record.log),
            trace=list(record.trace),
        )
    every = getattr(settings, "trace_every", 0)
    run.trace_every = every if is_number(every) and every >= 1 else 0  # a method from outside may mean something else
    run.vectors = _with_room_behind(run.vectors)
    return run


def _with_room_behind(vectors: Floats) -> Floats:
    """A copy with nothing else in the memory behind its last row.

    Compiled loops look whether what they write lies close behind what they read, and if so add up in another order.
    Whether it does is the allocator's whim: the same training would end some last digits apart.
    """
    block = np.empty(vectors.size + ROOM_BEHIND)
    block[: vectors.size] = vectors.ravel()
    return block[: vectors.size].reshape(vectors.shape)


def _require_same_run(hierarchy: Hierarchy, settings: Settings, resume: Embedding) -> None:
    record = resume.provenance
    if not record.settings:
        raise InputError("the model to resume does not say how it was trained; start without resume")
    now = settings.to_dict()
    if record.settings.get("method", settings.method) != settings.method:
        raise InputError(
            f"cannot resume: the model was made by {record.method}, and this would be a training by {settings.method}; "
            "start afresh"
        )
    # Records of earlier versions leave out what was not set.
    before = {name: value for name, value in record.settings.items() if value is not None and name != "epochs"}
    changed = [
        f"{name} was {before[name]!r} and is now {now[name]!r}"
        for name in now
        if not settings.means_the_same(name, before.get(name, now[name]))
    ]
    if changed:
        raise InputError(f"cannot resume with other settings: {'; '.join(changed)}; use the old ones or start afresh")
    epochs = settings.epochs_to_train
    if record.epochs_done > epochs:
        raise InputError(
            f"the model to resume has {record.epochs_done} epochs already, more than the {epochs} asked for"
        )
    same = len(resume.hierarchy.names) == hierarchy.n_nodes and resume.hierarchy.n_edges == hierarchy.n_edges
    if not same or not _same_edges(hierarchy, resume.hierarchy):
        raise InputError("cannot resume: the hierarchy is not the one the model was trained on; start afresh")
    if resume.geometry != find(settings.method).space:
        raise InputError(
            f"cannot resume: the model is no longer one of {settings.method} but was moved to the geometry "
            f"{resume.geometry}, as healing does; start afresh"
        )


def _same_edges(a: Hierarchy, b: Hierarchy) -> bool:
    names = a.names.to_arrow().equals(b.names.to_arrow())
    return bool(names and all(np.array_equal(x, y) for x, y in zip(a.edges(), b.edges(), strict=True)))
