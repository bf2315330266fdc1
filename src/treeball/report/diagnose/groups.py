"""Ill pairs counted by what they have in common: depth, number of children, top-level subtree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...evaluation import Evaluation
from ...evaluation.illness import CAPACITY, KINDS
from ...hierarchy import Hierarchy
from ...types import Ints

_DOMINANT = 0.7


@dataclass(frozen=True)
class Group:
    """Positive pairs that have something in common, and how many of them are ill.

    Attributes
    ----------
    label : what they have in common
    pairs : ranked pairs
    ill : number of ill pairs of each kind, in the order of `KINDS`
    """

    label: str
    pairs: int
    ill: tuple[int, ...]

    @property
    def ill_pairs(self) -> int:
        """Ill pairs of all kinds."""
        return sum(self.ill)

    @property
    def share(self) -> float:
        """Share of the pairs that is ill."""
        return self.ill_pairs / self.pairs if self.pairs else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Label and counts as plain values."""
        return {"label": self.label, "pairs": self.pairs, "illness": dict(zip(KINDS, self.ill, strict=True))}


@dataclass(frozen=True)
class RankedPairs:
    """Every ranked pair (A, B) of an evaluation: its nodes, its rank, and its kind of illness or -1."""

    node: Ints
    positive: Ints
    rank: Ints
    kind: Ints

    @classmethod
    def of(cls, evaluation: Evaluation) -> RankedPairs:
        """The pairs in the order of the ranking."""
        ranking = evaluation.ranking
        node = np.repeat(ranking.sources, np.diff(ranking.positive_ptr))
        kind = np.full(node.size, -1, np.int64)
        # The illness lists the pairs of a rank above 1 in the same order.
        kind[ranking.ranks > 1] = evaluation.illness.kind
        return cls(node, ranking.positive_idx.astype(np.int64), ranking.ranks, kind)


def by_depth(pairs: RankedPairs, hierarchy: Hierarchy) -> tuple[Group, ...]:
    """One group for each depth of the node A, from the top down."""
    depth = hierarchy.depth[pairs.node].astype(np.int64)
    groups = _tally(depth, pairs.kind, [str(level) for level in range(int(depth.max()) + 1)] if depth.size else [])
    return tuple(group for group in groups if group.pairs)


def by_children(pairs: RankedPairs, hierarchy: Hierarchy) -> tuple[Group, ...]:
    """One group for each number of children of B, the node that A should be close to; doubling from group to group."""
    number = bin_of(np.diff(hierarchy.child_ptr)[pairs.positive])
    groups = _tally(number, pairs.kind, [bin_label(i) for i in range(int(number.max()) + 1)] if number.size else [])
    return tuple(group for group in groups if group.pairs)


def by_subtree(pairs: RankedPairs, hierarchy: Hierarchy) -> tuple[Group, ...]:
    """One group for each top-level subtree that A lies in, those with the most ill pairs first."""
    tops = top_nodes(hierarchy)
    names = hierarchy.names.shown_of(tops)
    groups = _tally(subtree_of(pairs.node, tops, hierarchy), pairs.kind, [*names, "above them"])
    return tuple(sorted((group for group in groups if group.pairs), key=lambda group: (-group.ill_pairs, -group.pairs)))


def by_offender(evaluation: Evaluation, hierarchy: Hierarchy) -> tuple[Group, ...]:
    """Ill pairs (A, B) by who their offender is to A; every one of them is ill."""
    illness = evaluation.illness
    node, positive, offender = illness.node, illness.positive, illness.offender
    relation = np.full(len(illness), 5, np.int64)
    relation[hierarchy.is_ancestor(positive, offender)] = 3
    relation[hierarchy.is_ancestor(offender, node)] = 4
    relation[hierarchy.is_ancestor(node, offender)] = 2
    relation[hierarchy.is_parent(node, offender)] = 1
    relation[illness.kind == CAPACITY] = 0
    above = "parent" if evaluation.objective == "parents" else "ancestor"
    labels = (
        f"a child of the same {above}",
        "its own child",
        "deeper below itself",
        f"deeper below the {above}",
        f"above the {above}",
        "in another branch",
    )
    return tuple(group for group in _tally(relation, illness.kind.astype(np.int64), labels) if group.pairs)


def top_nodes(hierarchy: Hierarchy) -> Ints:
    """The children of the root; in place of one that holds nearly everything, which tells nothing, its own children."""
    extent = hierarchy.interval_out - hierarchy.interval_in
    tops = _own_children(hierarchy, hierarchy.root)
    while tops.size:
        largest = int(np.argmax(extent[tops]))
        below = _own_children(hierarchy, int(tops[largest]))
        if extent[tops[largest]] < _DOMINANT * hierarchy.n_nodes or not below.size:
            break
        tops = np.concatenate([below, np.delete(tops, largest)])
    return tops


def _own_children(hierarchy: Hierarchy, node: int) -> Ints:
    """Children of which `node` is the primary parent."""
    children = hierarchy.children_of(node).astype(np.int64)
    return np.asarray(children[hierarchy.primary_parent[children] == node])


def subtree_of(nodes: Ints, tops: Ints, hierarchy: Hierarchy) -> Ints:
    """Index into `tops` of the subtree of each node, by primary parents; len(tops) for a node above all of them."""
    order = tops[np.argsort(hierarchy.interval_in[tops])]
    place = np.searchsorted(hierarchy.interval_in[order], hierarchy.interval_in[nodes], "right") - 1
    found = order[np.maximum(place, 0)] if order.size else np.zeros(nodes.size, np.int64)
    inside = (place >= 0) & (hierarchy.interval_in[nodes] < hierarchy.interval_out[found])
    rank = np.full(hierarchy.n_nodes, tops.size, np.int64)
    rank[tops] = np.arange(tops.size)
    return np.asarray(np.where(inside, rank[found], tops.size))


def bin_of(children: NDArray[Any]) -> Ints:
    """Number of the bin 1, 2, 3-4, 5-8, 9-16, ... that each number of children falls in."""
    return np.asarray(np.ceil(np.log2(np.maximum(children, 1))), np.int64)


def bin_label(number: int) -> str:
    """The bin in words."""
    return str(2**number) if number < 2 else f"{2 ** (number - 1) + 1}–{2**number}"


def _tally(group: Ints, kind: Ints, labels: Sequence[str]) -> list[Group]:
    """Count the pairs of each group, and those of each kind."""
    size = len(labels)
    pairs = np.bincount(group, minlength=size)
    ill = np.stack([np.bincount(group[kind == k], minlength=size) for k in range(len(KINDS))], axis=1)
    return [Group(label, int(pairs[i]), tuple(ill[i].tolist())) for i, label in enumerate(labels)]
