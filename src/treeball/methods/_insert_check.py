"""Checking an insertion: who is ill of those that were placed, and of the others because of them."""

from __future__ import annotations

import numpy as np

from ..embedding import Embedding
from ..engine.cpu.search_tree import SearchTree
from ..engine.cpu.term_search import TermSearch
from ..geometry import poincare
from ..geometry.spaces import BALL
from ..hierarchy import Hierarchy
from ..nearest import search_tree
from ..types import Floats, Ints, Mask
from .settled import factors

__all__ = ["fell_ill_because_of", "ill_among"]


def ill_among(embedding: Embedding, loose: Mask, threads: int) -> Ints:
    """Codes of the `loose` nodes that are ill: not all their parents are nearer than everybody else."""
    nodes = np.flatnonzero(loose)
    if not nodes.size:
        return nodes
    if embedding.has_exact_ranks and embedding.objective == "parents":
        known = embedding.evaluate("parents").ranking
        worst = np.maximum.reduceat(known.ranks, known.positive_ptr[:-1])
        return np.asarray(known.sources[(worst > 1) & loose[known.sources]])
    ranks, ptr = _ranks(embedding.search_tree, embedding.hierarchy, nodes, threads)
    return np.asarray(nodes[np.maximum.reduceat(ranks, ptr[:-1]) > 1])


def _ranks(tree: SearchTree | TermSearch, hierarchy: Hierarchy, nodes: Ints, threads: int) -> tuple[Ints, Ints]:
    """Ranks of the parents of `nodes`, each of which has one, and pointers into them."""
    all_ptr, all_idx = hierarchy.positives("parents")
    counts = np.diff(all_ptr)[nodes]
    ptr = np.concatenate([[0], np.cumsum(counts)])
    idx = all_idx[np.repeat(all_ptr[nodes] - ptr[:-1], counts) + np.arange(ptr[-1])]
    return tree.rank(nodes, ptr, idx, threads=threads)[0], ptr


def fell_ill_because_of(embedding: Embedding, loose: Mask, threads: int) -> Ints:
    """Codes of the nodes that are not loose, are ill, and would not be without the loose ones."""
    hierarchy = embedding.hierarchy
    others, nodes = np.flatnonzero(~loose), np.flatnonzero(loose)
    if not nodes.size or not others.size:
        return np.empty(0, np.int64)
    points, _ = embedding.ranking_coordinates()
    if not _may_harm(points, hierarchy, others, nodes, threads):
        return np.empty(0, np.int64)
    with_parent = others[np.diff(hierarchy.parent_ptr)[others] > 0]
    ranks, ptr = _ranks(embedding.search_tree, hierarchy, with_parent, threads)
    suspects = with_parent[np.maximum.reduceat(ranks, ptr[:-1]) > 1] if with_parent.size else with_parent
    # Who was ill already among the others alone did not fall ill now.
    seat = np.full(hierarchy.n_nodes, -1)
    seat[others] = np.arange(others.size)
    all_ptr, all_idx = hierarchy.positives("parents")
    before = [seat[all_idx[all_ptr[node] : all_ptr[node + 1]]] for node in suspects]
    before = [parents[parents >= 0] for parents in before]
    judged = np.array([parents.size > 0 for parents in before], np.bool_)
    well = np.ones(suspects.size, np.bool_)
    if judged.any():
        old_ptr = np.concatenate([[0], np.cumsum([parents.size for parents in before if parents.size])])
        alone = search_tree(*BALL.ranking_coordinates(points[others]))
        old_ranks = alone.rank(seat[suspects[judged]], old_ptr, np.concatenate(before), threads=threads)[0]
        well[judged] = np.maximum.reduceat(old_ranks, old_ptr[:-1]) == 1
    return np.asarray(suspects[well])


def _may_harm(points: Floats, hierarchy: Hierarchy, others: Ints, nodes: Ints, threads: int) -> bool:
    """Whether one of `nodes` is within the distance that one of the `others` has from its farthest parent, or nearly.

    If not, nobody fell ill, and there is no need to rank them all.
    """
    counts = np.diff(hierarchy.parent_ptr)[others]
    column = np.arange(max(1, int(counts.max())))
    where = np.minimum(hierarchy.parent_ptr[others][:, None] + column, max(hierarchy.n_edges - 1, 0))
    parents = np.where(column < counts[:, None], hierarchy.parent_idx[where] if hierarchy.n_edges else -1, -1)
    far = poincare.distance(points[others][:, None, :], points[np.maximum(parents, 0)])
    _, guarded = factors(points[others], np.where(parents >= 0, far, 0.0).max(axis=1), 1.0 + 1e-9)
    keys = search_tree(points[others], guarded).nearest(points[nodes], 1, threads=threads)[1][:, 0]
    return bool((keys <= poincare.one_minus_square(points[nodes])).any())
