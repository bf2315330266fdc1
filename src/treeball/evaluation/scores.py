"""Ranks by a score of one's own, such as the energy of an entailment cone, instead of the distance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..errors import InputError
from ..types import Floats, Ints, Objective
from .ranking import DEFAULT_SAMPLE, Ranking, positives_of

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["Score", "rank_by_score"]

Score: TypeAlias = "Callable[[Embedding, Ints], Floats]"
"""Takes an embedding and codes (m,), and says how near all nodes are to each of them: (m, n), smaller for nearer."""

# Up to so many nodes all are ranked: a score is a function of Python, and is asked for all pairs.
EXACT_NODES = 20_000
# Numbers in one table of scores.
_BLOCK = 1 << 22


def rank_by_score(
    embedding: Embedding, score: Score, objective: Objective, *, sample: int | None = None, seed: int = 0
) -> Ranking:
    """Rank the positives of every node, or of a random sample, by a score.

    Ties count against the positives, as they do for distances. `sample` of 0 ranks all; by default all up to
    `EXACT_NODES` nodes.
    """
    hierarchy = embedding.hierarchy
    positives = hierarchy.positives(objective)
    with_positives = np.flatnonzero(np.diff(positives[0])).astype(np.int64)
    if sample is None and hierarchy.n_nodes > EXACT_NODES:
        sample = DEFAULT_SAMPLE
    sources = with_positives
    if sample and sample < with_positives.size:
        sources = np.sort(np.random.default_rng(seed).choice(with_positives, sample, replace=False))
    ptr, idx = positives_of(sources, positives)
    ranks, precision = np.empty(idx.size, np.int64), np.empty(sources.size)
    offender = np.full(sources.size, -1, np.int64)
    step = max(1, _BLOCK // max(1, hierarchy.n_nodes))
    for begin in range(0, sources.size, step):
        part = sources[begin : begin + step]
        table = np.array(score(embedding, part), np.float64)
        if table.shape != (part.size, hierarchy.n_nodes) or np.isnan(table).any():
            raise InputError(
                f"the score function must give numbers of shape {(part.size, hierarchy.n_nodes)}, one for each pair of "
                f"nodes, and gave {'NaN' if table.shape == (part.size, hierarchy.n_nodes) else table.shape}"
            )
        for row, source in enumerate(part.tolist()):
            place = begin + row
            own = slice(ptr[place], ptr[place + 1])
            rival = np.ones(hierarchy.n_nodes, np.bool_)
            rival[idx[own]] = rival[source] = False
            rivals = np.flatnonzero(rival)
            near, reach = table[row, rivals], table[row, idx[own]]
            closer = (near[:, None] <= reach).sum(axis=0)
            ranks[own] = closer + 1
            order = np.argsort(closer, kind="stable")
            number = np.arange(1, order.size + 1)
            precision[place] = float((number / (number + closer[order])).mean())
            if rivals.size:
                offender[place] = rivals[np.argmin(near)]
    # A score may be negative: a ratio of two says nothing, so there is no margin.
    return Ranking(sources, ptr, idx, ranks, precision, offender, with_positives.size, margin=math.nan)
