"""Whether there is a graphics card that can be used, found out without importing torch where there is none."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.util import find_spec

__all__ = ["why_no_card"]


@cache
def why_no_card() -> str:
    """Why no card can be used, in a few words; empty if one can."""
    if not _cards():
        return "no NVIDIA card was found"
    for package in ("torch", "triton"):
        if find_spec(package) is None:
            return f"{package} is not installed, which pip install 'treeball[gpu]' does"
    import torch

    return "" if torch.cuda.is_available() else "the torch that is installed was built without CUDA"


def _cards() -> int:
    """How many cards the driver sees."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    found = ctypes.c_int()
    ready = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(found)) == 0
    return found.value if ready else 0
