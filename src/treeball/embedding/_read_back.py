"""The hierarchy as geometry alone tells it: every node hangs from its nearest node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..hierarchy import Hierarchy
from ..nearest import nearest_nodes
from ..types import Ints

if TYPE_CHECKING:
    from . import Embedding

__all__ = ["read_back"]


def read_back(embedding: Embedding) -> Hierarchy:
    """The hierarchy that distances show: each node below its nearest node that does not hang from it.

    Nearest-node pointers end in cycles, nearly always of two nodes that are each other's nearest: the top of some nodes
    and one of its children. The one nearer to the origin is taken for the top. A faithful embedding has a single one,
    the root. Where there are several, each but the nearest to the origin goes below the nearest node that is not below
    it already; and so on until one is left. What is nearest to a virtual root, or the top of others, hangs from that.

    That is the true hierarchy only where nearest nodes are parents: in embeddings made for the objective parents, not
    in those made for ancestors.

    Returns
    -------
    Hierarchy
        Nodes have the codes they have in the embedding.
    """
    n, root = len(embedding), embedding.hierarchy.virtual_root
    radius = embedding.radii()
    pointer = nearest_nodes(embedding, np.arange(n), 1, virtual_root=True)[:, 0]
    if root is not None:
        pointer[root] = -1
    parent = _without_cycles(pointer, radius, np.ones(n, np.bool_))
    if root is not None:
        child = np.delete(np.arange(n), root)
        return Hierarchy.from_codes(
            embedding.names, child, np.where(parent < 0, root, parent)[child], virtual_root=root
        )
    while np.count_nonzero(parent < 0) > 1:
        tops = np.flatnonzero(parent < 0)
        tops = tops[np.lexsort((tops, radius[tops]))][1:]
        pointer = parent.copy()
        pointer[tops] = _nearest_outside(embedding, tops, _top_of_each(parent))
        # Only the tops were guesses: a new cycle is opened at one of them.
        parent = _without_cycles(pointer, radius, parent < 0)
    child = np.flatnonzero(parent >= 0)
    return Hierarchy.from_codes(embedding.names, child, parent[child])


def _without_cycles(pointer: Ints, radius: NDArray[np.float64], may_be_top: NDArray[np.bool_]) -> Ints:
    """Pointers (n,) with -1 for one node of each cycle: of those that may be tops, the nearest to the origin."""
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
            result[min((node for node in cycle if may_be_top[node]), key=lambda node: (radius[node], node))] = -1
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
