"""What a person sees while a training runs, and how Ctrl-C ends it with what there is."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..interruption import note_ctrl_c, raises_interrupt
from ..words import count, printable, say

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..evaluation import Evaluation
    from .descent import Epochs
    from .run import Run

__all__ = ["HealingProgress", "StopOnInterrupt", "TrainingProgress", "WorkProgress"]

_PLAIN_SECONDS = 10.0
_MAP_SECONDS, _MAP_SAMPLE = 2.0, 200
_MOMENT_SECONDS, _WORK_SECONDS = 1.0, 4.0


class StopOnInterrupt:
    """Turns the first Ctrl-C into a request to stop at the end of the epoch or round; the second ends the program.

    Only where Ctrl-C would raise KeyboardInterrupt: not in other threads, nor where somebody handles it already.
    """

    requested, under_way = False, "epoch"

    def __enter__(self) -> Self:
        self._previous: Any = None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if raises_interrupt(before):
                self._previous = signal.signal(signal.SIGINT, self._request)
        return self

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        note_ctrl_c()
        signal.signal(signal.SIGINT, self._previous)
        say(f"stopping at the end of this {self.under_way} (Ctrl-C again to quit at once)")

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)


class HealingProgress(StopOnInterrupt):
    """Watches a healing: a line for every round, and Ctrl-C ends it with the best that there is."""

    under_way = "round"

    def __init__(self, *, silent: bool = False) -> None:
        self.silent = silent

    def __call__(self, number: int, scores: Evaluation) -> bool:
        """Whether to stop after a round."""
        if not self.silent:
            ill = count(len(scores.illness), "ill pair")
            say(f"round {number}: {ill}, MAP {scores.map:.4f}, mean rank {scores.mean_rank:.3f}")
        return self.requested


class TrainingProgress:
    """A live line while training: epoch, loss, pairs per second, time left, a sampled MAP. Plain lines in a pipe."""

    def __init__(self, epochs: int, first_epoch: int = 0, *, silent: bool = False) -> None:
        self.epochs = epochs
        self.first_epoch = first_epoch
        self.silent = silent
        self.started = self.last_line = self.last_map = time.monotonic()
        self.sampled_map: float | None = None
        self.live: Progress | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and self.epochs > self.first_epoch and not self.silent:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self.live = Progress(
                TextColumn("epoch"),
                MofNCompleteColumn(),
                BarColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[state]}"),
                console=Console(stderr=True),
            )
            self.task = self.live.add_task("train", total=self.epochs, completed=self.first_epoch, state="")
            self.live.start()
        return self

    def see(self, run: Run, done: Epochs) -> None:
        """Show the state of a run after some epochs."""
        if self.silent:
            return
        if time.monotonic() - self.last_map > _MAP_SECONDS:
            self.sampled_map = (
                run.embedding()
                .evaluate(sample=_MAP_SAMPLE, threads=run.settings.threads, device=run.settings.scored_on)
                .map
            )
            self.last_map = time.monotonic()
        rate = done.pairs / max(done.seconds, 1e-9)
        # The exact score follows the last epoch; a sampled one of some time ago would only confuse.
        self.show(run.epoch, done.loss, rate, self.sampled_map if run.epoch < self.epochs else None)

    def show(self, epoch: int, loss: float, pairs_per_second: float, sampled_map: float | None) -> None:
        """Show the state after `epoch` epochs."""
        state = f"loss {loss:.4f}  {_rate(pairs_per_second)} pairs/s"
        if sampled_map is not None:
            state += f"  MAP≈{sampled_map:.3f}"
        now = time.monotonic()
        if self.live is not None:
            self.live.update(self.task, completed=epoch, state=state)
        elif now - self.last_line >= _PLAIN_SECONDS or epoch == self.epochs:
            done = max(1, epoch - self.first_epoch)
            left = (now - self.started) / done * (self.epochs - epoch)
            say(f"epoch {epoch}/{self.epochs}  {state}  {left:.0f} s left")
            self.last_line = now

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()


class WorkProgress:
    """What is being done, and how much of it, for work that is not training; in a pipe a line from time to time.

    What is over in a moment shows nothing.
    """

    def __init__(self, *, silent: bool = False) -> None:
        self.silent = silent
        self.last_line = time.monotonic()
        self.stage, self.done, self.total = "", 0, 0
        self.live: Progress | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not self.silent:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            # Answers on standard output are no business of the line on standard error.
            self.live = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
            self.task = self.live.add_task("", total=None)
            self._start = threading.Timer(_MOMENT_SECONDS, self.live.start)
            self._start.daemon = True
            self._start.start()
        return self

    def begin(self, stage: str, total: int = 0) -> None:
        """Say what comes now; `total` is how much of it there is, if that is known."""
        self.stage, self.done, self.total = stage, 0, total
        if self.live is not None:
            from rich.markup import escape

            self.live.reset(self.task, description=escape(printable(stage)), total=total or None)
        self._line()

    def advance(self, some: int) -> None:
        """So much more is done."""
        self.done += some
        if self.live is not None:
            self.live.update(self.task, completed=self.done)
        self._line()

    def _line(self) -> None:
        now = time.monotonic()
        if self.live is None and not self.silent and now - self.last_line >= _WORK_SECONDS:
            say(f"{self.stage}: {self.done:,} of {self.total:,}" if self.total else self.stage)
            self.last_line = now

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self._start.cancel()
            self.live.stop()


def _rate(value: float) -> str:
    return f"{value / 1e6:.2f}M" if value >= 1e6 else f"{value / 1e3:.1f}k"
