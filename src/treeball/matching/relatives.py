"""Relatives: what matches that are sure say of the nodes around them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..hierarchy import Hierarchy
from ..types import Floats, Ints, Mask
from .pairs import Pairs

__all__ = ["SURE", "Kinship", "ancestors_say", "nearest_above", "relatives_say"]

SURE = 0.8  # only matches so confident speak for others: doubt would add up to certainty


@dataclass(frozen=True)
class Kinship:
    """What the relatives say of pairs of nodes, each float64 (m,).

    Attributes
    ----------
    above
        1 where the nearest ancestor that is surely matched, of either node, is matched to an ancestor of the other, -1
        where both are matched elsewhere, 0 where none is matched; by the confidence of that match.
    parents
        How confident it is that the parents are the same.
    children
        The share of the children that are surely matched to children of the other.
    """

    above: Floats
    parents: Floats
    children: Floats

    @classmethod
    def unknown(cls, m: int) -> Kinship:
        """Nothing is known of the relatives of m pairs."""
        return cls(np.zeros(m), np.zeros(m), np.zeros(m))


def relatives_say(a: Hierarchy, b: Hierarchy, pairs: Pairs, confidence: Floats) -> Kinship:
    """What the relatives say of pairs of nodes, by how confident the pairs have been so far."""
    above = ancestors_say(a, b, pairs, confidence, pairs.first, pairs.second)
    parent_a = a.primary_parent[pairs.first].astype(np.int64)
    parent_b = b.primary_parent[pairs.second].astype(np.int64)
    place = pairs.find(parent_a, parent_b)
    told = (place >= 0) & ~((parent_a == a.root) & (parent_b == b.root))  # that the roots are the same tells nothing
    is_sure = confidence >= SURE
    matched = np.bincount(place[(place >= 0) & is_sure], minlength=len(pairs))
    fewer = np.minimum(np.diff(a.child_ptr)[pairs.first], np.diff(b.child_ptr)[pairs.second])
    return Kinship(
        above,
        np.where(told, confidence[place], 0.0) if len(pairs) else np.zeros(0),
        matched / (1 + fewer),
    )


def ancestors_say(a: Hierarchy, b: Hierarchy, pairs: Pairs, confidence: Floats, first: Ints, second: Ints) -> Floats:
    """What ancestors that are surely matched say of nodes, :attr:`Kinship.above`, which need not be candidates."""
    sure = np.flatnonzero(confidence >= SURE)
    to_b, to_a, trust = pairs.first[sure], pairs.second[sure], confidence[sure]
    return np.maximum(_above(a, b, first, second, to_b, to_a, trust), _above(b, a, second, first, to_a, to_b, trust))


def _above(
    a: Hierarchy, b: Hierarchy, first: Ints, second: Ints, matched: Ints, counterpart: Ints, confidence: Floats
) -> Floats:
    """Whether the counterpart of the nearest matched ancestor of each first node is above the second."""
    to_b, trust = np.full(a.n_nodes, -1, np.int64), np.zeros(a.n_nodes)
    to_b[matched], trust[matched] = counterpart, confidence
    to_b[a.root] = -1  # above everything
    to_b[to_b == b.root] = -1
    near = nearest_above(a, to_b >= 0)[first]
    told = np.flatnonzero(near >= 0)
    says = np.zeros(len(first))
    is_above = b.is_ancestor(to_b[near[told]], second[told])
    says[told] = np.where(is_above, 1.0, -1.0) * trust[near[told]]
    return says


def nearest_above(hierarchy: Hierarchy, marked: Mask) -> Ints:
    """Of every node the nearest proper ancestor that is marked, by primary parents, int64 (n,); -1 for none."""
    nearest = [-1] * hierarchy.n_nodes
    parents, is_marked = hierarchy.primary_parent.tolist(), marked.tolist()
    for node in hierarchy.topological_order.tolist():
        parent = parents[node]
        if parent >= 0:
            nearest[node] = parent if is_marked[parent] else nearest[parent]
    return np.array(nearest, np.int64)
