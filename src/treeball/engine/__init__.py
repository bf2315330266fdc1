"""Loops over nodes, compiled for the device they run on; `choose` gives the engine of a device.

Every engine has the same names (`protocol.Engine`), and passes the same test (tests/engine/test_engine_contract.py).
Nothing above this room knows which one it has.
"""

from __future__ import annotations

from typing import get_args

from ..errors import InputError
from ..types import Device
from .protocol import Compared, Engine, SoftmaxSteps, Trained

__all__ = ["DEVICES", "Compared", "Device", "Engine", "SoftmaxSteps", "Trained", "choose"]

DEVICES = get_args(Device)
"""What `choose` takes."""

# A training with fewer pairs is over on the processor before a card has warmed up.
_CARD_FROM_PAIRS = 10_000


def choose(device: Device = "auto", pairs: int = 0) -> Engine:
    """The engine of a device; ``"auto"`` takes a card, where there is one, for trainings with many pairs an epoch."""
    if device not in DEVICES:
        raise InputError(f"device must be one of {', '.join(DEVICES)}, not {device!r}")
    if device != "cpu" and (device == "cuda" or pairs >= _CARD_FROM_PAIRS):
        from .card import why_no_card

        missing = why_no_card()
        if not missing:
            from .gpu.engine import GpuEngine

            return GpuEngine()
        if device == "cuda":
            raise InputError(f"the device cuda cannot be used: {missing}; leave it out, or take --device cpu")
    from .cpu.engine import CpuEngine

    return CpuEngine()
