"""Ways to watch a training while it runs: what can be asked for, and the hook that tells all who watch.

`WatchSettings` holds the options, `WatchSettings.observers` makes those who watch, and calling them after every few
epochs lets them see a `Moment`. They never change the vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from ..errors import InputError

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..evaluation import Evaluation
    from ..methods.descent import Epochs
    from ..methods.run import Run

# Scores along the way are exact up to this many nodes, and those of a sample beyond.
EXACT_NODES = 3_000
SAMPLE = 1_000


@dataclass(frozen=True, kw_only=True)
class WatchSettings:
    """Ways to watch a training.

    Parameters
    ----------
    live
        Serve a page on this machine with the disk, the loss and the ill pairs, and update it while training.
    live_port
        Port of that page; 0 takes a free one.
    tensorboard
        Folder to write TensorBoard event files to: loss, MAP, illness, radius and pairs per second.
    snapshots
        Keep so many snapshots of the training beside the model, for treeball plot --animate; 0 keeps none.
    """

    live: bool = False
    live_port: int = 0
    tensorboard: Path | None = None
    snapshots: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.live_port <= 65535:
            raise InputError(f"live_port must be between 0 and 65535, not {self.live_port}")
        if self.live_port and not self.live:
            raise InputError("live_port is the port of the page that --live serves: give --live too")
        if self.snapshots < 0 or self.snapshots == 1:
            raise InputError(f"snapshots must be 0, or at least 2 to be an animation, not {self.snapshots}")

    def observers(self, output: Path, say: Callable[[str], None]) -> Observers:
        """All who watch a training whose model goes to `output`; what cannot work is refused before the training."""
        watching: list[Observer] = []
        if self.snapshots:
            from .snapshots import SnapshotRecorder, frames_path

            watching.append(SnapshotRecorder(frames_path(output), self.snapshots, say))
        if self.tensorboard is not None:
            from .tensorboard import EventLog

            watching.append(EventLog(self.tensorboard))
            say(f"TensorBoard:  tensorboard --logdir {self.tensorboard}")
        if self.live:
            from .live import LiveView

            view = LiveView(self.live_port, title=output.stem)
            watching.append(view)
            say(f"watch the training at {view.address}")
        return Observers(watching)


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
        return self.embedding.evaluate(sample=sample, threads=self.run.settings.threads)

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

    def __call__(self, run: Run, done: Epochs) -> bool:
        """Let all see the run after some epochs; the answer, False, does not stop it."""
        self._last = run
        moment = Moment(run, done)
        for observer in self.watching:
            observer.see(moment)
        return False

    def finish(self, embedding: Embedding) -> None:
        """Let all see what the training ended with; `embedding` also serves methods that have no epochs."""
        if not self.watching:
            return
        moment = Moment(self._last or _run_of(embedding))
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


class Throttle:
    """Says when it is time again: so many seconds apart, and never more than a tenth of the time on the work itself."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._next = 0.0

    def is_due(self) -> bool:
        """Whether enough time has passed."""
        return time.monotonic() >= self._next

    def worked(self, since: float) -> None:
        """The work is done that began at `since` (by the monotonic clock)."""
        now = time.monotonic()
        self._next = now + max(self.seconds, 9.0 * (now - since))


def _run_of(embedding: Embedding) -> Run:
    """A run that has ended with an embedding."""
    import numpy as np

    from ..methods.run import Run
    from ..settings import FitSettings

    made = embedding.provenance
    settings = FitSettings().replace(**(made.get("settings") or {}))
    return Run(
        embedding.hierarchy,
        settings,
        np.array(embedding.vectors),
        epoch=int(made.get("epochs_done") or 0),
        loss=made.get("loss"),
    )
