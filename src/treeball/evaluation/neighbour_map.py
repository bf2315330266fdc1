"""MAP as Sala et al. (2018) define it: all neighbours of a node in the tree count, its children too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine import choose
from ..workers import thread_count
from .ranking import positives_of

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["map_neighbours"]

# Beyond, a sample of so many nodes is ranked.
ALL_UP_TO_NODES, SAMPLE = 20_000, 4_000


def map_neighbours(embedding: Embedding, *, seed: int = 0, threads: int = 0) -> float:
    """Mean average precision where the positives of a node are its parents and its children; ties count against it.

    Of all nodes up to 20,000, of 4,000 random ones beyond, which `seed` chooses. NaN where there is no edge.
    """
    hierarchy = embedding.hierarchy
    child, parent = hierarchy.edges()
    if not child.size:
        return float("nan")
    n = hierarchy.n_nodes
    ends, others = np.concatenate([child, parent]), np.concatenate([parent, child])
    order = np.lexsort((others, ends))
    pointers = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))]).astype(np.int64)
    sources = np.arange(n)
    if n > ALL_UP_TO_NODES:
        sources = np.sort(np.random.default_rng(seed).choice(n, SAMPLE, replace=False))
    ptr, positives = positives_of(sources, (pointers, others[order].astype(np.int32)))
    if embedding.precise is None:
        found = choose().rank(*embedding.ranking_coordinates(), sources, ptr, positives, thread_count(threads))
    else:
        found = embedding.search_tree.rank(sources, ptr, positives, threads=thread_count(threads))
    # The k-th positive by distance has k - 1 positives and rank - 1 others before it.
    owner = np.repeat(np.arange(sources.size), np.diff(ptr))
    ranks = found[0][np.lexsort((found[0], owner))]
    place = np.arange(ranks.size) - ptr[:-1][owner] + 1
    sums = np.bincount(owner, place / (place + ranks - 1), minlength=sources.size)
    return float(np.mean(sums / np.diff(ptr)))
