"""How many threads to use, how to share out work among them, and how often to do what takes time beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

# More parts than threads: parts differ in cost, and the end of a part is also when Ctrl-C is noticed.
_PARTS_PER_THREAD = 16


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def thread_count(wanted: int) -> int:
    """`wanted` threads, or one per available core when it is 0."""
    return wanted if wanted > 0 else available_cores()


def in_threads(work: Callable[[_T], None], items: Sequence[_T], threads: int) -> None:
    """Call `work` for every item on `threads` threads.

    Also for a single one: compiled code holds no lock, so that the main thread stays free to notice Ctrl-C, and an
    interruption does not wait for the work to end.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        for _ in pool.map(work, items):
            pass
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def apart(work: Callable[[], _R]) -> _R:
    """The result of one long call of compiled code, made on another thread: in it Ctrl-C would wait for its end."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(work).result()
    finally:
        pool.shutdown(wait=False)


def in_parts(work: Callable[[slice], None], size: int, threads: int) -> None:
    """Call `work` with slices that cover range(size), on `threads` threads."""
    parts = max(1, min(size, _PARTS_PER_THREAD * threads))
    cuts = [size * i // parts for i in range(parts + 1)]
    in_threads(work, [slice(a, b) for a, b in pairwise(cuts)], threads)


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
