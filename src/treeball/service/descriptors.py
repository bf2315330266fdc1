"""How many connections a process can have: each takes a descriptor, and the system grants only so many."""

from __future__ import annotations

import os
from dataclasses import replace

from ..errors import InputError
from .settings import ServeSettings

__all__ = ["descriptors_left", "within_descriptors"]

# For the files of the model, the pipes of the loop, the page, and connections that are accepted but not counted yet.
_RESERVED = 96
_LEAST = 16


def descriptors_left() -> int | None:
    """How many more files and connections this process may open; None where nobody says."""
    try:
        import resource
    except ImportError:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return None
    try:
        first_free = os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return 0
    os.close(first_free)
    return most - first_free


def within_descriptors(settings: ServeSettings) -> ServeSettings:
    """The settings with no more connections than there can be, some of which always wait for their clients.

    Those that wait can give way to a new one, so that there is always somebody to answer /health.
    """
    left = descriptors_left()
    connections = settings.max_connections if left is None else min(settings.max_connections, left - _RESERVED)
    if connections < min(_LEAST, settings.max_connections):
        raise InputError(
            f"{left} more files may be opened, and a service needs {_RESERVED + _LEAST}: raise the limit (ulimit -n)"
        )
    working = min(settings.max_concurrent, max(1, connections * 3 // 4))
    return replace(settings, max_connections=connections, max_concurrent=working)
