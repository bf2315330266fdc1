"""How many threads to use, and how to share out work among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

_T = TypeVar("_T")

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


def in_parts(work: Callable[[slice], None], size: int, threads: int) -> None:
    """Call `work` with slices that cover range(size), on `threads` threads."""
    parts = max(1, min(size, _PARTS_PER_THREAD * threads))
    cuts = [size * i // parts for i in range(parts + 1)]
    in_threads(work, [slice(a, b) for a, b in pairwise(cuts)], threads)
