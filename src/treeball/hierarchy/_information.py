"""Information content: how much a node says, told from the hierarchy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.cpu import ancestry
from ..engine.cpu.graph import read_only
from ..types import Floats, Ints, Pointers

if TYPE_CHECKING:
    from ._hierarchy import Hierarchy

__all__ = ["information_content"]


def information_content(hierarchy: Hierarchy) -> Floats:
    """Information content (n,) of all nodes: IC(c) = 1 - log(1 + descendants of c) / log(nodes).

    The intrinsic one of Seco, Veale and Hayes (2004): no corpus is counted. A leaf has 1, a root above all others 0; a
    virtual root counts neither as a node nor as anything above, and has 0.
    """
    nodes = hierarchy.real_nodes()
    content = np.zeros(hierarchy.n_nodes)
    if nodes.size > 1:
        content[nodes] = 1.0 - np.log1p(_descendants(hierarchy)[nodes]) / np.log(nodes.size)
    return content


def _descendants(hierarchy: Hierarchy) -> Ints:
    """How many proper descendants each node has, (n,), each counted once."""
    if hierarchy.is_tree:
        return (hierarchy.interval_out - hierarchy.interval_in - 1).astype(np.int64)
    upwards = read_only(hierarchy.topological_order[::-1], np.int32)
    pointers: Pointers = ancestry.count_ancestors(upwards, hierarchy.child_ptr, hierarchy.child_idx)
    return np.diff(pointers)
