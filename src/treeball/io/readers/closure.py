"""Pairs that others imply: in a transitive closure, and in any acyclic relation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...engine.cpu.ancestry import implied_edges
from ...hierarchy import Hierarchy
from ...types import Codes

_CHUNK = 4_000_000
_NEARLY = 0.01  # share of pairs that may be missing for the input still to be called nearly closed


@dataclass(frozen=True, slots=True)
class ClosureCheck:
    """Result of :func:`check_closure`.

    Attributes
    ----------
    implied
        True (m,) for pairs that two others imply.
    missing
        How many two-step pairs are absent: 0 for an exact closure.
    """

    implied: NDArray[np.bool_]
    missing: int


def check_closure(n: int, child: Codes, parent: Codes) -> ClosureCheck | None:
    """Compare the pairs (m,) with their own two-step compositions; None when they are far from closed.

    A relation is transitively closed when child -> parent -> grandparent always comes with child -> grandparent; in
    a closed relation a pair is implied by others exactly when it is such a composition.
    """
    degree = np.bincount(child, minlength=n)
    above = degree[parent]
    if degree.max(initial=0) <= 1 or not above.any():
        return None  # a forest, or one step deep: nothing to reduce
    # In a closure a child has more ancestors than its parent; this settles nearly every DAG at once.
    if (degree[child] <= above).mean() > _NEARLY:
        return None
    order = np.lexsort((parent, child))
    keys = child[order].astype(np.int64) * n + parent[order]
    start = np.concatenate(([0], np.cumsum(degree)))
    sorted_parent = parent[order].astype(np.int64)
    implied = np.zeros(child.size, bool)
    missing = np.zeros(0, np.int64)
    steps = np.cumsum(above)
    first = 0
    while first < child.size:
        done = steps[first - 1] if first else 0
        last = max(int(np.searchsorted(steps, done + _CHUNK, side="right")), first + 1)
        repeat = above[first:last]
        low = np.repeat(child[first:last].astype(np.int64), repeat)
        # Positions of the grandparents: for each pair the stretch of its parent's own list.
        offset = np.arange(int(repeat.sum())) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        high = sorted_parent[np.repeat(start[parent[first:last]], repeat) + offset]
        wanted = low * n + high
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        found = keys[place] == wanted
        implied[order[place[found]]] = True
        missing = np.union1d(missing, wanted[~found])
        if missing.size > _NEARLY * child.size:
            return None
        first = last
    return ClosureCheck(implied, int(missing.size))


def implied_by_others(n: int, child: Codes, parent: Codes) -> NDArray[np.bool_]:
    """True (m,) for the pairs that a longer path of others implies; the pairs have no cycle and no repeats."""
    is_root = np.ones(n, bool)
    is_root[child] = False
    tops = np.flatnonzero(is_root).astype(np.int32)
    # One node above all roots makes a hierarchy of them; its edges come last and imply nothing below it.
    whole = Hierarchy.from_codes(
        range(n + 1), np.concatenate((child, tops)), np.concatenate((parent, np.full(tops.size, n, np.int32)))
    )
    implied = implied_edges(whole.topological_order, whole.parent_ptr, whole.parent_idx, whole.level)
    order = np.argsort(np.concatenate((child, tops)), kind="stable")
    found = np.zeros(child.size, bool)
    found_at = order[implied]
    found[found_at[found_at < child.size]] = True
    return found
