"""Candidates: which few nodes of the other hierarchy may be the same, by the words that their names share."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..types import Ints
from .bags import laid_out, spread
from .evidence import name_likeness
from .pairs import Pairs
from .side import Side

__all__ = ["by_children", "by_names"]

_LEAST_LIKENESS = 0.2  # of two names, to be worth a look
_MOST = 16  # candidates of a node
_BUDGET = 200  # names that share a word with one name: those with its rarest words are looked at first
_BLOCK = 1_000_000  # pairs at a time


def by_names(a: Side, b: Side) -> Pairs:
    """The candidates of every node of either side, at most a few of each: names and paths most alike."""
    return _one_way(a, b).joined(_one_way(b, a).turned())


def by_children(a: Side, b: Side, parents: Pairs) -> Pairs:
    """Pairs of children of matched nodes that have the same name, however frequent its words are."""
    (first, keys), (second, other_keys) = (
        _children(side, nodes) for side, nodes in ((a, parents.first), (b, parents.second))
    )
    order = np.argsort(other_keys, kind="stable")
    ends = np.searchsorted(other_keys[order], keys, "right")
    begins = np.searchsorted(other_keys[order], keys, "left")
    place, child = laid_out(begins, ends - begins)
    return Pairs.of(first[child], second[order][place], parents.n_first, parents.n_second)


def _children(side: Side, nodes: Ints) -> tuple[Ints, Ints]:
    """The children of nodes, once for each of their names, and a number of node and name together."""
    place, node = spread(side.hierarchy.child_ptr, nodes)
    row, child = spread(side.name_ptr, side.hierarchy.child_idx[place].astype(np.int64))
    return side.hierarchy.child_idx[place][child].astype(np.int64), node[child] * side.n_spelled + side.spelled[row]


def _one_way(a: Side, b: Side) -> Pairs:
    """The best candidates of every node of A, through an index from words to the nodes of B."""
    n_first, n_second = a.hierarchy.n_nodes, b.hierarchy.n_nodes
    ptr, holder = _index(b)
    names = a.names
    row = np.repeat(np.arange(len(names)), np.diff(names.ptr))
    frequency = np.diff(ptr)[names.word]
    order = np.lexsort((frequency, row))
    cost = np.cumsum(frequency[order])
    spent_before = np.concatenate([[0], cost])[names.ptr[:-1]]
    looked_at = order[cost - spent_before[row[order]] <= _BUDGET]
    nodes = a.owner[row[looked_at]]
    found: list[Pairs] = []
    cost = np.cumsum(frequency[looked_at])
    cuts = np.searchsorted(cost, np.arange(_BLOCK, cost[-1] if len(cost) else 0, _BLOCK)).tolist()
    for begin, end in pairwise([0, *cuts, len(looked_at)]):
        place, entry = spread(ptr, names.word[looked_at[begin:end]])
        some = Pairs.of(nodes[begin:end][entry], holder[place], n_first, n_second)
        found.append(_best(a, b, _worth_a_look(a, b, some)))
    return _best(a, b, Pairs.all_of(found, n_first, n_second))


def _index(side: Side) -> tuple[Ints, Ints]:
    """The nodes that have each word in a name: pointers by word, and the nodes."""
    order = np.argsort(side.names.word, kind="stable")
    node = side.owner[np.repeat(np.arange(len(side.names)), np.diff(side.names.ptr))]
    return np.searchsorted(side.names.word[order], np.arange(side.names.n_words + 1)), node[order]


def _worth_a_look(a: Side, b: Side, pairs: Pairs) -> Pairs:
    return pairs.where(name_likeness(a, b, pairs) >= _LEAST_LIKENESS)


def _best(a: Side, b: Side, pairs: Pairs) -> Pairs:
    """Of every first node the few pairs that are most alike."""
    alike = name_likeness(a, b, pairs) + a.path.cosine(pairs.first, b.path, pairs.second)
    order = np.lexsort((-alike, pairs.first))
    rank = np.arange(len(order)) - np.searchsorted(pairs.first, pairs.first[order])
    return pairs.where(np.sort(order[rank < _MOST]))
