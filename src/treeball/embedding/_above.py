"""What geometry shows above some nodes: a walk upwards by reaches, without reading back the whole hierarchy.

The nodes within the reach of a node are its parents or, in a model made for the objective ancestors, all its ancestors;
then its parents are those that are ancestors of no other, so that an edge to a grandparent is not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.cpu import ancestry
from ..engine.cpu.graph import read_only
from ..hierarchy import Hierarchy
from ..nearest import nodes_within_reach
from ..types import Codes, Ints, Mask

if TYPE_CHECKING:
    from . import Embedding

__all__ = ["Above", "nearest_node", "parent_lists", "shown_above", "shown_parents", "top_of", "upwards", "walk"]

# Up to so many nodes a walk is shorter than reading back everything.
_FEW = 256


def parent_lists(embedding: Embedding, nodes: Ints) -> tuple[Ints, Ints, Ints, bool]:
    """Parents by reach of some nodes; by the objective ancestors, of what is above them as well.

    Returns
    -------
    nodes : int64 (m,)
        Those given, ascending, and what lists were found for besides.
    ptr, parents : int64 (m+1,) and (edges,)
        The parents of each, the nearest first.
    whole : bool
        Whether nothing above them is missing; always so for the objective parents, where nothing above was asked for.
    """
    nodes = np.unique(nodes)
    if embedding.objective == "parents":
        return nodes, *nodes_within_reach(embedding, nodes), True
    if nodes.size < len(embedding):
        nodes = np.union1d(nodes, nodes_within_reach(embedding, nodes)[1])
    ptr, above = nodes_within_reach(embedding, nodes)
    seat = np.minimum(np.searchsorted(nodes, above), nodes.size - 1)
    inside = nodes[seat] == above
    kept = ancestry.direct_ancestors(read_only(ptr, np.int64), read_only(np.where(inside, seat, -1), np.int32))
    direct = np.concatenate([[0], np.cumsum(kept)])[ptr]
    return nodes, direct, above[kept], bool(inside.all())


def nearest_node(embedding: Embedding, nodes: Ints) -> Ints:
    """What nodes with nobody within their reach are taken to hang from, (m,); a virtual root may be it."""
    return embedding.search_tree.nearest(nodes, 1)[0][:, 0]


def top_of(embedding: Embedding) -> int:
    """The root as reaches tell it: a virtual root, else of the nodes with a reach of 0 the nearest to the origin.

    Without illness there is one such node. In a hierarchy without a virtual root one node has no positives, so there is
    always one.
    """
    if embedding.hierarchy.virtual_root is not None:
        return embedding.hierarchy.virtual_root
    candidates = np.flatnonzero(embedding.reach == 0.0)
    return int(candidates[np.argmin(embedding.radii_of(candidates))])


class Above:
    """Some nodes and all that geometry shows above them; it answers like a :class:`Hierarchy` of these.

    Attributes
    ----------
    level : dict
        Longest way to the top in edges, of every node.
    """

    def __init__(self, embedding: Embedding, parents: dict[int, Ints], level: dict[int, int]) -> None:
        self.names = embedding.names
        self.virtual_root = embedding.hierarchy.virtual_root
        self.level = level
        self._parents = parents

    def parents_of(self, node: int) -> Ints:
        """Parents of a node, the nearest first."""
        return self._parents[node]

    def is_ancestor(self, ancestor: Ints, node: Ints) -> Mask:
        """Whether ``ancestor`` is a proper ancestor of ``node``; codes (m,) of both."""
        reached = {code: upwards(self, code, virtual_root=True) for code in np.unique(node).tolist()}
        pairs = zip(ancestor.tolist(), node.tolist(), strict=True)
        return np.array([above != below and above in reached[below] for above, below in pairs], np.bool_)

    def common_ancestor(self, a: Ints, b: Ints) -> Codes:
        """Common ancestor-or-self with the largest level, and of several such the smallest code; codes (m,) of both."""
        reached = {code: upwards(self, code, virtual_root=True) for code in np.union1d(a, b).tolist()}
        common = [reached[x].keys() & reached[y].keys() for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        return np.array([min(some, key=lambda node: (-self.level[node], node)) for some in common], np.int32)


def walk(embedding: Embedding, nodes: Ints) -> Above | None:
    """What is above some nodes; None where illness makes a way up come round, or a set of ancestors incomplete.

    A node with nobody within its reach, but the top, is taken to hang from its nearest node.
    """
    top = top_of(embedding)
    parents: dict[int, Ints] = {}
    pending = np.unique(nodes)
    while pending.size:
        found, ptr, above, whole = parent_lists(embedding, pending)
        parents |= dict(zip(found.tolist(), np.split(above, ptr[1:-1]), strict=True))
        if not whole:
            return None
        lost = found[(np.diff(ptr) == 0) & (found != top)]
        guessed = nearest_node(embedding, lost)
        parents |= dict(zip(lost.tolist(), guessed[:, None], strict=True))
        pending = np.setdiff1d(np.concatenate([above, guessed]), np.fromiter(parents, np.int64))
    level = _levels(parents)
    return Above(embedding, parents, level) if len(level) == len(parents) else None


def _levels(parents: dict[int, Ints]) -> dict[int, int]:
    """Longest way to the top of every node that is not on a cycle or below one."""
    missing = {node: above.size for node, above in parents.items()}
    children: dict[int, list[int]] = {node: [] for node in parents}
    for node, above in parents.items():
        for parent in above.tolist():
            children[parent].append(node)
    level = dict.fromkeys((node for node, count in missing.items() if count == 0), 0)
    ready = list(level)
    for node in ready:
        for child in children[node]:
            missing[child] -= 1
            if missing[child] == 0:
                level[child] = 1 + max(level[parent] for parent in parents[child].tolist())
                ready.append(child)
    return level


def shown_above(embedding: Embedding, nodes: Ints) -> Hierarchy | Above:
    """What geometry shows above some nodes: a walk where that is short and sound, else all that is read back.

    Both say the same: reading back changes nothing above a node from which no way comes round.
    """
    if embedding.is_read_back or np.unique(nodes).size > _FEW:
        return embedding.read_back()
    return walk(embedding, nodes) or embedding.read_back()


def shown_parents(embedding: Embedding, nodes: Ints) -> dict[int, Codes]:
    """Parents of some nodes, the nearest first: by reach, and only where nobody is within it by what is above them."""
    if not nodes.size:
        return {}
    found, ptr, above, _ = parent_lists(embedding, nodes)
    lists = dict(zip(found.tolist(), np.split(above.astype(np.int32), ptr[1:-1]), strict=True))
    lost = np.array([node for node in np.unique(nodes).tolist() if not lists[node].size], np.int64)
    if lost.size and (lost != top_of(embedding)).any():
        tree = shown_above(embedding, lost)
        lists |= {node: np.asarray(tree.parents_of(node), np.int32) for node in lost.tolist()}
    return lists


def upwards(tree: Hierarchy | Above, code: int, virtual_root: bool = False) -> dict[int, tuple[int, int]]:
    """A node and all above it, the nearest first: how many edges above, and by way of which node."""
    reached = {code: (0, code)}
    level = [code]
    while level:
        above = []
        for node in level:
            for parent in tree.parents_of(node).tolist():
                if parent not in reached and (virtual_root or parent != tree.virtual_root):
                    reached[parent] = (reached[node][0] + 1, node)
                    above.append(parent)
        level = above
    return reached
