"""Keys of many nodes from many others, a tile at a time: what ranks and nearest nodes on a card have in common.

A tile has sources as rows and nodes as columns. Its keys are those of `engine.cpu.rank`, by the same operations in the
same order: differences are formed directly, coordinate by coordinate, and nothing is fused (`EXACT`), so that both
devices get the same numbers to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl

from ...types import Floats

__all__ = ["COLUMNS", "EXACT", "ROWS", "OnCard", "any_of", "launch_rows", "put_on_card", "splits_of", "tile_keys"]

ROWS, COLUMNS = 8, 128
EXACT = {"enable_fp_fusion": False, "num_warps": 1}
"""How kernels are launched whose keys are compared with those of the processor."""

# Up to so many coordinates the loop over them is written out; with more of them registers run out.
_WRITTEN_OUT = tl.constexpr(16)
# So many programs for each processor of a card even out those that take longer; a program has at least so many tiles.
_PROGRAMS_PER_PROCESSOR = 16
_LEAST_TILES = 2
# Coordinates that fit well into the cache that all processors of a card share.
_CACHED = 2_000_000
# Work of one launch, in coordinates compared: about a second, after which Ctrl-C is noticed.
_LAUNCH = 2_000_000_000_000


class OnCard(NamedTuple):
    """Nodes as tiles read them.

    Attributes
    ----------
    points : float64 (d, width)
        A coordinate of all nodes after the other; padded to whole tiles.
    factor : float64 (width,)
        NaN in the padding, which never compares.
    n
        Number of nodes.
    """

    points: torch.Tensor
    factor: torch.Tensor
    n: int

    @property
    def tiles(self) -> int:
        """How many make a row."""
        return int(self.factor.numel()) // COLUMNS


def put_on_card(coordinates: Floats, factor: Floats, device: torch.device) -> OnCard:
    """Copy coordinates (n, d) and factors (n,) to a device."""
    n, dim = coordinates.shape
    width = COLUMNS * triton.cdiv(n, COLUMNS)
    points = torch.zeros(dim, width, dtype=torch.float64, device=device)
    points[:, :n] = torch.tensor(np.ascontiguousarray(coordinates), device=device).T
    factors = torch.full((width,), float("nan"), dtype=torch.float64, device=device)
    factors[:n] = torch.tensor(np.ascontiguousarray(factor), device=device)
    return OnCard(points, factors, n)


def launch_rows(nodes: OnCard, most: int) -> int:
    """How many rows one launch compares with all nodes."""
    return max(ROWS, min(most, _LAUNCH // max(1, int(nodes.points.numel()))))


def splits_of(nodes: OnCard, rows: int, processors: int, least: int = 1) -> tuple[int, int]:
    """Into how many parts columns are split, and how many columns a part has.

    There are as many parts as fill a card, and so many that one fits into its cache, which all rows read it from before
    they go on to the next; at least as many as are asked for. But no part has fewer than `_LEAST_TILES`.
    """
    filling = triton.cdiv(processors * _PROGRAMS_PER_PROCESSOR, triton.cdiv(rows, ROWS))
    wanted = max(least, filling, triton.cdiv(nodes.points.numel(), _CACHED))
    each = triton.cdiv(nodes.tiles, max(1, min(wanted, nodes.tiles // _LEAST_TILES)))
    return triton.cdiv(nodes.tiles, each), each * COLUMNS


@triton.jit
def tile_keys(points, factor, width, node, start, DIM: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Keys of the nodes from `start` on (columns) seen from others (rows)."""
    key = tl.zeros([ROWS, COLUMNS], tl.float64)
    axis = points
    # Adds nothing, which the compiler does not know: else it would hold the coordinates of all rows, more than fit.
    node += tl.minimum(start, 0)
    column = start + tl.arange(0, COLUMNS)
    if DIM <= _WRITTEN_OUT:
        for _ in tl.static_range(DIM):
            gap = tl.load(axis + node)[:, None] - tl.load(axis + column)[None, :]
            key += gap * gap
            axis += width
    else:
        for _ in range(DIM):
            gap = tl.load(axis + node)[:, None] - tl.load(axis + column)[None, :]
            key += gap * gap
            axis += width
    return key * tl.load(factor + column)[None, :]


@triton.jit
def any_of(tile):
    """Whether a tile of truth values holds a true one."""
    return tl.max(tl.max(tile.to(tl.int32), axis=1), axis=0) > 0
