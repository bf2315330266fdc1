"""Lengths of paths in a hierarchy seen as an undirected graph whose edges are as long as their weights, or 1."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..types import Floats, Ints

if TYPE_CHECKING:
    from ._hierarchy import Hierarchy

__all__ = ["ALL_PATHS_UP_TO_NODES", "Graph", "PathLengths", "edge_lengths"]

Metric = Literal["tree", "graph", "primary tree"]

# Beyond, all shortest paths of a DAG are too many.
ALL_PATHS_UP_TO_NODES = 2_000
# Lengths whose sums, squares and ratios are numbers: what is shorter counts as 0, what is longer as the longest.
SHORTEST, LONGEST = 1e-100, 1e100


class Graph(NamedTuple):
    """An undirected graph as CSR arrays, each edge in the lists of both its ends."""

    pointers: Ints
    neighbour: Ints
    length: Floats

    @classmethod
    def of(cls, n: int, first: NDArray[np.integer], second: NDArray[np.integer], length: Floats) -> Graph:
        """The graph of n nodes with these edges."""
        ends, others = np.concatenate([first, second]), np.concatenate([second, first])
        order = np.argsort(ends, kind="stable")
        pointers = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))]).astype(np.int64)
        return cls(pointers, others[order].astype(np.int64), np.concatenate([length, length])[order])


def edge_lengths(hierarchy: Hierarchy) -> Floats:
    """Length (m,) of every edge in the order of `Hierarchy.edges`: its weight; 1 where there are none.

    A weight below 1e-100 counts as 0, and one above 1e100 as that.
    """
    if hierarchy.parent_weight is None:
        return np.ones(hierarchy.n_edges)
    return np.where(hierarchy.parent_weight < SHORTEST, 0.0, np.minimum(hierarchy.parent_weight, LONGEST))


class PathLengths:
    """How long the way between two nodes is.

    Attributes
    ----------
    metric
        ``"tree"``; ``"graph"``, shortest paths in a DAG; or, for a DAG of more than 2,000 nodes, ``"primary tree"``,
        paths by primary parents only.
    has_weights
        Whether edges have lengths of their own; else each counts 1.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self.has_weights = hierarchy.parent_weight is not None
        small = hierarchy.n_nodes <= ALL_PATHS_UP_TO_NODES
        self.metric: Metric = "tree" if hierarchy.is_tree else ("graph" if small else "primary tree")

    def between(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """Lengths of the ways between nodes given by their codes, which broadcast."""
        first, second = np.asarray(first), np.asarray(second)
        if self.metric == "graph":
            return np.asarray(self._all[first, second])
        tree, depth = self._tree
        return np.asarray(
            np.maximum(depth[first] + depth[second] - 2.0 * depth[tree.common_ancestor(first, second)], 0.0)
        )

    def by_way_of_nodes(self, first: Ints, second: Ints) -> Floats:
        """The same, inf where the way leads through a virtual root, which only joins what is apart."""
        lengths = self.between(first, second)
        top = self._hierarchy.virtual_root
        if top is None:
            return lengths
        apart = (self._hierarchy.common_ancestor(first, second) == top) & (first != top) & (second != top)
        return np.where(apart, np.inf, lengths)

    def to_all(self, code: int) -> Floats:
        """Lengths (n,) of the shortest ways from a node to all, inf through a virtual root."""
        from ..engine.cpu.shortest_paths import shortest_paths

        child, parent = self._hierarchy.edges()
        length = edge_lengths(self._hierarchy)
        kept = (
            np.ones(child.size, bool)
            if self._hierarchy.virtual_root in (None, code)
            else parent != self._hierarchy.virtual_root
        )
        graph = Graph.of(self._hierarchy.n_nodes, child[kept], parent[kept], length[kept])
        return np.asarray(shortest_paths(*graph, code)[0])

    @cached_property
    def graph(self) -> Graph:
        """All edges."""
        child, parent = self._hierarchy.edges()
        return Graph.of(self._hierarchy.n_nodes, child, parent, edge_lengths(self._hierarchy))

    @cached_property
    def _all(self) -> Floats:
        from ..engine.cpu.shortest_paths import all_shortest_paths

        return np.asarray(all_shortest_paths(*self.graph))

    @cached_property
    def _tree(self) -> tuple[Hierarchy, Floats]:
        """The tree of primary parents, and how far below the root each node is in it."""
        hierarchy = self._hierarchy
        if not hierarchy.is_tree:
            parent = hierarchy.primary_parent
            child, above = hierarchy.edges()
            kept = parent[child] == above
            weights = None if hierarchy.parent_weight is None else hierarchy.parent_weight[kept]
            hierarchy = type(hierarchy).from_codes(hierarchy.names, child[kept], above[kept], weights=weights)
        length = np.zeros(hierarchy.n_nodes)
        length[hierarchy.edges()[0]] = edge_lengths(hierarchy)
        if not self.has_weights:
            return hierarchy, hierarchy.depth.astype(np.float64)
        depth, parent = np.zeros(hierarchy.n_nodes), hierarchy.primary_parent
        for node in hierarchy.topological_order[1:].tolist():
            depth[node] = depth[parent[node]] + length[node]
        return hierarchy, depth
