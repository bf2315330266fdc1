"""How many threads to use."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def thread_count(wanted: int) -> int:
    """`wanted` threads, or one per available core when it is 0."""
    return wanted if wanted > 0 else available_cores()
