"""Who watches the processes of a service: starts them all, replaces those that die, and gives up in the end."""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait

from ..errors import TreeballError
from .layouts import Layouts
from .processes import FAREWELL, Place, Work

__all__ = ["Watch"]

_LOOK = 0.25  # seconds between two looks at processes and signals
_SILENCE = 30.0  # seconds without a word, after which a process hangs
_SETTLED = 60.0  # seconds after which a death is no consequence of the one before
_MOST_STARTS = 5  # that fail in a row
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds

_NOTED = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)]


class Watch:
    """Starts processes and watches them until a signal asks to end.

    Parameters
    ----------
    work, listening
        What they do, and where.
    count
        How many there are.
    say
        Takes a sentence about what happened to a process.
    layouts
        Looked at several times in a second, for a model that is to be loaded again.
    """

    def __init__(
        self, work: Work, listening: socket.socket, count: int, say: Callable[[str], None], layouts: Layouts
    ) -> None:
        self.work = work
        self.listening = listening
        self.places = [Place() for _ in range(count)]
        self.layouts = layouts
        self.patience = 0.0
        self._say = say
        self.signals: list[int] = []

    def run(self, tell: Callable[[], None], patience: float) -> None:
        """Serve until a signal; `tell` is called when all are ready. TreeballError when one cannot be started.

        One may take `patience` seconds until it is ready.
        """
        self.patience = patience
        with _noting(self.signals):
            try:
                for place in self.places:
                    place.start(self.work, self.listening)
                if self._wait_until_ready(self.places):
                    tell()
                    self._keep_alive()
                    for place in self.places:
                        place.terminate()
                    until = time.monotonic() + FAREWELL
                    for place in self.places:
                        place.clear(max(0.0, until - time.monotonic()))
            finally:
                for place in self.places:
                    place.clear()  # those that answer nobody yet, or whose time is over

    def _wait_until_ready(self, places: list[Place]) -> bool:
        """Whether they became ready, or else a signal asked to end; TreeballError when one of them did not."""
        while not all(place.is_ready() for place in places):
            if self._is_to_end():
                return False
            if any(place.trouble(self.patience, _SILENCE) for place in places):
                raise TreeballError(
                    f"not all of the {len(self.places)} processes could start: see what they said, "
                    "or try fewer --workers"
                )
            time.sleep(0.05)
        return True

    def _keep_alive(self) -> None:
        while not self._is_to_end():
            for place in self.places:
                self._look_at(place)
            said = self.layouts.look()
            if said:
                self.say(said)
            wait([place.process.sentinel for place in self.places if place.process], _LOOK)

    def _look_at(self, place: Place) -> None:
        if place.process is None:
            if time.monotonic() >= place.due:
                place.start(self.work, self.listening)
            return
        number, was_ready = place.process.pid, place.heard is not None
        wrong = place.trouble(self.patience, _SILENCE)
        if place.heard is not None and not was_ready:
            self.say(f"process {number} serves in its place")
        if wrong:
            pause = self._pause_after(place, wrong)
            self.say(f"process {number} {wrong}; another is started" + (f" in {pause:g} seconds" if pause else ""))
            place.clear()
            place.due = time.monotonic() + pause

    def _pause_after(self, place: Place, wrong: str) -> float:
        """Seconds to wait after a death: none after the first, and the longer the more there are in a row."""
        was_ready, age = place.heard is not None, time.monotonic() - place.began
        place.deaths = 1 if was_ready and age > _SETTLED else place.deaths + 1
        place.failures = 0 if was_ready else place.failures + 1
        if place.failures == _MOST_STARTS:
            raise TreeballError(
                f"a process could not be started, {_MOST_STARTS} times in a row (the last one {wrong}), "
                "and the service ends: see what the processes said"
            )
        return 0.0 if place.deaths == 1 else min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (place.deaths - 2))

    def say(self, sentence: str) -> None:
        """Tell it to whoever reads; that nobody does is no reason to end."""
        with contextlib.suppress(OSError):
            self._say(sentence)

    def _is_to_end(self) -> bool:
        return bool(self.signals)


@contextlib.contextmanager
def _noting(signals: list[int]) -> Iterator[None]:
    """Signals are noted in a list, for somebody to look at it in between."""
    before = {number: signal.signal(number, lambda one, _: signals.append(one)) for number in _NOTED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
