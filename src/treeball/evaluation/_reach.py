"""The reach of every node: the distance within which its positives are, and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..limits import TIE
from ..nearest import ranked_distances
from ..types import Floats, Ints
from .ranking import EXACT_UP_TO_NODES

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["reaches"]

_Ranks = tuple[Ints, Ints, Ints, Ints, Ints]
# What a reach of 0 must not be taken for: that of a node whose positive is at the same place.
_SMALLEST = float(np.finfo(np.float64).tiny)


def reaches(embedding: Embedding) -> Floats:
    """Reaches (n,): the positives of a node, by the objective of the embedding, are the nodes at most so far from it.

    Of a node without an ill pair it is the middle between its farthest positive and its nearest non-positive, or 1 more
    than the former if there is no non-positive. Of any other it is what makes the fewest mistakes, positives missed and
    others caught, and of equally good ones the smallest: in a tree 0. Within a reach of 0 there is nobody, not even a
    node at the same place; that of a root is 0.
    """
    reach = np.zeros(len(embedding))
    sources, ptr, idx, ranks, offender = _ranks(embedding)
    if not sources.size:
        return reach
    coordinates, factor = embedding.ranking_coordinates()

    def distance(a: Ints, b: Ints) -> Floats:
        return ranked_distances(embedding.space, coordinates, factor, a, b)

    far = distance(np.repeat(sources, np.diff(ptr)), idx)
    farthest = np.maximum.reduceat(far, ptr[:-1])
    beyond = farthest + 2.0
    compared = offender >= 0
    beyond[compared] = distance(sources[compared], offender[compared])
    reach[sources] = farthest + (beyond - farthest) / 2
    ill = np.maximum.reduceat(ranks, ptr[:-1]) > 1
    if ill.any():
        reach[sources[ill]] = _fewest_mistakes(far, ranks, ptr)[ill]
    return reach


def _fewest_mistakes(far: Floats, ranks: Ints, ptr: Ints) -> Floats:
    """Thresholds (m,) with the fewest positives missed and others caught, from distances and ranks of positives."""
    counts = np.diff(ptr)
    source = np.repeat(np.arange(counts.size), counts)
    order = np.lexsort((far, source))
    # Up to the j-th positive of k, k - j are missed, and one less than its rank are caught.
    mistakes = counts[source] - (np.arange(far.size) - ptr[source] + 1) + ranks[order] - 1
    fewest = np.minimum.reduceat(mistakes, ptr[:-1])
    best = np.flatnonzero((mistakes == fewest[source]) & (fewest < counts)[source])
    first, place = np.unique(source[best], return_index=True)
    threshold = np.zeros(counts.size)
    # A hair beyond the positive: what rounding does to its distance does not cut it off.
    threshold[first] = np.maximum(far[order[best[place]]] * (1.0 + TIE), _SMALLEST)
    return threshold


def _ranks(embedding: Embedding) -> _Ranks:
    """Sources, their positives (pointers and codes), the ranks of these, and the nearest non-positive of each source.

    Of large trees, whose nodes have one positive, a rank is not told exactly where it is not 1: the two nearest nodes
    say that, however poor the embedding is, and no more is needed.
    """
    hierarchy, objective = embedding.hierarchy, embedding.objective
    if not hierarchy.n_edges:
        return (np.empty(0, np.int64),) * 5
    is_large_tree = hierarchy.is_tree and objective == "parents" and len(embedding) > EXACT_UP_TO_NODES
    if not is_large_tree or embedding.has_exact_ranks:
        known = embedding.evaluate(sample=0).ranking
        return known.sources, known.positive_ptr, known.positive_idx.astype(np.int64), known.ranks, known.offender
    sources = np.flatnonzero(hierarchy.primary_parent >= 0)
    parent = hierarchy.primary_parent[sources].astype(np.int64)
    near, keys = embedding.search_tree.nearest(sources, 2)
    first = near[:, 0] == parent
    own = embedding.ranking_coordinates()[1][sources]
    far = embedding.space.distance_from_key(np.sqrt(keys * own[:, None]))
    ranks = np.where(first & (far[:, 0] * (1.0 + TIE) < far[:, 1]), 1, 2)
    return sources, np.arange(sources.size + 1), parent, ranks, np.where(first, near[:, 1], near[:, 0])
