"""Loops over nodes, compiled for the device they run on; `choose` gives the engine of a device.

Every engine has the same names (`protocol.Engine`), and passes the same test (tests/engine/test_engine_contract.py).
Nothing above this room knows which one it has.
"""

from __future__ import annotations

from ..errors import InputError
from .protocol import Compared, Engine, SoftmaxSteps, Trained

__all__ = ["DEVICES", "Compared", "Engine", "SoftmaxSteps", "Trained", "choose"]

DEVICES = ("auto", "cpu")
"""What `choose` takes."""


def choose(device: str = "auto") -> Engine:
    """The engine of a device; ``"auto"`` takes the fastest there is."""
    if device not in DEVICES:
        raise InputError(f"device must be one of {', '.join(DEVICES)}, not {device!r}")
    from .cpu.engine import CpuEngine

    return CpuEngine()
