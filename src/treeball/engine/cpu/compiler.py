"""How kernels are compiled: to machine code on first use, without the GIL, kept on disk for the next run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba
from platformdirs import user_cache_path

from .kernel_files import check_files_of


def cache_directory() -> Path | None:
    """Where compiled kernels are kept, one folder per state of the kernels' source; None where a user has no home.

    Numba notices a change of the file a kernel stands in, but not of a file whose functions the kernel has inlined, so
    the name of the folder is a hash over all of them.
    """
    root = _cache_root()
    if root is None:
        return None
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return root / digest.hexdigest()[:16]


def _cache_root() -> Path | None:
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR) / "treeball"
    try:
        root = user_cache_path("treeball", appauthor=False)
    except (RuntimeError, ValueError):
        return None
    return root if root.is_absolute() else None  # some versions give "~/.cache" where there is no home


_DIRECTORY = cache_directory()


def compiled(function: Any = None, **options: Any) -> Any:
    """Decorate a kernel; `options` are those of ``numba.njit``, as in ``@compiled(fastmath=...)``."""
    if function is None:
        return lambda function: compiled(function, **options)
    options = {"nogil": True, "error_model": "numpy", **options}
    if _DIRECTORY is None:
        return numba.njit(**options)(function)
    # Numba chooses the place of a kernel's cache while decorating: lend it ours, then put the user's setting back.
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(_DIRECTORY)
    try:
        return check_files_of(numba.njit(cache=True, **options)(function))
    except (OSError, RuntimeError):  # nowhere to write: compile anew in every process
        return numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = before
