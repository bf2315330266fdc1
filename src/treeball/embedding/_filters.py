"""Which nodes may be neighbours: leaves, siblings, unrelated ones, those of a subtree; all told by the hierarchy."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from ..checks import require_flag
from ..hierarchy import Hierarchy
from ..types import Ints, Mask

__all__ = ["Filters", "KeptByFilters"]


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What neighbours must be; several together must all hold.

    Attributes
    ----------
    leaves
        Nodes without children.
    siblings
        Nodes that share a parent with the one asked about; a virtual root is no parent.
    unrelated
        Neither ancestors nor descendants of the one asked about.
    within
        The node of this name, or below it.
    """

    leaves: bool = False
    siblings: bool = False
    unrelated: bool = False
    within: Hashable | None = None

    def __post_init__(self) -> None:
        for name in ("leaves", "siblings", "unrelated"):
            require_flag(name, getattr(self, name))

    def __bool__(self) -> bool:
        return self != Filters()


class KeptByFilters:
    """The nodes of a hierarchy that filters keep: a :class:`treeball.nearest.Kept`."""

    def __init__(self, hierarchy: Hierarchy, filters: Filters) -> None:
        self.is_narrow = filters.siblings
        self._hierarchy, self._filters = hierarchy, filters
        self._pool = np.ones(hierarchy.n_nodes, np.bool_)
        if hierarchy.virtual_root is not None:
            self._pool[hierarchy.virtual_root] = False
        if filters.leaves:
            self._pool &= np.diff(hierarchy.child_ptr) == 0
        if filters.within is not None:
            top = hierarchy.names.find(filters.within)
            everyone = np.arange(hierarchy.n_nodes)
            self._pool &= hierarchy.is_ancestor(top, everyone) | (everyone == top)

    def keeps(self, node: int, others: Ints) -> Mask:
        """Which of the `others` (m,) may be neighbours of a node; never itself or a virtual root."""
        kept: Mask = self._pool[others] & (others != node)
        if self._filters.siblings:
            kept &= np.isin(others, self._siblings(node))
        if self._filters.unrelated:
            kept &= ~self._hierarchy.is_ancestor(others, node) & ~self._hierarchy.is_ancestor(node, others)
        return kept

    def candidates(self, node: int) -> Ints:
        """All nodes that may be, ascending."""
        others = self._siblings(node) if self._filters.siblings else np.flatnonzero(self._pool)
        return others[self.keeps(node, others)]

    def _siblings(self, node: int) -> Ints:
        """The children of all parents of a node, itself among them, ascending."""
        tree = self._hierarchy
        parents = [parent for parent in tree.parents_of(node).tolist() if parent != tree.virtual_root]
        children = [tree.children_of(parent) for parent in parents]
        return np.unique(np.concatenate([np.empty(0, np.int32), *children])).astype(np.int64)
