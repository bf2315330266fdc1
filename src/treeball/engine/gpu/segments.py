"""Sums of rows by a number of each, in the same order every time: atomic additions would not be."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = ["SegmentSum"]

# Rows that are added up one after the other; more are added up in pieces, and those in turn.
_PIECE = 64


class SegmentSum:
    """Adds up the rows of a tensor that have the same number, for numbers below `size`."""

    def __init__(self, numbers: NDArray[Any], size: int, device: torch.device) -> None:
        order = np.argsort(numbers, kind="stable")
        self._order = None if (order == np.arange(order.size)).all() else torch.from_numpy(order).to(device)
        lengths = np.bincount(numbers, minlength=size).astype(np.int64)
        self._levels: list[torch.Tensor] = []
        while lengths.size and lengths.max() > _PIECE:
            pieces = np.maximum(1, -(-lengths // _PIECE))
            cut = np.full(int(pieces.sum()), _PIECE, np.int64)
            cut[np.cumsum(pieces) - 1] = lengths - _PIECE * (pieces - 1)
            self._levels.append(torch.from_numpy(cut).to(device))
            lengths = pieces
        self._levels.append(torch.from_numpy(lengths).to(device))

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Sums (size, width) of rows (m, width)."""
        rows = rows if self._order is None else rows[self._order]
        for lengths in self._levels:
            rows = torch.segment_reduce(rows, "sum", lengths=lengths, axis=0, initial=0.0, unsafe=True)
        return rows
