"""The chance behind one input: the seed of a run, the target and a number decide all of it."""

from __future__ import annotations

from random import Random

__all__ = ["Dice"]

_TOGETHER = 200  # inputs that share a batch of hypothesis' values


class Dice(Random):
    """Random numbers for input `number` of a target, the same whenever and wherever it is made."""

    def __init__(self, seed: int, target: str, number: int) -> None:
        super().__init__(f"{seed} {target} {number}")
        self.batch = Random(f"{seed} {target} batch {number // _TOGETHER}").getrandbits(32)
