"""Codes and keys of nearest nodes on a card: what `nearest_tiles` is given, and what is made of it."""

from __future__ import annotations

import numpy as np
import torch
import triton

from ...types import Floats, Ints
from .glance import Glance
from .nearest_tiles import collect_within, least_of_lanes
from .tiles import COLUMNS, EXACT, ROWS, OnCard, launch_rows, splits_of

__all__ = ["nearest_on_card"]

# Lanes for each neighbour wanted: with fewer of them the limit is far, and much is collected that is not wanted.
_LANES_PER_NEIGHBOUR = 8
# Places for what is collected, at first for each neighbour wanted, and in all at once.
_ROOM_PER_NEIGHBOUR = 2
_ROOM = 1 << 27


def nearest_on_card(nodes: OnCard, asked: Ints, k: int, processors: int, rows_at_once: int) -> tuple[Ints, Floats]:
    """See :meth:`treeball.engine.Engine.nearest`; at most `rows_at_once` nodes are compared by one launch."""
    codes, keys = np.full((asked.size, k), -1, np.int64), np.full((asked.size, k), np.inf)
    who, glance = torch.tensor(asked, device=nodes.points.device), Glance(nodes)
    at_once = max(1, min(launch_rows(nodes, rows_at_once), _ROOM // (_LANES_PER_NEIGHBOUR * k + COLUMNS)))
    for begin in range(0, asked.size, at_once):
        part = who[begin : begin + at_once]
        # Among those with codes next to its own a node has many of its nearest, and so a limit for all others.
        beside = _limits(nodes, part, glance.beside(part), k, processors)
        limit = torch.minimum(beside, _limits(nodes, part, glance.within(part, beside), k, processors))
        _collect(
            nodes, glance, part, limit, k, processors, codes[begin : begin + at_once], keys[begin : begin + at_once]
        )
    return codes, keys


def _limits(nodes: OnCard, asked: torch.Tensor, marks: torch.Tensor, k: int, processors: int) -> torch.Tensor:
    """Keys (m,) within which every node has k others in the tiles marked, inf if there are not so many."""
    rows = asked.numel()
    parts, per_program = splits_of(nodes, rows, processors, least=_LANES_PER_NEIGHBOUR * k // COLUMNS)
    least = torch.empty(rows, parts * COLUMNS, dtype=torch.float64, device=asked.device)
    least_of_lanes[(triton.cdiv(rows, ROWS), parts)](
        nodes.points, nodes.factor, nodes.factor.numel(), asked, marks, least, rows, per_program,
        DIM=nodes.points.shape[0], ROWS=ROWS, COLUMNS=COLUMNS, **EXACT,
    )  # fmt: skip
    if k > least.shape[1]:
        return torch.full((rows,), torch.inf, dtype=torch.float64, device=asked.device)
    return least.kthvalue(k, dim=1).values


def _collect(
    nodes: OnCard,
    glance: Glance,
    asked: torch.Tensor,
    limit: torch.Tensor,
    k: int,
    processors: int,
    codes: Ints,
    keys: Floats,
) -> None:
    """Write the k nearest of those within the limits; where there is no room for all of them, once more with enough."""
    places = torch.arange(asked.numel(), device=asked.device)
    room = _ROOM_PER_NEIGHBOUR * k + COLUMNS
    while places.numel():
        at_once, full = max(1, _ROOM // room), []
        for part in places.split(at_once):
            found, near, far = _within(nodes, glance, asked[part], limit[part], room, processors)
            fits = torch.nonzero(found <= room).ravel()
            width = min(k, room)
            own = part[fits].cpu().numpy()
            codes[own, :width], keys[own, :width] = (
                array[:, :width].cpu().numpy() for array in _sorted(near[fits], far[fits])
            )
            full.append((part[found > room], found[found > room]))
        places, counts = (torch.cat(arrays) for arrays in zip(*full, strict=True))
        room = int(counts.max()) if counts.numel() else room


def _within(
    nodes: OnCard, glance: Glance, asked: torch.Tensor, limit: torch.Tensor, room: int, processors: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """How many are within limits (m,), and codes and keys (m, room), -1 and inf for none."""
    rows = asked.numel()
    parts, per_program = splits_of(nodes, rows, processors)
    found = torch.zeros(rows, dtype=torch.int32, device=asked.device)
    codes = torch.full((rows, room), -1, dtype=torch.int32, device=asked.device)
    keys = torch.full((rows, room), torch.inf, dtype=torch.float64, device=asked.device)
    collect_within[(triton.cdiv(rows, ROWS), parts)](
        nodes.points, nodes.factor, nodes.factor.numel(), asked, glance.within(asked, limit), limit, found, codes, keys,
        rows, per_program, room, DIM=nodes.points.shape[0], ROWS=ROWS, COLUMNS=COLUMNS, **EXACT,
    )  # fmt: skip
    return found, codes, keys


def _sorted(codes: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows with the smallest keys first, ties by code."""
    codes, order = codes.sort(dim=1)
    keys, order = keys.gather(1, order).sort(dim=1, stable=True)
    return codes.gather(1, order), keys
