"""Ranks, average precisions and offenders on a card: what `rank_tiles` is given, and what is made of its counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import triton

from ...limits import TIE
from ...types import Codes, Floats, Ints
from .rank_tiles import NOBODY, rank_tiles
from .tiles import COLUMNS, EXACT, ROWS, OnCard, launch_rows, splits_of

__all__ = ["rank_on_card"]

# A row has one of these numbers of limits; a source with more positives has several rows.
_WIDTHS = (1, 4, 16, 64)


class _Pairs(NamedTuple):
    """Positive pairs on a card, those of a source after each other and the nearest first.

    Attributes
    ----------
    order : int64 (pairs,)
        Which pair of the caller each is.
    limit : float64 (pairs,)
        Keys up to this are at least as close.
    within : int64 (pairs,)
        Positives of the source within the limit, and the source itself.
    """

    order: torch.Tensor
    limit: torch.Tensor
    within: torch.Tensor


def rank_on_card(
    nodes: OnCard, sources: Ints, positive_ptr: Ints, positive_idx: Codes, processors: int, rows_at_once: int
) -> tuple[Ints, Floats, Ints]:
    """See :meth:`treeball.engine.Engine.rank`; at most `rows_at_once` sources are compared by one launch."""
    device = nodes.points.device
    ptr, idx, who = (torch.tensor(array, device=device) for array in (positive_ptr, positive_idx, sources))
    pairs = _sorted_pairs(nodes, who, ptr, idx)
    closer = torch.empty_like(pairs.within)
    offender = torch.empty_like(who)
    sizes = torch.diff(ptr)
    at_once = launch_rows(nodes, rows_at_once)
    least = 0
    for limits in _WIDTHS:
        most = limits if limits < _WIDTHS[-1] else np.iinfo(np.int64).max
        group = torch.nonzero((sizes > least) & (sizes <= most)).ravel()
        least = limits
        for part in group.split(at_once) if group.numel() else ():
            key, code = _compare(nodes, who[part], ptr[part], ptr[part + 1], idx, pairs, limits, processors, closer)
            offender[part] = _nearest(key, code)
    ranks = torch.empty_like(closer)
    ranks[pairs.order] = closer + 1
    return ranks.cpu().numpy(), _precision(closer.cpu().numpy(), positive_ptr), offender.cpu().numpy()


def _sorted_pairs(nodes: OnCard, sources: torch.Tensor, ptr: torch.Tensor, idx: torch.Tensor) -> _Pairs:
    """The pairs with their keys, made as `tile_keys` makes them."""
    owner = torch.repeat_interleave(torch.arange(sources.numel(), device=idx.device), torch.diff(ptr))
    head, tail = sources[owner], idx.long()
    key = torch.zeros(tail.numel(), dtype=torch.float64, device=idx.device)
    for axis in nodes.points:
        gap = axis[head] - axis[tail]
        key += gap * gap
    key *= nodes.factor[tail]
    order = torch.argsort(key, stable=True)
    order = order[torch.argsort(owner[order], stable=True)]
    key = key[order]
    # Those that come before a positive are within its limit, and of those that follow the ones that tie with it.
    limit = _tie_limit(key, nodes.factor[head[order]], bool((nodes.factor[: nodes.n] != 1.0).any()))
    within = torch.arange(key.numel(), device=idx.device) - ptr[owner] + 2
    for ahead in range(1, key.numel()):
        tied = (owner[ahead:] == owner[:-ahead]) & (key[ahead:] <= limit[:-ahead])
        if not tied.any():
            break
        within[:-ahead] += tied
    return _Pairs(order, limit, within)


def _tie_limit(key: torch.Tensor, source_factor: torch.Tensor, curved: bool) -> torch.Tensor:
    """See :func:`treeball.engine.cpu.rank.tie_limit`."""
    if not curved:
        return key * (1.0 + 2.0 * TIE)
    q = key * source_factor
    root = torch.sqrt(q)
    wider = key * (1.0 + TIE * 2.0 * torch.asinh(root) * torch.sqrt(1.0 + q) / root)
    return torch.where(q > 0.0, wider, key)


def _compare(
    nodes: OnCard,
    sources: torch.Tensor,
    first: torch.Tensor,
    last: torch.Tensor,
    idx: torch.Tensor,
    pairs: _Pairs,
    limits: int,
    processors: int,
    closer: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Write how many non-positives are closer than each positive of some sources; gives the nearest of each part."""
    device = sources.device
    several = (last - first + limits - 1) // limits
    source = torch.repeat_interleave(torch.arange(sources.numel(), device=device), several)
    before = torch.cumsum(several, 0) - several
    number = torch.arange(source.numel(), device=device) - before[source]
    # The farthest first: place j of a row is so many pairs before the last.
    place = (last[source] - 1 - number * limits)[:, None] - torch.arange(limits, device=device)
    used = place >= first[source][:, None]
    table = torch.where(used, pairs.limit[torch.clamp(place, min=0)], -torch.inf)
    rows, dim = source.numel(), nodes.points.shape[0]
    parts, per_program = splits_of(nodes, rows, processors)
    counts = torch.zeros(rows, limits, dtype=torch.int32, device=device)
    key = torch.empty(parts, rows, dtype=torch.float64, device=device)
    code = torch.empty(parts, rows, dtype=torch.int32, device=device)
    rank_tiles[(triton.cdiv(rows, ROWS), parts)](
        nodes.points, nodes.factor, nodes.factor.numel(), sources[source], first[source], last[source], idx, table,
        counts, key, code, rows, per_program, DIM=dim, LIMITS=limits, ROWS=ROWS, COLUMNS=COLUMNS, **EXACT,
    )  # fmt: skip
    closer[place[used]] = counts[used].long() - pairs.within[place[used]]
    return key[:, before], code[:, before]


def _nearest(key: torch.Tensor, code: torch.Tensor) -> torch.Tensor:
    """Of the nearest of each part (parts, m) the nearest, of equals the one of smallest code; -1 for none."""
    best = torch.where(key == key.amin(dim=0), code, NOBODY.value).amin(dim=0).long()
    return torch.where(best == NOBODY.value, -1, best)


def _precision(closer: Ints, ptr: Ints) -> Floats:
    """Average precision of every source, from the non-positives before each of its positives, the nearest first."""
    counts = np.diff(ptr)
    if not counts.size:
        return np.empty(0)
    number = np.arange(1, closer.size + 1) - np.repeat(ptr[:-1], counts)
    return np.add.reduceat(number / (number + closer), ptr[:-1]) / counts
