"""A long experiment that is told to end by the system ends as it does for its user: what there is is kept."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any, Self

__all__ = ["SigtermLikeCtrlC"]


class SigtermLikeCtrlC:
    """While it lasts, SIGTERM does what Ctrl-C does; for the main thread.

    Shells start commands in the background deaf to Ctrl-C, so that nothing would happen: they hear it meanwhile.
    """

    def __enter__(self) -> Self:
        self._before: dict[signal.Signals, Any] = {
            number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
        }
        if self._before[signal.SIGINT] is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, self._pass_on)
        return self

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
