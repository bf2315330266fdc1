"""Which tiles of keys a card need not compare: by a ball around every tile first, then by `glance_tiles`.

Where relatives have neighbouring codes, a few tiles in a hundred are left for the exact comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton

from .glance_tiles import look
from .tiles import COLUMNS, ROWS, OnCard

__all__ = ["Glance", "Rough"]

# Tiles that a program looks at, and how many on either side of a node have codes next to its own.
_TILES, _BESIDE = 64, 8
_AT_ONCE = 64
# Of more coordinates these are looked at, for which there is room on every card: they bound the key of all from below.
_MOST_DIMENSIONS = 32
# Between these a square, a factor and a key are numbers of float32.
_LARGEST_SQUARE, _FACTORS, _LEAST_KEY = 1e12, (1e-25, 1e25), 1e-30


class Balls(NamedTuple):
    """A ball around every so many points: middles (m, d), radii (m,), a little too large."""

    middle: torch.Tensor
    radius: torch.Tensor

    @classmethod
    def around(cls, points: torch.Tensor, each: int) -> Balls:
        """Of points in whole groups of so many."""
        groups = points.view(-1, each, points.shape[1])
        middle = groups.mean(dim=1)
        radius = (groups - middle[:, None]).square().sum(dim=2).amax(dim=1).sqrt()
        return cls(middle, radius * (1.0 + 1e-9))

    def gaps(self, others: Balls) -> torch.Tensor:
        """How far points of each and of each other ball are apart at least, (m, others)."""
        # By differences, one coordinate after the other.
        between = torch.cdist(self.middle, others.middle, compute_mode="donot_use_mm_for_euclid_dist")
        return torch.clamp(between * (1.0 - 1e-9) - self.radius[:, None] - others.radius, min=0.0)


class Rough:
    """Nodes as a glance sees them, in float32.

    Parameters
    ----------
    points : float64 (width, d)
        In whole tiles of columns.
    factor : float64 (width,)
    """

    def __init__(self, points: torch.Tensor, factor: torch.Tensor) -> None:
        points = points[:, :_MOST_DIMENSIONS]
        width, dim = points.shape
        self.tiles = width // COLUMNS
        self._points = torch.zeros(width, max(16, triton.next_power_of_2(dim)), device=points.device)
        self._points[:, :dim] = points
        square = points.square().sum(dim=1)
        self._square, self._factor = square.float(), factor.float()
        in_range = (factor > _FACTORS[0]) & (factor < _FACTORS[1]) & (square < _LARGEST_SQUARE)
        # What is no number, or out of range, is seen as one that is near to all.
        self._factor = torch.where(in_range, self._factor, torch.nan)
        self._exact, self._balls = points, Balls.around(points, COLUMNS)
        self._least_factor = factor.view(-1, COLUMNS).amin(dim=1)

    def within(self, asked: torch.Tensor, limits: torch.Tensor, rows: int) -> torch.Tensor:
        """Marks of the tiles that may hold a key within the limits (m,), so many rows a tile: int8 (rows, columns)."""
        marks = torch.zeros(triton.cdiv(asked.numel(), rows), self.tiles, dtype=torch.int8, device=asked.device)
        at_once = max(rows, _AT_ONCE)
        limits = torch.where(torch.isnan(self._factor[asked]), torch.inf, limits)
        apart = self._apart(asked, limits, at_once)
        bounds = torch.clamp(limits, min=_LEAST_KEY).float() * (1.0 + 1e-6)
        look[(triton.cdiv(asked.numel(), at_once), triton.cdiv(self.tiles, _TILES))](
            self._points, self._square, self._factor, asked, bounds, apart, marks, self.tiles, asked.numel(),
            PADDED=self._points.shape[1], AT_ONCE=at_once, EACH=_TILES, ROWS=rows, COLUMNS=COLUMNS,
            num_warps=at_once // 16,
        )  # fmt: skip
        return marks

    def _apart(self, asked: torch.Tensor, limits: torch.Tensor, at_once: int) -> torch.Tensor:
        """Whether no key of a tile is within the limits of so many rows at once: bool (rows, tiles)."""
        missing = -asked.numel() % at_once
        whole, bound = torch.cat([asked, asked[-1:].expand(missing)]), torch.cat([limits, limits[-1:].expand(missing)])
        gap = Balls.around(self._exact[whole], at_once).gaps(self._balls)
        # What is no number is not greater.
        return gap.square() * self._least_factor > (bound.view(-1, at_once).amax(dim=1) * (1.0 + 1e-6))[:, None]


class Glance:
    """What a search within limits need look at: marks int8 (rows in tiles, tiles), 0 for what it need not."""

    def __init__(self, nodes: OnCard) -> None:
        # Of the padding, which never compares, a plain factor lets the glance see the end of the last tile.
        self._rough = Rough(nodes.points.T, nodes.factor.nan_to_num(1.0))
        self.tiles = nodes.tiles

    def beside(self, asked: torch.Tensor) -> torch.Tensor:
        """Marks of the tiles whose codes are next to those of each row."""
        rows = triton.cdiv(asked.numel(), ROWS)
        marks = torch.zeros(rows, self.tiles, dtype=torch.int8, device=asked.device)
        row = torch.arange(asked.numel(), device=asked.device) // ROWS
        for away in range(-_BESIDE, _BESIDE + 1):
            marks[row, torch.clamp(asked // COLUMNS + away, 0, self.tiles - 1)] = 1
        return marks

    def within(self, asked: torch.Tensor, limits: torch.Tensor) -> torch.Tensor:
        """Marks of the tiles that may hold a key within the limits (m,) of the rows."""
        return self._rough.within(asked, limits, ROWS)
