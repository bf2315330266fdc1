"""Size and shape of a hierarchy in a few figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Codes, Pointers


@dataclass(frozen=True)
class Statistics:
    """Size and shape of a hierarchy, as in the data set table of the paper.

    Degrees are undirected (children plus parents) and standard deviations those of the population.

    Attributes
    ----------
    roots
        How many roots there are: those that a virtual root joins, else 1. A virtual root counts as a node.
    inner, leaves
        Nodes with and without children.
    multi_parent
        Nodes with several parents.
    std_degree, std_degree_inner
        Standard deviation of the degree over all nodes and over the nodes that have children.
    depth, longest_path
        Largest shortest distance from the root and longest way down, in edges; equal on a tree.
    """

    nodes: int
    edges: int
    roots: int
    inner: int
    leaves: int
    multi_parent: int
    max_degree: int
    max_children: int
    std_degree: float
    std_degree_inner: float
    depth: int
    longest_path: int


def statistics_of(
    parent_ptr: Pointers, child_ptr: Pointers, depth: Codes, level: Codes, virtual_root: int | None
) -> Statistics:
    """Figures from the CSR pointers (n+1,) and the shortest and longest distances (n,) from the root."""
    n_children, n_parents = np.diff(child_ptr), np.diff(parent_ptr)
    degree = n_children + n_parents
    has_children = n_children > 0
    inner = int(has_children.sum())
    return Statistics(
        nodes=degree.size,
        edges=int(child_ptr[-1]),
        roots=1 if virtual_root is None else int(n_children[virtual_root]),
        inner=inner,
        leaves=degree.size - inner,
        multi_parent=int((n_parents > 1).sum()),
        max_degree=int(degree.max()),
        max_children=int(n_children.max()),
        std_degree=float(degree.std()),
        std_degree_inner=float(degree[has_children].std()) if inner else 0.0,
        depth=int(depth.max()),
        longest_path=int(level.max()),
    )
