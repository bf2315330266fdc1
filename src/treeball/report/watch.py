"""Ways to watch a training while it runs: what can be asked for, and those who then watch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..methods.observe import Observer, Observers

__all__ = ["WatchSettings"]


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
        Keep about so many snapshots of the training beside the model, for treeball plot --animate; 0 keeps none.
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

    def _given(self) -> list[str]:
        return [f"--{name}" for name in ("live", "tensorboard", "snapshots") if getattr(self, name)]

    def require_none(self) -> None:
        """Refuse to watch how a model folder is made, which nobody shows."""
        if given := self._given():
            raise InputError(f"{' and '.join(given)} has no use in a model folder: leave it out")

    def require_training(self, epochs: int, method: str) -> None:
        """Refuse to watch a method that has no epochs: there would be nothing to see."""
        given = self._given()
        if given and not epochs:
            raise InputError(
                f"there is no training to watch with {' and '.join(given)}, for {method} has no epochs: leave it out, "
                "or name a method that trains, such as --method ga-dl-rw"
            )

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
