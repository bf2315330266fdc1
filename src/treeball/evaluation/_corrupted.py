"""Corrupted pairs: true pairs (node, ancestor) with one end replaced by a random node, so that it is not true."""

from __future__ import annotations

import numpy as np

from ..hierarchy import Hierarchy
from ..types import Ints, Mask

__all__ = ["Truth", "corrupted_pairs"]

# Where fewer than one node in ten or so would do, looking at all of them is quicker than drawing again.
_DRAWS = 32


class Truth:
    """What is true of a hierarchy and of further pairs (node, ancestor): the closure of both together.

    Parameters
    ----------
    hierarchy
    node, ancestor : int64 (m,)
        Codes of the further pairs. If some of them contradict the hierarchy, and both together have a cycle, true are
        the closure of the hierarchy and these pairs.
    """

    def __init__(self, hierarchy: Hierarchy, node: Ints, ancestor: Ints) -> None:
        self._listed = np.unique(node * hierarchy.n_nodes + ancestor)
        self.nodes = hierarchy.real_nodes().astype(np.int64)
        self._hierarchy = _joined(hierarchy, self._listed)

    def denies(self, node: Ints, ancestor: Ints) -> Mask:
        """Which of the pairs (m,) are of two nodes and not true."""
        true = self._hierarchy.is_ancestor(ancestor, node)
        listed = np.isin(node * self._hierarchy.n_nodes + ancestor, self._listed)
        return np.asarray((node != ancestor) & ~true & ~listed)


def _joined(hierarchy: Hierarchy, listed: Ints) -> Hierarchy:
    """The hierarchy with those of the pairs as further edges that it does not imply."""
    node, ancestor = np.divmod(listed, hierarchy.n_nodes)
    new = ~hierarchy.is_ancestor(ancestor, node)
    if not new.any():
        return hierarchy
    child, parent = hierarchy.edges()
    try:
        return Hierarchy.from_codes(
            hierarchy.names,
            np.concatenate([child, node[new]]),
            np.concatenate([parent, ancestor[new]]),
            virtual_root=hierarchy.virtual_root,
        )
    except ValueError:
        return hierarchy


def corrupted_pairs(
    truth: Truth, node: Ints, ancestor: Ints, count: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """For every pair `count` others that are not true: half with another node, half with another ancestor.

    The new end is drawn evenly from all nodes that make no true pair. Where there is none, as below a root of all, the
    other end is replaced; where that cannot be done either, there are fewer pairs.

    Returns
    -------
    node, ancestor : int64 (at most m * count,)
    """
    low, high = np.repeat(node, count), np.repeat(ancestor, count)
    replace_node = np.tile(np.arange(count) < count // 2, node.size)
    stuck = _replace(truth, low, high, replace_node, np.arange(low.size), rng)
    replace_node[stuck] = ~replace_node[stuck]
    stuck = _replace(truth, low, high, replace_node, stuck, rng)
    return np.delete(low, stuck), np.delete(high, stuck)


def _replace(truth: Truth, low: Ints, high: Ints, replace_node: Mask, rows: Ints, rng: np.random.Generator) -> Ints:
    """Replace one end of these rows, in place; returns the rows for which no node will do."""
    for _ in range(_DRAWS):
        if not rows.size:
            return rows
        drawn, at_node = rng.choice(truth.nodes, rows.size), replace_node[rows]
        new_low, new_high = np.where(at_node, drawn, low[rows]), np.where(at_node, high[rows], drawn)
        good = truth.denies(new_low, new_high)
        low[rows[good]], high[rows[good]] = new_low[good], new_high[good]
        rows = rows[~good]
    stuck = []
    for side, end, fixed in ((True, low, high), (False, high, low)):
        mine = rows[replace_node[rows] == side]
        for code in np.unique(fixed[mine]).tolist():
            same = mine[fixed[mine] == code]
            whole = np.full_like(truth.nodes, code)
            denied = truth.denies(truth.nodes, whole) if side else truth.denies(whole, truth.nodes)
            if denied.any():
                end[same] = rng.choice(truth.nodes[denied], same.size)
            else:
                stuck.append(same)
    return np.sort(np.concatenate(stuck)) if stuck else rows[:0]
