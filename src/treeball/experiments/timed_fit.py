"""A fit on equal terms: timed without what compiling, scoring and watching cost, and never half done."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..geometry.directions import even_directions, ordered_directions
from ..hierarchy import Hierarchy
from ..interruption import is_interruption
from ..methods._fit import Checkpoints, fit
from ..methods.auto import Choice
from ..methods.progress import StopOnInterrupt
from ..methods.settings import Settings

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..methods.descent import Epochs
    from ..methods.run import Run

__all__ = ["Progress", "ShowProgress", "TimedFit", "timed_fit", "warm_up"]


class Progress(Protocol):
    """Shows how far a training is; `treeball.methods.progress.TrainingProgress` is one."""

    def show(self, epoch: int, loss: float, pairs_per_second: float, sampled_map: float | None) -> None:
        """Show the state after `epoch` epochs."""


ShowProgress = Callable[..., AbstractContextManager[Progress]]
"""Makes a display for a training of so many epochs; the second argument of a resumed one says how many are done."""


@dataclass(frozen=True)
class TimedFit:
    """An embedding without scores, the seconds that it took, and the positive pairs that a training visited."""

    embedding: Embedding
    seconds: float
    pairs: int


def timed_fit(
    hierarchy: Hierarchy,
    settings: Settings | Choice,
    *,
    progress: ShowProgress | None = None,
    watch: Callable[[Run], None] | None = None,
    resume: Embedding | None = None,
    checkpoints: Checkpoints | None = None,
) -> TimedFit:
    """Fit, and measure the time.

    Parameters
    ----------
    progress
        Makes a display of the training.
    watch
        Called with the run after every few epochs.
    resume, checkpoints
        As for :func:`treeball.fit`; seconds and pairs are those of this call alone.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C: of a training that was stopped :func:`treeball.fit` returns what there is, which must not be taken
        for a finished run.
    """
    epochs = (settings.settings if isinstance(settings, Choice) else settings).epochs_to_train
    done_before = [] if resume is None else [resume.provenance.epochs_done]
    display: AbstractContextManager[Progress | None]
    display = nullcontext() if progress is None else progress(epochs, *done_before)
    # A construction does not look up before its end: there Ctrl-C raises where it strikes.
    interruption = StopOnInterrupt() if epochs else nullcontext()
    pairs = 0
    with interruption as interrupt, display as shown:

        def see(run: Run, done: Epochs) -> bool:
            nonlocal pairs
            pairs += done.pairs
            if watch is not None:
                watch(run)
            if shown is not None:
                shown.show(run.epoch, done.loss, done.pairs / max(done.seconds, 1e-9), None)
            return interrupt is not None and interrupt.requested

        for directions in (even_directions, ordered_directions):
            directions.cache_clear()  # what one construction found would serve the next
        started = time.perf_counter()
        embedding = fit(hierarchy, settings, watch=see, scores=False, resume=resume, checkpoints=checkpoints)
        seconds = time.perf_counter() - started
    if interrupt is not None and interrupt.requested:
        raise KeyboardInterrupt
    return TimedFit(embedding, seconds, pairs)


def warm_up(settings: Settings) -> None:
    """Embed a small DAG with a method, so that loading and compiling is not counted as time of its first run."""
    brief = {"epochs": 2, "n_tc": 1, "dilation_from": 1, "trace_every": 0}
    child = np.arange(1, 31)
    # Nodes with a second parent leave something to heal.
    dag = Hierarchy.from_codes(range(31), np.append(child, child[-3:]), np.append((child - 1) // 5, [1, 2, 3]))
    try:
        fit(dag, settings.replace(**{name: value for name, value in brief.items() if name in settings.names()}))
    except Exception as error:
        if is_interruption(error):
            raise
        # A method that does not take this DAG may well take the hierarchy that was meant, and says so if not.
