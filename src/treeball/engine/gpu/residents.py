"""Arrays that stay on a card between calls, because they never change."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray

__all__ = ["Residents"]


class Residents:
    """Keeps a copy on a device of each array that it has seen, as long as the array must live anyway."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        # The array is kept too, so that nothing else can come to have its id.
        self._copies: dict[int, tuple[NDArray[Any], torch.Tensor]] = {}

    def of(self, *arrays: NDArray[Any]) -> list[torch.Tensor]:
        """The copies of some arrays."""
        for array in arrays:
            if id(array) not in self._copies:
                self._copies[id(array)] = (array, torch.tensor(array, device=self.device))
        return [self._copies[id(array)][1] for array in arrays]
