"""What the runs of a reproduction may use."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import require_whole
from ..types import Device
from ..workers import thread_count

__all__ = ["Machine"]


@dataclass(frozen=True)
class Machine:
    """Processor and card.

    Attributes
    ----------
    threads : workers in all; 0 uses all cores
    device : where to train
    at_once : how many runs at the same time. A training of a small tree leaves most of a large machine, or a card, idle
    """

    threads: int = 0
    device: Device = "auto"
    at_once: int = 1

    def __post_init__(self) -> None:
        require_whole("at-once", self.at_once, 1)

    @property
    def share(self) -> int:
        """Workers of one run."""
        return max(1, thread_count(self.threads) // self.at_once)
