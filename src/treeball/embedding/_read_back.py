"""The hierarchy as geometry alone tells it: every node hangs from the nodes within its reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..engine.cpu.graph import find_back_edges
from ..hierarchy import Hierarchy
from ..nearest import nearest_nodes
from ..types import Ints, Mask
from ._above import nearest_node, parent_lists, top_of

if TYPE_CHECKING:
    from . import Embedding

__all__ = ["read_back"]


def read_back(embedding: Embedding) -> Hierarchy:
    """The hierarchy that distances and reaches show: each node below the nodes within its reach.

    By the objective ancestors, below those of them that are ancestors of no other. Without illness that is the true
    hierarchy (of the objective ancestors, its transitive reduction): all ways up end at the one node with a reach of 0.

    With illness it is a guess. A node with nobody within its reach hangs from its nearest node. The pointers to the
    nearest parents may then come round: each circle is opened at a node that was such a guess, if there is one, the
    nearest to the origin. It goes below the nearest node that is not below it already, or below a virtual root; and so
    on until one top is left. Further parents that would be below their own child are left out.

    Returns
    -------
    Hierarchy
        Nodes have the codes they have in the embedding; parents of a node are in the order of their distances.
    """
    n, virtual_root, top = len(embedding), embedding.hierarchy.virtual_root, top_of(embedding)
    _, ptr, parents, _ = parent_lists(embedding, np.arange(n))
    guessed = np.diff(ptr) == 0
    pointer = np.full(n, -1, np.int64)
    pointer[~guessed] = parents[ptr[:-1][~guessed]]
    lost = np.flatnonzero(guessed & (np.arange(n) != top))
    pointer[lost] = nearest_node(embedding, lost)
    parent = _one_tree(embedding, pointer, guessed, top)
    child = np.repeat(np.arange(n), np.diff(ptr))
    further = parents != parent[child]
    below = np.flatnonzero(parent >= 0)
    lower, upper = np.concatenate([below, child[further]]), np.concatenate([parent[below], parents[further]])
    kept = ~find_back_edges(n, lower, upper)
    return Hierarchy.from_codes(embedding.names, lower[kept], upper[kept], virtual_root=virtual_root)


def _one_tree(embedding: Embedding, pointer: Ints, guessed: Mask, top: int) -> Ints:
    """Parents (n,) in one tree below `top`: the pointers, with circles opened and their tops put elsewhere."""
    radius = embedding.radii()
    parent = _without_cycles(pointer, radius, guessed)
    if embedding.hierarchy.virtual_root is not None:
        parent[(parent < 0) & (np.arange(parent.size) != top)] = top
        return parent
    while np.count_nonzero(parent < 0) > 1:
        tops = np.flatnonzero(parent < 0)
        tops = tops[tops != top]
        pointer = parent.copy()
        pointer[tops] = _nearest_outside(embedding, tops, _top_of_each(parent))
        # Only the tops were guesses: a new cycle is opened at one of them.
        parent = _without_cycles(pointer, radius, parent < 0)
    return parent


def _without_cycles(pointer: Ints, radius: NDArray[np.float64], guessed: Mask) -> Ints:
    """Pointers (n,) with -1 for one node of each cycle: of the guesses on it, if any, the nearest to the origin."""
    n = pointer.size
    target = np.append(np.where(pointer < 0, n, pointer), n)
    seen: set[int] = {n}
    result = pointer.copy()
    for start in np.unique(_repeated(target)).tolist():
        cycle = []
        while start not in seen:
            seen.add(start)
            cycle.append(start)
            start = int(target[start])
        if cycle:
            weak = [node for node in cycle if guessed[node]] or cycle
            result[min(weak, key=lambda node: (radius[node], node))] = -1
    return result


def _top_of_each(parent: Ints) -> Ints:
    """Where the way up from every node ends, (n,)."""
    return _repeated(np.where(parent < 0, np.arange(parent.size), parent))


def _repeated(target: Ints) -> Ints:
    """Where each node is after at least as many steps as there are nodes."""
    for _ in range(target.size.bit_length()):
        target = target[target]
    return target


def _nearest_outside(embedding: Embedding, tops: Ints, top_of: Ints) -> Ints:
    """For every top the nearest node that hangs from another one."""
    found = np.full(tops.size, -1, np.int64)
    k = 16
    while (found < 0).any():
        left = np.flatnonzero(found < 0)
        near = nearest_nodes(embedding, tops[left], min(k, len(embedding) - 1))
        outside = top_of[near] != tops[left][:, None]
        first = outside.argmax(axis=1)
        hit = outside[np.arange(left.size), first]
        found[left[hit]] = near[np.arange(left.size), first][hit]
        k *= 8
    return found
