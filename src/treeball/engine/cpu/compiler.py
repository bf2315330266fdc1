"""How kernels are compiled: to machine code on first use, without the GIL, kept on disk for the next run."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import numba


def cache_directory() -> Path:
    """Where compiled kernels are kept: one folder per state of the kernels' source.

    Numba notices a change of the file a kernel stands in, but not of a file whose functions the kernel has inlined, so
    the name of the folder is a hash over all of them.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return _cache_root() / digest.hexdigest()[:16]


def _cache_root() -> Path:
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR) / "treeball"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "treeball"


_DIRECTORY = cache_directory()


def compiled(function: Any = None, **options: Any) -> Any:
    """Decorate a kernel; `options` are those of ``numba.njit``, as in ``@compiled(fastmath=...)``."""
    if function is None:
        return lambda function: compiled(function, **options)
    options = {"nogil": True, "error_model": "numpy", **options}
    # Numba chooses the place of a kernel's cache while decorating: lend it ours, then put the user's setting back.
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(_DIRECTORY)
    try:
        return numba.njit(cache=True, **options)(function)
    except (OSError, RuntimeError):  # nowhere to write: compile anew in every process
        return numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = before
