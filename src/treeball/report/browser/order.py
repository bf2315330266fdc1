"""The tree as the page holds it: nodes level by level, so that the children of a node are neighbours in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engine.cpu.plane_layout import breadth_first
from ...hierarchy import Hierarchy
from ...types import Floats, Ints


@dataclass(frozen=True)
class LevelOrder:
    """The tree of primary parents, numbered level by level.

    Attributes
    ----------
    code : int64 (n,)
        Code in the hierarchy of each position; the root comes first.
    position : int64 (n,)
        The inverse: position of each code.
    parent : int64 (n,)
        Position of the parent of each position, -1 for the root; it never descends.
    first : int64 (n+1,)
        The children of position i are the positions ``first[i]:first[i+1]``.
    """

    code: Ints
    position: Ints
    parent: Ints
    first: Ints

    def __len__(self) -> int:
        return int(self.code.size)


def level_order(hierarchy: Hierarchy, key: Floats | None = None) -> LevelOrder:
    """Number the nodes level by level; siblings ascend by `key` (n,), by default by their codes."""
    n = hierarchy.n_nodes
    parent = hierarchy.primary_parent.astype(np.int64)
    siblings = np.arange(n) if key is None else key
    by_parent = np.lexsort((siblings, parent))
    begin = np.searchsorted(parent[by_parent], np.arange(n + 1))
    code = breadth_first(hierarchy.root, by_parent, begin)
    position = np.empty(n, np.int64)
    position[code] = np.arange(n)
    above = np.append(position, -1)[parent[code]]
    return LevelOrder(code, position, above, 1 + np.searchsorted(above[1:], np.arange(n + 1)))
